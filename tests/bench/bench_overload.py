#!/usr/bin/python3
"""Overload, open loop: advice at 1, 2, 3 and 4 times what the service can make, as if from thousands of clients.

Prints, for stored advice and for dry runs, what was accepted (rate, and share of the peak), its latency, what was
refused and how soon. Goals: at 3 times, the accepted within 500 ms (99th percentile), refusals within 20 ms; the rate
of what is accepted within 10 % of its peak at every load that is refused some, for each core that the generator, which
runs on the same ones, leaves. Exits with 1 where one is missed.

    tests/bench/bench_overload.py [SECONDS]        of each load, default 10; PROVISOR_BUILD says which build
"""
import os
import pathlib
import shutil
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


def measure(name, load, seconds):
    """Prints the table of a call; answers what missed its goal."""
    capacity = load.capacity(max(2, seconds / 4))
    print("\n%s: %.0f a second\n\n| load | accepted a second | generator, cores | of the peak | accepted p50, p99 (ms) | refused | refused p50, p99 (ms) |"
          "\n|---|---|---|---|---|---|---|" % (name, capacity))
    seen, cores = {}, {}
    for times in (1, 2, 3, 4):
        seen[times] = load.run(times * capacity, seconds)
        cores[times] = load.processor_s / seconds
    # Accepted a second and core that the generator left; less was asked for than is possible where nothing was refused.
    rate = {times: accepted(of)["in_time"] / seconds / (os.cpu_count() - cores[times]) for times, of in seen.items()}
    peak = max(rate.values())
    missed = []
    for times, of in seen.items():
        a, r = accepted(of), refusals(of)
        print("| %d | %.0f | %.2f | %.2f | %.1f, %.1f | %d | %.1f, %.1f |"
              % (times, a["in_time"] / seconds, cores[times], rate[times] / peak, a["p50_ms"], a["p99_ms"], r["n"], r["p50_ms"], r["p99_ms"]))
        lost = sum(other["n"] for status, other in of.items() if status not in (200, 201, 429, 503))
        if lost:
            missed.append("%s at %d times: %d without an answer, or another one" % (name, times, lost))
        if r["n"] > 0 and rate[times] < OF_PEAK * peak:
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


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10
    directory = pathlib.Path(tempfile.mkdtemp(prefix="provisor-bench-"))
    os.chmod(directory, 0o755)
    service = Service(directory, Contract(), {"PROVISOR_LOG_LEVEL": "error"})
    missed = []
    try:
        service.command("migrate")
        token = service.token("bench")
        service.start(after_database=True)
        load_sample(service, service.client(token), directory / "sample")
        for name, path in CALLS.items():
            missed += measure(name, Load(service.port, token, path, ADVICE), seconds)
    finally:
        service.close()
        shutil.rmtree(directory, ignore_errors=True)
    print("\n".join(["", *missed]))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
