"""Copy plans over registered clusters: what is registered and reported stands in for what the request leaves out, the reply says where
it is from, and bad input has its pointer in every form of the request."""
import json
import os
import re
import subprocess
import uuid

import pytest

from conftest import ROOT
from patience import PATIENCE, SLOWDOWN

GATES = {"ingress_bytes_per_s": 1e9, "egress_bytes_per_s": 1e9}


def report(client, name, processing=(), transfers=(), outages=()):
    client.post("/v1/clusters/%s/samples" % name, {
        "processing": [{"operation": op, "bytes_per_s": v} for op, v in processing],
        "transfers": [{"from": f, "bytes_per_s": v} for f, v in transfers],
        "outages": list(outages)}, 204)


@pytest.fixture(scope="module")
def team(service):
    """Two clusters of one machine type, one of another, one that lacks what plans need; a and b report, the others do not."""
    client = service.client(service.token("plans-" + uuid.uuid4().hex[:8]))
    client.put("/v1/clusters/a", dict(GATES, slots=4, slot_s=2, unreachable_probability=0.1, machine_type="m"), 201)
    client.put("/v1/clusters/b", dict(GATES, slots=2, slot_s=1, unreachable_probability=0.02, machine_type="m"), 201)
    client.put("/v1/clusters/other", dict(GATES, slots=1, machine_type="n"), 201)
    client.put("/v1/clusters/slotless", GATES, 201)
    client.put("/v1/clusters/gateless", {"slots": 3}, 201)
    report(client, "a", [("map", 1e7)] * 2, [("b", 2e7)])
    report(client, "b", [("map", 6e6)])
    return client


def job(*tasks):
    return [{"name": "j", "unprocessed_bytes": 2e8, "tasks": list(tasks)}]


def task(name="t", **more):
    return dict({"id": name, "operation": "map", "size_bytes": 1e8}, **more)


def body(clusters, *tasks, **more):
    return dict({"epsilon": 1, "clusters": clusters, "jobs": job(*tasks or (task(),))}, **more)


def plan_of_described(client, **more):
    """The same clusters described in the request: b's slot of a second is that of the plan, a's probability is of two of them."""
    a = dict(GATES, name="a", slots=4, unreachable_probability=1 - 0.9 ** 0.5, processing={"map": [[1e7, 1]]})
    b = dict(GATES, name="b", slots=2, unreachable_probability=0.02, processing={"map": [[6e6, 1]]})
    return client.post("/v1/copy-plans", body([a, b], task("t1", inputs=["b"]), task("t2"), slot_s=1, bandwidth=[
        {"from": "b", "to": "a", "distribution": [[2e7, 1]]}], **more), 200).json()


def without_origins(plan):
    return {k: v for k, v in plan.items() if k not in ("sources", "warnings")}


def nearly(value):
    if isinstance(value, dict):
        return {k: nearly(v) for k, v in value.items()}
    if isinstance(value, list):
        return [nearly(v) for v in value]
    return pytest.approx(value, rel=1e-9) if type(value) in (int, float) else value


def test_names_answer_as_the_description_does(team):
    plan = team.post("/v1/copy-plans", body(["a", "b"], task("t1", inputs=["b"]), task("t2")), 200).json()
    assert without_origins(plan) == nearly(without_origins(plan_of_described(team))) and plan["slot_s"] == 1
    assert len(plan["copies"]) == 4


def test_the_reply_says_where_speeds_are_from(team):
    plan = team.post("/v1/copy-plans", body(["a", "b"], task("t1", inputs=["b"])), 200).json()
    processing = {(s["cluster"], s["operation"]): s for s in plan["sources"]["processing"]}
    a = processing[("a", "map")]
    assert a["source"] == "cluster" and a["samples"] == 2 and a["weight"] == pytest.approx(2, rel=0.01)
    assert a["mean_bytes_per_s"] == pytest.approx(1e7) and 0 <= a["age_s"] < 600
    assert [(s["from"], s["to"], s["source"], s["samples"]) for s in plan["sources"]["transfers"]] == [("b", "a", "cluster", 1)]
    assert {s["cluster"]: (s["source"], s["outage_probability"]) for s in plan["sources"]["outage_probabilities"]} == {
        "a": ("configured", pytest.approx(1 - 0.9 ** 0.5)), "b": ("configured", pytest.approx(0.02))}
    assert plan["warnings"] == []


