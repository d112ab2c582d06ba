#!/usr/bin/python3
"""Memory of provisord while long event logs come in over HTTP.

    tests/bench/bench_upload.py [GB [MB]]       default 5 and 500; PROVISOR_BUILD says which build (default build)

One plain log of GB gigabytes (3 kB a task, stages of 300 tasks, made while it is sent), the same rolled into parts in a tar,
where those in pairs are swapped, then eight zstd logs of MB megabytes at once, with windows of 2^23 bytes, and eight such
archives of them. Growth is the highest resident size (VmHWM, set back before) less the
size before. Goals: under 64 MB for the one, under 200 MB for the eight.
"""
import concurrent.futures
import http.client
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "api"), str(ROOT / "tests" / "support")]

from conftest import Service  # noqa: E402
from contract import Contract  # noqa: E402
from long_log import long_log  # noqa: E402

# A log of 5 GB holds more tasks and stages than the settings allow by themselves.
LIMITS = {"PROVISOR_TASKS_MAX": 10000000, "PROVISOR_STAGES_MAX": 100000}
AT_ONCE = 8


def memory_mb(service, what):
    status = pathlib.Path("/proc/%d/status" % service.process.pid).read_text()
    return int(re.search(what + r":\s+(\d+) kB", status).group(1)) / 1024


def forget_peak(service):
    pathlib.Path("/proc/%d/clear_refs" % service.process.pid).write_text("5")


def upload(service, token, name, pieces):
    """The run that the service answers."""
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=3600)
    connection.request("POST", "/v1/applications/%s/eventlogs" % name, pieces, encode_chunked=True, headers={
        "Authorization": "Bearer " + token, "Content-Type": "application/octet-stream", "Transfer-Encoding": "chunked"})
    reply = connection.getresponse()
    body = reply.read()
    connection.close()
    assert reply.status == 201, body[:500]
    return json.loads(body)


def counted(pieces, sent):
    for piece in pieces:
        sent[0] += len(piece)
        yield piece


def packed_log(directory, size):
    path = directory / "log.zst"
    with open(path, "wb") as out:
        packer = subprocess.Popen(["zstd", "-q", "-3", "--zstd=wlog=23"], stdin=subprocess.PIPE, stdout=out)
        for piece in long_log(size):
            packer.stdin.write(piece)
        packer.stdin.close()
        assert packer.wait() == 0
    return path


def tar_entry(name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    return info.tobuf() + data + bytes(-len(data) % 512)


def rolled(pieces, part_bytes):
    """A tar of the parts of a log; the second part stands before the first, and so on."""
    held, part, n = None, [], 0
    pieces = iter(pieces)
    piece = next(pieces, None)
    while piece is not None:
        part.append(piece)
        piece = next(pieces, None)
        if piece is None or sum(map(len, part)) >= part_bytes:
            n += 1
            entry = tar_entry("eventlog_v2_a/events_%d_a" % n, b"".join(part))
            part = []
            if held is None and piece is not None:
                held = entry
            else:
                yield entry
                if held is not None:
                    yield held
                held = None
    yield bytes(1024)


def from_file(path):
    with open(path, "rb") as log:
        while piece := log.read(1 << 18):
            yield piece


def one_plain(service, token, gigabytes, name="log", pack=iter):
    sent = [0]
    before = memory_mb(service, "VmRSS")
    forget_peak(service)
    began = time.monotonic()
    run = upload(service, token, "one-" + name, counted(pack(long_log(gigabytes * 1e9)), sent))
    took = time.monotonic() - began
    grown, kept = memory_mb(service, "VmHWM") - before, memory_mb(service, "VmRSS") - before
    tasks = run["tasks_succeeded"] if "tasks_succeeded" in run else sum(s["tasks"] for s in run["stages"])
    print("1 plain %s, %.2f GB, %d tasks: %.1f MB more at most (goal 64), %.1f bytes a task, %.1f MB kept; "
          "%.0f MB/s with the making of it" % (name, sent[0] / 1e9, tasks, grown, grown * 2**20 / tasks, kept, sent[0] / 1e6 / took))


def archive_of(directory, path):
    """A zstd log as the only part of a tar."""
    archive = directory / "log.tar"
    with tarfile.open(archive, "w") as out:
        out.add(path, "eventlog_v2_a/events_1_a.zstd")
    return archive


def several_packed(service, token, megabytes, path, name):
    before = memory_mb(service, "VmRSS")
    forget_peak(service)
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda i: upload(service, token, "many-%s-%d" % (name, i), from_file(path)), range(AT_ONCE)))
    took = time.monotonic() - began
    grown, kept = memory_mb(service, "VmHWM") - before, memory_mb(service, "VmRSS") - before
    print("%d zstd %ss at once, %.0f MB each (%.1f as sent), window 2^23: %.1f MB more at most (goal 200), %.1f MB kept; "
          "%.0f MB/s plain in all" % (AT_ONCE, name, megabytes, path.stat().st_size / 1e6, grown, kept, AT_ONCE * megabytes / took))


def main():
    gigabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 5
    megabytes = float(sys.argv[2]) if len(sys.argv) > 2 else 500
    directory = pathlib.Path(tempfile.mkdtemp(prefix="provisor-bench-"))
    os.chmod(directory, 0o755)
    service = Service(directory, Contract(), LIMITS)
    try:
        service.command("migrate")
        token = service.token("bench")
        service.start()
        upload(service, token, "warm", long_log(1e6))
        one_plain(service, token, gigabytes)
        one_plain(service, token, gigabytes, "tar", lambda pieces: rolled(pieces, 64e6))
        path = packed_log(directory, megabytes * 1e6)
        several_packed(service, token, megabytes, path, "log")
        several_packed(service, token, megabytes, archive_of(directory, path), "archive")
    finally:
        service.close()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
