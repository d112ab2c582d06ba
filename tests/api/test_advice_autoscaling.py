"""Dynamic allocation replayed beside fixed executors: `autoscaling` of advice, against a simulation in steps of a tenth of a
second as Spark's own manager takes them, and against what real logs recorded."""
import math

import pytest

TASKS, TASK_S, START_S, CORES, RAN = 60, 20.0, 5.0, 2, 6
LOGS = "spark-eventlogs/rapids/"
RECORDED = ["profiling/rp_sql_eventlog.zstd", "profiling/rp_nosql_eventlog",
            "qualification/cluster_information/eventlog_4nodes_8cores_dynamic_alloc.zstd",
            "qualification/multiple_attempts/attempt_1_eventlog.zstd"]


def run_of(executors, **more):
    stage_s = TASK_S * math.ceil(TASKS / CORES / executors)
    return dict({"problem_size": TASKS, "executors": executors, "cores_per_executor": CORES, "duration_s": START_S + stage_s,
                 "initialization_s": START_S, "stages": [{"id": 0, "parents": [], "task_durations_s": [TASK_S] * TASKS,
                                                          "duration_s": stage_s, "started_s": START_S}]}, **more)


def simulate(least, initial, most, idle_s=60.0, backlog_s=1.0, startup_s=START_S, step_s=0.1):
    """Equal tasks of one stage, looked at ten times a second: time and executor seconds."""
    free, requested, idle_since, coming = [], [], [], []
    begin_s = START_S if initial else START_S - startup_s  # the first stage of the record waited for executors
    for _ in range(initial):
        free.append(CORES), requested.append(0.0), idle_since.append(begin_s)
    there = list(range(initial))
    waiting, running, target, add, add_at, held, tick = TASKS, [], initial, 1, begin_s + backlog_s, 0.0, 0
    while True:
        now = begin_s + tick * step_s
        tick += 1
        for end_s, executor in [r for r in running if r[0] <= now + 1e-9]:
            running.remove((end_s, executor))
            free[executor] += 1
            idle_since[executor] = end_s
        for at in [c for c in coming if c + startup_s <= now + 1e-9]:
            coming.remove(at)
            there.append(len(free))
            free.append(CORES), requested.append(at), idle_since.append(now)
        while waiting and any(free[e] for e in there):
            executor = max(there, key=lambda e: (free[e], -idle_since[e]))
            free[executor] -= 1
            waiting -= 1
            running.append((now + TASK_S, executor))
        if not waiting and not running:
            return now, held + sum(now - requested[e] for e in there)
        needed = math.ceil((waiting + len(running)) / CORES)
        if needed < target:
            target, add = max(needed, least), 1
            del coming[max(0, target - len(there)):]
        elif waiting and now >= add_at - 1e-9 and target < min(needed, most):
            raised = min(max(target, len(there)) + add, needed, most)
            add = 2 * add if raised - target == add else 1
            target = raised
            coming += [now] * (target - len(there) - len(coming))
            add_at = now + backlog_s
        if not waiting:
            add = 1
        for executor in list(there):
            if free[executor] == CORES and now - idle_since[executor] >= idle_s - 1e-9 and len(there) - 1 >= max(least, target):
                there.remove(executor)
                held += now - requested[executor]


@pytest.fixture(scope="module")
def known(client):
    for executors in (2, 3, RAN):
        client.post("/v1/applications/autoscaling/runs", run_of(executors), 201)
    return "autoscaling"


def ask(client, name, **more):
    return client.post("/v1/advice?dry_run=true", dict({"application": name, "problem_size": TASKS, "include": ["autoscaling"]}, **more), 200).json()


def cases_of(advice):
    return {c["allocation"]: c for c in advice["autoscaling"]["cases"]}


def close(got, want, rel=1e-6):
    assert math.isclose(got, want, rel_tol=rel), (got, want)


