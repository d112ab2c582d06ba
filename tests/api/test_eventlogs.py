"""Spark event logs: real ones against their manifest, once and only once, broken ones, bombs and limits."""
import concurrent.futures
import csv
import gzip
import json
import socket
import subprocess
import time
import uuid

import pytest
import requests

from patience import PATIENCE

LOGS = [  # path, how it is sent
    ("rapids/profiling/eventlog-gpu-dsv2.zstd", "as it is"),
    ("rapids/profiling/eventlog_dsv1.zstd", "as it is"),
    ("rapids/profiling/eventlog_minimal_events", "as it is"),
    ("rapids/profiling/rp_nosql_eventlog", "gzip"),
    ("rapids/profiling/spark2-eventlog.zstd", "as it is"),
    ("rapids/profiling/malformed_json_eventlog.zstd", "as it is"),
    ("rapids/profiling/tasks_executors_fail_compressed_eventlog.zstd", "as it is"),
    ("rapids/qualification/dataset_eventlog", "gzip"),
    ("rapids/qualification/db_subExecution_id.zstd", "as it is"),
    ("rapids/qualification/empty_eventlog", "as it is"),
    ("rapids/qualification/truncated_eventlog", "as it is"),
    ("rapids/qualification/multiple_attempts/attempt_2_eventlog.zstd", "as it is"),
    ("rapids/qualification/cluster_information/eventlog_4nodes_8cores_dynamic_alloc.zstd", "as it is"),
    ("sparklens/local-1532512550423", "gzip in members"),
    ("xspark/local-1422981759269", "zstd"),
    ("xspark/local-1426633911242", "as it is"),
]


@pytest.fixture(scope="module")
def logs(shared):
    return shared / "data" / "spark-eventlogs"


@pytest.fixture(scope="module")
def manifest(logs):
    with open(logs / "manifest.tsv") as f:
        return {row["file"]: row for row in csv.DictReader(f, delimiter="\t")}


