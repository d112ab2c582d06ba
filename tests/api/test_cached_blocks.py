"""Cached data that the executors cannot hold: what the diagnosis and advice say about a log whose truth is known."""
import json

import pytest

from test_as_recorded import ALWAYS, bound_of, log_of, send, simulate

MIB = 1 << 20
CORES, BLOCKS, BLOCK = 2, 60, 100 * MIB
HELD = 10 * BLOCK  # by an executor
COMPUTED_S, READ_S, MISSED_S, READERS = 4.0, 1.0, 5.0, 3


def stages_on(executors):
    """Stage 0 computes the blocks. Each later stage reads them; as many tasks as there are blocks without room compute theirs again."""
    missing = max(0, BLOCKS - executors * HELD // BLOCK)
    reading = [MISSED_S if i * missing // BLOCKS != (i + 1) * missing // BLOCKS else READ_S for i in range(BLOCKS)]
    return [[COMPUTED_S] * BLOCKS] + [reading] * READERS


def cached_log(name, executors, peak):
    """The log of such a job, with what Spark logs of its cached RDD and of the memory of its executors."""
    spans = [(0.0, ALWAYS)] * executors
    happened, end_s = simulate(spans, stages_on(executors), CORES, 5.0)
    lines = [json.loads(line) for line in log_of(name, spans, happened, end_s + 1.0, CORES, {}).decode().splitlines()]
    cached = {"RDD ID": 1, "Name": "points", "Storage Level": {"Use Disk": False, "Use Memory": True, "Deserialized": True, "Replication": 1}}
    for line in lines:
        if "Stage Info" in line:
            line["Stage Info"]["RDD Info"] = [dict(cached, **{"Number of Partitions": BLOCKS, "Number of Cached Partitions": 0})]
        if line["Event"] == "SparkListenerTaskEnd":
            line["Task Executor Metrics"] = {"OnHeapStorageMemory": peak}
    added = [{"Event": "SparkListenerBlockManagerAdded", "Block Manager ID": {"Executor ID": str(e), "Host": "h", "Port": 7000 + e},
              "Maximum Memory": HELD, "Maximum Onheap Memory": HELD, "Maximum Offheap Memory": 0, "Timestamp": 1700000000000} for e in range(executors)]
    lines[3:3] = added
    return ("\n".join(json.dumps(line) for line in lines) + "\n").encode(), end_s + 1.0


def ask(client, name, executors):
    return client.post("/v1/advice?dry_run=true", {"application": name, "constraints": {"min_executors": executors, "max_executors": executors}}, 200).json()


def test_misses_are_explained_and_more_executors_hold_all(client, name):
    log, duration_s = cached_log(name, 4, HELD - MIB)
    run = send(client, name, log)
    assert run["duration_s"] == pytest.approx(duration_s) and run["storage_memory_bytes"] == HELD
    found = client.get("/v1/applications/%s/diagnosis" % name).json()["bottlenecks"]
    misses = {item["stage_id"]: item for item in found["items"] if item["kind"] == "cached_blocks"}
    assert sorted(misses) == [1, 2, 3] and not any(i["kind"] in ("skew", "straggler", "uneven_tasks") for i in found["items"])
    for item in misses.values():
        message, evidence = item["finding"]["message"], item["finding"]["evidence"]
        assert "reads data that stage 0 cached. 33.3 % of its 60 tasks did not find their block in memory and took 4 s longer each" in message
        assert "The data take about 5.9 GiB, and 4 executors hold at most 3.9 GiB." in message
        assert item["cure"].startswith("6 executors hold all of the data, and so do 4 executors with 1.5 GiB of storage memory each.")
        assert evidence["missed_share"] == pytest.approx(1 / 3) and evidence["executors_needed"] == 6
        assert evidence["cached_bytes"] == pytest.approx(BLOCKS * BLOCK) and evidence["storage_memory_bytes"] == HELD
        assert item["more_executors_help"]
    lost_s = sum(item["lost_s"] for item in misses.values())
    _, held_s = simulate([(0.0, ALWAYS)] * 4, [[COMPUTED_S] * BLOCKS] + [[READ_S] * BLOCKS] * READERS, CORES, 5.0)
    assert lost_s == pytest.approx(duration_s - 1.0 - held_s, rel=0.1), "what the run would not have taken with room for all blocks"

    same = ask(client, name, 4)
    warning = next(w for w in same["warnings"] if w["code"] == "cached_data_exceeds_memory")
    assert warning["evidence"]["share_in_memory"] == pytest.approx(2 / 3) and warning["evidence"]["executors_needed"] == 6
    assert "6 executors hold all of it." in warning["message"]
    assert any(r["code"] == "bottleneck" and "did not find their block" in r["message"] for r in same["reasons"])
    more = ask(client, name, 6)
    assert not any(w["code"].startswith("cached_data") for w in more["warnings"])
    _, six_s = simulate([(0.0, ALWAYS)] * 6, stages_on(6), CORES, 5.0)
    assert more["recommendation"]["predicted_duration_s"] == pytest.approx(six_s + 1.0, rel=0.03)
    assert bound_of(more)["recorded_work_s"] == pytest.approx(sum(map(sum, stages_on(4))))


def test_long_tasks_while_memory_was_free_are_no_misses(client, name):
    log, _ = cached_log(name, 4, HELD // 2)
    send(client, name, log)
    found = client.get("/v1/applications/%s/diagnosis" % name).json()["bottlenecks"]
    assert "cached_blocks" not in [item["kind"] for item in found["items"]]
    assert not any(w["code"] == "cached_data_exceeds_memory" for w in ask(client, name, 4)["warnings"])
