"""Forms of advice for platforms: jobs of EMR Serverless, and dynamic allocation with instances that another place sets."""
import json
import re

import pytest

UUID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-")
TINY = ("emrs-tiny", "-d", "120s")
WITH_INSTANCES = ("da-with-instances", "-d", "120s")


@pytest.fixture(autouse=True)
def logs(history, shared):
    for case in ("13-emr-serverless-minimum", "41-instances-above-max"):
        for log in sorted((shared / "cases" / case).glob("eventlog*")):
            history.post("/v1/eventlogs", data=log.read_bytes(), status=(200, 201), headers={"Content-Type": "application/octet-stream"})


def test_a_job_of_emr_serverless(cli):
    made = json.loads(cli("advise", *TINY, "-f", "emr-serverless").out)
    flags = made["jobDriver"]["sparkSubmit"]["sparkSubmitParameters"]
    assert made["name"] == "emrs-tiny" and "maxExecutors=3 " in flags and "memoryOverhead=2g " in flags
    cluster = json.loads(cli("advise", *TINY, "-f", "databricks").out)
    assert cluster["num_workers"] == 1 and "autoscale" not in cluster


def test_a_job_of_emr_serverless_that_is_asked_for_as_a_step(cli):
    result = cli("advise", *TINY, "-f", "emr", status=1)
    assert result.out == "" and "the job runs on EMR Serverless" in result.err and "emr-serverless" in result.err


@pytest.mark.parametrize("form, line", [("spark-submit", "--conf spark.executor.instances=2\n"), ("spark-defaults", "spark.executor.instances 2\n"),
                                        ("emr", '"spark.executor.instances=2"')])
def test_instances_are_the_initial_executors(cli, form, line):
    assert line in cli("advise", *WITH_INSTANCES, "-f", form).out


@pytest.mark.parametrize("form", ["spark-submit", "spark-defaults", "k8s", "k8s-apache", "databricks", "emr", "emr-serverless", "markdown", "csv"])
def test_a_dry_run_has_no_id_in_any_form(cli, form):
    """No run can follow advice that is not stored."""
    shown = cli("advise", *WITH_INSTANCES, "-f", form, "--dry-run")
    assert shown.out and "adviceId" not in shown.out and not UUID.search(shown.out) and shown.err == ""
    stored = cli("advise", *WITH_INSTANCES, "-f", form)
    assert form == "markdown" or UUID.search(stored.out)
