"""Long work: looked at, waited for, listed, cancelled, streamed, expired."""
import concurrent.futures
import datetime
import json
import socket
import subprocess
import threading
import time
import uuid

import pytest
import requests

from long_work import ENDED, Stream, Table, lab, wait_for
from patience import PATIENCE, SLOWDOWN

QUICK = {"steps": 3, "step_ms": 5}
LONG = {"steps": 100000, "step_ms": 5}


@pytest.fixture(scope="module")
def service(make_service):
    service = lab(make_service(PROVISOR_OPERATION_WORKERS=4, PROVISOR_OPERATION_TEAM_RUNNING_MAX=3))
    service.alpha_token, service.beta_token = service.token("alpha"), service.token("beta")
    return service.start()


@pytest.fixture(scope="module")
def table(service):
    table = Table(service)
    yield table
    table.close()


@pytest.fixture(scope="module")
def client(service):
    return service.client(service.alpha_token)


@pytest.fixture(scope="module")
def stranger(service):
    return service.client(service.beta_token)


@pytest.fixture(autouse=True)
def nothing_left(client, stranger):
    yield
    for who in (client, stranger):
        for status in ("queued", "running"):
            for item in who.get("/v1/operations?limit=200&status=" + status).json()["items"]:
                who.delete("/v1/operations/" + item["id"], (200, 202))
                wait_for(who, item["id"])


def test_an_operation_from_queue_to_result(client, table):
    client.post("/v1/applications", {"name": "nightly"}, 201)
    made = table.queue("alpha", {"steps": 40, "step_ms": 50}, application="nightly")
    seen = wait_for(client, made, ("running",))
    assert (seen["kind"], seen["application"], seen["requested_by"], seen["attempt"]) == ("steps", "nightly", "test", 1)
    reply = client.get("/v1/operations/" + made)
    assert reply.headers["Retry-After"] == "1" and reply.headers["Cache-Control"] == "private, no-cache"
    before, estimates = 0, []
    while True:
        now = client.get("/v1/operations/" + made).json()
        assert now["progress"]["done"] >= before
        before = now["progress"]["done"]
        if now["estimated_end_at"]:
            estimates.append(now["estimated_end_at"])
        if now["status"] in ENDED:
            break
        time.sleep(0.05)
    assert now["status"] == "succeeded" and now["result"] == {"steps": 40, "attempt": 1}
    assert now["progress"] == {"done": 40, "total": 40, "unit": "steps"}
    assert now["error"] is None and now["estimated_end_at"] is None and now["queue_position"] is None
    assert now["created_at"] <= now["started_at"] <= now["finished_at"] < now["expires_at"]
    assert len(set(estimates)) > 1, "estimated while it ran"
    last, end = (datetime.datetime.fromisoformat(t.replace("Z", "+00:00")) for t in (estimates[-1], now["finished_at"]))
    assert abs((last - end).total_seconds()) <= 2, (estimates, now["finished_at"])
    done = client.get("/v1/operations/" + made)
    assert "Retry-After" not in done.headers
    client.get("/v1/operations/" + made, 304, headers={"If-None-Match": done.headers["ETag"]})
    assert client.request("HEAD", "/v1/operations/" + made, 200).headers["ETag"] == done.headers["ETag"]


@pytest.mark.parametrize("kind, request_, type_, status", [
    ("steps", {"fail": "too-few"}, "/problems/too_few_observations", 422), ("never", {}, "/problems/invalid", 422),
    ("steps", {"fail": "internal"}, "/problems/internal", 500)])
def test_a_failure_is_a_problem_in_a_reply_of_200(client, table, kind, request_, type_, status):
    seen = wait_for(client, table.queue("alpha", request_, kind))
    assert seen["status"] == "failed" and seen["result"] is None
    assert (seen["error"]["type"], seen["error"]["status"]) == (type_, status)
    assert "SELECT" not in str(seen)
    if kind == "never":
        assert seen["error"]["errors"][0]["pointer"] == "/steps"