def zstd(data):
    return subprocess.run(["zstd", "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout


def packed(data, how):
    if how == "gzip":
        return gzip.compress(data)
    if how == "gzip in members":
        third = len(data) // 3
        return b"".join(gzip.compress(data[i:i + third]) for i in range(0, len(data), third))
    return zstd(data) if how == "zstd" else data


def upload(client, name, data, status=201, query="", **kwargs):
    kwargs.setdefault("headers", {"Content-Type": "application/octet-stream"})
    return client.request("POST", "/v1/applications/%s/eventlogs%s" % (name, query), status, data=data, **kwargs)


def runs_of(client, name):
    return client.get("/v1/applications/%s/runs?limit=200" % name).json()["items"]


def event(kind, **fields):
    return json.dumps({"Event": "SparkListener" + kind, **fields})


def tiny_log(app="app-1", attempt=None, stages=1, ended=True, properties=None, cores=4, times=(1, 3)):
    """A log of a few hundred bytes: each stage has two tasks, of 1 s and 3 s unless told."""
    start = {"App Name": "tiny", "App ID": app, "Timestamp": 1700000000000, "User": "u"}
    if attempt is not None:
        start["App Attempt ID"] = attempt
    lines = [event("LogStart", **{"Spark Version": "3.5.1"}), event("ApplicationStart", **start)]
    if properties is not None:
        lines.append(event("EnvironmentUpdate", **{"Spark Properties": properties, "JVM Information": {},
                                                   "System Properties": {}, "Classpath Entries": {}}))
    lines.append(event("ExecutorAdded", **{"Timestamp": 1700000000500, "Executor ID": "1",
                                           "Executor Info": {"Host": "h", "Total Cores": cores, "Log Urls": {}}}))
    for stage in range(stages):
        at = 1700000001000 + 4000 * stage
        info = {"Stage ID": stage, "Stage Attempt ID": 0, "Stage Name": "s", "Number of Tasks": len(times), "RDD Info": [],
                "Parent IDs": [stage - 1] if stage else [], "Details": "", "Submission Time": at, "Accumulables": []}
        lines.append(event("StageSubmitted", **{"Stage Info": info, "Properties": {}}))
        for task, seconds in enumerate(times):
            lines.append(event("TaskEnd", **{
                "Stage ID": stage, "Stage Attempt ID": 0, "Task Type": "ResultTask",
                "Task End Reason": {"Reason": "Success"},
                "Task Info": {"Task ID": len(times) * stage + task, "Index": task, "Attempt": 0, "Launch Time": at,
                              "Executor ID": "1", "Host": "h", "Locality": "ANY", "Speculative": False,
                              "Getting Result Time": 0, "Finish Time": at + 1000 * seconds, "Failed": False,
                              "Killed": False, "Accumulables": []}}))
        lines.append(event("StageCompleted", **{"Stage Info": dict(info, **{"Completion Time": at + 1000 * max(times)})}))
    if ended:
        lines.append(event("ApplicationEnd", Timestamp=1700000000000 + (10000 if stages < 6 else 1000 + 4000 * stages)))
    return ("\n".join(lines) + "\n").encode()


# --- real logs


def equals_or_unknown(value, cell):
    return value == (int(cell) if cell != "" else None)


@pytest.mark.parametrize("path, how", LOGS)
def test_figures_of_real_logs_equal_the_manifest(client, logs, manifest, name, path, how):
    row = manifest[path]
    run = upload(client, name, packed((logs / path).read_bytes(), how)).json()
    assert run["spark_application_id"] == row["app_id"]
    assert run["spark_attempt_id"] == (row["app_attempt"] or None)
    assert run["spark_version"] == (row["spark_version"] or None)
    for field, column in (("jobs", "jobs"), ("stages_completed", "stages_completed"),
                          ("stages_failed", "stages_failed"), ("tasks_succeeded", "tasks_ok"),
                          ("tasks_failed", "tasks_failed"), ("executors_added", "executors_added")):
        assert run[field] == int(row[column]), field
    assert equals_or_unknown(run["cores_per_executor"], row["max_cores_per_executor"])
    assert run["task_time_s"] == pytest.approx(int(row["sum_ok_task_ms"] or 0) / 1000, rel=1e-12)
    codes = {w["code"]: w["evidence"]["count"] for w in run["warnings"]}
    assert codes.get("damaged_lines", 0) == int(row["unparsed_lines"])
    assert ("no_application_end" in codes) == (row["app_end_ms"] == "")
    if row["app_end_ms"]:
        took = int(row["app_end_ms"]) - int(row["app_start_ms"])
        assert run["duration_s"] == pytest.approx(took / 1000, rel=1e-12)
    else:
        assert run["succeeded"] is (int(row["jobs"]) > 0 and row["jobs"] == row["job_ends_ok"])
        assert 0 < run["duration_s"] < 86400
        # Copies of one log in which executors come and go years after its last task.
        assert ("events_far_from_work" in codes) == ("cluster_information" in path)
    if row["first_stage_submit_ms"]:
        wait = int(row["first_stage_submit_ms"]) - int(row["app_start_ms"])
        assert run["initialization_s"] == pytest.approx(wait / 1000, abs=1e-9)
    whole = client.get("/v1/runs/%s?include=tasks" % run["id"]).json()
    times = [t for s in whole["stages"] for t in s.get("task_durations_s", [])]
    assert len(times) <= int(row["tasks_ok"]) and min(times, default=0) >= 0
    if not int(row["stages_failed"]) and not int(row["tasks_failed"]):
        assert len(times) == int(row["tasks_ok"])
        assert sum(times) == pytest.approx(run["task_time_s"], rel=1e-9, abs=1e-9)


def test_one_log_is_one_run_however_it_is_packed(client, logs, name):
    data = (logs / "sparklens/local-1532512550423").read_bytes()
    first = upload(client, name, data)
    assert first.headers["Location"].endswith("/runs/" + first.json()["id"])
    for again in (data, gzip.compress(data), zstd(data)):
        reply = upload(client, name, again, 200)
        assert reply.json() == first.json() and reply.headers["Location"] == first.headers["Location"]
    assert len(runs_of(client, name)) == 1
    upload(client, name + "b", data, 201)  # a log is known within its application


def test_two_attempts_are_two_runs(client, logs, name):
    folder = logs / "rapids/qualification/multiple_attempts"
    ids = {upload(client, name, (folder / f).read_bytes()).json()["id"]
           for f in ("attempt_1_eventlog.zstd", "attempt_2_eventlog.zstd")}
    assert {r["id"] for r in runs_of(client, name)} == ids and len(ids) == 2


# --- small logs made here


def test_a_tiny_log_figure_by_figure(client, name):
    run = upload(client, name, tiny_log(stages=2)).json()
    expected = {"problem_size": 2, "executors": 1, "cores_per_executor": 4, "duration_s": 10.0, "initialization_s": 1.0,
                "succeeded": True, "advice_id": None, "labels": {}, "tasks_succeeded": 4, "task_time_s": 8.0,
                "started_at": "2023-11-14T22:13:20Z", "spark_version": "3.5.1", "warnings": []}
    assert {k: run[k] for k in expected} == expected
    stages = client.get("/v1/runs/%s?include=tasks" % run["id"]).json()["stages"]
    assert [(s["id"], s["parents"], s["task_durations_s"], s["duration_s"], s["started_s"]) for s in stages] == [
        (0, [], [1.0, 3.0], 3.0, 1.0), (1, [0], [1.0, 3.0], 3.0, 5.0)]
    assert client.get("/v1/applications/%s/profile" % name).json()["run_id"] == run["id"]


def test_the_query_stands_above_the_log(client, name):
    run = upload(client, name, tiny_log(), query="?problem_size=640&executors=7&cores_per_executor=3"
                 "&label=branch:main&label=when:10:30").json()
    assert (run["problem_size"], run["executors"], run["cores_per_executor"]) == (640, 7, 3)
    assert run["labels"] == {"branch": "main", "when": "10:30"}
    assert [r["id"] for r in client.get("/v1/applications/%s/runs?label=branch:main" % name).json()["items"]] == [run["id"]]


@pytest.mark.parametrize("query, parameter", [
    ("?problem_size=0", "problem_size"), ("?executors=many", "executors"), ("?cores_per_executor=1.5", "cores_per_executor"),
    ("?label=x", "label"), ("?label=:v", "label"), ("?label=a:1&label=a:2", "label"), ("?advice_id=x", "advice_id"),
    ("?advice_id=7c0f4a52-5a5e-4d0b-9d25-5a1f1c9d6f10", "advice_id"), ("?colour=red", "colour"), ("?executors=1&executors=2", "executors")])
def test_a_wrong_query_is_refused_and_nothing_is_kept(client, name, query, parameter):
    problem = upload(client, name, tiny_log(), 422, query=query).json()
    assert parameter in [e.get("parameter") for e in problem["errors"]]
    client.get("/v1/applications/" + name, 404)


def test_an_advice_that_only_the_log_names_is_a_warning(client, name):
    stray = str(uuid.uuid4())
    run = upload(client, name, tiny_log(properties={"spark.provisor.adviceId": stray})).json()
    assert run["advice_id"] is None
    assert "unknown_advice" in [w["code"] for w in run["warnings"]]


def test_secrets_of_the_environment_go_nowhere(service, client, name):
    secret = "hunter2" + uuid.uuid4().hex
    run = upload(client, name, tiny_log(properties={
        "spark.executor.memory": "4g", "spark.hadoop.fs.s3a.secret.key": secret,
        "spark.executor.extraJavaOptions": "-Dpassword=" + secret})).json()
    assert run["spark_properties"]["spark.executor.memory"] == "4g"
    assert secret not in client.get("/v1/runs/%s?include=tasks" % run["id"]).text
    dump = subprocess.run(["pg_dump", "--data-only", service.owner_url], stdout=subprocess.PIPE, check=False, text=True)
    if dump.returncode == 0:
        assert secret not in dump.stdout
    assert secret not in service.log.read_text(errors="replace")


def test_an_unfinished_log_is_replaced_by_its_continuation_and_by_nothing_else(client, name):
    first = upload(client, name, tiny_log(ended=False)).json()
    assert first["succeeded"] is False and first["warnings"][0]["code"] == "no_application_end"
    longer = upload(client, name, tiny_log(stages=2, ended=False), 200).json()
    assert longer["id"] == first["id"] and longer["tasks_succeeded"] == 4
    done = upload(client, name, tiny_log(stages=2), 200).json()
    assert done["id"] == first["id"] and done["succeeded"] is True
    upload(client, name, tiny_log(stages=3), 409)
    assert upload(client, name, tiny_log(stages=2), 200).json() == done
    assert len(runs_of(client, name)) == 1 and client.get("/v1/applications/" + name).json()["runs"] == 1


def test_less_of_an_unfinished_log_does_not_replace_more_of_it(client, name):
    """Copies of a log that is still written may arrive in any order; what was known of it stays known."""
    longer = upload(client, name, tiny_log(stages=3, ended=False)).json()
    assert upload(client, name, tiny_log(stages=2, ended=False), 200).json() == longer
    assert upload(client, name, tiny_log(stages=3, ended=False)[:-300], 200).json() == longer
    assert [r["tasks_succeeded"] for r in runs_of(client, name)] == [6]
    assert client.get("/v1/runs/%s?include=stages" % longer["id"]).json()["stages"][2]["tasks"] == 2
    done = upload(client, name, tiny_log(stages=3), 200).json()
    assert done["id"] == longer["id"] and done["succeeded"] is True


def test_the_same_log_sent_by_eight_at_once_is_one_run(client, service, name):
    data = tiny_log(stages=20)

    def send(_):
        mine = service.client(client.token)
        return upload(mine, name, data, (200, 201))

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(send, range(8)))
    assert sorted(r.status_code for r in replies) == [200] * 7 + [201]
    assert len({r.json()["id"] for r in replies}) == 1 and len(runs_of(client, name)) == 1


def test_eight_logs_at_once_into_a_new_application_are_eight_runs(client, service, name):
    def send(i):
        return upload(service.client(client.token), name, tiny_log(app="app-%d" % i), 201).json()["id"]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(send, range(8)))
    assert {r["id"] for r in runs_of(client, name)} == ids and len(ids) == 8
    assert client.get("/v1/applications/" + name).json()["runs"] == 8


