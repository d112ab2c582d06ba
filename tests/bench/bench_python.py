#!/usr/bin/python3
"""The client for Python against a load generator, and how long an export takes it.

    PROVISOR_BUILD=build-check tests/bench/bench_python.py [RUNS]      runs of the export, default 100000

Advice on one connection, in turns so that all see the same machine: 1,000 by `client.advise`, each looked at, and as
many as wrk gets in a second. The client sends an Idempotency-Key with what is stored, for which the service keeps the
reply: the ratio that has a goal (0.7) is to wrk sending keys as well. Those to wrk without keys, and of dry runs, which have none, are
printed beside it. All are medians of the rounds.
Then RUNS runs are stored and exported: as lines, as objects into a list, and into a data frame of pandas; seconds, and the
memory that it took. The frame (goals: 10 s, and twice the frame's memory at most while it is made) is made by a process of
its own, which has loaded pandas before it begins.
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
GOAL_FRAME_S = 10
GOAL_FRAME_MEMORY = 2
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


INTO_FRAME = """
import resource, sys, time
sys.path.insert(0, sys.argv[1])
import pandas, provisor
from provisor.frames import frame_of
client = provisor.Client(sys.argv[2], timeout=600)
frame_of("RunRecord", client.export_runs("few"))
def now_kb():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmRSS")).split()[1])
before, began = now_kb(), time.monotonic()
frame = client.export_runs("export").to_frame()
took, most = time.monotonic() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(len(frame), took, (most - before) / 1024, frame.memory_usage(deep=True).sum() / 1048576, len(frame.columns))
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


def run(number):
    return {"problem_size": number % 50 + 1, "executors": number % 7 + 1, "cores_per_executor": 4, "duration_s": 10 + number % 13,
            "started_at": "2026-01-%02dT12:%02d:%02d.5Z" % (number % 28 + 1, number // 28 % 60, number // 1680 % 60),
            "spark_application_id": "app-%d" % number, "spark_version": "3.5.%d" % (number % 2), "labels": {"branch": "main"},
            "tasks_succeeded": number % 1000, "core_s": number % 997 / 2}


def store(client, count):
    """In pieces, as one import is one transaction."""
    client.import_runs("few", (run(number) for number in range(10)), progress=False)
    for at in range(0, count, 10000):
        client.import_runs("export", (run(number) for number in range(at, min(count, at + 10000))), progress=False)


def export(client, count):
    with measured("export, line by line", count):
        assert sum(1 for _ in client.export_lines("export")) == count
    with measured("export into a list", count):
        runs = list(client.export_runs("export"))
    with measured("a member of each", count):
        assert sum(run.executors for run in runs) > count


def into_frame(directory, client, token, count):
    """Whether the goals are met."""
    out = subprocess.run([sys.executable, "-B", "-c", INTO_FRAME, directory / "src", client.url], check=True, stdout=subprocess.PIPE, text=True,
                         env={**os.environ, "PROVISOR_TOKEN": token}).stdout.split()
    rows, (took, grown, of_frame) = int(out[0]), map(float, out[1:4])
    assert rows == count, out
    print("export into a frame: %d runs, %s columns, in %.1f s (goal %d); %.0f MB for a frame of %.0f MB: %.2f times (goal %d)"
          % (rows, out[4], took, GOAL_FRAME_S, grown, of_frame, grown / of_frame, GOAL_FRAME_MEMORY), flush=True)
    return took < GOAL_FRAME_S and grown < GOAL_FRAME_MEMORY * of_frame


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
            store(client, count)
            met = into_frame(directory, client, token, count)
            export(client, count)
    finally:
        service.close()
        shutil.rmtree(directory, ignore_errors=True)
    return 0 if stored["wrk with keys"] >= GOAL and met else 1


if __name__ == "__main__":
    sys.exit(main())
