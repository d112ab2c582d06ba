"""Admissions: cores and memory of a cluster reserved over a time; granted in part, refused, extended, given back, expired."""
import copy
import datetime
import random
import re
import threading
import time
import uuid

import pytest

import admission_load
from admission_load import CLUSTER, Caller, from_now, instant, items_of, peak, text
from patience import PATIENCE
from test_eventlogs import tiny_log
from test_webhook_delivery import QUICK, wait_for
from webhook_receiver import Receiver

PATH = "/v1/admissions"
HOUR = datetime.timedelta(hours=1)


@pytest.fixture
def lonely(service):
    """A client of a team of its own, which has a cluster `c` of 40 cores."""
    client = service.client(service.token("admissions-" + uuid.uuid4().hex[:8]))
    client.put("/v1/clusters/c", CLUSTER, 201)
    return client


def admit(client, status=201, **members):
    body = {"cluster": "c", "application": "etl", "cores": 8, "deadline_s": 60, **members}
    return client.post(PATH, {k: v for k, v in body.items() if v is not ...}, status=status).json()


def read(client, admission):
    return client.get(PATH + "/" + admission["id"]).json()


def add_run(client, application="etl", **members):
    return client.post("/v1/applications/%s/runs" % application,
                       {"problem_size": 64, "executors": 2, "cores_per_executor": 4, "duration_s": 30, **members}, status=201).json()


# --- asking ---


def test_cores_are_held_for_the_time_asked_for(lonely):
    before = datetime.datetime.now(datetime.timezone.utc)
    made = lonely.post(PATH, {"cluster": "c", "application": "etl", "cores": 8.25, "deadline_s": 60, "expires_s": 90.5}, status=201)
    body = made.json()
    assert made.headers["Location"] == PATH + "/" + body["id"]
    assert lonely.get(made.headers["Location"]).json() == body
    start = instant(body["starts_at"])
    assert abs((start - before).total_seconds()) < 30
    assert instant(body["expires_at"]) - start == datetime.timedelta(seconds=90.5)
    assert instant(body["deadline_at"]) - start == datetime.timedelta(seconds=60)
    assert {k: body[k] for k in ("cluster", "application", "advice_id", "status", "cores", "granted_cores", "memory_bytes", "ended_at", "run_id")} == {
        "cluster": "c", "application": "etl", "advice_id": None, "status": "held", "cores": 8.25, "granted_cores": 8.25, "memory_bytes": None,
        "ended_at": None, "run_id": None}
    assert lonely.get("/v1/audit").json()["items"][0]["action"] == "admission.insert"


def test_a_start_in_the_past_is_now_and_gains_no_time(lonely):
    body = admit(lonely, starts_at=from_now(-30), deadline_s=60)
    asked = instant(body["deadline_at"]) - datetime.timedelta(seconds=60)
    assert asked < instant(body["starts_at"]) and instant(body["starts_at"]) <= instant(body["created_at"])
    assert instant(body["expires_at"]) == instant(body["deadline_at"])
    lonely.refuse("POST", PATH, 422, pointer="/deadline_s", json={"cluster": "c", "application": "etl", "cores": 1, "starts_at": from_now(-61), "deadline_s": 60})


def test_more_than_is_free_is_refused_with_what_is(lonely):
    first = admit(lonely, cores=30, memory_bytes=100 << 30, deadline_s=600)
    second = admit(lonely, cores=6, starts_at=from_now(300), deadline_s=600)
    problem = admit(lonely, 409, cores=10.05, deadline_s=400)
    assert problem["type"] == "/problems/insufficient_capacity"
    available = problem["available"]
    assert available["cores"] == 4 and available["cores_now"] == 10
    assert available["memory_bytes"] == (160 - 100 << 30) and available["memory_bytes_now"] == (160 - 100 << 30)
    assert available["earliest_starts_at"] == first["expires_at"]
    assert admit(lonely, cores=4, deadline_s=400)["granted_cores"] == 4
    assert admit(lonely, 409, cores=0.05, deadline_s=400)["available"]["cores"] == 0
    assert admit(lonely, cores=40, starts_at=second["expires_at"], deadline_s=60)["granted_cores"] == 40, "what ends there is free there"


