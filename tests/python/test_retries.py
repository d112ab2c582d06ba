"""What is tried again and what is not, and what comes of failures: by a server that misbehaves."""
import json
import logging
import pickle
import socket
import threading
import time
import traceback

import pytest

import provisor
from stub import JSON, cut, page, problem, stub

TOKEN = "prv_%032x_%064x_%08x" % (1, 2, 3)
HEALTH = (200, JSON, '{"status": "ok"}')
RUN = {"problem_size": 8, "executors": 2, "cores_per_executor": 4, "duration_s": 10}
OK_RUN = (201, JSON, '{"id": "x"}')
EMPTY = (200, JSON, '{"items": [], "next_cursor": null}')


def keys(server):
    return [headers.get("Idempotency-Key") for _, _, headers, _ in server.requests]


def rest(handler):
    """The connection is closed without a reply."""
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_service_is_asked_again_when_it_says(hasty, status):
    with stub(problem(status, "later", **{"Retry-After": "7"}), problem(status, "later", **{"Retry-After": "2"}), OK_RUN) as server:
        client = hasty(server.url)
        assert client.record_run("a", **RUN).id == "x"
    assert len(server.requests) == 3 and len(set(keys(server))) == 1 and keys(server)[0].strip('"')
    assert 7 <= client.waits[0] <= 7.2 and 2 <= client.waits[1] <= 2.4


def test_what_was_turned_away_is_repeated_even_without_a_key(hasty):
    with stub(problem(429, "later", **{"Retry-After": "1"}), (200, {**JSON, "ETag": '"2"'}, '{"name": "a"}')) as server:
        assert hasty(server.url).update_app("a", description="b").name == "a"
    assert len(server.requests) == 2 and keys(server) == [None, None]


def test_a_token_that_ends_soon_is_a_warning_once_for_each_client(hasty, recwarn):
    ends = {**JSON, "Provisor-Token-Expires": "2026-12-12T08:00:00Z"}
    with stub((200, ends, '{"items": [], "next_cursor": null}')) as server:
        for number in (1, 2):
            client = hasty(server.url)
            for _ in range(2):
                client.usage()
            assert [str(w.message) for w in recwarn if w.category is provisor.TokenWarning] == number * ["the token of provisor ends at 2026-12-12T08:00:00Z: renew it before then"]


def test_it_is_given_up_after_so_many_attempts(hasty):
    with stub(problem(503, "away", **{"Retry-After": "1"})) as server:
        client = hasty(server.url, retries=2)
        with pytest.raises(provisor.Unavailable, match="answers 503: away") as raised:
            client.usage()
    assert len(server.requests) == 3 and raised.value.status == 503 and raised.value.problem.detail == "away"


def test_more_than_half_a_minute_is_not_waited(hasty):
    with stub(problem(429, "tomorrow", **{"Retry-After": "86400"})) as server:
        client = hasty(server.url)
        with pytest.raises(provisor.TooManyRequests):
            client.usage()
    assert len(server.requests) == 1 and client.waits == []


def test_waits_are_drawn_and_grow(hasty):
    with stub(problem(503, "away")) as server:
        client = hasty(server.url, retries=12)
        for _ in range(30):
            with pytest.raises(provisor.Unavailable):
                client.usage()
    rows = list(zip(*[iter(client.waits)] * 12))
    for attempt, waits in enumerate(zip(*rows)):
        assert 0 <= min(waits) and max(waits) <= min(30, 0.2 * 2 ** attempt) and len(set(waits)) > 10
    assert max(rows[0][-3:]) > 1


@pytest.mark.parametrize("failure", [cut, rest], ids=["cut", "closed"])
def test_a_broken_connection_is_no_harm_to_what_can_be_repeated(hasty, failure):
    calls = [lambda c: c.usage(), lambda c: c.record_run("a", **RUN), lambda c: c.feasibility(cluster="c", jobs=[]),
             lambda c: c.put_cluster("c", executors=1, cores_per_executor=1), lambda c: list(c.runs("a"))]
    for call in calls:
        with stub(failure, failure, EMPTY) as server:
            call(hasty(server.url))
        assert len(server.requests) == 3 and len(set(keys(server))) == 1


@pytest.mark.parametrize("failure", [cut, rest, page(502), page(504)], ids=["cut", "closed", "502", "504"])
def test_what_may_have_been_carried_out_is_not_repeated(hasty, failure):
    calls = [lambda c: c.update_app("a", description="b"), lambda c: c.set_name_rules([], if_match='"1"'),
             lambda c: c.review_admission({"kind": "AdmissionReview"})]
    for call in calls:
        with stub(failure, HEALTH) as server:
            with pytest.raises((provisor.ConnectionFailed, provisor.Unavailable)) as raised:
                call(hasty(server.url))
        assert len(server.requests) == 1
        assert getattr(raised.value, "sent", True)


