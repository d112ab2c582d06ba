"""`cluster` has one shape in every request that needs the size of one: a registered name, or the size itself."""
import uuid

import pytest

from test_admissions import add_run

SIZE = {"executors": 4, "cores_per_executor": 2}
MEMORY = 8 * 2**30
STAGES = [{"id": 0, "task_durations_s": [4.0] * 24}]
JOB = {"application": "etl", "problem_size": 64, "deadline_s": 60}
# Path, members beside `cluster`, and where in the body the member is.
CALLS = {
    "feasibility": ("/v1/feasibility", {"jobs": [{"name": "a", "deadline_s": 30, "stages": STAGES}]}, ()),
    "control": ("/v1/control-simulations", {"jobs": [{"name": "a", "deadline_s": 30, "stages": STAGES}], "strategies": ["edf_all"]}, ()),
    "contention": ("/v1/contention", {"applications": [{"name": "a", "requested_cores": 10}, {"name": "b", "requested_cores": 5}]}, ()),
    "stage-plans": ("/v1/stage-plans", {"deadline_s": 60, "stages": [{"id": 0, "task_duration_s": 4, "tasks": 24}]}, ()),
    "batch": ("/v1/advice/batch?dry_run=true", {"items": [JOB, {**JOB, "deadline_s": 40}]}, ()),
    "advice": ("/v1/advice?dry_run=true", JOB, ("constraints",)),
}


@pytest.fixture(scope="module")
def client(service):
    client = service.client(service.token("given-" + uuid.uuid4().hex[:8]))
    client.put("/v1/clusters/small", {**SIZE, "memory_bytes_per_executor": MEMORY // 4}, 201)
    for executors in (1, 2, 4, 8):
        add_run(client, "etl", executors=executors, duration_s=round(100 / executors + 4, 3),
                stages=[{"id": 0, "parents": [], "task_durations_s": [6.25] * 64}])
    return client


def body_of(call, cluster):
    path, body, where = CALLS[call]
    body = {**body, where[0]: {"cluster": cluster}} if where else {**body, "cluster": cluster}
    return path, body


def without_names(reply):
    """The answer without what names the cluster, and what differs from call to call."""
    if isinstance(reply, dict):
        return {k: without_names(v) for k, v in reply.items() if k not in ("id", "created_at", "cluster", "message", "version")}
    return [without_names(v) for v in reply] if isinstance(reply, list) else reply


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("memory", [False, True], ids=["cores", "memory"])
def test_a_size_is_answered_as_the_registered_cluster(client, call, memory):
    size = {**SIZE, "memory_bytes": MEMORY} if memory else SIZE
    path, named = body_of(call, "small")
    _, sized = body_of(call, size)
    assert without_names(client.post(path, sized, status=200).json()) == without_names(client.post(path, named, status=200).json())


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("cluster, member", [
    (7, ""), (["small"], ""), ("nowhere", ""), ({"executors": 4}, "/cores_per_executor"), ({**SIZE, "executors": 0}, "/executors"),
    ({**SIZE, "cores": 8}, "/cores"), ({"executors": 10**6, "cores_per_executor": 10**6}, None)])
def test_what_is_neither_is_refused(client, call, cluster, member):
    path, body = body_of(call, cluster)
    where = "".join("/" + name for name in CALLS[call][2]) + "/cluster"
    problem = client.refuse("POST", path, 422, json=body)
    pointers = [error["pointer"] for error in problem["errors"]]
    assert any(p.startswith(where) for p in pointers) if member is None else where + member in pointers, problem


def test_a_cluster_of_the_request_bounds_advice(client):
    path, body = body_of("advice", {"executors": 2, "cores_per_executor": 4})
    advice = client.post(path, body, status=200).json()
    reason = next(r for r in advice["reasons"] if r["code"] == "cluster")
    assert reason["message"].startswith("The cluster of the request has 2 executors of 4 cores") and "cluster" not in reason["evidence"]
    assert advice["recommendation"]["executors"] <= 2


def test_a_batch_says_which_cluster_it_was(client):
    size = {**SIZE, "memory_bytes": MEMORY}
    body = {"cluster": size, "items": [JOB], "launch_order": "first_come"}
    made = client.post("/v1/advice/batch?dry_run=true", body, status=200).json()
    assert made["cluster"] == size and made["jobs"][0]["memory_bytes"] > 0
    named = client.post("/v1/advice/batch?dry_run=true", {**body, "cluster": "small"}, status=200).json()
    assert made["jobs"] == named["jobs"]
    client.refuse("POST", "/v1/advice/batch", 422, pointer="/cluster/memory_bytes", json={**body, "cluster": SIZE})


@pytest.mark.parametrize("change", [{"constraints": {"cluster": SIZE, "beside_admissions": True}}, {"constraints": {"cluster": SIZE}, "running_from": "advice"}])
def test_what_is_stored_of_a_cluster_needs_its_name(client, change):
    client.refuse("POST", "/v1/advice", 422, pointer="/constraints/cluster", json={**JOB, **change})
