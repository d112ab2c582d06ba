"""Advice for many jobs at once: each as by itself, all of them on one cluster, all or none stored."""
import copy
import time
import uuid

import pytest

from patience import SLOWDOWN
from test_admissions import CLUSTER, add_run

PATH = "/v1/advice/batch"
VARYING = {"id", "created_at"}


@pytest.fixture(scope="module")
def history(service):
    """A client of a team with a cluster `c` of 40 cores and two applications, of which `etl` scales well."""
    client = service.client(service.token("batch-" + uuid.uuid4().hex[:8]))
    client.put("/v1/clusters/c", CLUSTER, 201)
    for name, work in (("etl", 100), ("report", 400)):
        for executors in (1, 2, 4, 8):
            add_run(client, name, executors=executors, duration_s=round(work / executors + 4, 3),
                    stages=[{"id": 0, "parents": [], "task_durations_s": [work * 4 / 64] * 64}])
    return client


def job(application="etl", deadline_s=60, **members):
    return {"application": application, "problem_size": 64, "deadline_s": deadline_s, **members}


def plain(advice):
    return {k: v for k, v in advice.items() if k not in VARYING}


def stored(client):
    return len(client.get("/v1/advice?limit=200").json()["items"])


def test_each_is_answered_as_by_itself(history):
    items = [job(), job("report", 100, confidence=0.8, include=["memory"]), job(deadline_s=0.1), job("report", None, objective="min_time"), job()]
    made = history.post(PATH, {"items": items}, status=201).json()
    assert made["cluster"] is made["feasible"] is made["min_total_cores"] is made["jobs"] is None
    alone = [history.post("/v1/advice?dry_run=true", item, status=200).json() for item in items]
    assert [plain(a) for a in made["items"]] == [plain(a) for a in alone]
    for advice in made["items"]:
        assert history.get("/v1/advice/" + advice["id"]).json() == advice
    assert len({a["id"] for a in made["items"]}) == 5


def test_what_has_to_be_predicted_first_is_answered_alike(history):
    """Each item has a history to be loaded and a prediction to be made: the request goes to and fro between workers."""
    items = [job(("etl", "report")[i % 2], 90 + i, problem_size=50 + i / 4, constraints={"cluster": "c"}) for i in range(40)]
    made = history.post(PATH, {"cluster": "c", "items": items}, status=201).json()
    alone = [history.post("/v1/advice?dry_run=true", item, status=200).json() for item in items]
    assert [plain(a) for a in made["items"]] == [plain(a) for a in alone]


def test_a_dry_run_stores_nothing(service, history):
    before = stored(history)
    made = history.post(PATH + "?dry_run=true", {"items": [job(), job()]}, status=200).json()
    assert len(made["items"]) == 2 and stored(history) == before
    assert [item["id"] for item in made["items"]] == [None, None]


def test_together_on_a_cluster(history):
    """By hand: each has its cores for its predicted duration; who shares them ends later."""
    one = history.post(PATH, {"cluster": "c", "items": [job(deadline_s=40)]}, status=201).json()
    assert one["feasible"] is True and one["min_total_cores"] is None and one["cluster"] == "c"
    best = one["items"][0]["recommendation"]
    assert one["jobs"] == [{"index": 0, "release_s": 0, "deadline_s": 40, "met": True, "completion_s": pytest.approx(best["predicted_duration_s"], rel=1e-5)}]
    cores = best["executors"] * best["cores_per_executor"]
    fit = 40 // cores  # of them at a time
    many = [job(deadline_s=40) for _ in range(fit + 1)]
    crowd = history.post(PATH, {"cluster": "c", "items": many}, status=201).json()
    assert [j["met"] for j in crowd["jobs"]].count(False) >= 1 and crowd["feasible"] is False
    assert 40 < crowd["min_total_cores"] <= cores * (fit + 1)
    assert all(a["verdict"] == "met" for a in crowd["items"]), "alone each of them does"
    assert [r["code"] for r in crowd["reasons"]] == ["jobs_hold_executors"] and "feasibility lets jobs share" in crowd["reasons"][0]["message"]
    assert "share" not in one["reasons"][0]["message"], "the other check would not decide otherwise"
    later = history.post(PATH, {"cluster": "c", "items": many, "releases_s": [0] * fit + [100]}, status=201).json()
    assert later["feasible"] is True and later["jobs"][-1]["completion_s"] == pytest.approx(100 + best["predicted_duration_s"], rel=1e-5)
    open_end = history.post(PATH, {"cluster": "c", "items": many[:-1] + [job(deadline_s=None, constraints={"max_executors": best["executors"]})]}, status=201).json()
    assert open_end["feasible"] is True and open_end["jobs"][-1]["deadline_s"] is None


