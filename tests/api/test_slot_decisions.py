"""POST /v1/slot-decisions through the door: faults, states that contradict themselves, logs of states."""
import gzip
import json

import pytest

A = {"name": "A", "phase": "map", "started_s": 0, "maps": 270, "maps_finished": 100, "maps_running": 15, "map_task_s": 21.5, "reduces": 250, "reduces_finished": 0,
     "reduces_running": 0, "reduce_task_s": 6.25, "task_time_s": 2473.5}
C = {"name": "C", "phase": "reduce", "started_s": 0, "maps": 128, "maps_finished": 128, "maps_running": 0, "map_task_s": 9.5, "reduces": 100, "reduces_finished": 30,
     "reduces_running": 10, "reduce_task_s": 12.5, "task_time_s": 1700}
FRESH = {"kind": "fresh", "now_s": 600, "map_slots": 29, "reduce_slots": 10, "concurrency": 2, "jobs": [A, C]}
T = {"name": "T", "maps": 80, "maps_finished": 30, "maps_running": 10, "map_task_s": 20.5, "reduces": 4, "reduces_finished": 0, "reduces_running": 0, "shuffle_s": 95}
OMO = {"kind": "omo", "windows": [{"released": 11, "available_slots": 30}], "jobs": [T]}
PATH = "/v1/slot-decisions"


def codes(reply):
    return [w["code"] for w in reply["warnings"]]


def test_a_slot_is_decided_on(client):
    reply = client.post(PATH, FRESH, 200).json()
    assert reply["action"] == {"slot": "map", "job": "A", "rule": "expected_slots"} and reply["warnings"] == []
    assert client.post(PATH, OMO, 200).json()["action"] == {"slot": "reduce", "job": "T", "rule": "lazy_start"}
    for state in (FRESH, OMO):
        reply = client.post(PATH, dict(state, jobs=[]), 200).json()
        assert reply["action"] == {"slot": "none", "job": None, "rule": "idle"}


def test_what_an_earlier_reply_said_goes_on(client):
    windows = [{"released": 11, "available_slots": 30}, {"released": 8, "available_slots": 28.5}]
    both = client.post(PATH, dict(OMO, windows=windows), 200).json()
    first = client.post(PATH, dict(OMO, windows=windows[:1]), 200).json()
    previous = {m: first[m] for m in ("release_frequency_per_s", "available_slots")}
    assert client.post(PATH, dict(OMO, previous=previous, windows=windows[1:]), 200).json() == both
    bare = {k: v for k, v in OMO.items() if k != "windows"}
    assert client.post(PATH, dict(bare, previous=previous), 200).json() == first


def test_states_that_contradict_themselves(client):
    state = dict(FRESH, map_slots=10, concurrency=1, jobs=[A, dict(A, name="B", task_time_s=1e6), C])
    assert codes(client.post(PATH, state, 200).json()) == ["more_running_than_slots", "more_jobs_than_concurrency", "more_time_than_slots"]
    early = dict(T, reduces_finished=1)
    state = dict(OMO, windows=[{"released": 0, "available_slots": 30}], jobs=[early])
    assert codes(client.post(PATH, state, 200).json()) == ["reduces_before_maps", "nothing_released"]


@pytest.mark.parametrize("state, job, pointer, code", [
    (dict(FRESH, total_slots=39), A, "/total_slots", "out_of_range"), (dict(FRESH, tau1=1.5), A, "/tau1", "out_of_range"),
    (FRESH, dict(A, started_s=601), "/jobs/0/started_s", "out_of_range"), (FRESH, dict(A, phase="pending"), "/jobs/0/maps_finished", "out_of_range"),
    (FRESH, dict(A, reduces_running=1), "/jobs/0/reduces_running", "out_of_range"), (FRESH, dict(A, maps_finished=271), "/jobs/0/maps_finished", "out_of_range"),
    (FRESH, dict(A, map_task_s=0), "/jobs/0/map_task_s", "out_of_range"), (FRESH, dict(A, shuffle_s=3), "/jobs/0/shuffle_s", "unknown_field"),
    (dict(FRESH, next_job={"name": "D", "maps": 0, "map_task_s": 1}), A, "/next_job/maps", "out_of_range"),
    ({k: v for k, v in OMO.items() if k != "windows"}, T, "/windows", "required"), (dict(OMO, ema_weight=0), T, "/ema_weight", "out_of_range"),
    (OMO, {k: v for k, v in T.items() if k != "shuffle_s"}, "/jobs/0/shuffle_s", "required"), (OMO, dict(T, maps_running=51), "/jobs/0/maps_running", "out_of_range"),
    (dict(OMO, techniques=["lazy"]), T, "/techniques/0", "not_allowed"), (dict(OMO, taken={"job": "A"}), T, "/taken/slot", "required"),
])
def test_faults_of_states(client, state, job, pointer, code):
    problem = client.refuse("POST", PATH, 422, pointer=pointer, json=dict(state, jobs=[job]))
    assert code in [e["code"] for e in problem["errors"] if e["pointer"] == pointer]


