"""Limits and deadlines of the HTTP room: queues and memory with a share for each team, times for requests and for readers."""
import contextlib
import re
import socket
import threading
import time

from patience import PATIENCE, SLOWDOWN, wait_until
from trap_server import JSON, READ, Reply, is_closed, metric, receive, running, server


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
    with running(compute_workers=1, compute_queue=1, io_workers=1, light_workers=0) as server:
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
    with running(compute_workers=2, compute_queue=6, spare_workers=1, light_workers=0) as server:
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
    with running(compute_workers=1, compute_queue=4, spare_workers=0, light_workers=0) as server:
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
    with running(compute_workers=1, compute_queue=100, compute_wait_ms=100, light_workers=0) as server:
        first = ask_at_once(server, "red", 600, 2)
        time.sleep(0.3)
        begin = time.monotonic()
        assert server.ask("GET", "/v1/slow/x?ms=0", "Authorization: Bearer prv_red\r\n").status == 503
        assert time.monotonic() - begin < 0.3 * SLOWDOWN
        assert [Reply(s).status for s in first] == [200, 200]


def test_who_waits_too_long_for_postgresql_is_refused_at_once_too():
    """The bound is that of the queue: with more for those who compute, they go on waiting."""
    with running(io_workers=1, io_queue=100, io_wait_ms=100, compute_workers=1, compute_wait_ms=60000, spare_workers=0, light_workers=0) as server:
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
        wait_until(lambda: memory_of(server) < 1 << 20)
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
        reply = Reply(s)
        assert reply.status == 422 and "memory_bytes_max" in reply.problem()["detail"]
        s.close()
        assert server.ask("GET", "/v1/inline").status == 200
        wait_until(lambda: memory_of(server) < 1 << 20)


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


def test_metrics_are_made_once_in_a_while():
    with running(metrics_cache_ms=60000) as server:
        first = server.ask("GET", "/metrics").body
        assert server.ask("GET", "/v1/echo/x", READ).status == 200
        assert server.ask("GET", "/metrics").body == first
    with running(metrics_cache_ms=0) as server:
        first = server.ask("GET", "/metrics").body
        assert server.ask("GET", "/v1/echo/x", READ).status == 200
        assert server.ask("GET", "/metrics").body != first
