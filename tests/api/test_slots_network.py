"""POST /v1/simulations of kind slots whose shuffles share the network of the nodes."""
import copy
import time

import pytest

from long_work import wait_for
from patience import SLOWDOWN
from test_scheduling_simulations import ALL_SLOTS, ended, running, simulate

NODES = [{"name": "maps", "map_slots": 1, "reduce_slots": 0}, {"name": "r1", "map_slots": 0, "reduce_slots": 1}, {"name": "r2", "map_slots": 0, "reduce_slots": 1}]
# The map ends at 5; two reduces fetch 20 bytes each from its node, at 5 a second, until 9 (tests/unit, by hand).
SHUFFLE = {"kind": "slots", "cluster": {"nodes": NODES, "bandwidth_bytes_per_s": 10}, "slow_start": 1, "objective": "makespan",
           "jobs": [{"name": "job", "maps": 1, "map_task_s": 5, "reduces": 2, "reduce_task_s": 3, "shuffle_bytes": 40}],
           "policies": [{"policy": "fifo"}]}


@pytest.fixture(scope="module")
def client(make_service):
    service = make_service()
    token = service.token("alpha")
    return service.start().client(token)


def changed(**members):
    return dict(copy.deepcopy(SHUFFLE), **members)


def job(**members):
    return dict(SHUFFLE["jobs"][0], **members)


def outcome(client, body):
    [policy] = simulate(client, body)["loads"][0]["policies"]
    return policy


def test_reduces_share_a_link(client):
    seen = outcome(client, SHUFFLE)
    assert seen["makespan_s"] == 12 and seen["phases"]["shuffle_only_s"] == 4
    assert seen["network"] == {"link_bytes": 40, "local_bytes": 0, "link_utilization": pytest.approx(8 / 6 / 12), "busiest_link_utilization": pytest.approx(4 / 12)}


def test_a_node_has_its_own_bandwidth(client):
    nodes = [dict(NODES[0], bandwidth_bytes_per_s=20), *NODES[1:]]
    assert outcome(client, changed(cluster={"nodes": nodes, "bandwidth_bytes_per_s": 10}))["makespan_s"] == 10
    assert outcome(client, changed(cluster={"nodes": [dict(node, bandwidth_bytes_per_s=10) for node in NODES]}))["makespan_s"] == 12


# The same jobs in containers: maps fit on the first node only, reduces on one of the others each.
ROOMS = [{"name": "maps", "vcores": 1, "memory_bytes": 1}, *({"name": name, "vcores": 1, "memory_bytes": 2} for name in ("r1", "r2"))]
CONTAINERS = {"map_container": {"vcores": 1, "memory_bytes": 1}, "reduce_container": {"vcores": 1, "memory_bytes": 2}}


def test_containers_share_links_too(client):
    for cluster in ({"nodes": ROOMS, "bandwidth_bytes_per_s": 10}, {"nodes": [dict(node, bandwidth_bytes_per_s=10) for node in ROOMS]}):
        seen = outcome(client, changed(cluster=cluster, **CONTAINERS))
        assert seen["makespan_s"] == 12 and seen["phases"]["shuffle_only_s"] == 4
        assert seen["network"]["link_bytes"] == 40 and seen["allocated"]["memory_bytes"] == pytest.approx((5 + 2 * 2 * 7) / 5 / 12)
    errors = client.post("/v1/simulations", changed(cluster={"nodes": ROOMS}, **CONTAINERS), 422).json()["errors"]
    assert {error["pointer"] for error in errors} == {f"/cluster/nodes/{i}/bandwidth_bytes_per_s" for i in range(3)}


def test_outputs_in_containers_are_down_with_their_node(client):
    body = changed(cluster={"nodes": ROOMS[:2], "bandwidth_bytes_per_s": 10}, incidents=[{"node": "maps", "at_s": 6, "until_s": 9, "down": True}], **CONTAINERS)
    body["jobs"][0]["reduces"] = 1
    assert outcome(client, body)["makespan_s"] == 15  # 40 bytes from 5 to 12


def test_bandwidth_without_bytes_changes_nothing(client):
    jobs = [job(shuffle_bytes=0, shuffle_s=2)]
    policies = [policy for policy in ALL_SLOTS if "partitions" not in policy]
    with_links, without = (simulate(client, changed(jobs=jobs, cluster=cluster, policies=policies))
                           for cluster in (SHUFFLE["cluster"], {"nodes": NODES}))
    assert with_links["loads"] == without["loads"]
    assert all(policy["network"] is None for policy in with_links["loads"][0]["policies"])


def test_the_request_is_shown_complete(client):
    request = ended(client, SHUFFLE)["request"]
    assert request["jobs"][0]["shuffle_bytes"] == 40 and request["cluster"]["bandwidth_bytes_per_s"] == 10
    assert "bandwidth_bytes_per_s" not in request["cluster"]["nodes"][0]


