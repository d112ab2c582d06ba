#!/usr/bin/python3
"""How long `provisor gate` takes, and what of it is the client's own.

    PROVISOR_BUILD=build-check python3 -B tests/bench/bench_gate.py [REPETITIONS]

Against a warm service with the sample's history, in turns so that all see the same machine: the gate (advice that is not
stored), the same question asked by curl, and the client with nothing to do. Medians and 90th percentiles in ms, and the client's own: the
gate without what the service took (as measured on a connection that is open already).
"""
import http.client
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("PROVISOR_BUILD", ROOT / "build")).resolve()
CLIENT = str(BUILD / "clients" / "cli" / "provisor")
QUESTION = {"application": "nightly-etl", "problem_size": 64, "deadline_s": 90}


def timed(run):
    began = time.perf_counter()
    run()
    return 1000 * (time.perf_counter() - began)


def quietly(words, env):
    return lambda: subprocess.run(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def measure(repetitions, port, token):
    env = {**os.environ, "PROVISOR_URL": "http://127.0.0.1:%d" % port, "PROVISOR_TOKEN": token}
    connection = http.client.HTTPConnection("127.0.0.1", port)
    head = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}

    def ask():
        connection.request("POST", "/v1/advice?dry_run=true", json.dumps(QUESTION), head)
        assert connection.getresponse().read()

    gate = quietly([CLIENT, "gate", "nightly-etl", "--size", "64", "--deadline", "90s", "--dry-run"], env)
    curl = quietly(["curl", "-sS", "-H", "Authorization: Bearer " + token, "-H", "Content-Type: application/json", "-d", json.dumps(QUESTION),
                    env["PROVISOR_URL"] + "/v1/advice?dry_run=true"], env)
    nothing = quietly([CLIENT, "--version"], env)
    kinds = {"gate": gate, "curl": curl, "nothing": nothing, "service": ask}
    times = {kind: [] for kind in kinds}
    for i in range(repetitions + 5):
        for kind, run in kinds.items():
            took = timed(run)
            if i >= 5:
                times[kind].append(took)
    return times


def main():
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory(prefix="provisor-bench-") as scratch:
        os.chmod(scratch, 0o755)
        import socket
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        words = [str(ROOT / "run"), "--detach", "--port", str(port), "--data-dir", scratch + "/data", "--build-dir", str(BUILD)]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        try:
            times = measure(repetitions, port, (pathlib.Path(scratch) / "data" / "token").read_text().strip())
        finally:
            subprocess.run([str(ROOT / "run"), "--stop", "--data-dir", scratch + "/data"], check=True, stdout=subprocess.DEVNULL)
    for kind, values in times.items():
        print("%-8s median %6.2f ms   90th percentile %6.2f ms" % (kind, statistics.median(values), statistics.quantiles(values, n=10)[-1]))
    own = statistics.median(times["gate"]) - statistics.median(times["service"])
    print("%-8s median %6.2f ms   (goal: under 10; the gate in all: under 30)" % ("own", own))


if __name__ == "__main__":
    main()