def test_a_key_of_an_upload_guards_content_and_query(client, name):
    headers = {"Idempotency-Key": uuid.uuid4().hex, "Content-Type": "application/octet-stream"}
    first = upload(client, name, tiny_log(), headers=headers)
    again = upload(client, name, gzip.compress(tiny_log()), 201, headers=headers)
    assert again.json() == first.json()
    upload(client, name, tiny_log(app="app-2"), 422, headers=headers)
    upload(client, name, tiny_log(), 422, query="?executors=3", headers=headers)
    assert len(runs_of(client, name)) == 1


# --- what is no log, or not all of one


@pytest.mark.parametrize("data, status", [
    (b"", 422), (b"\n\n", 422), (b'{"a": 1}\n', 422), (b"PK\x03\x04 not a log at all", 400),
    (gzip.compress(b""), 422), (gzip.compress(b"hello\n"), 422), (b"\x1f\x8b\x08\x00garbage of a gzip header", 400),
    (b"\x28\xb5\x2f\xfdgarbage of a zstd frame", 400), (b"\x04\x22\x4d\x18lz4 frame", (415, 422))])
def test_what_is_no_log_leaves_nothing(client, name, data, status):
    upload(client, name, data, status)
    client.get("/v1/applications/" + name, 404)


def test_a_log_without_a_start_says_so(client, name):
    later_part = b"".join(tiny_log().splitlines(keepends=True)[2:])
    problem = upload(client, name, later_part, 422).json()
    assert "no_application_start" in [e["code"] for e in problem["errors"]]


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_a_cut_compressed_tail_is_a_warning(client, name, pack):
    # What cannot be compressed well reaches the reader before the cut.
    noise = b"".join(event("Other", Noise=uuid.uuid4().hex).encode() + b"\n" for _ in range(20000))
    data = pack(tiny_log(ended=False) + noise)
    run = upload(client, name, data[:len(data) // 2]).json()
    codes = [w["code"] for w in run["warnings"]]
    assert "truncated" in codes and "no_application_end" in codes and run["tasks_succeeded"] == 2


def test_damaged_lines_are_counted_and_the_rest_is_read(client, name):
    lines = tiny_log().splitlines(keepends=True)
    run = upload(client, name, b"".join(lines[:3] + [b'{"Event": "SparkListenerTaskEnd", oops\n', b"\x00\xff\n"] + lines[3:])).json()
    assert {w["code"]: w["evidence"]["count"] for w in run["warnings"]} == {"damaged_lines": 2}
    assert run["tasks_succeeded"] == 2


def start_upload(service, token, name, length):
    s = socket.create_connection(("127.0.0.1", service.port))
    head = ("POST /v1/applications/%s/eventlogs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
            "Content-Length: %d\r\n\r\n" % (name, token, length))
    s.sendall(head.encode())
    return s


def test_a_client_that_vanishes_leaves_nothing(client, service, name):
    data = tiny_log(stages=50)
    for sent in (0, 100, len(data) // 2, len(data) - 1):
        s = start_upload(service, client.token, name, len(data))
        s.sendall(data[:sent])
        s.close()
    time.sleep(0.5)
    client.get("/v1/applications/" + name, 404)
    upload(client, name, data)  # and nothing stands in the way of another try


def test_another_team_has_its_own_log_of_the_same_name(client, stranger, name):
    mine = upload(client, name, tiny_log()).json()
    theirs = upload(stranger, name, tiny_log(), 201).json()
    assert mine["id"] != theirs["id"]
    stranger.get("/v1/runs/" + mine["id"], 404)
    assert [r["id"] for r in runs_of(stranger, name)] == [theirs["id"]]


def counters(service):
    lines = requests.get(service.base_url + "/metrics").text.splitlines()
    return {l.split()[0]: int(l.split()[1]) for l in lines if l.startswith("provisor_ingest_")}


def test_metrics_count_bytes_and_lines(client, service, name):
    before = counters(service)
    lines = tiny_log().splitlines(keepends=True)
    plain = b"".join(lines[:4] + [b"not json\n"] + lines[4:])
    sent = gzip.compress(plain)
    upload(client, name, sent)
    end = time.monotonic() + PATIENCE  # the upload is over a moment after its answer
    while time.monotonic() < end:
        grown = {k: v - before.get(k, 0) for k, v in counters(service).items()}
        if grown.get("provisor_ingest_bytes_total{form=\"sent\"}"):
            break
    assert grown == {"provisor_ingest_bytes_total{form=\"sent\"}": len(sent),
                     "provisor_ingest_bytes_total{form=\"plain\"}": len(plain),
                     "provisor_ingest_lines_total{state=\"ok\"}": len(lines),
                     "provisor_ingest_lines_total{state=\"damaged\"}": 1}


# --- limits


@pytest.fixture(scope="module")
def tight(make_service):
    service = make_service(PROVISOR_EVENTLOG_BYTES_MAX=1 << 20, PROVISOR_EVENTLOG_PLAIN_BYTES_MAX=4000000,
                           PROVISOR_EVENTLOG_RATIO_MAX=100, PROVISOR_STAGES_MAX=30, PROVISOR_TASKS_MAX=80)
    service.alpha = service.client(service.token("alpha"))
    service.start()
    return service


def test_a_log_larger_than_allowed_is_413(tight, name):
    data = tiny_log() + b'{"Event": "x"}\n' * 80000
    upload(tight.alpha, name, data, 413)
    upload(tight.alpha, name, iter([data[i:i + 50000] for i in range(0, len(data), 50000)]), 413)  # chunked
    tight.alpha.get("/v1/applications/" + name, 404)


def test_bombs_are_stopped_by_ratio_and_by_size(tight, name):
    for bomb in (gzip.compress(tiny_log() + b" " * 3_500_000), zstd(tiny_log() + b"\n" * 3_500_000)):
        assert len(bomb) < 20000
        problem = upload(tight.alpha, name, bomb, (413, 422)).json()
        assert "compressed more than 100 times" in problem["detail"]
    modest = b"".join(b'{"Event": "x", "id": "%s", "filler": "%s"}\n' % (uuid.uuid4().hex[:16].encode(), b"y" * 300)
                      for _ in range(13000))
    for bomb in (gzip.compress(tiny_log() + modest), zstd(tiny_log() + modest)):
        assert len(tiny_log() + modest) / len(bomb) < 100
        problem = upload(tight.alpha, name, bomb, (413, 422)).json()
        assert "4000000 bytes" in problem["detail"]
    tight.alpha.get("/v1/applications/" + name, 404)


def test_stages_and_tasks_of_a_log_are_bounded(tight, name):
    assert "stages" in upload(tight.alpha, name, tiny_log(stages=31), (413, 422)).json()["detail"]
    assert "tasks" in upload(tight.alpha, name, tiny_log(stages=27, times=(1, 2, 3)), (413, 422)).json()["detail"]
    upload(tight.alpha, name, tiny_log(stages=30), 201)


def resident_kib(service):
    with open("/proc/%d/status" % service.process.pid) as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))


@pytest.mark.resident_memory
def test_memory_does_not_grow_with_the_length_of_a_log(make_service, name):
    """30 MB of lines that are read and dropped must not stay in memory."""
    service = make_service()
    client = service.client(service.token("alpha"))
    service.start()
    upload(client, name, tiny_log(app="warm"))
    before = resident_kib(service)
    line = event("BlockUpdated", Filler="x" * 1000).encode() + b"\n"
    upload(client, name, iter([tiny_log(ended=False)] + [line * 60] * 500 + [tiny_log().splitlines()[-1]]), 201)
    grown = resident_kib(service) - before
    assert grown < 16 * 1024, "%d KiB more" % grown


def test_a_form_is_refused_with_how_to_send_a_log(client, name):
    problem = client.request("POST", "/v1/applications/%s/eventlogs" % name, 415, files={"log": tiny_log()}).json()
    assert "--data-binary" in problem["detail"]
    client.get("/v1/applications/" + name, 404)


def test_what_became_of_a_log_is_a_header(client, name):
    """In the words of `provisord import`, whether it is new, known, less than is known, or the rest of what was cut."""
    begun, whole = tiny_log(app="app-11", ended=False), tiny_log(app="app-11")

    def told(log, status):
        return upload(client, name, log, status).headers["X-Log-Outcome"]
    assert [told(begun, 201), told(begun, 200), told(whole, 200), told(whole, 200)] == ["stored", "duplicate", "replaced", "duplicate"]
    named = client.request("POST", "/v1/eventlogs", 201, data=tiny_log(app="app-12").replace(b'"tiny"', b'"%s"' % (name + "-x").encode()),
                           headers={"Content-Type": "application/octet-stream"})
    assert named.headers["X-Log-Outcome"] == "stored"
