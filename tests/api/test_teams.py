"""Every call of the contract, tried by another team on things that exist: they do not exist for it, and stay as they are."""
import uuid

import pytest

from contract import Contract
from long_work import Table

# What is below /v1/teams/ is the operators' alone, and its names are teams' (test_quotas.py).
CALLS = [(m, t) for m, t, o in Contract().operations() if o["security"] and not t.startswith("/v1/teams/")]
STAGES = [{"id": 0, "task_durations_s": [2, 3, 2, 3]}]
PRICES = {"currency": "EUR", "prices": [{"machine_type": "m", "per_executor_hour": 0.25}]}
LOOP = {"workers": [{"name": "w", "cores": 4}], "applications": [{"name": "A", "release_s": 0, "deadline_s": 60}]}
SAMPLE = {"sequence": 2, "at_s": 2, "executors": []}
PLAN = {"deadline_s": 60, "executors": 2, "cores_per_executor": 2}


@pytest.fixture(scope="module")
def mine(service, client):
    """What alpha has; `marks` are texts that no reply to anybody else may hold, unless that one sent them."""
    mark = uuid.uuid4().hex
    name = "mine-" + uuid.uuid4().hex
    client.post("/v1/applications", {"name": name, "description": "about " + mark}, 201)
    run = client.post("/v1/applications/%s/runs" % name, {"problem_size": 4, "executors": 1, "cores_per_executor": 2, "duration_s": 7,
                                                          "labels": {"mark": mark}, "stages": STAGES}, 201).json()
    advice = client.post("/v1/advice", {"application": name, "deadline_s": 60}, 201).json()
    cluster = client.put("/v1/clusters/" + name, {"executors": 3, "cores_per_executor": 2, "description": "about " + mark}, 201).json()
    client.put("/v1/quota-loops/" + name, LOOP, 201)
    client.post("/v1/quota-loops/%s/samples" % name, dict(SAMPLE, sequence=1, at_s=1), 200)
    admission = client.post("/v1/admissions", {"cluster": name, "application": "of " + mark, "cores": 2, "deadline_s": 3600}, 201).json()
    client.post("/v1/clusters/%s/samples" % name, {"processing": [{"operation": "of " + mark, "bytes_per_s": 1e6}]}, 204)
    workload = client.post("/v1/workloads", {"from": "runs", "applications": [name], "name": "of " + mark}, 201).json()
    book = client.put("/v1/price-books/" + name, PRICES, 201).json()
    token = client.post("/v1/tokens", {"name": "token-" + mark, "scopes": ["read"]}, 201).json()
    table = Table(service)
    operation = table.queue("alpha", {"mark": mark}, kind="none", application=name)  # a kind that nobody takes
    table.close()
    return {"name": name, "runs": run["id"], "advice": advice["id"], "tokens": token["id"], "operations": operation, "admissions": admission["id"],
            "workloads": workload["id"],
            "marks": (mark, run["id"], advice["id"], token["id"], cluster["id"], book["id"], operation, admission["id"], workload["id"])}


def speeds(client, mine):
    """What was reported of the cluster, without what changes by itself."""
    known = client.get("/v1/clusters/%s/performance" % mine["name"]).json()
    return [(p["operation"], p["samples"], p["distribution"]) for p in known["processing"]]


def state(client, mine):
    """All of it as its owner sees it; last_used_at moves by itself."""
    tokens = [t["id"] for t in client.get("/v1/tokens?limit=200").json()["items"] if not t["revoked_at"]]
    return (client.get("/v1/applications/" + mine["name"]).json(), client.get("/v1/runs/%s?include=tasks" % mine["runs"]).json(),
            client.get("/v1/clusters/" + mine["name"]).json(), speeds(client, mine), client.get("/v1/price-books/" + mine["name"]).json(),
            client.get("/v1/advice/" + mine["advice"]).json(), client.get("/v1/operations/" + mine["operations"]).json(),
            client.get("/v1/quota-loops/" + mine["name"]).json(), client.get("/v1/admissions/" + mine["admissions"]).json(),
            client.get("/v1/workloads/" + mine["workloads"]).json(), mine["tokens"] in tokens)


