"""Records that are rare, absurd or contradict each other: an answer that is true, or a refusal that names the field."""
import json

import pytest

from test_eventlogs import tiny_log
from test_latest_run import ask, found, record

STAGES = [{"id": 0, "task_durations_s": [5.0] * 16, "duration_s": 10, "started_s": 5},
          {"id": 1, "parents": [0], "task_durations_s": [8.0] * 24, "duration_s": 24, "started_s": 16}]


def run_that_took(seconds, **more):
    return dict({"problem_size": 10, "executors": 4, "cores_per_executor": 2, "duration_s": seconds, "stages": STAGES}, **more)


@pytest.mark.parametrize("durations, kept", [([60, 60, 60, 90] * 6, 18), ([90] * 2 + [60] * 5, 5), ([60] * 6 + [90] + [60] * 7 + [90] + [60] * 3, 16)])
def test_runs_that_are_far_off_count_in_what_may_be_promised(client, name, durations, kept):
    record(client, name, [run_that_took(s) for s in durations])
    advice = ask(client, name, 80, constraints={"min_executors": 4, "max_executors": 4})
    counted = (kept + 0.5) / (len(durations) + 1)
    assert advice["verdict"] == "at_risk" and advice["recommendation"]["deadline_probability"] <= counted + 1e-6, advice["recommendation"]
    assert found(advice, "late_runs", "reasons")["evidence"]["probability_at_most"] == pytest.approx(counted)


def test_a_model_says_nothing_of_cached_data(client, name):
    record(client, name, [{"problem_size": size, "executors": m, "cores_per_executor": 2, "duration_s": 20 + 30 * size / m}
                          for m in (2, 4, 8) for size in (10, 20, 40)])
    advice = ask(client, name, 150, problem_size=30)
    assert advice["verdict"] == "met", advice
    assert not found(advice, "cached_data_exceeds_memory")


@pytest.mark.parametrize("fixed_s", [48, 97.482, 133.857, 166])
def test_the_recorded_duration_is_a_deadline_that_is_met_but_for_its_scatter(client, name, fixed_s):
    stages = [dict(s, task_durations_s=[t * fixed_s / 60 / 1.7 for t in s["task_durations_s"]], duration_s=s["duration_s"] * fixed_s / 60) for s in STAGES]
    stages[1]["started_s"] = stages[0]["started_s"] + stages[0]["duration_s"] + 1
    record(client, name, [run_that_took(fixed_s, stages=stages)])
    advice = ask(client, name, fixed_s, constraints={"min_executors": 4, "max_executors": 4})
    assert advice["recommendation"]["predicted_duration_s"] == pytest.approx(fixed_s, rel=1e-9) and advice["verdict"] == "at_risk", advice


def test_remedies_after_a_slowdown_hold_when_asked_again(client, name):
    record(client, name, [run_that_took(s) for s in (60, 61, 59, 60, 60, 100)])
    for deadline in (20, 35, 50, 60, 62, 80):
        remedy = ask(client, name, deadline).get("remedies") or {}
        if remedy.get("deadline_s"):
            assert ask(client, name, remedy["deadline_s"])["verdict"] == "met", (deadline, remedy)
        if remedy.get("max_executors"):
            assert ask(client, name, deadline, constraints={"max_executors": remedy["max_executors"]})["verdict"] == "met", (deadline, remedy)


@pytest.mark.parametrize("member", ["executors", "cores_per_executor", "cores_per_task", "resource_per_executor", "executor_memory_bytes"])
def test_counts_of_profiles_have_limits(client, name, member):
    line = json.dumps(run_that_took(60, resource_profiles=[{"id": 0, "executors": 4, member: 1 << 62}]))
    client.post("/v1/applications", {"name": name}, 201)
    reply = client.post("/v1/applications/%s/runs/import" % name, None, 422, data=line, headers={"Content-Type": "application/x-ndjson"})
    assert "/resource_profiles/0/" + member in reply.text