def test_what_stores_nothing_needs_no_key(hasty):
    with stub(rest, HEALTH, HEALTH) as server:
        client = hasty(server.url)
        client.advise("a", deadline_s=9, dry_run=True)
        client.advise("a", deadline_s=9, dry_run=True, idempotency_key="mine")
    assert keys(server) == [None, None, '"mine"']


def test_a_deletion_whose_reply_was_lost_is_done_when_nothing_is_there(hasty):
    with stub(rest, problem(404, "no run")) as server:
        assert hasty(server.url).delete_run("a", "0190d4a0-0000-7000-8000-000000000000") is None
    with stub(problem(404, "no run")) as server:
        with pytest.raises(provisor.NotFound):
            hasty(server.url).delete_run("a", "0190d4a0-0000-7000-8000-000000000000")


def test_the_first_attempt_of_a_key_may_be_under_way_still(hasty):
    with stub(rest, problem(409, "is running", **{"Retry-After": "1"}), OK_RUN) as server:
        assert hasty(server.url).record_run("a", **RUN).id == "x"
    with stub(problem(409, "exists", **{"Retry-After": "1"})) as server:
        with pytest.raises(provisor.Conflict):
            hasty(server.url).record_run("a", **RUN)
    assert len(server.requests) == 1


def test_a_service_that_is_not_there(hasty):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = "http://127.0.0.1:%d" % free.getsockname()[1]
    client = hasty(url)
    with pytest.raises(provisor.ConnectionFailed, match="cannot be reached") as raised:
        client.update_app("a", description="b")  # nothing was sent, so it is tried again all the same
    assert len(client.waits) == 4 and not raised.value.sent


def test_a_slow_service_is_not_waited_for_longer_than_the_timeout(hasty):
    def drip(handler):
        """One byte now and then: each wait is short, all of them are not."""
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 400\r\n\r\n")
        for _ in range(100):
            try:
                handler.wfile.write(b" ")
                handler.wfile.flush()
            except OSError:
                return
            time.sleep(0.1)
        handler.close_connection = True

    with stub(drip) as server:
        begin = time.monotonic()
        with pytest.raises(provisor.TimedOut):
            hasty(server.url, timeout=0.5, retries=1).usage()
        assert 0.9 < time.monotonic() - begin < 5
    assert len(server.requests) == 2


def test_a_request_that_the_service_is_to_hold_may_take_longer(hasty):
    def held(handler):
        time.sleep(1)
        handler.server.answers = [HEALTH]
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", "10")
        handler.end_headers()
        handler.wfile.write(b'{"id":"x"}')

    with stub(held) as server:
        assert hasty(server.url, timeout=0.5).operation("x", wait_s=2).id == "x"
    assert [headers["Prefer"] for _, _, headers, _ in server.requests] == ["wait=2"]


@pytest.mark.parametrize("answer", [page(200), (200, JSON, "[1]"), (200, JSON, "{"), (200, {"Content-Type": "application/json"}, b"\xff\xfe"),
                                    (200, JSON, "[" * 100000)], ids=lambda answer: "%d %.9r" % (answer[0], answer[2]))
def test_the_page_of_a_proxy_is_no_reply(hasty, answer):
    with stub(answer) as server:
        with pytest.raises(provisor.InvalidReply, match="is the URL right"):
            hasty(server.url).usage()
        with pytest.raises(provisor.InvalidReply):
            list(hasty(server.url).runs("a"))


def test_a_token_that_comes_back_is_in_no_message(hasty):
    with stub((403, {"Content-Type": "application/problem+json"}, json.dumps({"status": 403, "detail": "you sent Bearer %s" % TOKEN}))) as server:
        with pytest.raises(provisor.Forbidden, match="you sent Bearer") as raised:
            hasty(server.url, token=TOKEN).usage()
    assert TOKEN not in str(raised.value) + repr(raised.value.problem)


def test_a_line_without_an_end(hasty, monkeypatch):
    """Time grows with its length, not with the square; it is bounded."""
    from provisor import transport
    piece = b"x" * (1 << 16)

    def endless(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "application/x-ndjson")
        handler.send_header("Connection", "close")
        handler.end_headers()
        for _ in range(800):
            handler.wfile.write(piece)
        handler.close_connection = True

    with stub(endless) as server:
        began = time.monotonic()
        with pytest.raises(provisor.InvalidReply):
            list(hasty(server.url).export_runs("a"))
        assert time.monotonic() - began < 15
        monkeypatch.setattr(transport, "LINE_MAX", 1 << 20)
        with pytest.raises(provisor.InvalidReply, match="a line of the reply is longer than 1048576 bytes"):
            list(hasty(server.url).export_runs("a"))