def test_what_fell_back_is_said(team):
    """`other` never reported and is the only one of its type: it has the pool's speeds; from it and to it, the pool's links."""
    plan = team.post("/v1/copy-plans", body(["a", "b", "other"], task(inputs=["b", "other"]), sources_listed="all"), 200).json()
    processing = {s["cluster"]: s for s in plan["sources"]["processing"]}
    assert {k: v["source"] for k, v in processing.items()} == {"a": "cluster", "b": "cluster", "other": "team"}
    assert 6e6 < processing["other"]["mean_bytes_per_s"] < 1e7 and processing["other"]["samples"] == 3
    transfers = {(s["from"], s["to"]): s["source"] for s in plan["sources"]["transfers"]}
    assert transfers == {("b", "a"): "cluster", ("b", "other"): "team", ("other", "a"): "team", ("other", "b"): "team"}
    assert {s["cluster"]: s["source"] for s in plan["sources"]["outage_probabilities"]} == {"a": "configured", "b": "configured", "other": "prior"}
    assert [(w["code"], w["evidence"]["count"]) for w in plan["warnings"]] == [
        ("processing_from_team", 1), ("transfers_from_team", 3), ("outage_probability_assumed", 1)]


def test_clusters_of_a_machine_type_stand_in_for_each_other(team):
    team.put("/v1/clusters/fresh", dict(GATES, slots=1, machine_type="m"), 201)
    plan = team.post("/v1/copy-plans", body(["fresh", "a"], task(inputs=["a"]), sources_listed="all"), 200).json()
    assert {s["cluster"]: s["source"] for s in plan["sources"]["processing"]} == {"fresh": "machine_type", "a": "cluster"}
    assert {(s["from"], s["to"]): s["source"] for s in plan["sources"]["transfers"]} == {("a", "fresh"): "machine_type"}
    assert {w["code"] for w in plan["warnings"]} == {"processing_from_machine_type", "transfers_from_machine_type", "outage_probability_assumed"}
    team.delete("/v1/clusters/fresh", 204)


def test_the_request_comes_first(team):
    """Busy slots, a distribution and a probability beside the name; the rest is looked up."""
    plan = team.post("/v1/copy-plans", body([
        {"name": "a", "registered": True, "busy_slots": 4}, {"name": "b", "registered": True, "unreachable_probability": 0, "processing": {"map": [[9e6, 1]]}}]), 200).json()
    assert [(c["cluster"], c["rate_bytes_per_s"]) for c in plan["copies"]] == [("b", 9e6)]
    assert plan["tasks"][0]["exemption_probability"] == 1
    assert plan["sources"] == {"processing": [], "transfers": [], "outage_probabilities": []}, "the request describes all of it"
    assert plan["shares"] == [{"job": "j", "slots": 6}]


def test_described_and_named_clusters_together(team):
    """A link of the request joins them; of the two that are registered it stands in place of what was reported."""
    own = {"name": "mine", "slots": 1, "processing": {}}
    links = [{"from": "mine", "to": "a", "distribution": [[3e6, 1]]}, {"from": "b", "to": "a", "distribution": [[1e6, 1]]}]
    plan = team.post("/v1/copy-plans", body(["a", "b", own], task("t1", inputs=["mine"]), task("t2", inputs=["b"]), bandwidth=links,
                                            max_rounds=1, sources_listed="all"), 200).json()
    assert [(c["task"], c["cluster"], c["rate_bytes_per_s"]) for c in plan["copies"]] == [("t1", "a", 3e6), ("t2", "b", pytest.approx(6e6))]
    assert plan["sources"]["transfers"] == [] and plan["sources"]["processing"][0]["cluster"] == "a"


