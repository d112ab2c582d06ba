#!/usr/bin/python3
"""The calls of the API on a history of a million runs.

Fills a private PostgreSQL (fill_history.sql: a year of runs in monthly partitions, one application with a tenth of
them), then asks over HTTP, one request after another on one connection, each time for something else where that is
possible, and prints median, 99th percentile and the slowest. Every 99th percentile has to stay under 20 ms; calls that
are first of their kind (a model that has to be fitted, a history that has to be replayed) are shown apart.

    tests/bench/bench_history.py [RUNS [REQUESTS]]     default 1000000 and 200; PROVISOR_BUILD says which build
    PROVISOR_BENCH_DIR=D keeps the filled database in D and uses it again.

Ends with 1 when a call is slower.
"""
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "api"))

from conftest import Service  # noqa: E402
from contract import Contract  # noqa: E402

GOAL_P99_MS = 20
PAGE = 50
LONG = "/v1/applications/long-history"


class Asker:
    def __init__(self, service, token):
        self.connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
        self.head = {"Authorization": "Bearer " + token}

    def ask(self, method, path, body=None):
        """The reply and how long it took, in milliseconds."""
        head = dict(self.head)
        if body is not None:
            body, head["Content-Type"] = json.dumps(body), "application/json"
        began = time.perf_counter()
        self.connection.request(method, path, body, head)
        reply = self.connection.getresponse()
        text = reply.read()
        took = (time.perf_counter() - began) * 1e3
        assert reply.status in (200, 201), "%s %s: %d %s" % (method, path, reply.status, text[:500])
        return json.loads(text), took

    def get(self, path):
        return self.ask("GET", path)[0]


def fill(service, runs):
    began = time.monotonic()
    out = service.database.psql("-q", "-v", "ON_ERROR_STOP=1", "-v", "runs=%d" % runs,
                                "-f", ROOT / "tests" / "bench" / "fill_history.sql")
    print(re.sub(r"^Time: .*\n", "", out, flags=re.M).strip())
    print("filled in %.0f s" % (time.monotonic() - began))


def cursors(asker, path, pages):
    """Cursors of the first pages of a list."""
    found = []
    while len(found) < pages:
        page = asker.get(path + ("&cursor=" + urllib.parse.quote(found[-1]) if found else ""))
        if page["next_cursor"] is None:
            break
        found.append(page["next_cursor"])
    return found


def times(days):
    """A window of `days` somewhere in the year, as parameters."""
    end = time.time() - random.random() * 86400 * (360 - days)
    stamp = [time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(t)) for t in (end - days * 86400, end)]
    return "since=%s&until=%s" % tuple(stamp)


