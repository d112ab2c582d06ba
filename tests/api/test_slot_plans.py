"""POST /v1/slot-plans through the door: profiles of applications, faults, limits, warnings."""
import pytest

GREP = {"name": "grep", "maps": 40, "map_task_s": 10.5, "reduces": 10, "reduce_task_s": 21.25}
PLAN = {"slots": 12, "concurrency": 2, "jobs": [GREP, {"name": "clean", "maps": 30, "map_task_s": 8.25}]}


def stage(identifier, tasks, seconds, parents=(), **more):
    return {"id": identifier, "tasks": tasks, "task_duration_s": seconds, "parents": list(parents), **more}


def record(client, name, stages, **more):
    return client.post("/v1/applications/%s/runs" % name, {"problem_size": 10, "executors": 2, "cores_per_executor": 4, "duration_s": 90,
                                                           "stages": stages, **more}, 201).json()["id"]


def test_what_was_not_asked_for_is_left_out(client):
    plan = client.post("/v1/slot-plans", PLAN, 200).json()
    assert {"per_node", "sweep", "sensitivity"}.isdisjoint(plan) and plan["warnings"] == []
    assert [s["map_slots"] for s in plan["splits"]] == list(range(1, 12))
    assert plan["jobs"][1]["reduce_start_s"] is None and "profile" not in plan["jobs"][0]
    best = next(s for s in plan["splits"] if s["map_slots"] == plan["map_slots"])
    assert best["makespan_s"] == plan["makespan_s"] == min(s["makespan_s"] for s in plan["splits"])


def simulated(client, request, map_slots):
    """What the product's own simulator says of a division: the jobs in the same order, as many at a time."""
    body = {"kind": "slots", "cluster": {"map_slots": map_slots, "reduce_slots": request["slots"] - map_slots},
            "jobs": request["jobs"], "policies": [{"policy": "fair", "concurrency": request["concurrency"]}]}
    reply = client.post("/v1/simulations", body, 200, headers={"Prefer": "wait=30"}).json()
    return reply["result"]["loads"][0]["policies"][0]["makespan_s"]