def test_slots_of_time(team):
    """Asked: taken. Else the shortest that a cluster tells; a probability of other slots is converted."""
    assert team.post("/v1/copy-plans", body(["a"]), 200).json()["slot_s"] == 2
    assert team.post("/v1/copy-plans", body(["a", "b"]), 200).json()["slot_s"] == 1
    assert team.post("/v1/copy-plans", body(["other"]), 200).json()["slot_s"] == 1
    plan = team.post("/v1/copy-plans", body(["a"], slot_s=4, max_rounds=1), 200).json()
    assert plan["sources"]["outage_probabilities"][0]["outage_probability"] == pytest.approx(0.19)
    # 1e8 bytes at 1e7 a second: three slots of four seconds.
    assert plan["tasks"][0]["exemption_probability"] == pytest.approx(0.81 ** 3)


def test_a_gate_may_be_told_to_be_open(team):
    asked = body([{"name": "gateless", "registered": True, "ingress_bytes_per_s": None, "egress_bytes_per_s": None}])
    assert {c["cluster"] for c in team.post("/v1/copy-plans", asked, 200).json()["copies"]} == {"gateless"}


@pytest.mark.parametrize("clusters, pointer, code", [
    (["nobody"], "/clusters/0", "unknown_cluster"), (["a", {"name": "nobody", "registered": True}], "/clusters/1/name", "unknown_cluster"),
    ([{"name": "nobody", "registered": True, "slots": 3}], "/clusters/0/name", "unknown_cluster"),
    (["a", "slotless"], "/clusters/1", "cluster_attribute_missing"), ([{"name": "slotless", "registered": True}], "/clusters/0/slots", "cluster_attribute_missing"),
    (["gateless"], "/clusters/0", "cluster_attribute_missing"),
    ([{"name": "gateless", "registered": True, "ingress_bytes_per_s": 5}], "/clusters/0/egress_bytes_per_s", "cluster_attribute_missing"),
    (["a", "a"], "/clusters/1", "duplicate"), (["a", {"name": "a", "registered": True}], "/clusters/1/name", "duplicate"),
    ([{"name": "a", "registered": True}, "a"], "/clusters/1", "duplicate"), ([""], "/clusters/0", "invalid_name"), (["a\n"], "/clusters/0", "invalid_name"),
    ([{"name": "a", "registered": True, "busy_slots": 5}], "/clusters/0/busy_slots", "out_of_range"), ([{"slots": 1}], "/clusters/0/name", "required"),
    ([7], "/clusters/0", "wrong_type"), ([None], "/clusters/0", "wrong_type"), ([{"name": "a", "registered": True, "sluts": 1}], "/clusters/0/sluts", "unknown_field"),
    ([{"name": "a", "registered": True, "processing": {"map": [[1e6, 0.5]]}}], "/clusters/0/processing/map", "not_a_distribution"),
    ([{"name": "a", "registered": True, "processing": {"map": [[-1e6, 1]]}}], "/clusters/0/processing/map/0/0", "out_of_range"),
    ([{"name": "a", "registered": True, "processing": {"unused": [[-1e6, 1]]}}], "/clusters/0/processing/unused/0/0", "out_of_range"),
    ([{"name": "a", "registered": True, "slots": -1}], "/clusters/0/slots", "out_of_range"),
    ([{"name": "a"}], "/clusters/0/slots", "required"), ([{"name": "a", "processing": {"map": [[1e6, 1]]}}], "/clusters/0/slots", "required"),
    ([{"name": "a", "slots": 1}], "/clusters/0/processing", "required"), ([{"name": "a", "registered": "eu"}], "/clusters/0/registered", "wrong_type"),
    ([{"name": "a", "registered": False, "busy_slots": 1}], "/clusters/0/slots", "required"),
    ([{"name": "a", "registered": True, "unreachable_probability": 1.1}], "/clusters/0/unreachable_probability", "out_of_range")])
def test_clusters_at_fault(team, clusters, pointer, code):
    problem = team.refuse("POST", "/v1/copy-plans", 422, pointer=pointer, json=body(clusters))
    assert problem["errors"][0]["code"] == code


