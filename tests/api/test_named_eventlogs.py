"""POST /v1/eventlogs: the log names its application, rules fold the name; still each log once."""
import concurrent.futures
import json
import pathlib
import uuid

import pytest

from test_eventlogs import runs_of, tiny_log

OCTETS = {"Content-Type": "application/octet-stream"}


def named(name, **kwargs):
    log = tiny_log(**kwargs)
    if isinstance(log, str):
        log = log.encode()
    return log.replace(b'"App Name": "tiny"', b'"App Name": ' + json.dumps(name).encode())


def send(client, log, status=201, query=""):
    return client.request("POST", "/v1/eventlogs" + query, status, data=log, headers=OCTETS).json()


@pytest.fixture
def lonely(service):
    return service.client(service.token("named-" + uuid.uuid4().hex[:8]))


def test_runs_of_one_job_under_many_names_are_one_history(lonely):
    days = ["2026-01-%02d" % d for d in range(1, 6)]
    runs = [send(lonely, named("nightly-etl-" + day, app="app-" + day)) for day in days]
    assert {r["application"] for r in runs} == {"nightly-etl"}
    assert [r["labels"] for r in runs] == [{"job_name": "nightly-etl-" + day} for day in days]
    assert [a["name"] for a in lonely.get("/v1/applications").json()["items"]] == ["nightly-etl"]
    assert len(runs_of(lonely, "nightly-etl")) == 5
    one = lonely.get("/v1/applications/nightly-etl/runs?label=job_name:nightly-etl-2026-01-03").json()["items"]
    assert [r["id"] for r in one] == [runs[2]["id"]]


def test_a_stable_name_is_taken_as_it_is(lonely):
    run = send(lonely, named("tägliche Läufe/q1"))
    assert run["application"] == "tägliche Läufe/q1" and run["labels"] == {}


def test_the_same_log_again_is_known_however_it_comes(lonely):
    log = named("etl-2026-01-05")
    first = send(lonely, log)
    assert send(lonely, log, 200)["id"] == first["id"]
    assert lonely.request("POST", "/v1/applications/etl/eventlogs", 200, data=log, headers=OCTETS).json()["id"] == first["id"]
    assert len(runs_of(lonely, "etl")) == 1


def test_many_at_once_make_one_application_and_each_run_once(lonely):
    logs = [named("load-%d" % (1767600000 + i % 6), app="app-%d" % (i % 6)) for i in range(24)]
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        replies = list(pool.map(lambda log: lonely.request("POST", "/v1/eventlogs", None, data=log, headers=OCTETS), logs))
    assert sorted(r.status_code for r in replies) == [200] * 18 + [201] * 6
    assert [a["name"] for a in lonely.get("/v1/applications").json()["items"]] == ["load"]
    assert len(runs_of(lonely, "load")) == 6


def test_own_rules_and_labels_hold(lonely):
    lonely.put("/v1/name-rules", {"rules": [{"name": "mine", "pattern": "{any}:{name}", "application": "team/{name}"}]})
    run = send(lonely, named("anna:load"), query="?label=job_name:mine&label=branch:main&problem_size=7")
    assert run["application"] == "team/load" and run["problem_size"] == 7
    assert run["labels"] == {"job_name": "mine", "branch": "main"}, "the caller's label stays"
    assert send(lonely, named("nightly-2026-01-05", app="app-2"))["application"] == "nightly-2026-01-05"


def test_an_application_of_the_whole_name_keeps_its_runs(lonely):
    lonely.post("/v1/applications", {"name": "report-2026-01-05"}, 201)
    assert send(lonely, named("report-2026-01-05"))["application"] == "report-2026-01-05"
    assert send(lonely, named("report-2026-01-06", app="app-2"))["application"] == "report"


@pytest.mark.parametrize("name,code", [("", "no_name"), ("   ", "invalid_name"), ("x" * 256, "invalid_name"),
                                       ("etl AKIAIOSFODNN7EXAMPLE", "name_suspicious")])
