"""The traps of the HTTP library and the duties of RFC 9110 and 9112, over raw sockets.

The server under test is tests/http/trap_server.c: provisord's http room with routes of its own and no
database, so that every state of a request can be brought about at will.
"""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import threading
import time

import pytest

from exposition import parse
from patience import PATIENCE, SLOWDOWN
from ports import free_port

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


def wait_until(condition, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it did not come about within %s s" % seconds)


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


# --- request smuggling ------------------------------------------------------------------------------------

SMUGGLED = "GET /v1/inline HTTP/1.1\r\nHost: h\r\n\r\n"
AMBIGUOUS = {
    "length and chunked": (400, "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
    "chunked and length": (400, "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", "0\r\n\r\n"),
    "two lengths": (400, "Content-Length: 0\r\nContent-Length: 38\r\n", ""),
    "equal lengths": (400, "Content-Length: 0\r\nContent-Length: 0\r\n", ""),
    "two hosts": (400, "Host: other\r\n", ""),
    "space before colon": (400, "Transfer-Encoding : chunked\r\n", "0\r\n\r\n"),
    "gzip, chunked": (501, "Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"),
    "chunked twice": (400, "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
    "identity": (501, "Transfer-Encoding: identity\r\n", ""),
    "xchunked": (501, "Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"),
    "name is no token": (400, "Bad(Name): x\r\n", ""),
    "two authorizations": (400, "Authorization: Bearer prv_a\r\nAuthorization: Bearer prv_b\r\n", ""),
}


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "GET"])
@pytest.mark.parametrize("name", AMBIGUOUS)
def test_ambiguous_framing_is_refused_and_hides_nothing(server, name, method):
    """What could be read in two ways is answered once, the connection ends, the request behind it never runs."""
    status, headers, body = AMBIGUOUS[name]
    before = server.counters()["handled"]
    s, (reply,) = exchange(server, "%s /v1/json HTTP/1.1\r\nHost: h\r\n%s%s\r\n%s%s" % (method, JSON, headers, body, SMUGGLED))
    assert reply.status == status
    assert reply.headers["connection"].lower() == "close"
    reply.problem()
    assert b"HTTP/1.1" not in reply.rest
    assert is_closed(s)
    assert server.counters()["handled"] == before


@pytest.mark.parametrize("headers", ["Content-Length: -1\r\n", "Content-Length: 1x\r\n", "Content-Length: 99999999999999999999999\r\n"])
def test_a_bad_length_is_refused(server, headers):
    """The library answers these on its own; what counts is a 4xx and that the connection ends."""
    s, (reply,) = exchange(server, "POST /v1/json HTTP/1.1\r\nHost: h\r\n%s%s\r\n%s" % (JSON, headers, SMUGGLED))
    assert 400 <= reply.status < 500
    assert is_closed(s)


def test_a_missing_host_is_refused(server):
    s, (reply,) = exchange(server, "GET /v1/inline HTTP/1.1\r\n\r\n")
    assert reply.status == 400
    assert is_closed(s)


STRICT = {
    "HTTP/1.0 with a transfer coding": b"POST /v1/json HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n0\r\n\r\n",
    "a bare LF behind a chunk's extension": b"POST /v1/json HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2;a\n{}\r\n0\r\n\r\n",
    "a bare LF behind a chunk's size": b"POST /v1/json HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\n{}\r\n0\r\n\r\n",
    "a folded field": b"GET /v1/inline HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n",
    "a bare LF behind a field": b"GET /v1/inline HTTP/1.1\r\nHost: h\nX: a\r\n\r\n",
    "a bare LF behind the request line": b"GET /v1/inline HTTP/1.1\nHost: h\r\n\r\n",
    "a NUL in the target": b"GET /v1/inline\0x HTTP/1.1\r\nHost: h\r\n\r\n",
    "a NUL in a field": b"GET /v1/echo/a HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer prv_r\0junk\r\n\r\n",
    "no Host": b"GET /v1/inline HTTP/1.1\r\n\r\n",
    "too many parameters": b"GET /v1/inline?" + b"&".join(b"a%d=1" % i for i in range(101)) + b" HTTP/1.1\r\nHost: h\r\n\r\n",
    "very many parameters": b"GET /v1/inline?" + b"&".join(b"a%d" % i for i in range(1500)) + b" HTTP/1.1\r\nHost: h\r\n\r\n",
    "a space too many": b"GET /v1/inline  HTTP/1.1\r\nHost: h\r\n\r\n",
    "a space within the target": b"GET /v1/in line HTTP/1.1\r\nHost: h\r\n\r\n",
    "a tab": b"GET\t/v1/inline HTTP/1.1\r\nHost: h\r\n\r\n",
    "a length that is no number": b"POST /v1/json HTTP/1.1\r\nHost: h\r\nContent-Length: 1x\r\n\r\nz",
}


@pytest.mark.parametrize("name", STRICT)
def test_what_is_no_http_is_answered_and_runs_nothing(server, name):
    """Alone, in single bytes, and behind a request that is as it should be: which is answered first, as a whole."""
    for before, pieces in ((b"", 1), (b"", 3), (b"GET /v1/slow?ms=30 HTTP/1.1\r\nHost: h\r\n\r\n", 1)):
        handled = server.counters()["handled"]
        with server.connect() as s:
            raw = before + STRICT[name] + SMUGGLED.encode()
            size = -(-len(raw) // pieces)
            for at in range(0, len(raw), size):
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    s.sendall(raw[at:at + size])
                time.sleep(0.01 if pieces > 1 else 0)
            rest = b""
            if before:
                first = Reply(s)
                assert (first.status, first.json()["path"]) == (200, "/v1/slow")
                rest = first.rest
            reply = Reply(s, rest=rest)
            assert (reply.status, reply.headers["connection"]) == (400, "close")
            assert reply.problem()["type"] == "/problems/malformed"
            assert reply.rest == b"" and is_closed(s)
        assert server.counters()["handled"] == handled + bool(before)


@pytest.mark.parametrize("host, status", [
    ("a b", 400), ("a/b", 400), ("b/c@d", 400), ("u@h", 400), ("h:80x", 400), ("h:8:0", 400), ("[::1", 400), ("[::1]x", 400), ("h%zz", 400),
    ("h,i", 200), ("h:8080", 200), ("[::1]:80", 200), ("127.0.0.1", 200), ("h%41", 200), ("h:", 200), ("", 200)])
def test_a_host_is_a_host(server, host, status):
    s, (reply,) = exchange(server, "GET /v1/inline HTTP/1.1\r\nHost: %s\r\n\r\n" % host)
    assert reply.status == status
    assert status == 200 or reply.problem()["errors"][0]["header"] == "Host"
    s.close()


def test_malformed_connections_are_counted():
    with running() as server:
        s, (reply,) = exchange(server, STRICT["a folded field"])
        s.close()
        assert reply.status == 400
        end = time.monotonic() + PATIENCE  # the answer may come before it is counted
        while time.monotonic() < end and metric(server, 'provisor_http_requests_total{route="unmatched",method="other",code_class="4xx"}') != 1:
            time.sleep(0.01)
        assert metric(server, "provisor_http_malformed_total") == 1
        assert metric(server, 'provisor_http_requests_total{route="unmatched",method="other",code_class="4xx"}') == 1


# --- paths and queries --------------------------------------------------------------------------------------

def test_an_encoded_slash_stays_in_its_segment(server):
    reply = server.ask("GET", "/v1/echo/a%2Fb%20c%C3%A9?q=a%26b+c", READ)
    assert reply.status == 200
    assert reply.json()["name"] == "a/b cé"
    assert reply.json()["query"] == {"q": "a&b c"}
    assert server.ask("GET", "/v1/echo%2Fa", READ).status == 404


@pytest.mark.parametrize("target", ["/v1/echo/a%00b", "/v1/echo/%ff", "/v1/echo/%4", "/v1/echo/%zz", "/v1/echo/a?q=%00",
                                    "/v1/echo/a?q=%C0%AF", "/v1/echo/a#b", "/v1/echo/\xe9", "nothing", "ftp://h/v1/inline"])
def test_a_malformed_target_is_400(server, target):
    reply = server.ask("GET", target, READ)
    assert reply.status == 400
    assert reply.problem()["type"] == "/problems/malformed"


def test_a_faulty_parameter_is_named(server):
    assert server.ask("GET", "/v1/inline?since=%zz").problem()["errors"][0]["parameter"] == "since"


def test_paths_match_exactly(server):
    assert server.ask("GET", "/v1/inline/").status == 404
    assert server.ask("GET", "/V1/inline").status == 404
    assert server.ask("GET", "/v1/echo//runs/1").status == 404
    assert server.ask("GET", "/v1/echo/x/runs/export").headers["etag"] == '"v7"'
    assert server.ask("GET", "/v1/echo/x/runs/2").json()["id"] == "2"


def test_absolute_form_reaches_the_same_route(server):
    assert server.ask("GET", "http://h/v1/inline?a=b").json()["query"] == {"a": "b"}
    assert server.ask("GET", "http://h").status == 404


# --- methods ---------------------------------------------------------------------------------------------------

def test_head_is_get_without_a_body(server):
    get = server.ask("GET", "/v1/inline")
    with server.connect() as s:
        s.sendall(b"HEAD /v1/inline HTTP/1.1\r\nHost: h\r\n\r\n" * 2)
        first = Reply(s, head=True)
        second = Reply(s, head=True, rest=first.rest)
    assert (first.status, second.status) == (200, 200)
    assert first.headers["content-length"] == get.headers["content-length"]
    assert first.body == b"" and second.rest == b""


def test_options_tells_the_methods(server):
    reply = server.ask("OPTIONS", "/v1/echo/a")
    assert (reply.status, reply.headers["allow"]) == (204, "GET, HEAD, PUT, PATCH, DELETE, OPTIONS")
    assert "content-type" not in reply.headers
    reply = server.ask("OPTIONS", "*")
    assert reply.status == 204 and "POST" in reply.headers["allow"]
    assert server.ask("OPTIONS", "/nothing").status == 404
    assert server.ask("GET", "*").status == 400


def test_a_known_path_with_another_method_is_405(server):
    reply = server.ask("POST", "/v1/echo/a", JSON, b"{}")
    assert reply.status == 405
    assert reply.headers["allow"] == "GET, HEAD, PUT, PATCH, DELETE, OPTIONS"
    assert reply.problem()["type"] == "/problems/method_not_allowed"


@pytest.mark.parametrize("method", ["BREW", "get", "TRACE", "CONNECT", "PROPFIND"])
def test_an_unknown_method_is_501_anywhere(server, method):
    assert server.ask(method, "/v1/inline").problem()["status"] == 501
    assert server.ask(method, "/nothing").problem()["status"] == 501


# --- bodies ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("headers,answer", [
    ("Content-Type: text/plain\r\n", "accept"), ("", "accept"), ("Content-Type: application/json; charset=latin1\r\n", "accept"),
    (JSON + "Content-Encoding: gzip\r\n", "accept-encoding")])
