#!/usr/bin/python3
"""How long a review of admission takes.

    PROVISOR_BUILD=build-check python3 -B tests/bench/bench_admission.py [REPETITIONS]

Against an idle service with PostgreSQL and the sample's history, over one connection, in turns so that all see the same machine: a review that
mutates (and stores its advice), one that validates, one without annotations, and the same advice by POST /v1/advice, stored. Medians, 99th
percentiles and longest in ms. The status is 1 where the 99th percentile of a review is above the goal of 20 ms.
"""
import http.client
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))
from ports import free_port  # noqa: E402

BUILD = pathlib.Path(os.environ.get("PROVISOR_BUILD", ROOT / "build")).resolve()
GOAL_MS = 20
WARM = 20
ADMISSION = "/v1/kubernetes/admission?action="


def review(name="create"):
    body = json.loads((ROOT / "tests" / "api" / "reviews" / (name + ".json")).read_text())
    body["request"]["uid"] = str(uuid.uuid4())
    if name == "create":
        body["request"]["object"]["metadata"]["annotations"] = {"provisor/problem-size": "64", "provisor/deadline": "90s"}
    return body


def measure(repetitions, port, token):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    head = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}

    def ask(path, body):
        text = json.dumps(body)
        began = time.perf_counter()
        connection.request("POST", path, text, head)
        reply = connection.getresponse()
        answer = reply.read()
        took = 1000 * (time.perf_counter() - began)
        assert reply.status in (200, 201), answer
        return took, json.loads(answer)

    advice = {"application": "nightly-etl", "problem_size": 64, "deadline_s": 90, "constraints": {"dynamic_allocation": False}}
    kinds = {"mutate": lambda: ask(ADMISSION + "mutate", review()), "validate": lambda: ask(ADMISSION + "validate", review()),
             "no annotations": lambda: ask(ADMISSION + "mutate", review("no-annotations")), "POST /v1/advice": lambda: ask("/v1/advice", advice)}
    assert "patch" in kinds["mutate"]()[1]["response"], "it has to make advice"
    times = {kind: [] for kind in kinds}
    for i in range(repetitions + WARM):
        for kind, run in kinds.items():
            took, _ = run()
            if i >= WARM:
                times[kind].append(took)
    return {kind: sorted(values) for kind, values in times.items()}


def at(values, share):
    return values[min(len(values) - 1, int(share * len(values)))]


def main():
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory(prefix="provisor-bench-") as scratch:
        os.chmod(scratch, 0o755)
        port = free_port()
        words = [str(ROOT / "run"), "--port", str(port), "--data-dir", scratch + "/data", "--build-dir", str(BUILD)]
        subprocess.run([*words, "--detach"], check=True, stdout=subprocess.DEVNULL)
        try:
            times = measure(repetitions, port, (pathlib.Path(scratch) / "data" / "token").read_text().strip())
        finally:
            subprocess.run([str(ROOT / "run"), "--stop", "--data-dir", scratch + "/data"], check=True, stdout=subprocess.DEVNULL)
    print("%-16s %8s %8s %8s   of %d each, ms" % ("", "p50", "p99", "longest", repetitions))
    for kind, values in times.items():
        print("%-16s %8.2f %8.2f %8.2f" % (kind, at(values, 0.5), at(values, 0.99), values[-1]))
    print("mutate takes %.2f times as long as the same advice (medians)" % (at(times["mutate"], 0.5) / at(times["POST /v1/advice"], 0.5)))
    slow = [kind for kind in ("mutate", "validate", "no annotations") if at(times[kind], 0.99) > GOAL_MS]
    if slow:
        print("above the goal of %d ms: %s" % (GOAL_MS, ", ".join(slow)))
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