def test_memory_is_as_hard_a_limit(lonely):
    held = admit(lonely, cores=1, memory_bytes=120 << 30)
    problem = admit(lonely, 409, cores=1, memory_bytes=(40 << 30) + 1)
    assert problem["available"]["memory_bytes"] == 40 << 30 and problem["available"]["cores"] == 39
    assert problem["available"]["earliest_starts_at"] == held["expires_at"]
    assert admit(lonely, cores=1, memory_bytes=40 << 30)["memory_bytes"] == 40 << 30
    assert admit(lonely, cores=38)["memory_bytes"] is None


def test_part_of_the_cores_where_that_is_of_use(lonely):
    admit(lonely, cores=30.5)
    made = admit(lonely, cores=20, cores_min=9.5, deadline_s=30)
    assert made["cores"] == 20 and made["granted_cores"] == 9.5
    admit(lonely, 409, cores=20, cores_min=0.05, deadline_s=30)


@pytest.mark.parametrize("body, pointer", [
    ({"cores": 0}, "/cores"), ({"cores": 0.07}, "/cores"), ({"cores": 40.05}, "/cores"), ({"cores": 1e9}, "/cores"), ({"cores": "8"}, "/cores"), ({"cores": None}, "/cores"),
    ({"cores_min": 9}, "/cores_min"), ({"cores_min": 0.01}, "/cores_min"), ({"cores": 100, "cores_min": 41}, "/cores_min"),
    ({"memory_bytes": 0}, "/memory_bytes"), ({"memory_bytes": (160 << 30) + 1}, "/memory_bytes"),
    ({"deadline_s": 0}, "/deadline_s"), ({"deadline_s": -1}, "/deadline_s"), ({"deadline_s": 604801}, "/deadline_s"), ({"expires_s": 604801}, "/expires_s"),
    ({"deadline_s": ...}, "/deadline_s"), ({"starts_at": "tomorrow"}, "/starts_at"), ({"starts_at": "9999-01-01T00:00:00Z"}, "/starts_at"),
    ({"cluster": "nowhere"}, "/cluster"), ({"cluster": ...}, "/cluster"), ({"cluster": "bare"}, "/cluster"), ({"application": ...}, "/application"),
    ({"application": ""}, "/application"), ({"advice_id": "x"}, "/advice_id"), ({"advice_id": str(uuid.uuid4())}, "/advice_id"), ({"colour": 1}, "/colour"),
])
def test_what_cannot_be_asked_for(lonely, body, pointer):
    lonely.put("/v1/clusters/bare", {"slots": 3}, 201)
    whole = {"cluster": "c", "application": "etl", "cores": 8, "deadline_s": 60, **body}
    lonely.refuse("POST", PATH, 422, pointer=pointer, json={k: v for k, v in whole.items() if v is not ...})
    assert lonely.get(PATH).json()["items"] == []


def test_memory_of_a_cluster_that_does_not_tell(lonely):
    lonely.put("/v1/clusters/d", {"executors": 2, "cores_per_executor": 2}, 201)
    lonely.refuse("POST", PATH, 422, pointer="/cluster", json={"cluster": "d", "application": "etl", "cores": 1, "memory_bytes": 5, "deadline_s": 9})
    admit(lonely, cluster="d", cores=4)
    available = admit(lonely, 409, cluster="d", cores=1)["available"]
    assert available["memory_bytes"] is None and available["memory_bytes_now"] is None and available["cores"] == 0