def test_what_is_not_advised_is_not_scheduled(history):
    add_run(history, "lone", executors=2, problem_size=1, duration_s=10)
    made = history.post(PATH, {"cluster": "c", "items": [job("lone", problem_size=1000), job()]}, status=(201, 422)).json()
    if "items" in made:
        assert made["items"][0]["verdict"] == "unknown" and made["feasible"] is False
        assert made["jobs"][0]["completion_s"] is None and made["jobs"][0]["met"] is False and made["jobs"][1]["met"] is True
    else:
        assert made["errors"][0]["pointer"].startswith("/items/0/")


@pytest.mark.parametrize("change, pointer", [
    (lambda b: b["items"][1].update(deadline_s=-1), "/items/1/deadline_s"), (lambda b: b["items"][1].update(application="unheard"), "/items/1/application"),
    (lambda b: b["items"][2].update(colour=1), "/items/2/colour"), (lambda b: b["items"][0].pop("application"), "/items/0/application"),
    (lambda b: b["items"][1].update(constraints={"cluster": "nowhere"}), "/items/1/constraints/cluster"),
    (lambda b: b["items"][1].update(running=[{"application": "etl", "release_s": 0, "deadline_s": 9}], constraints={"max_executors": 3}), "/items/1/running"),
    (lambda b: b["items"][1].update(copy_plan={"clusters": ["c"]}), "/items/1/copy_plan"),
    (lambda b: b["items"][1].update(include=["next_experiments"]), "/items/1/include"), (lambda b: b["items"][1].update(include=["autoscaling"]), "/items/1/include"),
    (lambda b: b["items"].__setitem__(1, 7), "/items/1"), (lambda b: b.update(items=[]), "/items"), (lambda b: b.pop("items"), "/items"), (lambda b: b.update(items={}), "/items"),
    (lambda b: b.update(cluster="nowhere"), "/cluster"), (lambda b: b.update(cluster="bare"), "/cluster"), (lambda b: b.update(more=1), "/more"),
    (lambda b: b.update(releases_s=[0, 1]), "/releases_s"), (lambda b: b.update(releases_s=[0, 1, -1]), "/releases_s/2"), (lambda b: b.update(releases_s=[0, 1, None]), "/releases_s/2"),
])
def test_a_fault_of_one_is_named_and_nothing_is_stored(history, change, pointer):
    history.request("PUT", "/v1/clusters/bare", (200, 201), json={"slots": 3})
    before = stored(history)
    body = {"items": [job(), job(), job()]}
    change(body)
    history.refuse("POST", PATH, 422, pointer=pointer, json=body)
    assert stored(history) == before


def test_the_cluster_of_the_batch_is_that_of_items_without_one(history):
    history.put("/v1/clusters/small", {"executors": 2, "cores_per_executor": 4}, 201)
    items = [job("report", 1000), job("report", 1000, constraints={"cluster": "c"}, objective="min_time")]
    made = history.post(PATH, {"cluster": "small", "items": items}, status=201).json()["items"]
    assert made[0]["recommendation"]["executors"] <= 2 < made[1]["recommendation"]["executors"]
    admitted = history.post("/v1/admissions", {"advice_id": made[1]["id"], "expires_s": 1}, status=201).json()
    assert admitted["cluster"] == "c" and admitted["deadline_at"] is not None


def test_a_key_stores_once(history):
    body, before = {"items": [job(), job()]}, stored(history)
    first, second = (history.post(PATH, body, status=201, headers={"Idempotency-Key": "batch"}).json() for _ in range(2))
    assert first == second and stored(history) == before + 2
    history.post(PATH, {"items": [job()]}, status=422, headers={"Idempotency-Key": "batch"})


def test_events_audit_and_usage_count_each(service, history):
    used = {q["name"]: q["used"] for q in history.get("/v1/usage").json()["quotas"]} if "quotas" in history.get("/v1/usage").json() else None
    made = history.post(PATH, {"items": [job(), job(deadline_s=0.1), job("report")]}, status=201).json()
    ids = ",".join("'%s'" % a["id"] for a in made["items"])
    assert service.psql("SELECT type, count(*) FROM provisor.outbox WHERE data #>> '{id}' IN (%s) GROUP BY 1 ORDER BY 1" % ids) == "advice.created|3\ndeadline.infeasible|1\n"
    assert service.psql("SELECT count(*) FROM provisor.audit WHERE action = 'advice.insert' AND split_part(subject, '/', 2) IN (%s)" % ids) == "3\n"
    names = service.psql("SELECT p.name FROM provisor.outbox o JOIN provisor.application p ON p.id = o.application_id WHERE o.type = 'advice.created'"
                         " AND o.data #>> '{id}' IN (%s) ORDER BY 1" % ids)
    assert names == "etl\netl\nreport\n", "each event belongs to the application that it is about"
    if used is not None:
        assert {q["name"]: q["used"] for q in history.get("/v1/usage").json()["quotas"]}["advice"] == used["advice"] + 3


