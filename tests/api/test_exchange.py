"""Runs as NDJSON: exported whole and in flat memory, imported without loss, in one piece or not at all."""
import json
import socket
import time
import uuid

import pytest
import requests

from patience import PATIENCE, SLOWDOWN

SMALL = {"problem_size": 8, "executors": 2, "cores_per_executor": 2, "duration_s": 16.5}
STAGES = [{"id": 0, "name": "map", "parents": [], "task_durations_s": [3.1, 2.9, 3.0, 1 / 3], "duration_s": 6.4,
           "input_records": 1000000},
          {"id": 1, "name": "réduce \"all\"\n", "parents": [0], "tasks": 4, "task_duration_s": 3.5, "duration_s": 7.0}]


def runs_of(name):
    return "/v1/applications/%s/runs" % name


def export(client, name, query="", status=200):
    return client.get(runs_of(name) + "/export" + query, status)


def lines_of(client, name, query=""):
    return [json.loads(line) for line in export(client, name, query).content.splitlines()]


def record(client, name, n, **more):
    return [client.post(runs_of(name), dict(SMALL, started_at="2026-01-05T10:%02d:%02dZ" % (i // 60, i % 60), labels={"i": str(i % 3)},
                                            **more), 201).json() for i in range(n)]


def test_a_line_is_a_whole_run(client, name):
    made = client.post(runs_of(name), dict(SMALL, stages=STAGES, labels={"branch": "main"}), 201).json()
    reply = export(client, name)
    assert reply.headers["Content-Type"] == "application/x-ndjson"
    assert reply.headers["Transfer-Encoding"] == "chunked"
    assert reply.content.endswith(b"}\n") and reply.content.count(b"\n") == 1
    run = client.get("/v1/runs/%s?include=tasks" % made["id"]).json()
    del run["application"]
    record = json.loads(reply.content)
    assert record == {key: run[key] for key in record}
    # A record of a run that came from no log leaves out what only a log says.
    assert {str(run[key]) for key in set(run) - set(record)} == {"None", "[]", "{}"}
    assert run["stages"][0]["task_durations_s"] == STAGES[0]["task_durations_s"]


def test_an_export_holds_each_run_of_the_filter_once_in_the_order_of_the_list(client, name):
    made = record(client, name, 25)
    ids = [r["id"] for r in reversed(made)]
    assert [r["id"] for r in lines_of(client, name)] == ids
    assert [r["id"] for r in lines_of(client, name, "?label=i:1")] == [r["id"] for r in reversed(made) if r["labels"] == {"i": "1"}]
    window = "?since=2026-01-05T10:00:05Z&until=2026-01-05T10:00:10Z"
    assert [r["id"] for r in lines_of(client, name, window)] == ids[15:20]
    assert lines_of(client, name, "?label=i:9") == []
    client.refuse("GET", runs_of(name) + "/export?limit=3", 422, parameter="limit")
    client.refuse("GET", runs_of(name) + "/export?since=yesterday", 422, parameter="since")
    export(client, "no-such-" + name, status=404)
    head = client.request("HEAD", runs_of(name) + "/export", 200)
    assert head.headers["Content-Type"] == "application/x-ndjson" and head.content == b""


def test_the_head_of_an_export_has_no_body(service, client, name):
    record(client, name, 1)
    with socket.create_connection(("127.0.0.1", service.port), timeout=20) as s:
        s.sendall(("HEAD %s/export HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n" % (runs_of(name), client.token)).encode())
        answer = b""
        while chunk := s.recv(65536):
            answer += chunk
    assert answer.startswith(b"HTTP/1.1 200 ") and answer.split(b"\r\n\r\n", 1)[1] == b""


def test_an_application_without_runs_gives_an_empty_file(client, name):
    client.post("/v1/applications", {"name": name}, 201)
    assert export(client, name).content == b""


def test_an_old_client_that_could_not_tell_a_cut_is_refused(service, client, name):
    record(client, name, 1)
    with socket.create_connection(("127.0.0.1", service.port), timeout=10) as s:
        s.sendall(("GET %s/export HTTP/1.0\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n" % (runs_of(name), client.token)).encode())
        answer = b""
        while chunk := s.recv(65536):
            answer += chunk
    assert answer.split(b"\r\n", 1)[0].split()[1] == b"400" and b"HTTP/1.1" in answer


# --- an export that somebody reads slowly, or not to its end ---

TASKS = [i / 7 for i in range(8000)]


@pytest.fixture(scope="module")
def slow(make_service):
    """A service with a history of 15 MB, impatient with its readers."""
    service = make_service(own_server=True, PROVISOR_EXPORTS_MAX=3, PROVISOR_CONNECTION_IDLE_S=6 if SLOWDOWN == 1 else 12, PROVISOR_TASKS_MAX=60000,
                           PROVISOR_LOG_LEVEL="info")
    service.operator_token = service.token("operators")
    service.start()
    client = service.client(service.operator_token)
    body = dict(SMALL, stages=[{"id": 0, "task_durations_s": TASKS}])
    for _ in range(100):
        client.post(runs_of("big"), body, 201)
    return service, client


def begin_reading(service, client, path=runs_of("big") + "/export"):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    s.settimeout(20)
    s.connect(("127.0.0.1", service.port))
    s.sendall(("GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n" % (path, client.token)).encode())
    assert b" 200 " in s.recv(4096)
    return s


def take_all(s):
    rest = b""
    try:
        while chunk := s.recv(1 << 20):
            rest += chunk
            if chunk.endswith(b"0\r\n\r\n"):
                break
    except ConnectionResetError:
        pass
    return rest


def test_a_snapshot_is_exported_while_runs_come_and_go(slow):
    service, client = slow
    before = [r["id"] for r in client.get(runs_of("big") + "?limit=200").json()["items"]]
    s = begin_reading(service, client)
    late = client.post(runs_of("big"), SMALL, 201).json()["id"]
    client.delete(runs_of("big") + "/" + before[-1])
    rest = take_all(s)
    s.close()
    assert rest.endswith(b"0\r\n\r\n"), "whole"
    assert late.encode() not in rest and before[-1].encode() in rest
    assert rest.count(b'"recorded_at"') >= len(before) - 1


def aborted(service):
    return sum(float(line.split()[1]) for line in requests.get(service.base_url + "/metrics").text.splitlines()
               if line.startswith("provisor_http_requests_aborted_total"))


def test_exports_are_bounded_in_number_and_a_reader_that_stops_is_cut(slow):
    service, client = slow
    before = aborted(service)
    readers = [begin_reading(service, client) for _ in range(2)]
    problem = client.get(runs_of("big") + "/export", 503)
    assert "exports_max" in problem.json()["detail"] and int(problem.headers["Retry-After"]) > 0
    assert client.get(runs_of("big") + "?limit=1", timeout=5).json()["items"], "others are served meanwhile"
    other = service.client(service.token("other-operators"))
    other.post(runs_of("small"), SMALL, 201)
    assert export(other, "small").content.count(b"\n") == 1, "one place is left for another team"
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND state_change < clock_timestamp() - interval '0.3 s'"
    time.sleep(0.5)
    assert service.psql(waiting).strip() == "0", "no transaction waits for a reader"
    end = time.monotonic() + PATIENCE
    held = []
    # A place that is given back may be that of one held, which nobody reads either: those who came first are cut first.
    while len(held) < len(readers) or aborted(service) < before + len(readers):
        assert time.monotonic() < end, "the places of readers that stopped are not given back"
        if len(held) == len(readers):
            time.sleep(0.2)
            continue
        reply = client.get(runs_of("big") + "/export", {200, 503}, stream=True)
        if reply.status_code == 200:
            held.append(reply)
            continue
        time.sleep(0.2)
    for s in readers:
        assert not take_all(s).endswith(b"0\r\n\r\n"), "cut, and told apart from a whole export"
        s.close()
    for reply in held:
        reply.close()


def test_a_failure_in_the_middle_is_a_cut_that_clients_report(slow):
    service, client = slow
    service.stop()
    service.start(PROVISOR_EXPORT_SPOOL_BYTES=1 << 20)
    url, head = service.base_url + runs_of("big") + "/export", {"Authorization": "Bearer " + client.token}
    with pytest.raises((requests.exceptions.ChunkedEncodingError, requests.exceptions.ConnectionError)):
        with requests.get(url, headers=head, stream=True, timeout=30) as reply:
            assert reply.status_code == 200
            pieces = reply.iter_content(65536)
            next(pieces)
            service.kill_database()
            for _ in pieces:
                pass
    service.start_database()
    service.wait_ready()
    client.get(runs_of("big") + "?limit=1")


def test_a_revoked_token_ends_its_export(slow):
    service, client = slow
    service.stop()
    service.start(PROVISOR_CONNECTION_IDLE_S=60)
    reader = client.post("/v1/tokens", {"name": "reader", "scopes": ["read"]}, 201).json()
    s = begin_reading(service, service.client(reader["token"]))
    client.delete("/v1/tokens/" + reader["id"])
    time.sleep(5.5)
    assert not take_all(s).endswith(b"0\r\n\r\n"), "cut"
    s.close()


@pytest.mark.parametrize("limits,reason", [({"PROVISOR_EXPORT_TIMEOUT_S": 1}, "export_timeout_s"),
                                           ({"PROVISOR_EXPORT_GRACE_S": 0, "PROVISOR_EXPORT_READER_BYTES_PER_S": 1 << 30}, "export_reader_bytes_per_s")])
def test_a_reader_that_is_too_slow_is_cut(slow, limits, reason):
    service, client = slow
    service.stop()
    service.start(PROVISOR_EXPORT_SPOOL_BYTES=1 << 20, **limits)
    s = begin_reading(service, client)
    time.sleep(2.5)  # beyond export_timeout_s
    assert not take_all(s).endswith(b"0\r\n\r\n")
    s.close()
    end = time.monotonic() + PATIENCE  # a thread of its own writes the log
    while reason not in service.log.read_text():
        assert time.monotonic() < end, service.log.read_text()[-2000:]
        time.sleep(0.05)


# --- import ---

NDJSON = {"Content-Type": "application/x-ndjson"}


def send(client, name, data, status=201, **headers):
    if not isinstance(data, (bytes, str)):
        data = "".join(json.dumps(line) + "\n" for line in data)
    data = data.encode() if isinstance(data, str) else data
    return client.request("POST", runs_of(name) + "/import", status, data=data, headers=dict(NDJSON, **headers), timeout=300)


def outcome(reply):
    body = reply.json()
    return body["imported"], body["replaced"], body["unchanged"]


def refuse(client, name, data, status=422, **kwargs):
    if not isinstance(data, (bytes, str)):
        data = "".join(json.dumps(line) + "\n" for line in data)
    return client.refuse("POST", runs_of(name) + "/import", status, data=data, headers=NDJSON, **kwargs)


def test_the_documented_examples_work_as_they_stand(contract, client, name):
    """Literally, and each line is one that the contract allows."""
    operation = contract.document["paths"]["/v1/applications/{name}/runs/import"]["post"]
    content = operation["requestBody"]["content"]["application/x-ndjson"]
    for key, example in content["examples"].items():
        lines = example["value"].splitlines()
        for line in lines:
            contract.check_instance(content["schema"]["contentSchema"], json.loads(line), key)
        into = name + "-" + key
        reply = send(client, into, example["value"])
        assert outcome(reply) == (len(lines), 0, 0) and reply.headers["Location"] == runs_of(into)
        assert outcome(send(client, into, example["value"], 200)) == (0, 0, len(lines)), "again: nothing changes"
        assert client.get("/v1/applications/" + into).json()["runs"] == len(lines)
    runs = client.get(runs_of(name + "-other-engine") + "?label=engine:flink&include=tasks").json()["items"]
    assert [r["spark_application_id"] for r in runs] == ["flink-7f3a-0002", "flink-7f3a-0001"]
    assert runs[1]["stages"][0]["nominal_rate_per_s"] == 4000000 / 81.5, "what is missing is worked out"
    assert client.get("/v1/applications/%s/profile" % (name + "-other-engine")).json()["stages"][1]["name"] == "window"


@pytest.fixture(scope="module")
def varied(client):
    """Runs of every make: JSON with and without stages, odd texts, exact doubles, real logs."""
    name = "varied-" + str(time.time_ns())
    record(client, name, 4)
    client.post(runs_of(name), dict(SMALL, stages=STAGES, labels={"ünï": "\u2028\"\\\u0007"}, initialization_s=0.1 + 0.2), 201)
    client.post(runs_of(name), dict(SMALL, stages=[]), 201)
    client.post(runs_of(name), dict(SMALL, succeeded=False, stages=[{"id": 3, "skipped": True}, {"id": 7, "parents": [3], "tasks": 0}]), 201)
    return name


def test_a_round_trip_is_exact_into_another_application_and_another_team(client, stranger, varied, name):
    first = export(client, varied).content
    assert outcome(send(stranger, name, first)) == (first.count(b"\n"), 0, 0)
    assert export(stranger, name).content == first, "ids and all"
    assert outcome(send(client, name, first)) == (first.count(b"\n"), 0, 0)
    second = lines_of(client, name)
    ids = {line["id"] for line in second}
    assert not ids & {json.loads(line)["id"] for line in first.splitlines()}, "in one team an id names one run"

    def without_ids(lines):
        return sorted(json.dumps(dict(line, id=None), sort_keys=True) for line in lines)
    assert without_ids(second) == without_ids(json.loads(line) for line in first.splitlines())
    assert outcome(send(client, name, first, 200)) == (0, 0, len(ids)), "again: the same ids are asked for"
    assert {line["id"] for line in lines_of(client, name)} == ids


def test_a_deleted_application_is_restored_to_the_byte(client, varied):
    before, runs = export(client, varied).content, client.get(runs_of(varied) + "?include=tasks").json()["items"]
    client.delete("/v1/applications/" + varied)
    send(client, varied, before)
    assert export(client, varied).content == before
    assert client.get(runs_of(varied) + "?include=tasks").json()["items"] == runs


def test_runs_of_real_logs_survive_and_their_logs_are_known_again(client, stranger, shared, name):
    logs = shared / "data" / "spark-eventlogs"
    from test_eventlogs import LOGS, upload
    sent = []
    for path, _ in LOGS:
        data = (logs / path).read_bytes()
        reply = upload(client, name, data, {200, 201, 409, 422})
        if reply.status_code == 201:
            sent.append((data, reply.json()["id"]))
    assert len(sent) >= 10
    first = export(client, name).content
    assert first.count(b"\n") == len(sent)
    assert outcome(send(stranger, name, first)) == (len(sent), 0, 0)
    assert export(stranger, name).content == first
    for data, run_id in sent:
        assert upload(stranger, name, data, 200).json()["id"] == run_id, "the log is known by what was imported"
    assert export(stranger, name).content == first
    assert outcome(send(stranger, name, first, 200)) == (0, 0, len(sent))


def test_compressed_bodies_are_taken_as_they_are(client, varied, name):
    import gzip
    import subprocess
    plain = export(client, varied).content
    n = plain.count(b"\n")
    assert outcome(send(client, name, gzip.compress(plain))) == (n, 0, 0)
    zstd = subprocess.run(["zstd", "-q", "-c"], input=plain, stdout=subprocess.PIPE, check=True).stdout
    assert outcome(send(client, name, zstd, 200)) == (0, 0, n)
    refuse(client, name + "-cut", gzip.compress(plain)[:-20], 400)
    client.get("/v1/applications/%s-cut" % name, 404)


def test_blank_lines_returns_and_a_last_line_without_end_are_fine(client, name):
    text = "\n\r\n" + json.dumps(dict(SMALL)) + "\r\n   \n" + json.dumps(dict(SMALL, executors=3))
    assert outcome(send(client, name, text)) == (2, 0, 0)
    problem = refuse(client, name, text + "\n{\n", 400, pointer="/2")
    assert problem["errors"][0]["detail"].startswith("line 6:")


def test_an_empty_import_leaves_an_empty_history(client, name):
    assert outcome(send(client, name, b"", 200)) == (0, 0, 0)


def test_equal_lines_are_as_many_runs_and_stay_so(client, name):
    """A measurement repeated with the same result counts each time, and is not doubled by importing again."""
    lines = [SMALL, SMALL, dict(SMALL, executors=4), SMALL]
    assert outcome(send(client, name, lines)) == (4, 0, 0)
    assert outcome(send(client, name, lines[::-1], 200)) == (0, 0, 4), "whatever the order"
    assert outcome(send(client, name, lines + [SMALL])) == (1, 0, 4)


def test_a_run_told_twice_is_one_wherever_its_lines_stand(client, name):
    """Its second line waits until the first is stored: at once, as the last of all, in the next batch."""
    ids = [str(uuid.UUID(int=(0x0190d4a0 << 96) | (7 << 76) | (2 << 62) | (uuid.uuid4().int & ((1 << 61) - 1)))) for _ in range(203)]
    lines = [dict(SMALL, id=id) for id in ids]
    told = lines[:1] + lines[:1] + lines[:200] + lines[199:] + lines[202:] + lines[:1]
    body = "\n".join(json.dumps(line) for line in told)
    assert outcome(send(client, name, body)) == (203, 0, len(told) - 203)
    other = [lines[0], dict(lines[0], executors=9)]
    assert refuse(client, name + "-b", other, 409)["errors"][0]["pointer"] == "/1/id"
    client.get("/v1/applications/%s-b" % name, 404)


@pytest.mark.parametrize("change, member", [
    ({"duration_s": "NaN"}, "/duration_s"),
    ({"durations": 3}, "/durations"),
    ({"executors": -1}, "/executors"),
    ({"id": "0190d4a0-0000-4000-8000-000000000000"}, "/id"),
    ({"id": "ff90d4a0-0000-7000-8000-000000000000"}, "/id"),
    ({"id": 7}, "/id"),
    ({"log_digest": "ab"}, "/log_digest"),
    ({"log_digest": "ab" * 32}, "/spark_application_id"),
    ({"warnings": [{"count": 1}]}, "/warnings/0/code"),
    ({"warnings": [{"code": "c", "message": "m", "count": 1}]}, "/warnings/0/count"),
    ({"spark_properties": {"a": 1}}, "/spark_properties/a"),
    ({"jobs": -1}, "/jobs"),
    ({"log_complete": 1}, "/log_complete"),
    ({"labels": {"": "x"}}, "/labels/"),
    ({"stages": [{"id": 0, "parents": [4]}]}, "/stages/0/parents/0"),
    ({"stages": [{"id": 0}, {"id": 0}]}, "/stages/1/id"),
    ({"stages": [{"id": 0, "task_durations_s": [1, -1]}]}, "/stages/0/task_durations_s/1"),
])
def test_a_fault_names_run_member_and_line_and_nothing_is_taken(client, name, change, member):
    good = [dict(SMALL, executors=i + 1) for i in range(3)]
    bad = dict(SMALL, **change)
    problem = refuse(client, name, good + [bad] + good, 422, pointer="/3" + member)
    assert "line 4: " in problem["errors"][0]["detail"]
    client.get("/v1/applications/" + name, 404)


def test_all_faults_are_listed_together_up_to_a_number(client, name):
    lines = [dict(SMALL, executors=-1) if i % 2 else SMALL for i in range(10)]
    problem = refuse(client, name, lines, 422)
    assert [e["pointer"] for e in problem["errors"]] == ["/%d/executors" % i for i in (1, 3, 5, 7, 9)]
    many = refuse(client, name, [dict(SMALL, executors=-1)] * 5000, 422)
    assert len(many["errors"]) == 8
    refuse(client, name, "[1]\n", 422, pointer="/0")
    refuse(client, name, json.dumps(SMALL)[:-1] + ', "executors": 3}\n', 400, pointer="/0")
    client.get("/v1/applications/" + name, 404)


def test_another_telling_of_a_run_that_is_here_is_refused_with_all_else(client, name):
    run = client.post(runs_of(name), SMALL, 201).json()
    line = lines_of(client, name)[0]
    problem = refuse(client, name, [dict(SMALL, executors=9), dict(line, duration_s=17)], 409, pointer="/1/id")
    assert problem["type"] == "/problems/conflict"
    assert [r["id"] for r in lines_of(client, name)] == [run["id"]], "nor is what went before it taken"
    twice = [dict(SMALL, spark_application_id="job_1", duration_s=d) for d in (5, 6)]
    refuse(client, name, twice, 409, pointer="/1/spark_application_id")
    other = dict(line, spark_application_id="job_2")
    send(client, name, [dict(SMALL, spark_application_id="job_2")])
    refuse(client, name, [other], 409, pointer="/0/id")


def test_a_log_without_its_digest_is_completed_by_the_log_itself(client, shared, name):
    """What another tool knew of a Spark application gives way to the log, under the same id."""
    data = (shared / "data" / "spark-eventlogs" / "rapids/profiling/eventlog_minimal_events").read_bytes()
    from test_eventlogs import upload
    send(client, name, [dict(SMALL, spark_application_id="local-1619631016646")])
    known = lines_of(client, name)[0]
    assert known["log_digest"] is None
    assert outcome(send(client, name, [dict(SMALL, spark_application_id="local-1619631016646")], 200)) == (0, 0, 1)
    run = upload(client, name, data, 200).json()
    assert run["id"] == known["id"] and run["jobs"] == 6
    assert upload(client, name, data, 200).json()["id"] == known["id"]
    assert client.get("/v1/applications/" + name).json()["runs"] == 1


def test_an_unfinished_log_goes_on(client, name):
    part = dict(SMALL, spark_application_id="app-1", log_complete=False, succeeded=False, duration_s=5, log_digest="11" * 32)
    whole = dict(SMALL, spark_application_id="app-1", log_complete=True, duration_s=9, log_digest="22" * 32)
    send(client, name, [part])
    first = lines_of(client, name)[0]
    assert outcome(send(client, name, [whole], 200)) == (0, 1, 0)
    line = lines_of(client, name)[0]
    assert (line["id"], line["duration_s"], line["log_digest"]) == (first["id"], 9, "22" * 32)
    assert outcome(send(client, name, [part], 200)) == (0, 0, 1)
    assert lines_of(client, name) == [line]


def test_less_of_an_unfinished_log_changes_nothing(client, name):
    more = dict(SMALL, spark_application_id="app-1", log_complete=False, succeeded=False, duration_s=5, log_digest="11" * 32)
    send(client, name, [more])
    known = lines_of(client, name)
    assert outcome(send(client, name, [dict(more, duration_s=4, log_digest="22" * 32)], 200)) == (0, 0, 1)
    assert lines_of(client, name) == known


def test_an_unfinished_log_does_not_complete_what_had_ended(client, name):
    """What another tool knew to its end gives way to the whole log only."""
    from test_eventlogs import tiny_log, upload
    send(client, name, [dict(SMALL, spark_application_id="app-1", log_complete=True)])
    known = lines_of(client, name)
    part = dict(SMALL, spark_application_id="app-1", log_complete=False, succeeded=False, duration_s=5, log_digest="11" * 32)
    assert outcome(send(client, name, [part], 200)) == (0, 0, 1)
    assert upload(client, name, tiny_log(ended=False), 200).headers["X-Log-Outcome"] == "duplicate"
    assert lines_of(client, name) == known
    assert upload(client, name, tiny_log(), 200).json()["id"] == known[0]["id"]


def test_a_deleted_application_takes_what_told_of_its_import_along(service, client, name):
    """Neither the event of an import nor the reply kept under its key outlives the application."""
    from test_maintenance import admin
    key = uuid.uuid4().hex
    send(client, name, [SMALL], **{"Idempotency-Key": '"%s"' % key})

    def left():
        return admin(service, "SELECT (SELECT count(*) FROM provisor.outbox WHERE data #>> '{application}' = %s),"
                              " (SELECT count(*) FROM provisor.idempotency_key WHERE key IN (%s, %s))",
                     name, key, '"%s"' % key, fetch=True)

    assert left() == [(1, 1)]
    client.delete("/v1/applications/" + name)
    assert left() == [(0, 0)]


def test_an_advice_that_is_not_here_stays_named(client, name):
    line = dict(SMALL, advice_id="0190d4a0-0000-7000-8000-000000000000")
    reply = send(client, name, [line, SMALL])
    assert reply.json()["warnings"] == [{"code": "unknown_advice", "message": "runs name advice that does not exist", "evidence": {"count": 1}}]
    assert line["advice_id"] in [r["advice_id"] for r in lines_of(client, name)]


def test_a_key_guards_the_body_however_it_is_packed(client, name):
    import gzip
    body = (json.dumps(SMALL) + "\n").encode()
    first = send(client, name, body, 201, **{"Idempotency-Key": '"k1"'})
    again = send(client, name, gzip.compress(body), 201, **{"Idempotency-Key": '"k1"'})
    assert again.headers["Idempotency-Replayed"] == "true" and again.json() == first.json()
    refused = client.refuse("POST", runs_of(name) + "/import", 422, header="Idempotency-Key", data=body * 2,
                            headers=dict(NDJSON, **{"Idempotency-Key": '"k1"'}))
    assert refused["errors"][0]["code"] == "key_reused"


def test_one_change_of_history_one_event_and_one_audit_row_for_all(service, client, name):
    from test_maintenance import admin
    send(client, name, [dict(SMALL, executors=i + 1) for i in range(500)])
    rows = admin(service, "SELECT history_version, runs FROM provisor.application WHERE name = %s", name, fetch=True)
    assert rows == [(1, 500)]
    events = admin(service, "SELECT type, data #>> '{imported}' FROM provisor.outbox WHERE data #>> '{application}' = %s", name, fetch=True)
    assert events == [("run.ingested", "500")]
    entries = [a for a in client.get("/v1/audit?limit=200").json()["items"] if name in a["subject"]]
    assert [a["action"] for a in entries].count("run.import") == 1


def test_a_connection_that_breaks_off_leaves_nothing(service, client, name):
    body = b"".join(json.dumps(dict(SMALL, executors=i + 1)).encode() + b"\n" for i in range(5000))
    head = ("POST %s/import HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n"
            % (runs_of(name), client.token, len(body) + 1)).encode()
    with socket.create_connection(("127.0.0.1", service.port), timeout=10) as s:
        s.sendall(head + body)
        time.sleep(0.3)
    with socket.create_connection(("127.0.0.1", service.port), timeout=10) as s:
        s.sendall(head.replace(b"Content-Length: %d" % (len(body) + 1), b"Transfer-Encoding: chunked") + b"%x\r\n" % len(body) + body)
        time.sleep(0.3)
    time.sleep(0.5)
    client.get("/v1/applications/" + name, 404)


def test_two_at_once_make_each_run_once(client, name):
    import concurrent.futures
    lines = [dict(SMALL, executors=i + 1, spark_application_id="job_%d" % i) for i in range(2000)]
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        replies = list(pool.map(lambda _: send(client, name, lines, {200, 201, 409, 503}), range(3)))
    assert any(r.status_code == 201 for r in replies)
    assert outcome(send(client, name, lines, 200)) == (0, 0, 2000)
    assert client.get("/v1/applications/" + name).json()["runs"] == 2000


@pytest.fixture(scope="module")
def strict(make_service):
    service = make_service(PROVISOR_IMPORT_BYTES_MAX=20000, PROVISOR_IMPORT_LINE_BYTES_MAX=2000, PROVISOR_IMPORT_RUNS_MAX=50,
                           PROVISOR_STAGES_MAX=3, PROVISOR_TASKS_MAX=20)
    service.start()
    return service.client(service.token("strict"))


def test_every_limit_has_its_own_answer(strict):
    line = json.dumps(SMALL) + "\n"
    assert "import_bytes_max" in refuse(strict, "a", line * 400, 413)["detail"]
    import gzip
    assert "20000 bytes, decompressed (import_bytes_max)" in refuse(strict, "a", gzip.compress((line * 400).encode()), 413)["detail"]
    assert "2000 bytes (import_line_bytes_max)" in refuse(strict, "a", line + '{"duration_s": 1' + " " * 2000 + "}\n", 422)["detail"]
    assert "import_runs_max" in refuse(strict, "a", line * 51, 422)["detail"]
    assert outcome(send(strict, "b", line * 50)) == (50, 0, 0)
    refuse(strict, "a", [dict(SMALL, stages=[{"id": i} for i in range(4)])], 422, pointer="/0/stages")
    refuse(strict, "a", [dict(SMALL, stages=[{"id": 0, "task_durations_s": [1] * 21}])], 422, pointer="/0/stages/0/task_durations_s")
    strict.get("/v1/applications/a", 404)


def test_a_thinned_run_goes_round_too_and_an_older_copy_of_it_is_known(client, stranger, name):
    sketch = {"id": 0, "task_time_summary": [{"tasks": 1, "mean_s": 1.5}, {"tasks": 9, "mean_s": 2.5}, {"tasks": 1, "mean_s": 7.25}]}
    send(client, name, [dict(SMALL, stages=[sketch])])
    first = export(client, name).content
    line = json.loads(first)
    assert line["task_times_summarized"] is True and line["stages"][0]["task_time_summary"] == sketch["task_time_summary"]
    send(stranger, name, first)
    assert export(stranger, name).content == first
    durations = [1.5, 2.0, 3.0] + [2.5] * 7 + [7.25]
    older = dict(line, stages=[dict(line["stages"][0], task_durations_s=durations)])
    del older["task_times_summarized"], older["stages"][0]["task_time_summary"]
    assert outcome(send(client, name, [older], 200)) == (0, 0, 1), "thinning is no other telling"