def test_a_name_that_is_none_is_refused_and_not_repeated(lonely, name, code):
    reply = lonely.request("POST", "/v1/eventlogs", 422, data=named(name), headers=OCTETS)
    assert [e["code"] for e in reply.json()["errors"]] == [code]
    assert not name or name[:20] not in reply.text
    assert lonely.get("/v1/applications").json()["items"] == []


def test_what_looks_random_is_folded_first_and_no_label(lonely):
    run = send(lonely, named("customer-orders-0f8e2c7ab94d4e65b1c3d2e4f5a60718"))
    assert run["application"] == "customer-orders" and run["labels"] == {}


NAMES = (pathlib.Path(__file__).resolve().parents[1] / "data" / "job_names.txt").read_text().splitlines()
SECRETS = ["etl password=hunter2", "load --token abc123", "ghp_%s" % ("xY3" * 12), "etl AKIAIOSFODNN7EXAMPLE", "jdbc:postgresql://etl:x7@db/x"]


def test_a_thousand_names_are_taken_as_the_preview_says(service):
    """As their owners wrote them: no job named after its class, its bucket or its file is one with another."""
    client = service.client(service.token("thousand-" + uuid.uuid4().hex[:8]))
    names = NAMES + ["com.acme%d.etl.Load%d" % (i % 7, i) for i in range(300)] + ["s3://bucket%d/etl" % i for i in range(200)]
    names += ["/opt/jobs/etl%d/run.py" % i for i in range(200)] + SECRETS
    previewed = []
    for at in range(0, len(names), 100):
        previewed += client.post("/v1/name-rules/preview", {"names": names[at:at + 100]}, 200).json()["items"]
    assert len(names) > 1000 and [p["name"] for p in previewed if p.get("refusal")] == SECRETS

    def ingest(i):
        reply = client.request("POST", "/v1/eventlogs", None, data=named(names[i], app="app-%d" % i), headers=OCTETS)
        return reply.json()["application"] if reply.status_code == 201 else reply.json()["errors"][0]["detail"]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(ingest, range(len(names))))
    # An application that is there already keeps its name: a later look finds it.
    assert [t for t, p in zip(taken, previewed) if t != (p["application"] or p["refusal"]) and t != p["name"]] == []
    assert {"com.acme.etl.NightlyLoad", "com.acme.jobs.OrdersToParquet", "s3://bucket/etl", "etl-v2.1.3", "ETL for 10.0.0.1"} <= set(taken)
    assert len({t for t in taken if t.startswith(("com.acme", "s3://bucket", "/opt/jobs/etl"))}) == 700 + 4


