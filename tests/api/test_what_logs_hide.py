"""Logs that are not whole: what the run says of it, and that no answer takes them for whole."""
import io
import json
import random
import tarfile
import uuid

import pytest

from test_kinds_of_runs import session_log

OCTETS = {"Content-Type": "application/octet-stream"}


@pytest.fixture(scope="module")
def team(service):
    return service.client(service.token("hidden-" + uuid.uuid4().hex[:8]))


def send(team, data, name=None, status=201, query=""):
    name = name or "log-" + uuid.uuid4().hex[:8]
    return team.request("POST", "/v1/applications/%s/eventlogs%s" % (name, query), status, data=data, headers=OCTETS).json()


def warnings(run):
    return {w["code"]: w for w in run["warnings"]}


def stages(team, run):
    return team.get("/v1/runs/%s?include=tasks" % run["id"]).json().get("stages") or []


def case_lines(shared, path):
    return (shared / "cases" / path).read_bytes().splitlines(keepends=True)


def kind(line):
    return json.loads(line)["Event"].replace("SparkListener", "")


# --- lost events


def test_lost_ends_are_named_and_the_size_is_estimated(team, shared):
    run = send(team, (shared / "cases/05-dropped-events/eventlog").read_bytes())
    lost = warnings(run)["lost_events"]
    assert lost["evidence"] == {"count": 41, "tasks": 40, "stages": 1, "jobs": 0} and "40 of 108 tasks and 1 stage" in lost["message"]
    assert run["problem_size"] == 100 and run["tasks_succeeded"] == 68 and run["duration_s"] == 78
    assert stages(team, run) == [], "they would be replayed too fast"
    advice = team.post("/v1/advice?dry_run=true", {"application": run["application"], "deadline_s": 40}, 200).json()
    assert advice["verdict"] == "unknown"


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_however_many_are_lost(team, shared, share):
    lines = case_lines(shared, "36-tasks-equal-cores/eventlog-0")
    whole = send(team, b"".join(lines))
    rng = random.Random(5)
    kept = [line for line in lines if kind(line) != "TaskEnd" or rng.random() >= share]
    lost = len(lines) - len(kept)
    run = send(team, b"".join(kept))
    assert "lost_events" not in warnings(whole) and warnings(run)["lost_events"]["evidence"]["tasks"] == lost > 0
    assert run["problem_size"] == whole["problem_size"] and run["duration_s"] == whole["duration_s"]
    assert run["tasks_succeeded"] == whole["tasks_succeeded"] - lost


def test_one_task_of_hundreds_leaves_the_stages(team, shared):
    lines = case_lines(shared, "08-stage-retry/eventlog")
    whole = send(team, b"".join(lines))
    at = next(i for i, line in enumerate(lines) if kind(line) == "TaskEnd")
    run = send(team, b"".join(lines[:at] + lines[at + 1:]))
    assert warnings(run)["lost_events"]["evidence"]["tasks"] == 1 and run["problem_size"] == pytest.approx(whole["problem_size"], rel=1e-3)
    assert len(stages(team, run)) == len(stages(team, whole)) > 1


def test_a_stage_without_its_end_has_no_duration(team, shared):
    """Of a stage that ran twice the end of one attempt is lost: the other says nothing of the whole."""
    lines = case_lines(shared, "08-stage-retry/eventlog")
    ends = [i for i, line in enumerate(lines) if kind(line) == "StageCompleted" and json.loads(line)["Stage Info"]["Stage ID"] == 0]
    whole = send(team, b"".join(lines))
    run = send(team, b"".join(line for i, line in enumerate(lines) if i != ends[0]))
    assert warnings(run)["lost_events"]["evidence"] == {"count": 1, "tasks": 0, "stages": 1, "jobs": 0}
    assert stages(team, whole)[0]["duration_s"] > 50 and stages(team, run)[0]["duration_s"] is None
    assert run["problem_size"] == whole["problem_size"]


def test_a_stage_of_tasks_alone_has_lost_the_others(team, shared):
    lines = case_lines(shared, "36-tasks-equal-cores/eventlog-0")
    whole = send(team, b"".join(lines))
    left = [line for line in lines if kind(line) not in ("StageSubmitted", "StageCompleted")]
    odd = [line for i, line in enumerate(left) if kind(line) != "TaskEnd" or i % 4 == 1]
    run = send(team, b"".join(odd))
    lost = len(left) - len(odd)
    assert lost > 30 and warnings(run)["lost_events"]["evidence"] == {"count": lost + 2, "tasks": lost, "stages": 2, "jobs": 0}
    assert run["problem_size"] == whole["problem_size"]