def test_the_advice_gives_what_is_left_out(lonely):
    for executors, duration_s in ((1, 100), (2, 52), (4, 28), (8, 17)):
        add_run(lonely, executors=executors, duration_s=duration_s, stages=[
            {"id": 0, "parents": [], "task_durations_s": [100 / 64] * 64}])
    asked = {"application": "etl", "problem_size": 64, "deadline_s": 60, "constraints": {"cluster": "c"}}
    advice = lonely.post("/v1/advice", asked, status=201).json()
    cores = advice["recommendation"]["executors"] * advice["recommendation"]["cores_per_executor"]
    made = lonely.post(PATH, {"advice_id": advice["id"]}, status=201).json()
    assert made["cores"] == made["granted_cores"] == cores and made["cluster"] == "c" and made["application"] == "etl"
    assert made["advice_id"] == advice["id"] and instant(made["deadline_at"]) - instant(made["starts_at"]) == datetime.timedelta(seconds=60)
    other = lonely.post(PATH, {"advice_id": advice["id"], "cores": 0.5, "application": "other", "deadline_s": 5}, status=201).json()
    assert other["cores"] == 0.5 and other["application"] == "other"
    lonely.refuse("POST", PATH, 422, pointer="/cores_min", json={"advice_id": advice["id"], "cores_min": 39})
    nowhere = lonely.post("/v1/advice", {k: v for k, v in asked.items() if k != "constraints"}, status=201).json()
    lonely.refuse("POST", PATH, 422, pointer="/cluster", json={"advice_id": nowhere["id"]})
    fastest = lonely.post("/v1/advice", {"application": "etl", "problem_size": 64, "objective": "min_time", "constraints": {"cluster": "c"}}, status=201).json()
    lonely.refuse("POST", PATH, 422, pointer="/expires_s", json={"advice_id": fastest["id"]})


def test_a_key_reserves_once(lonely):
    body = {"cluster": "c", "application": "etl", "cores": 30, "deadline_s": 60}
    made = [lonely.post(PATH, body, status=201, headers={"Idempotency-Key": "k"}).json() for _ in range(2)]
    assert made[0] == made[1] and len(lonely.get(PATH).json()["items"]) == 1
    lonely.post(PATH, body, status=409, headers={"Idempotency-Key": "l"})
    lonely.delete(PATH + "/" + made[0]["id"])
    lonely.post(PATH, body, status=201, headers={"Idempotency-Key": "l"})


# --- reading, extending, giving back ---


def test_lists_by_cluster_application_and_status(lonely):
    lonely.put("/v1/clusters/d", CLUSTER, 201)
    made = [admit(lonely, cores=1, cluster=c, application=a) for c, a in (("c", "etl"), ("d", "etl"), ("c", "report"))]
    lonely.delete(PATH + "/" + made[2]["id"])

    def ids(query):
        return [item["id"] for item in items_of(lonely, query)]
    assert ids("") == [m["id"] for m in made]
    assert ids("&cluster=c") == [made[0]["id"], made[2]["id"]] and ids("&application=etl") == [made[0]["id"], made[1]["id"]]
    assert ids("&status=held") == [made[0]["id"], made[1]["id"]] and ids("&status=released") == [made[2]["id"]] and ids("&status=expired") == []
    assert ids("&cluster=nowhere") == []
    page = lonely.get(PATH + "?limit=2").json()
    assert [i["id"] for i in lonely.get(PATH + "?limit=2&cursor=" + page["next_cursor"]).json()["items"]] == [made[2]["id"]]
    lonely.refuse("GET", PATH + "?status=lost", 422, parameter="status")


def test_what_is_given_back_is_free(lonely):
    held = admit(lonely, cores=40)
    admit(lonely, 409, cores=1)
    lonely.delete(PATH + "/" + held["id"])
    now = read(lonely, held)
    assert now["status"] == "released" and now["ended_at"] is not None and now["run_id"] is None
    assert admit(lonely, cores=40)["granted_cores"] == 40
    lonely.delete(PATH + "/" + held["id"])
    assert read(lonely, held) == now, "it ends once"
    assert [a["action"] for a in lonely.get("/v1/audit").json()["items"]].count("admission.delete") == 1


