"""Advice in the forms of those who apply it, read by their own rules."""
import json
import re
import shlex
import uuid

import jsonschema
import pytest
import yaml
from test_advice_spark import ask, record, record_with_shuffle, run_of

STATIC = {"spark.executor.instances": "5", "spark.executor.cores": "2", "spark.executor.memory": "4g"}
AWKWARD = {"spark.executor.extraJavaOptions": "-Dpath='a b' -Dslash=C:\\x -Ddollar=$HOME `id`"}


@pytest.fixture(scope="module")
def static(client_of_module):
    return record(client_of_module, STATIC)


@pytest.fixture(scope="module")
def dynamic(client_of_module):
    return record(client_of_module, {"spark.dynamicAllocation.enabled": "true", "spark.executor.cores": "2"})


@pytest.fixture(scope="module")
def client_of_module(make_service):
    service = make_service()
    return service.start().client(service.token("formats"))


def render(client, name, form, path="/v1/advice?dry_run=true&format=", status=200, **constraints):
    body = {"application": name, "problem_size": 40, "deadline_s": 26, "constraints": constraints}
    return client.post(path + form, body, status=status)


def conf_of_flags(words):
    """As spark-submit reads its arguments: an option and its value are two words, or one with an equals sign between them; --conf
    takes PROP=VALUE, split at the first equals sign; a property that does not begin with spark. is ignored; of one given twice the
    last counts, so none is."""
    found, words = {}, list(words)
    while words:
        option = words.pop(0)
        joined = re.fullmatch(r"(--[^=]+)=(.+)", option, re.S)
        option, value = joined.groups() if joined else (option, words.pop(0))
        assert option in ("--conf", "-c"), "an option that sets no property, or the name of a program: %r" % option
        key, equals, text = value.partition("=")
        assert equals and key.startswith("spark.") and key not in found, value
        found[key] = text
    return found


WHOLE, COUNT, TEXT = {"type": "integer", "minimum": 1}, {"type": ["integer", "null"], "minimum": 0}, {"type": "string", "minLength": 1}
CORES = {"type": "string", "pattern": r"^([0-9]+(\.[0-9]+)?|[0-9]+m)$"}  # a quantity of Kubernetes
MEMORY = {"type": "string", "pattern": "^[0-9]+[kmgtKMGT]?[bB]?$"}  # as Spark reads sizes
PROPERTIES = {"type": "object", "additionalProperties": {"type": "string"}, "propertyNames": {"pattern": "^spark\\."}}
PATCHED = dict(PROPERTIES, additionalProperties={"type": ["string", "null"]})
# sparkoperator.k8s.io/v1beta2, SparkApplication: what a merge patch of it may set here, with the types of its definition; null removes.
SPARK_APPLICATION = {
    "type": "object", "additionalProperties": False, "required": ["spec"],
    "properties": {"spec": {
        "type": "object", "additionalProperties": False,
        "properties": {
            "executor": {"type": "object", "additionalProperties": False, "properties": {
                "instances": dict(WHOLE, type=["integer", "null"]), "cores": WHOLE, "coreRequest": CORES, "coreLimit": CORES, "memory": MEMORY, "memoryOverhead": MEMORY}},
            "dynamicAllocation": {"type": "object", "additionalProperties": False, "required": ["enabled"], "properties": {
                "enabled": {"type": "boolean"}, "initialExecutors": COUNT, "minExecutors": COUNT, "maxExecutors": COUNT,
                "shuffleTrackingEnabled": {"type": "boolean"},
                "shuffleTrackingTimeout": {"type": "integer"}}},
            "sparkConf": PATCHED}}}}
# A cluster of Databricks' REST API: either a fixed number of workers or a range, never both.
DATABRICKS = {
    "type": "object", "additionalProperties": False, "required": ["spark_conf"],
    "properties": {"num_workers": {"type": "integer", "minimum": 0}, "spark_conf": PROPERTIES, "autoscale": {
        "type": "object", "additionalProperties": False, "required": ["min_workers", "max_workers"],
        "properties": {"min_workers": {"type": "integer", "minimum": 0}, "max_workers": WHOLE}}},
    "oneOf": [{"required": ["num_workers"]}, {"required": ["autoscale"]}]}
