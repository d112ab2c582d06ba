#!/usr/bin/python3
"""How fast event logs are read, beside others on the same cached file in the same run.

    tests/bench/bench_sparklog.py [MB [ROUNDS]]     default 500 and 5; PROVISOR_BUILD says which build (default build)

Real logs of the shared data are repeated to MB megabytes in a temporary directory, plain and as zstd at level 1,
which is what Spark writes. The programs take turns, ROUNDS times; a rate is plain bytes by the median of CPU seconds
(user + system of the whole process, start and reading of the file included), for the wall clock of a shared machine
tells of its other users. The median of the wall clock stands beside it.

provisor            file -> framing -> log reader -> run, in pieces of 128 KiB (tests/bench/bench_sparklog.c)
libzstd alone       the same file through framing only. One core does both, one after the other: at r times the plain
                    rate, decompression leaves r / (1 + r) of it to a reader that costs nothing more
simdjson, pieces    On-Demand extractor of the same members, read in pieces into one buffer (simdjson_log.cpp)
simdjson, whole     the same with the file loaded into memory first, as its examples do
ujson               python3: ujson.loads of every line
jq                  jq -c 'select(.Event=="SparkListenerTaskEnd")', on the first tenth: it is slow

simdjson, ujson and provisor must agree in the number of successful tasks and the sum of their time, jq with grep.
Goals: half of simdjson in pieces, which is the faster of the two, 0.8 as the stretch; 4 times ujson; 20 times jq;
a zstd log at 0.8 of the plain rate.
"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("PROVISOR_BUILD") or ROOT / "build")
SHARED = pathlib.Path(os.environ.get("PROVISOR_SHARED") or ROOT.parent / "shared")
LOGS = SHARED / "data" / "spark-eventlogs" / "rapids"
# Two kinds: long lines of many accumulables, short lines. Of the second, the first file there is.
KINDS = (("qualification/nds_q88_photon_db_13_3.zstd",),
         ("qualification/nds_q72_dataproc_2_2.zstd", "qualification/nds_q72_dataproc_2_2", "profiling/nds_q66_gpu.zstd"))

UJSON = """
import resource, sys, ujson
tasks = ms = size = 0
with open(sys.argv[1], "rb") as log:
    for line in log:
        size += len(line)
        event = ujson.loads(line)
        if event["Event"] == "SparkListenerTaskEnd" and event["Task End Reason"]["Reason"] == "Success":
            info = event["Task Info"]
            tasks += 1
            ms += info["Finish Time"] - info["Launch Time"]
print('{"bytes": %d, "tasks": %d, "task_ms": %d}' % (size, tasks, ms))
"""
JQ = ["jq", "-c", 'select(.Event=="SparkListenerTaskEnd")']


def repeated(source, directory, megabytes):
    """(plain file, zstd file, first tenth of the plain file). Nothing is held in memory: what a program had before it
    started the next one would count as that one's peak."""
    log, part, packed = (directory / (source.stem + ending) for ending in (".log", ".part", ".zst"))
    unpack = ["zstd", "-dcq", "--long=27", source] if source.suffix == ".zstd" else ["cat", source]
    with open(log, "wb") as out:
        while out.tell() == 0 or out.tell() < 0.95 * megabytes * 1e6:
            subprocess.run(unpack, check=True, stdout=out)
            out.seek(0, os.SEEK_END)
    with open(log, "rb") as lines, open(part, "wb") as out:
        while out.tell() < log.stat().st_size / 10:
            out.write(next(lines))
    subprocess.run(["zstd", "-1", "-q", "-f", "--single-thread", log, "-o", packed], check=True)
    return log, packed, part


def run(words, path, out):
    """(CPU seconds, wall seconds, peak MB)"""
    began = time.monotonic()
    process = subprocess.Popen([*map(str, words), str(path)], stdout=out)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, words
    return used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024


def programs(log, packed, part):
    """name: (words before the file, the file, ratio wanted of provisor's rate by this one's)"""
    reader = BUILD / "tests" / "bench" / "bench_sparklog"
    simdjson = BUILD / "tests" / "bench" / "simdjson_log"
    found = {"provisor": ([reader, "read"], log, None),
             "provisor, zstd": ([reader, "read"], packed, None),
             "libzstd alone": ([reader, "decode"], packed, None)}
    if simdjson.is_file():
        found["simdjson, pieces"] = ([simdjson, "pieces"], log, 0.5)
        found["simdjson, whole"] = ([simdjson, "whole"], log, None)
    if subprocess.run(["/usr/bin/python3", "-c", "import ujson"], stderr=subprocess.DEVNULL).returncode == 0:
        found["ujson"] = (["/usr/bin/python3", "-c", UJSON], log, 4)
    if shutil.which("jq"):
        found["jq, first tenth"] = (JQ, part, 20)
    return found


def check(name, path, out, expected):
    out.seek(0)
    if name.startswith("libzstd"):
        return
    if name.startswith("jq"):
        with open(path, "rb") as part:
            want = sum(line.startswith(b'{"Event":"SparkListenerTaskEnd"') for line in part)
        assert sum(1 for _ in out) == want, name
        return
    answer = json.loads(out.read())
    told = {key: answer[key] for key in ("bytes", "tasks", "task_ms")}
    assert told == expected.setdefault("told", told), (name, told, expected)


def bench(source, directory, megabytes, rounds):
    log, packed, part = repeated(source, directory, megabytes)
    size = log.stat().st_size
    taken = {name: [] for name in programs(log, packed, part)}
    expected = {}
    for _ in range(rounds):
        for name, (words, path, _) in programs(log, packed, part).items():
            with tempfile.TemporaryFile() as out:
                taken[name].append(run(words, path, out))
                check(name, path, out, expected)
    print("%s: %.0f MB plain, %.1f MB zstd, %d tasks, median of %d" % (
        source.stem, size / 1e6, packed.stat().st_size / 1e6, expected["told"]["tasks"], rounds))
    ours = None
    for name, (_, path, goal) in programs(log, packed, part).items():
        cpu, wall, peak = (statistics.median(t[i] for t in taken[name]) for i in range(3))
        plain_mb = (part.stat().st_size if path == part else size) / 1e6
        rate = plain_mb / cpu
        ours = ours or rate
        text = "" if rate == ours else "provisor is %.2f times as fast" % (ours / rate)
        if goal:
            text += " (goal %g)" % goal
        if name == "provisor, zstd":
            text = "%.2f of the plain rate (goal 0.8)" % (rate / ours)
        elif path == packed:
            text = "%.2f of the plain rate, which leaves about %.2f" % (rate / ours, rate / (rate + ours))
        print("  %-17s %7.0f MB/s CPU %7.0f MB/s wall %7.1f MB peak  %s" % (name, rate, plain_mb / wall, peak, text))
    for path in (log, packed, part):
        path.unlink()


def main():
    megabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 500
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    sources = [next((LOGS / name for name in kind if (LOGS / name).is_file()), None) for kind in KINDS]
    if not any(sources):
        print("skipped: no shared event logs in %s" % LOGS)
        return
    with tempfile.TemporaryDirectory(prefix="provisor-bench-") as directory:
        for source in filter(None, sources):
            bench(source, pathlib.Path(directory), megabytes, rounds)


if __name__ == "__main__":
    main()
