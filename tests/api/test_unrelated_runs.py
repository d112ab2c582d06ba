"""Runs of several jobs under one name: advice reports it and proposes how to tell them apart."""
import uuid

import pytest


@pytest.fixture(scope="module")
def client(make_service):
    service = make_service()
    token = service.token("alpha")
    return service.start().client(token)


def record(client, name, job, i, labelled=True):
    """A short job of one stage, or a long one of three."""
    tasks = [0.5] * 40 if job == "report" else [20 + 10 * (i % 3)] * 60
    stages = [{"id": s, "parents": [s - 1] if s else [], "task_durations_s": tasks} for s in range(1 if job == "report" else 3)]
    work_s = sum(tasks) * len(stages)
    client.post("/v1/applications/%s/runs" % name,
                {"problem_size": 8 + i // 2 % 2, "executors": 2 + i % 3, "cores_per_executor": 2, "duration_s": 2 + work_s / (2 * (2 + i % 3)),
                 "labels": {"job": job} if labelled else {}, "stages": stages}, 201)


def warnings_of(client, name):
    reply = client.post("/v1/advice", {"application": name, "problem_size": 8, "deadline_s": 3600}, 201).json()
    return {w["code"]: w for w in reply["warnings"]}


def test_runs_of_several_jobs_are_reported(client):
    name = "shell-" + uuid.uuid4().hex
    for i in range(10):
        record(client, name, "report" if i % 2 else "crunch", i)
    found = warnings_of(client, name)
    assert "labels_of_latest_run" in found and "runs_unrelated" not in found, "told apart by their label"
    for i in range(10):
        record(client, name + "-y", "report" if i % 2 else "crunch", i, labelled=False)
    warning = warnings_of(client, name + "-y")["runs_unrelated"]
    assert warning["evidence"]["stage_graphs"] == 2 and "name rule" in warning["message"]
    for i in range(10):
        client.post("/v1/applications/%s-x/runs" % name,
                    {"problem_size": 8, "executors": 2 + i % 4, "duration_s": 3.0 ** (1 + i * 7 % 6), "cores_per_executor": 2}, 201)
    warning = warnings_of(client, name + "-x")["runs_unrelated"]
    assert warning["evidence"]["left_out_error_percent"] > 80 and "name rule" in warning["message"]


def test_runs_of_one_job_are_not(client):
    name = "one-" + uuid.uuid4().hex
    for i in range(8):
        record(client, name, "report", i)
    assert "runs_unrelated" not in warnings_of(client, name)
