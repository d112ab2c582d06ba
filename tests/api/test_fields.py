"""?fields=: replies with the members asked for alone, and nothing else about them changed."""
import json
import re
import urllib.parse
import uuid

import pytest
from test_advice_spark import record
from test_contract import CONTRACT

PARAMETER = {"$ref": "#/components/parameters/Fields"}
CALLS = [(method, template) for method, template, operation in CONTRACT.operations() if PARAMETER in operation.get("parameters", [])]


@pytest.fixture(scope="module")
def name(client):
    return record(client, {"spark.executor.instances": "5", "spark.executor.cores": "2"})


@pytest.fixture
def body(name):
    return {"application": name, "problem_size": 40, "deadline_s": 26}


def part_of(document, *paths):
    """What is left of it, by the rule and not by the service's way: keys have no dots here."""
    if isinstance(document, list):
        return [part_of(item, *paths) for item in document]
    if not isinstance(document, dict):
        return document
    found = {}
    for key, value in document.items():
        within = [path[1:] for path in paths if path[0] == key]
        if within:
            found[key] = value if [] in within else part_of(value, *within)
    return found


def expect(client, path, fields):
    whole = client.get(path).json()
    reply = client.get(path + ("&" if "?" in path else "?") + "fields=" + fields)
    paths = [f.split(".") for f in fields.split(",")]
    if "items" in whole and "next_cursor" in whole:
        paths = [["items", *p] for p in paths] + [[key] for key in whole if key != "items"]
    assert reply.json() == part_of(whole, *paths)
    return reply


def test_an_advice_in_three_members(client, body):
    reply = client.post("/v1/advice?dry_run=true&fields=verdict,recommendation.executors,spark.properties", body, status=200)
    assert set(reply.json()) == {"verdict", "recommendation", "spark"}
    assert set(reply.json()["recommendation"]) == {"executors"} and set(reply.json()["spark"]) == {"properties"}
    assert len(reply.content) < 400 and reply.headers["Content-Type"] == "application/json" and reply.headers["Vary"] == "Accept"
    key = client.post("/v1/advice?dry_run=true&fields=spark.properties.spark.executor.cores", body, status=200).json()
    assert key == {"spark": {"properties": {"spark.executor.cores": "2"}}}


def test_stored_advice_is_kept_whole_and_read_in_part(client, body, name):
    made = client.post("/v1/advice?fields=id", body, status=201)
    assert set(made.json()) == {"id"} and made.headers["Location"] == "/v1/advice/" + made.json()["id"]
    at = made.headers["Location"]
    assert {"reasons", "warnings", "alternatives", "model"} <= set(client.get(at).json())
    # Numbers are those of the whole, digit for digit.
    part = expect(client, at, "alternatives.cost,alternatives.predicted_duration_s,reasons.code,deadline_s,contention").text
    whole = client.get(at).text
    assert all(number in whole for number in re.findall(r"\d+\.\d+", part)) and "contention" not in part
    page = expect(client, "/v1/advice?application=%s&limit=1" % name, "id,recommendation.executors").json()
    assert set(page) == {"items", "next_cursor"}
    client.post("/v1/advice", body, status=201)
    first = client.get("/v1/advice?application=%s&limit=1&fields=id" % name)
    link = re.match(r"<(.*)>; rel=\"next\"", first.headers["Link"]).group(1)
    assert set(client.get(link).json()["items"][0]) == {"id"} and client.get(link).json()["items"] != first.json()["items"]
    # Other members of the next page: the cursor is that of the same list.
    cursor = urllib.parse.quote(first.json()["next_cursor"])
    assert set(client.get("/v1/advice?application=%s&limit=1&fields=verdict&cursor=%s" % (name, cursor)).json()["items"][0]) == {"verdict"}


