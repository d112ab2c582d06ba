"""POST /v1/simulations of kind slots on nodes: speeds, incidents, and copies of tasks."""
import copy

import pytest

from test_scheduling_simulations import ALL_SLOTS, ended, simulate

NODES = [{"name": "a", "map_slots": 1, "reduce_slots": 0}, {"name": "b", "map_slots": 1, "reduce_slots": 0},
         {"name": "c", "map_slots": 1, "reduce_slots": 1}]
# Node c slows to a tenth: LATE asks at 12 for a copy of its map, which runs on b from 12 to 22 (tests/unit, by hand).
SLOW = {"kind": "slots", "cluster": {"nodes": NODES}, "incidents": [{"node": "c", "at_s": 0, "until_s": 1000, "speed_factor": 0.1}],
        "jobs": [{"name": "job", "maps": 4, "map_task_s": 10}],
        "policies": [{"policy": "fifo", "name": "none"}, {"policy": "fifo", "name": "late", "speculation": "late", "epoch_s": 4},
                     {"policy": "fifo", "name": "esplash", "speculation": "esplash"}],
        "objective": "makespan", "include": ["jobs", "fairness", "occupancy"]}


@pytest.fixture(scope="module")
def client(make_service):
    service = make_service()
    token = service.token("alpha")
    return service.start().client(token)


def changed(**members):
    return dict(copy.deepcopy(SLOW), **members)


def test_copies_are_made_counted_and_shown(client):
    result = simulate(client, SLOW)
    none, late, esplash = result["loads"][0]["policies"]
    assert none["makespan_s"] == 100 and none["speculation"] is None
    assert late["makespan_s"] == 22
    assert late["speculation"] == {"copies": 1, "useful": 1, "killed_on_straggler": 0, "killed_on_slower": 0, "wasted_s": 0}
    assert esplash["speculation"]["copies"] <= 4
    assert result["loads"][0]["best"]["name"] in {"late", "esplash"}
    bars = late["slot_occupancy"]["bars"]
    assert late["slot_occupancy"]["omitted"] == 0 and len(bars) == 5
    assert [bar for bar in bars if bar["is_copy"]] == [{"node": "b", "lane": 0, "task_kind": "map", "job": "job", "start_s": 12, "work_start_s": 12,
                                                       "end_s": 22, "is_copy": True, "stopped": False}]
    assert [bar["node"] for bar in bars if bar["stopped"]] == ["c"]
    assert set(late["fairness_over_time"]["values"]) == {1.0}


def test_nodes_alike_are_a_cluster_without_nodes(client):
    jobs = [{"name": "A", "maps": 30, "map_task_s": 3, "reduces": 4, "reduce_task_s": 2, "shuffle_s": 1}, {"name": "B", "arrival_s": 2, "maps": 5, "map_task_s": 1}]
    nodes = {"nodes": [{"name": str(i), "map_slots": 2, "reduce_slots": 1} for i in range(4)]}
    with_nodes, without = (simulate(client, {"kind": "slots", "cluster": cluster, "jobs": jobs, "policies": ALL_SLOTS})
                           for cluster in (nodes, {"map_slots": 8, "reduce_slots": 4}))
    assert with_nodes["loads"] == without["loads"]
    assert all(policy["phases"]["map_only_s"] >= 0 for policy in with_nodes["loads"][0]["policies"])


def test_a_node_that_is_down_costs_time_and_no_task(client):
    down = [{"node": "a", "at_s": 5, "until_s": 50, "down": True}]
    operation = ended(client, changed(incidents=down))
    assert operation["status"] == "succeeded"
    bars = operation["result"]["loads"][0]["policies"][0]["slot_occupancy"]["bars"]
    assert sum(not bar["stopped"] for bar in bars) == 4 and sum(bar["stopped"] for bar in bars) == 1


