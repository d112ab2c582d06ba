"""Job histories of Hadoop MapReduce through the same call as Spark's event logs."""
import gzip
import json

import pytest

RECORD = "org.apache.hadoop.mapreduce.jobhistory."
START = 1700000000000


def event(kind, record, **members):
    return json.dumps({"type": kind, "event": {RECORD + record: members}}, separators=(",", ":")) + "\n\n"


def attempt(kind, task, number=0):
    return "attempt_%d_0042_%s_%06d_%d" % (START, kind[0].lower(), task, number)


def job_history(name="word count", job="job_%d_0042" % START, maps=(1.0, 3.0), reduces=(2.0,), end="JOB_FINISHED", hosts=None):
    """Maps start 5 s after the submission, all at once; reduces when the last map has ended. hosts: of maps, then of reduces."""
    named = iter(hosts or [])
    text = "Avro-Json\n" + json.dumps({"type": "record", "name": "Event", "fields": []}) + "\n"
    text += event("AM_STARTED", "AMStarted", startTime=START + 1000)
    text += event("JOB_SUBMITTED", "JobSubmitted", jobid=job, jobName=name, userName="u", submitTime=START, acls={},
                  workflowId={"string": ""})
    text += event("JOB_INITED", "JobInited", jobid=job, launchTime=START + 4000, totalMaps=len(maps),
                  totalReduces=len(reduces), jobStatus="INITED", uberized=False)
    at = START + 5000
    for kind, record, counter, durations in (("MAP", "MapAttempt", "MAP_INPUT_RECORDS", maps),
                                             ("REDUCE", "ReduceAttempt", "REDUCE_INPUT_RECORDS", reduces)):
        for task, _ in enumerate(durations):
            text += event(kind + "_ATTEMPT_STARTED", "TaskAttemptStarted", taskid="t", attemptId=attempt(kind, task),
                          startTime=at, avataar={"string": "VIRGIN"})
        for task, duration in enumerate(durations):
            counters = {"name": "COUNTERS", "groups": [
                {"name": "org.apache.hadoop.mapreduce.TaskCounter", "displayName": "Map-Reduce Framework",
                 "counts": [{"name": counter, "displayName": "records", "value": 100}]}]}
            text += event(kind + "_ATTEMPT_FINISHED", record + "Finished", attemptId=attempt(kind, task),
                          taskStatus="SUCCEEDED", finishTime=at + int(1000 * duration), counters=counters,
                          **({"hostname": next(named)} if hosts else {}))
        at += int(1000 * max(durations, default=0))
    if end is not None:
        record = "JobFinished" if end == "JOB_FINISHED" else "JobUnsuccessfulCompletion"
        text += event(end, record, jobid=job, finishTime=at + 500)
    return text.encode()


def upload(client, name, data, status=201, query=""):
    return client.request("POST", "/v1/applications/%s/eventlogs%s" % (name, query), status, data=data,
                          headers={"Content-Type": "application/octet-stream"})


@pytest.mark.parametrize("pack", [lambda data: data, gzip.compress], ids=["plain", "gzip"])
def test_a_job_history_is_a_run_of_two_stages(client, name, pack):
    """What a MapReduce job did is told in the words of a run, whatever the history is packed in."""
    run = upload(client, name, pack(job_history()), query="?label=engine:mapreduce").json()
    assert run["spark_application_id"] == "job_%d_0042" % START and run["spark_attempt_id"] is None
    assert (run["problem_size"], run["executors"], run["cores_per_executor"]) == (2, 2, 1)
    assert (run["duration_s"], run["initialization_s"], run["succeeded"]) == (10.5, 5.0, True)
    assert (run["jobs"], run["stages_completed"], run["tasks_succeeded"], run["tasks_failed"]) == (1, 2, 3, 0)
    assert run["labels"] == {"engine": "mapreduce"} and run["warnings"] == []
    full = client.get("/v1/applications/%s/runs/%s?include=tasks" % (name, run["id"])).json()
    stages = [(s["id"], s["name"], s["parents"], s["task_durations_s"], s["input_records"]) for s in full["stages"]]
    assert stages == [(0, "map", [], [1.0, 3.0], 200), (1, "reduce", [0], [2.0], 100)]


def test_the_same_history_is_one_run_and_an_unfinished_one_is_replaced(client, name):
    """The job id identifies a history: once, continued, or in conflict."""
    part = upload(client, name, job_history(end=None)).json()
    assert not part["succeeded"] and [w["code"] for w in part["warnings"]] == ["no_application_end"]
    whole = upload(client, name, job_history(), status=200).json()
    assert whole["id"] == part["id"] and whole["succeeded"]
    assert upload(client, name, job_history(), status=200).json()["id"] == whole["id"]
    upload(client, name, job_history(maps=(9.0,)), status=409)
    assert len(client.get("/v1/applications/%s/runs" % name).json()["items"]) == 1


def test_a_job_that_failed_did_not_succeed(client, name):
    """The end of a job tells how it went."""
    run = upload(client, name, job_history(reduces=(), end="JOB_KILLED")).json()
    assert not run["succeeded"] and [w["code"] for w in run["warnings"]] == ["failed_jobs"]


def test_the_binary_form_says_what_to_do(client, name):
    """Hadoop 3 writes Avro's binary form unless told otherwise: refused with the setting to change."""
    problem = upload(client, name, b"Avro-Binary\n{}\n\x02\x04", status=415).json()
    assert "mapreduce.jobhistory.jhist.format=json" in problem["detail"]
    client.get("/v1/applications/%s" % name, status=404)


def test_a_history_without_a_job_is_refused(client, name):
    """An empty history names no job."""
    problem = upload(client, name, b"Avro-Json\n{}\n", status=422).json()
    assert problem["errors"][0]["code"] == "truncated"


def test_a_job_history_can_be_replayed(client, name):
    """A run that came from MapReduce serves advice as any other: jobs from history, profile."""
    upload(client, name, job_history(maps=(3.0,) * 8, reduces=(2.0,) * 2))
    profile = client.get("/v1/applications/%s/profile" % name).json()
    assert [s["name"] for s in profile["stages"]] == ["map", "reduce"]
    reply = client.post("/v1/feasibility", {"cluster": {"executors": 4, "cores_per_executor": 1}, "jobs": [
        {"name": "j", "application": name, "release_s": 0, "deadline_s": 60}]}, 200).json()
    assert reply["feasible"]