def test_cores_that_no_machine_has_are_unknown(client, name):
    log = tiny_log(app="odd").replace(b'"Total Cores":', b'"Total Cores":461168601842738790')
    assert b"461168601842738790" in log
    run = client.post("/v1/applications/%s/eventlogs" % name, None, 201, data=log, headers={"Content-Type": "application/octet-stream"}).json()
    assert run["cores_per_executor"] is None
    ask(client, name, 60)
    client.get("/v1/applications/%s/diagnosis" % name)


def feasibility(name, deadline_s, **more):
    job = dict({"name": "J", "application": name, "deadline_s": deadline_s}, **more)
    return {"cluster": {"executors": 4, "cores_per_executor": 2}, "jobs": [job]}


@pytest.mark.parametrize("fixed_s", [48, 97.482, 133.857, 166])
def test_feasible_by_the_recorded_duration(client, name, fixed_s):
    record(client, name, [run_that_took(fixed_s)])
    reply = client.post("/v1/feasibility", feasibility(name, fixed_s), 200).json()
    assert reply["feasible"] is True and reply["jobs"][0]["execution_s"] == pytest.approx(fixed_s, rel=1e-9), reply


def import_one(client, name, run):
    client.post("/v1/applications", {"name": name}, 201)
    return client.post("/v1/applications/%s/runs/import" % name, None, 201, data=json.dumps(run), headers={"Content-Type": "application/x-ndjson"})


def ask_everything(client, name):
    """Nothing fails for an application whose records are odd; the client looks at what the replies say."""
    for deadline in (10, 1000):
        ask(client, name, deadline, include=["memory", "spark", "autoscaling", "stages"])
    for what in ("diagnosis", "stragglers"):
        client.get("/v1/applications/%s/%s" % (name, what), {200, 422})
    for overhead in ("replay", "idle_time"):
        reply = client.post("/v1/feasibility", feasibility(name, 100, overhead=overhead), {200, 422})
        assert "/cluster" not in reply.text and "unknown_field" not in reply.text


@pytest.mark.parametrize("per_task", [2, 1e9])
def test_tasks_that_no_executor_can_hold(client, name, per_task):
    import_one(client, name, run_that_took(60, resource_profiles=[
        {"id": 0, "executors": 4, "cores_per_executor": 2, "resource": "gpu", "resource_per_executor": 1, "resource_per_task": per_task}]))
    assert ask(client, name, 100)["verdict"] == "unknown"
    ask_everything(client, name)


def test_a_barrier_on_very_many_cores(client, name):
    client.post("/v1/applications/%s/runs" % name, {
        "problem_size": 10, "executors": 1, "cores_per_executor": 2, "duration_s": 50,
        "executor_lifetimes": [{"added_s": 1, "removed_s": 2}, {"added_s": 3}, {"added_s": 0, "removed_s": 5}],
        "stages": [{"id": 0, "task_durations_s": [0.001] * 16, "duration_s": 1e9, "started_s": 1e-300, "barrier": True}]}, 201)
    client.post("/v1/applications/%s/runs" % name, {
        "problem_size": 1e12, "executors": 8, "cores_per_executor": 10000000, "duration_s": 200,
        "stages": [{"id": 0, "task_durations_s": [0.0009] * 16}]}, 201)
    ask(client, name, 10000, problem_size=10)
    ask_everything(client, name)


def test_memory_beyond_all_machines(client, name):
    import_one(client, name, run_that_took(200, memory_limit_kills=1, resource_profiles=[{"id": 0, "executor_memory_bytes": 10 ** 18}]))
    ask_everything(client, name)


def test_more_time_than_there_was(client, name):
    import_one(client, name, {"duration_s": 1e-300, "stages": [
        {"id": 0, "duration_s": 1000, "disk_spilled_bytes": 1 << 40}, {"id": 1, "duration_s": 3, "executor_run_time_s": 1e-300, "gc_time_s": 1e19}]})
    ask_everything(client, name)
