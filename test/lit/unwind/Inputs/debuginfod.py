"""debuginfod.py FOLDER CASE: files from servers. FOLDER has core, core-sframe, core-third and
files/ with what a server has; the programs themselves are gone. A real debuginfod, and servers here
that are slow, lie or end in the middle."""
import http.server, os, pty, re, select, shutil, socket, subprocess, sys, threading, time, urllib.request

folder, case = sys.argv[1], sys.argv[2]
core, cache = os.path.join(folder, "core"), os.path.join(folder, "cache-" + case)
shutil.rmtree(cache, ignore_errors=True)


def build_id(path):
    notes = subprocess.run(["llvm-readelf", "-n", path], capture_output=True, text=True).stdout
    return re.search(r"Build ID: (\w+)", notes)[1]


MOST = 1_000_000  # of DEBUGINFOD_MAXSIZE, in bytes
files = {}  # by build ID and kind
for name in ("program", "program-sframe"):
    path = os.path.join(folder, "files", name)
    files[build_id(path)] = {"executable": path, "debuginfo": path + ".debug", "name": name}
ids = {entry["name"]: key for key, entry in files.items()}


def unwind(
    *options, urls=None, core=core, code=None, places={"DEBUGINFOD_CACHE_PATH": cache}, **more
):
    environment = dict(os.environ, DEBUGINFOD_TIMEOUT="10")
    for name in ("DEBUGINFOD_URLS", "DEBUGINFOD_CACHE_PATH", "XDG_CACHE_HOME"):
        environment.pop(name, None)
    environment.update(places)
    if urls is not None:
        environment["DEBUGINFOD_URLS"] = urls
    start = time.monotonic()
    done = subprocess.run(
        ["sframe-unwind", core, *options],
        capture_output=True,
        text=True,
        env=environment,
        timeout=100,
        stdin=subprocess.DEVNULL,
        **more,
    )
    done.seconds = time.monotonic() - start
    assert code is None or done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done


