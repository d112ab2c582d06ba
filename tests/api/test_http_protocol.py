"""The duties of RFC 9110 and 9112, and what every answer has: framing that hides nothing, targets, methods, access, ids, traces, the log."""
import contextlib
import random
import re
import threading
import time

import pytest

from exposition import parse
from patience import PATIENCE, wait_until
from trap_server import JSON, READ, SMUGGLED, WRITE, Reply, chunked, exchange, is_closed, metric, running, server

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


def test_pipelined_requests_are_answered_in_order(server):
    first = "GET /v1/slow?ms=150 HTTP/1.1\r\nHost: h\r\n\r\n"
    second = "POST /v1/json HTTP/1.1\r\nHost: h\r\n%sContent-Length: 2\r\n\r\n{}" % JSON
    third = "GET /v1/inline HTTP/1.1\r\nHost: h\r\n\r\n"
    s, replies = exchange(server, first + second + third, 3)
    assert [r.json()["path"] for r in replies] == ["/v1/slow", "/v1/json", "/v1/inline"]
    s.close()


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
