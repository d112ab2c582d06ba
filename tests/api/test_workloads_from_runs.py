"""Workloads of stored runs: arrivals, tasks one by one, from sketches and from means, maps and reduces, what is left out."""
import uuid

import pytest

from test_jobhistory import job_history
from test_maintenance import add_run, maintain
from test_workloads import WORKLOADS, listed, refuse as refuse_trace, send

RUN = {"problem_size": 8, "executors": 2, "cores_per_executor": 2, "duration_s": 60}


def runs_of(name):
    return "/v1/applications/%s/runs" % name


def record(client, name, at, *stages, **more):
    """A run that was submitted so many seconds after ten o'clock."""
    return client.post(runs_of(name), {**RUN, "started_at": "2026-01-05T10:%02d:%02dZ" % divmod(at, 60),
                                       "stages": [{"id": i, **stage} for i, stage in enumerate(stages)], **more}, 201).json()


def build(client, *applications, status=201, **more):
    return client.post(WORKLOADS, {"from": "runs", "applications": list(applications), **more}, status).json()


def refuse(client, body, pointer):
    before = listed(client)
    problem = client.refuse("POST", WORKLOADS, 422, pointer=pointer, json=body)
    assert listed(client) == before
    return problem


@pytest.fixture
def lonely(service):
    return service.client(service.token("runs-" + uuid.uuid4().hex[:8]))


def test_runs_become_jobs_in_the_order_in_which_they_were_submitted(lonely):
    record(lonely, "b", 30, {"task_durations_s": [1, 2, 3]})
    record(lonely, "a", 0, {"task_durations_s": [4, 5]}, {"tasks": 10, "task_duration_s": 0.5})
    record(lonely, "a", 90, {"task_durations_s": [7]})
    record(lonely, "c", 60, {"task_durations_s": [100]})  # is not asked for
    made = build(lonely, "a", "b", name="both")
    assert (made["name"], made["format"], made["jobs"], made["tasks"], made["reduce_tasks"]) == ("both", "runs", 3, 16, 0)
    summary = made["summary"]
    assert (summary["first_arrival_s"], summary["last_arrival_s"], summary["arrivals_sorted"]) == (0, 90, True)
    assert summary["work_s"] == pytest.approx(4 + 5 + 5 + 6 + 7)
    assert summary["job_size_s"]["max"] == pytest.approx(14)
    assert summary["durations_from"] == {"recorded": 6, "from_sketches": 0, "from_means": 10}
    assert summary["warnings"] == [] and summary["rates"] is None
    assert lonely.get(WORKLOADS + "/" + made["id"]).json() == made
    assert build(lonely, "c")["summary"]["work_s"] == 100


def test_a_window_bounds_which_runs(lonely):
    for at in (0, 60, 120):
        record(lonely, "a", at, {"task_durations_s": [at + 1]})
    made = build(lonely, "a", since="2026-01-05T10:01:00Z", until="2026-01-05T10:02:00Z")
    assert (made["jobs"], made["summary"]["work_s"], made["summary"]["first_arrival_s"]) == (1, 61, 0)
    assert build(lonely, "a", since="2026-01-05T10:01:00Z", until=None)["jobs"] == 2
    refuse(lonely, {"from": "runs", "applications": ["a"], "since": "2026-01-05T10:02:00Z", "until": "2026-01-05T10:02:00Z"}, "/until")
    refuse(lonely, {"from": "runs", "applications": ["a"], "since": "2027-01-05T10:02:00Z"}, "/applications")


def test_runs_of_many_pages_are_all_there(lonely):
    for i in range(410):
        record(lonely, "ab"[i % 2], i, {"task_durations_s": [1 + i]})
    made = build(lonely, "a", "b")
    assert (made["jobs"], made["tasks"]) == (410, 410)
    assert made["summary"]["work_s"] == pytest.approx(sum(1 + i for i in range(410)))
    assert (made["summary"]["last_arrival_s"], made["summary"]["arrivals_sorted"]) == (409, True)


def test_runs_of_one_instant_are_all_there(lonely):
    for i in range(450):
        record(lonely, "a", 7, {"task_durations_s": [1 + i]})
    assert build(lonely, "a")["summary"]["work_s"] == pytest.approx(sum(1 + i for i in range(450)))


def test_what_cannot_become_a_job_is_left_out_and_counted(lonely):
    record(lonely, "a", 0, {"task_durations_s": [3]})
    record(lonely, "a", 1, {"task_durations_s": [3]}, succeeded=False)
    record(lonely, "a", 2, {"task_durations_s": [3]}, {"input_records": 5})
    lonely.post(runs_of("a"), RUN, 201)
    made = build(lonely, "a")
    assert made["jobs"] == 1
    (warning,) = made["summary"]["warnings"]
    assert warning["code"] == "runs_left_out" and warning["evidence"] == {"count": 3, "failed": 1, "without_task_times": 2}
    lonely.post(runs_of("b"), RUN, 201)
    problem = refuse(lonely, {"from": "runs", "applications": ["b"]}, "/applications")
    assert 'no run of "b" succeeded' in problem["errors"][0]["detail"]


