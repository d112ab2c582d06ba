"""Advice beside jobs that were advised for the same cluster and have not reported back, and memory beside running jobs."""
import time
import uuid

import pytest

from patience import SLOWDOWN
from test_admissions import CLUSTER, add_run

PATH = "/v1/advice"


def team(service, **cluster):
    """A client of a team of its own, with a cluster `c` of 40 cores and an application that scales well."""
    client = service.client(service.token("beside-" + uuid.uuid4().hex[:8]))
    client.put("/v1/clusters/c", dict(CLUSTER, **cluster), 201)
    for executors in (1, 2, 4, 8):
        add_run(client, "etl", executors=executors, duration_s=round(100 / executors + 4, 3),
                stages=[{"id": 0, "parents": [], "task_durations_s": [100 * 4 / 64] * 64}])
    return client


@pytest.fixture()
def client(service):
    return team(service)


def job(deadline_s=60, **members):
    constraints = dict({"cluster": "c"}, **members.pop("constraints", {}))
    return {"application": "etl", "problem_size": 64, "deadline_s": deadline_s, "constraints": constraints, **members}


def advise(client, *args, **members):
    return client.post(PATH, job(*args, **members), status=201).json()


def look(client, *args, **members):
    """As advise, without storing it, beside those that are."""
    return client.post(PATH + "?dry_run=true", job(*args, running_from="advice", **members), status=200).json()


def ids(advice):
    return [j["advice_id"] for j in advice["beside"]["jobs"]]


def codes(findings):
    return [f["code"] for f in findings]


def large(client, deadline_s=60):
    """Advice for 8 executors, 32 of the 40 cores."""
    made = advise(client, deadline_s, objective="min_time", constraints={"max_executors": 8, "min_executors": 8})
    assert made["recommendation"]["executors"] == 8
    return made


def test_the_least_executors_that_make_nobody_late_until_the_other_one_reports_back(client):
    """A holds 32 of 40 cores for its predicted time T(8). Alone B needs n; of its 4 n tasks 8 begin now, the rest when A is over."""
    alone = client.post(PATH + "?dry_run=true", job(48, confidence=0.5), status=200).json()
    assert "beside" not in alone
    n, takes = (alone["recommendation"][k] for k in ("executors", "predicted_duration_s"))
    assert look(client, 48, confidence=0.5)["beside"] == {"jobs": [], "cut": False}
    first = large(client)
    busy = first["recommendation"]["predicted_duration_s"]
    assert takes < 48 < takes + busy - 1 * SLOWDOWN, "on n executors B would wait for A, and be late"
    found = look(client, 48, confidence=0.5)
    assert ids(found) == [first["id"]] and found["beside"]["cut"] is False
    other, = found["beside"]["jobs"]
    assert other["application"] == "etl" and other["admission_id"] is None and other["cores"] == 32 and other["met"] is True
    assert -30 * SLOWDOWN < other["release_s"] <= 0 and other["deadline_s"] == pytest.approx(60)
    assert other["predicted_duration_s"] == pytest.approx(busy, rel=1e-5) and other["execution_s"] == pytest.approx(busy, rel=1e-5)
    more = found["recommendation"]
    assert more["executors"] > n and found["verdict"] == "met"
    assert more["predicted_duration_s"] + busy < 48, "B is in time with these though most of its tasks wait for A"
    reason, = [r["evidence"] for r in found["reasons"] if r["code"] == "beside_advised_jobs"]
    assert 0 < reason["fitting"] < reason["allowed"] and reason["running"] == 1
    add_run(client, executors=8, duration_s=16.5, advice_id=first["id"])
    free = look(client, 48, confidence=0.5)
    again = client.post(PATH + "?dry_run=true", job(48, confidence=0.5), status=200).json()
    assert free["beside"] == {"jobs": [], "cut": False}
    assert free["recommendation"] == again["recommendation"], "the full answer, by a history of one more run"


def test_fewer_executors_where_more_would_make_another_late(client):
    """An urgent job comes in 1 s: where B takes all cores now, that one is late."""
    urgent = {"application": "etl", "problem_size": 64, "release_s": 1, "deadline_s": 1000}
    single = look(client, None, running=[urgent], constraints={"max_executors": 1})
    urgent["deadline_s"] = single["beside"]["jobs"][0]["execution_s"] + 1
    alone = client.post(PATH + "?dry_run=true", job(None, objective="min_time"), status=200).json()
    found = look(client, None, objective="min_time", running=[urgent])
    assert found["recommendation"]["executors"] < alone["recommendation"]["executors"] == 10
    assert found["beside"]["jobs"][0]["met"] is True and found["beside"]["jobs"][0]["advice_id"] is None
    assert found["beside"]["jobs"][0]["cores"] is None