@pytest.mark.parametrize("more, pointer, code", [
    ({"jobs": job(task(inputs=["nobody"]))}, "/jobs/0/tasks/0/inputs", "unknown_cluster"),
    ({"jobs": job(task(inputs=["other"]))}, "/jobs/0/tasks/0/inputs", "unknown_cluster"),
    ({"jobs": job(task(copies=["nobody"]))}, "/jobs/0/tasks/0/copies", "unknown_cluster"),
    ({"bandwidth": [{"from": "nobody", "to": "a", "distribution": [[1, 1]]}]}, "/bandwidth/0/from", "unknown_cluster"),
    ({"bandwidth": [{"from": "b", "to": "a", "distribution": [[1, 0.9]]}]}, "/bandwidth/0/distribution", "not_a_distribution"),
    ({"bandwidth": [{"from": "b", "to": "a", "distribution": [[-1, 1]]}]}, "/bandwidth/0/distribution/0/0", "out_of_range"),
    ({"jobs": job(task(), task())}, "/jobs/0/tasks/1/id", "duplicate"),
    ({"jobs": job(task(), task("u", operation="nobody-did-it"))}, "/jobs/0/tasks/1/operation", "unknown_operation"),
    ({"epsilon": 0}, "/epsilon", "out_of_range"), ({"epsilon": 1.5}, "/epsilon", "out_of_range"), ({"epsilon": "some"}, "/epsilon", "not_allowed"),
    ({"sources_listed": "none"}, "/sources_listed", "not_allowed")])
def test_faults_beside_registered_clusters(team, more, pointer, code):
    problem = team.refuse("POST", "/v1/copy-plans", 422, pointer=pointer, json=body(["a", "b"], **more))
    assert problem["errors"][0]["code"] == code


@pytest.mark.parametrize("name, detail", [
    ("nobody", "no cluster of the request is named nobody; they are a, b"),
    ("x" * 99 + "\u00e9", "no cluster of the request is named " + "x" * 99)])
def test_a_name_at_fault_is_told_beside_those_there_are(team, name, detail):
    """A mistyped name among `clusters` shows where a task refers to the right one; a name that is cut stays UTF-8."""
    problem = team.refuse("POST", "/v1/copy-plans", 422, json=body(["a", "b"], task(inputs=[name])))
    assert problem["errors"][0]["detail"] == detail


def test_an_input_that_nothing_reaches(team):
    """A described cluster without links holds it, and cannot run the task itself."""
    asked = body(["a", {"name": "island", "slots": 2, "processing": {}}], task("t0"), task(inputs=["island"]))
    team.refuse("POST", "/v1/copy-plans", 422, pointer="/jobs/0/tasks/1/inputs", json=asked)


def test_a_team_that_never_reported_a_transfer(service):
    client = service.client(service.token("quiet-" + uuid.uuid4().hex[:8]))
    for name in ("p", "q"):
        client.put("/v1/clusters/" + name, dict(GATES, slots=1), 201)
    client.refuse("POST", "/v1/copy-plans", 422, pointer="/jobs/0/tasks/0/operation", json=body(["p", "q"]))
    report(client, "p", [("map", 1e6)])
    plan = client.post("/v1/copy-plans", body(["p", "q"], task(inputs=["p"])), 200).json()
    assert [c["cluster"] for c in plan["copies"]] == ["p"], "q could run it, but nothing is known to reach it"
    assert [(w["code"], w["evidence"]["count"]) for w in plan["warnings"] if w["code"] == "transfers_unknown"] == [("transfers_unknown", 1)]


def test_clusters_of_another_team_are_unknown(team, stranger):
    stranger.refuse("POST", "/v1/copy-plans", 422, pointer="/clusters/0", json=body(["a"]))


def test_registered_clusters_without_slots_make_tasks_wait(team):
    plan = team.post("/v1/copy-plans", body([{"name": "a", "registered": True, "slots": 0}, {"name": "b", "registered": True, "busy_slots": 2}]), 200).json()
    assert plan["copies"] == [] and [w["reason"] for w in plan["waiting"]] == ["no_slot"]


