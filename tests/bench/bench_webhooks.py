#!/usr/bin/python3
"""Deliveries of webhooks to a local receiver (Node, on the same cores).

Prints how long N pending deliveries of one endpoint take (goal: 1,000 a second); the same while other endpoints
hang, drop connections, answer 500, trickle and answer without end, with the memory of provisord before and after; and
the time from an event's commit to its arrival at rest (goal: under 200 ms).

    tests/bench/bench_webhooks.py [N]        default 10000; PROVISOR_BUILD says which build (default build)
"""
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
sys.path.insert(0, str(ROOT / "tests" / "api"))

from conftest import Service  # noqa: E402
from contract import Contract  # noqa: E402
from ports import free_port  # noqa: E402
from webhook_receiver import Receiver  # noqa: E402

GOAL_RATE, GOAL_MS, EVENTS_AT_REST = 1000, 200, 50

RECEIVER = """
const http = require('http');
let count = 0, last = 0;
http.createServer((request, response) => {
  if (request.method === 'GET') { response.end(JSON.stringify({count, last})); return; }
  request.on('data', () => {});
  request.on('end', () => { count++; last = Date.now() / 1000; response.writeHead(204); response.end(); });
}).listen(+process.argv[2], '127.0.0.1');
"""


class Counter:
    def __init__(self, directory):
        self.port = free_port()
        script = directory / "receiver.js"
        script.write_text(RECEIVER)
        self.process = subprocess.Popen(["node", script, str(self.port)])
        self.url = "http://127.0.0.1:%d/" % self.port
        while self.state() is None:
            time.sleep(0.05)

    def state(self):
        import requests
        try:
            return requests.get(self.url, timeout=5).json()
        except requests.ConnectionError:
            return None

    def wait(self, count, seconds=300):
        end = time.monotonic() + seconds
        while (state := self.state())["count"] < count:
            assert time.monotonic() < end, state
            time.sleep(0.05)
        return state["last"]


def queue(service, client, hook, n):
    """Disabled meanwhile, so that all are pending when it begins; the events are the service's own rows."""
    service.psql("UPDATE provisor.webhook SET held_until = now() + interval '1 hour'")
    service.psql("INSERT INTO provisor.outbox (team_id, id, type, data) SELECT team_id, gen_random_uuid(), 'run.ingested',"
                 " json_build_object('run_id', gen_random_uuid(), 'application', 'etl', 'problem_size', 64, 'executors', 8, 'duration_s', 90.5,"
                 " 'succeeded', true) FROM provisor.webhook, generate_series(1, %d) WHERE id = '%s'" % (n, hook["id"]))
    while int(service.psql("SELECT count(*) FROM provisor.webhook_delivery WHERE status = 'pending' AND webhook_id = '%s'" % hook["id"])) < n:
        time.sleep(0.1)


def release(service, hook):
    service.psql("UPDATE provisor.webhook SET held_until = NULL, due_at = now() WHERE held_until IS NOT NULL")
    return time.time()


def memory(service):
    text = pathlib.Path("/proc/%d/status" % service.process.pid).read_text()
    return int(text.split("VmRSS:")[1].split()[0]) / 1024


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    directory = pathlib.Path(tempfile.mkdtemp(prefix="provisor-bench-"))
    os.chmod(directory, 0o755)
    service = Service(directory, Contract(), {
        "PROVISOR_WEBHOOK_PRIVATE_TARGETS": "127.0.0.0/8", "PROVISOR_WEBHOOK_PLAIN_HTTP": "true", "PROVISOR_WEBHOOK_PENDING_MAX": 10 * n})
    counter, bad, rates, took = None, [], {}, []
    try:
        service.command("migrate")
        service.start()
        client = service.client(service.token("bench"))
        counter = Counter(directory)
        events = {"events": ["run.ingested"]}
        hook = client.post("/v1/webhooks", {"url": counter.url, "concurrency": 16, **events}, status=201).json()
        client.post("/v1/applications", {"name": "etl"}, status=201)
        total = 0
        for name in ("alone", "beside five that misbehave"):
            queue(service, client, hook, n)
            before = memory(service)
            began = release(service, hook)
            total += n
            rates[name] = n / (counter.wait(total) - began)
            print("%d pending deliveries, %s: %.0f a second (goal %d); provisord %.0f MB before, %.0f MB after" % (
                n, name, rates[name], GOAL_RATE, before, memory(service)))
            if not bad:
                bad = [Receiver(fault) for fault in ("hang", "drop", 500, "trickle", "flood")]
                for receiver in bad:
                    client.post("/v1/webhooks", {"url": receiver.url, **events}, status=201)
        for receiver in bad:
            receiver.close()
        for item in client.get("/v1/webhooks").json()["items"]:
            if item["id"] != hook["id"]:
                client.delete("/v1/webhooks/" + item["id"])
        for _ in range(EVENTS_AT_REST):
            time.sleep(0.1)
            client.post("/v1/applications/etl/runs", {"problem_size": 64, "executors": 4, "cores_per_executor": 2, "duration_s": 60}, status=201)
            began = time.time()
            total += 1
            took.append(1000 * (counter.wait(total) - began))
        print("event to arrival at rest: median %.0f ms, longest %.0f ms of %d (goal %d ms)" % (
            statistics.median(took), max(took), len(took), GOAL_MS))
    finally:
        if counter is not None:
            counter.process.kill()
        service.close()
        shutil.rmtree(directory, ignore_errors=True)
    return 0 if min(rates.values()) >= GOAL_RATE and statistics.median(took) < GOAL_MS else 1


if __name__ == "__main__":
    sys.exit(main())
