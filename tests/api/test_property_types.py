"""Spark properties by the types of Spark's entries: what Spark refuses is refused, and what it reads in several forms has one."""
import json
import uuid

import pytest

from admission_reviews import VALIDATE
from test_advice_spark import record
from test_forms_start import FORMS, apache, of_case, forms, patched  # noqa: F401: fixtures

DA = "spark.dynamicAllocation."
WHOLE = "must be a whole number"


def question(name, **constraints):
    return {"application": name, "problem_size": 40, "constraints": constraints}


@pytest.fixture(scope="module")
def job(forms):  # noqa: F811
    return record(forms, {"spark.executor.cores": "2", "spark.executor.memory": "4g"})


@pytest.fixture(scope="module")
def dynamic_job(forms):  # noqa: F811
    return record(forms, {DA + "enabled": "true", "spark.executor.cores": "2", "spark.executor.memory": "4g"})


@pytest.mark.parametrize("key, values, words", [
    ("spark.speculation", ["yes", "1", "", "tru e"], "must be true or false"),
    ("spark.decommission.enabled", ["yes", "on"], "must be true or false"),
    ("spark.sql.adaptive.enabled", ["0"], "must be true or false"),
    ("spark.sql.shuffle.partitions", ["4d", "1_000", "0x10", "4.0", "1e3", "2147483648", "0", "-1"], WHOLE + " from 1 to 2147483647"),
    ("spark.task.maxFailures", ["4d", "two"], WHOLE),
    ("spark.memory.fraction", ["0x1", "1.5", "0", "NaN"], "must be a number above 0 and at most 1"),
    ("spark.memory.storageFraction", ["1", "1.0", "-0.1"], "must be a number of at least 0 and below 1"),
    ("spark.executor.memoryOverheadFactor", ["0", "Infinity"], "must be a number above 0"),
    ("spark.locality.wait", ["3.5s", "1 s", "soon", "1w"], "must be a length of time"),
    ("spark.executor.memory", ["1073741824", "4096"], "a heap must have a unit"),
    ("spark.driver.memory", ["4096"], "a heap must have a unit"),
    ("spark.executor.memory", ["2147483648m", "4 g", "1.5g", "0x4g"], "must be a size"),
    ("spark.executor.memoryOverhead", ["2147483648", "-1", "3p"], "must be a size such as 512m, from 0m to 2147483647m"),
    ("spark.executor.pyspark.memory", ["2147483648", "half"], "must be a size"),
    ("spark.kubernetes.executor.request.cores", ["0x1", "  7 ", "+4", "4d", "1e1m", "0"], "must be a number of cores such as 2 or 1500m"),
    ("spark.executor.resource.gpu.amount", ["2.0", "0x1", "2147483648"], WHOLE),
    ("spark.task.resource.gpu.amount", ["0x1", "half"], "must be a number of at least 0"),
    ("spark.memory.offHeap.size", ["9223372036854775807", "-1"], "must be a size such as 512m, from 0b"),
    ("spark.executor.instances", ["2147483648", "4d", "0"], WHOLE + " from 1 to 2147483647"),
    ("spark.executor.heartbeatInterval", ["soon"], "must be a length of time"),
])
def test_what_spark_refuses_is_refused(forms, job, key, values, words):  # noqa: F811
    for value in values:
        problem = forms.post("/v1/advice?dry_run=true", question(job, enforced={key: value}), status=422).json()
        assert [fault["pointer"] for fault in problem["errors"]] == ["/constraints/enforced/" + key], (value, problem)
        assert words in problem["errors"][0]["detail"], (value, problem)


@pytest.mark.parametrize("values, words", [
    ({"spark.executor.memory": "1t", "spark.executor.memoryOverhead": "2147483647"}, "must not total more than 2147483647m"),
    ({"spark.executor.heartbeatInterval": "10s", "spark.network.timeout": "10000ms"}, "must be longer than spark.executor.heartbeatInterval")])
def test_values_that_fit_one_by_one(forms, job, values, words):  # noqa: F811
    assert words in forms.post("/v1/advice?dry_run=true", question(job, enforced=values), status=422).json()["errors"][0]["detail"]


def test_what_is_preserved_is_checked(forms, job):  # noqa: F811
    asked = {"current": {"spark.memory.storageFraction": "1"}, "preserve": ["spark.memory.storageFraction"]}
    advice = forms.post("/v1/advice?dry_run=true", question(job, **asked), status=200).json()
    assert [note for note in advice["warnings"] if note["code"] == "would_not_start" and "below 1" in note["message"]]
    forms.post("/v1/advice?dry_run=true&format=spark-submit", question(job, **asked), status=409)


@pytest.mark.parametrize("key, value", [(DA + "schedulerBacklogTimeout", "500ms"), (DA + "sustainedSchedulerBacklogTimeout", "999999us"),
                                        (DA + "executorIdleTimeout", "-1s"), (DA + "executorAllocationRatio", "0")])
def test_bounds_of_dynamic_allocation(forms, job, dynamic_job, key, value):  # noqa: F811
    """Spark counts the backlog in whole seconds, above 0."""
    forms.post("/v1/advice?dry_run=true", question(dynamic_job, enforced={DA + "enabled": "true", key: value}), status=422)
    today = forms.post("/v1/advice?dry_run=true", question(dynamic_job, current={key: value}), status=200).json()
    assert [note["message"] for note in today["warnings"] if note["code"] == "would_not_start" and key in note["message"]], today["warnings"]