def calls(asker):
    """(name, is it warm, function that gives method, path and body of the next request)."""
    runs = LONG + "/runs?limit=%d" % PAGE
    deep = cursors(asker, LONG + "/runs?limit=200", 120)
    deep_of_all = cursors(asker, "/v1/runs?limit=200", 120)
    deep_labelled = cursors(asker, LONG + "/runs?limit=200&label=branch:dev", 60)
    ids = [r["id"] for c in deep[::12] for r in asker.get(LONG + "/runs?limit=200&cursor=" + urllib.parse.quote(c))["items"]]
    names = [a["name"] for a in asker.get("/v1/applications?limit=200")["items"]]
    hosts = range(0, 50, 10)  # those that the long history has
    app = lambda: "/v1/applications/" + random.choice(names)  # noqa: E731
    quote = urllib.parse.quote
    advice = {"problem_size": 64, "deadline_s": 100}

    def get(make):
        return lambda: ("GET", make(), None)

    return [
        ("applications", get(lambda: "/v1/applications?limit=%d" % PAGE)),
        ("applications, latest", get(lambda: "/v1/applications?include=last_run,last_advice&limit=%d" % PAGE)),
        ("application", get(app)),
        ("runs, first page", get(lambda: runs)),
        ("runs, first page, stages", get(lambda: runs + "&include=stages")),
        ("runs, deep page", get(lambda: LONG + "/runs?limit=200&cursor=" + quote(random.choice(deep[60:])))),
        ("runs, by label", get(lambda: runs + "&label=host:host-%d" % random.choice(hosts))),
        ("runs, by label, deep page", get(lambda: LONG + "/runs?limit=200&label=branch:dev&cursor=" + quote(random.choice(deep_labelled[30:])))),
        ("runs, by two labels", get(lambda: runs + "&label=branch:dev&label=host:host-%d" % random.choice(hosts))),
        ("runs, by two labels never met", get(lambda: runs + "&label=branch:dev&label=host:host-none")),
        ("runs, by time", get(lambda: runs + "&" + times(3))),
        ("runs, by label and time", get(lambda: runs + "&label=host:host-%d&%s" % (random.choice(hosts), times(30)))),
        ("runs of all, first page", get(lambda: "/v1/runs?limit=%d" % PAGE)),
        ("runs of all, deep page", get(lambda: "/v1/runs?limit=200&cursor=" + quote(random.choice(deep_of_all[60:])))),
        ("runs of all, failed, by time", get(lambda: "/v1/runs?limit=%d&succeeded=false&%s" % (PAGE, times(30)))),
        ("run", get(lambda: LONG + "/runs/" + random.choice(ids))),
        ("run by id alone, with tasks", get(lambda: "/v1/runs/%s?include=tasks" % random.choice(ids))),
        ("profile", get(lambda: LONG + "/profile")),
        ("accuracy, long history", get(lambda: LONG + "/accuracy?limit=%d" % PAGE)),
        ("accuracy, all applications", get(lambda: "/v1/accuracy?limit=%d" % PAGE)),
        ("accuracy, by time", get(lambda: "/v1/accuracy?" + times(60))),
        ("next experiments", get(lambda: app() + "/next-experiments?problem_size=64&executors=12")),
        ("models", get(lambda: app() + "/models")),
        ("models, long history", get(lambda: LONG + "/models")),
        ("speedup", get(lambda: LONG + "/speedup")),
        ("advice list", get(lambda: "/v1/advice?limit=%d" % PAGE)),
        ("advice list of one", get(lambda: "/v1/advice?limit=%d&application=long-history" % PAGE)),
        ("advice", lambda: ("POST", "/v1/advice", dict(advice, application="long-history"))),
        ("advice, not kept", lambda: ("POST", "/v1/advice?dry_run=true", dict(advice, application=random.choice(names[:20])))),
        ("a run comes", lambda: ("POST", app() + "/runs", {"problem_size": 64, "executors": 4, "cores_per_executor": 4, "duration_s": 40.0,
                                                           "labels": {"branch": "main"}})),
    ]


def show(name, cold, took, goal):
    """One line; whether the goal is met."""
    took = sorted(took)
    p99 = took[min(len(took) - 1, int(0.99 * len(took)))]
    good = goal is None or p99 < goal
    print("%-32s %8.1f %8.2f %8.2f %8.2f %s" % (name, cold, took[len(took) // 2], p99, took[-1], "" if good else "  SLOW"), flush=True)
    return good


def fit_all(asker):
    """The first look at models of an application may fit them, its first advice replay its history; shown, not judged."""
    names = [a["name"] for a in asker.get("/v1/applications?limit=200")["items"]]
    took = [asker.ask("GET", "/v1/applications/%s/models" % name)[1] for name in names]
    show("(models, each read once)", took[0], took, None)
    took = [asker.ask("POST", "/v1/advice?dry_run=true", {"application": name, "problem_size": 64, "deadline_s": 100})[1] for name in names[:20]]
    show("(advice, each asked once)", took[0], took, None)


def measure(asker, name, make, requests):
    cold = asker.ask(*make())[1]
    for _ in range(30):
        asker.ask(*make())
    return show(name, cold, [asker.ask(*make())[1] for _ in range(requests)], GOAL_P99_MS)


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000
    requests = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    kept = os.environ.get("PROVISOR_BENCH_DIR")
    directory = pathlib.Path(kept or tempfile.mkdtemp(prefix="provisor-bench-"))
    directory.mkdir(exist_ok=True)
    os.chmod(directory, 0o755)
    random.seed(1)
    service = Service(directory, Contract())
    try:
        service.command("migrate")
        token = service.token("bench")
        if not (directory / "filled").exists():
            fill(service, runs)
            (directory / "filled").touch()
        service.start()
        asker = Asker(service, token)
        wanted = calls(asker)
        print("%-32s %8s %8s %8s %8s" % ("milliseconds", "first", "median", "p99", "slowest"))
        fit_all(asker)
        slow = [name for name, make in wanted if not measure(asker, name, make, requests)]
        if slow:
            print("over %d ms: %s" % (GOAL_P99_MS, ", ".join(slow)))
        return 1 if slow else 0
    finally:
        service.close()
        if not kept:
            shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
