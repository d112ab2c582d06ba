"""POST /v1/stage-plans: stages in the request and from history, pins, faults, limits."""
import pytest

CLUSTER = {"executors": 4, "cores_per_executor": 16}


def plan(client, status=200, **body):
    return client.post("/v1/stage-plans", dict(CLUSTER, **body), status).json()


def refuse(client, pointer, **body):
    return client.refuse("POST", "/v1/stage-plans", 422, pointer=pointer, json=dict(CLUSTER, **body))


def store_run(client, name, **changes):
    """100 and 20 s of task time around a skipped stage."""
    run = {"problem_size": 16, "executors": 2, "cores_per_executor": 4, "duration_s": 26, "succeeded": True,
           "stages": [{"id": 0, "parents": [], "tasks": 10, "task_duration_s": 10, "duration_s": 13, "input_records": 5000},
                      {"id": 1, "parents": [0], "skipped": True},
                      {"id": 2, "parents": [1], "task_durations_s": [5, 6, 9], "duration_s": 9}]}
    run.update(changes)
    return client.post("/v1/applications/%s/runs" % name, run, 201).json()


def test_a_chain_with_a_skipped_stage(client):
    """Weights by hand: 0.33 x 2 + 0.67 x 120/100 = 1.464; 57/1.464 = 38.93 s, 100/38.93 = 2.6 cores."""
    answer = plan(client, deadline_s=60, stages=[
        {"id": 0, "parents": [], "duration_s": 100}, {"id": 1, "parents": [0], "skipped": True},
        {"id": 2, "parents": [0], "duration_s": 20, "skipped": False}])
    assert answer["feasible"] and set(answer) == {"feasible", "stages", "reasons"}
    assert answer["stages"][0] == {
        "id": 0, "weight": pytest.approx(1.464), "start_s": 0, "deadline_s": pytest.approx(38.9344262295),
        "estimated_cores": 3, "max_allocable_cores": 6, "initial_cores_per_executor": 0.75}
    last = answer["stages"][1]
    assert (last["id"], last["weight"], last["estimated_cores"]) == (2, 1, 2)
    assert last["start_s"] + last["deadline_s"] == pytest.approx(57)


def test_a_deadline_that_is_too_tight(client):
    answer = plan(client, deadline_s=1, stages=[{"id": 0, "duration_s": 100}])
    assert not answer["feasible"]
    assert answer["stages"][0]["estimated_cores"] == 106
    assert answer["stages"][0]["max_allocable_cores"] == 64


def test_stages_from_history_are_those_of_the_nearest_run(client, name):
    small = store_run(client, name)
    large = store_run(client, name, problem_size=100, stages=[
        {"id": 0, "parents": [], "tasks": 100, "task_duration_s": 10},
        {"id": 1, "parents": [0], "skipped": True}, {"id": 2, "parents": [1], "task_durations_s": [50, 60, 90]}])
    latest = plan(client, deadline_s=60, application=name)
    assert latest["run_id"] == large["id"], "the latest one, when no size is given"
    answer = plan(client, deadline_s=60, application=name, problem_size=20)
    assert (answer["run_id"], answer["application"], answer["graph_changed"]) == (small["id"], name, False)
    inline = plan(client, deadline_s=60, stages=[
        {"id": 0, "duration_s": 100, "input_records": 5000, "nominal_rate_per_s": 50}, {"id": 2, "duration_s": 20}])
    assert answer["stages"] == inline["stages"], "task time, not wall clock"


def test_stages_in_every_form_that_a_run_has_them(client):
    """The same plan for task times added up, one by one, and by number and mean."""
    def stages(**form):
        return [dict({"id": 0, "input_records": 5000}, **form), {"id": 1, "parents": [0], "duration_s": 20}]
    wanted = plan(client, deadline_s=60, stages=stages(duration_s=100, nominal_rate_per_s=50))
    for form in ({"task_time_s": 100, "nominal_rate_per_s": 50}, {"task_durations_s": [40, 60]},
                 {"tasks": 4, "task_duration_s": 25}):
        assert plan(client, deadline_s=60, stages=stages(**form)) == wanted
    refuse(client, "/stages/0/duration_s", deadline_s=60, stages=stages(duration_s=100, tasks=4, task_duration_s=25))


def test_a_changed_graph_is_told(client, name):
    store_run(client, name)
    store_run(client, name, problem_size=100, stages=[{"id": 0, "parents": [], "tasks": 1, "task_duration_s": 10}])
    assert plan(client, deadline_s=60, application=name)["graph_changed"] is True
    assert plan(client, deadline_s=60, application=name, problem_size=16)["graph_changed"] is True