def test_a_job_without_its_start_is_lost(team, shared):
    lines = [line for line in case_lines(shared, "36-tasks-equal-cores/eventlog-0") if kind(line) != "JobStart"]
    run = send(team, b"".join(lines))
    assert run["jobs"] == 0 and warnings(run)["lost_events"]["evidence"]["jobs"] == 1 and "compacted_log" not in warnings(run)


def test_loss_in_a_log_without_an_end(team, shared):
    """As of Databricks, which logs no end of an application."""
    lines = [line for line in case_lines(shared, "05-dropped-events/eventlog") if kind(line) != "ApplicationEnd"]
    run = send(team, b"".join(lines))
    assert warnings(run)["lost_events"]["evidence"]["tasks"] == 40 and run["problem_size"] == 100


def test_failed_stages_and_retries_have_lost_nothing(team, shared):
    for path in ("08-stage-retry/eventlog", "34-aqe-cancelled-stage/eventlog-0", "23-spot-loss/eventlog"):
        whole = shared / "cases" / path
        if whole.is_file():
            assert not {"lost_events", "doubled_events", "compacted_log"} & set(warnings(send(team, whole.read_bytes()))), path


# --- doubled events


@pytest.mark.parametrize("path", ["36-tasks-equal-cores/eventlog-0", "08-stage-retry/eventlog", "05-dropped-events/eventlog"])
@pytest.mark.parametrize("share", [1, 0.3])
def test_what_is_there_twice_counts_once(team, shared, path, share):
    lines = case_lines(shared, path)
    once = send(team, b"".join(lines))
    rng = random.Random(6)
    ends = ("TaskEnd", "StageCompleted", "JobStart", "JobEnd")
    again = [2 if kind(line) in ends and rng.random() < share else 1 for line in lines]
    twice = send(team, b"".join(line * n for line, n in zip(lines, again)))
    assert warnings(twice)["doubled_events"]["evidence"]["count"] == sum(again) - len(again)
    for figure in ("problem_size", "jobs", "stages_completed", "stages_failed", "tasks_succeeded", "tasks_failed", "task_time_s", "duration_s", "executors"):
        assert twice[figure] == once[figure], figure


@pytest.mark.parametrize("path", ["36-tasks-equal-cores/eventlog-0", "08-stage-retry/eventlog"])
def test_every_line_twice_is_the_log(team, shared, path):
    lines = case_lines(shared, path)
    once, twice = send(team, b"".join(lines)), send(team, b"".join(line * 2 for line in lines))
    assert "doubled_events" in warnings(twice) and "several_applications" not in warnings(twice)
    for figure in ("problem_size", "jobs", "stages_completed", "tasks_succeeded", "tasks_failed", "task_time_s", "duration_s", "executors", "executors_added", "executors_removed"):
        assert twice[figure] == once[figure], figure


def test_a_log_behind_itself_is_the_log(team, shared):
    lines = case_lines(shared, "08-stage-retry/eventlog")
    once, twice = send(team, b"".join(lines)), send(team, b"".join(lines * 2))
    for figure in ("problem_size", "jobs", "stages_completed", "tasks_succeeded", "task_time_s", "duration_s", "executors", "executors_added", "executors_removed", "succeeded"):
        assert twice[figure] == once[figure], figure


def test_without_a_start_a_bad_end_does_not_begin_the_run(team, shared):
    lines = [line for line in case_lines(shared, "06-end-zero/eventlog") if kind(line) != "ApplicationStart"]
    run = send(team, b"".join(lines))
    assert 40 < run["duration_s"] < 50 and run["started_at"].startswith("2025-")


# --- beginnings and ends


def test_a_log_without_a_start_is_a_run_all_the_same(team, shared):
    log = (shared / "cases/03-no-application-start/eventlog").read_bytes()
    run = team.request("POST", "/v1/eventlogs", 201, data=log, headers=OCTETS).json()
    assert run["application"] == "hot-notebook" and run["spark_application_id"] == "app-3" and "no_application_start" in warnings(run)
    assert run["duration_s"] == 45 and run["tasks_succeeded"] == 72


def test_a_start_that_was_dropped_costs_only_the_time_before_the_first_event(team, shared):
    lines = case_lines(shared, "36-tasks-equal-cores/eventlog-0")
    whole = send(team, b"".join(lines))
    run = send(team, b"".join(line for line in lines if kind(line) != "ApplicationStart"))
    assert run["spark_application_id"] == whole["spark_application_id"] and "no_application_start" in warnings(run)
    assert 0.9 * whole["duration_s"] < run["duration_s"] <= whole["duration_s"]