def test_a_key_keeps_the_whole_reply(client, body):
    head = {"Idempotency-Key": str(uuid.uuid4())}
    first = client.post("/v1/advice?fields=id", body, status=201, headers=head)
    again = client.post("/v1/advice?fields=id", body, status=201, headers=head)
    assert again.content == first.content and again.headers["Idempotency-Replayed"] == "true" and again.headers["Location"] == first.headers["Location"]
    other = client.post("/v1/advice?fields=id,verdict", body, status=201, headers=head)
    assert set(other.json()) == {"id", "verdict"} and other.json()["id"] == first.json()["id"]
    whole = client.post("/v1/advice", body, status=201, headers=head)
    assert whole.json() == client.get(first.headers["Location"]).json() and whole.headers["Idempotency-Replayed"] == "true"
    client.refuse("POST", "/v1/advice?fields=id", 422, header="Idempotency-Key", headers=head, json=dict(body, deadline_s=61))


def test_a_refused_name_has_no_effect(client, body, name):
    before = client.get("/v1/advice?application=%s&limit=200&fields=id" % name).json()
    problem = client.refuse("POST", "/v1/advice?fields=id,verdikt,recommendation.executer", 422, parameter="fields", json=body)
    assert [(e["code"], e["detail"]) for e in problem["errors"]] == [
        ("unknown_field", "the reply never has verdikt; did you mean verdict?"),
        ("unknown_field", "the reply never has recommendation.executer; did you mean recommendation.executors?")]
    assert client.get("/v1/advice?application=%s&limit=200&fields=id" % name).json() == before


@pytest.mark.parametrize("fields", ["", ",", "id,", "id, ", "verdict.x", "ID", "recommendation..cost", "items.id", "next_cursor", "spark.properties."])
def test_what_is_no_name_is_refused(client, fields):
    client.refuse("GET", "/v1/advice?fields=" + fields, 422, parameter="fields")


def test_it_is_given_once(client):
    problem = client.refuse("GET", "/v1/advice?fields=id&fields=verdict", 422, parameter="fields")
    assert problem["errors"][0]["code"] == "repeated"


def test_number_and_length_are_bounded(client, make_service):
    names = ["spark.properties.k%d" % i for i in range(64)]
    client.get("/v1/advice?fields=" + ",".join(names))
    problem = client.refuse("GET", "/v1/advice?fields=" + ",".join(names + ["id"]), 422, parameter="fields")
    assert problem["errors"][0]["code"] == "too_many_items" and "64 names (fields_max), lists 65" in problem["errors"][0]["detail"]
    longest = "spark.properties." + "x" * (2048 - 17)
    client.get("/v1/advice?fields=" + longest)
    problem = client.refuse("GET", "/v1/advice?fields=" + longest + "x", 422, parameter="fields")
    assert "2048 bytes" in problem["errors"][0]["detail"]
    service = make_service(PROVISOR_FIELDS_MAX=2)
    own = service.start().client(service.token("few"))
    own.get("/v1/advice?fields=id,verdict")
    own.refuse("GET", "/v1/advice?fields=id,verdict,feasible", 422, parameter="fields")


@pytest.mark.parametrize("form", ["markdown", "spark-submit", "k8s"])
def test_another_form_is_refused_with_both_parameters_named(client, body, form):
    problem = client.refuse("POST", "/v1/advice?fields=id&format=" + form, 422, parameter="fields", json=body)
    assert [e["parameter"] for e in problem["errors"]] == ["fields", "format"]
    at = client.post("/v1/advice?fields=id&format=json", body, status=201).headers["Location"]
    client.refuse("GET", "%s?format=%s&fields=id" % (at, form), 422, parameter="format")


def test_accept_does_not_turn_it_into_markdown(client, body):
    head = {"Accept": "text/markdown"}
    assert set(client.post("/v1/advice?dry_run=true&fields=id", body, status=200, headers=head).json()) == {"id"}
    assert client.post("/v1/advice?dry_run=true", body, status=200, headers=head).headers["Content-Type"].startswith("text/markdown")


