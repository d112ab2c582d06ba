"""POST /v1/simulations of kind geo: policies on one workload in many clusters, as an operation."""
import copy
import json
import os
import pathlib
import time

import pytest

from long_work import wait_for
from patience import PATIENCE, SLOWDOWN

SHARED = pathlib.Path(os.environ.get("PROVISOR_SHARED") or pathlib.Path(__file__).resolve().parents[3] / "shared")
MONTAGE = SHARED / "data" / "montage"
WORDS = ["pingan", "flutter", "iridium", "mantri", "dolly", "spark"]
SMALL = {"kind": "geo", "workload": {"workflows": 20, "sizes": [{"share": 1, "task_range": [4, 40]}]}, "topology": {"cluster_count": 10},
         "policies": [{"policy": "flutter"}, {"policy": "pingan", "epsilon": 0.8}], "arrival_rates_per_s": [0.05]}
# Hours of work, told every few milliseconds.
LONG = {"kind": "geo", "workload": {"workflows": 5000}, "policies": [{"policy": "pingan", "epsilon": 0.6}],
        "arrival_rates_per_s": [0.15], "repetitions": 80}


@pytest.fixture(scope="module")
def service(make_service):
    service = make_service(PROVISOR_OPERATION_WORKERS=2, PROVISOR_SIMULATION_RUNS_MAX=100, PROVISOR_SIMULATION_CLUSTERS_MAX=200,
                           PROVISOR_SIMULATION_TEMPLATES_MAX=3, PROVISOR_SIMULATION_WORKFLOW_TASKS_MAX=1000,
                           PROVISOR_SIMULATION_OPERATIONS_MAX=10)
    service.alpha_token, service.beta_token = service.token("alpha"), service.token("beta")
    return service.start()


@pytest.fixture(scope="module")
def client(service):
    return service.client(service.alpha_token)


def changed(**members):
    return dict(copy.deepcopy(SMALL), **members)


def ask(client, body):
    return client.post("/v1/simulations", body, 202).json()


def checked(client, operation):
    assert operation["status"] == "succeeded", operation["error"]
    schemas = client.contract.document["components"]["schemas"]
    client.contract.check_instance(schemas["SimulationResult"], operation["result"], "result")
    client.contract.check_instance(schemas["SimulationRequest"], operation["request"], "request")
    return operation["result"]


def simulate(client, body):
    return checked(client, wait_for(client, ask(client, body)["id"]))


def test_a_simulation_from_request_to_result(client):
    reply = client.post("/v1/simulations", SMALL, 202)
    made = reply.json()
    assert reply.headers["Location"] == "/v1/operations/" + made["id"]
    assert (made["kind"], made["application"]) == ("simulation", None)
    seen = wait_for(client, made["id"])
    result = checked(client, seen)
    assert seen["progress"] == {"done": 40, "total": 40, "unit": "workflows"}
    assert (result["baseline"], result["seed"], result["repetitions"]) == ("flutter", 1, 1)
    assert [result["topology"][s]["count"] for s in ("large", "medium", "small")] == [1, 2, 7]
    assert result["workload"]["workflows"] == 20 and 80 <= result["workload"]["task_count"] <= 800
    [load] = result["loads"]
    flutter, pingan = load["policies"]
    assert (flutter["name"], pingan["name"]) == ("flutter", "pingan")
    assert flutter["reduction_percent"] is None and flutter["mean_reduction_percent"] is None
    for policy in (flutter, pingan):
        flow = policy["flow_time_s"]
        levels = [flow["p%d" % q] for q in (5, 10, 25, 50, 75, 90, 95, 99)]
        assert levels == sorted(levels) and len(flow["cdf"]) == 41
        assert flow["cdf"][0][0] <= levels[0] and levels[-1] <= flow["cdf"][-1][0]
        assert flow["cdf"][20] == [flow["p50"], 0.5]
        assert flow["workflows"] == 20 and policy["workflows_unfinished"] == 0
        assert policy["counts"]["copies_started"] >= result["workload"]["task_count"]
        assert 0 < policy["utilization"] <= 1 and 0 < policy["useful_share"] <= 1
    means = {p["name"]: p["flow_time_s"]["mean"] for p in load["policies"]}
    assert load["best"]["name"] == min(means, key=means.get)
    assert pingan["mean_reduction_percent"] == pytest.approx(100 * (1 - means["pingan"] / means["flutter"]))
    assert load["best"]["margin_percent"] == pytest.approx(100 * (1 - min(means.values()) / max(means.values())))
    assert pingan["counts"]["extra_copies"] > 0