def test_a_million_tasks(make_service):
    """Within what a body may hold there is a limit of tasks, and it is named before anything is planned. With sanitizers a quarter of them."""
    service = make_service(PROVISOR_BODY_BYTES_MAX=100000000, PROVISOR_JSON_VALUES_MAX=10000000, PROVISOR_REQUEST_TIMEOUT_MS=300000)
    token = service.token("million")
    service.start()
    client = service.client(token)
    client.put("/v1/clusters/a", dict(GATES, slots=4), 201)
    tasks = ",".join('{"id":"%d","operation":"o%d","size_bytes":1}' % (i, i % 50000) for i in range(1000000 // SLOWDOWN))
    for clusters in ('["a"]', '[{"name":"a","slots":4,"processing":{"o1":[[1,1]]}}]'):
        text = '{"epsilon":"auto","clusters":%s,"jobs":[{"name":"j","unprocessed_bytes":1,"tasks":[%s]}]}' % (clusters, tasks)
        problem = client.refuse("POST", "/v1/copy-plans", 422, pointer="/jobs/0/tasks", data=text, headers={"Content-Type": "application/json"})
        assert "20000" in problem["errors"][0]["detail"]


def test_the_walk_through_of_the_page(make_service):
    """docs/copy-plans/how-to.md, as printed, with a history of nightly-etl: what it says of the replies is true."""
    page = (ROOT / "docs" / "copy-plans" / "how-to.md").read_text().replace("Prefer: wait=20", "Prefer: wait=%d" % PATIENCE)
    service = make_service(PROVISOR_OPERATION_WAIT_MAX_S=PATIENCE, PROVISOR_REQUEST_TIMEOUT_MS=1000 * PATIENCE)
    token = service.token("walk-" + uuid.uuid4().hex[:8])
    service.start()
    stage = {"id": 0, "name": "scan", "task_durations_s": [2.0] * 64, "input_bytes": 64 * 10**8}
    service.client(token).post("/v1/applications", {"name": "nightly-etl"}, 201)
    service.client(token).post("/v1/applications/nightly-etl/runs", {
        "problem_size": 64, "executors": 4, "cores_per_executor": 4, "duration_s": 10, "initialization_s": 2, "stages": [stage]}, 201)
    ask = "ask() { curl -sSf -H \"$AUTH\" -H 'Content-Type: application/json' \"$@\" && echo; }\n"
    script = "set -euo pipefail\n" + ask + "\n".join(re.findall(r"^```sh\n(.*?)^```$", page, re.M | re.S))
    env = dict(os.environ, URL=service.base_url, AUTH="Authorization: Bearer " + token)
    finished = subprocess.run(["bash", "-c", script], env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=2 * PATIENCE)
    assert finished.returncode == 0, finished.stderr
    replies = [json.loads(line) for line in finished.stdout.splitlines() if line.startswith("{")]
    plan = next(r for r in replies if "algorithm" in r)
    assert {(s["cluster"], s["source"]) for s in plan["sources"]["processing"]} == {("us", "machine_type"), ("eu", "cluster")}
    assert [w["code"] for w in plan["warnings"]] == ["processing_from_machine_type", "outage_probability_assumed", "shares_exceed_slots"]
    assert {t["task"] for t in plan["tasks"]} == {"t1", "t2"} and plan["epsilon"] == 0.8
    assert next(r for r in replies if "recommendation" in r)["copy_plan"]["tasks"]
    assert "cancelled" in [r.get("status") for r in replies] and '"status":"running"' in finished.stdout
    assert len(re.findall(r'^"best":\{"name":', finished.stdout, re.M)) == 2


@pytest.mark.parametrize("name", ["", "  ", "a\u0085b", "x" * 256])
def test_names_of_operations_are_names_in_both_forms_of_processing(client, name):
    for processing, pointer in (({name: [[1e7, 1]]}, "/clusters/0/processing/" + name),
                                ([{"operation": name, "bytes_per_s": 1e7}], "/clusters/0/processing/0/operation")):
        cluster = dict(GATES, name="a", slots=4, unreachable_probability=0.02, processing=processing)
        errors = client.post("/v1/copy-plans", body([cluster], task(), slot_s=1), 422).json()["errors"]
        assert [error for error in errors if error["code"] == "invalid_name" and pointer.startswith(error["pointer"])], errors