@pytest.mark.parametrize("bytes_sent", [b"SSH-2.0-OpenSSH\r\n\r\n", b"HTTP/1.1 2x0 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
                                        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                                        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", b"x" * 100000])
def test_what_is_no_http_is_said_at_once(hasty, bytes_sent):
    def answer(handler):
        handler.wfile.write(bytes_sent)
        handler.wfile.flush()
        handler.close_connection = True

    with stub(answer) as server:
        client = hasty(server.url)
        with pytest.raises(provisor.ConnectionFailed, match="no HTTP|transfer coding"):
            client.usage()
    assert client.waits == []


@pytest.mark.parametrize("reply", [
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\n{\"run\r\n8\r\ns\": 3  }\r\n0\r\nTrailer: x\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-type:application/json\r\nContent-Length: 13\r\n\r\n{\"runs\": 3  }",
    b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{\"runs\": 3  }"])
def test_the_ways_to_frame_a_reply(hasty, reply):
    def answer(handler):
        for i in range(len(reply)):  # a byte at a time
            handler.wfile.write(reply[i:i + 1])
            handler.wfile.flush()
        handler.close_connection = True

    with stub(answer) as server:
        assert hasty(server.url).usage().to_dict() == {"runs": 3}


def test_redirects_are_not_followed(hasty):
    with stub(HEALTH) as other, stub((307, {"Location": other.url + "/v1/usage"}, "")) as server:
        with pytest.raises(provisor.ApiError, match="answers 307"):
            hasty(server.url).usage()
    assert other.requests == []


def test_errors_carry_the_problem_and_its_pointers(service, client):
    with pytest.raises(provisor.Invalid) as raised:
        client.advise("nightly-etl", problem_size=-1, deadline_s=-5)
    error = raised.value
    assert (error.status, error.code, sorted(error.pointers)) == (422, "invalid", ["/deadline_s", "/problem_size"])
    assert "/deadline_s: must be greater than 0, is -5" in str(error) and error.problem.request_id in str(error)
    assert all(e.detail and e.code for e in error.errors) and error.reply.request_id == error.problem.request_id
    with pytest.raises(provisor.Invalid) as raised:
        list(client.runs("x", since="yesterday"))
    assert [e.parameter for e in raised.value.errors] == ["since"]
    for kind, call in ((provisor.NotFound, lambda: client.app("no-such-app")), (provisor.Unauthorized, lambda: provisor.Client(service.base_url, TOKEN).usage())):
        with pytest.raises(kind) as raised:
            call()
        assert isinstance(raised.value, provisor.ProvisorError)


def test_errors_travel_between_processes(client):
    with pytest.raises(provisor.Invalid) as raised:
        client.advise("nightly-etl", deadline_s=-5)
    copy = pickle.loads(pickle.dumps(raised.value))
    assert type(copy) is provisor.Invalid and str(copy) == str(raised.value) and copy.pointers == ["/deadline_s"]
    for error in (provisor.ConnectionFailed("a", True), provisor.TimedOut("b"), provisor.ConfigurationError("c"),
                  provisor.OperationFailed("d", provisor.Operation(id="x"))):
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is type(error) and str(copy) == str(error) and vars(copy) == vars(error)


def shown_by(call):
    """All that the traceback of its failure may show, with the variables of all frames."""
    try:
        call()
    except provisor.ProvisorError as error:
        return repr(error) + str(error) + "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    raise AssertionError("no failure to look at")


def test_a_token_is_shown_nowhere(service, hasty, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    shown = ""
    with stub(rest, cut, problem(503, "away", **{"Retry-After": "1"}), page(200)) as server:
        for url in (server.url, server.url, "http://127.0.0.1:9", service.base_url):
            client = hasty(url, token=TOKEN)
            shown += repr(client) + str(client) + repr(vars(client)) + repr(client._transport) + repr(vars(client._transport))
            for call in (client.usage, lambda: client.advise("x", deadline_s=1), lambda: client.ingest("x", b"log"),
                         lambda: list(client.export_runs("x")), lambda: client.wait("x")):
                shown += shown_by(call)
            with pytest.raises(TypeError, match="cannot be pickled"):
                pickle.dumps(client)
    for secret in (TOKEN, TOKEN.split("_")[2]):
        assert secret not in shown and secret not in caplog.text and secret not in "".join(capfd.readouterr())
    assert "again in" in caplog.text


@pytest.mark.parametrize("token", ["", "two words", "line\nbreak", "\u00e4", "x" * 600])
def test_what_is_no_token_is_not_quoted(token):
    with pytest.raises(provisor.ConfigurationError) as raised:
        provisor.Client("http://127.0.0.1:1", token)
    assert str(raised.value) == "the argument token holds no token"


def test_names_and_header_fields_cannot_break_out(hasty):
    with stub((200, JSON, "{}")) as server:
        client = hasty(server.url)
        for name in ("a/b?c=d#e", "..", ".", "\u00e4 \r\nX: y", "100%"):
            client.app(name)
        for bad in ("x\r\nX-Evil: 1", "\u00e4"):
            with pytest.raises(ValueError):
                client.app("a", if_none_match=bad)
            with pytest.raises(ValueError):
                client.record_run("a", **RUN, idempotency_key=bad)
        with pytest.raises(ValueError, match="empty"):
            client.app("")
        with pytest.raises(ValueError):
            client.advise("a", deadline_s=float("nan"))
    assert [path for _, path, _, _ in server.requests] == [
        "/v1/applications/a%2Fb%3Fc%3Dd%23e", "/v1/applications/%2E%2E", "/v1/applications/%2E", "/v1/applications/%C3%A4%20%0D%0AX%3A%20y",
        "/v1/applications/100%25"]
    assert all("X-Evil" not in headers for _, _, headers, _ in server.requests)


def test_what_is_given_is_sent_and_nothing_else(hasty):
    with stub((200, JSON, "{}")) as server:
        client = hasty(server.url)
        client.advise("a", deadline_s=None, idempotency_key="k-1", fields=["id", "verdict"], dry_run=True)
        client.advise("a", confidence=None)
        list(client.runs("a", label={"team": "x", "env": "b c"}, include=["stages", "tasks"], succeeded=False, limit=3))
    (_, path, headers, body), (_, plain, _, second), (_, listed, _, _) = server.requests
    assert path == "/v1/advice?fields=id%2Cverdict&dry_run=true" and headers["Idempotency-Key"] == '"k-1"'
    assert json.loads(body) == {"application": "a", "deadline_s": None} and json.loads(second) == {"application": "a"} and plain == "/v1/advice"
    assert listed.endswith("/runs?include=stages%2Ctasks&succeeded=false&limit=3&label=team%3Ax&label=env%3Ab%20c")


def test_members_of_a_newer_service_are_kept(hasty):
    with stub((200, JSON, '{"id": "x", "verdict": "perhaps", "mood": {"good": true}, "recommendation": 7}')) as server:
        advice = hasty(server.url).advice("x")
    assert advice.extra == {"mood": {"good": True}} and advice.verdict == "perhaps" and advice.recommendation == 7
    with pytest.raises(AttributeError, match="cannot be changed"):
        advice.verdict = "met"
    assert pickle.loads(pickle.dumps(advice)) == advice


def test_pages_are_fetched_as_they_are_needed(hasty):
    def answer(handler):
        query = handler.path.partition("?")[2]
        at = int(query.partition("cursor=")[2] or 0)
        size = int(query.partition("limit=")[2].partition("&")[0])
        text = json.dumps({"items": [{"id": str(i)} for i in range(at, at + size)], "next_cursor": str(at + size)}).encode()
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text)

    with stub(answer) as server:
        client = hasty(server.url)
        runs = client.runs("a", page_size=10)
        assert [next(runs).id for _ in range(11)] == [str(i) for i in range(11)] and len(server.requests) == 2
        assert runs.next_cursor == "20" and len(list(client.runs("a", limit=450))) == 450
        assert [path.partition("limit=")[2].partition("&")[0] for _, path, _, _ in server.requests[2:]] == ["200", "200", "50"]
        assert [r.id for r in client.runs("a", cursor="7", limit=2)] == ["7", "8"]
        assert list(client.runs("a", limit=0)) == []


def test_a_service_that_allows_smaller_pages(make_service, name):
    service = make_service(PROVISOR_PAGE_MAX=50)
    token = service.token("alpha")
    service.start()
    with provisor.Client(service.base_url, token) as client:
        for i in range(60):
            client.create_app("%s-%02d" % (name, i))
        assert len(list(client.apps(name_prefix=name))) == 60
        with pytest.raises(provisor.Invalid):
            list(client.apps(page_size=51))


def test_threads_share_a_client(hasty):
    """No reply goes to another thread than asked for it, and there are no more connections than threads."""
    def answer(handler):
        text = json.dumps({"name": handler.path.rpartition("/")[2]}).encode()
        handler.server.peers.add(handler.client_address)
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text)

    with stub(answer) as server:
        server.peers = set()
        client, wrong = hasty(server.url), []

        def work(number):
            for i in range(60):
                name = "t%d-%d" % (number, i)
                if client.app(name).name != name:
                    wrong.append(name)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == [] and len(server.requests) == 480 and 1 <= len(server.peers) <= 8