def test_a_later_part_and_what_is_no_log_are_told_apart(team, shared):
    lines = case_lines(shared, "36-tasks-equal-cores/eventlog-0")
    later = [line for line in lines if kind(line) in ("TaskEnd", "StageCompleted", "JobEnd", "ApplicationEnd")]
    for data, words in ((b"".join(later), "Send all parts together"), (b'{"Event":"x"}\n', "not a Spark event log")):
        error = send(team, data, status=422)["errors"][0]
        assert error["code"] == "no_application_start" and words in error["detail"]


@pytest.mark.parametrize("end", [0, -1, 1, "start", "before"])
def test_an_impossible_end_is_a_missing_one(team, shared, end):
    lines = case_lines(shared, "06-end-zero/eventlog")
    start = next(json.loads(line)["Timestamp"] for line in lines if kind(line) == "ApplicationStart")
    event = json.loads(lines[-1])
    event["Timestamp"] = {"start": start, "before": start - 60000}.get(end, end)
    run = send(team, b"".join(lines[:-1]) + json.dumps(event).encode() + b"\n")
    assert run["duration_s"] == 47 and run["succeeded"]
    assert {"time_went_backwards", "time_unusable"} & set(warnings(run))


def shifted(value, ms):
    """All times of an event, ms later."""
    if isinstance(value, dict):
        return {k: v + ms if isinstance(v, int) and v > 10**12 and k.split()[-1] in ("Time", "Timestamp") else shifted(v, ms) for k, v in value.items()}
    return [shifted(v, ms) for v in value] if isinstance(value, list) else value


def moved(lines, only, ms):
    return b"".join(json.dumps(shifted(json.loads(line), ms)).encode() + b"\n" if only(i, line) else line for i, line in enumerate(lines))


@pytest.mark.parametrize("ms", [-20000, -46999])
def test_an_end_before_the_work_ends_is_a_missing_one(team, shared, ms):
    lines = case_lines(shared, "06-end-zero/eventlog")
    start = next(json.loads(line)["Timestamp"] for line in lines if kind(line) == "ApplicationStart")
    event = dict(json.loads(lines[-1]), Timestamp=start + 47000 + ms)
    run = send(team, b"".join(lines[:-1]) + json.dumps(event).encode() + b"\n")
    assert run["duration_s"] == 47 and "time_went_backwards" in warnings(run)


@pytest.mark.parametrize("ms", [3600000, 83000, 10**11])
def test_a_start_behind_the_first_stage_is_a_missing_one(team, shared, ms):
    lines = case_lines(shared, "36-tasks-equal-cores/eventlog-0")
    run = send(team, moved(lines, lambda i, line: kind(line) == "ApplicationStart", ms))
    assert run["duration_s"] == 165 and "application_start_unusable" in warnings(run)


@pytest.mark.parametrize("start", [0, -5])
def test_a_start_of_no_time_is_a_missing_one(team, shared, start):
    lines = case_lines(shared, "36-tasks-equal-cores/eventlog-0")
    at = next(i for i, line in enumerate(lines) if kind(line) == "ApplicationStart")
    lines[at] = json.dumps(dict(json.loads(lines[at]), Timestamp=start)).encode() + b"\n"
    run = send(team, b"".join(lines))
    assert run["duration_s"] == 165 and "application_start_unusable" in warnings(run)


@pytest.mark.parametrize("ms", [-600000, -90000000])
def test_of_a_clock_that_was_set_back_no_duration_is_made(team, shared, ms):
    lines = case_lines(shared, "08-stage-retry/eventlog")
    last = max(i for i, line in enumerate(lines) if kind(line) == "StageSubmitted")
    run = send(team, moved(lines, lambda i, line: i >= last, ms))
    assert run["duration_s"] is None and "clock_set_back" in warnings(run)


def test_a_clock_set_back_between_two_jobs_is_found(team):
    lines = session_log(0, (0, 5, 5), {"spark.app.name": "nightly"}).splitlines(keepends=True)
    second = [i for i, line in enumerate(lines) if kind(line) == "JobStart"][1]
    assert send(team, b"".join(lines))["duration_s"] is not None
    run = send(team, moved([line.rstrip() for line in lines], lambda i, line: True, 0))
    assert "clock_set_back" not in warnings(run)
    run = send(team, moved(lines, lambda i, line: i >= second, -100000))
    assert "clock_set_back" in warnings(run)
    assert [run[figure] for figure in ("duration_s", "initialization_s", "core_s", "job_time_s", "stage_time_s")] == [None] * 5
    assert not team.get("/v1/runs/%s" % run["id"]).json().get("executor_lifetimes")