def test_an_extension_where_nobody_is_in_the_way(lonely):
    held = admit(lonely, cores=30, memory_bytes=100 << 30)
    end = instant(held["expires_at"])
    later = admit(lonely, cores=15, starts_at=text(end + HOUR), deadline_s=600)
    at = PATH + "/" + held["id"]
    assert lonely.patch(at, {"expires_at": text(end + HOUR)}).json()["expires_at"] == later["starts_at"]
    problem = lonely.patch(at, {"expires_at": text(end + 1.001 * HOUR)}, status=409).json()
    assert problem["type"] == "/problems/insufficient_capacity" and problem["available"]["cores"] == 25
    assert read(lonely, held)["expires_at"] == later["starts_at"], "what was refused changed nothing"
    lonely.delete(PATH + "/" + later["id"])
    assert instant(lonely.patch(at, {"expires_at": text(end + 2 * HOUR)}).json()["expires_at"]) == end + 2 * HOUR
    assert lonely.patch(at, {"expires_at": text(end)}).json()["expires_at"] == held["expires_at"], "or earlier"
    admit(lonely, cores=1, memory_bytes=100 << 30, starts_at=text(end), deadline_s=60)
    lonely.patch(at, {"expires_at": text(end + HOUR)}, status=409)
    for never in (from_now(-1), held["starts_at"], from_now(8 * 86400)):
        lonely.refuse("PATCH", at, 422, pointer="/expires_at", json={"expires_at": never})
    lonely.refuse("PATCH", at, 422, pointer="/expires_at", json={})
    lonely.refuse("PATCH", at, 422, pointer="/cores", json={"expires_at": text(end), "cores": 3})
    lonely.delete(at)
    assert lonely.patch(at, {"expires_at": text(end + HOUR)}, status=409).json()["type"] == "/problems/conflict"


def test_another_team_sees_nothing_of_it(lonely, stranger):
    held = admit(lonely)
    at = PATH + "/" + held["id"]
    stranger.get(at, 404)
    stranger.patch(at, {"expires_at": from_now(600)}, status=404)
    stranger.delete(at, 404)
    assert held["id"] not in [i["id"] for i in items_of(stranger)]
    stranger.refuse("POST", PATH, 422, pointer="/cluster", json={"cluster": "c", "application": "etl", "cores": 1, "deadline_s": 9})
    for path in (PATH + "/" + str(uuid.uuid4()), PATH + "/x"):
        lonely.get(path, 404)
        lonely.patch(path, {"expires_at": from_now(600)}, status=404)
        lonely.delete(path, 404)
    assert read(lonely, held) == held


def test_scopes(service):
    reader = service.client(service.token("admissions-" + uuid.uuid4().hex[:8], scopes="read"))
    reader.get(PATH)
    reader.post(PATH, {}, status=403)
    reader.delete(PATH + "/" + str(uuid.uuid4()), 403)


def test_a_cluster_of_which_something_is_held(lonely):
    held = admit(lonely, cores=30)
    problem = lonely.delete("/v1/clusters/c", 409).json()
    assert held["id"] in str(problem)
    lonely.put("/v1/clusters/c", {"executors": 5, "cores_per_executor": 4})
    assert read(lonely, held)["status"] == "held", "machines break; what is promised stays"
    assert admit(lonely, 409, cores=1)["available"]["cores"] == 0
    lonely.patch(PATH + "/" + held["id"], {"expires_at": from_now(600)}, status=409)
    lonely.delete(PATH + "/" + held["id"])
    admit(lonely, cores=20, deadline_s=0.01)
    wait_for(lambda: lonely.request("DELETE", "/v1/clusters/c").status_code == 204)
    assert lonely.get(PATH).json()["items"] == [], "what is over goes with its cluster"


def test_an_application_takes_its_admissions_along(lonely):
    lonely.post("/v1/applications", {"name": "etl"}, status=201)
    held, other = admit(lonely), admit(lonely, application="report")
    lonely.delete("/v1/applications/etl")
    assert [i["id"] for i in items_of(lonely)] == [other["id"]]
    lonely.get(PATH + "/" + held["id"], 404)


# --- runs ---


def test_a_run_that_succeeded_gives_back_one(lonely):
    first, second, other = admit(lonely, cores=1), admit(lonely, cores=1), admit(lonely, cores=1, application="report")
    ahead = admit(lonely, cores=1, starts_at=from_now(3600))
    add_run(lonely, succeeded=False)
    assert read(lonely, first)["status"] == "held", "it may be tried again"
    add_run(lonely, started_at="2020-01-01T00:00:00Z")
    assert read(lonely, first)["status"] == "held", "it ended long before"
    run = add_run(lonely)
    now = read(lonely, first)
    assert now["status"] == "released" and now["run_id"] == run["id"] and now["ended_at"] is not None
    add_run(lonely)
    assert read(lonely, second)["status"] == "released"
    add_run(lonely)
    assert read(lonely, ahead) == ahead and read(lonely, other) == other