def test_a_run_whose_submission_is_unknown_arrives_when_it_was_recorded(lonely):
    lonely.post(runs_of("a"), {**RUN, "stages": [{"id": 0, "task_durations_s": [0, 2]}]}, 201)
    made = build(lonely, "a")
    assert [(w["code"], w["evidence"]["count"]) for w in made["summary"]["warnings"]] == [("arrivals_as_recorded", 1), ("tasks_without_duration", 1)]
    assert made["summary"]["work_s"] == pytest.approx(2.001)


def test_a_job_of_mapreduce_has_maps_and_reduces(lonely):
    lonely.request("POST", "/v1/applications/mr/eventlogs", 201, data=job_history())
    run = lonely.get(runs_of("mr") + "?include=tasks").json()["items"][0]
    maps, reduces = (stage["task_durations_s"] for stage in run["stages"])
    made = build(lonely, "mr")
    assert (made["tasks"], made["reduce_tasks"]) == (len(maps) + len(reduces), len(reduces))
    assert made["summary"]["each_reduce_s"]["mean"] == pytest.approx(sum(reduces) / len(reduces))


def test_tasks_of_old_runs_come_from_their_sketches(make_service):
    service = make_service()
    client = service.client(service.token("old"))
    service.start()
    durations = [1 + i / 7 for i in range(400)]
    for days, tasks in ((400, durations), (1, durations[:10])):
        add_run(client, "a", days, stages=[{"id": 0, "task_durations_s": tasks}])
    assert maintain(service, task_summary_after_days=90)["runs_thinned"] == 1
    made = build(client, "a")
    assert made["summary"]["durations_from"] == {"recorded": 10, "from_sketches": 400, "from_means": 0}
    assert made["summary"]["work_s"] == pytest.approx(sum(durations) + sum(durations[:10]), rel=1e-6)


def test_faults_of_the_body(lonely):
    record(lonely, "nightly-etl", 0, {"task_durations_s": [3]})
    good = {"from": "runs", "applications": ["nightly-etl"]}
    refuse(lonely, {**good, "from": "traces"}, "/from")
    refuse(lonely, {"applications": ["nightly-etl"]}, "/from")
    refuse(lonely, {"from": "runs"}, "/applications")
    refuse(lonely, {**good, "applications": []}, "/applications")
    refuse(lonely, {**good, "applications": ["nightly-etl", "nightly-etl"]}, "/applications/1")
    refuse(lonely, {**good, "applications": ["nightly-etl", ""]}, "/applications/1")
    refuse(lonely, {**good, "name": ""}, "/name")
    refuse(lonely, {**good, "format": "pigeon"}, "/format")
    problem = lonely.refuse("POST", WORKLOADS, 422, pointer="/applications/1", json={**good, "applications": ["x", "nightly-elt"]})
    assert [(e["pointer"], e["code"]) for e in problem["errors"]] == [("/applications/0", "unknown_application"), ("/applications/1", "unknown_application")]
    assert "nightly-etl" in problem["errors"][1]["detail"]
    lonely.refuse("POST", WORKLOADS + "?format=pigeon", 422, parameter="format", json=good)
    lonely.request("POST", WORKLOADS, 400, data="{", headers={"Content-Type": "application/json"})
    lonely.request("POST", WORKLOADS, 400, data="", headers={"Content-Type": "application/json; charset=utf-8"})


def test_a_repetition_with_a_key_builds_nothing_again(lonely):
    record(lonely, "a", 0, {"task_durations_s": [3]})
    key = {"Idempotency-Key": '"%s"' % uuid.uuid4()}
    body = {"from": "runs", "applications": ["a"]}
    first = lonely.post(WORKLOADS, body, 201, headers=key)
    record(lonely, "a", 5, {"task_durations_s": [3]})
    assert lonely.post(WORKLOADS, body, 201, headers=key).content == first.content
    lonely.refuse("POST", WORKLOADS, 422, header="Idempotency-Key", json={**body, "name": "x"}, headers=key)
    assert len(listed(lonely)) == 1


def test_another_teams_applications_are_unknown(lonely, stranger):
    record(lonely, "a-" + lonely.token[:12], 0, {"task_durations_s": [3]})
    stranger.refuse("POST", WORKLOADS, 422, pointer="/applications/0", json={"from": "runs", "applications": ["a-" + lonely.token[:12]]})


def test_bounds_hold_for_runs_too(make_service):
    service = make_service(PROVISOR_WORKLOAD_TASKS_MAX=5, PROVISOR_WORKLOADS_MAX=1, PROVISOR_BODY_BYTES_MAX=4096)
    client = service.client(service.token("bounds"))
    service.start()
    record(client, "a", 0, {"task_durations_s": [3, 4, 5]})
    body = {"from": "runs", "applications": ["a"]}
    client.request("POST", WORKLOADS, 413, json={**body, "more": "x" * 5000})
    build(client, "a")
    assert "workloads_max" in build(client, "a", status=422)["detail"]
    client.delete(WORKLOADS + "/" + listed(client)[0])
    record(client, "a", 5, {"task_durations_s": [3, 4, 5]})
    assert "5 tasks" in build(client, "a", status=422)["detail"]
    assert listed(client) == []
    assert refuse_trace(client, "0 6 1 1 1 1 1 1 1\n")["type"].endswith("/limit_exceeded") and send(client, "0 1 1 1\n")
