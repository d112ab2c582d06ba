"""tests/http/trap_server.c for tests: provisord's http room with routes of its own and no database, so that every state of a request
can be brought about at will, over raw sockets.

Who imports `server` has one for its file as a fixture.
"""
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import threading

import pytest

from patience import PATIENCE

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("PROVISOR_BUILD", ROOT / "build")).resolve()
SERVER = BUILD / "tests" / "http" / "trap_server"
READ, WRITE = "Authorization: Bearer prv_r\r\n", "Authorization: Bearer prv_write\r\n"
JSON = "Content-Type: application/json\r\n"


class Server:
    def __init__(self, preload=None, **settings):
        words = ["--%s=%s" % item for item in {"listen_port": 0, "http_threads": 2, "log_level": "info", "metrics_cache_ms": 0,
                                            "log_unauthenticated_per_s": 0, **settings}.items()]
        env = dict(os.environ, LD_PRELOAD=str(preload)) if preload else None
        self.process = subprocess.Popen([str(SERVER)] + words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
        line = self.process.stdout.readline()
        if not line.startswith("port "):
            raise AssertionError("the server did not start: " + self.process.communicate(timeout=10)[1])
        self.port = int(line.split()[1])
        self.log_lines = []
        self.reader = threading.Thread(target=self.read_log, daemon=True)
        self.reader.start()

    def read_log(self):
        for line in self.process.stderr:
            self.log_lines.append(line)

    def connect(self, timeout=10):
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)

    def counters(self):
        return json.loads(self.ask("GET", "/v1/counters").body)

    def ask(self, method, target, headers="", body=b""):
        length = "Content-Length: %d\r\n" % len(body) if body or method in ("POST", "PUT", "PATCH") else ""
        with self.connect() as s:
            s.sendall(("%s %s HTTP/1.1\r\nHost: h\r\n%s%s\r\n" % (method, target, headers, length)).encode("latin1") + body)
            return Reply(s, head=method == "HEAD")

    def terminate(self, timeout=PATIENCE):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=timeout)
        self.reader.join(5)
        self.last_words = self.process.stdout.read()
        return code

    def log(self, event):
        return [line for line in map(json.loads, filter(lambda l: l.startswith("{"), list(self.log_lines))) if line["event"] == event]


class Reply:
    """One answer read off a socket; status 0 when the connection ended without one."""

    def __init__(self, s, head=False, rest=b""):
        data = rest
        self.status, self.headers, self.body, self.rest = 0, {}, b"", b""
        while b"\r\n\r\n" not in data:
            piece = receive(s)
            if not piece:
                self.rest = data
                return
            data += piece
        text, data = data.split(b"\r\n\r\n", 1)
        lines = text.decode("latin1").split("\r\n")
        self.status = int(lines[0].split()[1])
        for line in lines[1:]:
            name, value = line.split(":", 1)
            self.headers[name.strip().lower()] = value.strip()
        n = 0 if head or self.status in (100, 204, 304) else int(self.headers.get("content-length", 0))
        while len(data) < n:
            piece = receive(s)
            assert piece, "the body was cut"
            data += piece
        self.body, self.rest = data[:n], data[n:]

    def problem(self):
        assert self.headers["content-type"] == "application/problem+json", self.body
        problem = json.loads(self.body)
        assert problem["status"] == self.status
        assert problem["type"].startswith("/problems/") and problem["title"] and problem["detail"]
        assert self.headers.get("x-request-id", problem.get("request_id")) == problem.get("request_id")
        return problem

    def json(self):
        assert self.headers["content-type"] == "application/json", self.headers
        return json.loads(self.body)


def receive(s):
    try:
        return s.recv(65536)
    except ConnectionResetError:
        return b""


def is_closed(s, within=5):
    s.settimeout(within)
    try:
        while True:
            if not s.recv(65536):
                return True
    except ConnectionResetError:
        return True
    except socket.timeout:
        return False


@contextlib.contextmanager
def running(**settings):
    server = Server(**settings)
    try:
        yield server
        assert server.terminate() == 0, "".join(server.log_lines)
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait()


@pytest.fixture(scope="module")
def server():
    if not SERVER.exists():
        pytest.skip("%s is not built" % SERVER)
    with running(body_bytes_max=100000, header_bytes_max=8192, headers_max=50) as server:
        yield server
    begun, ended = re.search(r"begun (\d+) ended (\d+)", server.last_words).groups()
    assert begun == ended, "every stream that began has ended, once"


def exchange(server, raw, n=1):
    """Send bytes, read n answers; the socket is left to the caller."""
    s = server.connect()
    s.sendall(raw if isinstance(raw, bytes) else raw.encode("latin1"))
    replies, rest = [], b""
    for _ in range(n):
        reply = Reply(s, rest=rest)
        rest = reply.rest
        replies.append(reply)
    return s, replies


SMUGGLED = "GET /v1/inline HTTP/1.1\r\nHost: h\r\n\r\n"


def chunked(n, size):
    return (b"%x\r\n" % size + b"z" * size + b"\r\n") * (n // size) + b"0\r\n\r\n"


def metric(server, name, port=None):
    """Asked for on the second listener where there is one: a connection of the first may be one too many."""
    reply = ask_port(port, "/metrics") if port else server.ask("GET", "/metrics")
    found = re.search("^%s (\\S+)$" % re.escape(name), reply.body.decode(), re.M)
    return int(float(found[1])) if found else 0


def ask_port(port, target, timeout=PATIENCE):
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as s:
        s.sendall(("GET %s HTTP/1.1\r\nHost: h\r\n\r\n" % target).encode())
        return Reply(s)