def test_other_types_and_codings_are_415(server, headers, answer):
    with server.connect() as s:
        request = "POST /v1/json HTTP/1.1\r\nHost: h\r\n%sContent-Length: 2\r\n\r\n{}" % headers
        s.sendall(request.encode())
        reply = Reply(s)
        assert reply.status == 415
        assert reply.headers[answer] == ("application/json" if answer == "accept" else "identity")
        s.sendall(b"GET /v1/inline HTTP/1.1\r\nHost: h\r\n\r\n")
        assert Reply(s).status == 200, "a small refused body does not cost the connection"


def test_json_with_charset_is_taken(server):
    assert server.ask("POST", "/v1/json", "Content-Type: application/json; charset=UTF-8\r\n", b"{}").json()["body_bytes"] == 2


def test_a_body_where_none_is_taken_is_400(server):
    s, (reply,) = exchange(server, "GET /v1/inline HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}")
    assert reply.status == 400 and "no body" in reply.problem()["detail"]
    s.close()


def test_a_large_body_is_413_before_it_is_read(server):
    """Content-Length says enough: the answer comes although not a byte of the body was sent."""
    for expect in ("", "Expect: 100-continue\r\n"):
        s, (reply,) = exchange(server, "POST /v1/json HTTP/1.1\r\nHost: h\r\n%s%sContent-Length: 100001\r\n\r\n" % (JSON, expect))
        assert reply.status == 413
        assert reply.problem()["type"] == "/problems/body_too_large"
        assert reply.headers["connection"].lower() == "close"
        s.close()
    assert server.ask("POST", "/v1/json", JSON, b" " * 100000).json()["body_bytes"] == 100000


def test_a_large_body_that_is_sent_anyway_still_gets_its_413(server):
    s = server.connect()
    s.sendall(("POST /v1/json HTTP/1.1\r\nHost: h\r\n%sContent-Length: 4000000\r\n\r\n" % JSON).encode())
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        s.sendall(b" " * 4000000)
    assert Reply(s).status == 413
    s.close()


def test_a_chunked_body_over_the_limit_is_413(server):
    s = server.connect()
    s.sendall(("POST /v1/json HTTP/1.1\r\nHost: h\r\n%sTransfer-Encoding: chunked\r\n\r\n" % JSON).encode())
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        for _ in range(20):
            s.sendall(b"2710\r\n" + b" " * 10000 + b"\r\n")
        s.sendall(b"0\r\n\r\n")
    assert Reply(s).status == 413
    assert is_closed(s)


