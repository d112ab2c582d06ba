"""Connections of the HTTP room and its two listeners: who is let in, who goes first where they are many, half-closed ones, and the drain."""
import concurrent.futures
import contextlib
import os
import pathlib
import re
import signal
import socket
import subprocess
import threading
import time

import pytest

from patience import PATIENCE, SLOWDOWN, wait_until
from ports import free_port
from trap_server import JSON, READ, SERVER, Reply, ask_port, is_closed, metric, running, server


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


def test_who_is_refused_and_ended_its_side_with_its_last_bytes_leaves_no_connection_behind():
    with running(compute_workers=1, compute_queue=1, spare_workers=0, light_workers=0) as server, contextlib.ExitStack() as stack:
        for _ in range(2):  # one runs and one waits
            busy = stack.enter_context(server.connect())
            busy.sendall(b"GET /v1/slow?ms=3000 HTTP/1.1\r\nHost: h\r\n\r\n")
            time.sleep(0.2)
        with server.connect() as s:
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)  # the end comes with the request, in one segment
            s.sendall(b"GET /v1/slow?ms=1 HTTP/1.1\r\nHost: h\r\n\r\n")
            s.shutdown(socket.SHUT_WR)
            assert (Reply(s).status, is_closed(s)) == (503, True)


def test_connections_beyond_the_limit_wait_and_are_served():
    with running(connections_max=4, http_threads=1, connection_idle_s=1) as server:
        held = [server.connect() for _ in range(4)]
        assert server.ask("GET", "/v1/inline").status == 200, "served once the silent ones have been closed"
        for s in held:
            s.close()


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
        refused = server.connect(PATIENCE)
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
        time.sleep(0.3)  # the quiet one is idle by then, those of the team beyond its share will be in a moment
        for s in busy:
            s.sendall(b"}")
            assert Reply(s).status == 200, "what has begun goes on"
        time.sleep(1)  # on a slow machine, too, those of the team beyond its share are idle now, and go first
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


def test_a_team_beyond_its_share_is_refused_also_where_nobody_has_looked_since_it_became_crowded():
    """Who looks for idle connections is late, as on a machine under load; those who come do not wait for that."""
    slow = SERVER.parent / "libslow_sweeper.so"
    if not slow.exists():
        pytest.skip("built with a sanitizer")
    port = free_port()
    with running(preload=slow, health_port=port, connections_max=64, http_threads=1, connection_idle_s=600, request_timeout_ms=600000) as server:
        busy = []
        for expected in (60, 62):  # with the first of them it is not crowded yet
            while len(busy) < expected:
                busy.append(server.connect(PATIENCE))
                begin_body(busy[-1], "a")
            wait_until(lambda: connections_held(port) == expected)
        refused = server.connect(5)
        begin_body(refused, "a")
        assert Reply(refused).status == 503, "let in, it would be waited for the rest of its body"
        for s in busy + [refused]:
            s.close()


def keep_asking(s, team, ended):
    while not ended.wait(0.02):
        assert ask_as(s, team).status == 200


def test_where_idle_connections_can_be_closed_nobody_is_refused():
    """Not even a team beyond its share, nor while one of those of the team that holds most is in use."""
    with running(connections_max=128, connection_idle_s=600) as server:
        idle = [connect_as(server, "a") for _ in range(110)]
        ended = threading.Event()
        busy = threading.Thread(target=keep_asking, args=(idle[0], "a", ended))
        busy.start()
        time.sleep(0.3)  # the others are idle
        mine = []
        for _ in range(40):
            mine.append(server.connect(PATIENCE))
            assert ask_as(mine[-1], "c").status == 200
        ended.set()
        busy.join()
        assert ask_as(idle[0], "a").status == 200
        for s in idle + mine:
            s.close()


def test_strangers_who_do_not_read_their_answers_make_room():
    with running(connections_max=32, connection_idle_s=600, request_timeout_ms=600000) as server:
        strangers = [server.connect(PATIENCE) for _ in range(32)]
        asked = b"GET /v1/inline?q=%s HTTP/1.1\r\nHost: h\r\n\r\n" % (b"x" * 8000)  # answered in as many bytes
        for s in strangers:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            with contextlib.suppress(OSError):  # closed already, for the next of them
                s.setblocking(False)
                for _ in range(400):
                    s.sendall(asked * 10)
        connect_as(server, "a").close()  # long before any of their times is over
        for s in strangers:
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
        connect_as(server, "b").close()  # it need not wait for those who have their answer
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


def test_health_is_answered_apart_from_everything_else():
    """While the connections of the first listener are taken by requests and all its workers are busy."""
    port = free_port()
    with running(connections_max=8, http_threads=1, compute_workers=1, io_workers=1, spare_workers=0, light_workers=0, health_port=port,
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
    """Also where it takes a while to let them in; with a sanitizer, which allows no slow accept(), they are let in at once."""
    slow = SERVER.parent / "libslow_accept.so"
    with running(preload=slow if slow.exists() else None, drain_delay_ms=0) as server:
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


def lets_in(server):
    try:
        with server.connect(timeout=1) as s:
            s.sendall(b"GET /v1/inline HTTP/1.1\r\nHost: h\r\n\r\n")
            return Reply(s).status != 0
    except OSError:
        return False


def test_drain_lets_requests_finish():
    with running(drain_s=60, request_timeout_ms=60000) as server:
        busy, idle = server.connect(PATIENCE), server.connect(PATIENCE)
        idle.sendall(b"GET /v1/inline HTTP/1.1\r\nHost: h\r\n\r\n")
        assert Reply(idle).status == 200
        busy.sendall(("POST /v1/json HTTP/1.1\r\nHost: h\r\n%sContent-Length: 2\r\n\r\n{" % JSON).encode())
        wait_until(lambda: metric(server, "provisor_http_requests_in_flight") > 1)
        server.process.send_signal(signal.SIGTERM)
        wait_until(lambda: not lets_in(server))
        idle.sendall(b"GET /readyz HTTP/1.1\r\nHost: h\r\n\r\n")
        ready = Reply(idle)
        assert ready.status == 503 and ready.headers["connection"] == "close"
        busy.sendall(b"}")
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

            wait_until(refused, seconds=1.5)
            before_s = busy_s()
            time.sleep(0.5)
            assert busy_s() - before_s < 0.1
            assert Reply(s).status == 200
