"""The same log in every coding that Spark has: one run, whatever the coding; cuts, damage and limits."""
import bz2
import concurrent.futures
import json
import lzma
import os
import pathlib
import subprocess
import threading
import time
import uuid

import pytest

from test_eventlogs import event, resident_kib, tiny_log, upload, zstd

BUILD = pathlib.Path(os.environ.get("PROVISOR_BUILD", pathlib.Path(__file__).resolve().parents[2] / "build")).resolve()
RECODE = BUILD / "tests" / "support" / "recode"
CODINGS = ("gzip", "zstd", "lz4", "lz4 frame", "snappy", "snappy framed", "lzf")
# Those that tell that they end; the others may end after any block.
ENDING = ("gzip", "zstd", "lz4", "lz4 frame")
REAL = ("rapids/profiling/rp_nosql_eventlog", "sparklens/local-1532512550423", "xspark/local-1426633911242")


def coded(data, coding, block=0):
    """One stream of that coding, by the encoders of tests/support."""
    return subprocess.run([RECODE, coding, str(block)], input=data, stdout=subprocess.PIPE, check=True).stdout


def in_streams(data, coding, n=3, block=0):
    """n streams one after another, as of an application that opened its log anew."""
    size = len(data) // n + 1
    return b"".join(coded(data[i:i + size], coding, block) for i in range(0, len(data), size))


def without_its_own(reply):
    """The bytes of a reply but for which run it is, of which application, and when it was recorded."""
    text, run = reply.text, reply.json()
    for field in ("id", "application", "recorded_at"):
        assert json.dumps(run[field]) in text
        text = text.replace(json.dumps(run[field]), "")
    return text


@pytest.fixture(scope="module", params=("tiny",) + REAL)
def log(request, shared):
    if request.param == "tiny":
        return tiny_log(app="coded-1", stages=3)
    return (shared / "data" / "spark-eventlogs" / request.param).read_bytes()


def test_one_log_is_one_run_in_every_coding(client, log, name):
    first = upload(client, name, log)
    for coding in CODINGS:
        for sent in (coded(log, coding), coded(log, coding, 1000), in_streams(log, coding)):
            again = upload(client, name, sent, 200)
            assert again.content == first.content and again.headers["Location"] == first.headers["Location"], coding


def test_every_coding_gives_the_same_run(client, log, name):
    """Into applications of their own, so that each is read and stored for itself."""
    want = upload(client, name, log)
    whole = client.get("/v1/runs/%s?include=tasks" % want.json()["id"])
    for coding in CODINGS:
        run = upload(client, "%s-%s" % (name, coding.replace(" ", "-")), coded(log, coding))
        assert without_its_own(run) == without_its_own(want), coding
        read = client.get("/v1/runs/%s?include=tasks" % run.json()["id"])
        assert without_its_own(read) == without_its_own(whole), coding


