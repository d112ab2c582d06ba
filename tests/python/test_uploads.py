"""Uploads and exports: streamed, shown, repeated from the beginning, as large as they like."""
import io
import json
import os
import re
import subprocess
import sys
import textwrap

import pytest

import provisor
from provisor.progress import Bar
from conftest import INSTALLED
from stub import JSON, problem, stub

STORED = (201, {**JSON, "X-Log-Outcome": "stored"}, '{"id": "x"}')


def bodies(server):
    return [body for _, _, _, body in server.requests]


def test_a_file_is_sent_again_from_its_beginning(hasty, tmp_path):
    log = tmp_path / "log"
    log.write_bytes(os.urandom(700000))
    with stub(problem(503, "away", **{"Retry-After": "1"}), STORED) as server, open(log, "rb") as opened:
        assert hasty(server.url).ingest("a", log).reply.log_outcome == "stored"
        opened.seek(10)
        server.answers = [problem(503, "away", **{"Retry-After": "1"}), STORED]
        hasty(server.url).ingest_named(opened, label="env:x", executors=3)
    assert bodies(server) == [log.read_bytes()] * 2 + [log.read_bytes()[10:]] * 2
    assert len({headers["Idempotency-Key"] for _, _, headers, _ in server.requests}) == 2
    assert [headers["Content-Type"] for _, _, headers, _ in server.requests] == ["application/octet-stream"] * 4
    assert server.requests[2][1] == "/v1/eventlogs?executors=3&label=env%3Ax"


def chunked(handler):
    """What came in chunks, put together."""
    body = b""
    while True:
        size = int(handler.rfile.readline(), 16)
        body += handler.rfile.read(size)
        handler.rfile.readline()
        if size == 0:
            break
    handler.server.body = body
    handler.send_response(201)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "10")
    handler.end_headers()
    handler.wfile.write(b'{"id":"x"}')


class Pipe(io.RawIOBase):
    """As a pipe: it can be read once, and nobody knows how long it is."""

    def __init__(self, content):
        self.inner = io.BytesIO(content)

    def readable(self):
        return True

    def readinto(self, buffer):
        return self.inner.readinto(buffer)


def test_what_has_no_length_goes_in_chunks(hasty):
    content = os.urandom(600000)
    for source in (iter([content[:10], b"", content[10:]]), Pipe(content)):
        with stub(chunked) as server:
            assert hasty(server.url).ingest("a", source).id == "x"
            assert server.body == content and server.requests[0][2]["Transfer-Encoding"] == "chunked"


def test_what_can_be_read_once_is_sent_once(hasty):
    def away(handler):
        handler.close_connection = True

    with stub(away) as server:
        client = hasty(server.url)
        with pytest.raises(provisor.ConnectionFailed):
            client.ingest("a", iter([b"x"]))
        assert client.waits == [] and len(server.requests) == 1


def test_a_log_in_chunks_is_stored_by_the_service(client, sample, name):
    log = sorted((sample / "nightly-etl").iterdir())[0].read_bytes()
    assert client.ingest(name, (log[at:at + 1000] for at in range(0, len(log), 1000))).reply.log_outcome == "stored"
    assert client.ingest(name, memoryview(log)).reply.log_outcome == "duplicate"


def test_text_is_no_log(hasty, tmp_path):
    (tmp_path / "log").write_text("x")
    with stub(STORED) as server, open(tmp_path / "log") as opened:
        with pytest.raises(TypeError, match="mode 'rb'"):
            hasty(server.url).ingest("a", opened)
    for path, kind in ((tmp_path / "no such log", FileNotFoundError), (tmp_path, IsADirectoryError)):
        with pytest.raises(kind):
            hasty("http://127.0.0.1:1").ingest("a", path)


def test_a_file_that_cannot_be_read_on_is_no_failure_of_the_network(hasty):
    def pieces():
        yield b"x"
        raise OSError(5, "the disk is broken")

    def read_all(handler):
        handler.rfile.read()
        handler.close_connection = True

    with stub(read_all) as server:
        client = hasty(server.url)
        with pytest.raises(OSError, match="the disk is broken"):
            client.ingest("a", pieces())
        assert client.waits == []


