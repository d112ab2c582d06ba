"""Conversations about each kind of bottleneck: a run that has it, what the diagnosis says with every number worked out again, and what
advice makes of it."""
import json

import pytest

MIB = 1 << 20
EXECUTORS, CORES = 4, 2
SLOTS = EXECUTORS * CORES
BEFORE_S, AFTER_S = 1.0, 0.0


def stage(tasks, **more):
    """Tasks in rounds on all cores, each as long as its longest."""
    rounds = [tasks[i:i + SLOTS] for i in range(0, len(tasks), SLOTS)]
    return dict({"id": 7, "name": "count at Main.scala:12", "parents": [], "task_durations_s": tasks,
                 "duration_s": sum(max(r) for r in rounds), "started_s": BEFORE_S}, **more)


def idle(of):
    return 1 - sum(of["task_durations_s"]) / (SLOTS * of["duration_s"])


EVEN = [10.0] * (4 * SLOTS)
LONG = [10.0] * (2 * SLOTS - 1) + [40.0]
SMALL = [0.1] * (100 * SLOTS - 4)
STORED = {"input_bytes": len(EVEN) * 64 * MIB}
TIMES = {"executor_run_time_s": 320.0, "executor_cpu_time_s": 320.0, "gc_time_s": 0.0}

# kind, the stage, members of the run, seconds lost, evidence, more executors help, words of the cure, properties
CASES = [
    ("too_few_tasks", stage([30.0] * 2, input_bytes=2 * 1024 * MIB), {}, lambda s: s["duration_s"] * idle(s),
     {"tasks": 2, "cores": SLOTS, "bytes_per_task": 1024 * MIB}, False, "Smaller input splits", ["spark.sql.files.maxPartitionBytes"]),
    ("skew", stage(LONG, shuffle_read_bytes=16 * 8 * MIB, longest_task_bytes=100 * MIB), {},
     lambda s: min(s["duration_s"] * idle(s), 30.0), {"median_task_s": 10, "longest_task_s": 40, "longest_task_bytes": 100 * MIB}, False, "salted key", []),
    ("straggler", stage(LONG, input_bytes=16 * 64 * MIB, longest_task_bytes=64 * MIB), {},
     lambda s: min(s["duration_s"] * idle(s), 30.0), {"median_task_s": 10, "longest_task_s": 40}, False, "Speculative copies", ["spark.speculation"]),
    ("uneven_tasks", stage(LONG), {}, lambda s: min(s["duration_s"] * idle(s), 30.0), {"median_task_s": 10, "longest_task_s": 40}, False, "slow machine", []),
    ("small_partitions", stage(SMALL, duration_s=15.0, shuffle_read_bytes=len(SMALL) * MIB), {}, lambda s: 15.0 * idle(s),
     {"tasks": len(SMALL), "median_task_s": 0.1}, False, "Fewer partitions", []),
    ("large_partitions", stage([50.0] * SLOTS + [50.0], shuffle_read_bytes=9 * 600 * MIB), {}, lambda s: s["duration_s"] * idle(s),
     {"bytes_per_task": 600 * MIB}, True, "More and smaller partitions", []),
    ("spill", stage(EVEN, shuffle_read_bytes=3000 * MIB, disk_spilled_bytes=1000 * MIB), {}, lambda s: s["duration_s"] * 0.25,
     {"disk_spilled_bytes": 1000 * MIB, "time_share": 0.25}, False, "more memory a core", []),
    ("garbage_collection", stage(EVEN, **dict(TIMES, gc_time_s=96.0)), {}, lambda s: s["duration_s"] * 0.3, {"time_share": 0.3}, False, "More heap", []),
    ("storage_bound", stage(EVEN, **STORED, **dict(TIMES, executor_cpu_time_s=80.0)), {}, lambda s: s["duration_s"] * 0.75, {"time_share": 0.75}, False,
     "columnar format", []),
    ("small_files", stage(EVEN, input_bytes=len(EVEN) * MIB, **dict(TIMES, executor_cpu_time_s=80.0)), {}, lambda s: s["duration_s"] * 0.75,
     {"tasks": len(EVEN), "bytes_per_task": MIB, "time_share": 0.75}, False, "Compacting the input", []),
    ("driver", stage(EVEN), {"duration_s": 61.0, "stage_time_s": 40.0}, lambda s: 61.0 - BEFORE_S - 40.0, {}, False, "Collect less on the driver", []),
    ("startup", stage(EVEN, started_s=12.0), {"duration_s": 52.0, "initialization_s": 12.0, "executor_startup_s": 9.0}, lambda s: 12.0,
     {"executor_startup_s": 9}, False, "Executors that are kept warm", []),
    ("cached_blocks", stage(EVEN), {"cached_blocks_dropped": 12}, lambda s: None, {"blocks": 12}, True, "More memory for executors", []),
]


