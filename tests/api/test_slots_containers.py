"""POST /v1/simulations of kind slots in containers: nodes with vcores and memory, as of YARN."""
import copy

import pytest

from test_scheduling_simulations import by_name, ended, simulate
from test_workload_simulations import many_jobs, stored

# The example of Ghodsi et al., "Dominant resource fairness", NSDI 2011, section 4.1: 9 processors and 18 GB; tasks of <1, 4 GB> and <3, 1 GB>.
GHODSI = {"kind": "slots", "cluster": {"nodes": [{"name": "n", "vcores": 9, "memory_bytes": 18}]},
          "jobs": [{"name": "A", "maps": 3, "map_task_s": 10, "map_container": {"vcores": 1, "memory_bytes": 4}},
                   {"name": "B", "maps": 2, "map_task_s": 10, "map_container": {"vcores": 3, "memory_bytes": 1}}],
          "policies": [{"policy": "drf"}, {"policy": "fair"}, {"policy": "fifo"}, {"policy": "capacity", "queues": [{"share": 1}]},
                       {"policy": "fbq", "limits_s": [5]}, {"policy": "comp", "queues": 2}],
          "objective": "makespan", "include": ["jobs", "occupancy"]}
GIB = 2**30


@pytest.fixture(scope="module")
def client(make_service):
    service = make_service()
    token = service.token("alpha")
    return service.start().client(token)


def changed(**members):
    return dict(copy.deepcopy(GHODSI), **members)


def test_the_example_of_dominant_resource_fairness(client):
    outcomes = by_name(simulate(client, GHODSI)["loads"][0])
    drf = outcomes["drf"]
    assert drf["makespan_s"] == 10
    assert {(bar["job"], bar["start_s"]) for bar in drf["slot_occupancy"]["bars"]} == {("A", 0), ("B", 0)}
    assert drf["allocated"]["vcores"] == pytest.approx(1) and drf["allocated"]["memory_bytes"] == pytest.approx(14 / 18)
    assert drf["utilization"] == pytest.approx(1)
    assert [bar["lane"] for bar in drf["slot_occupancy"]["bars"]] == [0, 1, 2, 3, 4]
    assert all(job["runtime_s"] == 10 for job in drf["jobs"])


def test_defaults_are_shown_and_slots_know_nothing_of_containers(client):
    nodes = [{"name": str(i), "vcores": 4, "memory_bytes": 4 * GIB} for i in range(2)]
    jobs = [{"name": "A", "maps": 20, "map_task_s": 3, "reduces": 4, "reduce_task_s": 2, "shuffle_s": 1}]
    operation = ended(client, {"kind": "slots", "cluster": {"nodes": nodes}, "jobs": jobs, "policies": [{"policy": "drf"}]})
    shown = operation["request"]
    assert shown["map_container"] == shown["reduce_container"] == {"vcores": 1, "memory_bytes": GIB} and shown["reduce_ramp_up_limit"] == 0.5
    assert shown["cluster"]["nodes"][0] == {"name": "0", "vcores": 4, "memory_bytes": 4 * GIB, "speed": 1}
    again = ended(client, shown)
    assert again["request"] == shown and again["result"]["loads"] == operation["result"]["loads"]
    slots = ended(client, {"kind": "slots", "cluster": {"map_slots": 6, "reduce_slots": 2}, "jobs": jobs, "policies": [{"policy": "drf"}, {"policy": "fair"}]})
    assert "map_container" not in slots["request"] and "reduce_ramp_up_limit" not in slots["request"]
    drf, fair = slots["result"]["loads"][0]["policies"]
    assert drf["allocated"] is None and drf["makespan_s"] == fair["makespan_s"]


def test_containers_that_are_alike_are_slots_of_no_fixed_kind(client):
    jobs = [{"name": "A", "maps": 30, "map_task_s": 3, "reduces": 4, "reduce_task_s": 2, "shuffle_s": 1}, {"name": "B", "arrival_s": 2, "maps": 5, "map_task_s": 1}]
    policies = [{"policy": "fresh", "concurrency": 2}, {"policy": "omo"}]
    containers, slots = (
        simulate(client, {"kind": "slots", "cluster": {"nodes": [dict(node, name=str(i)) for i in range(4)]}, "jobs": jobs, "policies": policies})["loads"][0]["policies"]
        for node in ({"vcores": 3, "memory_bytes": 5 * GIB}, {"map_slots": 2, "reduce_slots": 1}))
    for alike, other in zip(containers, slots):
        assert {m: v for m, v in alike.items() if m not in {"allocated", "utilization"}} == {m: v for m, v in other.items() if m not in {"allocated", "utilization"}}
        assert 0 < alike["allocated"]["vcores"] <= 1 and other["allocated"] is None