# --- logs ---


def log(*lines):
    return "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines).encode()


def replay(client, body, **params):
    reply = client.post(PATH, None, 200, data=body, params=params, headers={"Content-Type": "application/x-ndjson"})
    assert reply.headers["Content-Type"] == "application/x-ndjson"
    lines = [json.loads(line) for line in reply.text.splitlines()]
    assert [set(line) == {"summary"} for line in lines] == [False] * (len(lines) - 1) + [True]
    return lines[:-1], lines[-1]["summary"]


def test_a_log_is_decided_on_line_by_line(client):
    body = log(FRESH, "", dict(OMO, taken={"slot": "map", "job": "T"}), "{", dict(FRESH, tau1=2), dict(FRESH, taken={"slot": "map", "job": None}))
    lines, summary = replay(client, body)
    assert [line["line"] for line in lines] == [1, 3, 4, 5, 6]
    assert lines[0]["action"] == client.post(PATH, FRESH, 200).json()["action"] and "differs" not in lines[0]
    assert [line.get("differs") for line in lines] == [None, True, None, None, False]
    assert [line["error"]["status"] for line in lines[2:4]] == [400, 422] and lines[3]["error"]["errors"][0]["pointer"] == "/tau1"
    assert summary == {"lines": 5, "refused": 2, "recorded": 2, "different": 1, "contradicting": 0, "decisions": [
        {"kind": "fresh", "choice": "map", "rule": "expected_slots", "count": 2, "different": 0},
        {"kind": "omo", "choice": "reduce", "rule": "lazy_start", "count": 1, "different": 1}]}
    assert replay(client, gzip.compress(body)) == (lines, summary)
    assert replay(client, body, lines="none") == ([], summary)
    assert [line["line"] for line in replay(client, body, lines="different")[0]] == [3, 4, 5]
    assert replay(client, log(FRESH), include="figures")[0][0]["decision"] == client.post(PATH, FRESH, 200).json()
    assert replay(client, b"") == ([], {"lines": 0, "refused": 0, "recorded": 0, "different": 0, "contradicting": 0, "decisions": []})


def test_clocks_that_go_back_and_counts_that_fall(client):
    early, lost = dict(FRESH, now_s=590), dict(FRESH, jobs=[dict(A, maps_finished=99), dict(C, reduces_finished=29)])
    lines, summary = replay(client, log(FRESH, early, FRESH, lost, OMO))
    assert [codes(dict({"warnings": []}, **line)) for line in lines] == [[], ["now_fell"], [], ["maps_finished_fell", "reduces_finished_fell"], []]
    assert lines[1]["warnings"][0]["evidence"] == {"now_s": 590, "before_s": 600} and summary["contradicting"] == 2
    assert lines[3]["warnings"][0]["evidence"] == {"count": 1, "job": "A"}


def test_the_reply_to_a_log_is_bounded_by_memory(make_service):
    service = make_service(PROVISOR_REQUEST_MEMORY_BYTES_MAX=1 << 20)
    token = service.token("memory")
    service.start()
    client = service.client(token)
    body = log(OMO) * 12000
    problem = client.refuse("POST", PATH, 422, data=body, headers={"Content-Type": "application/x-ndjson"})
    assert "1048576 bytes of memory" in problem["detail"]
    assert replay(client, body, lines="none")[1]["decisions"][0]["count"] == 12000


def test_limits_of_states_and_logs(client, make_service):
    head = {"Content-Type": "application/x-ndjson"}
    client.refuse("POST", PATH, 422, parameter="lines", data=log(FRESH), headers=head, params={"lines": "some"})
    client.refuse("POST", PATH, 415, header="Content-Type", data=log(FRESH), headers={"Content-Type": "text/plain"})
    service = make_service(PROVISOR_SLOT_DECISION_JOBS_MAX=1, PROVISOR_DECISION_LOG_LINES_MAX=3, PROVISOR_DECISION_LOG_LINE_BYTES_MAX=1024,
                           PROVISOR_DECISION_LOG_BYTES_MAX=1500)
    token = service.token("limits")
    service.start()
    client = service.client(token)
    client.refuse("POST", PATH, 422, pointer="/jobs", json=FRESH)
    assert len(replay(client, log(OMO, OMO, OMO))[0]) == 3
    assert "decision_log_lines_max" in client.refuse("POST", PATH, 422, data=log(OMO, OMO, OMO, OMO), headers=head)["detail"]
    assert "decision_log_line_bytes_max" in client.refuse("POST", PATH, 422, data=log(" " * 1025), headers=head)["detail"]
    client.refuse("POST", PATH, 413, data=log(*[" " * 300] * 6), headers=head)
    client.refuse("POST", PATH, 413, data=gzip.compress(log(*[" " * 300] * 6)), headers=head)
