"""Slow nodes, slow tasks and what copies of them would bring: of runs posted by hand, read from logs, exported and old."""
import gzip
import json
import random

import pytest

from test_jobhistory import job_history, upload

MIB = 1 << 20
NODES = ["n1", "n2", "n3", "n4"]


def stage(number, rng, slow=None, factor=2.0, tasks=24, base=10.0, more=None, nodes=NODES, noise=0.05):
    """Tasks in turn on the nodes, with noise; those of `slow` take `factor` times as long. more: bytes and
    seconds by task."""
    at = [i % len(nodes) for i in range(tasks)]
    durations = [base * rng.lognormvariate(0, noise) * (factor if nodes[n] == slow else 1) for n in at]
    read = [100 * MIB] * tasks
    for task, (bytes_, seconds) in (more or {}).items():
        read[task], durations[task] = bytes_, seconds
    return {"id": number, "parents": [number - 1] if number else [], "task_durations_s": durations, "task_nodes": at,
            "task_read_bytes": read, "duration_s": max(sum(durations[n::len(nodes)]) for n in range(len(nodes))) / 2, "started_s": 40.0 * number}


def run(seed, slow=None, stages=3, names=NODES, **more):
    rng = random.Random(seed)
    kept = [stage(i, rng, slow, **more) for i in range(stages)]
    return {"problem_size": 10, "executors": 4, "cores_per_executor": 2, "duration_s": 200, "stages": kept,
            "started_at": "2026-01-%02dT00:00:00Z" % (seed + 1),
            "nodes": [{"name": name, "cores": 2} for name in names]}


def store(client, name, *runs):
    return [client.post("/v1/applications/%s/runs" % name, body, 201).json()["id"] for body in runs]


def stragglers(client, name, query=""):
    return client.get("/v1/applications/%s/stragglers%s" % (name, query)).json()


def codes(findings):
    return [f["code"] for f in findings]


def test_a_slow_node_is_found_with_its_factor_and_since_when(client, name):
    store(client, name, run(0), run(1, "n3"), run(2, "n3"))
    found = stragglers(client, name)
    slow = found["nodes"][0]
    assert (slow["name"], slow["verdict"], slow["cores"], slow["node_index"]) == ("n3", "straggler", 2, 2)
    assert slow["interval"][0] < 2 * 0.9 < slow["interval"][1] and slow["interval"][0] > 1, "a third of the stages has it at speed"
    assert (slow["runs"], slow["slow_runs"], slow["slow_since_at"]) == (3, 2, "2026-01-02T00:00:00Z")
    assert "n3" in slow["reason"] and "2 of 3 runs" in slow["reason"]
    assert [n["verdict"] for n in found["nodes"][1:]] == ["normal"] * 3
    assert found["runs_examined"] == 3 and found["warnings"] == []
    advice = {a["finding"]["code"]: a["properties"] for a in found["advice"]}
    assert advice["slow_nodes"] == {"spark.yarn.exclude.nodes": "n3"}
    one = stragglers(client, name, "?runs=1")["nodes"][0]
    assert one["slowdown"] == pytest.approx(2, rel=0.1) and one["runs"] == 1
    for task in found["stages"][0]["slowest"]:
        assert task["node_name"] == "n3" and task["extra_by_read_s"] == 0
        assert sum(task["extra_" + part] for part in ("by_read_s", "by_node_s", "unexplained_s")) == pytest.approx(task["extra_s"])


def test_what_tasks_read_is_not_blamed_on_the_node(client, name):
    """All of a node's tasks read and take twice as much: time in proportion to bytes is no slow node."""
    skewed = {i: (200 * MIB, 20.0 + i / 100) for i in range(2, 24, 4)}
    store(client, name, *(run(seed, more=skewed) for seed in range(3)))
    found = stragglers(client, name)
    assert {n["verdict"] for n in found["nodes"]} == {"normal"}
    assert all(n["interval"][0] < 1.05 for n in found["nodes"])
    slow = found["stages"][0]
    assert slow["slow_tasks"] > 0 and slow["extra_by_read_s"] == pytest.approx(slow["extra_s"], rel=0.1)
    assert "skew" in codes(a["finding"] for a in found["advice"])


