"""POST /v1/contention: the five strategies through the door, defaults, faults, limits."""
import pytest


def app(name, requested, **more):
    return dict({"name": name, "requested_cores": requested}, **more)


# S. Ripamonti's thesis, tables 3.2 to 3.6.
THESIS = [app("A", 10, time_to_complete_s=50, remaining_tasks=40, nominal_rate=1000000),
          app("B", 8, time_to_complete_s=60, remaining_tasks=40, nominal_rate=1000000),
          app("C", 12, time_to_complete_s=70, remaining_tasks=40, nominal_rate=500000)]


def share(client, applications, max_cores=16, **more):
    body = dict({"max_cores": max_cores, "applications": applications}, **more)
    return client.post("/v1/contention", body, 200).json()


@pytest.mark.parametrize("strategy, weights, cores", [
    ("edf_all", [None] * 3, [16, 0, 0]),
    ("edf_pure", [None] * 3, [10, 6, 0]),
    ("edf_proportional", [32 / 33, 22 / 33, 12 / 33], [256 / 33, 176 / 33, 96 / 33]),
    ("proportional", [1 / 3, 4 / 15, 0.4], [16 / 3, 64 / 15, 6.4]),
    ("speed", [1, 1, 2], [4, 4, 8])])
def test_the_tables_of_the_thesis(client, strategy, weights, cores):
    answer = share(client, THESIS, strategy=strategy, average_nominal_rate=1000000)
    assert answer["contention"] is True and answer["requested_cores"] == 30
    assert [a["name"] for a in answer["allocations"]] == ["A", "B", "C"]
    assert [a["weight"] for a in answer["allocations"]] == [w if w is None else pytest.approx(w) for w in weights]
    for member in ("saturating_cores", "cores"):
        assert [a[member] for a in answer["allocations"]] == pytest.approx(cores)


def test_proportional_and_all_cores_unless_told(client):
    answer = share(client, [app("A", 2), app("B", 6)])
    assert answer.pop("reasons") and answer == {"contention": False, "requested_cores": 8, "allocations": [
        {"name": "A", "weight": 0.25, "saturating_cores": 4, "cores": 4},
        {"name": "B", "weight": 0.75, "saturating_cores": 12, "cores": 12}]}
    answer = share(client, [app("A", 2), app("B", 6)], gamma=0.5)
    assert [a["cores"] for a in answer["allocations"]] == [3, 9]


def test_the_average_rate_scales_weights_and_not_cores(client):
    usual = share(client, THESIS, strategy="speed")["allocations"]
    other = share(client, THESIS, strategy="speed", average_nominal_rate=250000)["allocations"]
    assert [a["cores"] for a in usual] == [a["cores"] for a in other]
    assert [a["weight"] for a in other] == [a["weight"] / 4 for a in usual]


def test_a_strategy_says_what_it_misses(client):
    def refuse(pointer, **body):
        client.refuse("POST", "/v1/contention", 422, pointer=pointer, json=dict({"max_cores": 16}, **body))

    refuse("/applications/0/nominal_rate", strategy="speed", applications=[app("A", 1)])
    refuse("/applications/1/nominal_rate", strategy="speed", applications=[THESIS[0], app("B", 1, nominal_rate=0)])
    refuse("/applications/0/remaining_tasks", strategy="edf_all", applications=[app("A", 1, time_to_complete_s=4)])
    refuse("/applications/0/time_to_complete_s", strategy="edf_pure", applications=[app("A", 1, time_to_complete_s=None)])


def test_faults_come_with_pointers_and_all_at_once(client):
    body = {"strategy": "fair", "gamma": 2, "seed": 1, "applications": [app("A", -1), app("A", 1), 5]}
    problem = client.refuse("POST", "/v1/contention", 422, json=body)
    assert {e["pointer"] for e in problem["errors"]} == {
        "/strategy", "/gamma", "/seed", "/max_cores", "/applications/0/requested_cores", "/applications/1/name",
        "/applications/2"}
    client.refuse("POST", "/v1/contention?deep=1", 422, parameter="deep", json=body)


def test_limits_have_their_own_faults(make_service):
    service = make_service(PROVISOR_JOBS_MAX=2, PROVISOR_CORES_MAX=8)
    token = service.token("limits")
    service.start()
    client = service.client(token)
    client.refuse("POST", "/v1/contention", 422, pointer="/applications", json={"max_cores": 8, "applications": THESIS})
    client.refuse("POST", "/v1/contention", 422, pointer="/max_cores", json={"max_cores": 9, "applications": THESIS[:2]})
    share(client, THESIS[:2], max_cores=8)


def test_the_reasons_say_whether_there_is_contention(client):
    def codes(**more):
        reply = client.post("/v1/contention", dict({"max_cores": 8, "applications": [{"name": "A", "requested_cores": 3}]}, **more), 200).json()
        return [r["code"] for r in reply["reasons"]]

    assert codes(gamma=0) == ["no_contention"]
    assert codes() == ["no_contention", "saturating"]
    assert codes(max_cores=2) == ["contention"]
    assert codes(applications=[{"name": "A", "requested_cores": 0}]) == ["nothing_requested"]
