"""null in every member of every JSON body: taken as "unknown" exactly where the contract says nullable, refused elsewhere
with a fault that names the member."""
import copy
import uuid

import pytest

from contract import Contract

CONTRACT = Contract()

STAGES = [{"id": 0, "tasks": 8, "task_duration_s": 2, "task_time_s": 16, "name": "a", "parents": [], "duration_s": 4,
           "started_s": 0, "input_records": 100, "nominal_rate_per_s": 6, "skipped": False}]
# What the examples of the contract do not reach.
MORE = {
    "POST/v1/feasibility": [{
        "cluster": {"executors": 2, "cores_per_executor": 2}, "include": ["schedule"],
        "jobs": [{"name": "a", "release_s": 0, "deadline_s": 90, "overhead_per_task_s": 0, "stages": [
            {"id": 0, "parents": [], "tasks": 4, "task_duration_s": 1}, {"id": 1, "parents": [0], "task_durations_s": [1]}]}]}],
    "POST/v1/stage-plans": [{
        "stages": [{"id": 0, "parents": [], "duration_s": 3, "skipped": False, "input_records": 5, "nominal_rate_per_s": 2}],
        "deadline_s": 9, "executors": 2, "cores_per_executor": 4, "alpha": 0.9, "beta": 0.5, "overscale": 2, "core_quantum": 0.5,
        "pinned": [{"id": 0, "cores": 2, "deadline_s": 3}]}],
    "POST/v1/advice": [{
        "profile": {"problem_size": 8, "executors": 2, "cores_per_executor": 4, "duration_s": 10, "stages": STAGES},
        "problem_size": 8, "deadline_s": 100, "confidence": 0.5, "objective": "min_time", "include": ["stages"],
        "constraints": {"min_executors": 1, "max_executors": 4, "cores_per_executor": 4, "price_per_executor_hour": 1, "max_cost": 9},
        "running": [{"application": "x", "problem_size": 8, "release_s": -1, "deadline_s": 9, "progress": 0.5}]}],
    "POST/v1/applications/{name}/runs": [{
        "problem_size": 8, "executors": 2, "cores_per_executor": 4, "duration_s": 10, "initialization_s": 1, "succeeded": True,
        "started_at": "2026-01-01T00:00:00Z", "labels": {"a": "b"}, "stages": STAGES}],
    "PATCH/v1/applications/{name}": [{"description": "d", "labels": {"a": "b"}, "retention": {"days": 3, "runs": 4}}],
}

# Nullable, but not beside what these bodies hold otherwise; the fault says of what it is missed.
CONDITIONAL = {
    ("/v1/stage-plans", "duration_s"): "wrong_type",  # of a stage that is not skipped
    ("/v1/contention", "time_to_complete_s"): "wrong_type",  # by a strategy that needs it
    ("/v1/models/predict", "problem_size"): "wrong_type",  # of all kinds but ipso, which knows none
    ("/v1/models/predict", "problem_size_range"): "wrong_type",  # likewise
}
REFUSALS = ("wrong_type", "not_allowed", "unknown_field")  # the last: of another policy or kind


def bodies():
    for method, template, operation in CONTRACT.operations():
        content = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if content is None:
            continue
        for body in [e["value"] for e in content["examples"].values()] + MORE.get(method + template, []):
            yield method, template, content["schema"], body


def allows_null(schema):
    schema = CONTRACT.resolve(schema)
    kind = schema.get("type", [])
    if "null" in ([kind] if isinstance(kind, str) else kind) or None in schema.get("enum", []):
        return True
    return any(allows_null(s) for word in ("anyOf", "oneOf") for s in schema.get(word, []))


def suits(schema, value):
    """Of objects to choose from: the one that knows what the body holds."""
    known = CONTRACT.resolve(schema).get("properties")
    if known is None or not isinstance(value, dict):
        return True
    kinds = CONTRACT.resolve(known.get("kind", {})).get("enum", [])
    return set(value) <= set(known) and (len(kinds) != 1 or value.get("kind") in kinds)


def parts(schema, value):
    """The schema and what it is joined or chosen from."""
    schema = CONTRACT.resolve(schema)
    yield schema
    for word in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(word, []):
            if word == "allOf" or suits(part, value):
                yield from parts(part, value)


def members(schemas, value, place=()):
    """(place, nullable) of each member that the contract knows, inside what the body holds."""
    schemas = [part for schema in schemas for part in parts(schema, value)]
    if isinstance(value, dict):
        known = {}
        for schema in schemas:
            for key, of in schema.get("properties", {}).items():
                known.setdefault(key, []).append(of)
            if isinstance(schema.get("additionalProperties"), dict):
                for key in value:
                    known.setdefault(key, []).append(schema["additionalProperties"])
        for key, of in known.items():
            of = [s for s in of if s is not True and s is not False and s != {}]
            if of:
                yield place + (key,), any(allows_null(s) for s in of)
                if key in value:
                    yield from members(of, value[key], place + (key,))
    elif isinstance(value, list) and value:
        of = [s["items"] for s in schemas if isinstance(s.get("items"), dict)]
        if of:
            yield place + (0,), any(allows_null(s) for s in of)
            yield from members(of, value[0], place + (0,))


def with_null(body, place):
    changed = copy.deepcopy(body)
    at = changed
    for step in place[:-1]:
        at = at[step]
    at[place[-1]] = None
    return changed


CASES = [pytest.param(m, t, s, b, id="%s%s-%d" % (m, t.replace("/", "_"), i)) for i, (m, t, s, b) in enumerate(bodies())]


@pytest.mark.parametrize("method,template,schema,body", CASES)
def test_null_is_taken_exactly_where_the_contract_says_so(method, template, schema, body, client, operator):
    tried, wrong = 0, []
    for place, nullable in members([schema], body):
        path = template.replace("{name}", "nulls-" + uuid.uuid4().hex[:12])
        if template.startswith("/v1/applications/{name}") and (method != "POST" or template.endswith("/refit")):
            client.post("/v1/applications", {"name": path.split("/")[3]}, 201)
        sent = with_null(body, place)
        if template == "/v1/applications":
            sent = dict(sent, name=sent["name"] and sent["name"] + uuid.uuid4().hex)
        if template == "/v1/teams":
            continue
        reply = client.request(method, path, json=sent)
        pointer = "/" + "/".join(str(step) for step in place)
        faults = reply.json().get("errors", []) if reply.status_code >= 400 else []
        assert reply.status_code < 500, reply.text
        at = [f["code"] for f in faults if f.get("pointer") == pointer]
        refused = any(code in REFUSALS for code in at)
        tried += 1
        if CONDITIONAL.get((template, place[-1])) in at:
            continue
        if refused == nullable:
            wrong.append("%s: the contract says %s, the reply is %d %s" % (
                pointer, "nullable" if nullable else "not nullable", reply.status_code, faults))
    assert not wrong, "%d of %d:\n" % (len(wrong), tried) + "\n".join(wrong)
    assert tried > 0 or template == "/v1/teams"
