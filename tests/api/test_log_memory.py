"""Event logs of any length in flat memory: what provisord's resident size grows by while they come in. The full sizes
(5 GB; eight of 500 MB) are measured by tests/bench/bench_upload.py; this is the same in seconds."""
import concurrent.futures
import json
import pathlib
import re
import select
import socket
import subprocess
import sys
import zlib

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from patience import PATIENCE  # noqa: E402
from long_log import TASKS, long_log  # noqa: E402

MIB = 1 << 20


@pytest.fixture(scope="module")
def served(make_service):
    service = make_service()
    service.start()
    client = service.client(service.token("alpha"))
    send(client, "warm", long_log(MIB))
    return service, client


def send(client, name, pieces):
    return client.request("POST", "/v1/applications/%s/eventlogs" % name, 201, data=pieces,
                          headers={"Content-Type": "application/octet-stream"}).json()


def memory(service, what):
    status = pathlib.Path("/proc/%d/status" % service.process.pid).read_text()
    return int(re.search(what + r":\s+(\d+) kB", status).group(1)) * 1024


def highest_growth(service, work):
    """(what the work answers, bytes of resident memory more than before, at the highest)"""
    before = memory(service, "VmRSS")
    pathlib.Path("/proc/%d/clear_refs" % service.process.pid).write_text("5")
    answer = work()
    return answer, memory(service, "VmHWM") - before


@pytest.mark.resident_memory
def test_a_long_log_takes_flat_memory(served):
    """240 MB, 76,000 tasks: 8 bytes a task are kept while it is read, as many while it is stored; and nothing of it is
    lost, though that many durations do not go to the database at once."""
    service, client = served
    run, grown = highest_growth(service, lambda: send(client, "long", long_log(240 * MIB)))
    assert run["problem_size"] == TASKS and run["succeeded"] is True
    assert grown < 24 * MIB, "%.1f MiB more" % (grown / MIB)
    stages = client.get("/v1/runs/%s?include=stages,tasks" % run["id"]).json()["stages"]
    assert [stage["id"] for stage in stages] == list(range(len(stages))) and len(stages) * TASKS > 70000
    for stage in stages:
        assert stage["task_durations_s"] == [(1000 + 7 * i) / 1000 for i in range(TASKS)], stage["id"]


@pytest.mark.resident_memory
def test_eight_zstd_logs_at_once(served, tmp_path):
    """Each decoder holds its window of 2^23 bytes; together with all the rest they stay under 200 MB."""
    service, client = served
    path = tmp_path / "log.zst"
    with open(path, "wb") as out:
        packer = subprocess.Popen(["zstd", "-q", "-1", "--zstd=wlog=23"], stdin=subprocess.PIPE, stdout=out)
        for piece in long_log(40 * MIB):
            packer.stdin.write(piece)
        packer.stdin.close()
        assert packer.wait() == 0

    def pieces():
        with open(path, "rb") as log:
            while piece := log.read(4096):
                yield piece

    def all_at_once():
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            return list(pool.map(lambda i: send(service.client(client.token), "many-%d" % i, pieces()), range(8)))

    runs, grown = highest_growth(service, all_at_once)
    assert len({run["id"] for run in runs}) == 8
    assert grown < 160 * MIB, "%.1f MiB more" % (grown / MIB)


def unfinished_line(n=60 * MIB):
    """gzip of a line whose end never comes, more than the service gathers before it reads."""
    packer = zlib.compressobj(1, wbits=31)
    packed = packer.compress(b"x" * n) + packer.flush(zlib.Z_SYNC_FLUSH)
    assert len(packed) > 256 * 1024
    return packed


def begin(service, token, target, packed):
    s = socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE)
    s.sendall(("POST %s HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %s\r\nContent-Type: application/%s\r\nContent-Encoding: gzip\r\n"
               "Content-Length: %d\r\n\r\n" % (target, token, "x-ndjson" if "import" in target else "octet-stream", 4 * len(packed))).encode())
    s.sendall(packed)
    return s


def problem_on(s):
    data = b""
    while piece := s.recv(65536):
        data += piece
    return json.loads(data.split(b"\r\n\r\n", 1)[1])


@pytest.mark.resident_memory
@pytest.mark.parametrize("kind", ["eventlogs", "runs/import"])
def test_unfinished_lines_of_many_uploads_stay_within_the_memory_of_all(make_service, kind):
    """Eight uploads of 260 kB are to hold 60 MiB each: the service takes what memory_bytes_max allows one team, refuses
    the others as what they are, and another team's log comes in meanwhile. 64 MiB are for all that is not counted."""
    n, most = 8, 256 * MIB
    service = make_service(PROVISOR_MEMORY_BYTES_MAX=most)
    service.start()
    quiet = service.client(service.token("quiet"))
    send(quiet, "warm", long_log(MIB))
    packed, token = unfinished_line(), service.token("noisy")

    def crowd():
        uploads = [begin(service, token, "/v1/applications/noisy-%d/%s" % (i, kind), packed) for i in range(n)]
        problems, held = [], uploads
        while len(held) > 2:  # of 64 MiB each a third has no room to grow to that
            answered = select.select(held, [], [], PATIENCE)[0]
            assert answered, "%d uploads are held" % len(held)
            problems += [problem_on(s) for s in answered]
            held = [s for s in held if s not in answered]
        send(quiet, "small", long_log(MIB))
        for s in uploads:
            s.close()
        return problems

    problems, grown = highest_growth(service, crowd)
    assert {p["status"] for p in problems} <= {429, 503}, problems
    assert all("memory_bytes_max" in p["detail"] for p in problems), problems
    assert grown < most + 64 * MIB, "%.1f MiB more" % (grown / MIB)
