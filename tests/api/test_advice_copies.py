"""The copy plan of advice that names several clusters: the first stage's tasks, what they are called and where their input lies, and
what advice says when it can have none."""
import uuid

import pytest

GATES = {"ingress_bytes_per_s": 1e9, "egress_bytes_per_s": 1e9}
STAGES = [{"id": 3, "name": "scan", "task_durations_s": [2.0] * 8, "input_bytes": 8 * 10**8},
          {"id": 4, "name": "join", "parents": [3], "task_durations_s": [1.0] * 4, "input_bytes": 7}]


def run(stages=STAGES, **more):
    return dict({"problem_size": 8, "executors": 2, "cores_per_executor": 2, "duration_s": 7, "initialization_s": 1, "stages": stages}, **more)


@pytest.fixture(scope="module")
def team(service):
    """Clusters p, q and r of 20 slots each; the speeds are those of the application, but for stages named `scan` in r alone."""
    client = service.client(service.token("advice-plans-" + uuid.uuid4().hex[:8]))
    for name in "pqr":
        client.put("/v1/clusters/" + name, dict(GATES, slots=20, unreachable_probability=0.01), 201)
    client.put("/v1/clusters/slotless", GATES, 201)
    for name, speed in (("p", 1e7), ("q", 5e6)):
        client.post("/v1/clusters/%s/samples" % name, {
            "processing": [{"operation": "etl", "bytes_per_s": speed}],
            "transfers": [{"from": f, "bytes_per_s": 1e8} for f in "pqr" if f != name]}, 204)
    client.post("/v1/clusters/r/samples", {"processing": [{"operation": "scan", "bytes_per_s": 2e7}], "transfers": [{"from": "p", "bytes_per_s": 1e8}]}, 204)
    client.post("/v1/applications", {"name": "etl"}, 201)
    client.post("/v1/applications/etl/runs", run(), 201)
    return client


def ask(client, clusters, dry=True, inputs=None, **more):
    plan = {"clusters": clusters, "inputs": inputs} if inputs else {"clusters": clusters}
    body = dict({"application": "etl", "problem_size": 8, "deadline_s": 60, "constraints": {"max_executors": 4}, "copy_plan": plan}, **more)
    return client.post("/v1/advice" + ("?dry_run=true" if dry else ""), body, 200 if dry else 201).json()


def warning(advice, code):
    return next((w for w in advice["warnings"] if w["code"] == code), None)


def test_the_first_stage_is_planned(team):
    """Eight tasks of 1e8 bytes, as recorded; the join waits for them. p holds the input and is the fastest: ten seconds a task."""
    plan = ask(team, ["p", "q"], inputs=["p"])["copy_plan"]
    assert {t["task"] for t in plan["tasks"]} == {"3.%d" % i for i in range(8)} and plan["waiting"] == []
    assert {t["job"] for t in plan["tasks"]} == {"etl"}
    first = [c for c in plan["copies"] if c["round"] == 1]
    assert [(c["cluster"], c["rate_bytes_per_s"], c["expected_duration_s"]) for c in first] == [("p", pytest.approx(1e7), pytest.approx(10))] * 8
    assert plan["epsilon"] == 0.8 and plan["epsilon_choice"] is None
    assert {s["operation"] for s in plan["sources"]["processing"]} == {"etl"}


def test_twice_the_size_is_twice_the_tasks(team):
    plan = ask(team, ["p", "q"], inputs=["p"], problem_size=16)["copy_plan"]
    assert len(plan["tasks"]) == 16
    assert all(c["expected_duration_s"] == pytest.approx(10) for c in plan["copies"] if c["round"] == 1)