@pytest.mark.parametrize("members, pointer, code", [
    ({"cluster": {"map_slots": 1, "reduce_slots": 1}}, "/cluster/nodes", "required"),
    ({"cluster": {"nodes": NODES}}, "/cluster/nodes/0/bandwidth_bytes_per_s", "required"),
    ({"cluster": {"nodes": [dict(NODES[0], bandwidth_bytes_per_s=1), *NODES[1:]]}}, "/cluster/nodes/2/bandwidth_bytes_per_s", "required"),
    ({"cluster": {"nodes": [dict(NODES[0], bandwidth_bytes_per_s=0), *NODES[1:]]}}, "/cluster/nodes/0/bandwidth_bytes_per_s", "out_of_range"),
    ({"cluster": {"nodes": NODES, "bandwidth_bytes_per_s": 1e19}}, "/cluster/bandwidth_bytes_per_s", "out_of_range"),
    ({"cluster": {"map_slots": 1, "reduce_slots": 1, "bandwidth_bytes_per_s": 1}, "jobs": [job(shuffle_bytes=0)]}, "/cluster/nodes", "required"),
    ({"jobs": [job(shuffle_bytes=-1)]}, "/jobs/0/shuffle_bytes", "out_of_range"),
    ({"jobs": [job(shuffle_bytes="40")]}, "/jobs/0/shuffle_bytes", "wrong_type"),
    # The shuffle may take so long that doubles cannot tell when a task ended.
    ({"jobs": [job(shuffle_bytes=9e15)], "cluster": {"nodes": NODES, "bandwidth_bytes_per_s": 1e-3}}, "/jobs", "out_of_range"),
])
def test_faults_are_named(client, members, pointer, code):
    problem = client.post("/v1/simulations", changed(**members), 422).json()
    assert (pointer, code) in {(error["pointer"], error["code"]) for error in problem["errors"]}


def test_a_search_goes_by_the_network_too(client):
    nodes = [{"name": str(i), "map_slots": 1, "reduce_slots": 1} for i in range(3)]
    jobs = [dict(job(maps=4, shuffle_bytes=20 * (i + 1)), name=str(i), arrival_s=i) for i in range(12)]
    result = simulate(client, changed(cluster={"nodes": nodes, "bandwidth_bytes_per_s": 10}, jobs=jobs, search={"policies": [{"policy": "fair"}]}))
    assert result["loads"][0]["search"]["best"]["policy"] == "fair"
    assert all(policy["network"]["link_bytes"] > 0 for policy in result["loads"][0]["policies"])


# --- limits ---

def large(nodes, jobs=1, maps=2000, reduces=400):
    """Tasks that all differ, so that every end changes what flows."""
    listed = [{"name": str(i), "map_durations_s": [10 + k % 97 / 7 for k in range(maps)], "reduce_durations_s": [5 + k % 13 for k in range(reduces)],
               "shuffle_bytes": 1e12} for i in range(jobs)]
    return changed(cluster={"nodes": [{"name": str(i), "map_slots": 4, "reduce_slots": 4} for i in range(nodes)], "bandwidth_bytes_per_s": 1e8}, jobs=listed)


@pytest.fixture(scope="module")
def limited(make_service):
    service = make_service(PROVISOR_SIMULATION_JOB_TASK_RUNS_MAX=10000000, PROVISOR_SIMULATION_MEMORY_BYTES_MAX=40000000, PROVISOR_SIMULATION_NETWORK_STEPS_MAX=2000)
    token = service.token("alpha")
    return service.start().client(token)


def test_the_network_counts_as_tasks(limited):
    # 2,400 tasks, and (2000 + 400) x 200 x 200 / 8.
    errors = limited.post("/v1/simulations", large(200), 422).json()["errors"]
    [error] = [error for error in errors if "simulation_job_task_runs_max" in error["detail"]]
    assert (error["pointer"], error["code"]) == ("/jobs", "out_of_range") and "12002400" in error["detail"]


def test_memory_is_refused_before(limited):
    body = large(100)
    body["cluster"]["nodes"] = [dict(node, reduce_slots=40) for node in body["cluster"]["nodes"]]
    body["jobs"][0].update(maps=100, map_task_s=1, reduces=1000, reduce_task_s=1)
    for listed in ("map_durations_s", "reduce_durations_s"):
        del body["jobs"][0][listed]
    [error] = limited.post("/v1/simulations", body, 422).json()["errors"]
    assert (error["pointer"], error["code"]) == ("/policies/0", "too_large") and "simulation_memory_bytes_max" in error["detail"]


def test_steps_of_the_network_are_limited(limited):
    failed = ended(limited, large(20, maps=200, reduces=40))
    assert failed["status"] == "failed", failed
    [error] = failed["error"]["errors"]
    assert error["pointer"] == "/jobs" and "simulation_network_steps_max" in error["detail"]
    assert ended(limited, SHUFFLE)["status"] == "succeeded"


def test_cancelled_within_a_second(client):
    made = running(client, large(100, jobs=4))
    began = time.monotonic()
    client.delete("/v1/operations/" + made, (200, 202))
    assert wait_for(client, made)["status"] == "cancelled" and time.monotonic() - began < 1.5 * SLOWDOWN