def test_an_application_without_a_usable_run(client, stranger, name):
    assert refuse(client, "/application", deadline_s=60, application=name)["errors"][0]["code"] == "unknown_application"
    store_run(client, name, succeeded=False)
    assert refuse(client, "/application", deadline_s=60, application=name)["errors"][0]["code"] == "no_history"
    store_run(client, name)
    plan(client, deadline_s=60, application=name)
    refuse(stranger, "/application", deadline_s=60, application=name)


def test_task_times_that_are_not_known(client, name):
    store_run(client, name, stages=[{"id": 3, "parents": [], "duration_s": 12}])
    problem = refuse(client, "/application", deadline_s=60, application=name)
    assert problem["errors"][0]["code"] == "no_history"


def test_pinned_stages(client, name):
    stages = [{"id": 0, "duration_s": 100}, {"id": 1, "duration_s": 60}]
    answer = plan(client, deadline_s=60, stages=stages, pinned=[{"id": 0, "deadline_s": 50}, {"id": 1, "cores": 9}])
    assert [(s["start_s"], s["deadline_s"], s["estimated_cores"]) for s in answer["stages"]] == [(0, 50, 2), (50, 7, 9)]
    assert answer["feasible"]
    answer = plan(client, deadline_s=60, stages=stages, pinned=[{"id": 0, "deadline_s": 58}])
    assert not answer["feasible"]
    assert (answer["stages"][1]["deadline_s"], answer["stages"][1]["estimated_cores"]) == (0, None)
    store_run(client, name)
    answer = plan(client, deadline_s=60, application=name, pinned=[{"id": 2, "cores": 8}])
    assert answer["stages"][1]["estimated_cores"] == 8
    refuse(client, "/pinned/1/id", deadline_s=60, application=name, pinned=[{"id": 2, "cores": 8}, {"id": 1, "cores": 8}])


def test_faults_come_with_pointers_and_all_at_once(client):
    problem = refuse(client, None, deadline_s=0, alpha=2, seed=1, stages=[{"id": 3, "duration_s": 1, "parents": [4]}],
                     pinned=[{"id": 9}])
    assert {e["pointer"] for e in problem["errors"]} == {
        "/deadline_s", "/alpha", "/seed", "/stages/0/parents/0", "/pinned/0"}
    refuse(client, "/stages/1/id", deadline_s=9, stages=[{"id": 3, "duration_s": 1}, {"id": 3, "duration_s": 2}])
    client.refuse("POST", "/v1/stage-plans?deep=1", 422, parameter="deep", json={})
    client.refuse("POST", "/v1/stage-plans", 400, data="{\"alpha\": NaN}", headers={"Content-Type": "application/json"})


def test_limits_have_their_own_faults(make_service):
    service = make_service(PROVISOR_STAGES_MAX=2, PROVISOR_CORES_MAX=64)
    token = service.token("limits")
    service.start()
    client = service.client(token)
    stages = [{"id": i, "duration_s": 1} for i in range(3)]
    refuse(client, "/stages", deadline_s=9, stages=stages)
    plan(client, deadline_s=9, stages=stages[:2])
    client.refuse("POST", "/v1/stage-plans", 422, pointer="/executors",
                  json={"deadline_s": 9, "executors": 5, "cores_per_executor": 13, "stages": stages[:2]})
    refuse(client, "/pinned", deadline_s=9, stages=stages[:2], pinned=[{"id": i, "cores": 1} for i in range(3)])


def test_the_reasons_say_what_fits_and_what_does_not(client):
    body = {"deadline_s": 100, "executors": 1, "cores_per_executor": 4, "stages": [{"id": 0, "duration_s": 80}, {"id": 1, "duration_s": 40}]}
    fits = client.post("/v1/stage-plans", body, 200).json()
    assert [r["code"] for r in fits["reasons"]] == ["stages_fit"] and fits["feasible"]
    most = max(fits["stages"], key=lambda s: s["estimated_cores"])
    assert fits["reasons"][0]["evidence"]["estimated_cores"] == most["estimated_cores"]
    short = client.post("/v1/stage-plans", dict(body, deadline_s=10), 200).json()
    assert [r["code"] for r in short["reasons"]] == ["too_few_cores"]
    late = client.post("/v1/stage-plans", dict(body, pinned=[{"id": 0, "deadline_s": 150}]), 200).json()
    assert "deadline_exceeded" in [r["code"] for r in late["reasons"]] and not late["feasible"]
