"""Heavy requests do not hold up light ones, work whose client has left is dropped while it waits, and a team's connections
leave some to others.

Times are compared with what one heavy request takes on the same machine, never with a clock of their own.
"""
import contextlib
import json
import re
import select
import socket
import threading
import time

import pytest

from long_work import Table, lab
from patience import PATIENCE, SLOWDOWN, wait_until


@pytest.fixture(scope="module")
def narrow(make_service):
    """One compute worker: two heavy requests already wait for each other."""
    service = make_service(PROVISOR_COMPUTE_WORKERS=1)
    service.alpha_token = service.token("alpha")
    return service.start()


def heavy_body(seed):
    """Distinct durations and a deadline that cannot be kept: decoding, a schedule, a search for remedies."""
    durations = [1 + ((i * 7919 + seed) % 10007) / 10007 for i in range(250000)]
    return json.dumps({"cluster": {"executors": 16, "cores_per_executor": 4},
                       "jobs": [{"name": "A", "deadline_s": 100, "stages": [{"id": 0, "task_durations_s": durations}]},
                                {"name": "B", "release_s": 5, "deadline_s": 10, "stages": [{"id": 0, "tasks": 50, "task_duration_s": 1}]}]})


LIGHT = {"cluster": {"executors": 1, "cores_per_executor": 2},
         "jobs": [{"name": "A", "deadline_s": 5, "stages": [{"id": 0, "task_durations_s": [1, 2, 3]}]}]}


def post(client, body, status=200):
    return client.request("POST", "/v1/feasibility", status, data=body, headers={"Content-Type": "application/json"}, timeout=120)


def test_light_requests_pass_heavy_ones(narrow):
    client = narrow.client(narrow.alpha_token)
    began = time.monotonic()
    post(client, heavy_body(0))
    alone = time.monotonic() - began
    crowd = [threading.Thread(target=post, args=(narrow.client(narrow.alpha_token), heavy_body(i), {200, 503}))
             for i in range(1, 7)]  # the last may not be in time
    for thread in crowd:
        thread.start()
    time.sleep(alone / 2)
    slowest = 0
    for _ in range(5):
        for ask in (lambda: client.post("/v1/feasibility", LIGHT, 200), lambda: client.get("/v1/applications"),
                    lambda: client.get("/readyz", token=False)):
            began = time.monotonic()
            ask()
            slowest = max(slowest, time.monotonic() - began)
    assert any(thread.is_alive() for thread in crowd), "the crowd was too small to tell"
    for thread in crowd:
        thread.join()
    assert slowest < 2 * alone, "a light request waited %.2f s; one heavy request takes %.2f s" % (slowest, alone)


def test_work_of_clients_that_left_is_dropped(narrow):
    client = narrow.client(narrow.alpha_token)
    began = time.monotonic()
    post(client, heavy_body(10))
    alone = time.monotonic() - began
    left = []
    for i in range(20):
        body = heavy_body(20 + i).encode()
        s = socket.create_connection(("127.0.0.1", narrow.port))
        s.sendall(("POST /v1/feasibility HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"
                   "Content-Length: %d\r\n\r\n" % (narrow.alpha_token, len(body))).encode() + body)
        left.append(s)
    for s in left:
        s.close()
    began = time.monotonic()
    while client.request("POST", "/v1/feasibility", {200, 503}, data=heavy_body(50), headers={"Content-Type": "application/json"},
                         timeout=120).status_code == 503:  # until it is noticed that they left
        assert time.monotonic() - began < 30 * SLOWDOWN
        time.sleep(0.1)
    waited = time.monotonic() - began
    assert waited < 10 * alone + 3, "waited %.1f s behind clients that had left; one request takes %.2f s" % (waited, alone)


def test_an_advice_that_must_be_computed_does_not_hold_up_the_rest(narrow, name):
    client = narrow.client(narrow.alpha_token)
    stages = [{"id": 0, "task_durations_s": [1 + ((i * 7919) % 10007) / 10007 for i in range(20000)]}]
    client.post("/v1/applications/%s/runs" % name, {"problem_size": 20000, "executors": 16, "cores_per_executor": 4,
                                                    "duration_s": 480, "initialization_s": 2, "stages": stages}, 201)
    asked = {"application": name, "deadline_s": 600}
    began = time.monotonic()
    first = client.post("/v1/advice", asked, 201).json()
    alone = time.monotonic() - began
    # Other sizes are other predictions: none of these is in the cache.
    crowd = [threading.Thread(target=narrow.client(narrow.alpha_token).post,
                              args=("/v1/advice", dict(asked, problem_size=20000 + i), 201)) for i in range(1, 9)]
    for thread in crowd:
        thread.start()
    slowest = 0
    for _ in range(10):
        began = time.monotonic()
        again = client.post("/v1/advice", asked, 201).json()
        slowest = max(slowest, time.monotonic() - began)
    for thread in crowd:
        thread.join()
    assert again["recommendation"] == first["recommendation"]
    assert slowest < 2 * alone + 1


