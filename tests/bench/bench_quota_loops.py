#!/usr/bin/python3
"""Samples of quota loops: 1,000 loops, one sample a second each (goal: 1,000 samples a second, p99 under 20 ms).

    tests/bench/bench_quota_loops.py [LOOPS [SECONDS]]     default 1000 20; PROVISOR_BUILD says which build (default build)

Samples name 4 to 16 executors on two workers. Arrivals do not wait for replies (open loop): a latency counts from the
instant at which its sample was due. The load comes from one process on the same cores, over keep-alive connections; what
its own timer is late is in the latencies. Beside them: the share of GET /healthz over the same connections, the
processor time of the service, of PostgreSQL and of the load a sample, and the time that a commit of PostgreSQL takes to
reach the disk. The figures mean little where others use the machine: its load is printed.
"""
import asyncio
import http.client
import json
import os
import pathlib
import random
import shutil
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
sys.path.insert(0, str(ROOT / "tests" / "api"))

from conftest import Service  # noqa: E402
from contract import Contract  # noqa: E402

CONNECTIONS, WARM_S, GOAL_MS = 64, 3, 20
TICKS = os.sysconf("SC_CLK_TCK")


class Loop:
    """What an orchestrator knows of its loop."""

    def __init__(self, number):
        self.name = "loop-%04d" % number
        self.n = 4 + number % 13
        self.random = random.Random(number)
        self.sequence, self.done = 0, [0] * self.n
        self.again = '{"sequence": %d, "at_s": %d, "executors": [' + ", ".join(
            '{"id": "etl-%d-worker-%d", "stage": 0, "completed_tasks": %%d}' % (i % 3, i) for i in range(self.n)) + "]}"

    def settings(self):
        return {"workers": [{"name": "worker-%d" % w, "cores": 16} for w in range(2)], "cgroup": {},
                "applications": [{"name": "etl-%d" % a, "release_s": 0, "deadline_s": 600 + 100 * a} for a in range(3)]}

    def sample(self):
        self.sequence += 1
        if self.sequence == 1:
            return json.dumps({"sequence": 1, "at_s": 1, "executors": [
                {"id": "etl-%d-worker-%d" % (i % 3, i), "application": "etl-%d" % (i % 3), "worker": "worker-%d" % (i % 2), "stage": 0,
                 "tasks": 2000, "stage_deadline_s": 300 + i, "completed_tasks": 0} for i in range(self.n)]})
        self.done = [d + self.random.randrange(12) for d in self.done]
        return self.again % (self.sequence, self.sequence, *self.done)


class Connection(asyncio.Protocol):
    """One request at a time."""

    def __init__(self):
        self.buffer, self.waiting = b"", None

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.buffer += data
        head = self.buffer.find(b"\r\n\r\n")
        if head < 0:
            return
        at = self.buffer.lower().find(b"content-length:", 0, head)
        size = int(self.buffer[at + 15:self.buffer.index(b"\r\n", at)])
        if len(self.buffer) < head + 4 + size:
            return
        reply, self.buffer = self.buffer, b""
        self.waiting.set_result(int(reply[9:12]))

    def connection_lost(self, error):
        if self.waiting is not None and not self.waiting.done():
            self.waiting.set_result(0)

    async def ask(self, text):
        if self.transport.is_closing():
            return 0
        self.waiting = asyncio.get_running_loop().create_future()
        self.transport.write(text)
        return await self.waiting


def percentile(values, percent):
    return sorted(values)[min(len(values) - 1, int(len(values) * percent / 100))]


def processor_s(pid):
    """Of a process and its children."""
    total = 0
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if entry.name == str(pid) or words[1] == str(pid):
                total += int(words[11]) + int(words[12])
    return total / TICKS


