"""Rules that fold names of recurring jobs: shown, tried, changed under a version, each team's own."""
import uuid

import pytest

RULES = "/v1/name-rules"
PREVIEW = RULES + "/preview"
OWN = [{"name": "ad hoc", "pattern": "adhoc-{any}", "application": "adhoc"},
       {"name": "by day", "pattern": "{name}@{date}", "application": "{name}"}]


@pytest.fixture
def lonely(service):
    """A client of a team of its own."""
    return service.client(service.token("rules-" + uuid.uuid4().hex[:8]))


def folded(client, *names, **more):
    items = client.post(PREVIEW, dict(names=list(names), **more), 200).json()["items"]
    assert [i["name"] for i in items] == list(names)
    return [i["application"] for i in items]


def test_the_built_in_rules_are_shown_and_tried(lonely):
    shown = lonely.get(RULES).json()
    assert not shown["customized"] and len(shown["rules"]) >= 10
    items = lonely.post(PREVIEW, {"names": ["nightly-etl-2026-01-05", "etl-2026-01-05-run-3", "tpch-q1"]}, 200).json()["items"]
    assert [i["application"] for i in items] == ["nightly-etl", "etl", "tpch-q1"]
    known = {r["name"] for r in shown["rules"]}
    assert [len(i["rules"]) for i in items] == [1, 2, 0] and all(set(i["rules"]) <= known for i in items)
    # What is shown can be put back as it is.
    lonely.put(RULES, {"rules": shown["rules"]}, 200)
    assert lonely.get(RULES).json() == {"customized": True, "rules": shown["rules"]}


def test_own_rules_replace_all_and_can_be_taken_back(lonely):
    lonely.put(RULES, {"rules": OWN}, 200)
    names = ("adhoc-anna", "load@2026-01-05", "nightly-etl-2026-01-05")
    assert folded(lonely, *names) == ["adhoc", "load", names[2]]
    lonely.put(RULES, {"rules": []}, 200)
    assert folded(lonely, *names) == list(names)
    back = lonely.delete(RULES, 200).json()
    assert not back["customized"] and folded(lonely, names[2]) == ["nightly-etl"]
    actions = [a["action"] for a in lonely.get("/v1/audit").json()["items"]]
    assert actions[:3] == ["name_rules.delete", "name_rules.update", "name_rules.update"]


def test_rules_are_tried_before_they_are_set(lonely):
    assert folded(lonely, "adhoc-anna", rules=OWN) == ["adhoc"]
    assert not lonely.get(RULES).json()["customized"]


def test_an_application_keeps_the_name_it_has(lonely):
    lonely.post("/v1/applications", {"name": "report-2026-01-05"}, 201)
    items = lonely.post(PREVIEW, {"names": ["report-2026-01-05", "report-2026-01-06"]}, 200).json()["items"]
    assert [(i["application"], i["exists"]) for i in items] == [("report-2026-01-05", True), ("report", False)]


def test_changes_go_under_a_version(lonely):
    first = lonely.get(RULES).headers["ETag"]
    second = lonely.put(RULES, {"rules": OWN}, 200, headers={"If-Match": first}).headers["ETag"]
    assert second != first
    lonely.refuse("PUT", RULES, 412, json={"rules": []}, headers={"If-Match": first})
    lonely.refuse("DELETE", RULES, 412, headers={"If-Match": first})
    assert lonely.get(RULES).json()["rules"] == OWN
    lonely.request("GET", RULES, 304, headers={"If-None-Match": second})
    third = lonely.delete(RULES, 200, headers={"If-Match": second}).headers["ETag"]
    assert third not in (first, second), "a version never comes again"


def test_another_team_has_its_own(lonely, stranger):
    lonely.put(RULES, {"rules": OWN}, 200)
    assert not stranger.get(RULES).json()["customized"]
    assert folded(stranger, "adhoc-anna") == ["adhoc-anna"]


@pytest.mark.parametrize("body,pointer", [
    ({}, "/rules"),
    ({"rules": [{"name": "a", "pattern": "{name}"}]}, "/rules/0/application"),
    ({"rules": [{"name": "a", "pattern": "{nmae}", "application": "x"}]}, "/rules/0/pattern"),
    ({"rules": [{"name": "a", "pattern": "{name}{any}", "application": "x"}]}, "/rules/0/pattern"),
    ({"rules": [{"name": "a", "pattern": "{name}", "application": "{rest}"}]}, "/rules/0/application"),
    ({"rules": [{"name": "a", "pattern": "", "application": "x"}]}, "/rules/0/pattern"),
    ({"rules": [{"name": "a", "pattern": "p" * 256, "application": "x"}]}, "/rules/0/pattern"),
    ({"rules": [{"name": "a", "pattern": "{name}", "application": "x", "enabled": True}]}, "/rules/0/enabled"),
    ({"rules": [OWN[0], OWN[1], OWN[0]]}, "/rules/2/name"),
    ({"rules": [dict(OWN[0], name="r%d" % i) for i in range(65)]}, "/rules"),
    ({"rules": "all"}, "/rules"),
    ({"rules": [7]}, "/rules/0"),
])
def test_faults_name_their_place(lonely, body, pointer):
    lonely.refuse("PUT", RULES, 422, pointer=pointer, json=body)
    assert not lonely.get(RULES).json()["customized"]


@pytest.mark.parametrize("body,pointer", [
    ({}, "/names"), ({"names": []}, "/names"), ({"names": ["x"] * 101}, "/names"), ({"names": [1]}, "/names/0"),
    ({"names": ["a", "b\u0007"]}, "/names/1"), ({"names": [""]}, "/names/0"), ({"names": ["a"], "rules": [{}]}, "/rules/0/name"),
])
def test_trying_names_its_faults_too(client, body, pointer):
    client.refuse("POST", PREVIEW, 422, pointer=pointer, json=body)