# StepConfig of Amazon EMR.
EMR = {
    "type": "object", "additionalProperties": False, "required": ["Name", "HadoopJarStep"],
    "properties": {
        "Name": {"type": "string", "maxLength": 256},
        "ActionOnFailure": {"enum": ["TERMINATE_JOB_FLOW", "TERMINATE_CLUSTER", "CANCEL_AND_WAIT", "CONTINUE"]},
        "HadoopJarStep": {"type": "object", "additionalProperties": False, "required": ["Jar"], "properties": {
            "Jar": TEXT, "MainClass": TEXT, "Args": {"type": "array", "items": {"type": "string"}}, "Properties": {"type": "array"}}}}}


def expect(schema, document):
    jsonschema.Draft202012Validator(schema).validate(document)
    return document


def patch_of(reply):
    return expect(SPARK_APPLICATION, yaml.safe_load(reply.text))["spec"]


ID = "spark.provisor.adviceId"


def without_id(properties):
    """Of stored advice."""
    assert uuid.UUID(properties[ID])
    return {k: v for k, v in properties.items() if k != ID}


def of_dry_run(properties):
    """No run can follow advice that is not stored."""
    assert ID not in properties
    return properties


def test_flags_are_read_by_a_shell_and_by_spark_submit(client_of_module, static):
    wanted = ask(client_of_module, static, enforced=AWKWARD)["spark"]["properties"]
    reply = render(client_of_module, static, "spark-submit", enforced=AWKWARD)
    assert reply.headers["Content-Type"].startswith("text/plain") and reply.headers["Vary"] == "Accept"
    assert of_dry_run(conf_of_flags(shlex.split(reply.text))) == wanted and wanted["spark.executor.extraJavaOptions"] == AWKWARD["spark.executor.extraJavaOptions"]


def properties_file(text):
    """java.util.Properties: a key to the first blank, = or :, then its value, in which a backslash escapes."""
    found = {}
    for line in text.splitlines():
        if line and line[0] not in "#!":
            key, value = re.match(r"([^\s=:]+)[ \t]*[=: \t][ \t]*(.*)$", line).groups()
            found[key] = re.sub(r"\\(.)", r"\1", value)
    return found


def test_spark_defaults_is_a_file_of_properties(client_of_module, static):
    wanted = ask(client_of_module, static, enforced=AWKWARD)["spark"]["properties"]
    assert of_dry_run(properties_file(render(client_of_module, static, "spark-defaults", enforced=AWKWARD).text)) == wanted


def test_a_patch_for_a_spark_application(client_of_module, static, dynamic):
    """Types as the operator's custom resource has them: whole numbers, memory as text, sparkConf of strings."""
    advised = ask(client_of_module, static, enforced=AWKWARD)
    reply = render(client_of_module, static, "k8s", enforced=AWKWARD)
    assert reply.headers["Content-Type"] == "application/yaml"
    spec = patch_of(reply)
    assert spec["executor"] == {"instances": advised["recommendation"]["executors"], "cores": 2, "memory": "4g"} and "dynamicAllocation" not in spec
    assert of_dry_run(spec["sparkConf"]) == AWKWARD
    m = ask(client_of_module, dynamic)["recommendation"]["executors"]
    spec = patch_of(render(client_of_module, dynamic, "k8s"))
    assert spec["dynamicAllocation"] == {"enabled": True, "initialExecutors": m, "minExecutors": 0, "maxExecutors": m, "shuffleTrackingEnabled": True}
    assert spec["executor"] == {"cores": 2} and "sparkConf" not in spec, "null would remove the author's entries"
    quotas = {"spark.executor.cores": "2", "spark.kubernetes.executor.request.cores": "1600m", "spark.kubernetes.executor.limit.cores": "2"}
    spec = patch_of(render(client_of_module, static, "k8s", current=quotas, cores_per_executor=4))
    assert {k: v for k, v in spec["executor"].items() if k.startswith("core")} == {"cores": 4, "coreRequest": "3200m", "coreLimit": "4"}