def test_inputs_lie_where_they_are_told(team):
    """In turns in both; where nothing is told in all clusters, and that is said."""
    advice = ask(team, ["p", "q"], inputs=["q", "p"])
    assert warning(advice, "inputs_assumed") is None
    # p is faster even from afar (the link carries 1e8): everything begins there, and half of it comes in through its gate.
    used = {u["cluster"]: u for u in advice["copy_plan"]["utilization"]}
    assert used["p"]["ingress_bytes_per_s"] == pytest.approx(4e7) and used["q"]["egress_bytes_per_s"] == pytest.approx(4e7)
    advice = ask(team, ["p", "q"])
    assert warning(advice, "inputs_assumed")["evidence"] == {"clusters": 2} and advice["copy_plan"] is not None


def test_a_stage_whose_speeds_are_known_by_its_name(team):
    plan = ask(team, ["p", "r"], inputs=["r"])["copy_plan"]
    assert {s["operation"] for s in plan["sources"]["processing"]} == {"scan"}
    assert all(c["expected_duration_s"] == pytest.approx(5) for c in plan["copies"] if c["round"] == 1)


def test_speeds_of_other_clusters_do_not_stand_in_for_ones_own(team):
    """`scan` is known from r alone; p and q know the application themselves."""
    plan = ask(team, ["p", "q"], inputs=["q"])["copy_plan"]
    assert {(s["operation"], s["source"]) for s in plan["sources"]["processing"]} == {("etl", "cluster")}


def test_a_profile_has_a_plan_too(team):
    body = {"profile": run([dict(STAGES[0], name="scan")]), "problem_size": 8, "deadline_s": 60,
            "constraints": {"max_executors": 4}, "copy_plan": {"clusters": ["p", "r"], "inputs": ["p"]}, "include": ["copy_plan"]}
    advice = team.post("/v1/advice?dry_run=true", body, 200).json()
    assert len(advice["copy_plan"]["tasks"]) == 8 and "alternatives" not in advice


def test_it_is_stored_with_the_advice(team):
    advice = ask(team, ["p", "q"], dry=False, inputs=["p"])
    kept = team.get("/v1/advice/" + advice["id"], 200).json()
    assert kept["copy_plan"] == advice["copy_plan"]


def test_without_clusters_there_is_none(team):
    body = {"application": "etl", "problem_size": 8, "deadline_s": 60}
    assert "copy_plan" not in team.post("/v1/advice?dry_run=true", body, 200).json()
    team.refuse("POST", "/v1/advice", 422, pointer="/copy_plan", json=dict(body, include=["copy_plan"]))
    assert "copy_plan" not in ask(team, ["p", "q"], include=["stages"])


def none_because(advice):
    assert advice["copy_plan"] is None and advice["recommendation"]["executors"] >= 1
    return warning(advice, "no_copy_plan")


def test_a_cluster_that_lacks_slots(team):
    why = none_because(ask(team, ["p", "slotless"]))
    assert "slots" in why["message"] and why["evidence"] == {"cluster": "slotless"}


@pytest.mark.parametrize("stages, words", [
    ([dict(STAGES[0], input_bytes=None)], "input_bytes"), ([dict(STAGES[0], input_bytes=0)], "reads from storage"),
    ([dict(STAGES[0], name="nobody-reported-this")], "named like the stage")])
def test_histories_that_tell_too_little(team, stages, words):
    name = "app-" + uuid.uuid4().hex[:8]
    team.post("/v1/applications", {"name": name}, 201)
    team.post("/v1/applications/%s/runs" % name, run(stages), 201)
    assert words in none_because(ask(team, ["p", "q"], application=name))["message"]


def test_a_run_that_tells_enough_stands_in_for_a_nearer_one(team):
    name = "app-" + uuid.uuid4().hex[:8]
    team.post("/v1/applications", {"name": name}, 201)
    team.post("/v1/applications/%s/runs" % name, run([dict(STAGES[0], name="scan")]), 201)
    silent = dict(STAGES[0], name="scan", input_bytes=None, task_durations_s=[2.0] * 16)
    team.post("/v1/applications/%s/runs" % name, run([silent], problem_size=16, duration_s=11), 201)
    plan = ask(team, ["p", "r"], application=name, problem_size=16, inputs=["r"])["copy_plan"]
    assert len(plan["tasks"]) == 16 and plan["tasks"][0]["rate_bytes_per_s"] >= 2e7 * (1 - 1e-9)


