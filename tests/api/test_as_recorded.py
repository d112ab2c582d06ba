"""A replay on a run's own executors takes as long as the run did: every log that is stored, asked for in advice as users ask.

Where that cannot be, the run is not replayed, and the reply says why."""
import uuid

import pytest

from test_eventlogs import event

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
    worked_s = run["duration_s"] - run["away_s"] - sum(r["evidence"]["cost_s"] for r in advice["reasons"] if r["code"] == "executors_lost")
    assert best["predicted_duration_s"] == pytest.approx(worked_s, rel=WITHIN)
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
        assert configured["predicted_duration_s"] == pytest.approx(worked_s, rel=WITHIN)


@pytest.mark.every_log
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


@pytest.mark.every_log
def test_the_cases_too(team, shared):
    paths = sorted(p for p in (shared / "cases").glob("*/eventlog*") if p.is_file() and not p.parent.name.startswith(("03", "05", "06")))
    assert len(paths) > 25
    for i, path in enumerate(paths):
        name = "case-%d" % i
        run = send(team, name, path.read_bytes())
        if run["problem_size"] is not None and run["streaming_queries"] == 0:
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


# --- logs made here, by a scheduler of their own


def simulate(spans, stages, cores, begin_s, lost=False):
    """Stages one after another on executors that are there from spans[i][0] to spans[i][1]: what happened, and when it ended.

    lost: what an executor was working on when it went is begun anew."""
    happened, now = [], begin_s
    for number, durations in enumerate(stages):
        submitted, pending, running, done = now, list(range(len(durations))), [], []
        while pending or running:
            there = [e for e, (since, until) in enumerate(spans) if since <= now < until]
            for at, task, e, since in [r for r in running if lost and spans[r[2]][1] <= now < r[0]]:
                running.remove((at, task, e, since))
                done.append((number, task, e, since, now, False))
                pending.insert(0, task)
            for at, task, e, since in [r for r in running if r[0] <= now]:
                running.remove((at, task, e, since))
                done.append((number, task, e, since, at, True))
            for e in there:
                while pending and sum(r[2] == e for r in running) < cores:
                    task = pending.pop(0)
                    running.append((now + durations[task], task, e, now))
            if pending or running:
                instants = [r[0] for r in running] + [at for span in spans for at in span if at > now]
                now = min(at for at in instants if at > now)
        happened.append((submitted, now, done))
    return happened, now


def log_of(name, spans, happened, end_s, cores, properties):
    def at(seconds):
        return 1700000000000 + round(1000 * seconds)

    start = {"App Name": name, "App ID": "app-" + name, "Timestamp": at(0), "User": "u"}
    lines = [event("LogStart", **{"Spark Version": "3.5.1"}), event("ApplicationStart", **start),
             event("EnvironmentUpdate", **{"Spark Properties": properties, "JVM Information": {}, "System Properties": {}, "Classpath Entries": {}})]
    told = [(since, event("ExecutorAdded", **{"Timestamp": at(since), "Executor ID": str(e), "Executor Info": {
        "Host": "h%d" % e, "Total Cores": cores, "Log Urls": {}}})) for e, (since, _) in enumerate(spans)]
    told += [(until, event("ExecutorRemoved", **{"Timestamp": at(until), "Executor ID": str(e), "Removed Reason": "gone"}))
             for e, (_, until) in enumerate(spans) if until < 1e9]
    for number, (submitted, ended, done) in enumerate(happened):
        info = {"Stage ID": number, "Stage Attempt ID": 0, "Stage Name": "s", "Number of Tasks": len({d[1] for d in done}),
                "Parent IDs": [number - 1] if number else [], "Submission Time": at(submitted)}
        told.append((submitted, event("StageSubmitted", **{"Stage Info": info, "Properties": {}})))
        for i, (_, task, e, since, until, succeeded) in enumerate(done):
            told.append((until, event("TaskEnd", **{
                "Stage ID": number, "Stage Attempt ID": 0, "Task Type": "ResultTask",
                "Task End Reason": {"Reason": "Success" if succeeded else "ExecutorLostFailure"},
                "Task Info": {"Task ID": 1000 * number + i, "Index": task, "Attempt": 0, "Launch Time": at(since), "Executor ID": str(e),
                              "Host": "h%d" % e, "Speculative": False, "Finish Time": at(until), "Failed": not succeeded}})))
        told.append((ended, event("StageCompleted", **{"Stage Info": dict(info, **{"Completion Time": at(ended)})})))
    lines += [line for _, line in sorted(told, key=lambda t: t[0])] + [event("ApplicationEnd", Timestamp=at(end_s))]
    return ("\n".join(lines) + "\n").encode()


ALWAYS, DYNAMIC = 1e12, {"spark.dynamicAllocation.enabled": "true", "spark.shuffle.service.enabled": "true"}
UNEVEN = [[4.0 + (7 * i) % 5 for i in range(48)], [3.0 + (3 * i) % 7 for i in range(96)], [2.0] * 23 + [19.0]]
MADE = {
    "slow-ramp": ([(8.0 + 6.0 * e, ALWAYS) for e in range(8)], {}),
    "fast-ramp": ([(5.5 + 0.3 * e, ALWAYS) for e in range(8)], DYNAMIC),
    "none-at-first": ([(9.0, ALWAYS), (10.0, ALWAYS), (10.0, ALWAYS)] + [(11.0, ALWAYS)] * 5, dict(DYNAMIC, **{
        "spark.dynamicAllocation.initialExecutors": "0", "spark.dynamicAllocation.maxExecutors": "8"})),
    "late-half": ([(0.0, ALWAYS)] * 4 + [(40.0, ALWAYS)] * 4, {}),
    "lost-in-the-middle": ([(0.0, ALWAYS)] * 4 + [(0.0, 22.0)] * 4, {}),
    "lost-and-replaced": ([(0.0, ALWAYS)] * 6 + [(0.0, 17.5)] * 2 + [(31.0, ALWAYS)] * 2, {}),
    "one-local": ([(0.0, ALWAYS)], {"spark.master": "local[2]"}),
}


@pytest.mark.parametrize("name", MADE)
def test_executors_that_come_late_or_are_lost(team, name):
    spans, properties = MADE[name]
    happened, end_s = simulate(spans, UNEVEN, 2, 5.0, lost=name.startswith("lost"))
    run = send(team, name, log_of(name, spans, happened, end_s + 1.5, 2, properties))
    assert run["duration_s"] == pytest.approx(end_s + 1.5, abs=0.002)
    seen = team.get("/v1/runs/%s?include=stages" % run["id"]).json()["executor_lifetimes"]
    assert sorted((e["added_s"], e["removed_s"] or ALWAYS) for e in seen) == sorted(spans)
    check_as_recorded(team, name, run)
    late = ask(team, name, run["executors"], deadline_s=0.9 * run["duration_s"])
    assert late["verdict"] != "met", "every run of this configuration missed it"
    _, undisturbed_s = simulate([(0.0, ALWAYS)] * run["executors"], UNEVEN, 2, 5.0)
    waited = [r["evidence"]["waiting_s"] for r in late["reasons"] if r["code"] == "executors_awaited"]
    assert sum(waited) == pytest.approx(end_s - undisturbed_s, abs=0.05 * end_s)
    if name.startswith("lost") or name == "one-local":
        return
    _, half_s = simulate(spans[::2], UNEVEN, 2, 5.0)
    half = ask(team, name, 4)["recommendation"]["predicted_duration_s"]
    assert half == pytest.approx(half_s + 1.5, rel=0.08), "half of the executors at each instant"