@pytest.mark.parametrize("executors", [5, 10, 20])
def test_the_cases_are_what_a_simulation_in_small_steps_gives(client, known, executors):
    advice = ask(client, known, constraints={"min_executors": executors, "max_executors": executors, "price_per_executor_hour": 3.6})
    assert advice["recommendation"]["executors"] == executors and advice["autoscaling"]["executor_startup_measured"] is False
    assert next(w for w in advice["warnings"] if w["code"] == "executor_startup_assumed")["evidence"] == {"executor_startup_s": START_S}
    cases = cases_of(advice)
    fixed = cases["static"]
    close(fixed["predicted_duration_s"], advice["recommendation"]["predicted_duration_s"])
    close(fixed["executor_s"], executors * fixed["predicted_duration_s"])
    assert fixed["settings"] is None and fixed["timeline"] == [{"at_s": 0, "executors": executors}]
    close(cases["static_last_run"]["predicted_duration_s"], START_S + TASK_S * math.ceil(TASKS / CORES / RAN))
    for name, initial in (("dynamic_from_minimum", 0), ("dynamic_from_maximum", executors)):
        case = cases[name]
        settings = case["settings"]
        assert (settings["min_executors"], settings["initial_executors"], settings["max_executors"]) == (0, initial, executors)
        duration_s, executor_s = simulate(0, initial, executors)
        close(case["predicted_duration_s"], duration_s, 1e-3)
        close(case["executor_s"], executor_s, 1e-3)
        close(case["cost"], case["executor_s"] / 1000)
        close(case["mean_executors"], case["executor_s"] / case["predicted_duration_s"])
        assert case["timeline"][0] == {"at_s": 0, "executors": initial} and case["peak_executors"] <= executors
    assert cases["dynamic_from_minimum"]["executors_started"] == cases["dynamic_from_minimum"]["peak_executors"]
    reason = next(r for r in advice["reasons"] if r["code"] == "dynamic_allocation")["evidence"]
    best = min((cases["dynamic_from_minimum"], cases["dynamic_from_maximum"]), key=lambda c: c["executor_s"])
    assert reason["allocation"] == best["allocation"] and reason["executor_s"] == best["executor_s"]
    close(reason["executor_s_change_percent"], 100 * (best["executor_s"] / fixed["executor_s"] - 1))
    close(reason["duration_change_percent"], 100 * (best["predicted_duration_s"] / fixed["predicted_duration_s"] - 1))


def test_machines_are_billed_for_as_long_as_one_of_their_executors_is_held(client, known):
    terms = {"price_per_machine_hour": 3.6, "machine_cores": 2 * CORES, "startup_billed_s": 7, "minimum_billed_s": 60, "billing_increment_s": 30}
    advice = ask(client, known, constraints=dict(terms, min_executors=10, max_executors=10))
    cases = cases_of(advice)

    def billed(seconds):
        return 30 * math.ceil(max(60, 7 + seconds) / 30) / 1000

    close(cases["static"]["cost"], 5 * billed(cases["static"]["predicted_duration_s"]))
    assert cases["static"]["cost"] == advice["recommendation"]["cost"]
    case = cases["dynamic_from_minimum"]
    assert case["executors_released"] == 0
    requested, before = [], 0
    for step in case["timeline"]:
        requested += [step["at_s"] - START_S] * (step["executors"] - before)
        before = step["executors"]
    close(case["cost"], sum(billed(case["predicted_duration_s"] - at_s) for at_s in requested[::2]))


def test_what_the_job_is_configured_with_is_a_case_of_its_own(client, known):
    current = {"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.minExecutors": "2",
               "spark.dynamicAllocation.maxExecutors": "12", "spark.dynamicAllocation.executorIdleTimeout": "5s",
               "spark.dynamicAllocation.schedulerBacklogTimeout": "4s", "spark.shuffle.service.enabled": "true"}
    constraints = {"max_executors": 8, "min_executors": 8, "current": current}
    case = cases_of(ask(client, known, constraints=constraints))["dynamic_as_configured"]
    assert case["settings"] == {
        "min_executors": 2, "initial_executors": 2, "max_executors": 12, "executor_allocation_ratio": 1, "executor_idle_timeout_s": 5,
        "scheduler_backlog_timeout_s": 4, "sustained_scheduler_backlog_timeout_s": 4, "shuffle_tracking": False,
        "shuffle_tracking_timeout_s": None}
    duration_s, executor_s = simulate(2, 2, 12, idle_s=5.0, backlog_s=4.0)
    close(case["predicted_duration_s"], duration_s, 1e-3)
    close(case["executor_s"], executor_s, 1e-3)
    constraints["enforced"] = {"spark.dynamicAllocation.schedulerBacklogTimeout": "1s"}
    changed = cases_of(ask(client, known, constraints=constraints))["dynamic_as_configured"]
    close(changed["predicted_duration_s"], simulate(2, 2, 12, idle_s=5.0)[0], 1e-3)
    del constraints["current"], constraints["enforced"]
    assert "dynamic_as_configured" not in cases_of(ask(client, known, constraints=constraints))