def test_where_somebody_is_late_in_any_case(client):
    first = large(client)
    found = look(client, 25)
    assert ids(found) == [first["id"]] and found["verdict"] == "missed"
    assert found["reasons"][0]["code"] == "missed_beside_running" and "no more" in found["reasons"][0]["message"]
    assert "nobody_in_time_beside_advised" in codes(found["warnings"])
    assert found["remedies"]["min_total_cores"] > 40


def test_which_advice_counts(client):
    """Stored, for this cluster, with a recommendation, not due yet, not reported back."""
    client.put("/v1/clusters/other", CLUSTER, 201)
    client.post(PATH + "?dry_run=true", job(), status=200)
    advise(client, constraints={"cluster": "other"})
    client.post(PATH, {"application": "etl", "problem_size": 64, "deadline_s": 60}, status=201)
    advise(client, 0.05)
    time.sleep(0.1)
    without = advise(client, None, constraints={"max_executors": 2})
    single = advise(client)
    batch = client.post(PATH + "/batch", {"cluster": "c", "items": [{"application": "etl", "problem_size": 64, "deadline_s": 60}]}, status=201).json()["items"][0]
    found = look(client)
    assert ids(found) == [batch["id"], single["id"], without["id"]], "the newest first"
    assert found["beside"]["jobs"][2]["deadline_s"] == pytest.approx(2 * without["recommendation"]["predicted_duration_s"], rel=1e-5)
    stored = client.post(PATH, job(running_from="advice"), status=201).json()
    assert ids(stored) == ids(found) and client.get(PATH + "/" + stored["id"]).json() == stored
    assert ids(look(client))[0] == stored["id"]
    add_run(client, succeeded=False, advice_id=single["id"])
    assert single["id"] not in ids(look(client)), "a run that failed has reported back as well"


def test_another_team_sees_none(service, client):
    large(client)
    assert look(team(service), 55)["beside"]["jobs"] == []


def test_an_admission_that_follows_the_advice_counts_in_its_place(client):
    first = large(client)
    held = client.post("/v1/admissions", {"advice_id": first["id"], "cores": 20, "deadline_s": 100}, status=201).json()
    found = look(client)
    other, = found["beside"]["jobs"]
    assert other["advice_id"] == first["id"] and other["admission_id"] == held["id"]
    assert other["cores"] == 20 and other["deadline_s"] == pytest.approx(100)
    beside = look(client, constraints={"beside_admissions": True})
    assert beside["beside"]["jobs"] == [], "the admission bounds the advice already"
    client.request("DELETE", "/v1/admissions/" + held["id"], 204)
    assert look(client)["beside"]["jobs"] == [], "it was given back: nothing is there to wait for"


def test_what_admissions_leave_is_shared_with_those_advised(client):
    client.post("/v1/admissions", {"cluster": "c", "application": "x", "cores": 8, "deadline_s": 500}, status=201)
    first = large(client)
    found = look(client, 55, confidence=0.5, constraints={"beside_admissions": True})
    assert ids(found) == [first["id"]]
    code = "met_beside_running" if found["verdict"] == "met" else "missed_beside_running"
    assert [r["evidence"]["cores"] for r in found["reasons"] if r["code"] == code] == [32]


def test_the_number_of_jobs_is_bounded_and_the_newest_count(make_service):
    service = make_service(PROVISOR_ADVISED_JOBS_MAX=2)
    client = team(service.start())
    made = [advise(client) for _ in range(3)]
    found = look(client)
    assert ids(found) == [made[2]["id"], made[1]["id"]] and found["beside"]["cut"] is True
    warning, = [w for w in found["warnings"] if w["code"] == "advised_jobs_cut"]
    assert warning["evidence"] == {"advised_jobs_max": 2}
    add_run(client, advice_id=made[0]["id"])
    assert look(client)["beside"]["cut"] is False


def test_nothing_is_advised(client):
    first = large(client)
    add_run(client, "lone", executors=2, problem_size=1, duration_s=10)
    found = client.post(PATH + "?dry_run=true", dict(job(running_from="advice"), application="lone", problem_size=1000), status=200).json()
    assert found["verdict"] == "unknown" and ids(found) == [first["id"]]
    assert found["beside"]["jobs"][0]["met"] is None and found["beside"]["jobs"][0]["execution_s"] is None


