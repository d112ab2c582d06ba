"""More requests than the service can answer: those that are accepted are answered soon, the others are refused at once,
and as much is done as without the surplus. The short form holds only what does not depend on who else uses the
machine; the goals themselves are those of tests/bench/bench_overload.py, which the long check runs."""
import os

import pytest

from overload import Load, accepted, refusals

SECONDS = float(os.environ.get("PROVISOR_LOAD_SECONDS", "2"))
RUN = {"succeeded": True, "cores_per_executor": 2, "stages": [{"id": 0, "parents": [], "task_durations_s": [1.0, 2.0, 3.0]}]}


@pytest.mark.parametrize("path", ["/v1/advice", "/v1/advice?dry_run=true"])
def test_three_times_what_it_can_do(make_service, path):
    service = make_service(PROVISOR_LOG_LEVEL="error")
    token = service.token("crowd")
    service.start(after_database=True)
    client = service.client(token)
    for size in (8, 16, 32, 64):
        for executors in (1, 2, 4, 8):
            client.post("/v1/applications/nightly-etl/runs", dict(RUN, problem_size=size, executors=executors,
                                                                  duration_s=40 + 0.8 * size * (1 + 1 / executors) + 0.4 * executors), 201)
    load = Load(service.port, token, path, {"application": "nightly-etl", "problem_size": 64, "deadline_s": 1200})
    capacity = load.capacity(1)
    seen = load.run(3 * capacity, SECONDS)
    capacity = min(capacity, load.capacity(1))  # others use the machine, and how much changes
    print("%s: %.0f a second; at three times that: %s" % (path, capacity, seen))
    assert set(seen) <= {200, 201, 429, 503}, "each is answered"
    assert accepted(seen)["n"] > 0.3 * capacity * SECONDS
    assert accepted(seen)["p99_ms"] < 10000
    assert refusals(seen)["n"] == 0 or refusals(seen)["p50_ms"] < 10000
    assert client.get("/v1/applications").json()["items"]