def test_another_team_has_none_of_it(history, stranger):
    made = history.post(PATH, {"items": [job()]}, status=201).json()
    stranger.get("/v1/advice/" + made["items"][0]["id"], 404)
    stranger.refuse("POST", PATH, 422, pointer="/items/0/application", json={"items": [job()]})
    stranger.refuse("POST", PATH, 422, pointer="/cluster", json={"cluster": "c", "items": [job()]})


def test_the_limit_is_a_setting(make_service):
    service = make_service(PROVISOR_ADVICE_BATCH_MAX=2)
    service.start()
    client = service.client(service.token("limits"))
    client.refuse("POST", PATH, 422, pointer="/items", json={"items": [job()] * 3})
    client.refuse("POST", PATH, 422, pointer="/items/0/application", json={"items": [job()] * 2})


def test_a_quota_refuses_all_of_it(make_service):
    service = make_service(PROVISOR_QUOTA_ADVICE=4)
    service.start()
    client = service.client(service.token("quotas"))
    for executors, duration_s in ((1, 104), (2, 54), (4, 29), (8, 17)):
        add_run(client, executors=executors, duration_s=duration_s, stages=[{"id": 0, "parents": [], "task_durations_s": [100 / 16] * 64}])
    client.post(PATH, {"items": [job()] * 3}, status=201)
    assert client.post(PATH, {"items": [job()] * 2}, status=422).json()["type"] == "/problems/storage_quota_exceeded"
    assert stored(client) == 3
    client.post(PATH, {"items": [job()]}, status=201)


def test_a_thousand_in_one_request(history):
    """Of two applications with ten problem sizes each; a bound that a loaded machine keeps, too. tests/bench/bench_batch.py measures."""
    items = [job(name, 100 + i, problem_size=60 + i % 10, include=["alternatives"]) for i in range(500) for name in ("etl", "report")]
    history.post(PATH, {"items": copy.deepcopy(items)[:40]}, status=201)
    began = time.monotonic()
    made = history.post(PATH, {"cluster": "c", "items": items}, status=201).json()
    took = time.monotonic() - began
    assert len(made["items"]) == len(made["jobs"]) == 1000
    assert took < 10 * SLOWDOWN, took
    history.post(PATH, {"items": items + [job()]}, status=422)


def test_only_what_admissions_leave_free(service):
    """beside_admissions: nobody who has reserved is late, and what is advised can be reserved."""
    client = service.client(service.token("beside-" + uuid.uuid4().hex[:8]))
    client.put("/v1/clusters/c", CLUSTER, 201)
    for executors in (1, 2, 4, 8):
        add_run(client, executors=executors, duration_s=round(400 / executors + 4, 3), stages=[{"id": 0, "parents": [], "task_durations_s": [25] * 64}])
    free = client.post("/v1/advice", job(deadline_s=200, constraints={"cluster": "c", "beside_admissions": True}), status=201).json()
    assert plain(free) == plain(client.post("/v1/advice", job(deadline_s=200, constraints={"cluster": "c"}), status=201).json())
    fastest = job(deadline_s=200, objective="min_time", constraints={"cluster": "c", "beside_admissions": True})
    held = client.post("/v1/admissions", {"cluster": "c", "application": "other", "cores": 25, "deadline_s": 3600}, status=201).json()
    client.post("/v1/admissions", {"cluster": "c", "application": "later", "cores": 40, "starts_at": held["expires_at"], "deadline_s": 60}, status=201)
    beside = client.post("/v1/advice", fastest, status=201).json()
    assert 1 <= beside["recommendation"]["executors"] <= 3, "15 of 40 cores are free, 4 an executor"
    assert client.post("/v1/advice?dry_run=true", {**fastest, "constraints": {"cluster": "c"}}, status=200).json()["recommendation"]["executors"] > 3
    cluster_reason = [r for r in beside["reasons"] if r["code"] == "cluster"][0]
    assert cluster_reason["evidence"]["executors"] == 10 and cluster_reason["evidence"]["max_executors"] == 3
    admitted = client.post("/v1/admissions", {"advice_id": beside["id"]}, status=201).json()
    full = client.post("/v1/admissions", {"cluster": "c", "application": "rest", "cores": 15 - admitted["granted_cores"], "deadline_s": 1800}, status=201)
    assert full.status_code == 201
    problem = client.post("/v1/advice", fastest, status=409).json()
    assert problem["type"] == "/problems/insufficient_capacity" and problem["available"]["cores"] == 0
    assert problem["available"]["earliest_starts_at"] == admitted["expires_at"]
    problem = client.post("/v1/advice", {**fastest, "deadline_s": None}, status=409).json()
    assert problem["available"]["earliest_starts_at"] > held["expires_at"], "without a deadline it may take for ever"
    client.refuse("POST", "/v1/advice", 422, pointer="/constraints/cluster", json=job(constraints={"beside_admissions": True}))
    client.put("/v1/clusters/bare", {"slots": 3}, 201)
    client.refuse("POST", "/v1/advice", 422, pointer="/constraints/cluster", json=job(constraints={"cluster": "bare", "beside_admissions": True}))


