"""What the tests of `provisor ingest` share: logs, what it says, what the service then has, and servers in its place."""
import collections
import contextlib
import http.server
import json
import threading
import time

from patience import PATIENCE
from test_eventlogs import tiny_log

Row = collections.namedtuple("Row", "outcome application name reason run_id")


def rows(out):
    """The lines of the text form by name."""
    return {row.name: row for row in (Row(*line.split("\t")) for line in out.splitlines())}


def documents(out):
    """(lines by name, totals) of -o json."""
    lines = [json.loads(line) for line in out.splitlines()]
    return {line["name"]: line for line in lines[:-1]}, lines[-1]["totals"]


def runs(client):
    """Spark's ids of all runs of the team, sorted: each once, if no log became two runs."""
    found = []
    for application in client.get("/v1/applications?limit=200").json()["items"]:
        cursor = ""
        while cursor is not None:
            page = client.get("/v1/applications/%s/runs?limit=200%s" % (application["name"], cursor and "&cursor=" + cursor)).json()
            found += [run["spark_application_id"] for run in page["items"]]
            cursor = page["next_cursor"]
    return sorted(found)


def fill(folder, n, first=0, **how):
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(first, first + n):
        (folder / ("app-%05d" % i)).write_bytes(tiny_log(app="app-%05d" % i, **how))
    return ["app-%05d" % i for i in range(first, first + n)]


def rolling(folder, app, finished=True, parts=3):
    folder.mkdir(parents=True, exist_ok=True)
    lines = tiny_log(app=app, stages=8).splitlines(keepends=True)
    step = len(lines) // parts + 1
    for i in range(parts):
        (folder / ("events_%d_%s" % (i + 1, app))).write_bytes(b"".join(lines[i * step:(i + 1) * step]))
    (folder / ("appstatus_%s%s" % (app, "" if finished else ".inprogress"))).write_bytes(b"")


def until(true, what="what was waited for"):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = true()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("%s did not come" % what)


def problem(status, code="overloaded", detail="said by the test", **headers):
    return status, {"Content-Type": "application/problem+json", **headers}, json.dumps(
        {"type": "urn:provisor:" + code, "title": code, "status": status, "detail": detail}).encode()


def stored(number=1):
    return 201, {"Content-Type": "application/json", "X-Log-Outcome": "stored"}, json.dumps(
        {"id": "00000000-0000-7000-8000-%012d" % number, "application": "stub", "warnings": []}).encode()


class Stub(http.server.ThreadingHTTPServer):
    """answer(request number from 1, body) -> (status, headers, bytes), or None to cut the connection."""
    daemon_threads = True

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer, self.bodies, self.lock = answer, [], threading.Lock()
        self.url = "http://127.0.0.1:%d" % self.server_address[1]

    def handle_error(self, *_):
        pass


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        whole = b""
        while True:
            n = int(self.rfile.readline(), 16)
            whole += self.rfile.read(n)
            self.rfile.readline()
            if n == 0:
                return whole

    def do_POST(self):
        body = self.body()
        with self.server.lock:
            self.server.bodies.append(body)
            number = len(self.server.bodies)
        told = self.server.answer(number, body)
        if told is None:
            self.close_connection = True
            return
        status, headers, text = told
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def stub(answer):
    server = Stub(answer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
