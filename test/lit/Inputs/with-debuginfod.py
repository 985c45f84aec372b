"""with-debuginfod.py FILES CACHE COMMAND ARGUMENT...: runs the command with a server whose debug file
of a build ID is FILES/ID. It keeps what it fetches in CACHE. Then prints what was asked for, in
order, to standard error."""

import http.server
import os
import subprocess
import sys
import threading

files, cache, *command = sys.argv[1:]
asked = []


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        asked.append(self.path)
        folder, identity, kind = (self.path.split("/") + [""] * 4)[1:4]
        path = os.path.join(files, os.path.basename(identity))
        if (folder, kind) != ("buildid", "debuginfo") or not os.path.isfile(path):
            return self.send_error(404)
        with open(path, "rb") as file:
            content = file.read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
code = subprocess.run(
    command,
    env={
        **os.environ,
        "DEBUGINFOD_URLS": "http://127.0.0.1:%d" % server.server_port,
        "DEBUGINFOD_CACHE_PATH": cache,
    },
    stdin=subprocess.DEVNULL,
    pass_fds=[9] if "BREAK_OUT" in os.environ else [],
).returncode
print(*(["asked for:"] + (asked or ["nothing"])), file=sys.stderr)
sys.exit(code)