# --- memory ---

GIB = 1 << 30


def test_the_new_job_waits_for_the_memory_of_those_that_run(service):
    """16 GiB in all, 2 of each executor: a running job holds 14 of them for its 16.5 s and more, B needs at least 2 executors."""
    client = team(service, executors=8, memory_bytes_per_executor=2 * GIB)
    running = [{"application": "etl", "problem_size": 64, "release_s": -1, "deadline_s": 100, "memory_bytes": 14 * GIB}]
    body = job(300, running=running, constraints={"min_executors": 2})
    plain = client.post(PATH + "?dry_run=true", dict(body, running=[{k: v for k, v in running[0].items() if k != "memory_bytes"}]), status=200).json()
    assert "beside" not in plain and "waited_for_memory" not in codes(plain["reasons"])
    for order in ("first_come", "earliest_deadline"):
        found = client.post(PATH + "?dry_run=true", dict(body, launch_order=order), status=200).json()
        beside = found["beside"]
        n = found["recommendation"]["executors"]
        assert n >= 2 and beside["memory_bytes"] == n * 2 * GIB
        other, = beside["jobs"]
        assert other["launched_s"] == -1 and other["memory_bytes"] == 14 * GIB
        waits = n > 1
        assert beside["launched_s"] == (pytest.approx(other["execution_s"] - 1, rel=1e-6) if waits else 0)
        assert beside["memory"] == {"memory_bytes": 16 * GIB, "launch_order": order, "fits_at_once": 1, "waited": 1}
        assert "waited_for_memory" in codes(found["reasons"])
    assert client.post(PATH + "?dry_run=true", body, status=200).json()["beside"]["memory"]["launch_order"] == "first_come"


def test_memory_beside_advised_jobs(service):
    client = team(service, memory_bytes_per_executor=2 * GIB)
    first = large(client)
    found = look(client, 300, launch_order="first_come", constraints={"min_executors": 3})
    other, = found["beside"]["jobs"]
    assert other["advice_id"] == first["id"] and other["memory_bytes"] == 16 * GIB
    assert found["beside"]["memory"]["waited"] == 1 and found["beside"]["launched_s"] > 0
    held = client.post("/v1/admissions", {"advice_id": first["id"], "memory_bytes": 15 * GIB}, status=201).json()
    other, = look(client, 300, launch_order="first_come")["beside"]["jobs"]
    assert other["admission_id"] == held["id"] and other["memory_bytes"] == 15 * GIB


RUNNING = [{"application": "etl", "deadline_s": 50, "memory_bytes": 1}]


@pytest.mark.parametrize("pointer, members", [
    ("/constraints/cluster", {"running_from": "advice", "constraints": {"max_executors": 3}}),
    ("/constraints/cluster", {"running_from": "advice"}),
    ("/running_from", {"running_from": "everybody", "constraints": {"cluster": "c"}}),
    ("/constraints/cluster", {"running_from": "advice", "constraints": {"cluster": "bare"}}),
    ("/launch_order", {"launch_order": "first_come", "constraints": {"cluster": "c"}}),
    ("/launch_order", {"launch_order": "last", "running": RUNNING, "constraints": {"cluster": "c"}}),
    ("/constraints/cluster", {"running": RUNNING, "constraints": {"max_executors": 3}}),
    ("/constraints/cluster", {"running": RUNNING, "constraints": {"cluster": "sized"}}),
    ("/running/0/memory_bytes", {"running": [dict(RUNNING[0], memory_bytes=0)], "constraints": {"cluster": "c"}}),
    ("/running/0/memory_bytes", {"running": [dict(RUNNING[0], memory_bytes=1 << 59)], "constraints": {"cluster": "c"}}),
    ("/constraints/cluster", {"running": RUNNING, "constraints": {"cluster": "c", "enforced": {"spark.executor.memory": "900g"}}}),
])
def test_faults(client, pointer, members):
    client.put("/v1/clusters/bare", {"slots": 3}, 201)
    client.put("/v1/clusters/sized", {"executors": 3, "cores_per_executor": 4}, 201)
    client.refuse("POST", PATH, 422, pointer=pointer, json=dict({"application": "etl", "problem_size": 64, "deadline_s": 60}, **members))


@pytest.mark.parametrize("member, value", [("running_from", "advice"), ("launch_order", "first_come")])
def test_batches_have_neither(client, member, value):
    client.refuse("POST", PATH + "/batch", 422, pointer="/items/0/" + member, json={"cluster": "c", "items": [{"application": "etl", member: value}]})