def test_a_dry_run_of_a_reader(service, body):
    reader = service.client(service.token("alpha", "read"))
    assert set(reader.post("/v1/advice?fields=verdict&dry_run=true", body, status=200).json()) == {"verdict"}
    reader.request("POST", "/v1/advice?fields=verdict", 403, json=body)


def test_versions_are_those_of_the_resource(client, name):
    path = "/v1/applications/" + name
    whole = client.get(path)
    part = expect(client, path, "name,retention.days,labels")
    assert part.headers["ETag"] == whole.headers["ETag"]
    unchanged = client.get(path + "?fields=name", status=304, headers={"If-None-Match": part.headers["ETag"]})
    assert unchanged.content == b"" and unchanged.headers["ETag"] == part.headers["ETag"]
    client.patch(path, {"description": "x"}, headers={"If-Match": part.headers["ETag"]})
    head = client.request("HEAD", path + "?fields=name", 200)
    assert int(head.headers["Content-Length"]) == len(client.get(path + "?fields=name").content)


def test_problems_are_whole(client):
    problem = client.refuse("GET", "/v1/applications/nobody-%s?fields=name" % uuid.uuid4().hex, 404)
    assert {"type", "title", "status", "detail"} <= set(problem)


def test_other_collections_and_objects(client, name):
    path = "/v1/applications/" + name
    expect(client, path + "/runs?limit=2", "id,executors,labels,warnings.code")
    expect(client, path + "/runs?limit=2&include=tasks", "stages.task_durations_s")
    run = client.get(path + "/runs?limit=1&fields=id").json()["items"][0]["id"]
    expect(client, "/v1/runs/" + run, "id,duration_s")
    expect(client, path + "/models", "selected_model,history.runs,candidates.model,candidates.fit.loo_mape_percent,candidates.parameters")
    expect(client, path + "/diagnosis", "bottlenecks.run_id,slices.points.executors,best_load")
    expect(client, "/v1/applications?name_prefix=" + name, "name,last_run_at")


def test_prices_as_csv_are_no_json(client):
    book = "/v1/price-books/fields-" + uuid.uuid4().hex[:8]
    client.put(book, {"currency": "EUR", "prices": [{"machine_type": "m5.xlarge", "per_executor_hour": 0.2}]}, status=201)
    expect(client, book, "prices.per_executor_hour")
    client.refuse("GET", book + "?format=csv&fields=currency", 422, parameter="fields")


@pytest.mark.parametrize("method, template", CALLS, ids=["%s %s" % call for call in CALLS])
def test_every_call_whose_contract_has_it_takes_it(operator, method, template):
    path = re.sub(r"\{\w+\}", str(uuid.uuid4()), template)
    kwargs = {"json": {}} if method == "POST" else {}
    problem = operator.refuse(method, path + "?fields=no_such_member", 422, parameter="fields", **kwargs)
    assert [e["code"] for e in problem["errors"]] == ["unknown_field"]


def test_other_calls_do_not_know_it(client, name):
    client.refuse("GET", "/v1/applications/%s/runs/export?fields=id" % name, 422, parameter="fields")
    problem = client.refuse("POST", "/v1/applications?fields=id", 422, parameter="fields", json={"name": "x"})
    assert problem["errors"][0]["code"] == "unknown_parameter"


def test_names_with_quotes_and_backslashes_in_what_is_skipped(client):
    """Texts of callers stand in the documents: nothing in them is taken for structure."""
    name = "fields-" + uuid.uuid4().hex[:8]
    awkward = '}],"name":"\\"[{'
    client.post("/v1/applications", {"name": name, "description": awkward, "labels": {"a": awkward, "b\"}": "\u00e9\u2028"}}, status=201)
    assert expect(client, "/v1/applications/" + name, "name").json() == {"name": name}
    assert json.loads(expect(client, "/v1/applications/" + name, "labels").text)["labels"]["b\"}"] == "\u00e9\u2028"
