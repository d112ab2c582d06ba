"""Where the time of a run went, by stage, and what cures it: in the diagnosis, and in advice."""
import json

import pytest

from test_memory import MIB, memory_log, store


def log_with(n, longest=None, executors=4, longest_bytes=128 * MIB, **more):
    """memory_log whose first task takes longer, or reads more."""
    lines = [json.loads(line) for line in memory_log(n, executors=executors, **more).decode().splitlines()]
    first = next(line for line in lines if line["Event"] == "SparkListenerTaskEnd")
    if longest:
        later = longest * 1000 - 2000
        first["Task Info"]["Finish Time"] += later
        first["Task Metrics"]["Input Metrics"]["Bytes Read"] = longest_bytes
        for line in lines[lines.index(first) + 1:]:
            info, stage = line.get("Task Info"), line.get("Stage Info", {})
            if line.get("Stage ID") == 1:
                info["Launch Time"] += later
                info["Finish Time"] += later
            elif stage.get("Stage ID") == 1:
                stage["Submission Time"] += later
            if "Completion Time" in stage:
                stage["Completion Time"] += later
            for key in ("Timestamp", "Completion Time"):
                if key in line:
                    line[key] += later
    return ("\n".join(json.dumps(line) for line in lines) + "\n").encode()


def bottlenecks(client, name, query=""):
    return client.get("/v1/applications/%s/diagnosis%s" % (name, query)).json()["bottlenecks"]


@pytest.mark.parametrize("longest_bytes, kind, properties", [(128 * MIB, "straggler", {"spark.speculation": "true"}), (900 * MIB, "skew", {})])
def test_a_long_task_of_the_last_run(client, name, longest_bytes, kind, properties):
    store(client, name, *(log_with(n, longest=30, executors=2 + n, longest_bytes=longest_bytes) for n in range(3)))
    found = bottlenecks(client, name)
    item = found["items"][0]
    assert (item["kind"], item["stage_id"], item["more_executors_help"], item["properties"]) == (kind, 0, False, properties)
    assert 20 < item["lost_s"] <= 30 and item["lost_percent"] == pytest.approx(100 * item["lost_s"] / found["duration_s"])
    assert item["finding"]["evidence"]["longest_task_s"] == 30 and "More executors do not cure this" in item["cure"]
    advice = client.post("/v1/advice?dry_run=true", {"application": name, "deadline_s": 60, "apply": ["speculation"]}, 200).json()
    reason = next(r for r in advice["reasons"] if r["code"] == "bottleneck")
    assert reason["evidence"]["kind"] == kind and reason["evidence"]["stage_id"] == 0 and item["cure"] in reason["message"]
    changes = {c["key"]: c for c in advice["spark"]["changes"]}
    assert ("spark.speculation" in changes) == (kind == "straggler")
    if kind == "straggler":
        assert changes["spark.speculation"]["new"] == "true" and "stage 0" in changes["spark.speculation"]["reason"]
        kept = client.post("/v1/advice?dry_run=true", {"application": name, "deadline_s": 60, "apply": ["speculation"],
                                                       "constraints": {"exclude": ["spark.speculation"]}}, 200).json()
        assert "spark.speculation" not in kept["spark"]["properties"]
        usual = client.post("/v1/advice?dry_run=true", {"application": name, "deadline_s": 60}, 200).json()["spark"]
        assert "spark.speculation" not in usual["properties"] and "spark.speculation" not in {c["key"] for c in usual["changes"]}
        proposal = next(p for p in usual["proposals"] if p["key"] == "spark.speculation")
        assert (proposal["kind"], proposal["new"]) == ("speculation", "true") and "stage 0" in proposal["reason"]


def test_input_in_too_few_tasks_is_split_for_the_cores_advised(client, name):
    store(client, name, *(memory_log(n, executors=4 + n, tasks=2) for n in range(3)))
    item = next(i for i in bottlenecks(client, name)["items"] if i["kind"] == "too_few_tasks")
    assert item["stage_id"] == 0 and item["finding"]["evidence"]["tasks"] == 2 and item["finding"]["evidence"]["cores"] == 12
    assert item["properties"] == {"spark.sql.files.maxPartitionBytes": "21m"}


def test_the_run_asked_for(client, name):
    store(client, name, log_with(0, longest=30), memory_log(1))
    runs = client.get("/v1/applications/%s/runs" % name).json()["items"]
    latest, first = bottlenecks(client, name), bottlenecks(client, name, "?run_id=" + runs[1]["id"])
    assert latest["run_id"] == runs[0]["id"] and "straggler" not in [i["kind"] for i in latest["items"]]
    assert first["run_id"] == runs[1]["id"] and first["items"][0]["kind"] == "straggler"
    path = "/v1/applications/%s/diagnosis?run_id=" % name
    client.refuse("GET", path + "none", 422, parameter="run_id")
    client.refuse("GET", path + "00000000-0000-7000-8000-000000000000", 422, parameter="run_id")


def test_runs_without_stages_have_none(client, name):
    client.post("/v1/applications/%s/runs" % name, {"problem_size": 4, "executors": 2, "cores_per_executor": 2, "duration_s": 10}, status=201)
    assert bottlenecks(client, name) is None
