"""Diagnosis and advice of every stored event log: causes that can be so, and no two findings that contradict each other."""
import itertools
import math
import re
import uuid

import pytest

MORE = re.compile(r"More (and smaller )?(input )?(partitions|slices)|Smaller input splits")
FEWER = re.compile(r"Fewer (input )?(partitions|slices)|Compacting the input")
KEYS, NO_KEYS = re.compile(r"salted key|spread its keys|read(s|ing)? [\d.e+]+ MiB, where"), re.compile("reads no more than others")
HELP, NO_HELP = re.compile("[Mm]ore executors (help|cut|shorten|divide)"), re.compile("[Mm]ore executors (alone )?do not|executors do not shorten")
OPPOSITES = [(MORE, FEWER), (KEYS, NO_KEYS), (HELP, NO_HELP)]
pytestmark = pytest.mark.every_log


@pytest.fixture(scope="module")
def team(service):
    return service.client(service.token("logs-" + uuid.uuid4().hex[:8]))


@pytest.fixture(scope="module")
def known(team, shared):
    """Of every log of one file: its run with stages, its diagnosis, its advice if there is one."""
    found = {}
    folder = shared / "data" / "spark-eventlogs"
    logs = sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix != ".tsv" and not p.name.startswith(("events_", "appstatus_")))
    logs += sorted(p for p in (shared / "cases").rglob("eventlog*") if p.is_file())
    for log in logs:
        name = re.sub("[^a-z0-9]+", "-", str(log.relative_to(shared)).lower()).strip("-")[-60:].strip("-")
        sent = team.request("POST", "/v1/applications/%s/eventlogs" % name, {200, 201, 409, 422}, data=log.read_bytes(),
                            headers={"Content-Type": "application/octet-stream"})
        if sent.status_code not in (200, 201):
            continue
        run = team.get("/v1/applications/%s/runs/%s?include=stages" % (name, sent.json()["id"])).json()
        advice = team.request("POST", "/v1/advice?dry_run=true", {200, 404, 409, 422}, json={"application": name, "deadline_s": 100})
        found[name] = (run, team.get("/v1/applications/%s/diagnosis?run_id=%s" % (name, run["id"])).json(),
                       advice.json() if advice.status_code == 200 else None)
    assert len(found) >= 30
    return found


def bottlenecks(known):
    for name, (run, diagnosis, _) in known.items():
        for item in (diagnosis["bottlenecks"] or {"items": []})["items"]:
            yield name, run, item


def test_inputs_do_not_obey_shuffle_partitions(known):
    """A stage without parents obeys splits of files or slices; one that reads from storage obeys splits."""
    seen = 0
    for name, run, item in bottlenecks(known):
        stage = next((s for s in run["stages"] if s["id"] == item["stage_id"]), None)
        if stage is None or item["kind"] not in ("too_few_tasks", "small_partitions"):
            continue
        shuffled, stored = stage["shuffle_read_bytes"] or 0, stage["input_bytes"] or 0
        if stage["parents"] and shuffled >= stored:
            assert "maxPartitionBytes" not in item["cure"], (name, item)
            continue
        if shuffled == 0 or stored > shuffled:
            seen += 1
            assert "spark.sql.shuffle.partitions" not in item["cure"], (name, item)
            if stored == 0 and item["finding"]["evidence"]["tasks"] == 1:
                assert "one by design" in item["cure"], (name, item)
                continue
            assert ("spark.sql.files.maxPartitionBytes" if stored > 0 else "spark.default.parallelism") in item["cure"], (name, item)
    assert seen >= 10


def test_spills_are_explained_by_the_memory_of_a_task(known):
    """The memory that the log shows for blocks and tasks, among the slots of an executor, and what the tasks spilled out of it."""
    seen = 0
    for name, run, item in bottlenecks(known):
        if item["kind"] != "spill" or not run["storage_memory_bytes"]:
            continue
        seen += 1
        stage = next(s for s in run["stages"] if s["id"] == item["stage_id"])
        evidence, memory = item["finding"]["evidence"], run["storage_memory_bytes"] / run["cores_per_executor"]
        needed = memory + stage["memory_spilled_bytes"] / stage["tasks"]
        tasks = math.ceil(stage["tasks"] * needed / memory)
        assert evidence["memory_bytes_per_task"] == pytest.approx(memory), name
        assert evidence["needed_bytes_per_task"] == pytest.approx(needed) and evidence["tasks_needed"] == tasks, name
        assert "about %.1f MiB, but has %.1f MiB of memory" % (needed / 2**20, memory / 2**20) in item["finding"]["message"]
        assert "in %d tasks instead of %d" % (tasks, stage["tasks"]) in item["cure"] and "%.3g times as much memory" % (needed / memory) in item["cure"]
        key = "spark.sql.shuffle.partitions" if stage["shuffle_read_bytes"] > stage["input_bytes"] else "spark.sql.files.maxPartitionBytes"
        assert key in item["cure"], name
    assert seen >= 1


def test_causes_of_one_stage_do_not_contradict_each_other(known):
    pairs = 0
    for name, (run, diagnosis, advice) in known.items():
        said = [(i["stage_id"], i["finding"]["message"] + " " + i["cure"]) for i in (diagnosis["bottlenecks"] or {"items": []})["items"]]
        for reason in (advice or {"reasons": []})["reasons"]:
            if reason["code"] in ("bound", "bottleneck") and "stage_id" in reason["evidence"]:
                said.append((reason["evidence"]["stage_id"], reason["message"]))
        for (a, one), (b, other) in itertools.combinations(said, 2):
            if a != b or a is None:
                continue
            pairs += 1
            for yes, no in OPPOSITES:
                assert not (yes.search(one) and no.search(other)) and not (no.search(one) and yes.search(other)), (name, one, other)
        for _, one in said:
            assert not (MORE.search(one) and FEWER.search(one)) and not (KEYS.search(one) and NO_KEYS.search(one)), (name, one)
    assert pairs >= 20


def test_a_long_task_that_bounds_the_job_is_of_a_named_stage(known):
    """What cures it is for the bottlenecks to say, which know what the task read."""
    kinds = {}
    for name, (run, _, advice) in known.items():
        for reason in (advice or {"reasons": []})["reasons"]:
            if reason["code"] != "bound":
                continue
            kind, stage = reason["evidence"]["bound_by"], reason["evidence"].get("stage_id")
            kinds[kind] = kinds.get(kind, 0) + 1
            assert (stage is not None) == (kind in ("straggler", "stage_cut_to_cores")), (name, reason)
            assert not re.search("keys|split it|cut it", reason["message"])
            if stage is not None:
                of = next(s for s in run["stages"] if s["id"] == stage)
                assert " of stage %d" % stage in reason["message"] and not of["skipped"]
    assert sum(kinds.values()) >= 15 and len(kinds) >= 2, kinds


def test_whoever_is_sent_to_a_machine_can_find_it(known):
    sent = 0
    for name, run, item in bottlenecks(known):
        if "machine" not in item["cure"] or not run.get("nodes"):
            continue
        sent += 1
        hidden = any((node["name"] or "host:").startswith("host:") for node in run["nodes"])
        assert hidden == ("eventlog_host_names=keep" in item["cure"]), (name, item["cure"])
    assert sent >= 1