def test_a_deadline_that_dynamic_allocation_misses(client, known):
    fixed_s = START_S + TASK_S * 3
    ten = {"min_executors": 10, "max_executors": 10}
    least_s = ask(client, known, deadline_s=fixed_s * 0.9, constraints=ten)["remedies"]["deadline_s"]
    advice = ask(client, known, deadline_s=least_s * 1.001, constraints=ten)
    cases = cases_of(advice)
    close(cases["static"]["deadline_probability"], advice["recommendation"]["deadline_probability"])
    assert cases["static"]["deadline_probability"] > cases["dynamic_from_minimum"]["deadline_probability"]
    reason = next(r for r in advice["reasons"] if r["code"] == "dynamic_allocation")
    assert cases["dynamic_from_maximum"]["deadline_probability"] >= advice["confidence"] > cases["dynamic_from_minimum"]["deadline_probability"]
    assert reason["evidence"]["allocation"] == "dynamic_from_maximum" and "no dynamic case" not in reason["message"], "the one that is in time"
    late = ask(client, known, deadline_s=fixed_s * 0.9, constraints=ten)
    reason = next(r for r in late["reasons"] if r["code"] == "dynamic_allocation")
    assert all(c["deadline_probability"] < 0.95 for c in cases_of(late).values()) and "no dynamic case meets the deadline" in reason["message"]


def test_without_stages_nothing_can_be_replayed(client, name):
    for executors, seconds in ((2, 310), (3, 210), (4, 165), (6, 110), (8, 88)):
        client.post("/v1/applications/%s/runs" % name, {"problem_size": 60, "executors": executors, "cores_per_executor": 2,
                                                        "duration_s": seconds}, 201)
    advice = ask(client, name)
    assert advice["recommendation"] is not None and advice["autoscaling"] is None
    assert any(w["code"] == "no_autoscaling" for w in advice["warnings"])


def test_of_a_profile_and_of_nothing(client, name):
    advice = client.post("/v1/advice?dry_run=true", {"profile": run_of(4), "include": ["autoscaling"]}, 200).json()
    assert advice["autoscaling"]["run_id"] is None and "static" in cases_of(advice)
    client.post("/v1/applications/%s/runs" % name, run_of(4, succeeded=False), 201)
    unknown = ask(client, name)
    assert unknown["verdict"] == "unknown" and unknown["autoscaling"] is None


@pytest.mark.parametrize("log", RECORDED)
def test_logs_with_dynamic_allocation_take_as_long_as_they_were_recorded(client, name, shared, log):
    """The executors that came and went are replayed as the log has them."""
    run = client.request("POST", "/v1/applications/%s/eventlogs?problem_size=10" % name, 201,
                         data=(shared / "data" / LOGS / log).read_bytes(), headers={"Content-Type": "application/octet-stream"}).json()
    advice = client.post("/v1/advice?dry_run=true", {
        "application": name, "include": ["autoscaling"],
        "constraints": {"min_executors": run["executors"], "max_executors": run["executors"],
                        "enforced": {"spark.dynamicAllocation.maxExecutors": str(run["executors"])}}}, 200).json()
    measured = run["executor_startup_s"] is not None
    assert advice["autoscaling"]["executor_startup_measured"] is measured
    if measured:
        assert advice["autoscaling"]["executor_startup_s"] == pytest.approx(run["executor_startup_s"])
    cases = cases_of(advice)
    case = cases.get("dynamic_as_configured", cases["dynamic_from_minimum"])
    assert case["predicted_duration_s"] == pytest.approx(run["duration_s"], rel=0.03)
    assert advice["recommendation"]["predicted_duration_s"] == pytest.approx(run["duration_s"], rel=0.03)
    assert cases["static"]["predicted_duration_s"] == advice["recommendation"]["predicted_duration_s"]
    assert cases["dynamic_from_maximum"]["predicted_duration_s"] >= 0.999 * case["predicted_duration_s"], "never faster than these executors"