# --- connections ---

CONNECTIONS = 400  # of which the last 25 are for newcomers, and the last 12 for teams within their share


@pytest.fixture(scope="module")
def crowded(make_service):
    """Few connections, and operations that nobody works at, to wait for."""
    service = lab(make_service(PROVISOR_CONNECTIONS_MAX=CONNECTIONS, PROVISOR_OPERATION_WORKERS=0, PROVISOR_CONNECTION_IDLE_S=600,
                               PROVISOR_TOKEN_CACHE_MS=5000))
    service.alpha_token, service.beta_token = service.token("alpha"), service.token("beta")
    return service.start()


def send(s, token, target, headers=""):
    s.sendall(("GET %s HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %s\r\n%s\r\n" % (target, token, headers)).encode())


def read_answer(s):
    """Status and fields; (0, "") where the connection ended instead."""
    text = b""
    with contextlib.suppress(ConnectionResetError):
        while b"\r\n\r\n" not in text:
            piece = s.recv(65536)
            if not piece:
                return 0, ""
            text += piece
        head, body = text.split(b"\r\n\r\n", 1)
        fields = head.decode("latin1").lower()
        missing = int(re.search(r"content-length: (\d+)", fields)[1]) - len(body)
        while missing > 0:
            missing -= len(s.recv(65536))
        return int(fields.split()[1]), fields
    return 0, ""


def connect(service, token, target="/v1/applications", headers=""):
    s = socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE)
    send(s, token, target, headers)
    return s


def has_ended(s):
    s.setblocking(False)
    try:
        return s.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True
    finally:
        s.settimeout(PATIENCE)


def test_a_team_with_all_connections_keeps_nobody_else_out(crowded):
    """Idle ones of the team that holds most go first; and of those that wait for answers it has nearly all and no more."""
    table = Table(crowded)
    made = table.queue("alpha")
    table.close()
    held, idle = [], []
    for _ in range(200):
        held.append(connect(crowded, crowded.alpha_token, "/v1/operations/" + made, "Prefer: wait=60\r\n"))
    for _ in range(160):  # alone it may have nearly all
        idle.append(connect(crowded, crowded.alpha_token))
        assert read_answer(idle[-1])[0] == 200
    assert not any(map(has_ended, held + idle))
    assert crowded.metric('provisor_resource_held{resource="connections"}') >= 360

    quiet = []
    for _ in range(40):
        quiet.append(connect(crowded, crowded.beta_token))
        assert read_answer(quiet[-1])[0] == 200
    wait_until(lambda: sum(map(has_ended, idle)) >= 20,
               lambda: [sum(map(has_ended, s)) for s in (idle, held, quiet)] + [crowded.metric("provisor_" + m) for m in
                                                                                    ('http_connections', 'resource_held{resource="connections"}')])
    assert not any(map(has_ended, held + quiet))
    for s in quiet[1:]:
        s.close()

    refused, end = [], time.monotonic() + PATIENCE
    while not (refused and all(map(has_ended, idle))):  # all that are left, and all of them wait
        assert time.monotonic() < end
        held.append(connect(crowded, crowded.alpha_token, "/v1/operations/" + made, "Prefer: wait=60\r\n"))
        for s in select.select(held, [], [], 0.01)[0]:
            refused.append(read_answer(s))
            held.remove(s)
    for status, fields in refused:
        assert status == 429 and "connection: close" in fields and 'ratelimit: "connections";r=0;t=1' in fields
        assert 'ratelimit-policy: "connections";q=400;qu="concurrent-requests"' in fields
    for _ in range(30):
        with connect(crowded, crowded.beta_token) as s:
            assert read_answer(s)[0] == 200
    send(quiet[0], crowded.beta_token, "/v1/applications")
    assert read_answer(quiet[0])[0] == 200, "a team within its share keeps what it has"
    assert crowded.metric('provisor_resource_refused_total{resource="connections",reason="share"}') >= 1
    for s in held + idle + quiet:
        s.close()
