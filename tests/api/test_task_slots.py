"""How many tasks run at once: spark.task.cpus, GPUs, resource profiles of stages, barrier stages, local mode. The expected times
are waves of equal tasks, counted by hand: 5 s until the first stage, the waves of each stage, 1 s after the last one."""
import json
import math

import pytest

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


def test_case(client, name, shared):
    folder = shared / "cases" / "11-task-cpus"
    for variant in ("eventlog", "eventlog-with-profile"):
        app = name + "-" + variant
        store(client, app, (folder / variant).read_bytes())
        print(variant, [(m, predicted(client, app, m)) for m in (2, 4, 8, 12, 16)])
        a = ask(client, app, deadline_s=40)
        print(json.dumps(a["recommendation"]), a["verdict"])
        for w in a["reasons"] + a["warnings"]:
            print("  ", w["code"], w["message"])
    store(client, name, (shared / "cases" / "10-stage-level-scheduling/eventlog").read_bytes())
    print([(m, predicted(client, name, m)) for m in (1, 2, 4, 8, 12, 16)])
    a = ask(client, name, deadline_s=100)
    print(json.dumps(a["recommendation"]), a["verdict"])
    for w in a["reasons"] + a["warnings"]:
        print("  ", w["code"], w["message"])