def test_copies_help_against_chance_and_not_against_bytes(client, name):
    """One task of the last run takes ten times as long: a copy ends it early if nothing else holds it up. If it read ten
    times as much, a copy takes as long."""
    store(client, name, run(0, more={0: (100 * MIB, 100.0)}, stages=1))
    by_chance = stragglers(client, name)
    spark = by_chance["speculation"]["rules"][0]
    assert spark["rule"] == "spark" and spark["optimistic"]["useful_copies"] == 1 and spark["optimistic"]["saved_s"] > 5
    assert spark["pessimistic"]["useful_copies"] == 0 and spark["pessimistic"]["saved_s"] == pytest.approx(0, abs=1e-6)
    assert spark["pessimistic"]["wasted_s"] > 0
    advice = next(a for a in by_chance["advice"] if a["finding"]["code"] == "speculation_may_pay")
    assert advice["properties"] == {"spark.speculation": "true"}
    store(client, name, run(1, more={0: (1000 * MIB, 100.0)}, stages=1))
    by_bytes = stragglers(client, name, "?runs=1")
    assert all(rule["optimistic"]["saved_s"] == pytest.approx(0, abs=1e-6) for rule in by_bytes["speculation"]["rules"])
    assert "speculation_does_not_pay" in codes(a["finding"] for a in by_bytes["advice"])
    assert by_bytes["stages"][0]["without_slow_tasks_s"] < by_bytes["stages"][0]["duration_s"]


def test_stages_at_the_same_time(client, name):
    """A long task that waits behind another stage would have ended sooner with the cores divided in another way."""
    body = run(0, stages=2)
    body["stages"][1] = {"id": 1, "task_durations_s": [10, 10, 10, 60], "started_s": 0.5, "duration_s": 90}
    store(client, name, body)
    found = stragglers(client, name)
    (group,) = found["concurrent_stages"]
    assert group["stage_ids"] == [0, 1] and group["slots"] == 8 and group["rule_of_run"] == "fifo"
    by_rule = {d["rule"]: d["makespan_s"] for d in group["divisions"]}
    assert group["replayed_s"] == by_rule["fifo"] and group["saved_s"] > 15
    assert group["saved_s"] == pytest.approx(by_rule["fifo"] - by_rule[group["best_rule"]])
    assert by_rule[group["best_rule"]] == min(by_rule.values())
    assert "concurrent_stages" in codes(a["finding"] for a in found["advice"])


def test_one_run_too_few_is_no_verdict(client, name):
    """Two tasks on every node cannot say which is slow, ten runs of them can."""
    few = [run(seed, "n2", stages=1, tasks=8, factor=1.6, noise=0.2) for seed in range(10)]
    ids = store(client, name, *few)
    one = stragglers(client, name, "?run_id=" + ids[0])
    assert next(n for n in one["nodes"] if n["name"] == "n2")["verdict"] == "too_few_tasks"
    assert "too_few_tasks" in codes(one["warnings"])
    all_ = stragglers(client, name, "?runs=10")
    assert [n["name"] for n in all_["nodes"] if n["verdict"] == "straggler"] == ["n2"]


