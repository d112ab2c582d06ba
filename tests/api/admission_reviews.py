"""Reviews as the API server of Kubernetes sends them (reviews/*.json), what it does with the answers, and an application that they ask about."""
import base64
import json
import pathlib
import uuid

import jsonschema

import json_patch

from test_advice_spark import run_of

REVIEWS = pathlib.Path(__file__).resolve().parent / "reviews"
SCHEMA = json.loads((REVIEWS / "sparkapplication.schema.json").read_text())
MUTATE = "/v1/kubernetes/admission"
VALIDATE = MUTATE + "?action=validate"


def review(name):
    """A recorded one, with a uid that was not answered before."""
    text = json.loads((REVIEWS / (name + ".json")).read_text())
    text["request"]["uid"] = str(uuid.uuid4())
    return text


def teach(client, name):
    """An application whose runs on 1, 2, 4 and 5 executors of 2 cores take 45, 25, 15 and 13 s."""
    lines = [json.dumps(dict(run_of(executors), started_at="2026-01-%02dT10:00:00Z" % executors)) for executors in (1, 2, 4, 5)]
    client.post("/v1/applications", {"name": name}, 201)
    client.post("/v1/applications/%s/runs/import" % name, None, 201, data="\n".join(lines), headers={"Content-Type": "application/x-ndjson"})


def ask(client, body, path=MUTATE):
    answer = client.post(path, body, 200).json()
    assert answer["apiVersion"] == "admission.k8s.io/v1" and answer["kind"] == "AdmissionReview"
    response = answer["response"]
    assert response.pop("uid") == body["request"]["uid"]
    assert ("patch" in response) == (response.get("patchType") == "JSONPatch")
    assert response["allowed"] or "patch" not in response
    for text in [*response.get("warnings", []), *([response["status"]["message"]] if "status" in response else [])]:
        assert text.startswith("provisor: ") and not text.endswith("...") and ", its" not in text, text
    return response


def operations(response):
    return json.loads(base64.b64decode(response["patch"], validate=True)) if "patch" in response else []


def admitted(body, response):
    """The object as Kubernetes stores it."""
    patched = json_patch.apply(body["request"]["object"], operations(response))
    jsonschema.validate(patched, SCHEMA, cls=jsonschema.Draft202012Validator)
    return patched


def annotate(body, **annotations):
    body["request"]["object"]["metadata"]["annotations"].update({"provisor/" + k.replace("_", "-"): v for k, v in annotations.items()})
    return body


def with_executors(body, n, cores=2):
    body["request"]["object"]["spec"]["executor"].update(instances=n, cores=cores)
    return body
