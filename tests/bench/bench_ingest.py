#!/usr/bin/python3
"""The speed of `provisor ingest` against a service on the same machine.

    tests/bench/bench_ingest.py [LOGS [MB [PAIRS]]]      default 10000, 500 and 5; PROVISOR_BUILD says which build (default build)

LOGS small logs, each of its own application id, into an empty history, without and with a journal, then again where the
service knows them and where the journal does; processor time tells who was busy. One log of MB megabytes, PAIRS times by curl -T
and by the client in turns (the service knows it by then). Goals: 200 small logs a second; the long log within 10 % of curl's
time, the median of the pairs.
"""
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "api"), str(ROOT / "tests" / "support")]

from conftest import BUILD, Service  # noqa: E402
from contract import Contract  # noqa: E402
from long_log import long_log  # noqa: E402
from test_eventlogs import tiny_log  # noqa: E402

LIMITS = {"PROVISOR_TASKS_MAX": 10000000, "PROVISOR_STAGES_MAX": 100000}
PROVISOR = BUILD / "clients" / "cli" / "provisor"
GOAL_LOGS, GOAL_RATIO = 200, 1.10


def service_s(service):
    """Processor time of the service so far; that of PostgreSQL is in neither."""
    fields = pathlib.Path("/proc/%d/stat" % service.process.pid).read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def timed(words, env):
    """(seconds, processor time of it, what it said)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    result = subprocess.run([str(w) for w in words], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    took = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert result.returncode == 0, result.stderr[-2000:]
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, result.stdout + result.stderr


def ingest(env, *words):
    return timed([PROVISOR, "ingest", *words], env)


def small_logs(service, env, directory, n, what, *words):
    before = service_s(service)
    took, client, said = ingest(env, directory, *words)
    print("%-44s %6.0f logs/s; processors busy with the client %4.0f %%, with the service %4.0f %%, %d of them there" % (
        what, n / took, 100 * client / took, 100 * (service_s(service) - before) / took, os.cpu_count()))
    assert "rejected" in said and " 0 rejected" in said, said[-500:]
    return n / took


def long_by_turns(service, env, token, path, pairs):
    url = service.base_url + "/v1/applications/long/eventlogs"
    curl = ["curl", "-sS", "--fail", "-o", "/dev/null", "-X", "POST", "-T", path, "-H", "Authorization: Bearer " + token,
            "-H", "Content-Type: application/octet-stream", url]
    client = [PROVISOR, "ingest", "--application", "long", path]
    timed(curl, env)
    ratios, speeds = [], {"curl": [], "client": []}
    for i in range(pairs):
        took = {}
        for name, words in (("curl", curl), ("client", client))[::1 if i % 2 else -1]:
            took[name] = timed(words, env)[0]
            speeds[name].append(path.stat().st_size / 1e6 / took[name])
        ratios.append(took["client"] / took["curl"])
    print("one log of %.0f MB: curl -T %.0f MB/s, the client %.0f MB/s; time of the client over curl's: %s, median %.3f (goal %.2f)" % (
        path.stat().st_size / 1e6, statistics.median(speeds["curl"]), statistics.median(speeds["client"]),
        " ".join("%.3f" % r for r in ratios), statistics.median(ratios), GOAL_RATIO))
    return statistics.median(ratios)


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    megabytes = float(sys.argv[2]) if len(sys.argv) > 2 else 500
    pairs = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    directory = pathlib.Path(tempfile.mkdtemp(prefix="provisor-bench-"))
    os.chmod(directory, 0o755)
    service = Service(directory, Contract(), LIMITS)
    try:
        service.command("migrate")
        tokens = [service.token("bench-%d" % i) for i in range(3)]
        service.start()
        envs = [{"PATH": os.environ["PATH"], "HOME": str(directory), "PROVISOR_URL": service.base_url, "PROVISOR_TOKEN": t} for t in tokens]
        logs = directory / "logs"
        logs.mkdir()
        for i in range(n):
            (logs / ("app-%06d" % i)).write_bytes(tiny_log(app="app-%06d" % i).replace(b'"tiny"', b'"tiny %d"' % (i % 100)))
        state = directory / "journal"
        speed = small_logs(service, envs[0], logs, n, "%d small logs" % n)
        small_logs(service, envs[1], logs, n, "with a journal", "--state", state)
        small_logs(service, envs[0], logs, n, "again, known to the service")
        small_logs(service, envs[1], logs, n, "again, known to the journal", "--state", state)
        small_logs(service, envs[2], logs, n, "by 16 at a time", "--jobs", 16)
        path = directory / "long"
        with open(path, "wb") as out:
            for piece in long_log(megabytes * 1e6):
                out.write(piece)
        ratio = long_by_turns(service, envs[0], tokens[0], path, pairs)
    finally:
        service.close()
        shutil.rmtree(directory, ignore_errors=True)
    return 0 if speed >= GOAL_LOGS and ratio <= GOAL_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