def test_the_same_request_has_the_same_result_and_another_seed_another(client):
    first, again = simulate(client, SMALL), simulate(client, SMALL)
    assert first == again
    other = simulate(client, changed(seed=2))
    assert other["workload"] != first["workload"]
    assert other["loads"][0]["policies"][0]["flow_time_s"] != first["loads"][0]["policies"][0]["flow_time_s"]


def test_the_request_is_told_with_all_defaults_and_asks_for_the_same(client):
    made = wait_for(client, ask(client, SMALL)["id"])
    told = made["request"]
    assert told["workload"]["workflow_source"] == "montage" and told["workload"]["montage_surveys"] == ["2mass"]
    assert told["topology"]["small"]["outage_probability_range"] == [0.05, 0.5]
    assert told["policies"][1] == {"name": "pingan", "policy": "pingan", "epsilon": 0.8, "max_rounds": 8, "principle": "eff-reli",
                                   "allocation": "efa", "clone_running": True}
    again = wait_for(client, ask(client, told)["id"])
    assert again["request"] == told and again["result"] == made["result"]


def test_every_policy_is_taken(client):
    policies = [{"policy": w} for w in WORDS]
    policies += [{"name": "jga", "policy": "pingan", "allocation": "jga"},
                 {"name": "hasty", "policy": "mantri", "mantri": {"period_s": 1, "gain": 1}},
                 {"name": "reli", "policy": "pingan", "principle": "reli-reli", "epsilon": "auto", "clone_running": False}]
    made = wait_for(client, ask(client, changed(policies=policies, baseline="dolly"))["id"])
    result = checked(client, made)
    told = {p["name"]: p for p in made["request"]["policies"]}
    assert told["hasty"]["mantri"]["period_s"] == 1 and "copies_max" in told["hasty"]["mantri"]
    assert told["reli"]["epsilon"] == "auto" and set(told["flutter"]) == {"name", "policy"}
    [load] = result["loads"]
    assert [p["name"] for p in load["policies"]] == WORDS + ["jga", "hasty", "reli"]
    assert [p["name"] for p in load["policies"] if p["reduction_percent"] is None] == ["dolly"]
    # The same luck for all: outages do not depend on who decides, but for how long it takes.
    assert all(p["workflows_unfinished"] == 0 for p in load["policies"])


def parameters_of(schemas, planner):
    """The schemas of a planner's parameters in the contract: in an object of its name, else all that are in none."""
    policy = schemas["SimulationPolicy"]["properties"]
    if planner in policy:
        return schemas[policy[planner]["$ref"].split("/")[-1]]["properties"]
    nested = set(schemas["CopyPlanner"]["enum"])
    return {k: v for k, v in policy.items() if k not in nested | {"name", "policy", "clone_running"}}


def test_planners_have_the_parameters_of_the_contract(client):
    """Names and defaults: the request is returned with all of them."""
    schemas = client.contract.document["components"]["schemas"]
    planners = schemas["CopyPlanner"]["enum"]
    made = wait_for(client, ask(client, changed(policies=[{"policy": p} for p in planners]))["id"])
    for policy in made["request"]["policies"]:
        inline = {k: v for k, v in policy.items() if k not in ("name", "policy", "clone_running")}
        seen = inline.get(policy["policy"], inline)
        wanted = parameters_of(schemas, policy["policy"]) if seen else {}
        assert seen == {k: v["default"] for k, v in wanted.items()}, policy["policy"]