def with_properties(name, properties, **kwargs):
    event = {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": properties}
    first, rest = named(name, **kwargs).split(b"\n", 1)
    return first + b"\n" + json.dumps(event).encode() + b"\n" + rest


TAGS = "spark.databricks.clusterUsageTags."
POD = "spark.kubernetes.driver.label."
JOB_TAGS = json.dumps([{"key": "Vendor", "value": "Databricks"}, {"key": "JobId", "value": "17"}, {"key": "RunName", "value": "nightly"}])


@pytest.mark.parametrize("name,properties,application", [
    ("Databricks Shell", {TAGS + "clusterName": "job-11-run-1000"}, "databricks-job-11"),
    ("Databricks Shell", {TAGS + "clusterName": "job-11-run-1000-transform"}, "databricks-job-11-transform"),
    ("Databricks Shell", {TAGS + "clusterName": "shared", TAGS + "clusterAllTags": JOB_TAGS}, "databricks-job-17"),
    ("Databricks Shell", {TAGS + "clusterAllTags": JOB_TAGS.replace("JobId", "Owner")}, "nightly"),
    ("Databricks Shell", {TAGS + "clusterName": "shared", TAGS + "clusterAllTags": "*********(redacted)"}, "interactive session (Databricks)"),
    ("Main", {POD + "sparkoperator.k8s.io/app-name": "orders-etl-1732665600123456789"}, "orders-etl"),
    ("Main", {POD + "spark.operator/spark-app-name": "orders-etl"}, "orders-etl"),
    ("nativespark-orders-jr_4f2a", {"spark.glue.JOB_NAME": "orders"}, "orders"),
    ("arrow-spark", {"spark.openlineage.parentJobName": "nightly.load"}, "nightly.load"),
    ("Spark shell", {}, "interactive session (Spark shell)"),
    ("PySparkShell", {"spark.app.name": "PySparkShell"}, "interactive session (PySpark)"),
    ("nightly-etl", {"spark.yarn.queue": "x"}, "nightly-etl")])
def test_platforms_say_which_job_ran(lonely, name, properties, application):
    run = send(lonely, with_properties(name, properties))
    assert run["application"] == application
    assert run["labels"] == ({} if application == name else {"job_name": name})
    session = application.startswith("interactive session")
    assert ("interactive_session" in [w["code"] for w in run["warnings"]]) == session
    previewed = lonely.post("/v1/name-rules/preview", {"names": ["x" + name], "properties": properties}, 200).json()["items"][0]
    assert session or previewed["application"] in (application, "x" + name)


def test_a_team_adds_a_rule_about_a_property(lonely):
    mine = {"name": "ours", "pattern": "{name}/{any}", "application": "{name}", "property": "spark.acme.job"}
    rules = [mine] + lonely.get("/v1/name-rules").json()["rules"]
    assert lonely.put("/v1/name-rules", {"rules": rules}, 200).json()["rules"] == rules
    assert send(lonely, with_properties("Main", {"spark.acme.job": "orders/17"}))["application"] == "orders"
    assert send(lonely, with_properties("Main", {"spark.acme.job": "orders"}, app="app-2"))["application"] == "Main"
    assert send(lonely, with_properties("Databricks Shell", {TAGS + "clusterName": "job-3-run-9"}, app="app-3"))["application"] == "databricks-job-3"


def test_the_value_of_a_property_is_screened_as_a_name_is(lonely):
    log = with_properties("Main", {"spark.glue.JOB_NAME": "etl password=hunter2"})
    reply = lonely.request("POST", "/v1/eventlogs", 422, data=log, headers=OCTETS)
    assert reply.json()["errors"][0]["code"] == "name_suspicious" and "hunter2" not in reply.text


def test_an_application_called_as_a_shell_does_not_take_jobs(lonely):
    """Only what is asked for by name goes there."""
    lonely.post("/v1/applications", {"name": "Databricks Shell"}, 201)
    log = with_properties("Databricks Shell", {TAGS + "clusterName": "job-11-run-1"})
    assert send(lonely, log)["application"] == "databricks-job-11"
    assert send(lonely, named("Databricks Shell", app="app-2"))["application"] == "interactive session (Databricks)"
    # What has a name of its own keeps to an application of that name.
    lonely.post("/v1/applications", {"name": "Main"}, 201)
    assert send(lonely, with_properties("Main", {"spark.glue.JOB_NAME": "orders"}, app="app-3"))["application"] == "Main"


def test_a_log_without_a_name_is_refused(lonely):
    log = named("gone").replace(b'"App Name": "gone", ', b"")
    assert lonely.request("POST", "/v1/eventlogs", 422, data=log, headers=OCTETS).json()["errors"][0]["code"] == "no_name"


def test_an_idempotency_key_replays_the_reply(lonely):
    headers = dict(OCTETS, **{"Idempotency-Key": "k1"})
    log = named("etl-2026-01-05")
    first = lonely.request("POST", "/v1/eventlogs", 201, data=log, headers=headers)
    again = lonely.request("POST", "/v1/eventlogs", 201, data=log, headers=headers)
    assert again.json() == first.json() and again.headers["Location"] == first.headers["Location"]


def test_sessions_are_no_guide_to_a_job(lonely, shared):
    logs = [(shared / "cases/36-tasks-equal-cores/eventlog-0").read_bytes().replace(b"repart16", name) for name in (b"Spark shell", b"a job")]
    for i, (log, verdict) in enumerate(zip(logs, ("unknown", "met"))):
        run = send(lonely, log.replace(b"app-", b"app-%d" % i))
        advice = lonely.post("/v1/advice?dry_run=true", {"application": run["application"], "deadline_s": 100000}, 200).json()
        assert advice["verdict"] == verdict
        assert ("interactive_session" in [r["code"] for r in advice["reasons"]]) == (verdict == "unknown")