@pytest.mark.parametrize("slots, maps, reduces", [(24, (10, 6), (2, 600)), (100, (3, 40), (5, 300)), (9, (2, 500), (30, 1))])
def test_few_long_tasks_do_not_use_all_slots(client, slots, maps, reduces):
    job = {"name": "a", "maps": maps[0], "map_task_s": maps[1], "reduces": reduces[0], "reduce_task_s": reduces[1]}
    request = {"slots": slots, "concurrency": 1, "jobs": [job]}
    plan = client.post("/v1/slot-plans", request, 200).json()
    least = min(-(-maps[0] // m) * maps[1] + -(-reduces[0] // (slots - m)) * reduces[1] for m in range(1, slots))
    assert plan["simulated_makespan_s"] == plan["best_simulated"]["makespan_s"] == least
    assert plan["makespan_s"] == pytest.approx(least, rel=0.002) == min(s["makespan_s"] for s in plan["splits"])
    assert plan["jobs"][0]["finish_s"] == plan["makespan_s"] and (slots == 9 or plan["basis"] == "simulation")
    assert simulated(client, request, plan["map_slots"]) == least


def test_the_division_that_the_simulator_finds_best_is_recommended(client):
    jobs = [{"name": "J%d" % (i + 1), "maps": maps, "map_task_s": 1, "reduces": reduces, "reduce_task_s": 1}
            for i, (maps, reduces) in enumerate([(2, 9), (3, 4), (7, 3)])]
    request = {"slots": 8, "concurrency": 3, "jobs": jobs}
    plan = client.post("/v1/slot-plans", request, 200).json()
    assert [s["simulated_makespan_s"] for s in plan["splits"]] == [simulated(client, request, m) for m in range(1, 8)] == [13, 7, 6, 5, 7, 9, 17]
    assert (plan["map_slots"], plan["reduce_slots"], plan["makespan_s"], plan["basis"]) == (4, 4, 5, "simulation")
    assert plan["best_simulated"] == {"map_slots": 4, "reduce_slots": 4, "makespan_s": 5, "simulated_makespan_s": 5}


def test_all_that_may_be_asked_for(client):
    plan = client.post("/v1/slot-plans", dict(PLAN, nodes=3, sweep=[2, 1], profile_error_percent=50), 200).json()
    assert plan["per_node"]["map_slots"] + plan["per_node"]["reduce_slots"] == 4
    assert [(p["concurrency"], p["makespan_s"]) for p in plan["sweep"]][0] == (2, plan["makespan_s"])
    assert [s["map_factor"] for s in plan["sensitivity"]] == [1.5, 0.5]
    plan = client.post("/v1/slot-plans", dict(PLAN, nodes=12), 200).json()
    assert plan["per_node"] is None and plan["warnings"][0]["code"] == "no_split_per_node"


def test_a_profile_is_what_recent_runs_of_the_application_show(client, name):
    client.post("/v1/applications", {"name": name}, 201)
    record(client, name, [stage(0, 7, 99)])
    record(client, name, [stage(0, 20, 3), stage(1, 8, 5, [0])])
    latest = record(client, name, [stage(0, 30, 5), stage(1, 8, 7, [0])])
    record(client, name, [stage(0, 1, 1), stage(1, 1, 1, [0])], succeeded=False)
    jobs = [{"name": "tonight", "application": name}, GREP, {"name": "again", "application": name}]
    plan = client.post("/v1/slot-plans", dict(PLAN, jobs=jobs), 200).json()
    profile = plan["jobs"][0]["profile"]
    shown = client.get("/v1/applications/%s/profile" % name, 200).json()
    assert (profile["maps"], profile["map_task_s"], profile["reduces"], profile["reduce_task_s"]) == (30, 4, 8, 6)
    assert profile["source_runs"] == shown["source_runs"] and len(shown["source_runs"]) == 2 and shown["source_runs"][0]["id"] == latest
    assert plan["jobs"][2]["profile"] == profile and [w["code"] for w in plan["warnings"]] == ["graph_changed"]
    sent = [{"name": "tonight", "maps": 30, "map_task_s": 4, "reduces": 8, "reduce_task_s": 6}]
    assert client.post("/v1/slot-plans", dict(PLAN, jobs=sent), 200).json()["splits"] == \
        client.post("/v1/slot-plans", dict(PLAN, jobs=jobs[:1]), 200).json()["splits"]
    problem = client.refuse("POST", "/v1/slot-plans", 422, pointer="/slots", json=dict(PLAN, jobs=jobs[:1], slots=1))
    assert problem["errors"][0]["code"] == "out_of_range"


def test_applications_that_cannot_be_used_are_all_reported(client, name):
    client.post("/v1/applications", {"name": name}, 201)
    record(client, name, [stage(0, 7, 99)], succeeded=False)
    jobs = [{"name": "a", "application": name}, {"name": "b", "application": name + "-2"}]
    errors = client.refuse("POST", "/v1/slot-plans", 422, json=dict(PLAN, jobs=jobs))["errors"]
    assert [(e["pointer"], e["code"]) for e in errors] == [("/jobs/0/application", "no_history"), ("/jobs/1/application", "unknown_application")]


@pytest.mark.parametrize("change, pointer, code", [
    ({"slots": 0}, "/slots", "out_of_range"), ({"slots": 100001}, "/slots", "out_of_range"), ({"nodes": 5}, "/nodes", "not_allowed"),
    ({"nodes": 0}, "/nodes", "out_of_range"), ({"sweep": [1, 2, 1]}, "/sweep/2", "duplicate"), ({"sweep": []}, "/sweep", "too_few_items"),
    ({"profile_error_percent": 100}, "/profile_error_percent", "out_of_range"), ({"order": "shortest"}, "/order", "not_allowed"),
    ({"jobs": []}, "/jobs", "too_few_items"), ({"jobs": [{"name": "a", "maps": 3}]}, "/jobs/0/map_task_s", "required"),
    ({"jobs": [{"name": "a"}]}, "/jobs/0/maps", "required"), ({"jobs": [dict(GREP, reduce_task_s=0)]}, "/jobs/0/reduce_task_s", "out_of_range"),
    ({"jobs": [{"name": "a", "maps": 3, "map_task_s": 1, "reduces": 2}]}, "/jobs/0/reduce_task_s", "required"),
    ({"jobs": [dict(GREP, application="x")]}, "/jobs/0/application", "conflict"), ({"tasks": 1}, "/tasks", "unknown_field"),
])
def test_faults_of_plans(client, change, pointer, code):
    problem = client.refuse("POST", "/v1/slot-plans", 422, pointer=pointer, json=dict(PLAN, **change))
    assert code in [e["code"] for e in problem["errors"] if e["pointer"] == pointer]


def test_the_number_of_splits_is_bounded_here_and_in_simulations(client, make_service):
    jobs = [dict(GREP, name=str(i)) for i in range(101)]
    client.refuse("POST", "/v1/slot-plans", 422, pointer="/slots", json=dict(PLAN, slots=100000, jobs=jobs))
    service = make_service(PROVISOR_SLOT_SPLITS_MAX=48)
    token = service.token("limits")
    service.start()
    client = service.client(token)
    client.post("/v1/slot-plans", dict(PLAN, sweep=[1]), 200)
    client.refuse("POST", "/v1/slot-plans", 422, pointer="/slots", json=dict(PLAN, sweep=[1, 2]))
    simulation = {"kind": "slots", "cluster": {"map_slots": 10, "reduce_slots": 15}, "jobs": PLAN["jobs"],
                  "policies": [{"policy": "fresh_static", "concurrency": 1}]}
    client.refuse("POST", "/v1/simulations", 422, pointer="/policies/0/policy", json=simulation)