@pytest.mark.parametrize("coding", ("plain",) + CODINGS)
def test_of_a_cut_stream_what_is_whole_is_read(client, name, coding):
    noise = b"".join(event("Other", Noise=uuid.uuid4().hex).encode() + b"\n" for _ in range(6000))
    log = tiny_log(ended=False) + noise
    sent = log if coding == "plain" else coded(log, coding, 30000)
    run = upload(client, name, sent[:len(sent) // 2 + 7]).json()
    warnings = {w["code"]: w["message"] for w in run["warnings"]}
    assert set(warnings) == {"truncated", "no_application_end"} and run["tasks_succeeded"] == 2 and not run["succeeded"]
    assert ("the last line" if coding == "plain" else "the %s stream" % coding) in warnings["truncated"]
    # What was written when the application had gone on continues it.
    whole = log + tiny_log().splitlines()[-1] + b"\n"
    assert upload(client, name, whole if coding == "plain" else coded(whole, coding), 200).json()["id"] == run["id"]


@pytest.mark.parametrize("coding", ("plain",) + CODINGS)
def test_a_cut_before_the_start_of_the_application_is_said(client, name, coding, shared):
    """Wherever it is: neither a later part nor a file that is no log."""
    log = (shared / "data" / "spark-eventlogs" / "rapids" / "profiling" / "rp_nosql_eventlog").read_bytes()
    sent = log if coding == "plain" else coded(log, coding, 4096)
    start = log.index(b'{"Event":"SparkListenerApplicationStart')
    header = {"snappy": 16, "snappy framed": 10}.get(coding)  # alone it is a whole stream of nothing
    for n in (2, 3, 5, 8, 10, 16, 40, 333) if coding != "plain" else (2, 9, 40, start // 2, start + 40):
        if n == header:
            continue
        (error,) = upload(client, name, sent[:n], 422).json()["errors"]
        said = "the last line ends in the middle of an event" if coding == "plain" else "the %s stream ends in the middle of a frame" % coding
        assert error["code"] == "truncated" and said in error["detail"] and "the file is cut at its end" in error["detail"], (n, error)
    if coding == "plain":
        (error,) = upload(client, name, log[:start], 422).json()["errors"]
        assert error["code"] == "truncated" and "the log ends after 4 lines, before the start" in error["detail"]
    client.get("/v1/applications/" + name, 404)


def test_a_stream_that_was_never_closed_is_read(client, name):
    """Spark's lz4 of an application that still runs: blocks and no mark at the end."""
    sent = coded(tiny_log(ended=False), "lz4")[:-21]
    run = upload(client, name, sent).json()
    assert {"truncated", "no_application_end"} == {w["code"] for w in run["warnings"]}
    assert run["tasks_succeeded"] == 2


@pytest.mark.parametrize("coding", CODINGS)
def test_what_is_damaged_is_400_and_leaves_nothing(client, name, coding):
    sent = bytearray(coded(tiny_log(stages=20), coding))
    middle = len(sent) // 2
    sent[middle:middle + 8] = bytes(b ^ 0xa5 for b in sent[middle:middle + 8])
    if coding in ("snappy", "lzf"):  # no checksum: damage must be in what holds the stream together
        sent[:] = coded(tiny_log(), coding) + (b"\0\0\0\0" if coding == "snappy" else b"ZW\0\0\1x")
    problem = upload(client, name, bytes(sent), 400).json()
    assert coding in problem["detail"] and "damaged" in problem["detail"]
    client.get("/v1/applications/" + name, 404)


@pytest.mark.parametrize("data", [bz2.compress(tiny_log()), lzma.compress(tiny_log()), b"\x02\x21\x4c\x18legacy"],
                         ids=["bzip2", "xz", "lz4 legacy"])
def test_other_codings_are_named_and_refused(client, name, data):
    problem = upload(client, name, data, 415).json()
    assert "not supported: send it plain, as gzip, zstd, lz4, snappy or lzf" in problem["detail"]
    client.get("/v1/applications/" + name, 404)


def test_a_zstd_window_over_128_mib_is_refused_with_its_setting(client, name):
    def with_window(log2):
        return subprocess.run(["zstd", "-q", "-c", "--long=%d" % log2], input=tiny_log(), stdout=subprocess.PIPE,
                              check=True).stdout
    problem = upload(client, name, with_window(28), (413, 422)).json()
    assert "2^27 bytes" in problem["detail"] and "(zstd_window_log_max)" in problem["detail"]
    upload(client, name, with_window(27), 201)


@pytest.fixture(scope="module")
def tight(make_service):
    service = make_service(PROVISOR_EVENTLOG_PLAIN_BYTES_MAX=4000000, PROVISOR_EVENTLOG_RATIO_MAX=15,
                           PROVISOR_EVENTLOG_BLOCK_BYTES_MAX=65536, PROVISOR_ZSTD_WINDOW_LOG_MAX=22)
    service.alpha = service.client(service.token("alpha"))
    service.start()
    return service


@pytest.mark.parametrize("coding", CODINGS)
def test_bombs_are_stopped_by_ratio_and_by_size(tight, name, coding):
    bomb = coded(tiny_log() + b"\n" * 3_500_000, coding)
    problem = upload(tight.alpha, name, bomb, (413, 422)).json()
    assert "15 times (eventlog_ratio_max)" in problem["detail"]
    modest = b"".join(b'{"Event": "x", "id": "%s", "filler": "%s"}\n' % (uuid.uuid4().hex.encode() * 2, b"y" * 100)
                      for _ in range(24000))
    bomb = coded(tiny_log() + modest, coding)
    problem = upload(tight.alpha, name, bomb, (413, 422)).json()
    assert "4000000 bytes" in problem["detail"] and "(eventlog_plain_bytes_max)" in problem["detail"]
    tight.alpha.get("/v1/applications/" + name, 404)


def test_blocks_and_windows_are_bounded_with_their_settings(tight, name):
    log = tiny_log() + b"".join(event("Other", Noise=uuid.uuid4().hex).encode() + b"\n" for _ in range(3000))
    for coding in ("lz4", "snappy"):
        problem = upload(tight.alpha, name, coded(log, coding, 65537), (413, 422)).json()
        assert "at most 65536" in problem["detail"] and "(eventlog_block_bytes_max)" in problem["detail"]
    problem = upload(tight.alpha, name, subprocess.run(["zstd", "-q", "-c", "--long=23"], input=log, stdout=subprocess.PIPE,
                                                       check=True).stdout, (413, 422)).json()
    assert "2^22 bytes" in problem["detail"] and "(zstd_window_log_max)" in problem["detail"]
    tight.alpha.get("/v1/applications/" + name, 404)
    upload(tight.alpha, name, coded(log, "lz4", 65536), 201)
    for sent in (coded(log, "snappy", 65536), zstd(b"") + coded(log, "zstd")):
        upload(tight.alpha, name, sent, 200)


@pytest.mark.resident_memory
def test_eight_logs_at_once_with_the_largest_windows_fit_into_200_mb(make_service, name):
    """Each is held back near its end, when its window is full, until all eight are there."""
    service = make_service()
    client = service.client(service.token("alpha"))
    service.start()
    upload(client, name, tiny_log(app="warm"))
    lines = b"".join(event("BlockUpdated", Id=i * 0x9e3779b9 % 2**32, Filler="x" * 500).encode() + b"\n"
                     for i in range(24000))
    # The server hands on 256 KiB at once; what comes last here is more than that.
    noise = b"".join(event("Other", Noise=uuid.uuid4().hex).encode() + b"\n" for _ in range(24000))
    sent = subprocess.run(["zstd", "-q", "-c", "-1", "--long=23"], stdout=subprocess.PIPE, check=True,
                          input=tiny_log(ended=False) + lines + noise + tiny_log().splitlines()[-1] + b"\n").stdout
    before = resident_kib(service)
    grown = []

    def measure():
        while len(grown) < 6 or grown[-6:] != grown[-1:] * 6:
            time.sleep(0.1)
            grown.append(resident_kib(service) - before)

    all_there = threading.Barrier(8, action=measure, timeout=60)

    def pieces():
        for at in range(0, len(sent) - 1000, 10000):
            yield sent[at:min(at + 10000, len(sent) - 1000)]
        all_there.wait()
        yield sent[-1000:]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for reply in pool.map(lambda i: upload(client, "%s-%d" % (name, i), pieces()), range(8)):
            assert reply.json()["tasks_succeeded"] == 2
    assert 8 * 8192 < grown[-1] < 200 * 1000, "%d KiB more" % grown[-1]
