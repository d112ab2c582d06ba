"""The contract against the code and the running service."""
import math
import os
import subprocess

import pytest
import yaml

from conftest import BUILD, ROOT, SHARED
from admission_load import from_now
from contract import Contract, bundle

CONTRACT = Contract()


@pytest.fixture(scope="module")
def tables():
    out = subprocess.run([str(BUILD / "tests" / "house" / "print_tables")], check=True, text=True, stdout=subprocess.PIPE)
    return [line.split() for line in out.stdout.splitlines()]


def test_document_names_exactly_the_calls_of_the_program(tables):
    # "{+path}" of the program takes the rest of a path, which OpenAPI has no notation for.
    routes = {(row[1], row[2].replace("{+", "{")): row[3] for row in tables if row[0] == "call"}
    documented = {}
    for method, template, operation in CONTRACT.operations():
        scopes = [s for need in operation["security"] for s in need["bearer"]]
        documented[(method, template)] = scopes[0] if scopes else "public"
    # The server answers these itself, without a row in the table of routes.
    for path in ("/healthz", "/readyz", "/metrics"):
        assert documented.pop(("GET", path)) == "public"
    assert documented == routes


def test_each_problem_type_is_explained_with_its_status(tables):
    with open(ROOT / "docs" / "problems.yaml") as f:
        explained = yaml.safe_load(f)
    assert {row[1]: int(row[2]) for row in tables if row[0] == "problem"} == {k: v["status"] for k, v in explained.items()}


def bodies():
    for method, template, operation in CONTRACT.operations():
        content = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if content is not None:
            yield method, template, content.get("examples", {})


@pytest.mark.parametrize("method,template", [(m, t) for m, t, _ in bodies()])
def test_every_json_body_has_an_example_that_works(method, template, service, client, operator, name):
    examples = dict((m + t, e) for m, t, e in bodies())[method + template]
    assert examples, "no example"
    # Only the operators may create teams, and state their quotas.
    who = operator if template.startswith("/v1/teams") else client
    for example in examples.values():
        body = example["value"]
        CONTRACT.check_request(method, template, body)
        path = template
        if "{name}" in template:
            path = template.replace("{name}", name)
            if template.startswith("/v1/teams"):
                operator.post("/v1/teams", {"name": name}, (201, 409))
            elif method != "POST":
                client.post("/v1/applications", {"name": name}, (201, 409))
        if "/runs/{id}" in template:
            path = path.replace("{id}", client.post("/v1/applications/%s/runs" % name, {
                "problem_size": 8, "executors": 1, "cores_per_executor": 1, "duration_s": 12}, 201).json()["id"])
        if template == "/v1/quota-loops/{name}/samples":  # one after the other, of the loop that another example makes
            loop = next(iter(dict((m + t, e) for m, t, e in bodies())["PUT/v1/quota-loops/{name}"].values()))["value"]
            client.put("/v1/quota-loops/" + name, loop, (200, 201))
        elif template.endswith("/samples"):
            for cluster in (name, "us"):
                client.put("/v1/clusters/" + cluster, {}, (200, 201))
        if template == "/v1/advice" and "application" in body:
            body = dict(body, application=name)
            client.post("/v1/applications/%s/runs" % name, {
                "problem_size": body["problem_size"], "executors": 8, "cores_per_executor": 4, "duration_s": 62,
                "stages": [{"id": 0, "tasks": 64, "task_duration_s": 20}]}, 201)
        if template == "/v1/advice/batch":
            body = dict(body, items=[dict(item, application=name) for item in body["items"]])
            client.post("/v1/applications/%s/runs" % name, {"problem_size": 64, "executors": 8, "cores_per_executor": 4, "duration_s": 62,
                                                            "stages": [{"id": 0, "tasks": 64, "task_duration_s": 20}]}, 201)
        if template == "/v1/slot-plans":
            body = dict(body, jobs=[dict(job, application=name) if "application" in job else job for job in body["jobs"]])
            client.post("/v1/applications/%s/runs" % name, {"problem_size": 64, "executors": 8, "cores_per_executor": 4, "duration_s": 62,
                                                            "stages": [{"id": 0, "tasks": 64, "task_duration_s": 20}]}, 201)
        if template == "/v1/simulations" and isinstance(body.get("workload"), str):
            made = client.post("/v1/workloads", None, 201, params={"format": "pigeon"}, data=b"0 2 1.5 1 2\n1 1 3 3\n",
                               headers={"Content-Type": "application/octet-stream"})
            body = dict(body, workload=made.json()["id"])
        if template == "/v1/workloads":
            body = dict(body, applications=[name])
            client.post("/v1/applications/%s/runs" % name, {"problem_size": 64, "executors": 8, "cores_per_executor": 4, "duration_s": 62,
                                                            "started_at": body["since"],
                                                            "stages": [{"id": 0, "tasks": 64, "task_duration_s": 20}]}, 201)
        if template.startswith("/v1/admissions"):
            body = dict(body, cluster=name) if method == "POST" else {"expires_at": from_now(600)}  # that of the example will be past
            client.put("/v1/clusters/" + name, {"executors": 100, "cores_per_executor": 4, "memory_bytes_per_executor": 1 << 34}, (200, 201))
        if template == "/v1/admissions/{id}":
            made = client.post("/v1/admissions", {"cluster": name, "application": name, "cores": 1, "deadline_s": 60}, 201)
            path = path.replace("{id}", made.json()["id"])
        if template.startswith("/v1/webhooks/{id}"):
            path = path.replace("{id}", client.post("/v1/webhooks", {"url": "https://a.example/", "events": ["advice.created"]}, 201).json()["id"])
        if template.endswith("/refit"):
            for m in (1, 2, 3, 4, 6, 8, 12, 16):
                client.post("/v1/applications/%s/runs" % name, {"problem_size": 8 + m, "executors": m, "cores_per_executor": 1,
                                                                "duration_s": 12 + 28 / m + 0.4 * m + math.log(m)}, 201)
        reply = who.request(method, path, (200, 201, 202, 204), json=body)
        assert reply.status_code == 204 or reply.json()


