#!/usr/bin/python3
"""What the running service takes: time to readiness, memory idle and under idle connections, feasibility.

    tests/bench/bench_service.py [SECONDS]       default 10; PROVISOR_BUILD says which build (default build)

Goals: ready within 1 s of PostgreSQL being up, idle under 40 MB, 5,000 idle connections under 250 MB, and
POST /v1/feasibility with 3 jobs of 1,000 tasks p99 under 20 ms at 32 connections. Latency depends on who else
uses the machine: the share of the same connections' GET /healthz is printed beside it.
"""
import json
import os
import pathlib
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "api"))

from conftest import Service  # noqa: E402
from contract import Contract  # noqa: E402

IDLE_CONNECTIONS = 5000
CONNECTIONS = 32
FEASIBILITY = {
    "cluster": {"executors": 16, "cores_per_executor": 4},
    "jobs": [{"name": name, "release_s": release, "deadline_s": deadline, "stages": [
        {"id": 0, "tasks": 600, "task_duration_s": 1.5},
        {"id": 1, "parents": [0], "tasks": 300, "task_duration_s": 2.25},
        {"id": 2, "parents": [1], "tasks": 100, "task_duration_s": 0.75}]}
        for name, release, deadline in (("A", 0, 120), ("B", 10, 90), ("C", 20, 150))]}
# USBA with every term, and noise that keeps gamma: 20 runs, leave-one-out errors included in the reply.
FIT = {"model": "usba", "observations": [
    {"problem_size": n, "executors": m, "initialization_s": 4 + 0.3 * m,
     "duration_s": 4 + 0.3 * m + 40 - 6 * (m / n) ** 0.5 + 0.4 * m + 0.8 * n + 0.1 * ((7 * n + 3 * m) % 5)}
    for n in (8, 16, 32, 64) for m in (1, 2, 4, 8, 16)]}

WRK = """
wrk.method = "%s"
wrk.headers["Authorization"] = "Bearer %s"
wrk.headers["Content-Type"] = "application/json"
wrk.body = [[%s]]
done = function(summary, latency)
  io.write(string.format("errors %%d\\np50_ms %%.2f\\np99_ms %%.2f\\n", summary.errors.status + summary.errors.timeout
           + summary.errors.connect + summary.errors.read + summary.errors.write,
           latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
"""


def resident_mb(pid):
    status = pathlib.Path("/proc/%d/status" % pid).read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) / 1024


def wrk(service, directory, method, path, body, token, seconds):
    """(requests a second, p50 ms, p99 ms)"""
    script = directory / "load.lua"
    script.write_text(WRK % (method, token, body))
    out = service.run("wrk", "-t2", "-c%d" % CONNECTIONS, "-d%ds" % seconds, "-s", script, service.base_url + path)
    assert re.search(r"^errors 0$", out, re.M), out
    found = [re.search(p, out, re.M).group(1) for p in (r"Requests/sec:\s+([\d.]+)", r"^p50_ms ([\d.]+)", r"^p99_ms ([\d.]+)")]
    return tuple(float(v) for v in found)


def idle_connections(service):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, IDLE_CONNECTIONS + 1000), hard))
    held = []
    for _ in range(IDLE_CONNECTIONS):
        s = socket.create_connection(("127.0.0.1", service.port))
        s.sendall(b"GET /healthz HTTP/1.1\r\nHost: bench\r\n\r\n")
        held.append(s)
    answered = sum(s.recv(12).endswith(b"200") for s in held)
    assert answered == IDLE_CONNECTIONS, answered
    taken = resident_mb(service.process.pid)
    for s in held:
        s.close()
    return taken


def row(what, value, unit, goal):
    print("%-52s %10.1f %-4s goal %s" % (what, value, unit, goal))


def main():
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    directory = pathlib.Path(tempfile.mkdtemp(prefix="provisor-bench-"))
    os.chmod(directory, 0o755)
    service = Service(directory, Contract())
    try:
        service.command("migrate")
        token = service.token("bench")
        began = time.monotonic()
        service.start()
        row("ready after start, PostgreSQL being up", 1000 * (time.monotonic() - began), "ms", "< 1000")
        time.sleep(1)
        row("resident, idle", resident_mb(service.process.pid), "MB", "< 40")
        row("resident, %d idle connections" % IDLE_CONNECTIONS, idle_connections(service), "MB", "< 250")
        for name, method, path, body in (("GET /healthz", "GET", "/healthz", ""),
                                         ("POST /v1/feasibility, 3 jobs of 1,000 tasks", "POST", "/v1/feasibility",
                                          json.dumps(FEASIBILITY)),
                                         ("POST /v1/models/fit, 20 observations (goal 4000 /s)", "POST", "/v1/models/fit",
                                          json.dumps(FIT))):
            rate, p50, p99 = wrk(service, directory, method, path, body, token, seconds)
            print("%-52s %10.0f /s  p50 %.2f ms, p99 %.2f ms" % (name, rate, p50, p99))
    finally:
        service.close()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
