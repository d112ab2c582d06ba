"""The memory of executors that is advised, by what logs show of it."""
import json

import pytest

from test_eventlogs import upload as upload_to

GIB, MIB = 1 << 30, 1 << 20
DEADLINE = 40


def memory_log(n, executors=4, heap="8g", peak=None, error=None, ok=True, overhead=None, tasks=32, cores=2, block=128 * MIB, properties={}, **used):
    """A Spark log of run n: `tasks` tasks of 2 s on executors of `cores` cores, then 8 of 1 s."""
    start = 1700000000000 + n * 3600000
    lines = [{"Event": "SparkListenerLogStart", "Spark Version": "3.5.1"},
             {"Event": "SparkListenerResourceProfileAdded", "Resource Profile Id": 0,
              "Executor Resource Requests": {"cores": {"Amount": cores}}, "Task Resource Requests": {"cpus": {"Amount": 1.0}}},
             {"Event": "SparkListenerApplicationStart", "App Name": "memory", "App ID": "app-%d" % n, "Timestamp": start},
             {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": {
                 "spark.executor.memory": heap, "spark.executor.cores": str(cores), "spark.executor.instances": str(executors),
                 **({"spark.executor.memoryOverhead": overhead} if overhead else {}), **properties}}]
    for i in range(executors):
        lines.append({"Event": "SparkListenerExecutorAdded", "Timestamp": start + 2000, "Executor ID": str(i + 1),
                      "Executor Info": {"Host": "h", "Total Cores": cores, "Resource Profile Id": 0,
                                        "Request Time": start, "Registration Time": start + 2000}})
    at = start + 3000
    lines.append({"Event": "SparkListenerJobStart", "Job ID": 0, "Submission Time": at, "Stage Infos": [
        {"Stage ID": s, "Stage Attempt ID": 0, "Number of Tasks": t, "Parent IDs": p} for s, t, p in ((0, tasks, []), (1, 8, [0]))],
        "Stage IDs": [0, 1]})
    for stage, count, ms in ((0, tasks, 2000), (1, 8, 1000)):
        info = {"Stage ID": stage, "Stage Attempt ID": 0, "Number of Tasks": count, "Submission Time": at, "Parent IDs": [0] * stage}
        lines.append({"Event": "SparkListenerStageSubmitted", "Stage Info": info})
        slots = executors * cores
        for i in range(count):
            launch = at + i // slots * ms
            lines.append({"Event": "SparkListenerTaskEnd", "Stage ID": stage, "Stage Attempt ID": 0,
                          "Task End Reason": {"Reason": "Success"},
                          "Task Info": {"Index": i, "Launch Time": launch, "Finish Time": launch + ms},
                          **({"Task Executor Metrics": {"JVMHeapMemory": peak, **used}} if peak else {}),
                          "Task Metrics": {"Executor Run Time": ms, "JVM GC Time": 0, "Disk Bytes Spilled": 0,
                                           "Input Metrics": {"Bytes Read": block if stage == 0 else 0, "Records Read": 5}}})
        at += -(-count // slots) * ms
        lines.append({"Event": "SparkListenerStageCompleted", "Stage Info": dict(info, **{"Completion Time": at})})
    if error:
        lines.append({"Event": "SparkListenerExecutorRemoved", "Timestamp": at, "Executor ID": "1", "Removed Reason": error})
    lines += [{"Event": "SparkListenerJobEnd", "Job ID": 0, "Completion Time": at,
               "Job Result": {"Result": "JobSucceeded" if ok else "JobFailed"}},
              {"Event": "SparkListenerApplicationEnd", "Timestamp": at + 1000, **({} if ok else {"ExitCode": 1})}]
    return ("\n".join(json.dumps(line) for line in lines) + "\n").encode()


def upload(client, log, name):
    return upload_to(client, name, log).json()


def store(client, name, *logs):
    for log in logs:
        upload(client, log, name=name)


def ask(client, name, **more):
    return client.post("/v1/advice?dry_run=true", {"application": name, "deadline_s": DEADLINE, "include": ["spark", "memory"], **more}, 200).json()


def test_measures_of_a_log(client, name):
    run = upload(client, memory_log(0, peak=3 * GIB, OnHeapStorageMemory=5, OnHeapUnifiedMemory=7, JVMOffHeapMemory=100), name=name)
    assert (run["peak_jvm_heap_bytes"], run["peak_storage_memory_bytes"], run["peak_unified_memory_bytes"]) == (3 * GIB, 5, 7)
    assert run["peak_jvm_non_heap_bytes"] == 100 and run["peak_process_memory_bytes"] is None
    assert run["out_of_memory_errors"] == run["memory_limit_kills"] == 0 and run["cached_blocks_dropped"] is None
    assert run["executor_startup_s"] == 2 and run["longest_task_bytes"] == 128 * MIB
    assert client.get("/v1/applications/%s/runs/%s" % (name, run["id"])).json() == run


def test_memory_that_is_not_used_is_saved_and_priced(client, name):
    """Five runs sufficed with 2 of 8 GiB: one step leaves a half."""
    four = {"min_executors": 4, "max_executors": 4}
    store(client, name, *(memory_log(n, peak=2 * GIB, JVMOffHeapMemory=100 * MIB) for n in range(4)))
    few = ask(client, name, constraints=four)["memory"]
    assert few["basis"] == "as_ran" and few["properties"] == {} and few["change_bytes"] == 0
    store(client, name, memory_log(4, peak=2 * GIB, JVMOffHeapMemory=100 * MIB))
    advice = ask(client, name, constraints=dict(four, memory_price_per_gib_hour=0.5), apply=["memory"])
    memory, executors = advice["memory"], advice["recommendation"]["executors"]
    assert memory["basis"] == "peak_use" and memory["executor_memory_bytes"] == 4 * GIB and memory["overhead_bytes"] == 409 * MIB
    assert memory["ran_with"]["executor_memory_bytes"] == 8 * GIB and memory["ran_with"]["container_bytes"] == 8 * GIB + 819 * MIB
    assert memory["container_bytes"] == 4505 * MIB and memory["container_bytes_per_core"] == 4505 * MIB // 2
    assert memory["machine_class"] == "general_purpose"
    said = next(r for r in advice["reasons"] if r["code"] == "memory")
    assert said["message"] == ("The executors of 5 runs of at least this size used at most 2.0 GiB of heap: 4.0 GiB are recommended instead of 8.0 GiB. "
                               "A cut leaves a margin of at least 20 % and at least one half.")
    assert said["evidence"]["needed_bytes"] == 2 * GIB and said["evidence"]["runs"] == 5
    assert memory["change_bytes"] == (memory["container_bytes"] - memory["ran_with"]["container_bytes"]) * executors
    assert memory["change_cost"] == pytest.approx(
        memory["change_bytes"] / GIB * advice["recommendation"]["predicted_duration_s"] / 3600 * 0.5, rel=1e-5)
    assert memory["properties"] == {"spark.executor.memory": "4g"}
    assert advice["spark"]["properties"]["spark.executor.memory"] == "4g"
    change = [c for c in advice["spark"]["changes"] if c["key"] == "spark.executor.memory"][0]
    assert (change["old"], change["new"]) == ("8g", "4g") and change["reason"] == "the runs used less"
    assert memory["applied"] and advice["spark"]["proposals"] == []
    kept = ask(client, name, constraints=dict(four, preserve=["spark.executor.memory"]))
    assert kept["memory"]["executor_memory_bytes"] == 8 * GIB and kept["memory"]["basis"] == "enforced"
    assert kept["spark"]["properties"]["spark.executor.memory"] == "8g" and kept["memory"]["change_bytes"] == 0
    now = ask(client, name, constraints=dict(four, current={"spark.executor.memory": "4g"}))["memory"]
    assert now["properties"] == {} and now["ran_with"]["executor_memory_bytes"] == 4 * GIB


def test_memory_that_is_not_asked_for_is_proposed(client, name):
    store(client, name, *(memory_log(n, peak=2 * GIB, JVMOffHeapMemory=100 * MIB) for n in range(5)))
    advice = ask(client, name, constraints={"min_executors": 4, "max_executors": 4})
    assert advice["spark"]["properties"]["spark.executor.memory"] == "8g" and "spark.executor.memory" not in json.dumps(advice["spark"]["changes"])
    assert advice["spark"]["proposals"] == [{"key": "spark.executor.memory", "old": "8g", "new": "4g", "reason": "the runs used less", "kind": "memory"}]
    assert advice["memory"]["properties"] == {"spark.executor.memory": "4g"} and not advice["memory"]["applied"]
    assert "4.0 GiB are proposed instead of 8.0 GiB." in next(r for r in advice["reasons"] if r["code"] == "memory")["message"]


def test_peaks_are_not_multiplied_by_sizes(client, name):
    """A smoke run on a thousandth of the data among nights that sufficed with 8 GiB, and a question for a hundred times the data."""
    store(client, name, memory_log(0, peak=2500000000, block=128 << 10), *(memory_log(n, peak=3200000000) for n in (1, 2, 3)))
    sizes = [run["problem_size"] for run in client.get("/v1/applications/%s/runs" % name).json()["items"]]
    assert max(sizes) / min(sizes) == pytest.approx(1000, rel=0.1)
    for size in (None, max(sizes), 10 * max(sizes)):
        body = {"application": name, "deadline_s": 600, "include": ["spark", "memory"], **({"problem_size": size} if size else {})}
        advice = client.post("/v1/advice?dry_run=true", body, 200).json()
        assert advice["memory"]["properties"] == {} and advice["memory"]["executor_memory_bytes"] == 8 * GIB
        said = next(r for r in advice["reasons"] if r["code"] == "memory")
        assert said["evidence"].get("needed_bytes", 0) <= 8 * GIB
        if advice["spark"]:
            assert advice["spark"]["properties"]["spark.executor.memory"] == "8g"


def test_plugins_keep_their_heap_and_are_named(client, name):
    plugins = {"spark.plugins": "com.acme.Secret9f8e,org.apache.gluten.GlutenPlugin", "spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "20g"}
    store(client, name, *(memory_log(n, peak=900000000, properties=plugins, OffHeapUnifiedMemory=17000000000) for n in range(6)))
    run = client.get("/v1/applications/%s/runs" % name).json()["items"][0]
    kept = client.get("/v1/applications/%s/runs/%s" % (name, run["id"])).json()["spark_properties"]
    assert kept["spark.plugins"] == "org.apache.gluten.GlutenPlugin", "other classes are not kept"
    advice = ask(client, name, constraints={"min_executors": 4, "max_executors": 4})
    assert advice["memory"]["properties"] == {} and advice["memory"]["off_heap_bytes"] == 20 * GIB
    said = next(r for r in advice["reasons"] if r["code"] == "memory")
    assert said["evidence"]["plugin"] == "Gluten" and "Gluten computes off the heap" in said["message"]


MEMORY_OF_GLUTEN = {"spark.executor.memory": "8g", "spark.executor.memoryOverhead": "2g", "spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "20g"}


@pytest.mark.parametrize("apply", [["memory"], ["memory", "speculation", "partitions"]])
def test_a_plugin_keeps_its_heap_also_if_proposals_are_applied(client, name, shared, apply):
    """Case 16: the heap was nearly empty, 8 GiB became 1280 MiB. With few runs nothing is cut, with many the reason names the plugin."""
    logs = [log.read_bytes() for log in sorted((shared / "cases" / "16-gluten-offheap").glob("eventlog-*"))]
    assert len(logs) == 3
    body = {"application": name, "deadline_s": 600, "include": ["spark", "memory"], "apply": apply, "constraints": {"min_executors": 4, "max_executors": 4}}
    for copy in range(3):
        for log in logs:
            upload(client, log.replace(b"app-20261001", b"app-2026100%d" % (copy + 1)), name)
        advice = client.post("/v1/advice?dry_run=true", body, 200).json()
        assert advice["memory"]["properties"] == {} and advice["memory"]["applied"]
        assert {key: value for key, value in advice["spark"]["properties"].items() if "emory" in key} == MEMORY_OF_GLUTEN
        assert not [p for p in advice["spark"]["proposals"] if p["kind"] == "memory"]
        form = client.post("/v1/advice?dry_run=true&format=spark-submit", body, 200).text
        assert all("--conf %s=%s\n" % pair in form for pair in MEMORY_OF_GLUTEN.items())
    said = next(r for r in advice["reasons"] if r["code"] == "memory")
    assert advice["memory"]["ran_with"]["executor_memory_bytes"] == 8 * GIB and said["evidence"]["plugin"] == "Gluten", said


def test_nothing_is_changed_to_what_no_machine_holds(client, name):
    """8 GiB ran out of memory; 12 would not fit the cluster, nor do the 8."""
    store(client, name, *(memory_log(n, executors=2 + n, peak=4 * GIB, error="Command exited with code 52" if n == 2 else None) for n in range(3)))
    cluster = "small-" + name
    client.request("PUT", "/v1/clusters/" + cluster, 201, json={"executors": 8, "cores_per_executor": 2, "memory_bytes_per_executor": 6 * GIB})
    advice = ask(client, name, constraints={"cluster": cluster})
    assert advice["memory"]["properties"] == {} and advice["spark"]["properties"]["spark.executor.memory"] == "8g"
    said = next(w for w in advice["warnings"] if w["code"] == "memory_exceeds_cluster")
    assert "do not fit the 6.0 GiB" in said["message"] and "is not changed" in said["message"]


def test_growth_is_bounded_per_core(client, name):
    store(client, name, memory_log(0, heap="24g", cores=1, error="Command exited with code 52", ok=False))
    advice = ask(client, name)
    assert advice["memory"]["properties"] == {} and advice["memory"]["executor_memory_bytes"] == 24 * GIB
    said = next(w for w in advice["warnings"] if w["code"] == "memory_bounded_per_core")
    assert "16.0 GiB per core" in said["message"] and said["evidence"]["memory_per_core_bytes"] == 16 * GIB


def test_null_where_logs_hold_nothing(client, name):
    store(client, name, *(memory_log(n, executors=2 + n) for n in range(3)))
    advice = ask(client, name)
    assert advice["memory"] is None and advice["spark"]["properties"]["spark.executor.memory"] == "8g"
    warning = next(w for w in advice["warnings"] if w["code"] == "memory_unknown")
    assert warning["evidence"] == {"runs": 3} and "spark.eventLog.logStageExecutorMetrics" in warning["message"] and "3 runs" in warning["message"]
    plain = client.post("/v1/advice?dry_run=true", {"application": name, "deadline_s": DEADLINE}, 200).json()
    assert "memory" not in plain and "memory_unknown" not in [w["code"] for w in plain["warnings"]]


def test_null_where_nothing_says_what_heap_there_was(client, name):
    """Peaks in a log that lacks the event with the properties."""
    for n in range(2):
        lines = memory_log(n, executors=2 + n, peak=2 * GIB).splitlines()
        store(client, name, b"\n".join(line for line in lines if b"EnvironmentUpdate" not in line) + b"\n")
    advice = ask(client, name)
    warning = next(w for w in advice["warnings"] if w["code"] == "memory_unknown")
    assert advice["memory"] is None and "the latest 2 runs came without Spark properties" in warning["message"]
    current = ask(client, name, constraints={"current": {"spark.executor.memory": "8g"}})
    assert current["memory"]["basis"] == "as_ran" and "memory_unknown" not in [w["code"] for w in current["warnings"]]


@pytest.mark.parametrize("error, basis, heap, overhead", [
    ("Command exited with code 52", "out_of_memory", 12 * GIB, 1228 * MIB),
    ("Container killed by YARN for exceeding physical memory limits.", "container_limit", 8 * GIB, 1664 * MIB),
    ("The executor with id 1 exited with exit code 137(SIGKILL, possible container OOM).", "container_limit", 8 * GIB, 1664 * MIB)])
def test_a_run_out_of_memory_grows_the_next_also_without_one_that_succeeded(client, name, error, basis, heap, overhead):
    store(client, name, memory_log(0, error=error, ok=False))
    advice = client.post("/v1/advice", {"application": name, "deadline_s": DEADLINE, "include": ["spark", "memory", "next_experiments"]}, 201).json()
    assert advice["verdict"] == "unknown" and advice["recommendation"] is None and advice["spark"] is None and advice["model"] is None
    assert advice["next_experiments"] == [] and advice["data_needed"]["runs"] == 1
    memory = advice["memory"]
    assert (memory["basis"], memory["executor_memory_bytes"], memory["overhead_bytes"]) == (basis, heap, overhead)
    assert memory["change_bytes"] is None and memory["properties"]
    reasons = {r["code"]: r for r in advice["reasons"]}
    assert "memory_unknown" not in [w["code"] for w in advice["warnings"]]
    assert basis != "container_limit" or "was killed at the limit of its container" in reasons["memory"]["message"]
    assert reasons["memory"]["evidence"]["events"] == 1 and "history_insufficient" in reasons
    assert client.get("/v1/advice/" + advice["id"]).json() == advice
    store(client, name, *(memory_log(n, executors=2 + n, heap="12g", overhead="1664m", peak=4 * GIB) for n in (1, 2, 3)))
    after = ask(client, name)
    assert after["verdict"] == "met"
    if basis == "out_of_memory":
        assert after["memory"]["executor_memory_bytes"] == 12 * GIB, "not back to what failed"
    else:
        assert after["memory"]["overhead_bytes"] == 1664 * MIB


def test_memory_within_the_cluster(client, name):
    store(client, name, *(memory_log(n, executors=2 + n, peak=4 * GIB, error="Command exited with code 52" if n == 2 else None) for n in range(3)))
    cluster = "memory-" + name
    client.request("PUT", "/v1/clusters/" + cluster, 201, json={"executors": 8, "cores_per_executor": 2, "memory_bytes_per_executor": 10 * GIB})
    advice = ask(client, name, constraints={"cluster": cluster})
    assert advice["memory"]["basis"] == "out_of_memory" and 8 * GIB < advice["memory"]["container_bytes"] <= 10 * GIB
    assert "memory_exceeds_cluster" in [w["code"] for w in advice["warnings"]]


def test_an_application_without_runs(client, name):
    client.request("POST", "/v1/applications", 201, json={"name": name})
    advice = client.post("/v1/advice", {"application": name, "deadline_s": 10, "include": ["memory"]}, 201).json()
    assert advice["verdict"] == "unknown" and advice["problem_size"] is None
    assert advice["memory"] is None and advice["warnings"] == [], "no run has a log"

