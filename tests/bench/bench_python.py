#!/usr/bin/python3
"""The client for Python against a load generator, and how long an export takes it.

    PROVISOR_BUILD=build-check tests/bench/bench_python.py [RUNS]      runs of the export, default 100000

Advice on one connection, in turns so that both see the same machine: 1,000 by `client.advise`, each looked at, and as
many as wrk gets in as long; stored and as dry runs. Prints the median of the rounds' ratios (goal for stored advice: 0.7).
Then RUNS runs are stored and exported: as objects into a list, and as lines; seconds, and the memory that it took.
"""
import contextlib
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "api"), str(ROOT / "tests" / "bench")]

from bench_advice import WRK, load_sample  # noqa: E402
from conftest import Service  # noqa: E402
from contract import Contract  # noqa: E402

GOAL = 0.7
ROUNDS = 5
CALLS = 1000


def import_package(directory):
    """The package as a build makes it."""
    shutil.copytree(ROOT / "clients" / "python" / "src", directory / "src")
    subprocess.run([sys.executable, "-B", ROOT / "clients" / "python" / "tools" / "generate.py", directory / "src" / "provisor"], check=True)
    sys.path.insert(0, str(directory / "src"))
    import provisor
    return provisor


def by_client(client, dry_run):
    began = time.monotonic()
    for _ in range(CALLS):
        assert client.advise("nightly-etl", problem_size=64, deadline_s=120, dry_run=dry_run).recommendation.executors
    return CALLS / (time.monotonic() - began)


def by_wrk(service, script, query):
    out = service.run("wrk", "-t1", "-c1", "-d1s", "-s", script, service.base_url + "/v1/advice" + query)
    assert re.search(r"^errors 0$", out, re.M), out
    return float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1])


def compare(service, client, script, dry_run):
    """Median ratio of the rounds; the order changes from round to round."""
    query, ratios = "?dry_run=true" if dry_run else "", []
    by_client(client, dry_run)
    for number in range(ROUNDS):
        if number % 2:
            ours, theirs = by_client(client, dry_run), by_wrk(service, script, query)
        else:
            theirs, ours = by_wrk(service, script, query), by_client(client, dry_run)
        ratios.append(ours / theirs)
        print("  client %5.0f/s, wrk %5.0f/s, ratio %.2f" % (ours, theirs, ours / theirs), flush=True)
    return statistics.median(ratios)


@contextlib.contextmanager
def measured(title, count):
    began = time.monotonic()
    yield
    print("%s: %d runs in %.1f s; most memory of the process %d MB"
          % (title, count, time.monotonic() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024), flush=True)


def export(client, count):
    """Stored in pieces, as one import is one transaction."""
    for at in range(0, count, 10000):
        client.import_runs("export", ({"problem_size": i % 50 + 1, "executors": i % 7 + 1, "cores_per_executor": 4, "duration_s": 10 + i % 13,
                                       "spark_application_id": "app-%d" % i, "labels": {"branch": "main"}}
                                      for i in range(at, min(count, at + 10000))), progress=False)
    with measured("export, line by line", count):
        assert sum(1 for _ in client.export_lines("export")) == count
    with measured("export into a list", count):
        runs = list(client.export_runs("export"))
    with measured("a member of each", count):
        assert sum(run.executors for run in runs) > count


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
    directory = pathlib.Path(tempfile.mkdtemp(prefix="provisor-bench-"))
    os.chmod(directory, 0o755)
    service = Service(directory, Contract(), {"PROVISOR_RUNS_MAX": 10000000})
    try:
        provisor = import_package(directory)
        service.command("migrate")
        token = service.token("bench")
        service.start()
        load_sample(service, service.client(token), directory / "sample")
        script = directory / "advice.lua"
        script.write_text(WRK % token)
        with provisor.Client(service.base_url, token, timeout=600) as client:
            stored = compare(service, client, script, None)
            dry = compare(service, client, script, True)
            print("stored advice: ratio %.2f (goal %.1f); dry runs: ratio %.2f" % (stored, GOAL, dry), flush=True)
            export(client, count)
    finally:
        service.close()
        shutil.rmtree(directory, ignore_errors=True)
    return 0 if stored >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
