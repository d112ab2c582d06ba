#!/usr/bin/python3
"""Overload, open loop: advice at 1, 2, 3 and 4 times what the service can make, as if from thousands of clients.

Prints, for stored advice and for dry runs, what was accepted (a second, and as a share of the peak), its latency, what
was refused and how soon. Goals, up to 3 times: the accepted within 500 ms and refusals within 20 ms (99th percentile).
At every load of which more than a tenth is refused: no fewer than 0.9 of the best load's accepted requests a second
and core, of the cores that the generator, which runs on the same ones, leaves.

Loads take turns, five times; latencies are medians of the turns. A call that misses a goal is measured again with a
new service, three times in all; exits with 1 where a goal is missed each time.

Needs tests/load/open_loop and provisord: meson setup build --buildtype=release && ninja -C build
"""
import argparse
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("api", "load", "")]

from conftest import Service  # noqa: E402
from contract import Contract  # noqa: E402
from overload import Load, accepted, refusals  # noqa: E402

ADVICE = {"application": "nightly-etl", "problem_size": 64, "deadline_s": 120}
CALLS = {"stored advice": "/v1/advice", "dry runs": "/v1/advice?dry_run=true"}
ACCEPTED_MS, REFUSED_MS, OF_PEAK = 500, 20, 0.9
LOADS = 1, 2, 3, 4
BUSY = 0.1  # where less of what was asked for is refused, more could have been done than was asked for
LOOKS = 3
ROUNDS = 5  # each has every load once, so that a moment in which the machine is slow does not fall on one load alone


def middle(figures):
    """The median figures of several rounds."""
    return {name: statistics.median(of[name] for of in figures) for name in figures[0]}


def measure(name, load, seconds):
    """Prints the table of a call; answers what missed its goal."""
    capacity = load.capacity(max(2, seconds / 4))
    print("\n%s: %.0f a second\n\n| load | accepted a second | generator, cores | of the peak | accepted p50, p99 (ms) | refused | refused p50, p99 (ms) |"
          "\n|---|---|---|---|---|---|---|" % (name, capacity))
    seen, used_s = {times: [] for times in LOADS}, dict.fromkeys(LOADS, 0.0)
    for _ in range(ROUNDS):
        for times in LOADS:
            seen[times].append(load.run(times * capacity, seconds / ROUNDS))
            used_s[times] += load.processor_s
    done = {times: sum(accepted(of)["in_time"] for of in rounds) for times, rounds in seen.items()}
    # Accepted a second and core that the generator left; less was asked for than is possible where nothing was refused.
    rate = {times: done[times] / (seconds * os.cpu_count() - used_s[times]) for times in LOADS}
    peak = max(rate.values())
    missed = []
    for times, rounds in seen.items():
        a, r = middle([accepted(of) for of in rounds]), middle([refusals(of) for of in rounds])
        n_refused = sum(refusals(of)["n"] for of in rounds)
        print("| %d | %.0f | %.2f | %.2f | %.1f, %.1f | %d | %.1f, %.1f |"
              % (times, done[times] / seconds, used_s[times] / seconds, rate[times] / peak, a["p50_ms"], a["p99_ms"], n_refused, r["p50_ms"], r["p99_ms"]))
        asked = sum(other["n"] for of in rounds for other in of.values())
        lost = asked - n_refused - sum(accepted(of)["n"] for of in rounds)
        if lost:
            missed.append("%s at %d times: %d without an answer, or another one" % (name, times, lost))
        if n_refused > BUSY * asked and rate[times] < OF_PEAK * peak:
            missed.append("%s at %d times: %.2f of the peak" % (name, times, rate[times] / peak))
        if times <= 3 and a["p99_ms"] > ACCEPTED_MS:
            missed.append("%s at %d times: accepted within %.0f ms" % (name, times, a["p99_ms"]))
        if times <= 3 and r["p99_ms"] > REFUSED_MS:
            missed.append("%s at %d times: refused within %.0f ms" % (name, times, r["p99_ms"]))
    return missed


def load_sample(service, client, directory):
    service.command("sample", "--out", directory)
    for log in sorted((directory / "nightly-etl").iterdir()):
        client.post("/v1/applications/nightly-etl/eventlogs", status=201, data=log.read_bytes(),
                    headers={"Content-Type": "application/octet-stream"})


def look(name, path, seconds):
    """Measures with a service of its own: how its threads and those of PostgreSQL share the cores differs from one to the next."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="provisor-bench-"))
    os.chmod(directory, 0o755)
    service = Service(directory, Contract(), {"PROVISOR_LOG_LEVEL": "error"})
    try:
        service.command("migrate")
        token = service.token("bench")
        service.start(after_database=True)
        load_sample(service, service.client(token), directory / "sample")
        return measure(name, Load(service.port, token, path, ADVICE), seconds)
    finally:
        service.close()
        shutil.rmtree(directory, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", nargs="?", type=float, default=10, help="of each load, in all turns together; default %(default)g")
    seconds = parser.parse_args().seconds
    exit_code = 0
    for name, path in CALLS.items():
        for _ in range(LOOKS):
            missed = look(name, path, seconds)
            print("\n".join(["", *missed]))
            if not missed:
                break
        else:
            exit_code = 1
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
