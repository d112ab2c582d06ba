#!/usr/bin/python3
"""The client for Python against a load generator, and how long an export takes it.

    PROVISOR_BUILD=build-check tests/bench/bench_python.py [RUNS]      runs of the export, default 100000

Advice on one connection, in turns so that all see the same machine: 1,000 by `client.advise`, each looked at, and as
many as wrk gets in a second. The client sends an Idempotency-Key with what is stored, for which the service keeps the
reply: the ratio that has a goal (0.7) is to wrk sending keys as well. Those to wrk without keys, and of dry runs, which have none, are
printed beside it. All are medians of the rounds.
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

KEYS = """
math.randomseed(os.time())
local begin, number = math.random(1000000000), 0
request = function()
  number = number + 1
  wrk.headers["Idempotency-Key"] = string.format('"%d-%d"', begin, number)
  return wrk.format()
end
"""


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


def compare(service, client, scripts, dry_run):
    """Median ratios of the rounds, one a script; the order changes from round to round."""
    query, ratios = "?dry_run=true" if dry_run else "", {name: [] for name in scripts}
    by_client(client, dry_run)
    for number in range(ROUNDS):
        turns = [("client", lambda: by_client(client, dry_run)), *((name, lambda f=file: by_wrk(service, f, query)) for name, file in scripts.items())]
        speeds = {name: work() for name, work in (reversed(turns) if number % 2 else turns)}
        print("  " + ", ".join("%s %.0f/s" % (name, speeds[name]) for name, _ in turns), flush=True)
        for name in scripts:
            ratios[name].append(speeds["client"] / speeds[name])
    return {name: statistics.median(found) for name, found in ratios.items()}


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
    service = Service(directory, Contract())
    try:
        provisor = import_package(directory)
        service.command("migrate")
        token = service.token("bench")
        service.start()
        load_sample(service, service.client(token), directory / "sample")
        plain, keyed = directory / "plain.lua", directory / "keyed.lua"
        plain.write_text(WRK % token)
        keyed.write_text(WRK % token + KEYS)
        with provisor.Client(service.base_url, token, timeout=600) as client:
            stored = compare(service, client, {"wrk with keys": keyed, "wrk without": plain}, None)
            dry = compare(service, client, {"wrk": plain}, True)
            print("stored advice: %.2f of wrk with keys (goal %.1f), %.2f of wrk without; dry runs: %.2f of wrk"
                  % (stored["wrk with keys"], GOAL, stored["wrk without"], dry["wrk"]), flush=True)
            export(client, count)
    finally:
        service.close()
        shutil.rmtree(directory, ignore_errors=True)
    return 0 if stored["wrk with keys"] >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
