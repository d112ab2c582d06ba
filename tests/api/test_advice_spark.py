"""Advice as Spark properties: a coherent set, what it changes, and what callers want of it."""
import json
import uuid

import pytest


def run_of(executors, size=40, task_s=2.0, init_s=5.0):
    rounds = -(-size // (2 * executors))
    return {"problem_size": size, "executors": executors, "cores_per_executor": 2,
            "duration_s": init_s + rounds * task_s, "initialization_s": init_s,
            "stages": [{"id": 0, "parents": [], "task_durations_s": [task_s] * size, "duration_s": rounds * task_s}]}


def record(client, properties, version="3.5.1"):
    """An application whose last run has 5 executors and these properties."""
    name = "spark-" + uuid.uuid4().hex[:8]
    lines = [json.dumps(dict(run_of(executors), spark_properties=properties, spark_version=version, started_at="2026-01-%02dT10:00:00Z" % executors))
             for executors in (1, 2, 4, 5)]
    client.request("POST", "/v1/applications", 201, json={"name": name})
    client.request("POST", "/v1/applications/%s/runs/import" % name, 201, data="\n".join(lines), headers={"Content-Type": "application/x-ndjson"})
    return name


def ask(client, name, deadline_s=26, **constraints):
    body = {"application": name, "problem_size": 40, "deadline_s": deadline_s, "constraints": constraints}
    return client.post("/v1/advice?dry_run=true", body, status=200).json()


def changes_of(advice):
    return {c["key"]: (c["old"], c["new"]) for c in advice["spark"]["changes"]}


def test_static_executors_against_what_ran(client):
    name = record(client, {"spark.executor.instances": "5", "spark.executor.cores": "2", "spark.executor.memory": "4g"})
    advice = ask(client, name)
    m = str(advice["recommendation"]["executors"])
    assert advice["spark"]["properties"] == {"spark.executor.cores": "2", "spark.executor.instances": m, "spark.executor.memory": "4g"}
    assert m != "5" and changes_of(advice) == {"spark.executor.instances": ("5", m)}
    change = advice["spark"]["changes"][0]
    assert change["duration_change_percent"] == advice["last_run"]["duration_change_percent"] and change["reason"]
    assert change["cost_change_percent"] == advice["last_run"]["cost_change_percent"]
    again = ask(client, name, current=advice["spark"]["properties"])
    assert again["spark"]["changes"] == [] and again["spark"]["properties"] == advice["spark"]["properties"]


def test_dynamic_allocation_as_it_ran_and_as_asked_for(client):
    name = record(client, {"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.executorIdleTimeout": "10s",
                           "spark.executor.cores": "2", "spark.executor.instances": "2"})
    advice = ask(client, name)
    m = str(advice["recommendation"]["executors"])
    assert advice["spark"]["properties"] == {
        "spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.initialExecutors": m, "spark.dynamicAllocation.maxExecutors": m,
        "spark.dynamicAllocation.minExecutors": "0", "spark.dynamicAllocation.shuffleTracking.enabled": "true", "spark.executor.cores": "2"}
    assert changes_of(advice)["spark.executor.instances"] == ("2", None)
    fixed = ask(client, name, dynamic_allocation=False)["spark"]["properties"]
    assert fixed == {"spark.dynamicAllocation.enabled": "false", "spark.executor.cores": "2", "spark.executor.instances": m}


def test_enforced_properties_decide(client):
    name = record(client, {"spark.executor.cores": "2"})
    advice = ask(client, name, enforced={"spark.executor.instances": "7", "spark.executor.memory": "16g"})
    assert advice["recommendation"]["executors"] == 7 and advice["spark"]["properties"]["spark.executor.memory"] == "16g"
    advice = ask(client, name, enforced={"spark.executor.cores": "1"})
    assert advice["recommendation"]["cores_per_executor"] == 1 and advice["spark"]["properties"]["spark.executor.cores"] == "1"
    advice = ask(client, name, deadline_s=9, dynamic_allocation=True, enforced={"spark.dynamicAllocation.maxExecutors": "3"})
    assert advice["recommendation"]["executors"] <= 3 and advice["spark"]["properties"]["spark.dynamicAllocation.maxExecutors"] == "3"


def test_preserved_and_excluded_properties(client):
    name = record(client, {"spark.executor.cores": "2", "spark.executor.instances": "5", "spark.executor.memory": "4g"})
    advice = ask(client, name, preserve=["spark.executor.instances"], exclude=["spark.executor.memory"])
    assert advice["spark"] == {"properties": {"spark.executor.cores": "2", "spark.executor.instances": "5"}, "changes": [], "proposals": [],
                               "spark_version": "3.5.1"}


@pytest.mark.parametrize("constraints, pointer, code", [
    ({"enforced": {"spark.executor.cores": "two"}}, "/constraints/enforced/spark.executor.cores", "out_of_range"),
    ({"enforced": {"spark.executor.cores": "4"}, "cores_per_executor": 2}, "/constraints/enforced/spark.executor.cores", "conflict"),
    ({"enforced": {"spark.executor.instances": "8"}, "max_executors": 7}, "/constraints/enforced/spark.executor.instances", "conflict"),
    ({"enforced": {"spark.executor.instances": "8"}, "min_executors": 9}, "/constraints/enforced/spark.executor.instances", "conflict"),
    ({"enforced": {"spark.executor.instances": "8"}, "dynamic_allocation": True}, "/constraints/enforced/spark.executor.instances", "conflict"),
    ({"enforced": {"spark.dynamicAllocation.minExecutors": "8", "spark.dynamicAllocation.maxExecutors": "7"}},
     "/constraints/enforced/spark.dynamicAllocation.minExecutors", "conflict"),
    ({"enforced": {"spark.dynamicAllocation.enabled": "true"}, "dynamic_allocation": False}, "/constraints/enforced/spark.dynamicAllocation.enabled", "conflict"),
    ({"enforced": {"spark.executor.memory": "256m"}}, "/constraints/enforced/spark.executor.memory", "not_allowed"),
    ({"enforced": {"spark.executor.memory": "4096"}}, "/constraints/enforced/spark.executor.memory", "not_allowed"),
    ({"enforced": {"spark.executor.memoryOverhead": "1.5g"}}, "/constraints/enforced/spark.executor.memoryOverhead", "not_allowed"),
    ({"enforced": {"spark.executor.cores": "2", "spark.task.cpus": "4"}}, "/constraints/enforced/spark.executor.cores", "conflict"),
    ({"enforced": {"spark.executor.resource.gpu.amount": "1", "spark.task.resource.gpu.amount": "2"}}, "/constraints/enforced/spark.executor.resource.gpu.amount", "conflict"),
    ({"enforced": {"spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "0"}}, "/constraints/enforced/spark.memory.offHeap.enabled", "conflict"),
    ({"enforced": {"spark.kubernetes.executor.request.cores": "3", "spark.kubernetes.executor.limit.cores": "2500m"}},
     "/constraints/enforced/spark.kubernetes.executor.limit.cores", "conflict"),
    ({"enforced": {"spark.memory.fraction": "1.5"}}, "/constraints/enforced/spark.memory.fraction", "not_allowed"),
    ({"enforced": {"executor.memory": "8g"}}, "/constraints/enforced/executor.memory", "not_allowed"),
    ({"current": {"spark.a b": "8g"}}, "/constraints/current/spark.a b", "not_allowed"),
    ({"current": {"spark.app.name": "a\nb"}}, "/constraints/current/spark.app.name", "not_allowed"),
    ({"current": {"spark.executor.cores": 4}}, "/constraints/current/spark.executor.cores", "wrong_type"),
    ({"exclude": ["executors"]}, "/constraints/exclude/0", "not_allowed"), ({"preserve": [1]}, "/constraints/preserve/0", "wrong_type"),
    ({"preserve": "spark.executor.cores"}, "/constraints/preserve", "wrong_type"),
    ({"current": {"spark.p%d" % i: "1" for i in range(101)}}, "/constraints/current", "too_many_items")])
def test_what_is_no_property_or_a_contradiction_is_refused(client, constraints, pointer, code):
    body = {"application": "any", "constraints": constraints}
    found = client.request("POST", "/v1/advice?dry_run=true", 422, json=body).json()["errors"]
    assert (pointer, code) in [(e.get("pointer"), e["code"]) for e in found], found


def test_preserved_executors_decide_on_the_recommendation(client):
    name = record(client, {"spark.executor.cores": "2", "spark.executor.instances": "5"})
    advice = ask(client, name, preserve=["spark.executor.instances"], current={"spark.executor.instances": "3"})
    assert advice["recommendation"]["executors"] == 3 and advice["spark"]["properties"]["spark.executor.instances"] == "3"
    assert "properties_differ" not in [w["code"] for w in advice["warnings"]]


@pytest.mark.parametrize("constraints, executors, cores", [
    ({"preserve": ["spark.executor.cores"], "current": {"spark.executor.cores": "8"}}, None, 8),
    ({"dynamic_allocation": True, "enforced": {"spark.dynamicAllocation.initialExecutors": "1"}}, 1, 2),
    ({"dynamic_allocation": True, "enforced": {"spark.dynamicAllocation.minExecutors": "19"}}, 19, 2),
])
def test_properties_that_contradict_the_recommendation_are_warned_of(client, constraints, executors, cores):
    name = record(client, {"spark.executor.cores": "2", "spark.executor.instances": "5"})
    advice = ask(client, name, **constraints)
    m = advice["recommendation"]["executors"]
    warning = next(w for w in advice["warnings"] if w["code"] == "properties_differ")
    assert warning["evidence"] == {"executors": executors or m, "cores_per_executor": cores, "recommended_executors": m, "recommended_cores_per_executor": 2}
    assert "properties_differ" not in [w["code"] for w in ask(client, name)["warnings"]]


SHUFFLES = {"spark.executor.cores": "2", "spark.sql.adaptive.enabled": "false", "spark.sql.shuffle.partitions": "1"}


def record_with_shuffle(client):
    """An application whose shuffle has one partition, fewer than there are cores."""
    name = "spark-" + uuid.uuid4().hex[:8]
    stages = [{"id": 0, "parents": [], "task_durations_s": [2.0] * 8, "duration_s": 4.0, "shuffle_write_bytes": 1 << 30},
              {"id": 1, "parents": [0], "task_durations_s": [20.0], "duration_s": 20.0, "shuffle_read_bytes": 1 << 30}]
    run = {"problem_size": 8, "executors": 4, "cores_per_executor": 2, "duration_s": 30, "initialization_s": 5, "stages": stages,
           "spark_properties": SHUFFLES, "spark_version": "3.5.1"}
    lines = [json.dumps(dict(run, started_at="2026-01-%02dT10:00:00Z" % day)) for day in (1, 2, 3)]
    client.request("POST", "/v1/applications", 201, json={"name": name})
    client.request("POST", "/v1/applications/%s/runs/import" % name, 201, data="\n".join(lines), headers={"Content-Type": "application/x-ndjson"})
    return name


def test_partitions_are_set_only_if_they_are_applied(client):
    name = record_with_shuffle(client)
    key = "spark.sql.shuffle.partitions"
    usual = ask(client, name, deadline_s=100)
    assert key not in usual["spark"]["properties"] and key not in changes_of(usual)
    proposal = next(p for p in usual["spark"]["proposals"] if p["key"] == key)
    assert proposal["kind"] == "partitions" and proposal["old"] == "1" and proposal["reason"]
    body = {"application": name, "problem_size": 40, "deadline_s": 100, "apply": ["partitions", "memory"]}
    applied = client.post("/v1/advice?dry_run=true", body, status=200).json()
    assert applied["spark"]["properties"][key] == proposal["new"] and changes_of(applied)[key] == ("1", proposal["new"])
    assert key not in {p["key"] for p in applied["spark"]["proposals"]}
    assert applied["recommendation"] == usual["recommendation"], "the prediction does not assume proposals, nor what is applied of them"


def test_every_item_of_a_batch_applies_its_own(client):
    name = record_with_shuffle(client)
    items = [{"application": name, "deadline_s": 100, **more} for more in ({}, {"apply": ["partitions"]})]
    usual, applied = client.post("/v1/advice/batch?dry_run=true", {"items": items}, status=200).json()["items"]
    assert "spark.sql.shuffle.partitions" in applied["spark"]["properties"] and "spark.sql.shuffle.partitions" not in usual["spark"]["properties"]


@pytest.mark.parametrize("apply, pointer, code, said", [
    (["speculations"], "/apply/0", "not_allowed", "must be one of: memory, speculation, partitions; did you mean speculation?"),
    (["memory", "all"], "/apply/1", "not_allowed", "must be one of: memory, speculation, partitions"),
    (["memory", "memory"], "/apply/1", "duplicate", "is listed twice"),
    ("memory", "/apply", "wrong_type", "must be an array")])
def test_kinds_that_are_none_are_named(client, apply, pointer, code, said):
    errors = client.request("POST", "/v1/advice?dry_run=true", 422, json={"application": "any", "apply": apply}).json()["errors"]
    assert [(e["pointer"], e["code"], e["detail"]) for e in errors] == [(pointer, code, said)]


def test_the_least_cost_that_is_possible_is_said(client):
    name = record(client, {"spark.executor.cores": "2"})
    body = {"application": name, "deadline_s": 26, "constraints": {"price_per_executor_hour": 1, "max_cost": 0.0001}}
    error = client.request("POST", "/v1/advice?dry_run=true", 422, json=body).json()["errors"][0]
    assert (error["pointer"], error["code"]) == ("/constraints/max_cost", "unsatisfiable")
    least = float(error["detail"].split("the least cost is ")[1].split(",")[0])
    body["constraints"]["max_cost"] = least
    assert client.post("/v1/advice?dry_run=true", body, status=200).json()["recommendation"]["cost"] <= least
    body["constraints"]["max_cost"] = 0.99 * least
    client.request("POST", "/v1/advice?dry_run=true", 422, json=body)
