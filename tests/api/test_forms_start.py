"""Whatever the advice, Spark starts with each form, and its platform takes it."""
import itertools
import json
import re
import shlex
import uuid

import pytest
import yaml
import json_patch
from admission_reviews import MUTATE, VALIDATE, admitted, operations
from test_advice_formats import DATABRICKS, EMR, PATCHED, conf_of_flags, expect, merged, patch_of, properties_file, without_id
from test_advice_spark import record, run_of
from test_logs_by_a_plain_reader import all_logs, as_sent

DA = "spark.dynamicAllocation."
FORMS = ("spark-submit", "spark-defaults", "k8s", "k8s-apache", "databricks", "emr", "emr-serverless")
SERVERLESS = {"spark.master": "custom:emr-serverless"}
# Amazon EMR Serverless User Guide, "Supported worker configurations": vCPUs, and GB from, to, and in steps of.
WORKERS = {1: range(2, 9), 2: range(4, 17), 4: range(8, 31), 8: range(16, 61, 4), 16: range(32, 121, 8)}
# StartJobRun of EMR Serverless: the members that a caller does not add.
START_JOB_RUN = {
    "type": "object", "additionalProperties": False, "required": ["jobDriver"],
    "properties": {"name": {"type": "string", "minLength": 1, "maxLength": 256}, "jobDriver": {
        "type": "object", "additionalProperties": False, "required": ["sparkSubmit"], "properties": {"sparkSubmit": {
            "type": "object", "additionalProperties": False, "required": ["sparkSubmitParameters"],
            "properties": {"sparkSubmitParameters": {"type": "string", "minLength": 1, "maxLength": 102400}}}}}}}


# spark.apache.org/v1: what a merge patch of a SparkApplication may set here.
APACHE_PATCH = {"type": "object", "additionalProperties": False, "required": ["spec"], "properties": {
    "spec": {"type": "object", "additionalProperties": False, "required": ["sparkConf"], "properties": {"sparkConf": PATCHED}}}}


@pytest.fixture(scope="module")
def forms(service):
    return service.client(service.token("forms-" + uuid.uuid4().hex[:8]))


@pytest.fixture(scope="module")
def of_case(forms, shared):
    """The name of a case's application, whose logs are stored."""
    names = {}

    def of(case, folder="."):
        if case not in names:
            for log in sorted(path for path in (shared / "cases" / case / folder).iterdir() if path.name.startswith("eventlog")):
                stored = forms.post("/v1/eventlogs", data=log.read_bytes(), status=201, headers={"Content-Type": "application/octet-stream"})
                names[case] = stored.json()["application"]
        return names[case]
    return of


# --- what Spark and the platforms demand ---


def count(conf, key, otherwise):
    return int(conf[key]) if key in conf else otherwise


def mib(text, without_unit=1):
    number, unit = re.fullmatch(r"(\d+)([mgMG]?)[bB]?", text).groups()
    return int(number) * {"": without_unit, "m": 1, "g": 1024}[unit.lower()]


def starts(conf, defaults=0):
    """SchedulerBackendUtils.getInitialTargetExecutorNumber and ExecutorAllocationManager.validateSettings. defaults: the initial number
    that the platform begins with at least."""
    if conf.get(DA + "enabled") == "true":
        least, most = count(conf, DA + "minExecutors", 0), count(conf, DA + "maxExecutors", 2 ** 31 - 1)
        initial = max(least, count(conf, DA + "initialExecutors", least), count(conf, "spark.executor.instances", 0), defaults)
        assert 0 <= least <= most and 0 < most and least <= initial <= most, conf
        assert least <= count(conf, DA + "initialExecutors", least) <= most, conf
        assert conf.get("spark.shuffle.service.enabled") == "true" or conf.get(DA + "shuffleTracking.enabled") == "true", conf
    else:
        assert int(conf["spark.executor.instances"]) >= 1
    assert count(conf, "spark.task.cpus", 1) <= int(conf["spark.executor.cores"])


