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
        reply.pop("history_version")
        reply["history"].pop("runs")
    assert diagnosis == diagnosed


# --- sessions ---

def session_log(n, gaps, properties, executors=2):
    """A query of 10 s (8 tasks of 5 s on 2 x 2 cores) behind each of the gaps, and a gap at the end; executors come at 2 s."""
    at = START + n * 86400000
    lines = [{"Event": "SparkListenerLogStart", "Spark Version": "3.5.3"},
             {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": properties},
             {"Event": "SparkListenerApplicationStart", "App Name": properties["spark.app.name"], "App ID": "app-%d" % n, "Timestamp": at}]
    lines += [{"Event": "SparkListenerExecutorAdded", "Timestamp": at + 2000, "Executor ID": str(i + 1),
               "Executor Info": {"Host": "h%d" % i, "Total Cores": 2}} for i in range(executors)]
    at += 2000
    for query, gap in enumerate(gaps[:-1]):
        at += gap * 1000
        stage = {"Stage ID": query, "Stage Attempt ID": 0, "Number of Tasks": 8, "Submission Time": at, "Parent IDs": []}
        lines += [{"Event": "SparkListenerJobStart", "Job ID": query, "Submission Time": at, "Stage Infos": [stage], "Stage IDs": [query]},
                  {"Event": "SparkListenerStageSubmitted", "Stage Info": stage}]
        slots = 2 * executors
        for i in range(8):
            launch = at + i // slots * 5000
            lines.append({"Event": "SparkListenerTaskEnd", "Stage ID": query, "Stage Attempt ID": 0, "Task End Reason": {"Reason": "Success"},
                          "Task Info": {"Index": i, "Launch Time": launch, "Finish Time": launch + 5000},
                          "Task Metrics": {"Input Metrics": {"Bytes Read": 134217728, "Records Read": 9}}})
        at += 8 // slots * 5000
        lines += [{"Event": "SparkListenerStageCompleted", "Stage Info": dict(stage, **{"Completion Time": at})},
                  {"Event": "SparkListenerJobEnd", "Job ID": query, "Completion Time": at, "Job Result": {"Result": "JobSucceeded"}}]
    at += gaps[-1] * 1000
    lines.append({"Event": "SparkListenerApplicationEnd", "Timestamp": at})
    return "\n".join(map(json.dumps, lines)).encode()


def test_the_time_in_which_nobody_was_there_is_left_out(client, name):
    """A notebook of three queries, with 20 min before the second and an hour at the end: 2 + 30 + 4 s are the session's work."""
    run = run_read(client, upload(client, session_log(0, (0, 1200, 4, 3600), {"spark.app.name": "explore", "spark.repl.class.uri": "spark://h:1/c"}), name))
    assert run["duration_s"] == 2 + 30 + 4 + 4800 and run["idle_s"] == run["away_s"] == 4800 and run["initialization_s"] == 2
    assert "4800 s" in warning(run, "idle_session")["message"] and warning(run, "idle_session")["evidence"] == {"count": 4800}
    assert [s["started_s"] for s in run["stages"]] == [2, 1212, 1226], "as it happened"
    advice = ask(client, name, 60)
    assert advice["last_run"]["predicted_duration_s"] == pytest.approx(36) and advice["last_run"]["executors"] == 2
    diagnosis = client.get("/v1/applications/%s/diagnosis" % name).json()["bottlenecks"]
    assert diagnosis["duration_s"] == pytest.approx(36)
    driver = next((b for b in diagnosis["items"] if b["kind"] == "driver"), None)
    assert driver is None or driver["lost_s"] <= 4.001


def test_a_batch_job_whose_driver_works_as_long_has_no_idle_time(client, name):
    """The same log under a name of its own: between its jobs the driver works, and the deadline has to hold all of it."""
    run = run_read(client, upload(client, session_log(0, (0, 1200, 4, 3600), {"spark.app.name": "explore"}), name))
    assert run["idle_s"] == 0 and not warning(run, "idle_session")
    assert ask(client, name, 6000)["last_run"]["predicted_duration_s"] == pytest.approx(run["duration_s"])


def test_sessions_that_were_left_for_different_times_are_alike(client, name):
    """Five sessions of the same queries: however long nobody was there, the prediction is the work."""
    for n, gaps in enumerate(((0, 660, 660), (1, 600, 4000), (0, 1000, 2), (0, 4000, 1), (1, 1, 0))):
        run = upload(client, session_log(n, gaps, {"spark.app.name": "Zeppelin"}), name)
        assert run["duration_s"] - run["away_s"] == 2 + 20 + sum(g for g in gaps if g < 600)
    advice = ask(client, name, 60)
    assert advice["verdict"] == "met" and not found(advice, "latest_run_deviates")
    assert advice["last_run"]["predicted_duration_s"] == pytest.approx(23, abs=1.5)
    assert advice["model"]["loo_mape_percent"] < 15


def test_shorter_gaps_may_be_the_work_of_the_driver(client, name):
    """A notebook that a scheduler runs: five minutes of pandas between its queries are said, and stay in what is predicted."""
    run = upload(client, session_log(0, (0, 300, 40), {"spark.app.name": "PySparkShell"}), name)
    assert run["idle_s"] == 340 and run["away_s"] == 0 and " 0 s in all" in warning(run, "idle_session")["message"]
    assert ask(client, name, 6000)["last_run"]["predicted_duration_s"] == pytest.approx(run["duration_s"])


# --- lost executors ---

def test_executors_taken_away_by_the_platform(client, name):
    """Case 23: two of four executors go in the middle. 64 tasks of 10 s on 16 cores take 40 s, and 6 s are the driver's."""
    run = run_read(client, upload(client, case(23, "eventlog").read_bytes(), name))
    assert run["executors_lost"] == run["executors_removed"] == 2
    assert sorted(e["lost"] for e in run["executor_lifetimes"]) == [False, False, True, True]
    assert warning(run, "executors_lost")["evidence"] == {"count": 2}
    advice = ask(client, name, 50)
    assert advice["last_run"]["predicted_duration_s"] == pytest.approx(46) and advice["last_run"]["duration_s"] == 66
    reason = found(advice, "executors_lost", "reasons")
    assert reason["evidence"] == {"executors_lost": 2, "executors": 4, "duration_s": 66, "cost_s": pytest.approx(20), "runs": 1, "run_id": run["id"]}
    assert "cost 20 s of the 1 min 06 s" in reason["message"] and "takes 46 s" in reason["message"]
    lost = next(b for b in client.get("/v1/applications/%s/diagnosis" % name).json()["bottlenecks"]["items"] if b["kind"] == "executors_lost")
    assert lost["lost_s"] == pytest.approx(20, abs=0.1) and lost["finding"]["evidence"] == {"executors_lost": 2}
    assert "took 2 of 4 executors away" in lost["finding"]["message"]


@pytest.mark.parametrize("lost", [None, 2])
def test_a_night_on_which_executors_were_lost_is_no_regression(client, name, lost):
    """Five nights alike, then one that takes three times as long: a regression, unless the platform took executors away."""
    night = run_of(4)
    slow = dict(night, duration_s=3 * night["duration_s"], executors_lost=lost)
    record(client, name, [night] * 5 + [slow])
    advice = ask(client, name, 1.5 * night["duration_s"])
    assert bool(found(advice, "latest_run_deviates")) == (lost is None)
    assert advice["verdict"] == ("at_risk" if lost is None else "met"), advice["recommendation"]


# --- properties that the job sets ---

def test_properties_that_the_job_sets_itself(client, name):
    """Case 40: submitted are 200 partitions and adaptive execution, the job runs with 8 and without."""
    run = run_read(client, upload(client, case(40, "eventlog").read_bytes(), name))
    assert run["spark_properties"]["spark.sql.shuffle.partitions"] == "8" and run["spark_properties"]["spark.sql.adaptive.enabled"] == "false"
    assert run["submitted_properties"] == {"spark.sql.shuffle.partitions": "200", "spark.sql.adaptive.enabled": "true"}
    said = warning(run, "set_by_the_job")
    assert said["evidence"] == {"count": 2} and "setting them at submission has no effect" in said["message"]
    assert "spark.sql.shuffle.partitions=8 (submitted: 200)" in said["message"]
    exported = client.get("/v1/applications/%s/runs/export" % name).text.splitlines()
    client.post("/v1/applications", {"name": name + "-copy"}, 201)
    client.post("/v1/applications/%s-copy/runs/import" % name, None, 201, data=exported[-1], headers={"Content-Type": "application/x-ndjson"})
    copy = client.get("/v1/applications/%s-copy/runs?include=stages" % name).json()["items"][0]
    assert copy["submitted_properties"] == run["submitted_properties"]


def shuffle_log(name, properties, modified):
    """A stage of 64 tasks that shuffles 8 GiB to one of 8 tasks, which takes most of the time."""
    lines = session_log(0, (0, 0, 0), properties, executors=4).decode().splitlines()
    events = [json.loads(line) for line in lines]
    for event in events:
        event.get("Executor Info", {})["Total Cores"] = 4
        stage = event.get("Stage Info")
        if stage and stage["Stage ID"] == 1:
            stage["Parent IDs"] = [0]
        if event["Event"] == "SparkListenerTaskEnd" and event["Stage ID"] == 1:
            event["Task Metrics"] = {"Shuffle Read Metrics": {"Remote Bytes Read": 1 << 30, "Local Bytes Read": 0, "Total Records Read": 9}}
    if modified:
        events.insert(3, {"Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart", "executionId": 0, "time": START, "modifiedConfigs": modified})
    return "\n".join(map(json.dumps, events)).encode()


def test_what_the_job_sets_is_not_recommended_at_submission(client, name):
    """Eight partitions of 1 GiB spill; at submission more of them are advised only if the job does not set the number itself."""
    key = "spark.sql.shuffle.partitions"
    submitted = {"spark.app.name": "etl", key: "8", "spark.sql.adaptive.enabled": "false"}
    upload(client, shuffle_log("etl", submitted, None), name)
    upload(client, shuffle_log("etl", dict(submitted, **{key: "200"}), {key: "8"}), name + "-own")
    free, own = (ask(client, n, 60, include=["spark"], apply=["partitions"]) for n in (name, name + "-own"))
    assert key in free["spark"]["properties"] and not found(free, "set_by_the_job")
    assert key not in own["spark"]["properties"]
    said = found(own, "set_by_the_job")
    assert said["evidence"] == {"property": key} and "sets %s to 8" % key in said["message"] and "no effect" in said["message"]
    for n, tells in ((name, False), (name + "-own", True)):
        items = client.get("/v1/applications/%s/diagnosis" % n).json()["bottlenecks"]["items"]
        cures = [b["cure"] for b in items if key in b["cure"]]
        assert cures and all(("The job itself sets %s to 8" % key in c) == tells for c in cures), items


# --- Spark 4 ---

def test_an_exit_code_of_spark_4(client, name):
    """Case 17: an orderly end with exit code 1."""
    run = upload(client, case(17, "eventlog").read_bytes(), name)
    assert run["exit_code"] == 1 and run["succeeded"] is False
