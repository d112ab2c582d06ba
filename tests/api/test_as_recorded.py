"""A replay on a run's own executors takes as long as the run did: every log that is stored, asked for in advice as users ask.

Where that cannot be, the run is not replayed, and the reply says why."""
import uuid

import pytest

WITHIN = 0.03
LOCAL = ["xspark/local-" + n for n in ("1422981759269", "1425081759269", "1426533911241", "1426633911242", "1430917381535_1", "1430917381535_2")]
NOT_REPLAYED = dict({path: "without executors 1, cores_per_executor 1" for path in LOCAL}, **{"rapids/qualification/empty_eventlog": "the problem size or the cores per executor of the nearest run are unknown"})


@pytest.fixture(scope="module")
def team(service):
    return service.client(service.token("recorded-" + uuid.uuid4().hex[:8]))


def send(team, name, data):
    """One that was stopped or broke off is a run as well: what it took is taken for what it takes."""
    run = team.request("POST", "/v1/applications/%s/eventlogs" % name, {200, 201}, data=data,
                       headers={"Content-Type": "application/octet-stream"}).json()
    if not run["succeeded"]:
        team.request("PATCH", "/v1/applications/%s/runs/%s" % (name, run["id"]), 200, json={"succeeded": True})
    return run


def ask(team, name, executors, **more):
    return team.post("/v1/advice?dry_run=true", dict({"application": name, "include": ["autoscaling"], "constraints": {
        "min_executors": executors, "max_executors": executors}}, **more), 200).json()


def bound_of(advice):
    return next(r for r in advice["reasons"] if r["code"] == "bound")["evidence"]


def check_as_recorded(team, name, run):
    advice = ask(team, name, run["executors"])
    best = advice["recommendation"]
    assert best is not None, advice["reasons"]
    assert best["predicted_duration_s"] == pytest.approx(run["duration_s"], rel=WITHIN)
    stages = team.get("/v1/runs/%s?include=tasks" % run["id"]).json()["stages"]
    tasks = [t for s in stages for t in s.get("task_durations_s", [])]
    assert bound_of(advice)["longest_task_s"] >= max(tasks) * (1 - 1e-9), "no task is shorter than it was"
    assert bound_of(advice)["work_s"] >= bound_of(advice)["recorded_work_s"] * (1 - 1e-9)
    assert bound_of(advice)["recorded_work_s"] == pytest.approx(sum(tasks), abs=1e-6)
    cases = {c["allocation"]: c for c in advice["autoscaling"]["cases"]}
    assert cases["static"]["predicted_duration_s"] == best["predicted_duration_s"]
    for case in cases.values():
        if case["peak_executors"] <= run["executors"]:
            assert case["predicted_duration_s"] >= best["predicted_duration_s"] * (1 - 1e-9), case["allocation"]
    configured = cases.get("dynamic_as_configured")
    if configured and run["spark_properties"].get("spark.dynamicAllocation.enabled") == "true":
        assert configured["predicted_duration_s"] == pytest.approx(run["duration_s"], rel=WITHIN)


def test_every_stored_log_takes_as_long_as_it_was_recorded(team, shared):
    logs = shared / "data" / "spark-eventlogs"
    rows = [line.split("\t") for line in (logs / "manifest.tsv").read_text().splitlines()[1:]]
    paths = [row[0] for row in rows if row[1] == "single"]
    assert len(paths) > 40
    for i, path in enumerate(paths):
        name = "log-%d" % i
        run = send(team, name, (logs / path).read_bytes())
        if path not in NOT_REPLAYED:
            check_as_recorded(team, name, run)
            continue
        advice = ask(team, name, 1)
        assert advice["verdict"] == "unknown" and advice["recommendation"] is None
        reason = advice["reasons"][0]["message"]
        assert NOT_REPLAYED[path] in reason, (path, reason)


def test_the_cases_too(team, shared):
    paths = sorted(p for p in (shared / "cases").glob("*/eventlog*") if p.is_file() and not p.parent.name.startswith(("03", "06")))
    assert len(paths) > 25
    for i, path in enumerate(paths):
        name = "case-%d" % i
        run = send(team, name, path.read_bytes())
        if run["problem_size"] is not None:
            check_as_recorded(team, name, run)


@pytest.mark.parametrize("deadline_s, verdicts", [(38, {"missed"}), (42, {"missed", "at_risk"}), (60, {"met"})])
def test_what_every_run_of_a_configuration_missed_is_not_promised_for_it(team, shared, deadline_s, verdicts):
    """Two runs on ten executors took 42.7 and 42.5 s with dynamic allocation that Spark's defaults would have made slower."""
    folder = shared / "data/spark-eventlogs/rapids/qualification/multiple_attempts"
    runs = [send(team, "ProcessLargeDataset", (folder / ("attempt_%d_eventlog.zstd" % i)).read_bytes()) for i in (1, 2)]
    advice = ask(team, "ProcessLargeDataset", 10, deadline_s=deadline_s)
    assert advice["verdict"] in verdicts
    best = advice["recommendation"]
    assert best["predicted_duration_s"] == pytest.approx(42.5, rel=WITHIN)
    assert best["interval_s"][0] < min(r["duration_s"] for r in runs) and best["interval_s"][1] > max(r["duration_s"] for r in runs)
    if deadline_s < 42.4:
        assert best["deadline_probability"] < 0.5