def fits_a_worker(conf):
    cores = int(conf["spark.executor.cores"])
    memory = mib(conf["spark.executor.memory"]) + mib(conf["spark.executor.memoryOverhead"]) + mib(conf.get("spark.executor.pyspark.memory", "0"))
    if conf.get("spark.memory.offHeap.enabled") == "true":
        memory += mib(conf["spark.memory.offHeap.size"], 2 ** -20)
    assert cores in WORKERS and memory % 1024 == 0 and memory // 1024 in WORKERS[cores], conf
    assert mib(conf["spark.executor.memoryOverhead"]) >= max(384, mib(conf["spark.executor.memory"]) // 10), conf
    assert "spark.shuffle.service.enabled" not in conf and not [key for key in conf if key.startswith("spark.kubernetes")], conf


def flags_of_serverless(reply):
    assert reply.headers["Content-Type"] == "application/vnd.provisor.emr-serverless-job+json"
    return conf_of_flags(shlex.split(expect(START_JOB_RUN, reply.json())["jobDriver"]["sparkSubmit"]["sparkSubmitParameters"]))


def conf_of_application(spec):
    """The properties that the operator passes to Spark: its fields, over those of sparkConf."""
    conf, executor, allocation = dict(spec.get("sparkConf", {})), spec.get("executor", {}), spec.get("dynamicAllocation", {})
    fields = {"spark.executor." + key: executor.get(key) for key in ("instances", "cores", "memory", "memoryOverhead")}
    fields.update({DA + key: allocation.get(key) for key in ("enabled", "initialExecutors", "minExecutors", "maxExecutors")})
    fields[DA + "shuffleTracking.enabled"] = allocation.get("shuffleTrackingEnabled")
    conf.update({key: str(value).lower() for key, value in fields.items() if value is not None})
    return conf


def takes(client, name, form, before, body):
    """Asks for the form, and checks what the job runs with: the properties that it had before elsewhere, below those of the form."""
    reply = client.post("/v1/advice?dry_run=true&format=" + form, dict(body, application=name), status=200)
    if form == "spark-submit":
        starts({**before, **conf_of_flags(shlex.split(reply.text))})
    elif form == "spark-defaults":
        starts({**before, **properties_file(reply.text)})
    elif form == "emr":
        starts({**before, **conf_of_flags(expect(EMR, reply.json())["HadoopJarStep"]["Args"][1:])})
    elif form == "emr-serverless":
        flags = flags_of_serverless(reply)
        fits_a_worker(flags)
        # Dynamic allocation is the platform's default.
        elsewhere = {key: value for key, value in before.items() if key != "spark.shuffle.service.enabled"}
        starts({DA + "enabled": "true", **elsewhere, **flags}, defaults=3 if flags[DA + "enabled"] == "true" else 0)
    elif form in ("k8s", "k8s-apache"):
        patch = patch_of(reply) if form == "k8s" else expect(APACHE_PATCH, yaml.safe_load(reply.text))["spec"]
        conf = conf_of_application(merged({"sparkConf": before, "executor": {}}, patch))
        starts(conf)
        if conf.get(DA + "enabled") == "true":
            assert conf.get("spark.shuffle.service.enabled", "false") == "false", "executors would wait for a service on their node"
    else:
        cluster = expect(DATABRICKS, reply.json())
        bounds = cluster.get("autoscale")
        assert bounds["max_workers"] > bounds["min_workers"] >= 1 if bounds else cluster["num_workers"] >= 1
    return reply


# --- a grid ---


RAN = [
    {},
    {"spark.executor.instances": "10"},
    {DA + "enabled": "true"},
    {DA + "enabled": "true", "spark.executor.instances": "10", DA + "minExecutors": "1", DA + "maxExecutors": "20", "spark.shuffle.service.enabled": "true"},
    {DA + "enabled": "true", DA + "minExecutors": "8", DA + "initialExecutors": "8", DA + "maxExecutors": "20"},
    {DA + "enabled": "true", DA + "minExecutors": "1", DA + "initialExecutors": "3", DA + "maxExecutors": "4"},
    {DA + "enabled": "true", DA + "minExecutors": "12", "spark.executor.instances": "15", "spark.executor.memoryOverhead": "3g"},
]
MEMORY = [{}, {"spark.executor.memory": "14G"}, {"spark.executor.memory": "900m"},
          {"spark.executor.memory": "26g", "spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "2147483648", "spark.executor.pyspark.memory": "1g"}]
ASKED = [{}, {"dynamic_allocation": True}, {"dynamic_allocation": False}, {"max_executors": 2}, {"max_executors": 5},
         {"cores_per_executor": 1}, {"cores_per_executor": 5}, {"cores_per_executor": 16},
         {"dynamic_allocation": True, "enforced": {DA + "minExecutors": "7"}}, {"enforced": {"spark.executor.cores": "3"}}]


@pytest.mark.parametrize("form", FORMS)
def test_spark_starts_with_every_form_of_every_advice(forms, form):
    for ran, memory in itertools.product(RAN, MEMORY if form == "emr-serverless" else MEMORY[-1:]):
        before = {"spark.executor.cores": "2", **ran, **memory}
        name = record(forms, before)
        for constraints, deadline_s in itertools.product(ASKED, (None, 26)):
            takes(forms, name, form, before, {"problem_size": 40, "deadline_s": deadline_s, "constraints": constraints})


@pytest.mark.parametrize("form", ("spark-submit", "spark-defaults", "emr", "emr-serverless"))
@pytest.mark.parametrize("key", [DA + "minExecutors", DA + "initialExecutors", DA + "maxExecutors", "spark.executor.instances"])
def test_what_is_excluded_counts_as_it_is(forms, form, key):
    before = {"spark.executor.cores": "4", DA + "enabled": "true", DA + "minExecutors": "4", DA + "initialExecutors": "5",
              DA + "maxExecutors": "9", "spark.executor.instances": "6"}
    name = record(forms, before)
    reply = takes(forms, name, form, before, {"problem_size": 40, "constraints": {"exclude": [key]}})
    assert key + "=" not in reply.text and key + " " not in reply.text


# --- EMR Serverless ---


def test_a_tiny_job_on_emr_serverless(forms, of_case):
    """One executor is advised; the platform starts with 3, so that there have to be 3 at most. 14 GB and the overhead are a worker of 16."""
    name = of_case("13-emr-serverless-minimum")
    body = {"application": name, "deadline_s": 120}
    advice = forms.post("/v1/advice", body, status=201).json()
    assert advice["recommendation"]["executors"] == 1 and advice["spark"]["platform"] == "emr_serverless"
    reply = forms.get("/v1/advice/%s?format=emr-serverless" % advice["id"])
    assert reply.json()["name"] == name
    assert without_id(flags_of_serverless(reply)) == {
        DA + "enabled": "true", DA + "initialExecutors": "1", DA + "minExecutors": "0", DA + "maxExecutors": "3",
        DA + "shuffleTracking.enabled": "true", "spark.executor.cores": "4", "spark.executor.instances": "1",
        "spark.executor.memory": "14G", "spark.executor.memoryOverhead": "2g"}
    flags = conf_of_flags(shlex.split(forms.get("/v1/advice/%s?format=spark-submit" % advice["id"]).text))
    assert flags == flags_of_serverless(reply)
    cluster = expect(DATABRICKS, forms.get("/v1/advice/%s?format=databricks" % advice["id"]).json())
    assert cluster["num_workers"] == 1 and "autoscale" not in cluster


def test_a_job_of_emr_serverless_is_no_step(forms, of_case):
    body = {"application": of_case("13-emr-serverless-minimum"), "deadline_s": 120}
    before = forms.get("/v1/advice?application=" + body["application"]).json()["items"]
    refused = forms.request("POST", "/v1/advice?format=emr", 409, json=body).json()
    assert "emr-serverless" in refused["detail"]
    assert forms.get("/v1/advice?application=" + body["application"]).json()["items"] == before


def test_the_master_of_emr_serverless_is_kept_and_is_not_local(forms, of_case):
    run = forms.get("/v1/applications/%s/runs" % of_case("13-emr-serverless-minimum")).json()["items"][0]
    run = forms.get("/v1/applications/%s/runs/%s" % (of_case("13-emr-serverless-minimum"), run["id"])).json()
    assert run["spark_properties"]["spark.master"] == "custom:emr-serverless" and run["executors"] == 1
    advice = forms.post("/v1/advice?dry_run=true", {"application": of_case("13-emr-serverless-minimum"), "deadline_s": 12}, status=200).json()
    assert advice["recommendation"]["executors"] > 1, "in local mode there is one executor"


@pytest.mark.parametrize("ran, worker, executors", [
    # 4 cores as they are; 5 cores become 8: as many slots in fewer executors, with as much memory for each
    ({"spark.executor.cores": "4", "spark.executor.memory": "8g"}, ("4", None, "8g", "1g"), 10),
    ({"spark.executor.cores": "5", "spark.executor.memory": "10g"}, ("8", None, "16g", "4g"), 7),
    ({"spark.executor.cores": "3", "spark.executor.memory": "3g"}, ("4", None, "4g", "4g"), 8),
    # 10 GiB for a task are more than a vCPU can have: two vCPUs for each task
    ({"spark.executor.cores": "4", "spark.executor.memory": "40g"}, ("8", "2", "40g", "4g"), 10)])
def test_executors_of_other_shapes_become_workers(forms, ran, worker, executors):
    name = record(forms, ran)
    constraints = {"enforced": {**ran, "spark.executor.instances": "10"}}
    reply = forms.post("/v1/advice?dry_run=true&format=emr-serverless", {"application": name, "problem_size": 40, "constraints": constraints}, status=200)
    flags = flags_of_serverless(reply)
    found = tuple(flags.get("spark." + key) for key in ("executor.cores", "task.cpus", "executor.memory", "executor.memoryOverhead"))
    assert found == worker and flags["spark.executor.instances"] == str(executors) and flags[DA + "enabled"] == "false"


def test_a_task_that_no_worker_can_hold_is_refused(forms):
    name = record(forms, {"spark.executor.cores": "1", "spark.executor.memory": "300g"})
    refused = forms.request("POST", "/v1/advice?dry_run=true&format=emr-serverless", 409, json={"application": name, "problem_size": 40}).json()
    assert "307200 MiB" in refused["detail"] and "spark.executor.memory" in refused["detail"]


# --- instances that another place sets ---


@pytest.mark.parametrize("form", ("spark-submit", "spark-defaults", "emr", "emr-serverless"))
def test_instances_are_the_initial_executors(forms, of_case, form):
    name = of_case("41-instances-above-max")
    before = {"spark.executor.instances": "10", "spark.executor.cores": "4", "spark.executor.memory": "8g", DA + "enabled": "true",
              DA + "minExecutors": "1", DA + "maxExecutors": "20", "spark.shuffle.service.enabled": "true"}
    reply = takes(forms, name, form, before, {"deadline_s": 120})
    assert re.search(r"spark\.executor\.instances[= ]2\b", reply.text), reply.text
    assert re.search(r"maxExecutors[= ]%d\b" % (3 if form == "emr-serverless" else 2), reply.text)


def test_the_merge_patch_removes_instances(forms, of_case):
    spec = patch_of(forms.post("/v1/advice?dry_run=true&format=k8s", {"application": of_case("41-instances-above-max"), "deadline_s": 120}, status=200))
    assert spec["executor"]["instances"] is None and spec["sparkConf"]["spark.executor.instances"] is None
    # What ran had the service of YARN, which Kubernetes does not have.
    assert spec["dynamicAllocation"]["shuffleTrackingEnabled"] is True and spec["sparkConf"]["spark.shuffle.service.enabled"] is None


# --- the author's least number ---


def review_of(shared, name):
    body = json.loads((shared / "cases" / "14-k8s-dynamic-allocation" / (name + ".json")).read_text())
    body["request"]["uid"] = str(uuid.uuid4())
    return body


def review(client, body):
    return client.post(MUTATE, body, status=200).json()["response"]


@pytest.mark.parametrize("name", ["a-instances-above-max", "b-da-in-sparkconf", "c-min-above-advice", "d-instances-in-sparkconf", "e-static-too-few",
                                  "f-unbounded", "g-unbounded-120"])
def test_spark_starts_as_it_was_admitted(forms, of_case, shared, name):
    of_case("14-k8s-dynamic-allocation", "history")
    body = review_of(shared, name)
    after = admitted(body, review(forms, body))["spec"]
    starts(conf_of_application(after))
    assert "instances" not in after["executor"] or not after.get("dynamicAllocation")


def in_spark_conf(body):
    spec = body["request"]["object"]["spec"]
    allocation = spec.pop("dynamicAllocation")
    spec["sparkConf"] = {DA + key: str(value).lower() for key, value in allocation.items()}
    return body


@pytest.mark.parametrize("place", [lambda body: body, in_spark_conf])
def test_the_least_executors_of_the_author_stay(forms, of_case, shared, place):
    of_case("14-k8s-dynamic-allocation", "history")
    body = place(review_of(shared, "c-min-above-advice"))
    response = review(forms, body)
    spec = admitted(body, response)["spec"]
    assert {key: spec["dynamicAllocation"][key] for key in ("minExecutors", "initialExecutors", "maxExecutors")} == {
        "minExecutors": 8, "initialExecutors": 8, "maxExecutors": 8}
    assert not [key for key in spec["sparkConf"] if key.startswith(DA)]
    advice = forms.get("/v1/advice/" + spec["sparkConf"]["spark.provisor.adviceId"]).json()
    assert advice["recommendation"]["executors"] < 8
    assert [w["message"] for w in advice["warnings"] if w["code"] == "properties_differ"][0].startswith(DA + "minExecutors, which is kept, starts the job with 8 ")


def test_no_more_than_the_author_allows(forms, of_case, shared):
    of_case("14-k8s-dynamic-allocation", "history")
    body = review_of(shared, "c-min-above-advice")
    body["request"]["object"]["metadata"]["annotations"]["provisor/max-executors"] = "5"
    allocation = admitted(body, review(forms, body))["spec"]["dynamicAllocation"]
    assert (allocation["minExecutors"], allocation["maxExecutors"]) == (5, 5)


@pytest.mark.parametrize("form", FORMS)
def test_the_least_executors_of_a_log_stay_in_every_form(forms, form):
    before = {DA + "enabled": "true", DA + "minExecutors": "8", "spark.executor.cores": "2", "spark.executor.memory": "7g"}
    name = record(forms, before)
    reply = takes(forms, name, form, before, {"problem_size": 40})
    if form == "databricks":
        assert reply.json()["num_workers"] == 8
    elif form == "k8s":
        assert yaml.safe_load(reply.text)["spec"]["dynamicAllocation"]["minExecutors"] == 8
    else:
        assert re.search(r'minExecutors(=| |": ")8\b', reply.text) and re.search(r'maxExecutors(=| |": ")8\b', reply.text)


# --- the operator of Apache ---


def apache(shared, name, **annotations):
    body = json.loads((shared / "cases" / "15-apache-operator" / (name + ".json")).read_text())
    body["request"]["uid"] = str(uuid.uuid4())
    body["request"]["object"]["metadata"]["annotations"].update({"provisor/" + key.replace("_", "-"): value for key, value in annotations.items()})
    return body


def patched(client, body, path=MUTATE):
    response = client.post(path, body, status=200).json()["response"]
    assert response["allowed"], response
    return json_patch.apply(body["request"]["object"], operations(response))["spec"], response


@pytest.mark.parametrize("name", ["a-no-instances", "b-instances", "c-dynamic"])
def test_an_application_of_apaches_operator_is_patched_in_spark_conf_alone(forms, of_case, shared, name):
    of_case("14-k8s-dynamic-allocation", "history")
    body = apache(shared, name, deadline="60s")
    before = body["request"]["object"]["spec"]
    spec, response = patched(forms, body)
    conf = spec["sparkConf"]
    advice = forms.get("/v1/advice/" + conf["spark.provisor.adviceId"]).json()
    m = str(advice["recommendation"]["executors"])
    assert advice["verdict"] == "met" and int(m) > 3, "more than the object has"
    starts(conf)
    if name == "c-dynamic":
        assert (conf[DA + "initialExecutors"], conf[DA + "maxExecutors"]) == (m, m) and "spark.executor.instances" not in conf
        assert conf[DA + "shuffleTracking.enabled"] == "true" and "spark.shuffle.service.enabled" not in conf
    else:
        assert conf["spark.executor.instances"] == m and not [key for key in conf if key.startswith(DA)]
    assert {key: value for key, value in spec.items() if key != "sparkConf"} == {key: value for key, value in before.items() if key != "sparkConf"}
    assert {**before["sparkConf"], **conf} == conf and "warnings" not in response


def test_apaches_operator_leaves_the_default_to_spark_which_starts_2(forms, of_case, shared):
    """2 executors take twice as long as 4: the validating webhook judges them, not 1."""
    of_case("14-k8s-dynamic-allocation", "history")
    messages = {}
    for name in ("a-no-instances", "b-instances"):
        response = forms.post(VALIDATE, apache(shared, name, deadline="60s"), status=200).json()["response"]
        assert not response["allowed"]
        messages[name] = response["status"]["message"]
    assert "2 executors of 4 cores are predicted" in messages["a-no-instances"] and messages["a-no-instances"] == messages["b-instances"]


def test_no_more_executors_are_expected_than_there_are(forms, of_case, shared):
    """The operator ends an application that has fewer executors than initExecutors."""
    of_case("14-k8s-dynamic-allocation", "history")
    body = apache(shared, "b-instances", deadline="60s")
    spec = body["request"]["object"]["spec"]
    spec["sparkConf"]["spark.executor.instances"] = "40"
    spec["applicationTolerations"]["instanceConfig"] = {"initExecutors": 40, "minExecutors": 1, "maxExecutors": 41}
    after, _ = patched(forms, body)
    m = int(after["sparkConf"]["spark.executor.instances"])
    assert m < 40
    assert after["applicationTolerations"] == {"resourceRetainPolicy": "OnFailure",
                                               "instanceConfig": {"initExecutors": m, "minExecutors": 1, "maxExecutors": m}}
    words = patched(forms, apache(shared, "b-instances", deadline="60s", action="warn"))[1]["warnings"]
    assert words == ["provisor: would set spark.executor.instances from 2 to %d" % m]


@pytest.mark.parametrize("group, version, kind", [("spark.apache.org", "v2", "SparkApplication"), ("sparkoperator.k8s.io", "v1", "SparkApplication"),
                                                  ("spark.apache.org", "v1", "SparkCluster"), ("example.org", "v1", "SparkJob")])
def test_another_kind_of_spark_gets_a_warning(forms, shared, group, version, kind):
    for path in (MUTATE, VALIDATE):
        body = apache(shared, "a-no-instances")
        body["request"]["kind"] = {"group": group, "version": version, "kind": kind}
        response = forms.post(path, body, status=200).json()["response"]
        assert response == {"uid": body["request"]["uid"], "allowed": True,
                            "warnings": ["provisor: %s of %s/%s is not known, and is admitted unchanged" % (kind, group, version)]}
        body["request"]["object"]["metadata"]["annotations"]["provisor/action"] = "off"
        assert forms.post(path, body, status=200).json()["response"] == {"uid": body["request"]["uid"], "allowed": True}


def test_an_earlier_version_of_apaches_operator_is_patched(forms, of_case, shared):
    of_case("14-k8s-dynamic-allocation", "history")
    body = apache(shared, "b-instances", deadline="60s")
    body["request"]["kind"]["version"] = "v1beta1"
    assert patched(forms, body)[0]["sparkConf"]["spark.executor.instances"] != "2"


def test_an_object_that_would_not_start_is_left_as_it_is(forms, of_case, shared):
    of_case("14-k8s-dynamic-allocation", "history")
    body = apache(shared, "b-instances", deadline="60s")
    body["request"]["object"]["spec"]["sparkConf"]["spark.memory.offHeap.enabled"] = "true"
    spec, response = patched(forms, body)
    assert spec == body["request"]["object"]["spec"]
    assert response["warnings"] == ["provisor: k8s-etl: left as it is, because Spark would not start: spark.memory.offHeap.size must be a size above 0 if "
                                    "off-heap memory is enabled (spark.memory.offHeap.enabled true)."]


# --- local mode ---


def test_a_job_in_local_mode_has_no_form(forms):
    name = "local-" + uuid.uuid4().hex[:8]
    run = dict(run_of(1), cores_per_executor=2, spark_properties={"spark.master": "local[2,4]"}, spark_version="4.1.0")
    forms.post("/v1/applications", {"name": name}, status=201)
    forms.request("POST", "/v1/applications/%s/runs/import" % name, 201, data=json.dumps(run), headers={"Content-Type": "application/x-ndjson"})
    body = {"application": name, "problem_size": 40}
    advice = forms.post("/v1/advice?dry_run=true", body, status=200).json()
    assert advice["recommendation"]["executors"] == 1 and advice["spark"]["platform"] == "local"
    for form in FORMS:
        refused = forms.post("/v1/advice?format=" + form, body, status=409).json()
        assert refused["detail"].startswith("the job runs in local mode"), refused
    body["constraints"] = {"max_executors": 4, "current": {"spark.master": "yarn"}}
    assert "spark.executor.instances" in forms.post("/v1/advice?dry_run=true&format=spark-submit", body, status=200).text


# --- what contradicts itself ---


def test_what_is_kept_may_contradict_what_is_enforced(forms):
    """Preserved and enforced values are kept, whatever comes of it; no form has them."""
    before = {DA + "enabled": "true", DA + "minExecutors": "8", "spark.executor.cores": "2"}
    name = record(forms, before)
    body = {"application": name, "problem_size": 40, "constraints": {"preserve": [DA + "minExecutors"], "enforced": {DA + "maxExecutors": "4"}}}
    advice = forms.post("/v1/advice?dry_run=true", body, status=200).json()
    warning = [note["message"] for note in advice["warnings"] if note["code"] == "would_not_start"]
    assert warning == ["Spark would not start: minExecutors must not be more than maxExecutors (%sminExecutors 8, %smaxExecutors 4)." % (DA, DA)]
    for form in FORMS:
        assert forms.post("/v1/advice?format=" + form, body, status=409).json()["detail"] == warning[0]
    stored = forms.post("/v1/advice", body, status=201).json()
    forms.request("GET", "/v1/advice/%s?format=k8s" % stored["id"], 409)


@pytest.mark.parametrize("version, ran, constraints, words", [
    ("2.4.8", {}, {"dynamic_allocation": True}, "before Spark 3.0 the platform has no dynamic allocation"),
    ("3.5.1", {"spark.task.cpus": "4"}, {"cores_per_executor": 2}, "a task takes 4 CPUs"),
    ("3.5.1", {}, {"enforced": {"spark.memory.offHeap.enabled": "true"}}, "spark.memory.offHeap.size must be"),
    ("3.5.1", {}, {"enforced": {"spark.task.resource.gpu.amount": "1"}}, "an executor must have"),
    ("3.3.2", {"spark.executor.resource.gpu.amount": "2"}, {"enforced": {"spark.task.resource.gpu.amount": "0.7"}}, "an executor must have"),
    ("3.5.1", {}, {"dynamic_allocation": True, "enforced": {DA + "shuffleTracking.enabled": "false"}}, "dynamic allocation needs")])
def test_versions_and_what_ran_count(forms, version, ran, constraints, words):
    name = record(forms, {"spark.executor.cores": "4", **ran}, version)
    detail = forms.post("/v1/advice?dry_run=true&format=k8s", {"application": name, "problem_size": 40, "constraints": constraints}, status=409).json()["detail"]
    assert words in detail


def test_fractions_of_a_gpu_up_to_a_whole_one_since_spark_4(forms):
    name = record(forms, {"spark.executor.cores": "4", "spark.executor.resource.gpu.amount": "2"}, "4.0.1")
    forms.post("/v1/advice?dry_run=true&format=k8s", {"application": name, "problem_size": 40,
                                                      "constraints": {"enforced": {"spark.task.resource.gpu.amount": "0.7"}}}, status=200)


def test_before_spark_2_instances_would_switch_dynamic_allocation_off(forms):
    name = record(forms, {DA + "enabled": "true", "spark.executor.cores": "2"}, "1.6.3")
    assert "instances" not in forms.post("/v1/advice?dry_run=true&format=spark-submit", {"application": name, "problem_size": 40}, status=200).text


# --- all logs ---


def test_spark_starts_with_every_form_of_every_log(service, shared):
    """Every log of the shared data and of the cases, with the properties that it ran with elsewhere."""
    client = service.client(service.token("all-logs-" + uuid.uuid4().hex[:8]))
    names, formed, refused = {}, 0, set()
    for log in all_logs(shared):
        reply = client.request("POST", "/v1/eventlogs", data=as_sent(log), headers={"Content-Type": "application/octet-stream"})
        if reply.status_code in (200, 201):
            run = reply.json()
            names[run["application"]] = run["spark_properties"]
    assert len(names) >= 20
    for name, before in names.items():
        for form, allocation in itertools.product(FORMS, (None, True, False)):
            body = {"application": name, "constraints": {"dynamic_allocation": allocation, "max_executors": 16}}
            reply = client.request("POST", "/v1/advice?dry_run=true&format=" + form, json=body)
            assert reply.status_code in (200, 409, 422), reply.text
            if reply.status_code == 200:
                takes(client, name, form, {"spark.executor.cores": "1", **before}, body)
                formed += 1
            else:
                refused.add((name, reply.json()["detail"]))
    assert formed > 200, refused


# --- words ---


def test_numbers_and_truth_values_are_in_plain_words(forms):
    """A leading zero is octal in YAML and no number of JSON; blanks and capitals make texts of numbers and truth values."""
    name = record(forms, {"spark.executor.cores": "2", "spark.executor.instances": "4"})

    def rendered(form, **enforced):
        body = {"application": name, "problem_size": 40, "deadline_s": 500, "constraints": {"enforced": {k.replace("__", "."): v for k, v in enforced.items()}}}
        return forms.post("/v1/advice?dry_run=true&force=true&format=" + form, body, status=200).text

    for text in ("007", "  7 ", "7"):
        assert json.loads(rendered("databricks", spark__executor__instances=text))["num_workers"] == 7
        assert "    instances: 7\n" in rendered("k8s", spark__executor__instances=text)
        assert "spark.executor.instances 7\n" in rendered("spark-defaults", spark__executor__instances=text)
    for text in ("TRUE", "true"):
        assert "    enabled: true\n" in rendered("k8s", spark__dynamicAllocation__enabled=text)
