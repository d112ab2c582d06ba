"""Runs that are not plain batch jobs: streaming, sessions of a person, lost executors, properties that the job set."""
import json

import pytest

from test_advice_spark import run_of
from test_latest_run import ask, case, found, record
from test_memory import upload

START = 1760000000000


def warning(run, code):
    return next((w for w in run["warnings"] if w["code"] == code), None)


def run_read(client, run):
    return client.get("/v1/runs/%s?include=stages" % run["id"]).json()


# --- streaming ---

def test_a_streaming_application(client, name):
    """Case 02: a query that a trigger wakes every 30 s. No deadline applies to it, and its waiting is not the driver's work."""
    run = run_read(client, upload(client, case(2, "eventlog").read_bytes(), name))
    assert run["streaming_queries"] == 1 and run["idle_s"] == 0
    assert warning(run, "streaming_application")["evidence"] == {"count": 1}
    advice = ask(client, name, 300)
    assert advice["verdict"] == "unknown" and advice["recommendation"] is None
    reason = found(advice, "streaming_application", "reasons")
    assert "streaming application" in reason["message"] and "deadline" in reason["message"]
    assert not found(advice, "history_insufficient", "reasons")
    diagnosis = client.get("/v1/applications/%s/diagnosis" % name).json()
    assert "driver" not in {b["kind"] for b in diagnosis["bottlenecks"]["items"]}, diagnosis["bottlenecks"]


def test_a_batch_job_ignores_its_streaming_run(client, name):
    """The newest run is a streaming one: advice, diagnosis and last run are as without it."""
    log = case(2, "eventlog").read_bytes()
    record(client, name, [run_of(n) for n in (2, 4, 8, 4, 4)])
    before, diagnosed = ask(client, name, 20), client.get("/v1/applications/%s/diagnosis" % name).json()
    run = upload(client, log, name)
    after, diagnosis = ask(client, name, 20), client.get("/v1/applications/%s/diagnosis" % name).json()
    assert run["streaming_queries"] == 1
    for advice in (before, after):
        for changing in ("id", "created_at"):
            advice.pop(changing)
    assert after == before and after["verdict"] == "met"
    for reply in (diagnosed, diagnosis):
        for changing in ("history_version", "runs"):
            reply.pop(changing)
    assert diagnosis == diagnosed