@pytest.mark.parametrize("kind, of, members, lost_s, evidence, help_, cure, properties", CASES, ids=[c[0] for c in CASES])
def test_a_bottleneck_its_cure_and_what_advice_makes_of_it(client, name, kind, of, members, lost_s, evidence, help_, cure, properties):
    run = dict({"problem_size": 32, "executors": EXECUTORS, "cores_per_executor": CORES, "initialization_s": BEFORE_S,
                "duration_s": BEFORE_S + of["duration_s"] + AFTER_S, "stages": [of]},
               **{k: v for k, v in members.items() if k in ("duration_s", "initialization_s")})
    client.post("/v1/applications/%s/runs" % (name + "-sent"), run, 201)
    record = json.loads(client.get("/v1/applications/%s-sent/runs/export" % name).text)
    record.update(members)  # what logs alone measure comes by an import
    client.request("POST", "/v1/applications/%s/runs/import" % name, {200, 201}, data=json.dumps(record) + "\n",
                   headers={"Content-Type": "application/x-ndjson"})

    found = client.get("/v1/applications/%s/diagnosis" % name).json()["bottlenecks"]
    assert [i["kind"] for i in found["items"]] == [kind], "nothing else is found"
    item = found["items"][0]
    want = lost_s(of)
    if want is None:
        assert item["lost_s"] is None and item["lost_percent"] is None
    else:
        assert item["lost_s"] == pytest.approx(want) and item["lost_percent"] == pytest.approx(100 * want / run["duration_s"])
    whole = kind in ("driver", "startup", "cached_blocks")
    assert item["stage_id"] == (None if whole else 7) and item["finding"]["code"] == kind
    assert whole or item["finding"]["message"].find("tage 7 (count at Main.scala:12)") >= 0
    for key, value in evidence.items():
        assert item["finding"]["evidence"][key] == pytest.approx(value), key
    assert item["more_executors_help"] is help_ and cure in item["cure"]
    assert help_ or "ore executors" in item["cure"], "it says that more executors do not cure it, or how far they help"
    assert sorted(item["properties"]) == properties

    advice = client.post("/v1/advice?dry_run=true", {"application": name, "problem_size": 32, "constraints": {"min_executors": EXECUTORS}, "apply": ["speculation", "partitions"]}, 200).json()
    assert advice["verdict"] == "met"
    reason = next(r for r in advice["reasons"] if r["code"] == "bottleneck")
    assert reason["evidence"]["kind"] == kind and reason["evidence"].get("stage_id") == (None if whole else 7)
    assert item["finding"]["message"] in reason["message"] and item["cure"] in reason["message"]
    assert reason["evidence"].get("lost_s") == pytest.approx(want)
    changes = {c["key"]: c for c in advice["spark"]["changes"]}
    for key in properties:
        assert changes[key]["new"] == advice["spark"]["properties"][key] and "stage 7" in changes[key]["reason"]