def test_memory_that_is_reserved_bounds_the_executors_too(service):
    client = service.client(service.token("beside-" + uuid.uuid4().hex[:8]))
    client.put("/v1/clusters/c", CLUSTER, 201)
    for executors in (1, 2, 4, 8):
        add_run(client, executors=executors, duration_s=round(400 / executors + 4, 3), stages=[{"id": 0, "parents": [], "task_durations_s": [25] * 64}])
    client.post("/v1/admissions", {"cluster": "c", "application": "other", "cores": 1, "memory_bytes": 127 << 30, "deadline_s": 3600}, status=201)
    made = client.post("/v1/advice", job(deadline_s=200, objective="min_time", constraints={"cluster": "c", "beside_admissions": True}), status=201).json()
    assert made["recommendation"]["executors"] <= 2, "33 of 160 GiB are free, 16 an executor"
    least = job(deadline_s=None, constraints={"cluster": "c", "beside_admissions": True, "min_executors": 4})
    problem = client.post("/v1/advice", least, status=409).json()
    assert problem["type"] == "/problems/insufficient_capacity" and problem["available"]["memory_bytes"] == 33 << 30, "four need 64 GiB"
    assert "free from now on" in problem["detail"]


# --- memory ---

SIZED = {"enforced": {"spark.executor.memory": "1g", "spark.executor.memoryOverhead": "512m"}}
ORDERS = ("first_come", "earliest_deadline")


def test_memory_counts_where_an_order_of_launch_is_given(history):
    """The cluster has cores for all, and memory for one at a time: nothing is recorded of memory, so each executor has its share."""
    history.put("/v1/clusters/tight", dict(CLUSTER, executors=4, memory_bytes_per_executor=1 << 30), 201)
    items = [job(deadline_s=200, objective="min_time", constraints={"max_executors": 3}) for _ in range(2)]
    body = {"cluster": "tight", "items": items}
    plain_reply = history.post(PATH + "?dry_run=true", body, status=200).json()
    assert "memory" not in plain_reply and set(plain_reply["jobs"][0]) == {"index", "release_s", "deadline_s", "completion_s", "met"}
    for order in ORDERS:
        made = history.post(PATH, dict(body, launch_order=order), status=201).json()
        first, second = made["jobs"]
        assert first["memory_bytes"] == second["memory_bytes"] == 3 << 30
        assert first["launched_s"] == 0 and second["launched_s"] == first["completion_s"] > 0 and made["feasible"] is True
        assert made["memory"] == {"memory_bytes": 4 << 30, "launch_order": order, "fits_at_once": 1, "waited": 1}
        held = history.post("/v1/admissions", {"advice_id": made["items"][0]["id"], "memory_bytes": first["memory_bytes"]}, status=201).json()
        history.request("DELETE", "/v1/admissions/" + held["id"], 204)


def test_the_memory_of_a_job_is_that_of_its_properties(history):
    made = history.post(PATH + "?dry_run=true", {"cluster": "c", "launch_order": "first_come", "items": [job(constraints=SIZED)]}, status=200).json()
    assert made["jobs"][0]["memory_bytes"] == made["items"][0]["recommendation"]["executors"] * (1536 << 20)


def test_who_needs_more_memory_than_there_is_is_not_scheduled(history):
    history.put("/v1/clusters/scant", dict(CLUSTER, executors=8, memory_bytes_per_executor=1 << 20), 201)
    made = history.post(PATH + "?dry_run=true", {"cluster": "scant", "launch_order": "first_come", "items": [job(constraints=SIZED), job()]}, status=200).json()
    assert made["feasible"] is False and made["jobs"][0]["launched_s"] is None and made["jobs"][0]["completion_s"] is None
    assert made["jobs"][1]["launched_s"] == 0


@pytest.mark.parametrize("body, pointer", [
    ({"launch_order": "first_come"}, "/cluster"), ({"launch_order": "shortest", "cluster": "c"}, "/launch_order"),
    ({"launch_order": None, "cluster": "c"}, "/launch_order"), ({"launch_order": "first_come", "cluster": "memoryless"}, "/cluster"),
])
def test_faults_of_the_order_of_launch(history, body, pointer):
    history.request("PUT", "/v1/clusters/memoryless", (200, 201), json={"executors": 3, "cores_per_executor": 4})
    history.refuse("POST", PATH, 422, pointer=pointer, json=dict({"items": [job()]}, **body))