def test_progress_is_told(hasty, tmp_path):
    log = tmp_path / "log"
    log.write_bytes(bytes(1000000))
    told = []
    with stub(STORED) as server:
        hasty(server.url).ingest("a", log, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (1000000, 1000000) and told == sorted(told) and len(told) == 4


def test_a_bar(hasty, tmp_path, capsys):
    log = tmp_path / "night\x1b[31m.log"
    log.write_bytes(bytes(1000000))
    with stub(STORED) as server:
        hasty(server.url).ingest("a", log, progress=True)
        shown = capsys.readouterr()
        assert shown.out == "" and re.search(r"\rnight\?\[31m.log \[={30}\] 100 %  977 KiB of 977 KiB *\n$", shown.err), shown.err
        hasty(server.url).ingest("a", log)  # nobody looks at standard error here
        assert capsys.readouterr().err == ""


def test_a_bar_is_rewritten_only_so_often():
    out = io.StringIO()
    bar = Bar("refit", "steps", out)
    bar.begin(None)
    bar.update(3)
    for done in range(1001):
        bar.update(done, 1000, "resamples")
    bar.end("succeeded")
    lines = out.getvalue().split("\r")
    assert len(lines) < 8 and lines[-2].rstrip() == "refit [==============================] 100 %  1000 of 1000 resamples"
    assert lines[-1].rstrip() == "refit  succeeded" and out.getvalue().endswith("\n")


PROGRAM = textwrap.dedent("""
    import resource, sys
    sys.path.insert(0, sys.argv[1])
    import provisor
    client = provisor.Client(sys.argv[2], sys.argv[3], progress=False)
    {0}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    {1}
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
""")


def memory_kb(url, token, warm_up, work, *words):
    """How much more memory a process of its own takes for the work, after a first one that warms it up."""
    out = subprocess.run([sys.executable, "-B", "-c", PROGRAM.format(warm_up, work), str(INSTALLED), url, token, *map(str, words)],
                         text=True, stdout=subprocess.PIPE, check=True, timeout=200).stdout
    return int(out.split()[-1])


def test_memory_of_an_upload_does_not_grow_with_it(tmp_path):
    log = tmp_path / "log"
    with open(log, "wb") as file:
        for _ in range(150):
            file.write(os.urandom(1000000))
    with stub(STORED) as server:
        used = memory_kb(server.url, "prv_x", "client.ingest('a', b'x')", "client.ingest('a', sys.argv[4])", log)
        assert len(bodies(server)[1]) == 150000000
    assert used < 6000, "%d kB" % used


def test_memory_of_an_export_does_not_grow_with_it(service, client, name, tmp_path):
    runs = ({"problem_size": i % 50 + 1, "executors": i % 7 + 1, "cores_per_executor": 4, "duration_s": 10 + i % 13,
             "labels": {"text": "x" * 900}, "spark_application_id": "app-%d" % i} for i in range(6000))
    assert client.import_runs(name, runs).imported == 6000
    used = memory_kb(service.base_url, service.alpha_token, "next(client.export_runs(sys.argv[4])).id",
                     "assert sum(1 for _ in client.export_runs(sys.argv[4])) == 6000", name)
    assert used < 6000, "%d kB" % used
    file = tmp_path / "runs.ndjson"
    assert client.export_to_file(name, file) == 6000
    assert sum(1 for line in file.read_text().splitlines() if json.loads(line)) == 6000


def test_an_export_that_is_cut_leaves_no_half_a_file(hasty, tmp_path):
    def half(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{}\n{\r\n")
        handler.close_connection = True

    (tmp_path / "runs").write_text("older")
    with stub(half) as server:
        client = hasty(server.url)
        with pytest.raises(provisor.ConnectionFailed, match="cut"):
            client.export_to_file("a", tmp_path / "runs")
        runs = client.export_runs("a")
        assert next(runs).to_dict() == {}
        with pytest.raises(provisor.ConnectionFailed):
            next(runs)
    assert [p.name for p in tmp_path.iterdir()] == ["runs"] and (tmp_path / "runs").read_text() == "older"