def test_more_tasks_than_a_plan_may_have(team):
    name = "app-" + uuid.uuid4().hex[:8]
    team.post("/v1/applications", {"name": name}, 201)
    team.post("/v1/applications/%s/runs" % name, run(), 201)
    double = [dict(STAGES[0], task_durations_s=[2.0] * 16, input_bytes=16e8)] + STAGES[1:]
    team.post("/v1/applications/%s/runs" % name, run(double, problem_size=16, duration_s=11), 201)
    many = [dict(STAGES[0], task_durations_s=[2.0] * 2048, input_bytes=2048e8)] + STAGES[1:]
    team.post("/v1/applications/%s/runs" % name, run(many, problem_size=2048, duration_s=1027), 201)
    assert "plan_tasks_max" in none_because(ask(team, ["p", "q"], application=name, problem_size=30000))["message"]


def test_nothing_is_planned_where_nothing_is_recommended(team):
    """A single run of size 8 does not say what 30000 takes."""
    advice = ask(team, ["p", "q"], problem_size=30000)
    assert advice["verdict"] == "unknown" and advice["recommendation"] is None and advice["copy_plan"] is None
    assert "recommended" in warning(advice, "no_copy_plan")["message"]


@pytest.mark.parametrize("more, pointer, code", [
    ({"copy_plan": {"clusters": ["p", "nobody"]}}, "/copy_plan/clusters/1", "unknown_cluster"),
    ({"copy_plan": {"clusters": ["p", "p"]}}, "/copy_plan/clusters/1", "duplicate"),
    ({"copy_plan": {"clusters": []}}, "/copy_plan/clusters", None), ({"copy_plan": {"clusters": "p"}}, "/copy_plan/clusters", "wrong_type"),
    ({"copy_plan": {"clusters": "p", "inputs": ["p"]}, "include": ["copy_plan"]}, "/copy_plan/clusters", "wrong_type"),
    ({"copy_plan": {"clusters": [""]}}, "/copy_plan/clusters/0", "invalid_name"),
    ({"copy_plan": {"clusters": [{"name": "p"}]}}, "/copy_plan/clusters/0", "wrong_type"),
    ({"copy_plan": {"clusters": ["p", "q"], "inputs": ["r"]}}, "/copy_plan/inputs/0", "unknown_cluster"), ({"copy_plan": {"clusters": ["p", "q"], "inputs": ["p", "p"]}}, "/copy_plan/inputs/1", "duplicate"), ({"copy_plan": {"clusters": ["p", "q"], "inputs": []}}, "/copy_plan/inputs", None),
    ({"copy_plan": {"clusters": ["p", "q"], "inputs": [1]}}, "/copy_plan/inputs/0", "wrong_type"), ({"copy_plan": {"inputs": ["p"]}}, "/copy_plan/clusters", "required"), ({"copy_plan": {"clusters": ["p"], "input": ["p"]}}, "/copy_plan/input", "unknown_field"),
    ({"copy_plan": ["p"]}, "/copy_plan", "wrong_type")])
def test_faults_name_the_field(team, more, pointer, code):
    body = dict({"application": "etl", "deadline_s": 60, "copy_plan": {"clusters": ["p", "q"]}}, **more)
    problem = team.refuse("POST", "/v1/advice", 422, pointer=pointer, json=body)
    assert code is None or [e["code"] for e in problem["errors"]] == [code]


def test_clusters_of_another_team_are_unknown(team, stranger):
    stranger.post("/v1/applications", {"name": "etl-" + uuid.uuid4().hex[:6]}, 201)
    stranger.refuse("POST", "/v1/advice", 422, pointer="/copy_plan/clusters/0", json={
        "profile": run(), "deadline_s": 60, "copy_plan": {"clusters": ["p"]}})
