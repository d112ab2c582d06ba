"""Rolling logs in archives: tar and zip, parts in any order and codec, quotas, bombs, clients that leave."""
import concurrent.futures
import csv
import gzip
import io
import os
import pathlib
import random
import re
import socket
import struct
import subprocess
import tarfile
import time
import zipfile

import pytest

from patience import PATIENCE, SLOWDOWN
from test_eventlogs import event, runs_of, tiny_log, upload, zstd
from test_log_memory import MIB, highest_growth, long_log

V2 = "rapids/qualification/eventlog_v2_local-1623876083964/"


@pytest.fixture(scope="module")
def logs(shared):
    return shared / "data" / "spark-eventlogs"


def tar(files, compress=None, style=tarfile.PAX_FORMAT):
    """files: [(name, bytes)], in this order"""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=style) as archive:
        for name, data in files:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return compress(out.getvalue()) if compress else out.getvalue()


def zipped(files, method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return out.getvalue()


class Sequential(io.RawIOBase):
    """Cannot seek back, as the history server cannot: sizes stand behind the data."""

    def __init__(self):
        super().__init__()
        self.data = bytearray()

    def writable(self):
        return True

    def write(self, data):
        self.data += data
        return len(data)


def streamed_zip(files):
    out = Sequential()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return bytes(out.data)


PACKERS = {
    "tar": tar, "tar.gz": lambda f: tar(f, gzip.compress), "tar.zst": lambda f: tar(f, zstd),
    "gnu tar": lambda f: tar(f, style=tarfile.GNU_FORMAT), "ustar": lambda f: tar(f, style=tarfile.USTAR_FORMAT),
    "zip": zipped, "stored zip": lambda f: zipped(f, zipfile.ZIP_STORED), "streamed zip": streamed_zip,
    "zip.gz": lambda f: gzip.compress(zipped(f, zipfile.ZIP_STORED)),
}


def plain(data):
    if data[:4] == b"\x28\xb5\x2f\xfd":
        return subprocess.run(["zstd", "-dcq"], input=data, stdout=subprocess.PIPE, check=True).stdout
    return data


def split(data, n):
    """Lines of a log in n parts of about the same length."""
    lines = data.splitlines(keepends=True)
    return [b"".join(lines[len(lines) * i // n:len(lines) * (i + 1) // n]) for i in range(n)]


def rolled(data, n, log="app-1", coders=(bytes,), folder="eventlog_v2_app-1/"):
    """As Spark rolls it, with the marker."""
    return [(folder + "appstatus_" + log, b"")] + [
        (folder + "events_%d_%s" % (i + 1, log), coders[i % len(coders)](part)) for i, part in enumerate(split(data, n))]


def figures(run):
    return {k: v for k, v in run.items() if k not in ("id", "application", "recorded_at")}


def check_manifest(run, row):
    assert run["spark_application_id"] == row["app_id"] and run["spark_version"] == row["spark_version"]
    for field, column in (("jobs", "jobs"), ("stages_completed", "stages_completed"), ("stages_failed", "stages_failed"),
                          ("tasks_succeeded", "tasks_ok"), ("tasks_failed", "tasks_failed"),
                          ("executors_added", "executors_added"), ("cores_per_executor", "max_cores_per_executor")):
        assert run[field] == int(row[column]), field
    assert run["task_time_s"] == pytest.approx(int(row["sum_ok_task_ms"]) / 1000, rel=1e-12)
    if row["app_end_ms"]:
        took = int(row["app_end_ms"]) - int(row["app_start_ms"])
        assert run["duration_s"] == pytest.approx(took / 1000, rel=1e-12)
    wait = int(row["first_stage_submit_ms"]) - int(row["app_start_ms"])
    assert run["initialization_s"] == pytest.approx(wait / 1000, abs=1e-9)


@pytest.fixture(scope="module")
def manifest(logs):
    with open(logs / "manifest.tsv") as f:
        return {row["file"]: row for row in csv.DictReader(f, delimiter="\t")}


# --- real logs


@pytest.mark.parametrize("packer", PACKERS)
def test_a_rolling_log_in_an_archive_equals_the_manifest(client, logs, manifest, name, packer):
    """Every way of packing gives the run of the parts one after another, and is known as the same log."""
    paths = sorted((logs / V2).iterdir(), reverse=True)
    files = [("eventlog_v2_local-1623876083964/" + p.name, p.read_bytes()) for p in paths]
    assert len(files) == 3
    run = upload(client, name, PACKERS[packer](files)).json()
    check_manifest(run, manifest[V2])
    assert run["warnings"] == []
    whole = b"".join(plain(data) for _, data in sorted(files) if data)
    assert upload(client, name, whole, 200).json() == run
    other = upload(client, name + "-plain", whole).json()
    assert figures(other) == figures(run)


@pytest.mark.parametrize("path", ["rapids/qualification/db_subExecution_id.zstd",
                                  "rapids/qualification/nds_q88_photon_db_13_3.zstd"])
@pytest.mark.parametrize("packer", ["tar.gz", "zip"])
def test_databricks_parts_by_time_equal_the_manifest(client, logs, manifest, name, path, packer):
    """Parts named by time, the last one still plain; in the archive they lie in no order."""
    parts = split(plain((logs / path).read_bytes()), 5)
    names = ["eventlog-2021-12-31--23-%02d.gz" % m for m in (0, 20, 40)] + ["eventlog-2022-01-01--00-00.gz", "eventlog"]
    files = [("0714-1/eventlog/41-7/" + n, gzip.compress(p) if n.endswith(".gz") else p) for n, p in zip(names, parts)]
    random.Random(4).shuffle(files)
    run = upload(client, name, PACKERS[packer](files)).json()
    check_manifest(run, manifest[path])
    assert upload(client, name, b"".join(parts), 200).json() == run


@pytest.mark.parametrize("path", ["sparklens/local-1532512550423", "rapids/profiling/eventlog_dsv1.zstd",
                                  "rapids/qualification/eventlog_complex_dec_nested"])
@pytest.mark.parametrize("packer", ["tar", "tar.gz", "streamed zip"])
def test_an_archive_with_a_single_log_is_that_log(client, logs, manifest, name, path, packer):
    data = (logs / path).read_bytes()
    run = upload(client, name, PACKERS[packer]([(pathlib.Path(path).name + ".inprogress", data)])).json()
    check_manifest(run, manifest[path])
    assert upload(client, name, data, 200).json() == run


# --- order


def test_part_10_comes_after_part_2_and_codecs_mix(client, name):
    data = tiny_log(stages=40)
    files = rolled(data, 12, coders=(bytes, gzip.compress, zstd))
    random.Random(1).shuffle(files)
    run = upload(client, name, tar(files)).json()
    assert run["stages_completed"] == 40 and run["warnings"] == []
    assert upload(client, name, data, 200).json() == run
    assert upload(client, name, zipped(reversed(files)), 200).json() == run


def test_a_compacted_part_stands_for_those_before_it(client, name):
    """What the parts up to it hold counts once, from the compacted one."""
    parts = split(tiny_log(stages=12), 6)
    files = [("events_%d_app-1" % (i + 1), p) for i, p in enumerate(parts)]
    compact = [("events_4_app-1.zstd.compact", zstd(b"".join(parts[:4])))]
    whole = upload(client, name, tar(files + compact)).json()
    assert whole["stages_completed"] == 12 and whole["warnings"] == []
    assert upload(client, name, tiny_log(stages=12), 200).json() == whole
    assert upload(client, name, zipped(compact + files[4:]), 200).json() == whole
    older = [("events_2_app-1.compact", b"not read any more")]
    assert upload(client, name, tar(older + files + compact), 200).json() == whole


def test_a_part_without_a_line_end_does_not_swallow_the_next_line(client, name):
    parts = split(tiny_log(stages=6), 3)
    files = [("events_%d_app-1" % (i + 1), p.rstrip(b"\n")) for i, p in enumerate(parts)]
    run = upload(client, name, tar(files)).json()
    assert run["stages_completed"] == 6 and run["warnings"] == []


def test_a_part_cut_in_its_codec_is_counted_and_the_next_ones_are_read(client, name):
    parts = split(tiny_log(stages=30), 3)
    packed = zstd(parts[1])
    files = [("events_1_app-1", parts[0]), ("events_2_app-1.zstd", packed[:-20]), ("events_3_app-1", parts[2])]
    run = upload(client, name, tar(files)).json()
    assert {w["code"]: w["evidence"]["count"] for w in run["warnings"]}["truncated"] == 1
    assert run["duration_s"] == 121.0 and run["succeeded"] is True


def test_a_refusal_names_the_part_that_was_passed_over(client, name):
    """The start of the application lies in a part that is packed twice."""
    first, second = split(tiny_log(stages=4), 2)
    files = [("events_1_app-1.gz", gzip.compress(zipped([("events_1_app-1", first)]))), ("events_2_app-1", second)]
    error = upload(client, name, zipped(files), 422).json()["errors"][0]
    assert "events_1_app-1.gz was passed over" in error["detail"] and error["detail"].endswith("send all parts together")


def test_missing_parts_are_a_warning_that_counts(client, name):
    files = rolled(tiny_log(stages=30), 6)
    del files[3], files[3]
    run = upload(client, name, tar(files)).json()
    assert {w["code"]: w["evidence"]["count"] for w in run["warnings"]}["missing_part"] == 2


def test_an_unfinished_rolling_log_is_continued_by_more_parts(client, name):
    files = rolled(tiny_log(stages=20), 4)
    files[0] = (files[0][0] + ".inprogress", b"")
    first = upload(client, name, tar(files[:3])).json()
    assert first["succeeded"] is False
    more = upload(client, name, zipped(files[:4]), 200).json()
    assert more["id"] == first["id"] and more["tasks_succeeded"] > first["tasks_succeeded"]
    done = upload(client, name, tar(files, gzip.compress), 200).json()
    assert done["id"] == first["id"] and done["succeeded"] is True and done["tasks_succeeded"] == 40
    assert len(runs_of(client, name)) == 1


def test_a_file_twice_in_a_tar_counts_as_it_was_last(client, name):
    files = rolled(tiny_log(stages=2), 1)
    run = upload(client, name, tar(files + rolled(tiny_log(stages=5), 1))).json()
    assert run["stages_completed"] == 5


def test_notes_of_file_systems_are_passed_over(client, name):
    files = [("./._events_1_app-1", b"\0\5\x16\7"), ("./.events_1_app-1.crc", b"crc\0"), ("__MACOSX/._x", b"\0")]
    assert upload(client, name, tar(files + rolled(tiny_log(), 2, folder="./"))).json()["stages_completed"] == 1


def test_files_beside_a_log_that_are_none_are_passed_over(client, name):
    """Told by their first bytes, decompressed: another log, or an archive that may hold one, is not passed over."""
    beside = [("c/driver/stdout", b"hello\n"), ("c/driver/log4j.gz", gzip.compress(b"21/01/01 INFO x\n")), ("README", b""),
              ("c/damaged.zstd", b"\x28\xb5\x2f\xfd" + b"\xff" * 40)]
    data = tiny_log(stages=3)
    for pack in (tar, zipped):
        for log in (rolled(data, 2), [("c/eventlog/7/eventlog", data)], [("c/other", zstd(data))]):
            assert upload(client, name, pack(beside + log), (200, 201)).json()["stages_completed"] == 3
            for second in (tiny_log(), gzip.compress(tiny_log()), zipped(rolled(tiny_log(), 2))):
                assert "2 logs" in upload(client, name, pack(beside + log + [("second", second)]), 422).json()["detail"]
    assert "4 logs" in upload(client, name, tar(beside), 422).json()["detail"]


def test_a_part_that_is_itself_an_archive_is_passed_over_and_named(client, name):
    """As a browser's download leaves it: the others are read."""
    data = tiny_log(stages=4)
    parts = split(data, 3)
    packed = gzip.compress(zipped([("eventlog-2022-01-14--18-00", parts[1])]))
    for pack in (tar, zipped):
        files = [("e/eventlog-2022-01-14--17-00.gz", gzip.compress(parts[0])), ("e/eventlog-2022-01-14--18-00.zip.gz", packed), ("e/eventlog", parts[2])]
        run = upload(client, name, pack(files), (200, 201)).json()
        warning = {w["code"]: w for w in run["warnings"]}["skipped_part"]
        assert "eventlog-2022-01-14--18-00.zip.gz" in warning["message"] and warning["evidence"] == {"count": 1}
        assert 0 < run["stages_completed"] <= 4 and run["duration_s"] > 0
    only = [("e/eventlog-2022-01-14--17-00.zip.gz", packed), ("e/eventlog", packed)]
    assert "within an archive" in upload(client, name + "2", zipped(only), 415).json()["detail"]


@pytest.mark.parametrize("pack", [tar, lambda f: tar(f, style=tarfile.GNU_FORMAT), zipped])
def test_names_in_any_script_are_found_again(client, name, pack):
    files = rolled(tiny_log(stages=3), 3, log="\u0627\u043f\u00e9", folder="\u30ed\u30b0/" + "d" * 120 + "/")
    random.Random(2).shuffle(files)
    assert upload(client, name, pack(files)).json()["stages_completed"] == 3


# --- what is refused


def test_several_logs_in_one_archive_are_refused_by_name(client, name):
    two = rolled(tiny_log(), 2) + rolled(tiny_log(attempt="2"), 2, log="app-1_2", folder="eventlog_v2_app-1_2/")
    for pack in (tar, zipped):
        detail = upload(client, name, pack(two), 422).json()["detail"]
        assert "2 logs" in detail and '"app-1"' in detail and '"app-1_2"' in detail
    upload(client, name, zipped([("app-1", tiny_log()), ("app-2", tiny_log())]), 422)
    client.get("/v1/applications/" + name, 404)


@pytest.mark.parametrize("data, status, word", [
    (tar([]), 422, "event log"), (zipped([]), 422, "no event log"), (zipped([("appstatus_a", b"")]), 422, "no event log"),
    (tar([("events_1_a", b"{}\n"), ("events_1_a.zstd", b"{}\n")]), 422, "same part"),
    (tar([("x", tar([("events_1_a", tiny_log())]))]), 415, "within an archive"),
    (zipped([("x.gz", gzip.compress(zipped([("y", tiny_log())])))]), 415, "within an archive"),
    (tar([("a", tar([("b", b"")], gzip.compress))]), 415, "within an archive"),
    (zipped([("x", tiny_log())], zipfile.ZIP_LZMA), 415, "method 14"),
    (zipped([("x", tiny_log())])[:-30], 400, "zip"), (tar(rolled(tiny_log(stages=40), 3))[:-14000], 400, "tar"),
    (tar(rolled(tiny_log(stages=40), 3), gzip.compress)[:-400], 400, "tar"),
    (tar([("events_1_a.zstd", b"\x28\xb5\x2f\xfd" + b"\xff" * 64)]), 400, "events_1_a.zstd: "),
    (zipped([("n" * 2000, tiny_log())]), 422, "archive_name_bytes_max"),
    (tar([("n" * 2000, tiny_log())]), 422, "archive_name_bytes_max"),
])
def test_what_cannot_be_read_is_said(client, name, data, status, word):
    assert word in upload(client, name, data, status).json()["detail"]
    client.get("/v1/applications/" + name, 404)


def test_a_damaged_byte_in_a_zip_is_found(client, name):
    data = bytearray(zipped([("x", os.urandom(3000) + tiny_log())], zipfile.ZIP_STORED))
    data[100] ^= 1
    assert "zip" in upload(client, name, bytes(data), 400).json()["detail"]


def test_an_encrypted_zip_is_refused(client, name):
    data = bytearray(zipped([("x", tiny_log())], zipfile.ZIP_STORED))
    data[6] |= 1  # the flag, in the file's header and in the list
    data[data.index(b"PK\1\2") + 8] |= 1
    assert "encrypted" in upload(client, name, bytes(data), 415).json()["detail"]


def test_no_path_of_an_archive_is_written(client, name, tmp_path):
    """Names that climb out of a folder are names like any other."""
    for bad in ("../../../../%s/events_1_app-1" % tmp_path, str(tmp_path / "events_1_app-1")):
        upload(client, name, tar([(bad, tiny_log())]), (200, 201))
    assert list(tmp_path.iterdir()) == []


# --- bombs and quotas


def overlapping_zip(kernel, n):
    """n < 10 entries of the list that all point at the same packed bytes."""
    single = zipped([("events_1_a", kernel)])
    at = single.index(b"PK\1\2")
    entry, end = single[at:-22], single[-22:]
    names = [b"events_%d_a" % (i + 1) for i in range(n)]
    assert n < 10
    entries = b"".join(entry[:46] + x for x in names)
    return single[:at] + entries + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, n, n, len(entries), at, 0)


def test_bombs_are_refused(make_service, name):
    service = make_service(PROVISOR_EVENTLOG_RATIO_MAX="100", PROVISOR_ARCHIVE_ENTRIES_MAX="50",
                           PROVISOR_EVENTLOG_PLAIN_BYTES_MAX=str(64 << 20)).start()
    client = service.client(service.token("bombs"))
    zeros = b"\n" * (8 << 20)
    random_text = gzip.compress(os.urandom(4 << 20).hex().encode(), 1)
    for data, word in (
            (zipped([("x", zeros)]), "times"), (tar([("x.gz", gzip.compress(zeros))]), "times"),
            (tar([("x", zeros)], gzip.compress), "times"),
            (overlapping_zip(b"\n" * 2000000, 9), "times"),
            (tar([("events_%d_a" % i, random_text) for i in range(1, 10)]), "eventlog_plain_bytes_max"),
            (tar([("f%d" % i, b"") for i in range(51)]), "archive_entries_max"),
            (zipped([("f%d" % i, b"") for i in range(51)]), "archive_entries_max"),
            (zipped([("f%d" % i, b"") for i in range(9000)]), "archive_entries_max")):
        assert word in upload(client, name, data, 422).json()["detail"]
    assert spooled(service) == 0
    client.get("/v1/applications/" + name, 404)


def spooled(service):
    """Bytes of files without a name that the service holds."""
    total = 0
    for fd in pathlib.Path("/proc/%d/fd" % service.process.pid).iterdir():
        try:
            if "(deleted)" in os.readlink(fd):
                total += os.stat(fd).st_size + 1
        except OSError:
            pass
    return total


def send_half(service, client, name, data):
    """The header and the first bytes of an upload of twice the length."""
    host, port = service.base_url.split("//")[1].split(":")
    sock = socket.create_connection((host, int(port)))
    sock.sendall(("POST /v1/applications/%s/eventlogs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
                  "Content-Length: %d\r\n\r\n" % (name, client.token, 2 * len(data))).encode() + data)
    return sock


def wait_for(what, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.05)
    assert what()


def test_quotas_of_the_spool(make_service, name, tmp_path):
    """One archive too large is 413, too much at once 503 with Retry-After, and all of it is given back."""
    service = make_service(PROVISOR_SPOOL_BYTES_MAX=str(4 << 20), PROVISOR_SPOOL_TOTAL_BYTES_MAX=str(6 << 20)).start()
    client = service.client(service.token("quotas"))
    problem = upload(client, name, tar([("x", os.urandom(5 << 20))]), 413).json()
    assert "spool_bytes_max" in problem["detail"]
    assert spooled(service) == 0
    problem = client.request("POST", "/v1/applications/%s/runs/import" % name, 413, headers={"Content-Type": "application/x-ndjson"},
                             data=b"\n" * ((4 << 20) + 1)).json()
    assert "spool_bytes_max" in problem["detail"] and "archive" not in problem["detail"], "an import is spooled, too"
    assert spooled(service) == 0
    half = send_half(service, client, name, tar([("x", os.urandom(3 << 20))])[:3 << 20])
    wait_for(lambda: spooled(service) >= 3 << 20)
    reply = upload(client, name, tar([("x", os.urandom(3800 << 10))]), 503)
    assert "spool_total_bytes_max" in reply.json()["detail"] and int(reply.headers["Retry-After"]) > 0
    held = re.search(r'^provisor_resource_held\{resource="spool"\} (\S+)$', client.request("GET", "/metrics", 200, token=False).text, re.M)
    assert float(held[1]) >= 3 << 20
    half.close()
    wait_for(lambda: spooled(service) == 0)
    assert 'provisor_resource_held{resource="spool"} 0\n' in client.request("GET", "/metrics", 200, token=False).text
    run = upload(client, name, tar(rolled(tiny_log(), 2) + [(".x", os.urandom(3800 << 10))])).json()
    assert run["succeeded"] is True and spooled(service) == 0


def refusals_of_the_spool(client):
    text = client.request("GET", "/metrics", 200, token=False).text
    return {reason: int(n) for reason, n in re.findall(r'^provisor_resource_refused_total\{resource="spool",reason="(\w+)"\} (\d+)$', text, re.M)}


def test_a_team_that_fills_the_spool_leaves_room_for_another(make_service, name):
    """It has three times what is free at most: with one mebibyte of eight in other hands, a bit over five. Alone it may have six."""
    service = make_service(PROVISOR_SPOOL_TOTAL_BYTES_MAX=8 * MIB)
    greedy, quiet = service.token("greedy"), service.token("quiet")
    service.start()
    greedy, quiet = service.client(greedy), service.client(quiet)

    held = send_half(service, greedy, name, tar([("x", os.urandom(5 * MIB))])[:5 * MIB])
    wait_for(lambda: spooled(service) >= 5 * MIB)
    reply = upload(greedy, name, tar([("x", os.urandom(3 * MIB))]), 503)
    assert "disk for uploads and exports" in reply.json()["detail"] and "(spool_total_bytes_max = %d)" % (8 * MIB) in reply.json()["detail"]
    assert reply.headers["Retry-After"] == "10" and refusals_of_the_spool(quiet) == {"full": 1}

    other = send_half(service, quiet, name, tar([("x", os.urandom(MIB))])[:MIB])
    wait_for(lambda: spooled(service) >= 6 * MIB)
    reply = upload(greedy, name, tar([("x", os.urandom(2 * MIB))]), 429)
    assert reply.json()["type"] == "/problems/quota_exceeded"
    assert "its share of the disk for uploads and exports" in reply.json()["detail"]
    assert "(spool_total_bytes_max = %d)" % (8 * MIB) in reply.json()["detail"]
    assert reply.headers["Retry-After"] == "10" and reply.headers["RateLimit"] == '"spool";r=0;t=10'
    assert reply.headers["RateLimit-Policy"].startswith('"spool";q=%d' % (8 * MIB))
    assert refusals_of_the_spool(quiet) == {"full": 1, "share": 1}
    run = upload(quiet, name, tar(rolled(tiny_log(), 2) + [(".x", os.urandom(MIB))])).json()
    assert run["succeeded"] is True, "there is room for another team"

    other.close()
    held.close()
    wait_for(lambda: spooled(service) == 0)
    assert upload(greedy, name, tar(rolled(tiny_log(), 2) + [(".x", os.urandom(5 * MIB))])).json()["succeeded"] is True


def test_a_spool_directory_that_cannot_be_used_is_said(make_service, name):
    service = make_service(PROVISOR_SPOOL_DIRECTORY="/proc/none").start()
    client = service.client(service.token("none"))
    assert '"spool.unusable"' in service.log.read_text()
    assert "spool_directory" in upload(client, name, tar(rolled(tiny_log(), 2)), 503).json()["detail"]
    upload(client, name, tiny_log(), 201)


def test_a_client_that_leaves_leaves_nothing_on_the_disk(service, client, name):
    before = spooled(service)
    sock = send_half(service, client, name, tar([("x", os.urandom(3 << 20))])[:3 << 20])
    wait_for(lambda: spooled(service) > before)
    sock.close()
    wait_for(lambda: spooled(service) <= before)
    client.get("/v1/applications/" + name, 404)


def test_a_large_archive_outlives_the_time_of_one_request(make_service, name):
    """It is read in turns, and each turn has the time of a request; others are answered in between."""
    service = make_service(PROVISOR_REQUEST_TIMEOUT_MS=str(500 * SLOWDOWN), PROVISOR_COMPUTE_WORKERS="1").start()
    client = service.client(service.token("large"))
    filler = (event("Other", text="x" * 4000) + "\n").encode() * 8
    data = tiny_log(stages=2)
    part = gzip.compress(filler * 2000, 1)
    files = [("events_%d_app-1.gz" % (i + 2), part) for i in range(12)]
    lines = data.splitlines(keepends=True)
    files = [("events_1_app-1", b"".join(lines[:-1]))] + files + [("events_14_app-1", lines[-1])]
    started = time.monotonic()
    run = upload(client, name, tar(files), timeout=120).json()
    assert run["stages_completed"] == 2 and run["succeeded"] is True and run["warnings"] == []
    assert time.monotonic() - started > 0.5 * SLOWDOWN, "too fast to prove anything"


# --- memory


def long_rolled(size):
    """(name, bytes) of the parts of a long log, those in pairs swapped."""
    part, parts = b"", []
    for piece in long_log(size):
        part += piece
        if len(part) >= size / 10:
            parts.append(part)
            part = b""
    parts.append(part)
    files = [("eventlog_v2_a/events_%d_a" % (i + 1), data) for i, data in enumerate(parts)]
    for i in range(0, len(files) - 1, 2):
        files[i], files[i + 1] = files[i + 1], files[i]
    return files


@pytest.mark.resident_memory
@pytest.mark.parametrize("pack", [tar, lambda f: tar(f, lambda data: gzip.compress(data, 1)), zipped])
def test_a_long_archive_takes_flat_memory(make_service, pack):
    service = make_service().start()
    client = service.client(service.token("alpha"))
    upload(client, "warm", pack(long_rolled(MIB)))
    data = pack(long_rolled(100 * MIB))
    _, grown = highest_growth(service, lambda: upload(client, "long", data))
    assert grown < 24 * MIB, "%.1f MiB more" % (grown / MIB)


@pytest.mark.resident_memory
def test_eight_archives_at_once(make_service):
    """Parts with zstd windows of 2^23 bytes, each decoder of which holds one."""
    service = make_service().start()
    client = service.client(service.token("alpha"))
    upload(client, "warm", tar(long_rolled(MIB)))
    pack = ["zstd", "-q", "-1", "--zstd=wlog=23"]
    data = zipped([(n + ".zstd", subprocess.run(pack, input=d, stdout=subprocess.PIPE, check=True).stdout)
                   for n, d in long_rolled(40 * MIB)])

    def send(i):
        return upload(service.client(client.token), "many-%d" % i, data, timeout=300).json()["id"]

    def all_at_once():
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            return list(pool.map(send, range(8)))

    ids, grown = highest_growth(service, all_at_once)
    assert len(set(ids)) == 8
    assert grown < 160 * MIB, "%.1f MiB more" % (grown / MIB)


def test_pieces_of_a_sparse_file_out_of_order_are_damage(client, name):
    """libarchive says of them that they may be tried again, each time."""
    data = tiny_log()
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("app-1")
        info.size = len(data)
        half = len(data) // 2
        info.pax_headers = {"GNU.sparse.numblocks": "2", "GNU.sparse.size": "1000000", "GNU.sparse.name": "app-1",
                            "GNU.sparse.map": "500000,%d,0,%d" % (half, len(data) - half)}
        archive.addfile(info, io.BytesIO(data))
    reply = upload(client, name, out.getvalue(), 400, timeout=10)
    assert "damaged" in reply.json()["detail"]
    client.get("/v1/applications/" + name, 404)