def test_what_is_missing_is_named(client, name):
    empty = client.post("/v1/applications", {"name": name}, 201).json()
    assert empty["name"] == name
    found = stragglers(client, name)
    assert found["run_id"] is None and codes(found["warnings"]) == ["no_runs"] and found["speculation"] is None
    plain = dict(run(0), nodes=[], stages=[{"id": 0, "task_durations_s": [1.0] * 7 + [9.0], "duration_s": 9.0}])
    store(client, name, {"problem_size": 1, "executors": 1, "cores_per_executor": 1, "duration_s": 9}, plain)
    found = stragglers(client, name)
    assert codes(found["warnings"]) == ["no_node_figures", "runs_without_stages"] and found["nodes"] == []
    assert found["stages"][0]["slow_tasks"] == 1 and found["stages"][0]["slowest"][0]["node_index"] is None
    unnamed = run(1, "n1")
    unnamed["nodes"] = [{"name": None, "cores": None}] * 4
    store(client, name, unnamed, dict(unnamed, started_at="2026-01-05T00:00:00Z"))
    found = stragglers(client, name)
    assert {"nodes_unnamed", "node_cores_unknown"} <= set(codes(found["warnings"])) and found["speculation"] is None
    assert found["nodes"][0]["name"] is None and found["nodes"][0]["node_index"] == 0 and found["nodes"][0]["runs"] == 1
    (alone,) = store(client, name, run(7, nodes=["n1"], names=["n1"]))
    assert "single_node" in codes(stragglers(client, name, "?run_id=" + alone)["warnings"])


@pytest.mark.parametrize("query, parameter, code", [
    ("?runs=0", "runs", "out_of_range"), ("?runs=21", "runs", "out_of_range"), ("?runs=x", "runs", None),
    ("?run_id=7", "run_id", "invalid_uuid"), ("?run_id=00000000-0000-7000-8000-000000000000", "run_id", "not_found"),
    ("?runs=2&run_id=00000000-0000-7000-8000-000000000000", "runs", "conflict")])
def test_parameters_at_fault(client, name, query, parameter, code):
    store(client, name, run(0))
    (error,) = client.get("/v1/applications/%s/stragglers%s" % (name, query), 422).json()["errors"]
    assert error["parameter"] == parameter and code in (None, error["code"])


@pytest.mark.parametrize("change, pointer, code", [
    (lambda r: r["nodes"].pop(), "/stages/0/task_nodes/3", "out_of_range"),
    (lambda r: r.pop("nodes"), "/stages/0/task_nodes", "conflict"),
    (lambda r: r["nodes"][1].update(name="n1"), "/nodes/1/name", "duplicate"),
    (lambda r: r["nodes"][1].update(cores=-1), "/nodes/1/cores", "out_of_range"),
    (lambda r: r["nodes"][1].update(rack="r"), "/nodes/1/rack", "unknown_field"),
    (lambda r: r["stages"][0]["task_nodes"].pop(), "/stages/0/task_nodes", "conflict"),
    (lambda r: r["stages"][0]["task_read_bytes"].append(1), "/stages/0/task_read_bytes", "conflict"),
    (lambda r: r["stages"][0]["task_nodes"].__setitem__(0, "n1"), "/stages/0/task_nodes/0", "wrong_type"),
    (lambda r: r["stages"][0].pop("task_durations_s"), "/stages/0/task_nodes", "conflict")])
def test_faults_of_nodes_of_a_run(client, name, change, pointer, code):
    body = run(0, stages=1)
    change(body)
    errors = client.post("/v1/applications/%s/runs" % name, body, 422).json()["errors"]
    assert (pointer, code) in [(e["pointer"], e["code"]) for e in errors]


def test_nodes_of_a_run_go_round(client, name):
    """Posted, read, exported, imported, exported: the same; without stages they are not in a reply."""
    body = run(0, stages=2)
    body["nodes"][1]["name"] = None
    body["nodes"][2]["cores"] = None
    body["stages"][0]["task_nodes"][5] = None
    body["stages"][1]["task_read_bytes"] = [None] * 24
    (id_,) = store(client, name, body)
    assert "nodes" not in client.get("/v1/runs/%s" % id_).json()
    read = client.get("/v1/runs/%s?include=tasks" % id_).json()
    assert read["nodes"] == body["nodes"]
    assert read["stages"][0]["task_nodes"] == body["stages"][0]["task_nodes"]
    assert read["stages"][0]["task_read_bytes"] == body["stages"][0]["task_read_bytes"]
    assert "task_read_bytes" not in read["stages"][1] and read["stages"][1]["task_nodes"] == body["stages"][1]["task_nodes"]
    assert "task_nodes" not in client.get("/v1/runs/%s?include=stages" % id_).json()["stages"][0]
    exported = client.get("/v1/applications/%s/runs/export" % name).text
    other = name + "-copy"
    client.request("POST", "/v1/applications/%s/runs/import" % other, 201, data=exported.encode(),
                   headers={"Content-Type": "application/x-ndjson"})
    again = client.get("/v1/applications/%s/runs/export" % other).text
    without = [{k: v for k, v in json.loads(text).items() if k not in ("id", "recorded_at")} for text in (exported, again)]
    assert without[0] == without[1]
    assert stragglers(client, other)["nodes"] == stragglers(client, name)["nodes"]