def test_a_run_that_followed_advice_gives_back_what_followed_it(lonely):
    for executors, duration_s in ((1, 100), (2, 52), (4, 28), (8, 17)):
        add_run(lonely, executors=executors, duration_s=duration_s, stages=[{"id": 0, "parents": [], "task_durations_s": [100 / 64] * 64}])
    asked = {"application": "etl", "problem_size": 64, "deadline_s": 60, "constraints": {"cluster": "c"}}
    advice = [lonely.post("/v1/advice", asked, status=201).json()["id"] for _ in range(3)]
    plain = admit(lonely, cores=1)
    followers = [admit(lonely, cores=1, advice_id=a, starts_at=from_now(100)) for a in advice[:2]]
    add_run(lonely, advice_id=advice[1])
    assert [read(lonely, f)["status"] for f in followers] == ["held", "released"]
    add_run(lonely, advice_id=advice[2])
    assert read(lonely, plain)["status"] == "released" and read(lonely, followers[0])["status"] == "held"


def test_an_event_log_gives_back_too(lonely):
    """Of a run as it is now: the log of one that ended years ago gives back nothing, nor does one that was known."""
    held = admit(lonely, cores=1)
    old, at = tiny_log("app-old"), "/v1/applications/etl/eventlogs"
    lonely.post(at, data=old, status=201)
    ahead = int(time.time()) - 1700000000
    new = re.sub(rb"\b17000000(\d{5})\b", lambda m: b"%d" % (int(m[0]) + 1000 * ahead), tiny_log("app-new"))
    assert read(lonely, held)["status"] == "held"
    run = lonely.post(at, data=new, status=201).json()
    assert read(lonely, held)["status"] == "released" and read(lonely, held)["run_id"] == run["id"]
    held = admit(lonely, cores=1)
    lonely.post(at, data=new, status=200)
    assert read(lonely, held)["status"] == "held"


# --- what is over ---


def test_what_is_over_is_free_at_once_and_reported_once(make_service):
    service = make_service(**{**QUICK, "PROVISOR_ADMISSION_POLL_MS": 100})
    service.start()
    client = service.client(service.token("expiry"))
    client.put("/v1/clusters/c", CLUSTER, 201)
    second = copy.copy(service)
    second.port, second.process, second.log = None, None, service.directory / "replica.log"
    second.start()
    try:
        with Receiver() as receiver:
            client.post("/v1/webhooks", {"url": receiver.url, "events": ["admission.expired"]}, status=201)
            kept, gone = admit(client, cores=1), admit(client, cores=1, deadline_s=0.3)
            client.delete(PATH + "/" + gone["id"])
            lost = [admit(client, cores=2.5, deadline_s=0.2 + i / 20) for i in range(8)]
            receiver.wait(8, seconds=PATIENCE)
            bodies = [b for b in receiver.bodies() if b["type"] == "admission.expired"]
            assert {b["data"]["admission_id"] for b in bodies} == {a["id"] for a in lost}
            told = {b["data"]["admission_id"]: b["data"] for b in bodies}[lost[0]["id"]]
            assert told["application"] == "etl" and told["cores"] == 2.5 and told["severity"] == "warning"
            assert instant(told["expired_at"]) == instant(lost[0]["expires_at"])
        now = read(client, lost[0])
        assert now["status"] == "expired" and now["ended_at"] == now["expires_at"]
        assert service.psql("SELECT count(*), count(DISTINCT data #>> '{admission_id}') FROM provisor.outbox WHERE type = 'admission.expired'") == "8|8\n"
        assert read(client, kept)["status"] == "held"
        assert {i["id"] for i in items_of(client, "&status=expired")} == {a["id"] for a in lost}
    finally:
        second.stop()


