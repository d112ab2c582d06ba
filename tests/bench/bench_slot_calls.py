#!/usr/bin/python3
"""What decisions on free slots take over HTTP.

    tests/bench/bench_slot_calls.py [SECONDS]       of each load, default 10; PROVISOR_BUILD says which build (default build)

POST /v1/slot-decisions by FRESH and by OMO for states of 3, 10 and 100 jobs, beside GET /healthz of the same connections: requests a second,
latency, and the processor time that the service itself takes for a request, which depends less on who else uses the machine. The goal is 20,000
a second on two cores that the generator shares. Then logs of such states, replayed in one call each.
"""
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time

import requests

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "api"))
sys.path.insert(0, str(ROOT / "tests" / "bench"))

from bench_service import wrk  # noqa: E402
from conftest import Service  # noqa: E402
from contract import Contract  # noqa: E402


def fresh(n):
    """As of a scheduler that reports the durations of tasks to the millisecond."""
    jobs = []
    for i in range(n):
        reducing = i % 3 == 2
        jobs.append({"name": "job-%03d" % i, "phase": "reduce" if reducing else "map", "started_s": 10 + 4 * i, "maps": 270,
                     "maps_finished": 270 if reducing else 100 + i % 90, "maps_running": 0 if reducing else i % 7, "map_task_s": 9.5 + i % 13 / 8,
                     "reduces": 250, "reduces_finished": 30 + i % 11 if reducing else 0, "reduces_running": i % 5 if reducing else 0,
                     "reduce_task_s": 6.25 + i % 7 / 4, "task_time_s": 2473.516 + 11.372 * i})
    return {"kind": "fresh", "now_s": 600, "map_slots": 290, "reduce_slots": 100, "concurrency": n, "jobs": jobs}


def omo(n):
    jobs = [{"name": "job-%03d" % i, "maps": 80, "maps_finished": 30 + i % 40, "maps_running": i % 10, "map_task_s": 20.5 + i % 9 / 8, "reduces": i % 6,
             "reduces_finished": 0, "reduces_running": 1 if i % 12 == 5 else 0, "shuffle_s": 61.5 + i % 17} for i in range(n)]
    return {"kind": "omo", "windows": [{"released": 11, "available_slots": 300}], "previous": {"release_frequency_per_s": 1.1, "available_slots": 290},
            "jobs": jobs}


def cpu_s(pid):
    fields = pathlib.Path("/proc/%d/stat" % pid).read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(service, directory, token, seconds, name, method, path, body):
    began = cpu_s(service.process.pid)
    rate, p50, p99 = wrk(service, directory, method, path, body, token, seconds)
    each = (cpu_s(service.process.pid) - began) / (rate * seconds)
    print("%-36s %6.1f kB  %8.0f /s  p50 %6.2f ms, p99 %7.2f ms   %7.1f us of a core each" % (name, len(body) / 1000, rate, p50, p99, 1e6 * each))


def replay(service, token, name, state, states):
    body = (json.dumps(state, separators=(",", ":")) + "\n").encode() * states
    began, cpu = time.monotonic(), cpu_s(service.process.pid)
    reply = requests.post(service.base_url + "/v1/slot-decisions?lines=none", data=body,
                          headers={"Authorization": "Bearer " + token, "Content-Type": "application/x-ndjson"})
    took, used = time.monotonic() - began, cpu_s(service.process.pid) - cpu
    assert reply.json()["summary"]["decisions"][0]["count"] == states, reply.text
    print("%-36s %6.1f MB  %8.0f /s %38s %7.1f us of a core each" % (name, len(body) / 1e6, states / took, "", 1e6 * used / states))


def main():
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    directory = pathlib.Path(tempfile.mkdtemp(prefix="provisor-bench-"))
    os.chmod(directory, 0o755)
    service = Service(directory, Contract())
    try:
        service.command("migrate")
        token = service.token("bench")
        service.start()
        measure(service, directory, token, seconds, "GET /healthz", "GET", "/healthz", "")
        for kind, make in (("fresh", fresh), ("omo", omo)):
            for n in (3, 10, 100):
                body = json.dumps(make(n), separators=(",", ":"))
                measure(service, directory, token, seconds, "slot-decisions, %s, %d jobs" % (kind, n), "POST", "/v1/slot-decisions", body)
            for n, states in ((10, 20000), (100, 2000)):
                replay(service, token, "log of %d, %s, %d jobs" % (states, kind, n), make(n), states)
    finally:
        service.close()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