def body_of(method, template, mine):
    """A body that is right but for whose application it names."""
    name = mine["name"]
    return {("PATCH", "/v1/applications/{name}"): {"description": "taken"},
            ("POST", "/v1/applications/{name}/runs"): {"problem_size": 4, "executors": 1, "cores_per_executor": 2, "duration_s": 7},
            ("POST", "/v1/applications/{name}/runs/import"): {"problem_size": 4, "duration_s": 7, "id": mine["runs"]},
            ("PUT", "/v1/clusters/{name}"): {"executors": 1},
            ("POST", "/v1/clusters/{name}/samples"): {"processing": [{"operation": "taken", "bytes_per_s": 1}]},
            ("PUT", "/v1/price-books/{name}"): dict(PRICES, currency="USD"),
            ("POST", "/v1/applications"): {"name": name},
            ("POST", "/v1/advice"): {"application": name, "deadline_s": 60},
            ("POST", "/v1/advice/batch"): {"items": [{"application": name, "deadline_s": 60}]},
            ("POST", "/v1/admissions"): {"cluster": name, "application": "mine", "cores": 1, "deadline_s": 60},
            ("PATCH", "/v1/admissions/{id}"): {"expires_at": "2026-01-01T00:00:00Z"},
            ("POST", "/v1/workloads"): {"from": "runs", "applications": [name]},
            ("PUT", "/v1/quota-loops/{name}"): LOOP,
            ("POST", "/v1/quota-loops/{name}/samples"): SAMPLE,
            ("POST", "/v1/control-simulations"): {"cluster": {"executors": 1, "cores_per_executor": 2},
                                                  "jobs": [{"name": "A", "application": name, "deadline_s": 60}]},
            ("POST", "/v1/simulations"): {"kind": "tasks", "cluster": {"workers": 1}, "jobs": [{"name": "mine", "task_durations_s": [1]}],
                                          "policies": [{"policy": "centralised"}]},
            ("POST", "/v1/feasibility"): {"cluster": {"executors": 1, "cores_per_executor": 2},
                                          "jobs": [{"name": "A", "application": name, "deadline_s": 60}]},
            ("POST", "/v1/slot-plans"): {"slots": 4, "concurrency": 1, "jobs": [{"name": "A", "application": name}]},
            ("POST", "/v1/copy-plans"): {"clusters": [name], "jobs": [{"name": "j", "unprocessed_bytes": 1, "tasks": [
                {"id": "t", "operation": "o", "size_bytes": 1}]}]},
            ("PATCH", "/v1/applications/{name}/runs/{id}"): {"problem_size": 3},
            ("POST", "/v1/stage-plans"): dict(PLAN, application=name)}.get((method, template))


@pytest.mark.parametrize("method,template", CALLS)
def test_what_belongs_to_a_team_does_not_exist_for_another(method, template, client, stranger, mine):
    before = state(client, mine)
    kind = next((k for k in ("runs", "advice", "tokens", "operations", "admissions", "workloads") if "/%s/{id}" % k in template), None)
    path = template.replace("{name}", mine["name"]).replace("{id}", mine[kind] if kind else "")
    body = body_of(method, template, mine)
    ingests = method == "POST" and "{name}" in template and not template.endswith(("/refit", "/samples"))
    reply = stranger.request(method, path, **({"json": body} if body else {}))
    # `instance` of a problem is the path that was asked for.
    told = reply.text.replace(path, "")
    assert not any(mark in told for mark in mine["marks"]), told[:600]
    if method == "GET" and reply.status_code == 404:  # the name that was asked for, and no more than of a name that nobody has
        absent = stranger.request(method, path.replace(mine["name"], "nobody-has-this"), 404).json()["detail"]
        assert reply.json()["detail"] == absent.replace("nobody-has-this", mine["name"])
        told = told.replace('\\"%s\\"' % mine["name"], "")
    assert method != "GET" or mine["name"] not in told or template == "/v1/audit", "only one's own deeds are on record"
    if method == "PUT" and "{name}" in template:
        # The name is free in the other team: what it puts there is its own.
        assert reply.status_code == 201
        stranger.delete(path)
    elif "{" in template and not ingests:
        assert reply.status_code == 404
    elif method == "GET":
        assert reply.status_code == 200 or template == "/v1/teams" and reply.status_code == 403
    elif template == "/v1/admissions":
        assert reply.status_code == 422 and [e["pointer"] for e in reply.json()["errors"]] == ["/cluster"]
    elif template == "/v1/workloads":
        assert reply.status_code == 422 and [(e["pointer"], e["code"]) for e in reply.json()["errors"]] == [("/applications/0", "unknown_application")]
    elif body and "application" in str(body):
        assert reply.status_code == 422
        assert any(e["pointer"].endswith("/application") for e in reply.json()["errors"])
    elif template == "/v1/copy-plans":
        assert reply.status_code == 422 and reply.json()["errors"][0]["code"] == "unknown_cluster"
    elif ingests or template == "/v1/applications":
        # The name is free in the other team: what it makes there is its own.
        assert reply.status_code in (201, 422)
        if reply.status_code == 201:
            assert mine["runs"] not in reply.text
            stranger.delete("/v1/applications/" + mine["name"])
    assert state(client, mine) == before


def test_an_advice_of_another_team_cannot_be_followed(stranger, mine, name):
    run = {"problem_size": 4, "executors": 1, "cores_per_executor": 2, "duration_s": 7, "advice_id": mine["advice"]}
    stranger.refuse("POST", "/v1/applications/%s/runs" % name, 422, pointer="/advice_id", json=run)
    stranger.get("/v1/applications/" + name, 404)