def test_a_history_of_mapreduce_says_where_attempts_ran(client, name):
    """Four hosts in turn; one takes three times as long."""
    maps = tuple((9.0 if i % 4 == 2 else 3.0) + i / 100 for i in range(24))
    hosts = ["h%d.example.org" % (i % 4) for i in range(26)]
    upload(client, name, gzip.compress(job_history(maps=maps, reduces=(2.0, 2.1), hosts=hosts)))
    found = stragglers(client, name)
    slow = found["nodes"][0]
    assert slow["verdict"] == "straggler" and slow["slowdown"] == pytest.approx(3, rel=0.05) and slow["cores"] == 6
    assert slow["name"].startswith("host:") and len(slow["name"]) == 21, "by default names of hosts are hashed"
    assert found["advice"][0]["properties"] == {}, "which no resource manager knows"
    assert found["speculation"]["replay_error_percent"] == pytest.approx(0, abs=1)


@pytest.mark.parametrize("policy, wanted", [("keep", "h0.example.org"), ("drop", None)])
def test_names_of_nodes_follow_the_policy_for_host_names(make_service, policy, wanted):
    service = make_service(PROVISOR_EVENTLOG_HOST_NAMES=policy)
    service.start()
    client = service.client(service.token("alpha"))
    upload(client, "job", job_history(maps=(1.0, 2.0), hosts=["h0.example.org", "h1.example.org", "h0.example.org"]))
    (run_,) = client.get("/v1/applications/job/runs?include=tasks").json()["items"]
    assert [n["cores"] for n in run_["nodes"]] == [1, 1] and run_["nodes"][0]["name"] == wanted
    assert run_["stages"][0]["task_nodes"] == [0, 1]


def test_a_log_of_many_hosts(client, name, shared):
    """A log from a cluster: every task has its node, the nodes have the executors' cores, and the replay of stages without
    copies is near what was measured."""
    log = shared / "data" / "spark-eventlogs" / "rapids" / "profiling" / "tasks_executors_fail_compressed_eventlog.zstd"
    id_ = upload(client, name, log.read_bytes()).json()["id"]
    read = client.get("/v1/runs/%s?include=tasks" % id_).json()
    tasks = [n for s in read["stages"] for n in s.get("task_nodes", [])]
    assert len(tasks) == read["tasks_succeeded"] and set(tasks) <= set(range(len(read["nodes"])))
    assert len(read["nodes"]) > 2 and all(n["cores"] >= 4 for n in read["nodes"])
    found = stragglers(client, name, "?run_id=" + id_)
    assert len(found["nodes"]) == len(read["nodes"]) and found["speculation"]["stages_replayed"] > 100


@pytest.mark.parametrize("limit", ["STEPS", "LOOKS"])
def test_replays_have_limits(make_service, limit):
    """Tasks x (nodes + tasks at a time) of the last run, and what decisions on copies look at."""
    service = make_service(**{"PROVISOR_STRAGGLER_REPLAY_%s_MAX" % limit: 50})
    client = service.start().client(service.token("alpha"))
    store(client, "limited", run(0), run(1), run(2))
    found = stragglers(client, "limited")
    [warning] = found["warnings"]
    assert warning["code"] == "too_many_tasks" and "straggler_replay_%s_max" % limit.lower() in warning["message"]
    assert found["speculation"] is None and all(s["replayed_s"] is None for s in found["stages"])
    assert len(found["nodes"]) == 4