def test_loads_are_of_the_scarcest_resource(client):
    """Vcores are the bottleneck: at load 2 the last job arrives after half the time that they are busy with all."""
    jobs = [{"name": str(i), "maps": 10, "map_task_s": 3, "map_container": {"vcores": 2, "memory_bytes": 1}} for i in range(200)]
    [load] = simulate(client, {"kind": "slots", "cluster": {"nodes": [{"name": "n", "vcores": 10, "memory_bytes": 1000}]}, "jobs": jobs, "policies": [{"policy": "drf"}],
                               "loads": [2]})["loads"]
    [drf] = load["policies"]
    assert 0.9 < drf["utilization"] <= 1 and drf["makespan_s"] == pytest.approx(200 * 10 * 3 * 2 / 10, rel=0.1)


def test_a_node_that_is_down_costs_time_and_no_task(client):
    for policy in by_name(simulate(client, changed(incidents=[{"node": "n", "at_s": 5, "until_s": 50, "down": True}]))["loads"][0]).values():
        bars = policy["slot_occupancy"]["bars"]
        assert sum(not bar["stopped"] for bar in bars) == 5 and any(bar["stopped"] for bar in bars)
        assert policy["makespan_s"] >= 60


NODE, SLOTS = GHODSI["cluster"]["nodes"][0], {"name": "s", "map_slots": 1, "reduce_slots": 1}
JOB, SMALL = GHODSI["jobs"][0], {"vcores": 1, "memory_bytes": 1}


@pytest.mark.parametrize("members, pointer, code", [
    ({"cluster": {"nodes": [NODE, SLOTS]}}, "/cluster/nodes/1/map_slots", "conflict"),
    ({"cluster": {"nodes": [SLOTS, NODE]}}, "/cluster/nodes/1/vcores", "conflict"),
    ({"cluster": {"nodes": [dict(NODE, map_slots=1, reduce_slots=1)]}}, "/cluster/nodes/0/vcores", "conflict"),
    ({"cluster": {"nodes": [{"name": "n", "vcores": 1}]}}, "/cluster/nodes/0/memory_bytes", "required"),
    ({"cluster": {"nodes": [{"name": "n", "map_slots": 1}]}}, "/cluster/nodes/0/reduce_slots", "required"),
    ({"cluster": {"nodes": [{"name": "n"}]}}, "/cluster/nodes/0/map_slots", "required"),
    ({"cluster": {"nodes": [dict(NODE, vcores=0)]}}, "/cluster/nodes/0/vcores", "out_of_range"),
    ({"cluster": {"nodes": [dict(NODE, memory_bytes=0)]}}, "/cluster/nodes/0/memory_bytes", "out_of_range"),
    ({"cluster": {"nodes": [dict(NODE, name=str(i), memory_bytes=2**53 - 1) for i in range(2)]}}, "/cluster/nodes", "out_of_range"),
    ({"cluster": {"map_slots": 1, "reduce_slots": 1}}, "/jobs/0/map_container", "conflict"),
    ({"cluster": {"nodes": [SLOTS]}, "jobs": [{"name": "j", "maps": 1, "map_task_s": 1}], "reduce_container": SMALL}, "/reduce_container", "conflict"),
    ({"cluster": {"nodes": [SLOTS]}, "jobs": [{"name": "j", "maps": 1, "map_task_s": 1}], "reduce_ramp_up_limit": 0.5}, "/reduce_ramp_up_limit", "conflict"),
    ({"jobs": [dict(JOB, map_container={"vcores": 10, "memory_bytes": 4})]}, "/jobs/0/map_container", "out_of_range"),
    ({"jobs": [JOB, {"name": "x", "reduces": 1, "reduce_task_s": 1}]}, "/reduce_container", "out_of_range"),
    ({"jobs": [dict(JOB, map_container={"vcores": 0, "memory_bytes": 4})]}, "/jobs/0/map_container/vcores", "out_of_range"),
    ({"jobs": [dict(JOB, map_container={"vcores": 1})]}, "/jobs/0/map_container/memory_bytes", "required"),
    ({"jobs": [dict(JOB, map_container=dict(SMALL, gpus=1))]}, "/jobs/0/map_container/gpus", "unknown_field"),
    ({"map_container": 3}, "/map_container", "wrong_type"),
    ({"reduce_ramp_up_limit": 1.5}, "/reduce_ramp_up_limit", "out_of_range"),
    ({"policies": [{"policy": "drff"}]}, "/policies/0/policy", "not_allowed"),
    ({"policies": [{"policy": "drf", "concurrency": 2}]}, "/policies/0/concurrency", "unknown_field"),
    ({"policies": [{"policy": "fair", "concurrency": 2}]}, "/policies/0/concurrency", "conflict"),
    ({"policies": [{"policy": "tags", "limits_s": [5], "partitions": [0.5, 0.5]}]}, "/policies/0/policy", "conflict"),
    ({"policies": [{"policy": "sita", "limits_s": [5], "partitions": [0.5, 0.5]}]}, "/policies/0/policy", "conflict"),
    ({"policies": [{"policy": "fresh_static", "concurrency": 1}]}, "/policies/0/policy", "conflict"),
    ({"policies": [{"policy": "omo"}]}, "/policies/0/policy", "conflict"),
    ({"policies": [{"policy": "fifo"}], "search": {"policies": [{"policy": "fbq"}]}}, "/search", "conflict"),
])
def test_faults_are_named(client, members, pointer, code):
    problem = client.post("/v1/simulations", changed(**members), 422).json()
    assert (pointer, code) in {(error["pointer"], error["code"]) for error in problem["errors"]}, problem