class Handler(http.server.BaseHTTPRequestHandler):
    requests = []
    how = "plain"
    ends = threading.Event()
    sent = 0

    def do_GET(self):
        kind = self.path.split("/", 3)
        Handler.requests.append(self.path)
        entry = files.get(kind[2] if len(kind) > 3 else "", {})
        what = kind[3] if len(kind) > 3 else ""
        if Handler.how == "lying":  # the other program's
            entry = next(other for other in files.values() if other is not entry)
        if Handler.how == "silent":
            Handler.ends.wait(60)
            return
        if what.startswith("section/") and entry:
            data = os.path.join(folder, "section")
            subprocess.run(
                [
                    "llvm-objcopy",
                    "-O",
                    "binary",
                    "--only-section=.sframe",
                    entry["executable"],
                    data,
                ],
                check=True,
            )
            path = data if os.path.exists(data) and os.path.getsize(data) else None
        else:
            path = entry.get(what)
        if not path or not os.path.exists(path):
            return self.send_error(404)
        content = open(path, "rb").read()
        self.send_response(200)
        if Handler.how in ("claims", "endless", "many"):
            return self.send_much()
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if Handler.how == "half":
            self.wfile.write(content[: len(content) // 2])
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        if Handler.how == "slow":
            for at in range(0, len(content), 1 + len(content) // 8):
                self.wfile.write(content[at : at + 1 + len(content) // 8])
                self.wfile.flush()
                time.sleep(0.3)
            return
        self.wfile.write(content)

    def send_much(self):
        """A size that is too large, no size and no end, or a file that is nearly too large."""
        size = {"claims": (2 << 30) + 1, "many": MOST - MOST // 10}.get(Handler.how)
        if size:
            self.send_header("Content-Length", str(size))
        self.end_headers()
        left = {"claims": 1, "many": size}.get(Handler.how)
        try:
            while left is None or left > 0:
                part = bytes(1 << 16 if left is None else min(left, 1 << 16))
                self.wfile.write(part)
                Handler.sent += len(part)
                left = None if left is None else left - len(part)
            if Handler.how == "claims":
                Handler.ends.wait(60)
        except OSError:  # the client has had enough
            pass

    def log_message(self, *_):
        pass


def serve(how):
    Handler.how = how
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return "http://127.0.0.1:%d" % server.server_address[1]


def on_terminal(*options, urls, answer):
    """What the program writes to a terminal on which `answer` is typed, and its results."""
    environment = dict(os.environ, DEBUGINFOD_CACHE_PATH=cache, DEBUGINFOD_URLS=urls)
    main, other = pty.openpty()
    process = subprocess.Popen(
        ["sframe-unwind", core, *options],
        stdin=other,
        stderr=other,
        stdout=subprocess.PIPE,
        env=environment,
    )
    os.close(other)
    shown, answered = b"", False
    while True:
        if not select.select([main], [], [], 60)[0]:
            break
        try:
            more = os.read(main, 4096)
        except OSError:
            break
        if not more:
            break
        shown += more
        if b"? (y or [n])" in shown and not answered:
            answered = True
            os.write(main, answer)
    results = process.stdout.read().decode()
    process.wait(60)
    return shown.decode(), results


named = "  work"  # the function
missing = unwind(code=1)
assert named not in missing.stdout and "program: no names for" not in missing.stdout, missing
assert (
    "build ID " + ids["program"] in missing.stderr
    and "DEBUGINFOD_URLS may name a server" in missing.stderr
), missing.stderr


def packages():
    """Debian packages of the files: one of each program, and one with its debug file."""
    where = os.path.join(folder, "packages")
    os.makedirs(where, exist_ok=True)
    for key, entry in files.items():
        for package, source, path in (
            (entry["name"], entry["executable"], "usr/bin/" + entry["name"]),
            (
                entry["name"] + "-dbgsym",
                entry["debuginfo"],
                "usr/lib/debug/.build-id/%s/%s.debug" % (key[:2], key[2:]),
            ),
        ):
            tree = os.path.join(folder, "trees", package)
            os.makedirs(os.path.join(tree, "DEBIAN"), exist_ok=True)
            os.makedirs(os.path.dirname(os.path.join(tree, path)), exist_ok=True)
            shutil.copy(source, os.path.join(tree, path))
            with open(os.path.join(tree, "DEBIAN/control"), "w") as control:
                control.write(
                    "Package: %s\nVersion: 1\nArchitecture: amd64\nMaintainer: nobody <nobody@localhost>\nDescription: test\n"
                    % package
                )
            subprocess.run(
                ["dpkg-deb", "--root-owner-group", "--build", tree, where],
                check=True,
                stdout=subprocess.DEVNULL,
            )
    return where


if case in ("real", "packages"):
    by_dpkg = ["-Z", ".deb=dpkg-deb --fsys-tarfile"]  # by default, bsdtar unpacks
    served = (
        ["-F", os.path.join(folder, "files")]
        if case == "real"
        else [*(["-U"] if shutil.which("bsdtar") else by_dpkg), packages()]
    )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = "http://127.0.0.1:%d" % port
    # A database on disk: one in memory refuses the scanner's writes while a request reads ("table
    # is locked"), and with -t 0 nothing is scanned twice.
    database, log = os.path.join(folder, case + ".sqlite"), open(
        os.path.join(folder, case + ".log"), "w+"
    )
    server = subprocess.Popen(
        ["debuginfod", "-p", str(port), "-d", database, "-t", "0", *served], stdout=log, stderr=log
    )
    try:
        deadline = time.monotonic() + 300  # the files are found some time after the port is open
        for key, kind in [(key, kind) for key in files for kind in ("executable", "debuginfo")]:
            while True:
                try:
                    urllib.request.urlopen("%s/buildid/%s/%s" % (url, key, kind)).read()
                    break
                except OSError:
                    assert server.poll() is None and time.monotonic() < deadline, (
                        key,
                        kind,
                        open(log.name).read()[-2000:],
                    )
                    time.sleep(0.1)
        # Nothing is fetched that was not wanted.
        for options in (
            ["--offline"],
            ["--debuginfod=off"],
            ["--offline", "--debuginfod=on"],
            ["--debuginfod=ask"],
            ["--trust=none"],
            ["--no-files"],
        ):
            kept = unwind(*options, urls=url, code=1)
            assert named not in kept.stdout and not os.path.exists(cache), (options, kept)
        # The executable gives the tables, the debug file names and lines. An empty sysroot has none
        # of the files; what is fetched is outside it.
        for options in ([], ["--source"]):
            found = unwind(*options, urls=url, code=0)
            assert (
                re.search(r"work\S* \+ 0x\w+  \(program\)  \[cfi\]", found.stdout)
                and "main + " in found.stdout
            ), (options, found)
            assert ("inlined inner at" in found.stdout) == ("--source" in options), found.stdout
        assert re.search(
            r"main \+ 0x\w+  \(program\)  \[cfi\]",
            unwind("--sysroot", os.path.join(folder, "empty"), urls=url).stdout,
        )
        sframe = unwind(urls=url, core=os.path.join(folder, "core-sframe"), code=0)
        assert re.search(r"main \+ 0x\w+  \(program-sframe\)  \[sframe\]", sframe.stdout), sframe
    finally:
        server.terminate()
        server.wait(60)
    # From the cache.
    assert named in unwind(urls=url, code=0).stdout

elif case == "section":
    # The section and the debug file are enough; the executable is not fetched.
    url = serve("plain")
    found = unwind(urls=url, core=os.path.join(folder, "core-sframe"), code=0)
    assert re.search(r"main \+ 0x\w+  \(program-sframe\)  \[sframe\]", found.stdout), found
    asked = [path.split("/", 3)[3] for path in Handler.requests]
    assert "section/.sframe" in asked and "debuginfo" in asked, asked
    assert "executable" not in asked, asked

elif case == "down":
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = "http://127.0.0.1:%d" % probe.getsockname()[1]
    down = unwind(urls=url, code=1)
    assert down.stdout == missing.stdout and down.stderr.count("warning: debuginfod: ") == 1, down
    assert (
        "warning: debuginfod: cannot fetch from %s: Connection refused; nothing more is fetched"
        % url
        in down.stderr
    ), down
    assert (
        "; not fetched: see the warning" in down.stderr and "no server had them" not in down.stderr
    ), down
    assert down.seconds < 30, down.seconds

elif case == "silent":
    url = serve("silent")
    silent = unwind("--debuginfod-timeout=2", urls=url, code=1)
    Handler.ends.set()
    assert (
        silent.stdout == missing.stdout
        and "debuginfod: the time limit is reached; nothing more is fetched" in silent.stderr
    ), silent
    assert silent.seconds < 20, silent.seconds

elif case == "lying":
    url = serve("lying")
    lying = unwind(urls=url, code=1)
    assert (
        lying.stdout == missing.stdout
        and "the file from the server has another build ID" in lying.stderr
    ), lying

elif case == "half":
    url = serve("half")
    half = unwind(urls=url, code=1)
    assert half.stdout == missing.stdout, half
    for where, _, names in os.walk(
        cache
    ):  # what came is not kept; the library remembers the failure
        for name in names:
            assert (
                name not in ("executable", "debuginfo")
                or os.path.getsize(os.path.join(where, name)) == 0
            ), (where, name)

elif case == "claims":
    url = serve("claims")
    claims = unwind(urls=url, code=1)
    Handler.ends.set()
    assert (
        claims.stdout == missing.stdout
        and "not fetched: larger than 2147483648 bytes, or all files than 8589934592"
        in claims.stderr
        and "no server had" not in claims.stderr
    ), claims

elif case in ("endless", "many"):
    os.environ["DEBUGINFOD_MAXSIZE"] = str(MOST)
    url = serve(case)
    # Any build ID has such a file.
    everything = {"executable": core, "debuginfo": core, "name": "any"}
    files = type("Any", (dict,), {"get": lambda self, key, default=None: everything})()
    much = unwind(
        "-v",
        "--source",
        os.path.join(folder, "core-sframe"),
        os.path.join(folder, "core-third"),
        urls=url,
    )
    assert (
        "not fetched: larger than %d bytes, or all files than %d" % (MOST, 4 * MOST) in much.stderr
    ), much
    for where, _, names in os.walk(cache):
        for name in names:
            assert os.path.getsize(os.path.join(where, name)) <= MOST, (where, name)
    if case == "many":  # four of them, and not a fifth
        kept = [
            name
            for where, _, names in os.walk(cache)
            for name in names
            if os.path.getsize(os.path.join(where, name)) > MOST // 2
        ]
        assert len(kept) == 4, kept

elif case == "cache":
    # debuginfod-find(1): ~/.debuginfod_client_cache if it exists, else
    # $XDG_CACHE_HOME/debuginfod_client, else ~/.cache/debuginfod_client. What is there is not asked
    # for again.
    url, home, xdg = serve("plain"), os.path.join(cache, "home"), os.path.join(cache, "xdg")
    os.makedirs(home)
    os.mkdir(xdg)
    for places, kept in (
        ({"HOME": home}, home + "/.cache/debuginfod_client"),
        ({"HOME": home, "XDG_CACHE_HOME": xdg}, xdg + "/debuginfod_client"),
        ({"HOME": home, "XDG_CACHE_HOME": xdg}, home + "/.debuginfod_client_cache"),
    ):
        if kept.endswith("_cache"):
            os.mkdir(kept)
        file = os.path.join(kept, ids["program"], "debuginfo")
        assert not os.path.exists(file), kept
        assert (
            named in unwind(urls=url, places=places, code=0).stdout and os.path.getsize(file) > 0
        ), kept
        asked = len(Handler.requests)
        assert (
            named in unwind(urls=url, places=places, code=0).stdout
            and len(Handler.requests) == asked
        ), kept
        # The sandbox for a sysroot lets this folder be read, in which the file appears, and no
        # other.
        inside = ("--sysroot", os.path.join(folder, "empty"))
        shutil.rmtree(os.path.dirname(file))
        assert (
            named in unwind(*inside, urls=url, places=places).stdout and os.path.getsize(file) > 0
        ), kept
        asked = len(Handler.requests)
        assert (
            named in unwind(*inside, urls=url, places=places).stdout
            and len(Handler.requests) == asked
        ), kept

elif case == "terminal":
    url = serve("slow")
    shown, results = on_terminal("--debuginfod=ask", urls=url, answer=b"n\n")
    assert "fetch missing files from " + url in shown and named not in results, (shown, results)
    shown, results = on_terminal("--debuginfod=ask", urls=url, answer=b"y\n")
    assert shown.count("? (y or [n])") == 1 and named in results, (shown, results)
    assert re.search(r"fetching (executable|debug file), [0-9.]+ of [0-9.]+ MB", shown), shown
    shutil.rmtree(cache)
    shown, results = on_terminal("-q", urls=url, answer=b"")
    assert "fetching" not in shown and named in results, (shown, results)

print(case, "as expected")
