"""POST /v1/memory-plans: heaps and off-heap memory of one worker through the door, faults, limits, warnings."""
import pytest

GIB = 1 << 30


def plan(client, applications, system=64 * GIB, **more):
    body = {"system_memory_bytes": system, "applications": [dict(a, name=a.get("name", "abcdefg"[i])) for i, a in enumerate(applications)], **more}
    return client.post("/v1/memory-plans", body, 200).json()


def test_what_each_gets_now_and_after_another_ends(client):
    answer = plan(client, [{"heap_bytes": 8 * GIB}, {"heap_bytes": 16 * GIB, "off_heap": False}, {"heap_bytes": 8 * GIB}])
    assert answer["fits"] and answer["off_heap_pool_bytes"] == 32 * GIB and answer["off_heap_bytes_each"] == 16 * GIB
    assert [a["off_heap_bytes"] for a in answer["applications"]] == [16 * GIB, 0, 16 * GIB]
    assert [a["off_heap_bytes_after_end"] for a in answer["applications"]] == [40 * GIB, 24 * GIB, 40 * GIB]
    assert "newcomer" not in answer and "options" not in answer and answer["warnings"] == []


def test_a_newcomer_and_other_heaps(client):
    answer = plan(client, [{"heap_bytes": 16 * GIB}], newcomer={"heap_bytes": 16 * GIB}, heap_options_bytes=[64 * GIB, 10 * GIB, 65 * GIB])
    assert answer["newcomer"] == {"starts": True, "off_heap_bytes_each": 16 * GIB}
    assert [o["applications"] for o in answer["options"]] == [1, 6, 0]
    assert plan(client, [{"heap_bytes": 60 * GIB}], newcomer={"heap_bytes": 5 * GIB})["newcomer"] == {"starts": False, "off_heap_bytes_each": None}


def test_the_earliest_deadline_starts_first(client):
    applications = [{"heap_bytes": 40 * GIB, "deadline_s": 20}, {"heap_bytes": 40 * GIB, "deadline_s": -5}]
    assert [a["starts"] for a in plan(client, applications)["applications"]] == [True, False]
    assert [a["starts"] for a in plan(client, applications, order="earliest_deadline")["applications"]] == [False, True]


def test_warnings_name_what_can_never_start(client):
    answer = plan(client, [{"heap_bytes": 64 * GIB}, {"heap_bytes": 65 * GIB, "name": "reports of <2026>"}, {"heap_bytes": 99 * GIB}])
    assert not answer["fits"] and [w["code"] for w in answer["warnings"]] == ["heap_exceeds_memory", "no_off_heap_memory"]
    assert "2 applications never start" in answer["warnings"][0]["message"] and "reports of <2026>" in answer["warnings"][0]["message"]
    assert "a never starts: its heap" in plan(client, [{"heap_bytes": 65 * GIB}])["warnings"][0]["message"]


def test_faults_come_with_pointers_and_all_at_once(client):
    body = {"system_memory_bytes": 0, "order": "random", "heaps": 1, "newcomer": {"heap_bytes": 1.5}, "heap_options_bytes": [4, 0],
            "applications": [{"name": "a", "heap_bytes": 1}, {"name": "a", "heap_bytes": "4g"}, 5]}
    problem = client.refuse("POST", "/v1/memory-plans", 422, json=body)
    assert {e["pointer"]: e["code"] for e in problem["errors"]} == {
        "/system_memory_bytes": "out_of_range", "/order": "not_allowed", "/heaps": "unknown_field", "/newcomer/heap_bytes": "wrong_type",
        "/heap_options_bytes/1": "out_of_range", "/applications/1/name": "duplicate", "/applications/1/heap_bytes": "wrong_type",
        "/applications/2": "wrong_type"}
    client.refuse("POST", "/v1/memory-plans?deep=1", 422, parameter="deep", json=body)


@pytest.mark.parametrize("deadline", [{}, {"deadline_s": None}])
def test_an_order_by_deadline_needs_deadlines(client, deadline):
    body = {"system_memory_bytes": 9, "order": "earliest_deadline", "applications": [{"name": "a", "heap_bytes": 1, "deadline_s": 3},
                                                                                     {"name": "b", "heap_bytes": 1, **deadline}]}
    problem = client.refuse("POST", "/v1/memory-plans", 422, pointer="/applications/1/deadline_s", json=body)
    assert problem["errors"][0]["code"] == "required"


def test_the_limit_of_applications(make_service):
    service = make_service(PROVISOR_MEMORY_PLAN_APPLICATIONS_MAX=2)
    token = service.token("limits")
    service.start()
    client = service.client(token)
    plan(client, 2 * [{"heap_bytes": 1}])
    body = {"system_memory_bytes": 9, "applications": [{"name": n, "heap_bytes": 1} for n in "abc"]}
    problem = client.refuse("POST", "/v1/memory-plans", 422, pointer="/applications", json=body)
    assert problem["errors"][0]["code"] == "too_many_items"
