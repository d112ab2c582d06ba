"""Clusters referenced by name where a request may also tell their size: the same answer, and clear faults."""
import uuid

import pytest

JOBS = [{"name": "A", "deadline_s": 9, "stages": [{"id": 0, "task_durations_s": [4, 4, 4, 4]}]}]
STAGES = [{"id": 0, "parents": [], "duration_s": 100}, {"id": 1, "parents": [0], "duration_s": 60}]
SHARES = {"applications": [{"name": "A", "requested_cores": 10}, {"name": "B", "requested_cores": 8}]}
CALLS = {"/v1/feasibility": {"jobs": JOBS}, "/v1/stage-plans": {"deadline_s": 60, "stages": STAGES}, "/v1/contention": SHARES}


@pytest.fixture(scope="module")
def lonely(service):
    client = service.client(service.token("named-" + uuid.uuid4().hex[:8]))
    client.put("/v1/clusters/whole", {"executors": 2, "cores_per_executor": 3}, 201)
    client.put("/v1/clusters/nameless", {"cores_per_executor": 3}, 201)
    client.put("/v1/clusters/coreless", {"executors": 2}, 201)
    return client


def told(path):
    size = {"executors": 2, "cores_per_executor": 3}
    return {"/v1/feasibility": {"cluster": size}, "/v1/stage-plans": size, "/v1/contention": {"max_cores": 6}}[path]


@pytest.mark.parametrize("path", CALLS)
def test_a_name_answers_as_the_size_does(lonely, path):
    named = lonely.post(path, dict(CALLS[path], cluster="whole"), 200).json()
    assert named == lonely.post(path, dict(CALLS[path], **told(path)), 200).json()


@pytest.mark.parametrize("path", CALLS)
def test_a_cluster_that_is_not_there_is_a_fault_at_its_name(lonely, stranger, path):
    for client, name in ((lonely, "nobody"), (stranger, "whole")):
        problem = client.refuse("POST", path, 422, pointer="/cluster", json=dict(CALLS[path], cluster=name))
        assert problem["errors"][0]["code"] == "unknown_cluster"
    lonely.refuse("POST", path, 422, pointer="/cluster", json=dict(CALLS[path], cluster=""))
    lonely.refuse("POST", path, 422, pointer="/cluster", json=dict(CALLS[path], cluster=7))


@pytest.mark.parametrize("path", CALLS)
@pytest.mark.parametrize("name,member", [("nameless", "executors"), ("coreless", "cores_per_executor")])
def test_what_a_cluster_attribute_missing_is_named(lonely, path, name, member):
    problem = lonely.refuse("POST", path, 422, pointer="/cluster", json=dict(CALLS[path], cluster=name))
    assert problem["errors"][0]["code"] == "cluster_attribute_missing" and " %s," % member in problem["errors"][0]["detail"]


def test_what_the_request_tells_comes_first(lonely):
    plan = dict(CALLS["/v1/stage-plans"], cluster="nameless", executors=2)
    assert lonely.post("/v1/stage-plans", plan, 200).json() == \
        lonely.post("/v1/stage-plans", dict(CALLS["/v1/stage-plans"], **told("/v1/stage-plans")), 200).json()
    shares = lonely.post("/v1/contention", dict(SHARES, cluster="whole", max_cores=9), 200).json()
    assert shares == lonely.post("/v1/contention", dict(SHARES, max_cores=9), 200).json()


def test_without_a_name_the_size_is_needed(lonely):
    lonely.refuse("POST", "/v1/feasibility", 422, pointer="/cluster", json={"jobs": JOBS})
    lonely.refuse("POST", "/v1/stage-plans", 422, pointer="/executors", json=CALLS["/v1/stage-plans"])
    lonely.refuse("POST", "/v1/contention", 422, pointer="/max_cores", json=SHARES)


def test_more_cores_than_the_service_takes(make_service):
    """A cluster may have been told when the limit was higher."""
    service = make_service()
    service.start()
    client = service.client(service.token("cores"))
    client.put("/v1/clusters/c", {"executors": 100, "cores_per_executor": 10}, 201)
    service.stop()
    service.start(PROVISOR_CORES_MAX=999)
    for path in CALLS:
        assert "cores_max" in client.refuse("POST", path, 422, pointer="/cluster", json=dict(CALLS[path], cluster="c"))["errors"][0]["detail"]
