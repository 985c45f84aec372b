"""ask-debuginfod.py PRELOADED DIR CORE EXECUTABLE ID...: a program that was taken over
(ask-debuginfod.c) asks for each ID, from a server that has all. Prints the answers, and what is in
DIR then."""
import http.server
import os
import subprocess
import sys
import threading

preloaded, folder, core, executable, *identities = sys.argv[1:]


class All(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"evil")

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), All)
threading.Thread(target=server.serve_forever, daemon=True).start()
os.mkdir(os.path.join(folder, "cache"))
for identity in identities:
    with open(os.path.join(folder, "log"), "w+") as log:
        subprocess.run(
            [
                "sh",
                "-c",
                'exec "$@" 9>&%d' % log.fileno(),
                "-",
                "env",
                "LD_PRELOAD=" + preloaded,
                "sframe-unwind",
                core,
                executable,
                "--debuginfod=on",
            ],
            env={
                **os.environ,
                "ASK_ID": identity,
                "DEBUGINFOD_URLS": "http://127.0.0.1:%d/" % server.server_port,
                "DEBUGINFOD_CACHE_PATH": os.path.join(folder, "cache"),
            },
            pass_fds=[log.fileno()],
            stdout=subprocess.DEVNULL,
            check=True,
        )
        log.seek(0)
        print(log.read(), end="")
os.unlink(os.path.join(folder, "log"))
print(*sorted(os.listdir(folder)))