def test_nobody_has_to_write_it_down_first(make_service):
    service = make_service(PROVISOR_ADMISSION_POLL_MS=3600000)
    service.start()
    client = service.client(service.token("expiry"))
    client.put("/v1/clusters/c", CLUSTER, 201)
    held = admit(client, cores=40, deadline_s=0.5)
    wait_for(lambda: read(client, held)["status"] == "expired")
    assert read(client, held)["ended_at"] == held["expires_at"] and len(items_of(client, "&status=expired")) == 1
    assert admit(client, cores=40)["granted_cores"] == 40
    client.patch(PATH + "/" + held["id"], {"expires_at": from_now(600)}, status=409)


def test_limits_are_settings_and_what_ended_is_deleted(make_service):
    service = make_service(PROVISOR_ADMISSIONS_MAX=2, PROVISOR_ADMISSION_AHEAD_MAX_S=100, PROVISOR_ADMISSION_LENGTH_MAX_S=50, PROVISOR_ADMISSION_RETENTION_DAYS=1)
    service.start()
    client = service.client(service.token("limits"))
    client.put("/v1/clusters/c", CLUSTER, 201)
    held = [admit(client, cores=1, deadline_s=50) for _ in range(2)]
    assert admit(client, 422, cores=1, deadline_s=50)["type"] == "/problems/limit_exceeded"
    client.delete(PATH + "/" + held[0]["id"])
    admit(client, cores=1, starts_at=from_now(90), deadline_s=50)
    body = {"cluster": "c", "application": "etl", "cores": 1}
    client.refuse("POST", PATH, 422, pointer="/starts_at", json={**body, "starts_at": from_now(150), "deadline_s": 5})
    client.refuse("POST", PATH, 422, pointer="/deadline_s", json={**body, "deadline_s": 51})
    client.refuse("PATCH", PATH + "/" + held[1]["id"], 422, pointer="/expires_at", json={"expires_at": from_now(60)})
    service.psql("UPDATE provisor.admission SET ended_at = now() - interval '2 days' WHERE id = '%s'" % held[0]["id"])
    service.command("maintain")
    client.get(PATH + "/" + held[0]["id"], 404)
    assert len(items_of(client)) == 2


# --- at the same time ---


def test_the_last_cores_go_to_one(lonely):
    admit(lonely, cores=39)
    gate = threading.Barrier(8)
    replies = []

    def ask():
        own = lonely.service.client(lonely.token)
        gate.wait()
        replies.append(own.post(PATH, {"cluster": "c", "application": "etl", "cores": 1, "deadline_s": 60}).status_code)
    threads = [threading.Thread(target=ask) for _ in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert sorted(replies) == [201] + [409] * 7


def test_many_callers_and_two_replicas_never_oversubscribe(make_service):
    service = make_service()
    service.start()
    token = service.token("callers")
    client = service.client(token)
    client.put("/v1/clusters/c", CLUSTER, 201)
    second = copy.copy(service)
    second.port, second.process, second.log = None, None, service.directory / "replica.log"
    second.start()
    try:
        callers = [Caller([service, second], token, "c", 12, seed) for seed in range(32)]
        [c.start() for c in callers]
        admission_load.finish(callers)
        items, cores = admission_load.check(client, callers, "c")
        assert sum(c.refused for c in callers) > 0 and len(items) > 40 and cores > 32, "nothing was at stake: %g" % cores
        assert len(items) == sum(len(c.granted) for c in callers)
    finally:
        second.stop()


def test_the_check_can_fail():
    """Of what is held at the same time it adds up everything, of what follows on one another nothing."""
    draw = random.Random(7)
    items = []
    for _ in range(40):
        begin, length = draw.randint(0, 50), draw.randint(1, 20)
        items.append({"begin": begin, "end": begin + length, "granted_cores": draw.randint(1, 100) / 20, "memory_bytes": draw.choice([None, 7])})
    day = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
    for item in items:
        item.update(starts_at=text(day + item["begin"] * HOUR), expires_at=text(day + item["end"] * HOUR), ended_at=None)
    quanta = [sum(round(i["granted_cores"] * 20) for i in items if i["begin"] <= t < i["end"]) for t in range(80)]
    assert peak(items)[0] == max(quanta) / 20