@pytest.mark.parametrize("planner", ["mantri", "dolly", "spark"])
def test_parameters_have_the_bounds_of_the_contract(client, planner):
    schemas = client.contract.document["components"]["schemas"]
    for name, schema in parameters_of(schemas, planner).items():
        for value, code in ((schema["minimum"], 200), (schema["maximum"], 200), (schema["minimum"] - 1, 422), (schema["maximum"] * 2, 422)):
            client.post("/v1/copy-plans", {
                "algorithm": planner, planner: {name: value},
                "clusters": [{"name": "c", "slots": 1, "processing": {"map": [[1, 1]]}}],
                "jobs": [{"name": "j", "unprocessed_bytes": 1, "tasks": [{"id": "t", "operation": "map", "size_bytes": 1}]}]}, code)


def test_loads_stretch_the_same_workload_and_crowd_the_clusters(client):
    result = simulate(client, changed(arrival_rates_per_s=[0.01, 1], topology={"cluster_count": 10, "slots_factor": 0.02}))
    light, heavy = [load["policies"][1]["flow_time_s"]["mean"] for load in result["loads"]]
    assert light < heavy


def test_repetitions_draw_other_luck_and_are_averaged_per_workflow(client):
    once = simulate(client, changed(repetitions=1))
    thrice = simulate(client, changed(repetitions=3))
    assert thrice["workload"] == once["workload"] and thrice["topology"] == once["topology"]
    a, b = once["loads"][0]["policies"][0]["flow_time_s"], thrice["loads"][0]["policies"][0]["flow_time_s"]
    assert a != b and b["workflows"] == 20
    assert b["p99"] - b["p5"] > 0


def test_what_cannot_be_done_in_time_is_told(client):
    lost = {"slots_range": [10, 20], "outage_probability_range": [1, 1]}
    topology = {"cluster_count": 4, "outage_period_s": 1, "large": dict(lost, share=0.25), "medium": dict(lost, share=0.25), "small": lost}
    result = simulate(client, changed(topology=topology, drain_timeout_s=60))
    assert [w["code"] for w in result["warnings"]] == ["workflows_unfinished"]
    for policy in result["loads"][0]["policies"]:
        assert policy["workflows_unfinished"] == 20
        assert policy["flow_time_s"]["mean"] is None and policy["flow_time_s"]["cdf"] == []


# --- recorded executions ---

def recorded(name):
    path = MONTAGE / ("montage-chameleon-%s.json" % name)
    if not path.is_file():
        pytest.skip("no shared data at %s (set PROVISOR_SHARED)" % path)
    return json.loads(path.read_text())


@pytest.mark.parametrize("name,tasks,work_s", [("2mass-005d-001", 58, 221.7), ("2mass-01d-001", 103, 362.6), ("dss-10d-001", 472, 37089.3)])
def test_recorded_executions_are_replayed(client, name, tasks, work_s):
    body = changed(workload={"workflows": 3, "templates": [recorded(name)], "size_scale": 0.01})
    made = wait_for(client, ask(client, body)["id"])
    result = checked(client, made)
    assert result["workload"]["task_count"] == 3 * tasks
    assert result["workload"]["work_s"] == pytest.approx(3 * work_s, rel=1e-3)
    # What is not simulated is not kept: who recorded it, the machines, the arguments.
    [template] = made["request"]["workload"]["templates"]
    assert set(template) == {"name", "schemaVersion", "workflow"} and "arguments" not in json.dumps(template)
    assert made["request"]["workload"]["workflow_source"] == "recorded"
    assert wait_for(client, ask(client, made["request"])["id"])["result"] == result


def test_templates_may_be_measured_for_montage_of_other_sizes(client):
    templates = [recorded("2mass-005d-001"), recorded("2mass-01d-001")]
    sizes = [{"share": 1, "task_range": [20, 30]}]
    measured = simulate(client, changed(workload={"workflows": 10, "workflow_source": "montage", "templates": templates, "sizes": sizes}))
    built_in = simulate(client, changed(workload={"workflows": 10, "sizes": sizes, "size_scale": 1}))
    # The built-in figures are those of the same recordings, to five digits.
    assert measured["workload"]["task_count"] == built_in["workload"]["task_count"]
    assert measured["workload"]["work_s"] == pytest.approx(built_in["workload"]["work_s"], rel=1e-3)
    assert measured["workload"]["input_bytes"] == pytest.approx(built_in["workload"]["input_bytes"], rel=1e-3)


