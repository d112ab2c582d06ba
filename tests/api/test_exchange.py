"""Runs as NDJSON: exported whole and in flat memory, imported without loss, in one piece or not at all."""
import json
import socket
import time

import pytest
import requests

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
    assert json.loads(reply.content) == run
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

TASKS = [i / 7 for i in range(20000)]


@pytest.fixture(scope="module")
def slow(make_service):
    """A service with a history of 40 MB, impatient with its readers."""
    service = make_service(PROVISOR_EXPORTS_MAX=2, PROVISOR_CONNECTION_IDLE_S=2, PROVISOR_TASKS_MAX=60000, PROVISOR_LOG_LEVEL="info")
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


def test_exports_are_bounded_in_number_and_a_reader_that_stops_is_cut(slow):
    service, client = slow
    readers = [begin_reading(service, client) for _ in range(2)]
    problem = client.get(runs_of("big") + "/export", 503)
    assert "exports_max" in problem.json()["detail"] and int(problem.headers["Retry-After"]) > 0
    assert client.get(runs_of("big") + "?limit=1", timeout=5).json()["items"], "others are served meanwhile"
    end = time.monotonic() + 60
    while client.get(runs_of("big") + "/export", {200, 503}, stream=True).status_code == 503:
        assert time.monotonic() < end, "the places of readers that stopped are not given back"
        time.sleep(0.2)
    for s in readers:
        assert not take_all(s).endswith(b"0\r\n\r\n"), "cut, and told apart from a whole export"
        s.close()


def test_a_failure_in_the_middle_is_a_cut_that_clients_report(slow):
    service, client = slow
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
