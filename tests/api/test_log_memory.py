"""Event logs of any length in flat memory: what provisord's resident size grows by while they come in. The full sizes
(5 GB; eight of 500 MB) are measured by tests/bench/bench_upload.py; this is the same in seconds."""
import concurrent.futures
import pathlib
import re
import subprocess
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))

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