def document(**changes):
    tasks = [{"name": "cut", "id": "a", "parents": [], "children": ["b"], "outputFiles": ["f"]},
             {"name": "join", "id": "b", "parents": ["a"], "children": [], "inputFiles": ["f"]}]
    specification = dict({"tasks": tasks, "files": [{"id": "f", "sizeInBytes": 1000}]}, **changes)
    return {"name": "w", "schemaVersion": "1.5", "workflow": {"specification": specification, "execution": {
        "makespanInSeconds": 1, "executedAt": "now", "tasks": [{"id": "a", "runtimeInSeconds": 1}, {"id": "b", "runtimeInSeconds": 2}]}}}


TEMPLATE = "/workload/templates/0"


@pytest.mark.parametrize("at,code,template", [
    ("/workflow/specification/tasks/0/parents", "cycle", document(tasks=[
        {"name": "x", "id": "a", "parents": ["b"], "children": []}, {"name": "x", "id": "b", "parents": ["a"], "children": []}])),
    ("/workflow/specification/tasks/1/parents/0", "unknown", document(tasks=[
        {"name": "x", "id": "a", "parents": [], "children": []}, {"name": "x", "id": "b", "parents": ["z"], "children": []}])),
    ("/workflow/specification/tasks/0/outputFiles/0", "unknown", document(files=[])),
    ("/workflow/specification/files/0/sizeInBytes", "out_of_range", document(files=[{"id": "f", "sizeInBytes": -1}])),
    ("/workflow/specification/tasks", "too_many_items", document(tasks=[
        {"name": "x", "id": str(i), "parents": [], "children": []} for i in range(1001)])),
    ("/schemaVersion", "unsupported_version", dict(document(), schemaVersion="1.4")),
    ("/workflow/execution", "required", {"name": "w", "schemaVersion": "1.5", "workflow": {"specification": {"tasks": [
        {"name": "x", "id": "a", "parents": [], "children": []}]}}}),
    ("", "wrong_type", "montage.json"),
])
def test_damaged_recordings_are_refused_where_they_are_damaged(client, at, code, template):
    problem = client.refuse("POST", "/v1/simulations", 422, pointer=TEMPLATE + at,
                            json=changed(workload={"workflows": 2, "templates": [template]}))
    assert code in [e["code"] for e in problem["errors"]], problem


def test_what_is_no_montage_is_not_measured_as_one(client):
    problem = client.refuse("POST", "/v1/simulations", 422, pointer="/workload/templates",
                            json=changed(workload={"workflow_source": "montage", "templates": [document()]}))
    assert "mProject" in problem["errors"][0]["detail"]


# --- what is refused ---

def with_topology(**members):
    return changed(topology=members)


def with_policy(**members):
    return changed(policies=[members])