def test_examples_of_events_are_allowed_by_their_schemas():
    document = CONTRACT.document
    types = document["components"]["schemas"]["WebhookEvents"]["items"]["enum"]
    assert list(document["webhooks"]) == types + ["webhook.ping"]
    for name, item in document["webhooks"].items():
        content = item["post"]["requestBody"]["content"]
        for example in content["application/json"]["examples"].values():
            event = example["value"]
            assert event["type"] == name
            CONTRACT.check_instance(content["application/json"]["schema"], event, name)
            cloud = {"specversion": "1.0", "id": "evt_1", "source": "urn:provisor:team:1", "type": "provisor." + name, "time": event["timestamp"],
                     "datacontenttype": "application/json", "severity": event["data"]["severity"], "data": event["data"]}
            schema = content["application/cloudevents+json"]["schema"]
            CONTRACT.check_instance(schema, cloud, name)
            for broken in ({**event, "type": "other"}, {**event, "data": {}}, {**event, "more": 1}):
                with pytest.raises(AssertionError, match="breaks the contract"):
                    CONTRACT.check_instance(content["application/json"]["schema"], broken, name)
            with pytest.raises(AssertionError, match="breaks the contract"):
                CONTRACT.check_instance(schema, {**cloud, "data": {}}, name)


def test_a_broken_reply_would_be_noticed(service, client):
    reply = client.get("/healthz")
    reply._content = b'{"status": "fine"}'
    with pytest.raises(AssertionError, match="breaks the contract"):
        CONTRACT.check_reply("GET", "/healthz", reply)
    reply._content = b'{"status": "ok", "more": 1}'
    with pytest.raises(AssertionError, match="breaks the contract"):
        CONTRACT.check_reply("GET", "/healthz", reply)


def test_calls_of_operation_answer_as_documented(client):
    for path in ("/healthz", "/readyz", "/metrics"):
        client.get(path, token=False)
        client.request("HEAD", path, 200, token=False)


def test_the_document_is_served_as_it_is(client):
    reply = client.get("/openapi.yaml", token=False)
    assert reply.content.decode() == bundle.bundle()
    assert client.get("/openapi.yaml", 304, token=False, headers={"If-None-Match": reply.headers["ETag"]}).content == b""


def test_problem_types_lead_to_their_explanation(client):
    problem = client.get("/v1/nowhere", 404).json()
    reply = client.get(problem["type"], 303, token=False, allow_redirects=False)
    page, anchor = reply.headers["Location"].split("#")
    assert 'id="%s"' % anchor in client.get(page, token=False).text
    for kind in ("invalid", "not_found", "unavailable"):
        assert 'id="problem-%s"' % kind in client.get(page, token=False).text
    client.get("/problems/no-such-type", 404, token=False)


def test_every_authenticated_call_is_401_without_a_token(service, client):
    for method, template, operation in CONTRACT.operations():
        if not operation["security"]:
            continue
        path = template.replace("{name}", "some").replace("{id}", "0190d4a0-0000-7000-8000-000000000000")
        reply = client.request(method, path, 401, token=False)
        assert reply.headers["WWW-Authenticate"] == 'Bearer realm="provisor"', (method, path)
        reply = client.request(method, path, 401, token=False, headers={"Authorization": "Bearer prv_wrong"})
        assert 'error="invalid_token"' in reply.headers["WWW-Authenticate"], (method, path)


def a_body(operation):
    """What a call takes, as arguments of a request."""
    content = operation.get("requestBody", {}).get("content", {})
    examples = content.get("application/json", {}).get("examples", {})
    if examples:
        return {"json": next(iter(examples.values()))["value"]}
    return {"data": b"", "headers": {"Content-Type": next(iter(content))}} if content else {}


def test_every_call_refuses_parameters_that_it_does_not_know(client):
    """None has its way with a misspelt one, ?dry_run=true of a DELETE least of all."""
    for method, template, operation in CONTRACT.operations():
        if not operation["security"]:
            continue
        path = template.replace("{name}", "some").replace("{id}", "0190d4a0-0000-7000-8000-000000000000")
        client.refuse(method, path + "?unheard_of=true", 422, parameter="unheard_of", **a_body(operation))


def test_every_call_is_403_without_its_scope(service):
    wanted = {"read": "write,admin", "write": "read,admin", "admin": "read,write"}
    clients = {scope: service.client(service.token("alpha", others)) for scope, others in wanted.items()}
    for method, template, operation in CONTRACT.operations():
        if not operation["security"]:
            continue
        scope = operation["security"][0]["bearer"][0]
        path = template.replace("{name}", "some").replace("{id}", "0190d4a0-0000-7000-8000-000000000000")
        reply = clients[scope].request(method, path, 403)
        assert 'error="insufficient_scope", scope="%s"' % scope in reply.headers["WWW-Authenticate"], (method, path)


def test_vectors_are_allowed_by_the_contract():
    """Every request that must work is one that the document allows."""
    folder = SHARED / "golden" / "vectors"
    if not folder.is_dir():
        pytest.skip("shared data not found at PROVISOR_SHARED=%s" % SHARED)
    for path in sorted(p for call in ("feasibility", "stage-plans", "contention", "copy-plans") for p in (folder / call).glob("*.json")):
        with open(path) as f:
            vector = yaml.safe_load(f)
        method, call = vector["call"].split()
        CONTRACT.check_request(method, call, vector["request"])