def test_what_is_not_there(client, stranger, table):
    made = table.queue("alpha", LONG)
    for path in ("/v1/operations/" + made, "/v1/operations/%s/events" % made):
        stranger.get(path, 404)
    stranger.delete("/v1/operations/" + made, 404)
    for bad in (str(uuid.uuid4()), "x", "%00"):
        client.get("/v1/operations/" + bad, (400, 404))
        client.get("/v1/operations/%s/events" % bad, (400, 404))
        client.delete("/v1/operations/" + bad, (400, 404))
    client.refuse("GET", "/v1/operations/%s?x=1" % made, 422, parameter="x")
    assert wait_for(client, made, ("queued", "running"))["cancel_requested_at"] is None
    assert made not in stranger.get("/v1/operations").text


def test_the_queue_of_a_team_has_an_end(make_service):
    """One request more than may be queued is refused and leaves nothing; a repetition of one that was taken is none."""
    service = lab(make_service(PROVISOR_OPERATION_TEAM_QUEUED_MAX=2, PROVISOR_OPERATION_WORKERS=0))
    client, other = service.client(service.token("alpha")), service.client(service.token("beta"))
    service.start()
    for who in (client, other):
        for m in (1, 2, 3, 4, 6, 8, 12, 16):
            who.post("/v1/applications/a/runs",
                     {"problem_size": 64, "executors": m, "cores_per_executor": 1, "duration_s": 10 + 400 / m + m}, 201)
    taken = [client.post("/v1/applications/a/refit", {}, 202, headers={"Idempotency-Key": "k%d" % i}) for i in range(2)]
    assert taken[0].headers["Location"] == "/v1/operations/" + taken[0].json()["id"] and taken[0].headers["Retry-After"] == "1"
    refused = client.request("POST", "/v1/applications/a/refit", 429, json={}, headers={"Idempotency-Key": "k2"})
    assert refused.json()["type"] == "/problems/quota_exceeded" and "operation_team_queued_max" in refused.json()["detail"]
    assert int(refused.headers["Retry-After"]) >= 1
    again = client.post("/v1/applications/a/refit", {}, 202, headers={"Idempotency-Key": "k1"})
    assert again.json()["id"] == taken[1].json()["id"] and again.headers["Idempotency-Replayed"] == "true"
    assert len(client.get("/v1/operations").json()["items"]) == 2
    other.post("/v1/applications/a/refit", {}, 202)
    client.delete("/v1/operations/" + taken[0].json()["id"], 200)
    client.post("/v1/applications/a/refit", {}, 202, headers={"Idempotency-Key": "k2"})
    held = other.post("/v1/applications/a/refit", {}, 202, headers={"Prefer": "wait=1"})
    assert held.headers["Preference-Applied"] == "wait=1" and held.json()["status"] == "queued"


# --- waiting ---

def test_prefer_wait_holds_the_reply_until_the_end(client, table):
    made = table.queue("alpha", {"steps": 20, "step_ms": 50})
    began = time.monotonic()
    reply = client.get("/v1/operations/" + made, headers={"Prefer": "respond-async, wait=15"})
    assert reply.json()["status"] == "succeeded"
    assert reply.headers["Preference-Applied"] == "wait=15"
    assert 0.9 < time.monotonic() - began < 5 * SLOWDOWN


def test_prefer_wait_is_over_some_time(client, table):
    made = table.queue("alpha", LONG)
    began = time.monotonic()
    reply = client.get("/v1/operations/" + made, headers={"Prefer": 'wait="1"'})
    assert 0.9 < time.monotonic() - began < 2.5 * SLOWDOWN
    assert reply.json()["status"] in ("queued", "running") and reply.headers["Retry-After"] == "1"