@pytest.mark.parametrize("pointer,body", [
    ("/kind", changed(kind="cluster")),
    ("/kind", {k: v for k, v in SMALL.items() if k != "kind"}),
    ("/policies", changed(policies=[])),
    ("/policies", {k: v for k, v in SMALL.items() if k != "policies"}),
    ("/policies/0/policy", with_policy(policy="fifo")),
    ("/policies/0/epsilon", with_policy(policy="pingan", epsilon=0)),
    ("/policies/0/epsilon", with_policy(policy="pingan", epsilon=1.01)),
    ("/policies/0/epsilon", with_policy(policy="pingan", epsilon="much")),
    ("/policies/0/epsilon", with_policy(policy="flutter", epsilon=0.5)),
    ("/policies/0/principle", with_policy(policy="pingan", principle="eff")),
    ("/policies/0/clone_running", with_policy(policy="flutter", clone_running=True)),
    ("/policies/0/mantri", with_policy(policy="dolly", mantri={})),
    ("/policies/0/dolly/risk", with_policy(policy="dolly", dolly={"risk": 2})),
    ("/policies/0/patience", with_policy(policy="pingan", patience=1)),
    ("/policies/1/name", changed(policies=[{"policy": "pingan"}, {"policy": "pingan", "epsilon": 0.2}])),
    ("/policies", changed(policies=[{"policy": "pingan", "name": str(i)} for i in range(33)])),
    ("/baseline", changed(baseline="dolly")),
    ("/arrival_rates_per_s", changed(arrival_rates_per_s=[])),
    ("/arrival_rates_per_s/0", changed(arrival_rates_per_s=[0])),
    ("/arrival_rates_per_s/0", changed(arrival_rates_per_s=[5e-324])),
    ("/arrival_rates_per_s/1", changed(arrival_rates_per_s=[0.1, 0.1])),
    ("/repetitions", changed(repetitions=0)),
    ("/repetitions", changed(repetitions=51)),
    ("/seed", changed(seed=-1)),
    ("/slot_s", changed(slot_s=0)),
    ("/slot_s", changed(slot_s=1e-9)),
    ("/drain_timeout_s", changed(drain_timeout_s=0)),
    ("/workload/workflows", changed(workload={"workflows": 0})),
    ("/workload/workflows", changed(workload={"workflows": 10001})),
    ("/workload/workflows", changed(workload={"workflows": 9000, "sizes": [{"share": 1, "task_range": [500, 1000]}]})),
    ("/workload/sizes", changed(workload={"sizes": [{"share": 0.5, "task_range": [1, 2]}]})),
    ("/workload/sizes/0/task_range", changed(workload={"sizes": [{"share": 1, "task_range": [3, 2]}]})),
    ("/workload/sizes/0/task_range/1", changed(workload={"sizes": [{"share": 1, "task_range": [1, 1001]}]})),
    ("/workload/montage_surveys/0", changed(workload={"montage_surveys": ["sdss"]})),
    ("/workload/montage_surveys/1", changed(workload={"montage_surveys": ["dss", "dss"]})),
    ("/workload/montage_surveys", changed(workload={"montage_surveys": ["dss"], "workflow_source": "montage", "templates": [document()]})),
    ("/workload/sizes", changed(workload={"sizes": [{"share": 1, "task_range": [1, 2]}], "templates": [document()]})),
    ("/workload/templates", changed(workload={"workflow_source": "recorded"})),
    ("/workload/templates", changed(workload={"templates": [document()] * 4})),
    ("/workload/size_scale", changed(workload={"size_scale": 0})),
    ("/workload/medium_share", changed(workload={"medium_share": 1.1})),
    ("/topology/cluster_count", with_topology(cluster_count=0)),
    ("/topology/cluster_count", with_topology(cluster_count=201)),
    ("/topology/links_per_cluster", with_topology(links_per_cluster=0)),
    ("/topology/outage_s", with_topology(outage_s=-1)),
    ("/topology/medium", with_topology(large={"share": 0.6}, medium={"share": 0.6})),
    ("/topology/small/share", with_topology(small={"share": 0.6})),
    ("/topology/small/slots_range", with_topology(small={"slots_range": [5, 4]})),
    ("/topology/small/slots_range", with_topology(small={"slots_range": [1.5, 4]})),
    ("/topology/small/slots_range/0", with_topology(small={"slots_range": [0, 4]})),
    ("/topology/large/outage_probability_range/1", with_topology(large={"outage_probability_range": [0, 1.5]})),
    ("/topology/large/wan_bytes_per_s_range/0", with_topology(large={"wan_bytes_per_s_range": [0, 1]})),
    ("/topology/large/power_mips_range", with_topology(large={"power_mips_range": [1, 2, 3]})),
    ("/topology/large/power_mips_range/0", with_topology(large={"power_mips_range": [5e-324, 1]})),
    ("/topology/small/wan_bytes_per_s_range/1", with_topology(small={"wan_bytes_per_s_range": [1, 5e-324]})),
    ("/topology/medium/gate_ratio_range/0", with_topology(medium={"gate_ratio_range": [0, 1]})),
    ("/topology/huge", with_topology(huge={})),
    ("/colour", changed(colour="red")),
])
def test_what_is_wrong_is_named(client, pointer, body):
    client.refuse("POST", "/v1/simulations", 422, pointer=pointer, json=body)


