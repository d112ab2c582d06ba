#!/usr/bin/python3
"""Promises on real logs: every run of an application is left out once, and its deadline is asked for.

    tests/bench/bench_promises.py [FOLDER...]    PROVISOR_BUILD says which build (default build-check)

FOLDERs hold event logs (default: the shared logs and cases). Logs of one folder and application name are one
application; each of its runs is left out in turn. The service then knows the other runs and is asked for the size,
executors and cores of the run that is left out, at 0.8 to 1.3 times its duration. A promise is kept if the run was in
time. The sample's applications are printed apart, because the program makes them.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "api"))
os.environ.setdefault("PROVISOR_BUILD", str(ROOT / "build-check"))

from conftest import Service  # noqa: E402
from contract import Contract  # noqa: E402

SHARED = pathlib.Path(os.environ.get("PROVISOR_SHARED") or ROOT.parent / "shared")
FACTORS = [0.8 + 0.05 * i for i in range(11)]
BINS = [0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1.0001]
OCTETS = {"Content-Type": "application/octet-stream"}


def plain(path):
    if path.read_bytes()[:4] == b"\x28\xb5\x2f\xfd":
        return subprocess.run(["zstd", "-dcq", path], capture_output=True).stdout
    return path.read_bytes()


def application_of(path):
    """What a log calls its application; None if the file is no event log."""
    for line in plain(path).splitlines()[:200]:
        if b"SparkListenerApplicationStart" in line:
            try:
                return json.loads(line)["App Name"]
            except (ValueError, KeyError):
                return None
    return None


def applications(folders):
    """{(folder, application name): [logs]} of at least two logs."""
    found = collections.defaultdict(list)
    for folder in folders:
        for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix not in (".md", ".json", ".tsv")):
            name = application_of(path)
            if name is not None:
                found[str(path.parent), name].append(path)
    return {key: logs for key, logs in found.items() if len(logs) >= 2}


def store(client, name, logs):
    """The runs that these logs became; a log that is refused or already stored is left out."""
    runs = []
    for path in logs:
        reply = client.request("POST", "/v1/applications/%s/eventlogs" % name, None, data=path.read_bytes(), headers=OCTETS)
        if reply.status_code == 201:
            runs.append((path, reply.json()))
    return runs


def ask(client, name, run, factor):
    reply = client.request("POST", "/v1/advice?dry_run=true", None, json={
        "application": name, "problem_size": run["problem_size"], "deadline_s": factor * run["duration_s"],
        "constraints": {"min_executors": run["executors"], "max_executors": run["executors"],
                        "cores_per_executor": run["cores_per_executor"]}})
    if reply.status_code != 200:
        return "refused", None
    advice = reply.json()
    best = advice.get("recommendation")
    return advice["verdict"], best and best["deadline_probability"]


def promises(client, logs, mark):
    """(promised, kept, verdict) of every deadline of every run of one application."""
    runs = [(p, r) for p, r in store(client, mark, logs) if r["succeeded"] and r["problem_size"] and r["executors"] and r["duration_s"]]
    out = []
    for i, (_, left_out) in enumerate(runs if len(runs) >= 2 else []):
        name = "%s-%d" % (mark, i)
        store(client, name, [p for j, (p, _) in enumerate(runs) if j != i])
        for factor in FACTORS:
            verdict, probability = ask(client, name, left_out, factor)
            out.append((probability, factor >= 1 - 1e-9, verdict))
    return out


def show(title, found):
    print("\n%s: %d deadlines\n\n| promised | deadlines | mean promised | kept |\n|---|---|---|---|" % (title, len(found)))
    for low, high in zip(BINS, BINS[1:]):
        own = [(p, k) for p, k, _ in found if p is not None and low <= p < high]
        if own:
            print("| %.2f to %.2f | %d | %.3f | %.3f |" % (low, min(high, 1), len(own), sum(p for p, _ in own) / len(own),
                                                        sum(k for _, k in own) / len(own)))
    met = [k for _, k, verdict in found if verdict == "met"]
    verdicts = collections.Counter(verdict for _, _, verdict in found)
    print("\nVerdicts: %s. `met` was kept for %d of %d." % (", ".join("%s %d" % v for v in sorted(verdicts.items())), sum(met), len(met)))


def main():
    folders = [pathlib.Path(a) for a in sys.argv[1:]] or [SHARED / "data" / "spark-eventlogs", SHARED / "cases"]
    with tempfile.TemporaryDirectory(prefix="provisor-bench-") as scratch:
        os.chmod(scratch, 0o755)
        service = Service(pathlib.Path(scratch), Contract())
        try:
            service.command("migrate")
            client = service.client(service.token("promises"))
            service.start()
            found = []
            for n, (key, logs) in enumerate(sorted(applications(folders).items())):
                own = promises(client, logs, "real-%d" % n)
                print("%s, %s: %d runs" % (pathlib.Path(key[0]).name, key[1], len(own) // len(FACTORS)), flush=True)
                found += own
            show("Logs", found)
            sample = pathlib.Path(scratch) / "sample"
            service.command("sample", "--out=%s" % sample)
            show("Sample", [p for folder in sorted(sample.iterdir())
                            for p in promises(client, sorted(folder.iterdir()), folder.name)])
        finally:
            service.close()


if __name__ == "__main__":
    main()
