"""POST /v1/pigeon-plans and /v1/slowdowns through the door: faults, limits, warnings."""
import pytest

PLAN = {"workers": 20000, "load": 0.8, "fanout": 50, "task_s": 0.1}


def test_a_plan_by_load_and_by_arrivals(client):
    plan = client.post("/v1/pigeon-plans", PLAN, 200).json()
    assert plan["recommended"]["group_size"] == 50 and plan["recommended"]["reason"] == "meets_target" and plan["warnings"] == []
    assert [c["group_size"] for c in plan["candidates"]] == [25, 50, 75, 100, 150, 200]
    by_rate = {k: v for k, v in PLAN.items() if k != "load"}
    assert client.post("/v1/pigeon-plans", dict(by_rate, jobs_per_s=3200), 200).json() == plan


def test_sizes_above_the_number_of_workers_are_left_out(client):
    plan = client.post("/v1/pigeon-plans", dict(PLAN, workers=60), 200).json()
    assert [c["group_size"] for c in plan["candidates"]] == [25, 50]
    assert {w["code"] for w in plan["warnings"]} == {"fanout_exceeds_groups", "leftover_workers"}
    assert client.post("/v1/pigeon-plans", dict(PLAN, target_probability=1, load=0.95), 200).json()["warnings"][0]["code"] == "target_not_met"
    assert [c["group_size"] for c in client.post("/v1/pigeon-plans", dict(PLAN, workers=3), 200).json()["candidates"]] == [3]
    client.refuse("POST", "/v1/pigeon-plans", 422, pointer="/group_sizes", json=dict(PLAN, workers=3, group_sizes=[4, 5]))


@pytest.mark.parametrize("change, pointer", [
    ({"load": 1}, "/load"), ({"load": 0}, "/load"), ({"load": None}, "/load"), ({"jobs_per_s": 1}, "/load"), ({"workers": 0}, "/workers"), ({"workers": 10**8}, "/workers"),
    ({"fanout": 0}, "/fanout"), ({"task_s": 0}, "/task_s"), ({"group_sizes": []}, "/group_sizes"), ({"group_sizes": [5, 5]}, "/group_sizes/1"), ({"group_sizes": [0]}, "/group_sizes/0"),
    ({"reserved_share": 0.6}, "/reserved_share"), ({"durations": "normal"}, "/durations"), ({"target_probability": 0}, "/target_probability"), ({"weight": 3}, "/weight"),
])
def test_faults_of_plans(client, change, pointer):
    client.refuse("POST", "/v1/pigeon-plans", 422, pointer=pointer, json=dict(PLAN, **change))


def test_more_arrivals_than_workers_can_serve(client):
    body = {k: v for k, v in PLAN.items() if k != "load"}
    client.refuse("POST", "/v1/pigeon-plans", 422, pointer="/load", json=body)
    problem = client.refuse("POST", "/v1/pigeon-plans", 422, pointer="/jobs_per_s", json=dict(body, jobs_per_s=4000))
    assert problem["errors"][0]["code"] == "out_of_range"


def job(name, sojourn, **more):
    return {"name": name, "arrival_s": 5, "finish_s": 5 + sojourn, "runtime_s": 10, **more}


def test_slowdowns_in_the_order_of_the_request(client):
    answer = client.post("/v1/slowdowns", {"jobs": [job("b", 30, size_s=100), job("a", 10, size_s=5)], "percentiles": [100, 50]}, 200).json()
    assert [(j["name"], j["sojourn_s"], j["slowdown"]) for j in answer["jobs"]] == [("b", 30, 3), ("a", 10, 1)]
    assert [p["slowdown"] for p in answer["percentiles"]] == [3, 2] and answer["jain"] == 0.8
    assert [(c["from_s"], c["count"]) for c in answer["classes"]] == [(pytest.approx(10 ** 0.5), 1), (100, 1)]
    assert "completion_over_longest_task" not in answer["percentiles"][0]
    assert client.post("/v1/slowdowns", {"jobs": [job("a", 5)]}, 200).json()["warnings"][0]["code"] == "faster_than_alone"


@pytest.mark.parametrize("change, pointer", [
    ({"finish_s": 5}, "/jobs/1/finish_s"), ({"runtime_s": 0}, "/jobs/1/runtime_s"), ({"size_s": 0}, "/jobs/1/size_s"), ({"longest_task_s": -1}, "/jobs/1/longest_task_s"),
    ({"name": "a"}, "/jobs/1/name"), ({"slowdown": 2}, "/jobs/1/slowdown"), ({"arrival_s": "now"}, "/jobs/1/arrival_s"),
])
def test_faults_of_slowdowns(client, change, pointer):
    client.refuse("POST", "/v1/slowdowns", 422, pointer=pointer, json={"jobs": [job("a", 10), dict(job("b", 10), **change)]})


def test_limits_of_slowdowns(client, make_service):
    client.refuse("POST", "/v1/slowdowns", 422, pointer="/jobs", json={"jobs": []})
    client.refuse("POST", "/v1/slowdowns", 422, pointer="/percentiles/0", json={"jobs": [job("a", 10)], "percentiles": [101]})
    service = make_service(PROVISOR_SLOWDOWN_JOBS_MAX=2)
    token = service.token("limits")
    service.start()
    service.client(token).refuse("POST", "/v1/slowdowns", 422, pointer="/jobs", json={"jobs": [job(str(i), 10) for i in range(3)]})