@pytest.mark.parametrize("members, pointer, code", [
    ({"cluster": {"map_slots": 1}}, "/cluster/reduce_slots", "required"),
    ({"cluster": {"nodes": NODES, "map_slots": 1}}, "/cluster/map_slots", "conflict"),
    ({"cluster": {"nodes": [NODES[0], NODES[0]]}}, "/cluster/nodes/1/name", "duplicate"),
    ({"cluster": {"nodes": [dict(NODES[0], map_slots=0)]}, "incidents": []}, "/cluster/nodes", "out_of_range"),
    ({"cluster": {"nodes": [dict(NODES[0], level=1), NODES[2]]}}, "/cluster/nodes/1/level", "required"),
    ({"cluster": {"map_slots": 1, "reduce_slots": 1}}, "/cluster/nodes", "required"),
    ({"incidents": [{"node": "x", "at_s": 0, "until_s": 1, "down": True}]}, "/incidents/0/node", "not_allowed"),
    ({"incidents": [{"node": "a", "at_s": 1, "until_s": 1, "down": True}]}, "/incidents/0/until_s", "out_of_range"),
    ({"incidents": [{"node": "a", "at_s": 0, "until_s": 1}]}, "/incidents/0/speed_factor", "required"),
    ({"incidents": [{"node": "a", "at_s": 0, "until_s": 1, "down": True, "speed_factor": 1}]}, "/incidents/0/speed_factor", "conflict"),
    ({"policies": [{"policy": "fifo", "speculation": "sometimes"}]}, "/policies/0/speculation", "not_allowed"),
    ({"policies": [{"policy": "fifo", "speculation": "late", "threshold": 3}]}, "/policies/0/threshold", "unknown_field"),
    ({"policies": [{"policy": "fifo", "epoch_s": 3}]}, "/policies/0/epoch_s", "unknown_field"),
    ({"policies": [{"policy": "fifo", "speculation": "esplash", "level_count": 4}]}, "/policies/0/level_count", "out_of_range"),
    ({"jobs": [{"name": "j", "reduces": 1, "reduce_task_s": 1}], "cluster": {"nodes": NODES[:2]}, "incidents": []}, "/cluster/nodes", "out_of_range"),
])
def test_faults_are_named(client, members, pointer, code):
    problem = client.post("/v1/simulations", changed(**members), 422).json()
    assert (pointer, code) in {(error["pointer"], error["code"]) for error in problem["errors"]}


@pytest.fixture(scope="module")
def limited(make_service):
    service = make_service(PROVISOR_SPECULATION_AUTO_NODES_MAX=2, PROVISOR_SIMULATION_SPECULATION_LOOKS_MAX=1000)
    token = service.token("alpha")
    return service.start().client(token)


def test_levels_are_found_for_a_limited_number_of_nodes(limited):
    [error] = limited.post("/v1/simulations", SLOW, 422).json()["errors"]
    assert (error["pointer"], error["code"]) == ("/policies/2/level_count", "out_of_range")
    assert "at most 2 nodes (speculation_auto_nodes_max), they are 3" in error["detail"]
    nodes = [dict(NODES[0], name=f"n{i}") for i in range(9)]
    body = dict(SLOW, cluster={"nodes": nodes}, incidents=[], policies=[{"policy": "fifo", "speculation": "esplash", "level_count": 9}])
    [error] = limited.post("/v1/simulations", body, 422).json()["errors"]
    assert (error["pointer"], error["code"]) == ("/policies/0/level_count", "out_of_range")
    assert "nodes x levels may be at most 4 (the square of speculation_auto_nodes_max), they are 81" in error["detail"]


@pytest.mark.parametrize("arrival_s, epoch_s, detail", [
    (0, 4, None), (0, 0.5, "(its share of simulation_speculation_looks_max)"), (342581850318.1944, 1e-9, "too short to be counted"),
])
def test_decisions_on_speculation_are_limited(limited, arrival_s, epoch_s, detail):
    """A simulation that comes to more of them fails, and so does one whose epochs cannot be told from each other."""
    seen = ended(limited, changed(jobs=[{"name": "job", "maps": 4, "map_task_s": 10, "arrival_s": arrival_s}],
                                  policies=[{"policy": "fifo", "speculation": "late", "epoch_s": epoch_s}]))
    assert seen["status"] == ("failed" if detail else "succeeded"), seen
    if detail:
        [error] = seen["error"]["errors"]
        assert error["pointer"] == "/policies" and detail in error["detail"]


def test_incidents_count_as_work(client):
    """Every one of 1000 incidents changes the speed of all 600,000 tasks that the node may have, twice."""
    nodes = [{"name": "a", "map_slots": 600000, "reduce_slots": 0}]
    incidents = [{"node": "a", "at_s": i, "until_s": i + 0.5, "speed_factor": 0.5} for i in range(1000)]
    body = dict(SLOW, cluster={"nodes": nodes}, incidents=incidents, policies=[{"policy": "fifo"}], include=[],
                jobs=[{"name": "j", "maps": 600000, "map_task_s": 10000}])
    errors = client.post("/v1/simulations", body, 422).json()["errors"]
    assert any("are 1200600000; 1000000000 are allowed (simulation_job_task_runs_max)" in error["detail"] for error in errors), errors