def test_limits_name_their_setting(client):
    large = {"workflows": 9000, "sizes": [{"share": 1, "task_range": [500, 1000]}]}
    for body, setting in ((changed(repetitions=51), "simulation_runs_max"), (changed(workload=large), "simulation_tasks_max")):
        problem = client.refuse("POST", "/v1/simulations", 422, json=body)
        assert setting in problem["errors"][0]["detail"], problem


@pytest.mark.parametrize("pointer, members", [
    ("/repetitions", {"workload": {"workflows": 8000}, "repetitions": 30}),
    ("/arrival_rates_per_s", {"workload": {"workflows": 8600, "sizes": [{"share": 1, "task_range": [100, 132]}]},
                              "arrival_rates_per_s": [0.01 + i / 1000 for i in range(26)]})])
def test_all_of_it_together_is_bounded_before_anything_is_stored(client, pointer, members):
    """Each is within its own limit, but the whole would take days."""
    before = client.get("/v1/operations?limit=1").json()["items"]
    problem = client.refuse("POST", "/v1/simulations", 422, pointer=pointer, json=changed(**members))
    detail = problem["errors"][0]["detail"]
    assert "50000000" in detail and "simulation_task_runs_max" in detail
    figure = float(detail.rsplit("= ", 1)[1])
    assert 50e6 < figure < 100e6, detail
    assert client.get("/v1/operations?limit=1").json()["items"] == before


def test_as_much_as_may_be_is_taken(client):
    """8000 workflows of 62.5 tasks on average, 2 policies, 50 repetitions: 50 million."""
    made = ask(client, changed(workload={"workflows": 8000, "sizes": [{"share": 1, "task_range": [62, 63]}]}, repetitions=50))
    client.delete("/v1/operations/" + made["id"], (200, 202))
    wait_for(client, made["id"])


def test_too_many_different_programs(client):
    tasks = [{"name": chr(97 + i), "id": str(i), "parents": [], "children": []} for i in range(11)]
    template = document(tasks=tasks)
    template["workflow"]["execution"]["tasks"] = [{"id": str(i), "runtimeInSeconds": 1} for i in range(11)]
    problem = client.refuse("POST", "/v1/simulations", 422, pointer=TEMPLATE + "/workflow/specification/tasks/10/name",
                            json=changed(workload={"workflows": 2, "templates": [template]}))
    assert "simulation_operations_max" in problem["errors"][0]["detail"]


def test_simulations_need_the_right_to_write(client):
    reader = client.post("/v1/tokens", {"name": "simulations-reader", "scopes": ["read"]}, 201).json()["token"]
    client.service.client(reader).post("/v1/simulations", SMALL, 403)


def test_a_simulation_of_another_team_is_not_there(service, client):
    made = ask(client, SMALL)["id"]
    service.client(service.beta_token).get("/v1/operations/" + made, 404)
    wait_for(client, made)


def test_a_repeated_request_is_one_simulation(client):
    head = {"Idempotency-Key": '"simulation-once"'}
    first = client.post("/v1/simulations", SMALL, 202, headers=head).json()
    assert client.post("/v1/simulations", SMALL, 202, headers=head).json()["id"] == first["id"]
    wait_for(client, first["id"])


def test_prefer_wait_answers_with_the_result(client):
    reply = client.post("/v1/simulations", SMALL, 200, headers={"Prefer": "wait=15"})
    assert reply.json()["status"] == "succeeded" and reply.json()["result"]["loads"]


# --- what happens meanwhile ---

def test_a_simulation_is_cancelled_within_half_a_second_of_being_told(client):
    made = ask(client, LONG)["id"]
    wait_for(client, made, ("running",))
    while not client.get("/v1/operations/" + made).json()["progress"]["done"]:
        time.sleep(0.02)
    began = time.monotonic()
    client.delete("/v1/operations/" + made, (200, 202))
    seen = wait_for(client, made)
    # The workers are told of it within a beat, then half a second is theirs.
    assert seen["status"] == "cancelled" and time.monotonic() - began < 1.5 * SLOWDOWN
    assert 0 < seen["progress"]["done"] < seen["progress"]["total"] == 400000 and seen["result"] is None
