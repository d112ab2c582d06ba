"""Bodies and streams of the HTTP room: types, sizes, codings, what is cut or refused midway, and uploads that trickle."""
import concurrent.futures
import contextlib
import json
import socket
import time

import pytest

from patience import PATIENCE, wait_until
from trap_server import JSON, READ, WRITE, Reply, chunked, exchange, is_closed, metric, running, server


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