def test_a_copy_that_was_cut_is_the_same_run_though_its_start_is_impossible(team, shared):
    lines = case_lines(shared, "36-tasks-equal-cores/eventlog-0")
    late = moved(lines, lambda i, line: kind(line) == "ApplicationStart", 3600000).splitlines(keepends=True)
    first = next(i for i, line in enumerate(late) if kind(line) == "JobStart")
    name = "log-" + uuid.uuid4().hex[:8]
    cut = send(team, b"".join(late[:first]), name)
    assert send(team, b"".join(late), name, 200)["id"] == cut["id"]


@pytest.mark.parametrize("numbers, missing", [((0, 1, 2), 0), ((0, 2), 1), ((0, 5), 4)])
def test_parts_that_databricks_numbered_are_missed(team, shared, numbers, missing):
    lines = case_lines(shared, "36-tasks-equal-cores/eventlog-0")
    parts = [lines[len(lines) * i // len(numbers):len(lines) * (i + 1) // len(numbers)] for i in range(len(numbers))]
    begun = [json.dumps({"Event": "DBCEventLoggingListenerMetadata", "Rollover Number": n}).encode() + b"\n" for n in numbers]
    run = send(team, b"".join(line + b"".join(part) for line, part in zip(begun, parts)))
    assert warnings(run).get("missing_part", {}).get("evidence", {}).get("count", 0) == missing
    assert (run["problem_size"] is None, stages(team, run) == []) == (missing > 0,) * 2


def test_nothing_took_no_time(team, shared):
    lines = [line for line in case_lines(shared, "36-tasks-equal-cores/eventlog-0") if kind(line).startswith("Application")]
    end = dict(json.loads(lines[1]), Timestamp=json.loads(lines[0])["Timestamp"])
    assert send(team, lines[0] + json.dumps(end).encode() + b"\n")["duration_s"] is None


# --- compacted logs


def rolling(folder):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.add(folder, folder.name)
    return out.getvalue()


def test_a_compacted_log_is_no_guide(team, shared):
    folder = next((shared / "cases/01-compacted-rolling-log").glob("eventlog_v2_*"))
    run = send(team, rolling(folder), "stream-etl")
    assert "compacted_log" in warnings(run) and run["problem_size"] is None and run["initialization_s"] is None
    assert run["duration_s"] > 600
    diagnosis = team.get("/v1/applications/stream-etl/diagnosis").json()
    assert "startup" not in json.dumps(diagnosis)
    advice = team.post("/v1/advice?dry_run=true", {"application": "stream-etl", "deadline_s": 60}, 200).json()
    assert advice["verdict"] == "unknown" and advice["recommendation"] is None


def test_jobs_before_the_first_are_missing_in_any_log(team, shared):
    """As of a rolling log whose first parts were not sent, with the start from the properties."""
    lines = case_lines(shared, "36-tasks-equal-cores/eventlog-0")
    late = [line.replace(b'"Job ID":0', b'"Job ID":7') for line in lines]
    run = send(team, b"".join(late))
    assert "compacted_log" in warnings(run) and run["problem_size"] is None
    given = send(team, b"".join(late).replace(b"app-", b"app-9"), query="?problem_size=64")
    assert given["problem_size"] == 64 and stages(team, given) == []


@pytest.mark.parametrize("job, compacted", [(2, True), (1, False)])
def test_a_compacted_part_is_one_even_if_the_first_job_is_there(team, shared, job, compacted):
    """Compaction keeps jobs that still run, which may be the first; it shows in the jobs behind, unless nothing had ended yet."""
    lines = case_lines(shared, "36-tasks-equal-cores/eventlog-0")
    later = [line.replace(b'"Job ID":0', b'"Job ID":%d' % job) for line in lines if kind(line) in ("JobStart", "JobEnd")]
    assert len(later) == 2 and b'"Job ID":%d' % job in later[0]
    parts = {"events_2_app-9.compact": lines[:20], "events_3_app-9": lines[20:-1] + later + lines[-1:]}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, part in parts.items():
            member = tarfile.TarInfo("eventlog_v2_app-9/" + name)
            member.size = len(b"".join(part))
            archive.addfile(member, io.BytesIO(b"".join(part)))
    run = send(team, out.getvalue())
    assert ("compacted_log" in warnings(run), run["problem_size"] is None, stages(team, run) == []) == (compacted,) * 3