def test_a_wait_outlasts_the_clients_side_of_the_connection(service, table):
    """The client ends its sending side with its request, which it may, and waits for longer than a second."""
    made = table.queue("alpha", {"steps": 40, "step_ms": 50})
    with socket.create_connection(("127.0.0.1", service.port), timeout=10) as s:
        s.sendall(("GET /v1/operations/%s HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %s\r\nPrefer: wait=9\r\n\r\n"
                   % (made, service.alpha_token)).encode())
        s.shutdown(socket.SHUT_WR)
        head, body = b"".join(iter(lambda: s.recv(65536), b"")).split(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ") and json.loads(body)["status"] == "succeeded"


@pytest.mark.parametrize("prefer", ["wait=x", "wait", "wait=-1", "return=minimal", 'foo="a,wait=9"', "wait=0", ",,;"])
def test_a_preference_that_means_nothing_is_ignored(client, table, prefer):
    made = table.queue("alpha", LONG)
    began = time.monotonic()
    reply = client.get("/v1/operations/" + made, headers={"Prefer": prefer})
    assert time.monotonic() - began < 0.7 and "Preference-Applied" not in reply.headers


def test_a_wait_beyond_the_limit_says_what_was_made_of_it(make_service):
    service = lab(make_service(PROVISOR_OPERATION_WAIT_MAX_S=1))
    token = service.token("alpha")
    service.start(PROVISOR_OPERATION_WORKERS=0)
    table = Table(service)
    began = time.monotonic()
    reply = service.client(token).get("/v1/operations/" + table.queue("alpha"), headers={"Prefer": "wait=99999999999999999999"})
    assert 0.9 < time.monotonic() - began < 2.5 * SLOWDOWN and reply.headers["Preference-Applied"] == "wait=1"
    assert reply.json()["queue_position"] == 1
    table.close()


def test_waiting_takes_no_threads(make_service):
    """Forty replies and twenty streams wait on one io worker, beside which others are answered."""
    service = lab(make_service(PROVISOR_IO_WORKERS=1, PROVISOR_HTTP_THREADS=1, PROVISOR_OPERATION_WORKERS=1))
    token = service.token("alpha")
    service.start()
    table = Table(service)
    client = service.client(token)
    made = table.queue("alpha", {"steps": 120, "step_ms": 50})

    def hold(_):
        return service.client(token).get("/v1/operations/" + made, headers={"Prefer": "wait=15"}).json()["status"]

    def follow(_):
        return [e for e in Stream(service, token, made)][-1][2]["status"]

    with concurrent.futures.ThreadPoolExecutor(60) as pool:
        held = [pool.submit(hold, i) for i in range(40)]
        followed = [pool.submit(follow, i) for i in range(20)]
        time.sleep(0.7)
        began = time.monotonic()
        for _ in range(20):
            client.get("/v1/applications")
        assert time.monotonic() - began < 3.0, "the work goes on for five seconds more: nobody waited for it"
        assert {f.result() for f in held + followed} == {"succeeded"}
    table.close()


# --- lists ---

def test_lists_by_filter_and_page(client, stranger, table):
    client.post("/v1/applications", {"name": "listed"}, 201)
    of_app = [table.queue("alpha", QUICK, application="listed") for _ in range(5)]
    failed = [table.queue("alpha", {}, "never", application="listed") for _ in range(2)]
    for made in of_app + failed:
        wait_for(client, made)

    def ids(query):
        found, cursor = [], ""
        while True:
            page = client.get("/v1/operations?limit=2&application=listed" + query + cursor)
            found += [i["id"] for i in page.json()["items"]]
            if page.json()["next_cursor"] is None:
                return found
            assert 'rel="next"' in page.headers["Link"]
            cursor = "&cursor=" + page.json()["next_cursor"]

    assert ids("") == (of_app + failed)[::-1], "newest first"
    assert ids("&status=failed") == failed[::-1] == ids("&kind=never")
    assert ids("&status=succeeded&kind=steps") == of_app[::-1]
    assert ids("&status=queued") == []
    middle = client.get("/v1/operations/" + of_app[2]).json()["created_at"]
    assert ids("&until=" + middle) == of_app[:2][::-1]
    assert ids("&since=" + middle) == (of_app[2:] + failed)[::-1]
    assert stranger.get("/v1/operations?application=listed").json()["items"] == []
    one = client.get("/v1/operations?limit=1").json()
    client.refuse("GET", "/v1/operations?status=failed&cursor=" + one["next_cursor"], 400, parameter="cursor")
    for parameter, value in (("status", "done"), ("kind", "cook"), ("application", "%01"), ("since", "x"), ("limit", "0"), ("x", "1")):
        client.refuse("GET", "/v1/operations?%s=%s" % (parameter, value), 422, parameter=parameter)


def test_queued_ones_know_their_place(client, table):
    running = [table.queue("alpha", LONG) for _ in range(3)]
    for made in running:
        wait_for(client, made, ("running",))
    queued = [table.queue("alpha", LONG) for _ in range(3)]
    time.sleep(1)
    assert [client.get("/v1/operations/" + i).json()["queue_position"] for i in queued] == [1, 2, 3], "three run, as the team may"
    tag = client.get("/v1/operations/" + queued[1]).headers["ETag"]
    client.delete("/v1/operations/" + queued[0], 200)
    moved = client.get("/v1/operations/" + queued[1], headers={"If-None-Match": tag})
    assert moved.json()["queue_position"] == 1, "another place is another version"


# --- cancelling ---

def test_a_running_operation_stops_within_a_second(client, table):
    slowest = 0.0
    for _ in range(5):
        made = table.queue("alpha", LONG)
        wait_for(client, made, ("running",))
        time.sleep(0.3)
        began = time.monotonic()
        asked = client.delete("/v1/operations/" + made, 202).json()
        assert asked["cancel_requested_at"] and asked["status"] == "running"
        seen = wait_for(client, made)
        slowest = max(slowest, time.monotonic() - began)
        assert seen["status"] == "cancelled" and seen["result"] is None and seen["error"] is None
        again = client.delete("/v1/operations/" + made, 200).json()
        assert again == seen, "asking again changes nothing"
    assert slowest < 1.0, slowest


def test_cancelling_can_wait_for_the_end(client, table):
    made = table.queue("alpha", LONG)
    wait_for(client, made, ("running",))
    reply = client.delete("/v1/operations/" + made, 200, headers={"Prefer": "wait=10"})
    assert reply.json()["status"] == "cancelled" and reply.headers["Preference-Applied"] == "wait=10"
    assert len([a for a in client.get("/v1/audit?limit=50").json()["items"] if a["subject"] == "operation/" + made]) == 1


def test_a_cancelled_operation_leaves_no_effect(client, table):
    """It does not hear that it is to stop and comes to its end: what it would have stored there is not stored."""
    made = table.queue("alpha", {"steps": 15, "step_ms": 100, "deaf": True, "effect": "late-"})
    wait_for(client, made, ("running",))
    client.delete("/v1/operations/" + made, 202)
    assert wait_for(client, made)["status"] == "cancelled"
    assert not [a for a in client.get("/v1/applications?limit=200").json()["items"] if a["name"].startswith("late-")]


def test_a_queued_operation_is_cancelled_at_once(client, table):
    for _ in range(3):
        wait_for(client, table.queue("alpha", LONG), ("running",))
    made = table.queue("alpha", LONG)
    assert client.delete("/v1/operations/" + made, 200).json()["status"] == "cancelled"
    told = table.rows("SELECT data->>'status' FROM provisor.outbox WHERE type = 'operation.completed' AND data->>'id' = %s", made)
    assert told == [("cancelled",)]
    deeds = [a["subject"] for a in client.get("/v1/audit?limit=50").json()["items"] if a["action"] == "operation.cancel"]
    assert deeds.count("operation/" + made) == 1
    client.delete("/v1/operations/" + made, 200)
    assert len([a for a in client.get("/v1/audit?limit=50").json()["items"] if a["subject"] == "operation/" + made]) == 1


def test_an_operation_that_has_ended_stays_as_it_is(client, table):
    made = table.queue("alpha", QUICK)
    seen = wait_for(client, made)
    assert client.delete("/v1/operations/" + made, 200).json() == seen


def test_what_became_of_an_operation_goes_with_its_application_and_work_under_way_does_not(client, table):
    client.post("/v1/applications", {"name": "going"}, 201)
    ended, made = (table.queue("alpha", request, application="going") for request in (QUICK, LONG))
    wait_for(client, ended)
    wait_for(client, made, ("running",))
    client.delete("/v1/applications/going", 204)
    client.get("/v1/operations/" + ended, 404)
    seen = client.get("/v1/operations/" + made).json()
    assert (seen["status"], seen["application"]) == ("running", "going"), "its end tells who waits"


# --- events ---

def test_the_stream_tells_everything_once(service, client, table):
    made = table.queue("alpha", {"steps": 30, "step_ms": 50})
    stream = Stream(service, service.alpha_token, made)
    assert stream.reply.status_code == 200 and stream.reply.headers["Content-Type"].startswith("text/event-stream")
    assert stream.reply.headers["Cache-Control"] == "no-store" and stream.reply.headers["X-Accel-Buffering"] == "no"
    events = list(stream)
    assert stream.retry == "2000"
    assert [e[0] for e in events] == list(range(1, len(events) + 1)), "numbered from 1 without gaps"
    assert [e[2]["status"] for e in events if e[1] == "status"] == ["queued", "running", "succeeded"]
    done = [e[2]["progress"]["done"] for e in events]
    assert done == sorted(done) and done[-1] == 30 and len(done) >= 4, done
    schema = client.contract.document["components"]["schemas"]["OperationEvent"]
    for _, _, data in events:
        client.contract.check_instance(schema, data, "event")
    for last in range(len(events)):
        for again in (Stream(service, service.alpha_token, made, last),
                      Stream(service, service.alpha_token, made, query="?last_event_id=%d" % last)):
            assert list(again) == events[last:]
    over = client.get("/v1/operations/%s/events" % made, 204, headers={"Last-Event-ID": str(len(events))})
    assert over.headers["Cache-Control"] == "no-store"


def test_events_arrive_when_they_happen(service, client, table):
    made = table.queue("alpha", LONG)
    wait_for(client, made, ("running",))
    stream = iter(Stream(service, service.alpha_token, made))
    next(stream), next(stream)
    began = time.monotonic()
    client.delete("/v1/operations/" + made, 202)
    seen = [(e[1], e[2]["status"], e[2]["cancelling"]) for e in stream]
    assert [s for s in seen if s[0] == "status"] == [("status", "running", True), ("status", "cancelled", False)], seen
    assert time.monotonic() - began < 1.5 * SLOWDOWN


def test_a_failure_is_told_with_its_problem(service, client, table):
    made = table.queue("alpha", {"fail": "too-few"})
    assert list(Stream(service, service.alpha_token, made))[-1][2]["error"]["type"] == "/problems/too_few_observations"


@pytest.mark.parametrize("last", ["x", "-1", "1.5", "99999999999999999999", "7"])
def test_an_id_that_no_event_has_is_refused(client, table, last):
    made = table.queue("alpha", {"steps": 1})
    wait_for(client, made)
    client.refuse("GET", "/v1/operations/%s/events" % made, 422, header="Last-Event-ID", headers={"Last-Event-ID": last})
    client.refuse("GET", "/v1/operations/%s/events?last_event_id=%s" % (made, last), 422, parameter="last_event_id")


def test_replies_that_may_not_be_held_come_at_once_and_do_not_say_otherwise(make_service):
    service = lab(make_service(PROVISOR_OPERATION_WAITS_MAX=1, PROVISOR_OPERATION_WORKERS=0))
    alpha = service.token("alpha")
    service.start()
    path = "/v1/operations/" + Table(service).queue("alpha")
    held = threading.Thread(target=lambda: service.client(alpha).get(path, headers={"Prefer": "wait=8"}))
    held.start()
    client, end = service.client(alpha), time.monotonic() + PATIENCE
    while 'provisor_resource_held{resource="waits"} 1\n' not in client.get("/metrics", token=False).text:
        assert time.monotonic() < end
    began = time.monotonic()
    reply = client.get(path, headers={"Prefer": "wait=8"})
    assert "Preference-Applied" not in reply.headers and time.monotonic() - began < 7
    held.join()
    while 'provisor_resource_held{resource="waits"} 0\n' not in client.get("/metrics", token=False).text:  # given back behind the reply
        assert time.monotonic() < end
    assert client.get(path, headers={"Prefer": "wait=1"}).headers["Preference-Applied"] == "wait=1"


def test_streams_have_limits_and_give_their_places_back(make_service):
    service = lab(make_service(PROVISOR_OPERATION_STREAMS_MAX=5, PROVISOR_OPERATION_TEAM_STREAMS_MAX=3, PROVISOR_OPERATION_WORKERS=0))
    alpha, beta = service.token("alpha"), service.token("beta")
    service.start()
    table = Table(service)
    made, other = table.queue("alpha"), table.queue("beta")
    streams = [Stream(service, alpha, made) for _ in range(3)]
    assert {s.reply.status_code for s in streams} == {200}
    problem = service.client(alpha).refuse("GET", "/v1/operations/%s/events" % made, 429)
    assert "operation_team_streams_max" in problem["detail"] and problem["type"] == "/problems/quota_exceeded"
    last = Stream(service, beta, other)
    assert last.reply.status_code == 200
    refusal = service.client(beta).request("GET", "/v1/operations/%s/events" % other, 429)
    assert "operation_streams_max" in refusal.json()["detail"] and refusal.headers["RateLimit"] == '"streams";r=0;t=5'
    assert 'provisor_resource_held{resource="streams"} 4\n' in service.client(alpha).get("/metrics", token=False).text
    for stream in streams:
        stream.close()
    end = time.monotonic() + PATIENCE
    while True:
        again = Stream(service, alpha, made)
        if again.reply.status_code == 200:
            break
        assert time.monotonic() < end, "a client that left keeps its place"
        time.sleep(0.1)
    table.close()


def test_a_revoked_token_ends_its_streams(service, client, table):
    token = client.post("/v1/tokens", {"name": "short", "scopes": ["read"]}, 201).json()
    made = table.queue("alpha", LONG)
    stream = iter(Stream(service, token["token"], made))
    next(stream)
    client.delete("/v1/tokens/" + token["id"], 204)
    began = time.monotonic()
    for _ in stream:
        pass
    assert time.monotonic() - began < 5 * SLOWDOWN


def test_silence_is_broken_by_comments(make_service):
    """Every 15 s, or half of the time a request may take where that is less."""
    service = lab(make_service(PROVISOR_REQUEST_TIMEOUT_MS=2000, PROVISOR_OPERATION_WORKERS=0))
    token = service.token("alpha")
    service.start()
    table = Table(service)
    made = table.queue("alpha")
    stream = Stream(service, token, made)
    events = iter(stream)
    next(events)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        later = pool.submit(lambda: [e[2]["status"] for e in events])
        time.sleep(5)
        service.client(token).delete("/v1/operations/" + made, 200)
        assert later.result() == ["cancelled"]
    assert 3 <= stream.comments <= 6
    table.close()


def test_shutting_down_ends_streams_and_waits_and_gives_work_back(make_service):
    service = lab(make_service())
    token = service.token("alpha")
    service.start()
    table = Table(service)
    client = service.client(token)
    made = table.queue("alpha", LONG)
    wait_for(client, made, ("running",))
    stream = Stream(service, token, made)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        held = pool.submit(lambda: client.get("/v1/operations/" + made, (200, 503), headers={"Prefer": "wait=15"}))
        seen = pool.submit(lambda: list(stream))
        time.sleep(1)
        began = time.monotonic()
        assert service.stop() == 0
        took = time.monotonic() - began
        assert held.result().json()["status"] in ("running", "queued", 503)
        assert seen.result()[-1][2]["status"] in ("running", "queued")
    assert took < 3 * SLOWDOWN, took
    assert table.rows("SELECT status, attempt, losses FROM provisor.operation WHERE id = %s", made) == [("queued", 1, 0)]
    service.start()
    assert wait_for(client, made, ("running",))["attempt"] == 2
    client.delete("/v1/operations/" + made, 202)
    wait_for(client, made)
    table.close()


# --- the end of what is kept ---

def test_an_expired_operation_is_gone_and_later_forgotten(service, client, table):
    made = table.queue("alpha", QUICK)
    wait_for(client, made)
    table.as_team("alpha")
    table.rows("UPDATE provisor.operation SET expires_at = now() - interval '1 second' WHERE id = %s", made)
    for _ in range(2):
        problem = client.get("/v1/operations/" + made, 410).json()
        assert problem["type"] == "/problems/gone"
        client.delete("/v1/operations/" + made, 410)
        client.get("/v1/operations/%s/events" % made, 410)
        assert made not in client.get("/v1/operations?limit=200").text
        service.command("maintain")
    assert table.rows("SELECT request, result FROM provisor.operation WHERE id = %s", made) == [(None, None)]
    assert table.value("SELECT count(*) FROM provisor.operation_event WHERE operation_id = %s", made) == 0
    table.rows("UPDATE provisor.operation SET expires_at = now() - interval '31 days' WHERE id = %s", made)
    service.command("maintain")
    client.get("/v1/operations/" + made, 404)


def test_metrics_count_them(client, table):
    wait_for(client, table.queue("alpha", QUICK))
    text = client.get("/metrics", token=False).text
    for line in ('provisor_operations{status="running"}', 'provisor_operations_ended_total{kind="steps",status="succeeded"}',
                 'provisor_operation_duration_seconds_bucket{kind="steps",le="+Inf"}', "provisor_operation_waiting_seconds", 'provisor_resource_held{resource="streams"}'):
        assert line in text


# --- the command line ---

def listed(service, *words):
    return json.loads(service.command("operations", "list", "--json", *words))["items"]


def test_the_command_line_lists_and_cancels_over_all_teams(service, client, table):
    client.post("/v1/applications", {"name": "by-hand"}, 201)
    running = table.queue("alpha", LONG, application="by-hand")
    wait_for(client, running, ("running",))
    for _ in range(2):
        wait_for(client, table.queue("alpha", LONG), ("running",))
    queued, other = table.queue("alpha", LONG), table.queue("beta", {}, "never")
    wait_for(service.client(service.beta_token), other)
    assert [(i["operation"]["id"], i["team"]) for i in listed(service, "--limit", "2")] == [(other, "beta"), (queued, "alpha")]
    assert [i["operation"]["id"] for i in listed(service, "--team", "beta", "--status=failed", "--limit", "1")] == [other]
    found = listed(service, "--application", "by-hand", "--kind", "steps", "--status", "running")
    assert [i["operation"]["id"] for i in found] == [running] and found[0]["worker"].endswith(":%d" % service.process.pid)
    client.contract.check_instance(client.contract.document["components"]["schemas"]["OperationHeadline"], found[0]["operation"], "list")
    text = service.command("operations", "list", "--team", "alpha", "--status", "queued")
    assert text.splitlines()[0].startswith("id\tteam\tkind") and queued in text and "\tqueued\t" in text
    assert listed(service, "--team", "nobody") == []
    out = service.command("operations", "cancel", queued, running)
    assert out.split() == [queued, "cancelled", running, "stopping"]
    assert wait_for(client, running)["status"] == "cancelled" == client.get("/v1/operations/" + queued).json()["status"]
    table.as_team("alpha")
    told = table.rows("SELECT count(*) FROM provisor.outbox WHERE type = 'operation.completed' AND data->>'id' IN (%s, %s)", queued, running)
    assert told == [(2,)]
    deeds = table.rows("SELECT actor FROM provisor.audit WHERE action = 'operation.cancel' AND subject = %s", "operation/" + queued)
    assert deeds == [("command line",)]


@pytest.mark.parametrize("status, words", [
    (2, []), (2, ["list", "x"]), (2, ["cancel"]), (2, ["list", "--status", "done"]), (2, ["list", "--limit", "0"]), (2, ["list", "--what"]),
    (1, ["cancel", "x"]), (1, ["cancel", "01a1fe22-0f10-77d6-90cd-a8090c9280f2"])])
def test_words_that_mean_nothing_are_refused(service, status, words):
    run = subprocess.run([service.program, "operations", *words], env=service.env(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.returncode == status and run.stdout == "" and run.stderr.startswith("provisord: "), run