def merged(target, patch):
    """RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    target = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        target[key] = merged(target.get(key), value)
    return {k: v for k, v in target.items() if v is not None}


def test_a_patch_removes_what_the_advice_removes(client_of_module):
    """Wherever it was set: instances beside dynamic allocation would be more initial executors, bounds without it mean nothing."""
    name = record(client_of_module, {"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.maxExecutors": "9",
                                     "spark.executor.instances": "5", "spark.executor.cores": "2"})
    patch = patch_of(render(client_of_module, name, "k8s"))
    assert patch["executor"] == {"instances": None, "cores": 2} and patch["sparkConf"]["spark.executor.instances"] is None
    before = {"image": "x", "executor": {"instances": 5, "cores": 2, "labels": {"a": "b"}}, "sparkConf": {"spark.executor.instances": "5", "spark.ui.port": "1"}}
    after = merged(before, patch)
    assert after["image"] == "x" and after["executor"] == {"cores": 2, "labels": {"a": "b"}}
    assert of_dry_run(after["sparkConf"]) == {"spark.ui.port": "1"}
    patch = patch_of(render(client_of_module, name, "k8s", dynamic_allocation=False))
    assert patch["dynamicAllocation"] == {"enabled": False, "maxExecutors": None} and patch["executor"]["instances"] >= 1
    kept = patch_of(render(client_of_module, name, "k8s", exclude=["spark.executor.instances"]))
    assert kept["executor"] == {"cores": 2} and "spark.executor.instances" not in kept.get("sparkConf", {})
    for form in ("spark-submit", "spark-defaults"):
        text = render(client_of_module, name, form).text  # these cannot unset it
        assert re.search(r"spark\.executor\.instances[= ]%d\n" % ask(client_of_module, name)["recommendation"]["executors"], text)


def test_a_databricks_cluster(client_of_module, static, dynamic):
    advised = ask(client_of_module, static)
    cluster = expect(DATABRICKS, render(client_of_module, static, "databricks").json())
    assert cluster["num_workers"] == advised["recommendation"]["executors"] and "autoscale" not in cluster
    assert of_dry_run(cluster["spark_conf"]) == {}, "the type of the nodes decides on cores and memory"
    m = ask(client_of_module, dynamic)["recommendation"]["executors"]
    cluster = expect(DATABRICKS, render(client_of_module, dynamic, "databricks").json())
    assert cluster["autoscale"] == {"min_workers": 1, "max_workers": m} and "num_workers" not in cluster


def test_what_is_excluded_is_in_no_format(client_of_module, static):
    excluded = ["spark.executor.instances"]
    assert "do not exclude" in render(client_of_module, static, "databricks", status=409, exclude=excluded).json()["detail"]
    assert "instances" not in yaml.safe_load(render(client_of_module, static, "k8s", exclude=excluded).text)["spec"]["executor"]


@pytest.mark.parametrize("form", ["spark-submit", "spark-defaults", "k8s", "k8s-apache", "databricks", "emr", "emr-serverless"])
def test_a_preserved_value_that_is_no_number_is_in_no_form(client_of_module, static, form):
    wrong = {"current": {"spark.executor.instances": "8, x: [y"}, "preserve": ["spark.executor.instances"]}
    warnings = {note["code"]: note["message"] for note in ask(client_of_module, static, **wrong)["warnings"]}
    assert "8, x: [y" in warnings["would_not_start"]
    assert render(client_of_module, static, form, status=409, **wrong).json()["detail"] == warnings["would_not_start"]


def test_a_patch_for_an_application_of_apaches_operator(client_of_module, static, dynamic):
    """spark.apache.org/v1 has no fields for executors: all is in sparkConf, as text."""
    m = ask(client_of_module, static)["recommendation"]["executors"]
    reply = render(client_of_module, static, "k8s-apache")
    assert reply.headers["Content-Type"] == "application/yaml"
    assert yaml.safe_load(reply.text) == {"spec": {"sparkConf": {
        "spark.executor.cores": "2", "spark.executor.instances": str(m), "spark.executor.memory": "4g"}}}
    m = ask(client_of_module, dynamic)["recommendation"]["executors"]
    conf = yaml.safe_load(render(client_of_module, dynamic, "k8s-apache").text)["spec"]["sparkConf"]
    assert conf == {"spark.executor.cores": "2", **{"spark.dynamicAllocation." + key: value for key, value in {
        "enabled": "true", "initialExecutors": str(m), "minExecutors": "0", "maxExecutors": str(m), "shuffleTracking.enabled": "true"}.items()}}
    name = record(client_of_module, {"spark.dynamicAllocation.enabled": "true", "spark.shuffle.service.enabled": "true",
                                     "spark.executor.instances": "5", "spark.executor.cores": "2"})
    conf = yaml.safe_load(render(client_of_module, name, "k8s-apache").text)["spec"]["sparkConf"]
    assert conf["spark.executor.instances"] is None and conf["spark.shuffle.service.enabled"] is None
    assert conf["spark.dynamicAllocation.shuffleTracking.enabled"] == "true"


def test_an_enforced_truth_value_is_true_or_false(client_of_module, static):
    body = {"application": static, "constraints": {"enforced": {"spark.dynamicAllocation.enabled": "yes"}}}
    client_of_module.refuse("POST", "/v1/advice", 422, pointer="/constraints/enforced/spark.dynamicAllocation.enabled", json=body)


def test_a_step_of_emr(client_of_module, static):
    step = expect(EMR, render(client_of_module, static, "emr").json())
    assert step["Name"] == static and step["HadoopJarStep"]["Jar"] == "command-runner.jar"
    words = step["HadoopJarStep"]["Args"]
    assert words[0] == "spark-submit" and of_dry_run(conf_of_flags(words[1:])) == ask(client_of_module, static)["spark"]["properties"]


def test_markdown_by_format_and_by_accept(client_of_module):
    name = "<b>[x](http://y)|" + uuid.uuid4().hex[:8]
    for executors in (1, 2, 4, 5):
        client_of_module.request("POST", "/v1/applications/%s/runs" % name.replace("/", "%2F"), 201, json=run_of(executors))
    reply = render(client_of_module, name, "markdown")
    assert reply.headers["Content-Type"].startswith("text/markdown")
    lines = reply.text.splitlines()
    assert lines[0].startswith("### \\<b\\>\\[x\\]\\(http://y\\)\\|") and lines[0].endswith(": met")
    assert "| executors | 5 | 3 |" in lines and any("26 s" in line for line in lines)
    body = {"application": name, "problem_size": 40, "deadline_s": 26}
    accepted = client_of_module.request("POST", "/v1/advice?dry_run=true", 200, json=body, headers={"Accept": "text/markdown"})
    assert accepted.headers["Content-Type"].startswith("text/markdown")
    assert client_of_module.post("/v1/advice?dry_run=true", body, status=200).headers["Content-Type"].startswith("application/json")


def test_stored_advice_and_a_repeated_key_have_the_form_asked_for(client_of_module, static):
    body = {"application": static, "problem_size": 40, "deadline_s": 26}
    key = {"Idempotency-Key": uuid.uuid4().hex}
    first = client_of_module.request("POST", "/v1/advice?format=spark-submit", 201, json=body, headers=key)
    again = client_of_module.request("POST", "/v1/advice?format=spark-submit", 201, json=body, headers=key)
    assert first.text == again.text and again.headers["Content-Type"].startswith("text/plain")
    advice_id = conf_of_flags(shlex.split(first.text))["spark.provisor.adviceId"]
    assert first.headers["Location"].endswith(advice_id)
    stored = client_of_module.get("/v1/advice/" + advice_id)
    assert stored.json()["id"] == advice_id
    assert client_of_module.get("/v1/advice/%s?format=spark-submit" % advice_id).text == first.text
    assert json.loads(client_of_module.get("/v1/advice/%s?format=json" % advice_id).text) == stored.json()


def test_what_cannot_be_rendered_is_refused_and_not_stored(client_of_module, static):
    client_of_module.refuse("POST", "/v1/advice?format=toml", 422, parameter="format", json={"application": static})
    client_of_module.refuse("POST", "/v1/advice?format=emr", 422, pointer="/include", json={"application": static, "include": ["stages"]})
    name = "far-" + uuid.uuid4().hex[:8]
    client_of_module.request("POST", "/v1/applications/%s/runs" % name, 201, json=run_of(4))
    body = {"application": name, "problem_size": 4000, "deadline_s": 26}
    refused = client_of_module.request("POST", "/v1/advice?format=spark-submit", 409, json=body)
    assert "unknown" in refused.json()["detail"]
    assert client_of_module.get("/v1/advice?application=" + name).json()["items"] == []
    shown = client_of_module.request("POST", "/v1/advice?format=markdown", 201, json=body)
    assert shown.text.splitlines()[0].endswith(": unknown")
    stored = client_of_module.get("/v1/advice?application=" + name).json()["items"][0]["id"]
    client_of_module.request("GET", "/v1/advice/%s?format=k8s" % stored, 409)


CONFIGURATIONS = ("spark-submit", "spark-defaults", "k8s", "databricks", "emr", "emr-serverless")


@pytest.mark.parametrize("form", CONFIGURATIONS)
def test_a_missed_deadline_configures_nothing_unless_it_is_forced(client_of_module, static, form):
    body = {"application": static, "problem_size": 40, "deadline_s": 1}
    known = len(client_of_module.get("/v1/advice?application=%s&verdict=missed" % static).json()["items"])
    refused = client_of_module.request("POST", "/v1/advice?format=" + form, 409, json=body).json()
    assert "missed" in refused["detail"] and "force=true" in refused["detail"]
    assert len(client_of_module.get("/v1/advice?application=%s&verdict=missed" % static).json()["items"]) == known, "nothing is stored"
    stored = client_of_module.post("/v1/advice", body, status=201).json()
    assert stored["verdict"] == "missed"
    path = "/v1/advice/%s?format=%s" % (stored["id"], form)
    client_of_module.request("GET", path + "&force=false", 409)
    cores = {"k8s": "cores: 2", "databricks": "num_workers"}.get(form, "spark.executor.cores")
    assert cores in client_of_module.request("GET", path + "&force=true", 200).text
    assert cores in client_of_module.post("/v1/advice?dry_run=true&force=1&format=" + form, body, status=200).text
    client_of_module.request("GET", path + "&force=perhaps", 422)


def test_unknown_configures_nothing_even_if_it_is_forced(client_of_module):
    name = "far-" + uuid.uuid4().hex[:8]
    client_of_module.request("POST", "/v1/applications/%s/runs" % name, 201, json=run_of(4))
    stored = client_of_module.post("/v1/advice", {"application": name, "problem_size": 4000, "deadline_s": 26}, status=201).json()
    assert stored["verdict"] == "unknown"
    for query in ("", "&force=true"):
        detail = client_of_module.request("GET", "/v1/advice/%s?format=spark-submit%s" % (stored["id"], query), 409).json()["detail"]
        assert detail == "the verdict is unknown, so the advice has no Spark properties to render"


def test_markdown_names_the_closest_and_the_proposals(client_of_module, static):
    def text(name, **more):
        body = {"application": name, "problem_size": 40, "deadline_s": 26, **more}
        return client_of_module.post("/v1/advice?dry_run=true&format=markdown", body, status=200).text

    assert "| | last run | advised |" in text(static) and "closest" not in text(static)
    late = text(static, deadline_s=1)
    assert "| | last run | closest allowed |" in late
    assert "To meet the deadline, allow one of these:" in late and "- a deadline of " in late and "probability to meet it: less than 0.1 %" in late
    name = record_with_shuffle(client_of_module)
    assert "Proposed, not applied:" not in text(static)
    line = next(line for line in text(name, problem_size=8, deadline_s=100).splitlines() if line.startswith("- spark.sql.shuffle.partitions"))
    assert line.endswith("`--apply partitions`")
    assert "Proposed" not in text(name, problem_size=8, deadline_s=100, apply=["partitions"])


@pytest.mark.parametrize("form", CONFIGURATIONS)
def test_a_proposal_is_in_no_form(client_of_module, form):
    name = record_with_shuffle(client_of_module)
    def rendered(**more):
        body = {"application": name, "problem_size": 8, "deadline_s": 100, **more}
        return client_of_module.post("/v1/advice?dry_run=true&format=" + form, body, status=200).text

    assert "spark.sql.shuffle.partitions" not in rendered() and "spark.sql.shuffle.partitions" in rendered(apply=["partitions"])