def test_continue_is_said_only_to_bodies_that_are_taken(server):
    with server.connect() as s:
        s.sendall(("POST /v1/json HTTP/1.1\r\nHost: h\r\n%sExpect: 100-continue\r\nContent-Length: 2\r\n\r\n" % JSON).encode())
        assert Reply(s).status == 100
        s.sendall(b"{}")
        assert Reply(s).status == 200
    with server.connect() as s:
        s.sendall(b"POST /v1/json HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        assert Reply(s).status == 415


def test_another_expectation_is_417(server):
    s, (reply,) = exchange(server, "POST /v1/json HTTP/1.1\r\nHost: h\r\n%sExpect: 200-ok\r\nContent-Length: 2\r\n\r\n{}" % JSON)
    assert reply.status == 417
    s.close()


def test_a_chunked_body_is_put_together(server):
    s, (reply,) = exchange(server, "POST /v1/json HTTP/1.1\r\nHost: h\r\n%sTransfer-Encoding: chunked\r\n\r\n"
                           "3;x=y\r\n{\"a\r\n4\r\n\":1}\r\n0\r\nTrailer: x\r\n\r\n" % JSON)
    assert reply.json()["body_bytes"] == 7
    s.close()


@pytest.mark.parametrize("tail", ["5\r\n{}", "zz\r\n{}\r\n", "-1\r\n{}\r\n"])
def test_a_broken_chunked_body_runs_nothing(server, tail):
    before = server.counters()["handled"]
    s = server.connect()
    s.sendall(("POST /v1/json HTTP/1.1\r\nHost: h\r\n%sTransfer-Encoding: chunked\r\n\r\n%s" % (JSON, tail)).encode())
    s.shutdown(socket.SHUT_WR)
    assert Reply(s).status in (0, 400)
    assert is_closed(s)
    assert server.counters()["handled"] == before


def test_a_truncated_body_runs_nothing(server):
    before = server.counters()["handled"]
    s = server.connect()
    s.sendall(("POST /v1/json HTTP/1.1\r\nHost: h\r\n%sContent-Length: 100\r\n\r\n{}" % JSON).encode())
    s.shutdown(socket.SHUT_WR)
    reply = Reply(s)  # none when the library noticed by itself
    assert reply.status in (0, 400) and (reply.status == 0 or reply.problem()["detail"] == "the request ended too early")
    assert is_closed(s)
    assert server.counters()["handled"] == before


def test_header_limits_are_431(server):
    assert server.ask("GET", "/v1/inline", "".join("X-%d: y\r\n" % i for i in range(60))).problem()["status"] == 431
    assert server.ask("GET", "/v1/inline", "X: %s\r\n" % ("y" * 9000)).problem()["type"] == "/problems/headers_too_large"
    assert server.ask("GET", "/v1/inline", "X: %s\r\n" % ("y" * 7000)).status == 200


def test_memory_over_the_limit_is_an_error_of_that_request_alone(server):
    with running(request_memory_bytes_max=1048576) as small:
        problem = small.ask("GET", "/v1/eat").problem()
        assert (problem["status"], problem["type"]) == (422, "/problems/limit_exceeded")
        assert "1048576 bytes" in problem["detail"]
        assert small.ask("GET", "/v1/inline").status == 200


# --- streams --------------------------------------------------------------------------------------------------------

def chunked(n, size):
    return (b"%x\r\n" % size + b"z" * size + b"\r\n") * (n // size) + b"0\r\n\r\n"


@pytest.mark.parametrize("size", [1, 100, 4000, 16384, 250000])
def test_a_stream_of_any_chunk_size_arrives_whole(server, size):
    """The library goes on calling for further chunks in its buffer although the connection is suspended."""
    total = max(size * 8, 1000000 if size > 1 else 3000) // size * size
    s, (reply,) = exchange(server, b"POST /v1/upload HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(total, size))
    assert reply.json() == {"bytes": total}
    s.close()


def test_pieces_that_end_with_a_chunk_are_all_read(server):
    """Where a piece ends with a chunk, nothing unread is left in the library's buffer when the connection is resumed."""
    stream = b"POST /v1/upload?piece_ms=1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(6 << 18, 1 << 12)

    def upload(_):
        s, (reply,) = exchange(server, stream)
        s.close()
        return reply.json()["bytes"]

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert set(pool.map(upload, range(16))) == {6 << 18}
    assert {server.ask("GET", "/v1/slow?ms=0").status for _ in range(20)} == {200}


def test_a_stream_takes_any_type_and_more_than_the_body_limit(server):
    assert server.ask("POST", "/v1/upload", "Content-Type: application/gzip\r\n", b"z" * 3000001).json() == {"bytes": 3000001}
    assert server.ask("POST", "/v1/upload").json() == {"bytes": 0}


def test_a_stream_can_be_refused_before_it_starts(server):
    s, (reply,) = exchange(server, "POST /v1/upload?refuse=1 HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 9000000\r\n\r\n")
    assert reply.status == 409
    s.close()


@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_a_stream_that_fails_midway_is_answered_at_once(server, framing):
    before = server.counters()
    s = server.connect()
    head = "Content-Length: 4000000" if framing == "length" else "Transfer-Encoding: chunked"
    body = b"z" * 4000000 if framing == "length" else chunked(4000000, 10000)
    s.sendall(("POST /v1/upload?fail_at=300000 HTTP/1.1\r\nHost: h\r\n%s\r\n\r\n" % head).encode())
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        s.sendall(body)
    reply = Reply(s)
    assert reply.status == 422
    reply.problem()
    s.close()
    wait_until(lambda: server.counters()["ended"] == before["ended"] + 1)
    assert server.counters()["finished"] == before["finished"]


@pytest.mark.parametrize("sent", [10, 300000])
def test_a_client_that_vanishes_ends_its_stream_once(server, sent):
    """Also while a worker has the connection: nothing is finished, end() runs once."""
    before = server.counters()
    s = server.connect()
    s.sendall(b"POST /v1/upload?piece_ms=200 HTTP/1.1\r\nHost: h\r\nContent-Length: 9000000\r\n\r\n" + b"z" * sent)
    wait_until(lambda: server.counters()["begun"] == before["begun"] + 1)
    s.close()
    wait_until(lambda: server.counters()["ended"] == before["ended"] + 1)
    time.sleep(0.3)
    after = server.counters()
    assert after["finished"] == before["finished"] and after["ended"] == before["ended"] + 1


def test_a_stream_needs_its_token_before_its_body(server):
    for headers, status in (("", 401), (READ, 403), (WRITE, 200)):
        s = server.connect()
        s.sendall(("POST /v1/private-upload HTTP/1.1\r\nHost: h\r\n%sExpect: 100-continue\r\nContent-Length: 2\r\n\r\n" % headers).encode())
        reply = Reply(s)
        if status == 200:
            assert reply.status == 100
            s.sendall(b"zz")
            reply = Reply(s)
        assert reply.status == status
        s.close()


# --- access ---------------------------------------------------------------------------------------------------------

def test_challenges(server):
    reply = server.ask("GET", "/v1/echo/a")
    assert (reply.status, reply.headers["www-authenticate"]) == (401, 'Bearer realm="provisor"')
    reply = server.ask("GET", "/v1/echo/a", "Authorization: Basic eDp5\r\n")
    assert reply.headers["www-authenticate"] == 'Bearer realm="provisor"'
    reply = server.ask("GET", "/v1/echo/a", "Authorization: Bearer nonsense\r\n")
    assert (reply.status, reply.headers["www-authenticate"]) == (401, 'Bearer realm="provisor", error="invalid_token"')
    reply = server.ask("PUT", "/v1/echo/a", READ + JSON, b"{}")
    assert (reply.status, reply.headers["www-authenticate"]) == (403, 'Bearer error="insufficient_scope", scope="write"')
    assert server.ask("DELETE", "/v1/echo/a", WRITE).headers["www-authenticate"].endswith('scope="admin"')
    assert server.ask("PUT", "/v1/echo/a", WRITE + JSON, b"{}").json()["team"] == "team-of-write"
    assert server.ask("GET", "/v1/echo/a", "authorization: bearer prv_r\r\n").status == 200


def test_answers_of_a_team_are_not_kept_by_others(server):
    for _ in range(2):  # asked for, then remembered
        assert server.ask("GET", "/v1/echo/a", READ).headers["cache-control"] == "private, no-cache"
    assert server.ask("GET", "/v1/inline").headers["x-content-type-options"] == "nosniff"


def test_etags(server):
    reply = server.ask("GET", "/v1/tagged", READ + 'If-None-Match: W/"v7"\r\n')
    assert (reply.status, reply.headers["etag"], reply.body) == (304, '"v7"', b"")
    assert reply.headers["cache-control"] == "private, no-cache" and "content-type" not in reply.headers
    assert server.ask("GET", "/v1/tagged", READ + 'If-None-Match: "v8"\r\n').status == 200
    assert server.ask("GET", "/v1/tagged", READ + 'If-Match: W/"v7"\r\n').status == 412


def test_lines_about_strangers_are_bounded_and_counted():
    with running(log_unauthenticated_per_s=1, connections_max=100) as server:
        begin = time.monotonic()
        for i in range(60):
            assert server.ask("GET", "/v1/echo/a").status == 401
            assert server.ask("GET", "/v1/inline").status == 200
        for i in range(10):
            assert server.ask("GET", "/v1/echo/a", READ).status == 200
        most = 1 + time.monotonic() - begin
        cut = metric(server, "provisor_log_lines_about_strangers_cut_total")
        assert cut >= 119 - most
        server.terminate()
        lines = server.log("http.request")
        assert sum(line["route"] == "/v1/echo/{name}" and line["status"] == 200 for line in lines) == 10, "those with a token are all there"
        strangers = sum(line["status"] == 401 or line["route"] != "/v1/echo/{name}" for line in lines)
        told = sum(line["count"] for line in server.log("http.lines_about_strangers_cut"))
        assert 1 <= strangers <= most + 1
        assert strangers + told == 121, "60 and 60, and one that asked for the metrics"


# --- ids, traces, errors, metrics -------------------------------------------------------------------------------------

def test_request_ids(server):
    assert server.ask("GET", "/v1/inline", "X-Request-Id: ci-1.2_A\r\n").headers["x-request-id"] == "ci-1.2_A"
    for bad in ("a b", "x" * 129, "a\"b", "caf\xe9"):
        made = server.ask("GET", "/v1/inline", "X-Request-Id: %s\r\n" % bad).headers["x-request-id"]
        assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", made)


def test_traces_go_on_with_our_own_span(server):
    trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    reply = server.ask("GET", "/v1/inline", "traceparent: 00-%s-%s-01\r\nX-Request-Id: traced\r\n" % (trace, span))
    version, same, own, flags = reply.headers["traceparent"].split("-")
    assert (version, same, flags) == ("00", trace, "01") and own != span
    fresh = server.ask("GET", "/v1/inline", "traceparent: ff-%s-%s-01\r\n" % (trace, span)).headers["traceparent"]
    assert trace not in fresh
    wait_until(lambda: [l for l in server.log("http.request") if l.get("request_id") == "traced"])
    line = [l for l in server.log("http.request") if l.get("request_id") == "traced"][0]
    assert (line["trace_id"], line["method"], line["route"], line["status"]) == (trace, "GET", "/v1/inline", 200)
    assert line["duration_ms"] > 0 and line["bytes"] == len(reply.body)


def test_no_token_and_no_query_in_the_log(server):
    server.ask("GET", "/v1/echo/very-private?q=hidden", "Authorization: Bearer prv_mysecret\r\n")
    wait_until(lambda: server.log("http.request"))
    text = "".join(server.log_lines)
    assert "mysecret" not in text and "hidden" not in text and "very-private" not in text


def test_inner_detail_is_for_the_log_only(server):
    reply = server.ask("GET", "/v1/fail?code=internal")
    assert reply.status == 500 and b"SELECT" not in reply.body
    wait_until(lambda: any("SELECT" in line["detail"] for line in server.log("http.failed")))
    problem = server.ask("GET", "/v1/fail?code=x").problem()
    assert [(e.get("pointer"), e.get("parameter")) for e in problem["errors"]] == [("/jobs/0/name", None), (None, "code")]
    assert server.ask("GET", "/v1/fail?code=unavailable").headers["retry-after"] == "1"


def test_a_collision_is_tried_again(server):
    assert server.ask("GET", "/v1/again").status == 200
    assert server.ask("GET", "/v1/fail?code=retry").status == 503


def test_metrics_text(server):
    server.ask("GET", "/v1/echo/some-name", READ)
    server.ask("BREW", "/no/such/path")
    reply = server.ask("GET", "/metrics")
    assert reply.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    text = reply.body.decode()
    assert text.endswith("\n") and "some-name" not in text and "/no/such" not in text and "BREW" not in text
    assert 'route="/v1/eat",method="GET"' not in text, "nobody asked for it"
    assert re.search(r'requests_total\{route="unmatched",method="other",code_class="5xx"\} [1-9]', text)
    assert re.search(r'duration_seconds_bucket\{route="/v1/echo/\{name\}",le="\+Inf"\} [1-9]', text)
    assert re.search(r"provisor_http_requests_in_flight [1-9]", text), "this request itself"
    parse(text)



def test_health(server):
    assert server.ask("GET", "/healthz").json() == {"status": "ok"}
    assert server.ask("GET", "/readyz").json() == {"status": "ready"}
    assert server.ask("GET", "/healthz?x=1").status == 422
    assert server.ask("HEAD", "/readyz").status == 200


# --- connections ------------------------------------------------------------------------------------------------------

def test_pipelined_requests_are_answered_in_order(server):
    first = "GET /v1/slow?ms=150 HTTP/1.1\r\nHost: h\r\n\r\n"
    second = "POST /v1/json HTTP/1.1\r\nHost: h\r\n%sContent-Length: 2\r\n\r\n{}" % JSON
    third = "GET /v1/inline HTTP/1.1\r\nHost: h\r\n\r\n"
    s, replies = exchange(server, first + second + third, 3)
    assert [r.json()["path"] for r in replies] == ["/v1/slow", "/v1/json", "/v1/inline"]
    s.close()


def test_slow_requests_do_not_stall_others(server):
    threads = [threading.Thread(target=server.ask, args=("GET", "/v1/slow?ms=800")) for _ in range(6)]
    for t in threads:
        t.start()
    time.sleep(0.1)
    start = time.monotonic()
    for _ in range(20):
        assert server.ask("GET", "/v1/inline").status == 200
    assert time.monotonic() - start < 0.7
    for t in threads:
        t.join()


def test_a_full_queue_is_503_at_once():
    with running(compute_workers=1, compute_queue=1, io_workers=1) as server:
        slow = [server.connect() for _ in range(2)]
        for s in slow:
            s.sendall(b"GET /v1/slow?ms=1000 HTTP/1.1\r\nHost: h\r\n\r\n")
            time.sleep(0.1)
        start = time.monotonic()
        reply = server.ask("GET", "/v1/slow?ms=0")
        assert time.monotonic() - start < 0.5
        assert reply.problem()["type"] == "/problems/unavailable" and reply.status == 503
        assert int(reply.headers["retry-after"]) >= 1
        assert server.ask("GET", "/readyz").status == 200, "busy is ready: the balancer would only move the load"
        assert server.ask("GET", "/healthz").status == 200
        assert [Reply(s).status for s in slow] == [200, 200]
        assert 'provisor_http_rejected_total{reason="queue"} 1\n' in server.ask("GET", "/metrics").body.decode()


def ask_at_once(server, token, ms, n, running=0):
    """Sockets on which that many requests of the token's team wait for answers; workers have begun the first ones."""
    sockets = []
    for i in range(n):
        sockets.append(server.connect())
        sockets[-1].sendall(("GET /v1/slow/x?ms=%d HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer prv_%s\r\n\r\n" % (ms, token)).encode())
        while i + 1 == running and 'provisor_workers_busy{queue="compute"} %d\n' % running not in server.ask("GET", "/metrics").body.decode():
            time.sleep(0.01)
    return sockets


def test_one_team_does_not_hold_what_others_compute_with():
    """Long work of one team takes all workers but the spare one, and all of the queue, until somebody else comes."""
    with running(compute_workers=2, compute_queue=6, spare_workers=1) as server:
        red = ask_at_once(server, "red", 1500, 20, running=2)
        time.sleep(0.3)
        begin = time.monotonic()
        for _ in range(10):
            reply = server.ask("GET", "/v1/slow/x?ms=0", "Authorization: Bearer prv_blue\r\n")
            assert reply.status == 200 and reply.json()["team"] == "team-of-blue"
        assert time.monotonic() - begin < 1 * SLOWDOWN, "blue waits for none of red's"
        assert server.ask("GET", "/readyz").status == 200
        answered = sorted(Reply(s).status for s in red)
        assert answered.count(200) in (7, 8) and set(answered) <= {200, 429, 503}, "two ran and six waited; one may have made room"
        for s in red:
            s.close()


def test_a_full_queue_makes_room_for_who_waits_less():
    with running(compute_workers=1, compute_queue=4, spare_workers=0) as server:
        red = ask_at_once(server, "red", 800, 5, running=1)
        time.sleep(0.2)
        blue = ask_at_once(server, "blue", 0, 2)
        time.sleep(0.1)
        third = server.ask("GET", "/v1/slow/x?ms=0", "Authorization: Bearer prv_red\r\n")
        assert third.status == 429 and "ratelimit-policy" in third.headers, "red has most"
        assert [Reply(s).status for s in blue] == [200, 200]
        assert sorted(Reply(s).status for s in red) == [200, 200, 200, 429, 429]
        assert 'provisor_http_rejected_total{reason="queue_share"} 3\n' in server.ask("GET", "/metrics").body.decode()


def test_who_waits_too_long_is_refused_at_once():
    with running(compute_workers=1, compute_queue=100, compute_wait_ms=100) as server:
        first = ask_at_once(server, "red", 600, 2)
        time.sleep(0.3)
        begin = time.monotonic()
        assert server.ask("GET", "/v1/slow/x?ms=0", "Authorization: Bearer prv_red\r\n").status == 503
        assert time.monotonic() - begin < 0.3 * SLOWDOWN
        assert [Reply(s).status for s in first] == [200, 200]


def test_who_waits_too_long_for_postgresql_is_refused_at_once_too():
    """The bound is that of the queue: with more for those who compute, they go on waiting."""
    with running(io_workers=1, io_queue=100, io_wait_ms=100, compute_workers=1, compute_wait_ms=60000, spare_workers=0) as server:
        def ask_one(path):
            s = server.connect(PATIENCE)
            s.sendall(("GET /v1/%s/x?ms=600 HTTP/1.1\r\nHost: h\r\n%s\r\n" % (path, READ)).encode())
            return s
        assert server.ask("GET", "/v1/wait/x?ms=0", READ).status == 200  # the token is known
        waiting, computing = ([ask_one(path) for _ in range(2)] for path in ("wait", "slow"))
        time.sleep(0.3)
        refused, taken = ask_one("wait"), ask_one("slow")
        assert Reply(refused).status == 503
        assert [Reply(s).status for s in waiting + computing + [taken]] == [200] * 5


def read_slowly(server, mb):
    """5 MiB/s of a reply of so many; how much came."""
    s = hold(server, "red", 0, mb)
    s.settimeout(PATIENCE)
    read = 0
    while piece := receive(s):
        read += len(piece)
        if read >> 18 != (read - len(piece)) >> 18:
            time.sleep(0.05)
        if read > mb << 20:  # the head comes on top
            break
    s.close()
    return read


def test_a_large_reply_is_to_be_read_at_a_rate():
    """However steadily somebody reads it: when its time is over it goes, and with it the memory it holds."""
    with running(connection_idle_s=2, reply_large_bytes_per_s_min=1 << 30, reply_bytes_per_s_min=1 << 30) as server:
        assert read_slowly(server, 40) < 40 << 20
        wait_until(lambda: memory_of(server) < 1 << 20)
        assert metric(server, "provisor_http_requests_aborted_total") == 1
    with running(connection_idle_s=3, reply_large_bytes_per_s_min=1 << 18, reply_bytes_per_s_min=1 << 30) as server:
        assert read_slowly(server, 20) > 20 << 20
        wait_until(lambda: memory_of(server) < 1 << 20)
        assert metric(server, "provisor_http_requests_aborted_total") == 0


def memory_of(server):
    return int(float(re.search(r'^provisor_resource_held\{resource="memory"\} (\S+)$', server.ask("GET", "/metrics").body.decode(), re.M)[1]))


def hold(server, token, ms, mb):
    s = server.connect()
    s.sendall(("GET /v1/hold/x?ms=%d&bytes=%d HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer prv_%s\r\n\r\n" % (ms, int(mb * (1 << 20)), token)).encode())
    return s


def test_requests_hold_no_more_than_there_is_and_teams_share_it():
    with running(memory_bytes_max=10 << 20, compute_workers=8) as server:
        red = [hold(server, "red", 1500, 2) for _ in range(4)]
        time.sleep(0.3)
        assert 6 << 20 <= memory_of(server) <= 7.5 * (1 << 20), "one team alone comes to three quarters"
        blue = hold(server, "blue", 0, 1)
        reply = Reply(blue)
        assert reply.status == 200 and len(reply.body) == 1 << 20
        assert sorted(Reply(s).status for s in red) == [200, 200, 200, 503]
        assert memory_of(server) < 1 << 20
        both = [hold(server, token, 700, 2.5) for token in ("red", "blue")]
        time.sleep(0.2)
        more = Reply(hold(server, "red", 0, 3.5))
        assert more.status == 429 and more.headers["ratelimit"] == '"memory";r=0;t=1'
        assert more.headers["ratelimit-policy"] == '"memory";q=%d;qu="content-bytes"' % (10 << 20)
        assert [Reply(s).status for s in both] == [200, 200]
        text = server.ask("GET", "/metrics").body.decode()
        assert 'provisor_http_rejected_total{reason="memory"} 1\n' in text
        assert 'provisor_http_rejected_total{reason="memory_share"} 1\n' in text


def test_a_body_that_does_not_fit_the_memory_of_all_is_refused_while_it_comes():
    with running(memory_bytes_max=8 << 20, body_bytes_max=64 << 20) as server:
        s = server.connect()
        s.sendall(("POST /v1/json HTTP/1.1\r\nHost: h\r\n%sContent-Length: %d\r\n\r\n" % (JSON, 32 << 20)).encode())
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            s.sendall(b" " * (32 << 20))
        assert Reply(s).status == 503
        s.close()
        assert server.ask("GET", "/v1/inline").status == 200
        assert memory_of(server) < 1 << 20


def test_deadlines():
    """A handler that takes too long, header bytes that trickle, a body that trickles, a silent connection."""
    with running(request_timeout_ms=500, connection_idle_s=2, compute_workers=2) as server:
        start = time.monotonic()
        reply = server.ask("GET", "/v1/slow?ms=3000")
        assert reply.status == 503 and reply.problem()["type"] == "/problems/timeout"
        assert "retry-after" in reply.headers
        assert 0.4 < time.monotonic() - start < 1.5 * SLOWDOWN

        def trickle(first, most):
            s = server.connect()
            s.sendall(first)
            begin = time.monotonic()
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                while time.monotonic() - begin < 10:
                    s.settimeout(0.1)
                    try:
                        answer = s.recv(4096)
                        return time.monotonic() - begin, answer
                    except socket.timeout:
                        s.sendall(b"x")
            return time.monotonic() - begin, b""

        took, answer = trickle(b"GET /v1/inline HTTP/1.1\r\nHost: h\r\nX-Slow: ", 2)
        assert took < 2 and answer.startswith(b"HTTP/1.1 408 ")
        took, answer = trickle(b"POST /v1/json HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n", 2)
        assert took < 2 and answer.startswith(b"HTTP/1.1 408 ")
        took, answer = trickle(b"GET /a-request-line-that-never-ends", 4)
        assert took < 4 and not answer.startswith(b"HTTP/1.1 2")
        with server.connect() as s:
            assert is_closed(s, 5), "a connection that says nothing is closed"
        assert server.ask("GET", "/v1/inline").status == 200


def test_a_stream_may_last_longer_than_a_request():
    """The time of a request does not end an upload; silence does."""
    with running(request_timeout_ms=400, connection_idle_s=2) as server:
        with server.connect() as s:
            s.sendall(b"POST /v1/upload HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n")
            for _ in range(10):
                time.sleep(0.12)
                s.sendall(b"z")
            assert Reply(s).json() == {"bytes": 10}
        with server.connect() as s:
            s.sendall(b"POST /v1/upload HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nz")
            assert is_closed(s, 6)
        wait_until(lambda: server.counters()["ended"] == 2)
        with server.connect() as s:  # a piece that takes too long
            s.sendall(b"POST /v1/upload?piece_ms=1500 HTTP/1.1\r\nHost: h\r\nContent-Length: 600000\r\n\r\n" + b"z" * 600000)
            assert Reply(s).status == 503
        wait_until(lambda: server.counters()["ended"] == 3)
        assert server.counters()["finished"] == 1


def answer_while_sending(s, piece, pause):
    """Send the piece again and again until there is an answer; how many were sent goes with it."""
    begin, n = time.monotonic(), 0
    s.settimeout(pause)
    while time.monotonic() - begin < PATIENCE:
        with contextlib.suppress(socket.timeout):
            return n, s.recv(65536)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            s.sendall(piece)
            n += 1
    raise AssertionError("no answer within %s s" % PATIENCE)


@pytest.mark.parametrize("framing,piece", [("Content-Length: 9000000", b"z"), ("Transfer-Encoding: chunked", b"1\r\nz\r\n")])
def test_an_upload_that_trickles_is_cut_when_its_time_is_over(framing, piece):
    """A byte now and then does not keep it for ever: 1 s, and what the bytes take at 1,000 a second."""
    with running(upload_grace_s=1, upload_bytes_per_s_min=1000) as server:
        with server.connect() as s:
            s.sendall(("POST /v1/upload HTTP/1.1\r\nHost: h\r\n%s\r\n\r\n" % framing).encode())
            n, answer = answer_while_sending(s, piece, 0.1)
            assert answer.startswith(b"HTTP/1.1 408 ") and n > 0
            problem = json.loads(answer.split(b"\r\n\r\n", 1)[1])
            assert (problem["type"], problem["status"]) == ("/problems/timeout", 408)
            assert "upload_grace_s" in problem["detail"] and "upload_bytes_per_s_min" in problem["detail"]
            assert is_closed(s)
        wait_until(lambda: server.counters()["ended"] == 1)
        assert server.counters()["finished"] == 0
        assert metric(server, "provisor_http_slow_uploads_total") == 1


def test_an_upload_at_the_least_rate_may_take_longer_than_the_grace():
    """What has come counts, by its length, not by how long ago it came; nor does the service's own work."""
    with running(upload_grace_s=1, upload_bytes_per_s_min=1000) as server:
        with server.connect() as s:
            s.sendall(b"POST /v1/upload HTTP/1.1\r\nHost: h\r\nContent-Length: 100010\r\n\r\n" + b"z" * 100000)
            for _ in range(10):
                time.sleep(0.2)
                s.sendall(b"z")
            assert Reply(s).json() == {"bytes": 100010}
    with running(upload_grace_s=2, upload_bytes_per_s_min=1 << 30) as server:
        body = b"z" * (4 << 18)
        assert server.ask("POST", "/v1/upload?piece_ms=800", body=body).json() == {"bytes": len(body)}
        assert metric(server, "provisor_http_slow_uploads_total") == 0


def test_a_vanished_client_costs_nothing_but_its_work(server):
    for _ in range(5):
        s = server.connect()
        s.sendall(b"GET /v1/slow?ms=200 HTTP/1.1\r\nHost: h\r\n\r\n")
        time.sleep(0.02)
        s.close()
    time.sleep(0.6)
    assert server.ask("GET", "/v1/inline").status == 200


@pytest.mark.parametrize("method, path, headers", [
    ("GET", "/v1/slow?ms=5", ""), ("GET", "/v1/echo/a", READ), ("GET", "/v1/slow?ms=5", "Authorization: Bearer prv_slow\r\n"),
    ("PUT", "/v1/echo/a", "Authorization: Bearer prv_slow-write\r\n" + JSON)])
def test_a_client_that_ends_its_side_after_its_request_is_answered(server, method, path, headers):
    """Whenever that is noticed: while a worker has the request, just before or just after (RFC 9112, 9.6)."""
    def ask(i):
        body = b"{%s}" % (b" " * 50000) if method == "PUT" else b""
        with server.connect() as s:
            s.sendall(("%s %s HTTP/1.1\r\nHost: h\r\n%sContent-Length: %d\r\n\r\n" % (method, path, headers, len(body))).encode() + body)
            time.sleep((0, 0, 0.0005, 0.002, 0.01)[i % 5])
            s.shutdown(socket.SHUT_WR)
            return Reply(s).status, is_closed(s)

    with concurrent.futures.ThreadPoolExecutor(12) as pool:  # alone it would be answered anyway
        assert set(pool.map(ask, range(60))) == {(200, True)}


def test_connections_beyond_the_limit_wait_and_are_served():
    with running(connections_max=4, http_threads=1, connection_idle_s=1) as server:
        held = [server.connect() for _ in range(4)]
        assert server.ask("GET", "/v1/inline").status == 200, "served once the silent ones have been closed"
        for s in held:
            s.close()


def metric(server, name, port=None):
    """Asked for on the second listener where there is one: a connection of the first may be one too many."""
    reply = ask_port(port, "/metrics") if port else server.ask("GET", "/metrics")
    found = re.search("^%s (\\S+)$" % re.escape(name), reply.body.decode(), re.M)
    return int(float(found[1])) if found else 0


CROWDED_OUT = 'provisor_http_connections_crowded_out_total{authenticated="%s"}'


def open_with_token(server):
    s = server.connect()
    s.sendall(("GET /v1/echo/a HTTP/1.1\r\nHost: h\r\n%s\r\n" % READ).encode())
    assert Reply(s).status == 200
    return s


def test_idle_strangers_make_room_for_those_who_come():
    """More idle connections than there may be: new clients are answered, and who sent a valid token keeps its connection."""
    with running(connections_max=50, connection_idle_s=600, connection_first_idle_s=600) as server:
        known = [open_with_token(server) for _ in range(5)]
        strangers = []
        for i in range(200):
            strangers.append(server.connect())
            if i % 3 == 0:  # some begin a request and never end it
                strangers[-1].sendall(b"GET /v1/inline HTTP/1.1\r\nHost: h\r\nX-Slow: ")
        for _ in range(5):
            assert server.ask("GET", "/healthz").status == 200
            assert server.ask("GET", "/v1/echo/a", READ).status == 200
        for s in known:
            s.sendall(("GET /v1/echo/a HTTP/1.1\r\nHost: h\r\n%s\r\n" % READ).encode())
            assert Reply(s).status == 200, "a connection with a token outlasts those without"
        assert metric(server, CROWDED_OUT % "no") >= 150 and metric(server, CROWDED_OUT % "yes") == 0
        for s in strangers + known:
            s.close()


def test_of_those_with_a_token_the_longest_idle_goes():
    with running(connections_max=8, http_threads=1, connection_idle_s=600) as server:
        known = [open_with_token(server) for _ in range(7)]
        for s in known[1:]:
            s.sendall(("GET /v1/echo/a HTTP/1.1\r\nHost: h\r\n%s\r\n" % READ).encode())
            assert Reply(s).status == 200
        known.append(open_with_token(server))
        assert is_closed(known[0], PATIENCE)
        for s in known[2:]:
            s.sendall(("GET /v1/echo/a HTTP/1.1\r\nHost: h\r\n%s\r\n" % READ).encode())
            assert Reply(s).status == 200
            s.close()


def ask_as(s, team):
    """A request with a token of that team; its answer."""
    s.sendall(("GET /v1/echo/a HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer prv_%s\r\n\r\n" % team).encode())
    return Reply(s)


def connect_as(server, team):
    s = server.connect(PATIENCE)
    assert ask_as(s, team).status == 200
    return s


def begin_body(s, team):
    """A request that lasts: a byte of its body, and no more until end_body."""
    s.sendall(("PUT /v1/echo/a HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer prv_write_%s\r\n%sContent-Length: 2\r\n\r\n{" % (team, JSON)).encode())


def connections_held(port):
    return metric(None, 'provisor_resource_held{resource="connections"}', port)


def test_of_known_connections_those_of_the_team_that_holds_most_go_first():
    """Not those of a team with few, which have been idle for longer; a team holds what its tokens came on last."""
    port = free_port()
    with running(health_port=port, connections_max=32, http_threads=1, connection_idle_s=600) as server:
        few = [connect_as(server, "a") for _ in range(2)]
        proxied = [connect_as(server, "a") for _ in range(18)]
        for s in proxied:
            assert ask_as(s, "b").json()["team"] == "team-of-b"
        others = [connect_as(server, "c") for _ in range(10)]
        assert connections_held(port) == 30
        time.sleep(0.3)  # who has asked within 200 ms is not idle
        for s in proxied[:3]:
            others.append(connect_as(server, "c"))
            assert is_closed(s, PATIENCE)
        for s in few + proxied[3:] + others:
            assert ask_as(s, "a").status == 200
        wait_until(lambda: connections_held(port) == 30)
        for s in few + proxied + others:
            s.close()
        wait_until(lambda: connections_held(port) == 0)


def test_a_team_beyond_its_share_of_connections_leaves_the_last_ones_to_others():
    """All of its connections are busy, so none can be closed: it is refused, and who has none is let in."""
    port = free_port()
    with running(health_port=port, connections_max=64, http_threads=1, connection_idle_s=600, request_timeout_ms=600000) as server:
        busy = []
        for _ in range(62):  # nearly all, where nobody else wants any; 48 are its share
            busy.append(server.connect(PATIENCE))
            begin_body(busy[-1], "a")
        wait_until(lambda: connections_held(port) == 62)
        refused = server.connect()
        begin_body(refused, "a")
        reply = Reply(refused)
        assert (reply.status, reply.headers["connection"]) == (503, "close"), "answered before its body has come"
        assert "connections_max = 64" in reply.problem()["detail"] and int(reply.headers["retry-after"]) >= 1
        quiet = connect_as(server, "b")
        with server.connect(PATIENCE) as s:
            reply = ask_as(s, "write_a")
            assert (reply.status, reply.headers["connection"]) == (429, "close")
            assert reply.problem()["type"] == "/problems/quota_exceeded"
            assert reply.headers["ratelimit-policy"] == '"connections";q=64;qu="concurrent-requests"'
            assert reply.headers["ratelimit"] == '"connections";r=0;t=1'
            assert is_closed(s, PATIENCE)
        assert ask_as(quiet, "b").status == 200
        for reason in ("full", "share"):
            assert metric(server, 'provisor_resource_refused_total{resource="connections",reason="%s"}' % reason, port) == 1
        for s in busy:
            s.sendall(b"}")
            assert Reply(s).status == 200, "what has begun goes on"
        more = []
        while len(more) < 8:  # once those are idle; until then there are no more places for anybody
            more.append(server.connect(PATIENCE))
            reply = ask_as(more[-1], "b")
            assert reply.status in (200, 429)
            if reply.status == 429:
                more.pop().close()
        for s in more + [quiet]:
            assert ask_as(s, "b").status == 200
        for s in busy + more + [quiet, refused]:
            s.close()


def test_who_has_been_refused_makes_room_however_much_it_still_sends():
    """The answer comes before the body, and the connection then is the first to go where others want one."""
    port = free_port()
    with running(health_port=port, connections_max=64, http_threads=1, connection_idle_s=600, request_timeout_ms=600000) as server:
        busy = []
        for _ in range(62):
            busy.append(server.connect(PATIENCE))
            begin_body(busy[-1], "a")
        wait_until(lambda: connections_held(port) == 62)
        lingering = []
        for _ in range(8):
            lingering.append(server.connect(PATIENCE))
            begin_body(lingering[-1], "a")
            assert Reply(lingering[-1]).status == 503
        began = time.monotonic()
        connect_as(server, "b").close()
        assert time.monotonic() - began < 4 * SLOWDOWN, "it need not wait for those who have their answer"
        for s in busy + lingering:
            s.close()


def test_before_the_first_request_patience_is_shorter():
    with running(connection_idle_s=600, connection_first_idle_s=1) as server:
        silent, polite = server.connect(), server.connect()
        polite.sendall(b"GET /v1/inline HTTP/1.1\r\nHost: h\r\n\r\n")
        assert Reply(polite).status == 200
        assert is_closed(silent, PATIENCE)
        assert not is_closed(polite, 0.3)
        polite.close()


# --- the second listener ------------------------------------------------------------------------------------------------

def ask_port(port, target, timeout=PATIENCE):
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as s:
        s.sendall(("GET %s HTTP/1.1\r\nHost: h\r\n\r\n" % target).encode())
        return Reply(s)


def test_health_is_answered_apart_from_everything_else():
    """While the connections of the first listener are taken by requests and all its workers are busy."""
    port = free_port()
    with running(connections_max=8, http_threads=1, compute_workers=1, io_workers=1, spare_workers=0, health_port=port,
                 request_timeout_ms=60000) as server:
        busy = []
        for _ in range(8):
            busy.append(server.connect(PATIENCE))
            busy[-1].sendall(b"GET /v1/slow?ms=300 HTTP/1.1\r\nHost: h\r\n\r\n")
        waiting = server.connect()
        waiting.sendall(b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
        wait_until(lambda: b"\nprovisor_http_connections 9\n" in ask_port(port, "/metrics").body)
        for target in ("/healthz", "/readyz", "/metrics"):
            assert ask_port(port, target).status == 200
        assert [Reply(s).status for s in busy] == [200] * 8
        assert Reply(waiting).status == 200, "the paths are served by the first one, too"
        for s in busy:
            s.close()


def test_the_second_listener_serves_nothing_else_and_has_a_bound_of_its_own():
    port = free_port()
    with running(health_port=port, health_connections_max=8) as server:
        reply = ask_port(port, "/v1/inline")
        assert reply.status == 404 and "health" in reply.problem()["detail"]
        idle = [socket.create_connection(("127.0.0.1", port), timeout=10) for _ in range(40)]
        assert ask_port(port, "/readyz").status == 200
        assert metric(server, CROWDED_OUT % "no") >= 30
        for s in idle:
            s.close()


def test_who_has_come_before_the_listener_closes_is_answered():
    with running(drain_delay_ms=0) as server:
        server.process.send_signal(signal.SIGSTOP)
        clients = []
        for _ in range(50):  # connected by the kernel, taken by nobody yet
            s = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
            s.sendall(b"GET /v1/inline HTTP/1.1\r\nHost: h\r\n\r\n")
            clients.append(s)
        server.process.send_signal(signal.SIGTERM)
        server.process.send_signal(signal.SIGCONT)
        assert [Reply(s).status for s in clients] == [200] * 50
        assert server.terminate() == 0


def test_the_second_listener_tells_of_the_drain():
    port = free_port()
    with running(health_port=port, drain_delay_ms=0) as server:
        s = server.connect()
        s.sendall(b"GET /v1/slow?ms=1500 HTTP/1.1\r\nHost: h\r\n\r\n")
        wait_until(lambda: metric(server, "provisor_http_requests_in_flight") > 1)
        server.process.send_signal(signal.SIGTERM)
        wait_until(lambda: ask_port(port, "/readyz").status == 503)
        assert ask_port(port, "/healthz").status == 200
        assert Reply(s).status == 200


def test_metrics_are_made_once_in_a_while():
    with running(metrics_cache_ms=60000) as server:
        first = server.ask("GET", "/metrics").body
        assert server.ask("GET", "/v1/echo/x", READ).status == 200
        assert server.ask("GET", "/metrics").body == first
    with running(metrics_cache_ms=0) as server:
        first = server.ask("GET", "/metrics").body
        assert server.ask("GET", "/v1/echo/x", READ).status == 200
        assert server.ask("GET", "/metrics").body != first


def test_drain_lets_requests_finish():
    with running(drain_s=5, compute_workers=2) as server:
        busy, idle = server.connect(), server.connect()
        idle.sendall(b"GET /v1/inline HTTP/1.1\r\nHost: h\r\n\r\n")
        assert Reply(idle).status == 200
        busy.sendall(b"GET /v1/slow?ms=1000 HTTP/1.1\r\nHost: h\r\n\r\n")
        time.sleep(0.2)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        idle.sendall(b"GET /readyz HTTP/1.1\r\nHost: h\r\n\r\n")
        ready = Reply(idle)
        assert ready.status == 503 and ready.headers["connection"] == "close"
        with pytest.raises(OSError):
            with server.connect(timeout=1) as s:
                s.sendall(b"GET /v1/inline HTTP/1.1\r\nHost: h\r\n\r\n")
                if Reply(s).status == 0:
                    raise OSError("not accepted")
        reply = Reply(busy)
        assert reply.status == 200 and reply.headers["connection"] == "close"
        assert server.terminate() == 0


def test_drain_ends_in_time_whatever_runs():
    with running(drain_s=1, compute_workers=2) as server:
        late = [server.connect() for _ in range(6)]
        for s in late:
            s.sendall(b"GET /v1/slow?ms=2500 HTTP/1.1\r\nHost: h\r\n\r\n")
        upload = server.connect()
        upload.sendall(b"POST /v1/upload HTTP/1.1\r\nHost: h\r\nContent-Length: 900\r\n\r\nz")
        time.sleep(0.3)
        start = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        replies = [Reply(s) for s in late]
        assert [r.status for r in replies] == [503] * 6
        assert time.monotonic() - start < 2.5 * SLOWDOWN
        assert all("shutting down" in r.problem()["detail"] for r in replies)
        assert server.terminate() == 0
        assert "begun 1 ended 1" in server.last_words


def test_an_address_in_use_is_told(server):
    other = subprocess.run([str(SERVER), "--listen_port=%d" % server.port], capture_output=True, text=True, timeout=10)
    assert other.returncode == 1 and "in use" in other.stderr


@pytest.mark.resident_memory
def test_idle_connections_are_cheap():
    """5,000 idle connections under 250 MB: 45 kB each leaves room for the program itself."""
    with running(connections_max=2000, connection_idle_s=60, request_timeout_ms=60000) as server:
        def resident():
            return int(re.search(r"resident_memory_bytes (\d+)", server.ask("GET", "/metrics").body.decode()).group(1))
        before = resident()
        held = []
        for _ in range(900):
            s = server.connect()
            s.sendall(b"GET /v1/inline HTTP/1.1\r\nHost: h\r\n\r\n")
            assert Reply(s).status == 200
            held.append(s)
        assert (resident() - before) / len(held) < 45000
        for s in held:
            s.close()


def test_a_client_that_only_stops_sending_gets_its_answer(server):
    with server.connect() as s:
        s.sendall(b"GET /v1/slow?ms=300 HTTP/1.1\r\nHost: h\r\n\r\n")
        s.shutdown(socket.SHUT_WR)
        assert Reply(s).status == 200


def test_a_refused_body_that_trickles_is_cut():
    """Also when asking for the token suspended the connection in between."""
    with running(request_timeout_ms=500, connection_idle_s=5) as server:
        with server.connect() as s:
            s.sendall(("PUT /v1/echo/a HTTP/1.1\r\nHost: h\r\n%s%sContent-Length: 1000\r\n\r\n" % (READ, JSON)).encode())
            begin = time.monotonic()
            answer = b""
            while time.monotonic() - begin < 4 and not answer:
                s.settimeout(0.1)
                try:
                    s.sendall(b"x")
                    answer = s.recv(4096)
                except socket.timeout:
                    pass
            assert time.monotonic() - begin < 2 and answer.startswith(b"HTTP/1.1 408 ")


def test_the_end_does_not_race_with_the_threads_of_the_library():
    """Clients come and go while it stops listening, and the thread that does it is the slower one."""
    slow = SERVER.parent / "libslow_epoll.so"
    if not slow.exists():
        pytest.skip("built with a sanitizer")
    with running(preload=slow, http_threads=16, drain_delay_ms=0) as server:
        ended = threading.Event()

        def come_and_go():
            while not ended.is_set():
                with contextlib.suppress(OSError), server.connect() as s:
                    s.sendall(b"GET /v1/inline HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
                    s.recv(4096)

        clients = [threading.Thread(target=come_and_go) for _ in range(4)]
        for client in clients:
            client.start()
        time.sleep(0.2)
        try:
            assert server.terminate() == 0, "".join(server.log_lines)
        finally:
            ended.set()
            for client in clients:
                client.join()


def test_while_it_drains_new_clients_are_refused_and_nothing_spins():
    with running(http_threads=4, drain_delay_ms=0) as server:
        with server.connect() as s:
            s.sendall(b"GET /v1/slow?ms=3000 HTTP/1.1\r\nHost: h\r\n\r\n")
            time.sleep(0.5)
            server.process.send_signal(signal.SIGTERM)

            def refused():
                try:
                    server.connect().close()
                    return False
                except ConnectionRefusedError:
                    return True
                except ConnectionResetError:  # in the instant in which the listener closes
                    return False

            def busy_s():
                fields = pathlib.Path("/proc/%d/stat" % server.process.pid).read_text().rsplit(")", 1)[1].split()
                return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

            wait_until(refused, 1.5)
            before_s = busy_s()
            time.sleep(0.5)
            assert busy_s() - before_s < 0.1
            assert Reply(s).status == 200


def test_whatever_is_sent_the_server_stands():
    """Random requests, cut, doubled and contradicting: it goes on, ends every stream it began, drains and exits 0."""
    targets = ["/v1/inline", "/v1/json", "/v1/slow?ms=20", "/v1/slow?ms=600", "/v1/upload", "/v1/upload?fail_at=1000", "/metrics",
               "/v1/upload?piece_ms=400", "/v1/private-upload", "/v1/echo/a%2Fb", "/readyz", "*", "/%00", "/v1/eat", "/v1/again"]
    fields = [JSON, "Content-Length: 5\r\n", "Content-Length: 300000\r\n", "Transfer-Encoding: chunked\r\n", "Expect: 100-continue\r\n",
              WRITE, "Authorization: Bearer no\r\n", "Connection: close\r\n", "Bad Name: x\r\n", "X: %s\r\n" % ("y" * 5000)]
    bodies = [b"", b"{}   ", b"z" * 300000, b"5\r\nhello\r\n0\r\n\r\n", b"3\r\nab", chunked(300000, 30000), b"junk\r\n"]

    def run(server, seed, end):
        draw = random.Random(seed)
        while time.monotonic() < end:
            with contextlib.suppress(OSError), server.connect(timeout=1) as s:
                for _ in range(draw.randint(1, 4)):
                    head = "%s %s HTTP/1.1\r\nHost: h\r\n" % (draw.choice(["GET", "POST", "PUT", "DELETE", "HEAD", "BREW"]), draw.choice(targets))
                    raw = (head + "".join(draw.sample(fields, draw.randint(0, 4))) + "\r\n").encode() + draw.choice(bodies)
                    s.sendall(raw[:draw.randint(0, len(raw))] if draw.random() < 0.1 else raw)
                    if draw.random() < 0.5:
                        s.settimeout(draw.choice([0.01, 0.7]))
                        s.recv(70000)

    with running(request_timeout_ms=300, connection_idle_s=1, io_queue=4, io_workers=2, compute_workers=2, compute_queue=4,
                 drain_s=1, request_memory_bytes_max=1048576) as server:
        end = time.monotonic() + 3
        threads = [threading.Thread(target=run, args=(server, seed, end)) for seed in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert server.process.poll() is None
        assert server.terminate() == 0
        begun, ended = re.search(r"begun (\d+) ended (\d+)", server.last_words).groups()
        assert begun == ended and int(begun) > 0
