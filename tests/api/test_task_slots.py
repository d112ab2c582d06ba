"""How many tasks run at once: spark.task.cpus, GPUs, resource profiles of stages, barrier stages, local mode. The expected times
are waves of equal tasks, counted by hand: 5 s until the first stage, the waves of each stage, 1 s after the last one."""
import json
import math

import pytest

import admission_reviews

START = 1760000000000


def profile(number, cores, cpus, gpus=None, gpus_a_task=None):
    """SparkListenerResourceProfileAdded."""
    executor = {"cores": cores, "memory": 8192}
    task = {"cpus": float(cpus)}
    if gpus is not None:
        executor["gpu"], task["gpu"] = gpus, gpus_a_task
    return {"Event": "SparkListenerResourceProfileAdded", "Resource Profile Id": number,
            "Executor Resource Requests": {k: {"Resource Name": k, "Amount": v, "Discovery Script": "", "Vendor": ""} for k, v in executor.items()},
            "Task Resource Requests": {k: {"Resource Name": k, "Amount": v} for k, v in task.items()}}


def event_log(stages, executors=4, cores=8, profiles=(), properties=(), more_executors=(), executor_ids=None):
    """Stages one after another, each (tasks, seconds a task, task slots of the run) and, where it differs, its profile and whether it is a
    barrier stage. more_executors: those of other profiles, (profile, cores)."""
    conf = {"spark.executor.instances": str(executors), "spark.executor.cores": str(cores), "spark.master": "yarn"}
    conf.update(properties)
    lines = [{"Event": "SparkListenerLogStart", "Spark Version": "3.5.3"}, *profiles,
             {"Event": "SparkListenerEnvironmentUpdate", "JVM Information": {}, "Spark Properties": conf, "System Properties": {}, "Classpath Entries": {}},
             {"Event": "SparkListenerApplicationStart", "App Name": "slots", "App ID": "application_1760000000000_0001", "Timestamp": START, "User": "u"}]
    held = [(0, cores)] * executors + list(more_executors)
    ids = executor_ids or [str(i + 1) for i in range(len(held))]
    for number, (of, n) in zip(ids, held):
        lines.append({"Event": "SparkListenerExecutorAdded", "Timestamp": START + 3000, "Executor ID": number,
                      "Executor Info": {"Host": "h" + number, "Total Cores": n, "Log Urls": {}, "Resource Profile Id": of}})
    infos, at = [], START + 5000
    for i, (n, seconds, slots, *rest) in enumerate(stages):
        of, barrier = (rest + [0, False])[:2] if rest else (0, False)
        infos.append({"Stage ID": i, "Stage Attempt ID": 0, "Stage Name": "stage at X.scala:%d" % i, "Number of Tasks": n, "Parent IDs": [i - 1] if i else [],
                      "RDD Info": [{"RDD ID": i, "Name": "r", "Barrier": barrier, "Number of Partitions": n}], "Resource Profile Id": of})
    lines.append({"Event": "SparkListenerJobStart", "Job ID": 0, "Submission Time": at, "Stage Infos": infos, "Stage IDs": list(range(len(stages))), "Properties": {}})
    task = 0
    for info, (n, seconds, slots, *_) in zip(infos, stages):
        lines.append({"Event": "SparkListenerStageSubmitted", "Stage Info": dict(info, **{"Submission Time": at})})
        for k in range(n):
            launch = at + 1000 * seconds * (k // slots)
            task += 1
            lines.append({"Event": "SparkListenerTaskEnd", "Stage ID": info["Stage ID"], "Stage Attempt ID": 0, "Task Type": "ResultTask", "Task End Reason": {"Reason": "Success"},
                          "Task Info": {"Task ID": task, "Index": k, "Attempt": 0, "Launch Time": launch, "Executor ID": ids[k % len(ids)], "Host": "h1",
                                        "Finish Time": launch + 1000 * seconds, "Failed": False, "Killed": False},
                          "Task Metrics": {"Executor Run Time": 1000 * seconds, "Executor CPU Time": 900000000 * seconds, "Input Metrics": {"Bytes Read": 1 << 20, "Records Read": 10}}})
        end = at + 1000 * seconds * math.ceil(n / slots)
        lines.append({"Event": "SparkListenerStageCompleted", "Stage Info": dict(info, **{"Submission Time": at, "Completion Time": end})})
        at = end
    lines.append({"Event": "SparkListenerJobEnd", "Job ID": 0, "Completion Time": at, "Job Result": {"Result": "JobSucceeded"}})
    lines.append({"Event": "SparkListenerApplicationEnd", "Timestamp": at + 1000})
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def store(client, name, log):
    return client.request("POST", "/v1/applications/%s/eventlogs" % name, 201, data=log, headers={"Content-Type": "application/octet-stream"}).json()


def ask(client, name, status=200, **more):
    return client.post("/v1/advice?dry_run=true", dict({"application": name, "include": ["alternatives", "spark"]}, **more), status).json()


def predicted(client, name, executors, **constraints):
    """Seconds on so many executors."""
    asked = dict({"min_executors": executors, "max_executors": executors}, **constraints)
    return ask(client, name, constraints=asked)["recommendation"]["predicted_duration_s"]


def by_code(advice, code, where="reasons"):
    return [f for f in advice[where] if f["code"] == code]


def test_cpus_of_a_task_as_in_the_case(client, name, shared):
    """8 cores and 4 CPUs a task. Counts of tasks that fit the machines may follow them, which one run cannot decide: hence 5 %."""
    for variant in ("eventlog", "eventlog-with-profile"):
        app = name + "-" + variant
        run = store(client, app, (shared / "cases" / "11-task-cpus" / variant).read_bytes())
        assert run["resource_profiles"] == [{"id": 0, "executors": 4, "cores_per_executor": 8, "executor_memory_bytes": 8 << 30, "cores_per_task": 4,
                                             "resource": None, "resource_per_executor": None, "resource_per_task": None}]
        for executors, seconds in ((2, 5 + 160 + 4 + 1), (4, 88), (8, 5 + 40 + 2 + 1), (12, 38), (16, 28)):
            assert predicted(client, app, executors) == pytest.approx(seconds, rel=0.06), (variant, executors)
        advice = ask(client, app, deadline_s=40)
        best = advice["recommendation"]
        assert advice["verdict"] == "met" and best["executors"] >= 12 and best["predicted_duration_s"] <= 40
        (slots,) = by_code(advice, "task_slots")
        assert slots["message"] == "%d executors have %d task slots: 8 cores, 4 CPUs a task." % (best["executors"], 2 * best["executors"])
        assert slots["evidence"]["task_slots"] == 2 * best["executors"]
        assert not [f for f in by_code(advice, "bound") if "overhead" in f["message"]], "waiting is no overhead of tasks"


def test_stage_level_scheduling_as_in_the_case(client, name, shared):
    """4 tasks of 120 s that take an executor each: nothing is shorter than 5 + 10 + 120 + 1 s."""
    store(client, name, (shared / "cases" / "10-stage-level-scheduling" / "eventlog").read_bytes())
    for executors, seconds in ((1, 5 + 160 + 480 + 1), (2, 5 + 80 + 240 + 1), (4, 5 + 40 + 120 + 1), (8, 5 + 20 + 120 + 1), (16, 136)):
        assert predicted(client, name, executors) == pytest.approx(seconds, rel=0.01), executors
    advice = ask(client, name, deadline_s=100)
    assert advice["verdict"] == "missed" and min(a["predicted_duration_s"] for a in advice["alternatives"]) == pytest.approx(136, rel=0.01)
    assert "2 min 16 s" in advice["reasons"][0]["message"]
    messages = [f["message"] for f in by_code(advice, "task_slots")]
    m = advice["recommendation"]["executors"]
    assert messages == ["%d executors have %d task slots: 4 cores, 1 CPU a task." % (m, 4 * m),
                        "%d executors have %d task slots for stages of resource profile 1: 4 cores, 4 CPUs a task." % (m, m)]
    assert ask(client, name, deadline_s=300)["verdict"] == "met"


@pytest.mark.parametrize("by_event", [True, False])
def test_a_share_of_a_gpu_bounds_the_tasks_and_is_a_bottleneck(client, name, by_event):
    """8 cores, 1 GPU, a quarter of it a task: 4 tasks at once. 61 tasks of 20 s on 4 executors: 4 waves."""
    conf = {"spark.executor.resource.gpu.amount": "1", "spark.task.resource.gpu.amount": "0.25"}
    run = store(client, name, event_log([(61, 20, 16)], profiles=[profile(0, 8, 1, 1, 0.25)] if by_event else (), properties=conf))
    assert [(p["resource"], p["resource_per_executor"], p["resource_per_task"]) for p in run["resource_profiles"]] == [("gpu", 1, 0.25)]
    for executors in (1, 2, 3, 4, 7, 8, 16):
        assert predicted(client, name, executors) == pytest.approx(6 + 20 * math.ceil(61 / (4 * executors)), abs=0.01), executors
    advice = ask(client, name, deadline_s=50)
    assert advice["verdict"] == "met" and advice["recommendation"]["executors"] >= 8
    assert "0.25 of a gpu a task" in by_code(advice, "task_slots")[0]["message"]
    assert "spark.task.resource.gpu.amount" not in advice["spark"]["properties"], "the prediction is for the recorded share"
    (warning,) = by_code(advice, "idle_cores", "warnings")
    assert warning["message"] == ("4 cores of each executor idle: the share of a gpu that a task takes allows 4 tasks at once. Set "
                                  "spark.task.resource.gpu.amount to 0.125 if the memory of each gpu suffices, else spark.executor.cores to 4.")
    items = client.get("/v1/applications/%s/diagnosis" % name).json()["bottlenecks"]["items"]
    item = next(i for i in items if i["kind"] == "idle_cores")
    assert item["properties"] == {"spark.task.resource.gpu.amount": "0.125"} and item["stage_id"] == 0
    assert item["lost_s"] == pytest.approx(40) and item["finding"]["evidence"]["task_slots_per_executor"] == 4
    # With the cure, as the request says: 8 tasks at once.
    cured = {"current": dict(conf, **{"spark.task.resource.gpu.amount": "0.125"})}
    assert predicted(client, name, 4, **cured) == pytest.approx(6 + 20 * 2, abs=0.01)
    assert predicted(client, name, 4) == pytest.approx(6 + 20 * 4, abs=0.01), "and without it as before"


def test_cpus_of_a_task_that_the_request_changes(client, name):
    store(client, name, event_log([(61, 20, 32)]))
    assert predicted(client, name, 4) == pytest.approx(46, abs=0.01)
    for place in ("current", "enforced"):
        for cpus, waves in ((1, 2), (2, 4), (3, 8), (8, 16)):
            assert predicted(client, name, 4, **{place: {"spark.task.cpus": str(cpus)}}) == pytest.approx(6 + 20 * waves, abs=0.01), (place, cpus)
    (warning,) = by_code(ask(client, name, constraints={"current": {"spark.task.cpus": "3"}}), "idle_cores", "warnings")
    assert warning["message"] == "2 cores of each executor idle: a task takes 3 CPUs. Set spark.executor.cores to 6 and start more executors on the cores that this frees."
    assert not by_code(ask(client, name, constraints={"current": {"spark.task.cpus": "4"}}), "idle_cores", "warnings")
    advice = ask(client, name, constraints={"current": {"spark.task.cpus": "16"}})
    assert advice["verdict"] == "unknown" and "a task takes 16 CPUs (spark.task.cpus), more than the 8 cores of an executor" in advice["reasons"][0]["message"]


def test_cpus_of_a_task_of_a_profile_in_the_request(client, name):
    run = {"problem_size": 61, "executors": 4, "cores_per_executor": 8, "duration_s": 45, "initialization_s": 5, "succeeded": True,
           "stages": [{"id": 0, "parents": [], "task_durations_s": [20] * 61, "started_s": 5, "duration_s": 40}]}
    for cpus, waves in ((1, 2), (2, 4), (8, 16)):
        asked = {"profile": run, "constraints": {"min_executors": 4, "max_executors": 4, "enforced": {"spark.task.cpus": str(cpus)}}}
        advice = client.post("/v1/advice", asked, 201).json()
        assert advice["recommendation"]["predicted_duration_s"] == pytest.approx(5 + 20 * waves, abs=0.01), cpus


def test_executors_of_a_profile_of_their_own(client, name):
    """4 executors of 4 cores beside 2 of 2 cores whose 2 GPUs one task takes: a third of all executors are of the second kind."""
    log = event_log([(63, 10, 16), (6, 30, 2, 1)], cores=4, profiles=[profile(0, 4, 1), profile(1, 2, 2, 2, 2.0)], more_executors=[(1, 2)] * 2)
    run = store(client, name, log)
    assert run["executors"] == 6 and run["duration_s"] == 5 + 40 + 90 + 1
    assert predicted(client, name, 6) == pytest.approx(136, abs=0.01)
    assert predicted(client, name, 12) == pytest.approx(5 + 20 + 60 + 1, abs=0.01)
    assert predicted(client, name, 18) == pytest.approx(5 + 20 + 30 + 1, abs=0.01)
    messages = [f["message"] for f in by_code(ask(client, name, constraints={"min_executors": 12, "max_executors": 12}), "task_slots")]
    assert messages == ["8 executors have 32 task slots: 4 cores, 1 CPU a task.",
                        "4 executors have 4 task slots for stages of resource profile 1: 2 cores, 2 CPUs a task, 2 of a gpu a task."]


def test_a_barrier_stage_needs_its_slots_at_once(client, name):
    """10 tasks at once on executors of 2 cores: at least 5 executors, and 100 s whatever there is."""
    run = store(client, name, event_log([(21, 10, 12), (10, 100, 10, 0, True)], executors=6, cores=2))
    stages = client.get("/v1/applications/%s/runs/%s?include=stages" % (name, run["id"])).json()["stages"]
    assert [s["barrier"] for s in stages] == [False, True]
    advice = ask(client, name, deadline_s=10000)
    assert advice["verdict"] == "met" and advice["recommendation"]["executors"] == 5
    assert min(a["executors"] for a in advice["alternatives"]) == 5
    (barrier,) = by_code(advice, "barrier_stage")
    assert "at least 5 executors" in barrier["message"] and barrier["evidence"]["executors"] == 5
    assert ask(client, name, deadline_s=100)["verdict"] == "missed", "the barrier stage alone takes as long"
    assert predicted(client, name, 5) == pytest.approx(5 + 30 + 100 + 1, abs=0.01)
    fault = ask(client, name, 422, constraints={"max_executors": 4})["errors"][0]
    assert fault["pointer"] == "/constraints/max_executors" and "less than 5" in fault["detail"]
    assert ask(client, name, constraints={"max_executors": 5, "cores_per_executor": 2})["recommendation"]["executors"] == 5
    allocations = ask(client, name, deadline_s=10000, include=["autoscaling"])
    assert "Dynamic allocation cannot be replayed: Spark runs no barrier stage with dynamic allocation." in [f["message"] for f in allocations["warnings"]]


def test_local_mode_has_one_executor(client, name):
    """More executors change nothing, unless the request is about a cluster."""
    conf = {"spark.master": "local[4]"}
    store(client, name, event_log([(61, 10, 4)], executors=1, cores=4, properties=conf, executor_ids=["driver"]))
    advice = ask(client, name, deadline_s=100)
    assert advice["verdict"] == "missed" and advice["recommendation"]["executors"] == 1
    assert advice["recommendation"]["predicted_duration_s"] == pytest.approx(166, abs=0.01)
    (warning,) = by_code(advice, "local_mode", "warnings")
    assert "the driver is the only executor" in warning["message"]
    on_cluster = ask(client, name, deadline_s=100, constraints={"max_executors": 4})
    assert on_cluster["verdict"] == "met" and on_cluster["recommendation"]["executors"] > 1 and not by_code(on_cluster, "local_mode", "warnings")
    without_events = "".join(line + "\n" for line in event_log([(61, 10, 4)], executors=1, cores=4, properties=conf).decode().splitlines() if "ExecutorAdded" not in line)
    run = store(client, name + "-1.x", without_events.encode())
    assert (run["executors"], run["cores_per_executor"]) == (1, 4)


def test_dynamic_allocation_counts_slots(client, name):
    """4 CPUs a task on 8 cores: 61 tasks of 20 s need 31 executors at once, and the replays of dynamic allocation have two tasks on each."""
    conf = {"spark.task.cpus": "4", "spark.dynamicAllocation.maxExecutors": "40"}
    store(client, name, event_log([(61, 20, 8)], properties=conf))
    advice = ask(client, name, constraints={"min_executors": 8, "max_executors": 8}, include=["autoscaling"])
    cases = {c["allocation"]: c for c in advice["autoscaling"]["cases"]}
    assert cases["static"]["predicted_duration_s"] == pytest.approx(6 + 20 * 4, abs=0.01)
    assert cases["dynamic_from_maximum"]["predicted_duration_s"] == pytest.approx(6 + 20 * 4, abs=0.01)
    assert cases["dynamic_from_minimum"]["peak_executors"] == 8


def test_stage_quotas_count_the_cores_that_tasks_hold(client, name):
    """640 s of tasks that hold 4 cores each."""
    store(client, name, event_log([(64, 20, 8)], properties={"spark.task.cpus": "4"}))
    advice = ask(client, name, deadline_s=200, include=["stages"])
    narrow = event_log([(64, 20, 32)])
    store(client, name + "-narrow", narrow)
    plain = ask(client, name + "-narrow", deadline_s=200, include=["stages"])
    wide, single = advice["stages"][0], plain["stages"][0]
    assert wide["estimated_cores"] == 4 * single["estimated_cores"]


def test_admission_counts_the_slots_of_the_object(client, name):
    """61 tasks of 20 s, 4 CPUs each, on executors of 8 cores: 8 slots on 4 executors take 166 s. A task of one CPU would have 32 slots: 46 s."""
    size = store(client, name, event_log([(61, 20, 8)], properties={"spark.task.cpus": "4"}))["problem_size"]

    def reviewed(cpus, path=admission_reviews.VALIDATE):
        body = admission_reviews.annotate(admission_reviews.review("create"), application=name, deadline="100s", problem_size="%g" % size)
        admission_reviews.with_executors(body, 4, 8)["request"]["object"]["spec"].setdefault("sparkConf", {})["spark.task.cpus"] = cpus
        return body, admission_reviews.ask(client, body, path)

    _, late = reviewed("4")
    assert late["auditAnnotations"]["verdict"] == "missed" and "2 min 46 s" in json.dumps([late.get("warnings"), late.get("status")])
    _, early = reviewed("1")
    assert early["auditAnnotations"]["verdict"] == "met"
    body, patched = reviewed("4", admission_reviews.MUTATE)
    executors = admission_reviews.admitted(body, patched)["spec"]["executor"]["instances"]
    assert patched["auditAnnotations"]["verdict"] == "met" and executors >= 8, "on 7 executors the tasks take 5 waves"