class Load:
    def __init__(self, service, token, loops):
        self.port, self.token, self.loops = service.port, token, loops
        self.latencies, self.waits, self.bad = [], [], 0

    def request(self, method, path, body=""):
        return ("%s %s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                % (method, path, self.token, len(body), body)).encode()

    async def one(self, due, text, free, kept):
        connection = await free.get()
        begun = time.monotonic()
        status = await connection.ask(text)
        now = time.monotonic()
        free.put_nowait(connection)
        self.bad += status != 200
        if kept:
            self.latencies.append(1000 * (now - due))
            self.waits.append(1000 * (begun - due))

    async def run(self, rate, seconds, texts, measured=lambda: None):
        """texts() makes the next request; the first WARM_S seconds do not count."""
        self.latencies, self.waits = [], []
        free, tasks = asyncio.Queue(), set()
        for _ in range(CONNECTIONS):
            _, connection = await asyncio.get_running_loop().create_connection(Connection, "127.0.0.1", self.port)
            free.put_nowait(connection)
        began, begun = time.monotonic(), False
        for i in range(int(rate * (WARM_S + seconds))):
            due = began + i / rate
            if (wait := due - time.monotonic()) > 0:
                await asyncio.sleep(wait)
            if not begun and due - began >= WARM_S:
                begun = True
                measured()
            task = asyncio.ensure_future(self.one(due, texts(i), free, begun))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        await asyncio.gather(*tasks)
        while not free.empty():
            free.get_nowait().transport.close()
        return time.monotonic() - began - WARM_S


def commit_ms(service, n=200):
    """The time of a small commit, alone."""
    service.psql("CREATE TABLE bench_commit (n int)")
    began = time.monotonic()
    service.psql("DO $$ BEGIN FOR i IN 1..%d LOOP INSERT INTO bench_commit VALUES (i); COMMIT; END LOOP; END $$" % n)
    return 1000 * (time.monotonic() - began) / n


def print_latencies(name, load, took):
    print("%s: %.0f a second, latency ms p50 %.2f, p90 %.2f, p99 %.2f, p99.9 %.2f, longest %.2f; of which before a connection was free p99 %.2f" % (
        name, len(load.latencies) / took, *(percentile(load.latencies, p) for p in (50, 90, 99, 99.9, 100)), percentile(load.waits, 99)))


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 20
    directory = pathlib.Path(tempfile.mkdtemp(prefix="provisor-bench-"))
    os.chmod(directory, 0o755)
    service = Service(directory, Contract(), {"PROVISOR_QUOTA_LOOPS_MAX": n})
    try:
        service.command("migrate")
        service.start()
        token = service.token("bench")
        loops = [Loop(i) for i in range(n)]
        load = Load(service, token, loops)
        connection = http.client.HTTPConnection("127.0.0.1", service.port)
        for loop in loops:
            connection.request("PUT", "/v1/quota-loops/" + loop.name, json.dumps(loop.settings()),
                               {"Authorization": "Bearer " + token, "Content-Type": "application/json"})
            reply = connection.getresponse()
            assert reply.status == 201, reply.read()
            reply.read()
        connection.close()
        assert [service.psql("SHOW " + s).strip() for s in ("fsync", "synchronous_commit")] == ["on", "on"], "nothing was durable"
        print("load of the machine: %.1f %.1f %.1f; a commit takes %.2f ms" % (*os.getloadavg(), commit_ms(service)))
        took = asyncio.run(load.run(n, min(seconds, 5), lambda i: load.request("GET", "/healthz")))
        print_latencies("GET /healthz", load, took)
        marks = {}
        postmaster = int(next(service.database.server.directory.rglob("postmaster.pid")).read_text().split()[0])

        def mark():
            marks.update(service=processor_s(service.process.pid), postgresql=processor_s(postmaster), load=time.process_time())

        took = asyncio.run(load.run(n, seconds, lambda i: load.request("POST", "/v1/quota-loops/%s/samples" % loops[i % n].name, loops[i % n].sample()), mark))
        before = dict(marks)
        mark()
        print_latencies("samples of %d loops" % n, load, took)
        print("processor time a sample, us: " + ", ".join("%s %.0f" % (who, 1e6 * (marks[who] - before[who]) / len(load.latencies)) for who in marks))
        print("load of the machine: %.1f %.1f %.1f; refused or lost: %d" % (*os.getloadavg(), load.bad))
        good = load.bad == 0 and percentile(load.latencies, 99) < GOAL_MS
        print("goal (p99 under %d ms at %d a second): %s" % (GOAL_MS, n, "met" if good else "missed"))
    finally:
        service.close()
        shutil.rmtree(directory, ignore_errors=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