@pytest.mark.parametrize("key, forms_of_value", [
    ("spark.executor.memoryOverhead", ["4g", " 4g ", "\u00204g"]),
    ("spark.executor.memory", ["3g", " 3g"]),
    ("spark.executor.cores", ["2", " 2 ", "002", "+2"]),
    ("spark.executor.instances", ["5", "005", "+5", " 5"]),
    ("spark.speculation", ["true", "TRUE", " True "]),
    ("spark.memory.fraction", ["0.5", " 0.5 "]),
    ("spark.sql.shuffle.partitions", ["300", " +0300 "])])
def test_one_form_of_what_spark_reads_in_several(forms, job, key, forms_of_value):  # noqa: F811
    """In the answer, and in every form for a platform."""
    for member in ("enforced", "current"):
        if member == "current" and key.startswith("spark.executor.cores"):
            continue
        answers = []
        for value in forms_of_value:
            body = question(job, **{member: {key: value}})
            answer = [forms.post("/v1/advice?dry_run=true", body, status=200).json()["spark"]]
            for form in FORMS:
                answer.append(forms.post("/v1/advice?dry_run=true&format=" + form, body, status=200).text)
            answers.append(answer)
        assert all(answer == answers[0] for answer in answers), (member, answers)
        if member == "enforced":
            assert answers[0][0]["properties"][key] == forms_of_value[0]


def test_the_service_that_keeps_shuffle_output_in_any_form(forms):  # noqa: F811
    """Forms for Kubernetes replace it by shuffle tracking."""
    name = record(forms, {DA + "enabled": "true", "spark.executor.cores": "2", "spark.shuffle.service.enabled": "true"})
    for value in ("true", " true ", "TRUE"):
        body = question(name, current={"spark.shuffle.service.enabled": value})
        text = forms.post("/v1/advice?dry_run=true&format=k8s-apache", body, status=200).text
        assert '"%sshuffleTracking.enabled": "true"' % DA in text, text


def test_recorded_properties_have_one_form(forms):  # noqa: F811
    name = record(forms, {"spark.speculation": " TRUE", "spark.executor.cores": "+02", "spark.executor.memory": " 4g ", "spark.app.name": " a "})
    run = forms.get("/v1/applications/%s/runs?limit=1" % name).json()["items"][0]
    run = forms.get("/v1/applications/%s/runs/%s" % (name, run["id"])).json()
    assert run["spark_properties"] == {"spark.speculation": "true", "spark.executor.cores": "2", "spark.executor.memory": "4g", "spark.app.name": " a "}


@pytest.mark.parametrize("character", ["\u0085", "\u009b", "\u2028", "\u2029", "\u007f"])
def test_values_have_no_control_characters_of_unicode(forms, job, character):  # noqa: F811
    """U+0085 ends a line of YAML."""
    problem = forms.post("/v1/advice?dry_run=true", question(job, enforced={"spark.app.name": "a%sb" % character}), status=422).json()
    assert problem["errors"][0]["detail"].endswith("has control characters"), problem
    forms.post("/v1/advice?dry_run=true", question(job, enforced={"spark.app.name": "a\u00a0\u00e9\u2027b"}), status=200)


# --- admission reviews ---


@pytest.mark.parametrize("key, value, words", [
    (DA + "enabled", "yes", "must be true or false (it is yes)"),
    (DA + "enabled", "", "must be true or false (it is empty)"),
    ("spark.speculation", "on", "must be true or false (it is on)"),
    ("spark.sql.shuffle.partitions", "4d", WHOLE + " from 1 to 2147483647 (it is 4d)"),
    ("spark.executor.memory", "1073741824", "a heap must have a unit")])
@pytest.mark.parametrize("validates", [False, True])
def test_an_object_with_a_value_of_another_type_is_left_as_it_is(forms, of_case, shared, key, value, words, validates):  # noqa: F811
    of_case("14-k8s-dynamic-allocation", "history")
    body = apache(shared, "b-instances", deadline="600s")
    body["request"]["object"]["spec"]["sparkConf"][key] = value
    if validates:
        response = forms.post(VALIDATE, body, status=200).json()["response"]
    else:
        spec, response = patched(forms, body)
        assert spec == body["request"]["object"]["spec"]
    assert [text for text in response["warnings"] if "Spark would not start: " in text and words in text], response


def test_dynamic_allocation_in_any_form(forms, of_case, shared):  # noqa: F811
    of_case("14-k8s-dynamic-allocation", "history")
    specs = []
    for value in ("true", " true ", "TRUE"):
        body = apache(shared, "c-dynamic", deadline="60s")
        assert body["request"]["object"]["spec"]["sparkConf"][DA + "enabled"] == "true"
        body["request"]["object"]["spec"]["sparkConf"][DA + "enabled"] = value
        conf = patched(forms, body)[0]["sparkConf"]
        conf.pop("spark.provisor.adviceId")
        conf[DA + "enabled"] = conf[DA + "enabled"].strip().lower()
        specs.append(conf)
    assert specs[0] == specs[1] == specs[2] and "spark.executor.instances" not in specs[0]