def test_a_container_that_fits_nowhere_is_described(client):
    problem = client.post("/v1/simulations", changed(jobs=[dict(JOB, map_container={"vcores": 10, "memory_bytes": 4})]), 422).json()
    assert "does not fit any node: it takes 10 vcores and 4 bytes of memory" in str(problem["errors"])


@pytest.fixture(scope="module")
def limited(make_service):
    service = make_service(PROVISOR_SIMULATION_JOB_TASK_RUNS_MAX=1000)
    token = service.token("alpha")
    return service.start().client(token)


def test_many_sizes_count_for_more_work(limited):
    """160 sizes of containers count ten times: of each task the first of every line is looked at."""
    cluster = {"nodes": [{"name": "n", "vcores": 9, "memory_bytes": 1000}]}
    jobs = [{"name": str(i), "maps": 1, "map_task_s": 1, "map_container": {"vcores": 1, "memory_bytes": 1 + i}} for i in range(160)]
    body = {"kind": "slots", "cluster": cluster, "jobs": jobs, "policies": [{"policy": "drf"}]}
    problem = limited.post("/v1/simulations", body, 422).json()
    assert "simulation_job_task_runs_max" in str(problem["errors"])
    for job in jobs:
        job["map_container"]["memory_bytes"] = 1
    assert ended(limited, body)["status"] == "succeeded"


def test_containers_of_a_workload_are_those_of_the_request(client):
    """Jobs of a workload have the containers of the request, and are simulated as those that are sent."""
    slots, _ = many_jobs(20)
    body = {"kind": "slots", "cluster": {"nodes": [{"name": str(i), "vcores": 4, "memory_bytes": 6} for i in range(3)]}, "reduce_ramp_up_limit": 0.25,
            "map_container": {"vcores": 1, "memory_bytes": 2}, "reduce_container": {"vcores": 2, "memory_bytes": 1}, "include": ["jobs"],
            "policies": [{"policy": "fifo"}, {"policy": "fair"}, {"policy": "drf", "speculation": "late"}]}
    kept = stored(client, slots)
    assert simulate(client, dict(body, workload=kept)) == simulate(client, dict(body, jobs=slots))
    problem = client.post("/v1/simulations", dict(body, workload=kept, map_container={"vcores": 5, "memory_bytes": 1}), 422).json()
    assert [(error["pointer"], error["code"]) for error in problem["errors"]] == [("/map_container", "out_of_range")]
