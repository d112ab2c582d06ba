"""provisor ingest: logs on disk and from standard input, every outcome, and what goes wrong on either side."""
import gzip
import json
import os
import signal
import subprocess
import threading
import time

import pytest

import ingest_logs
from conftest import BUILD, PROVISOR
from ingest_logs import documents, fill, problem, rolling, rows, runs, stored, stub, until
from patience import PATIENCE
from test_eventlogs import tiny_log
from test_jobhistory import job_history

PROVISORD = BUILD / "service" / "provisord"


@pytest.fixture
def mine(service, name):
    """A team of the test's own."""
    token = service.token(name)
    client = service.client(token)
    client.token_text = token
    return client


@pytest.fixture
def ingest(service, make_cli, mine):
    cli = make_cli(service.base_url, mine.token_text)
    call = lambda *words, **more: cli("ingest", *words, **more)  # noqa: E731
    call.start = lambda *words, **more: cli.start("ingest", *words, **more)
    call.home = cli.home
    return call


def test_logs_of_all_kinds_in_one_tree(ingest, mine, tmp_path):
    """The words of `provisord import`, for the same tree."""
    tree = tmp_path / "tree"
    rolling(tree / "spark" / "eventlog_v2_app-2", "app-2")
    (tree / "done").mkdir()
    (tree / "done" / "job_1.jhist").write_bytes(job_history(name="word count"))
    (tree / "done" / "job_1_conf.xml").write_text("<configuration/>")
    (tree / "loop").symlink_to(tree)
    (tree / "empty").write_bytes(b"")
    (tree / "notes.txt").write_text("nothing of interest\n")
    (tree / "broken.zst").write_bytes(b"\x28\xb5\x2f\xfd" + b"\xff" * 60)
    (tree / "packed.gz").write_bytes(gzip.compress(tiny_log(app="app-4")))
    (tree / "later.inprogress").write_bytes(tiny_log(app="app-3", ended=False))
    result = ingest(tree, status=1)
    found = {os.path.relpath(path, tree): row for path, row in rows(result.out).items()}
    assert {path: (row.outcome, row.application) for path, row in found.items()} == {
        "spark/eventlog_v2_app-2": ("stored", "tiny"), "done/job_1.jhist": ("stored", "word count"),
        "later.inprogress": ("ignored", "-"), "done/job_1_conf.xml": ("ignored", "-"), "loop": ("ignored", "-"),
        "empty": ("ignored", "-"), "notes.txt": ("ignored", "-"), "broken.zst": ("rejected", "-"), "packed.gz": ("stored", "tiny")}
    assert all((row.run_id == "") == (row.outcome != "stored") for row in found.values())
    assert all(row.reason for row in found.values() if row.outcome != "stored")
    assert "--include-unfinished" in found["later.inprogress"].reason
    assert result.err.splitlines()[-1].startswith("provisor: ingest: 3 stored, 0 duplicates, 0 replaced, 5 ignored, 1 rejected;")
    run = mine.get("/v1/runs/%s" % found["spark/eventlog_v2_app-2"].run_id).json()
    assert run["spark_application_id"] == "app-2" and run["warnings"] == [] and run["stages_completed"] == 8
    # Unfinished ones on request; the whole log then replaces it, and what is left of it says nothing new.
    first = rows(ingest(tree / "later.inprogress", "--include-unfinished").out)
    assert [(r.outcome, r.reason[:10]) for r in first.values()] == [("stored", "unfinished")]
    (tree / "later").write_bytes(tiny_log(app="app-3"))
    again = rows(ingest(tree, "--include-unfinished", "--jobs", 1, status=1).out)
    outcomes = {os.path.relpath(path, tree): row.outcome for path, row in again.items()}
    assert outcomes["later"] == "replaced" and outcomes["later.inprogress"] == "duplicate"
    assert outcomes["spark/eventlog_v2_app-2"] == outcomes["packed.gz"] == "duplicate"
    assert [r.outcome for r in rows(ingest(tree / "later.inprogress", "--include-unfinished").out).values()] == ["duplicate"]
    assert runs(mine) == sorted(runs(mine)) and runs(mine).count("app-3") == 1


def test_real_logs_become_what_an_import_makes_of_them(service, ingest, mine, shared, name):
    """The same folder through both: the same runs, which are known the second time; each line says the same."""
    folder = shared / "data" / "spark-eventlogs" / "rapids"
    lines, totals = documents(ingest(folder, "-o", "json", status=None).out)
    assert totals["stored"] > 10 and totals["not_attempted"] == 0
    out = subprocess.run([str(PROVISORD), "import", str(folder), "--team", name, "--json"], env=service.env(),
                         stdout=subprocess.PIPE, text=True).stdout
    imported, _ = documents(out)
    assert set(imported) == set(lines)
    for path, line in lines.items():
        if line["outcome"] in ("stored", "duplicate", "replaced"):
            assert imported[path]["outcome"] == "duplicate" and imported[path]["run_id"] == line["run_id"], (path, line, imported[path])
        elif line["outcome"] == "ignored":
            assert imported[path]["outcome"] == "ignored"
        else:
            assert imported[path]["outcome"] == line["outcome"] and imported[path]["code"] == line["code"], (path, line, imported[path])


def test_the_sample_goes_into_the_applications_that_its_logs_name(ingest, mine, sample):
    lines, totals = documents(ingest(sample, "-o", "json", "--label", "from:ingest", "--label", "day:1").out)
    assert totals["stored"] == len(lines) > 10 and totals["rejected"] == 0
    run = mine.get("/v1/runs/%s" % next(iter(lines.values()))["run_id"]).json()
    assert run["labels"].items() >= {"from": "ingest", "day": "1"}.items()


def test_what_is_said_of_a_run(ingest, mine, tmp_path, name):
    (tmp_path / "log").write_bytes(tiny_log(app="app-1"))
    ingest(tmp_path / "log", "--application", "own name/" + name, "--size", "77", "--executors", 9, "--cores", 3, "--label", "a:b:c")
    run, = mine.get("/v1/applications/own%%20name%%2F%s/runs" % name).json()["items"]
    assert (run["problem_size"], run["executors"], run["cores_per_executor"], run["labels"]) == (77, 9, 3, {"a": "b:c"})


def test_advice_is_that_of_one_log(ingest, mine, tmp_path):
    fill(tmp_path, 2)
    advice = "01890000-0000-7000-8000-000000000000"
    assert "2 logs" in ingest(tmp_path, "--advice", advice, status=2).err
    # Wrong words are said once, not for each log.
    result = ingest(tmp_path / "app-00000", "--advice", advice, status=1)
    assert "there is no such advice" in result.err and result.out == ""
    assert runs(mine) == []


@pytest.mark.parametrize("words, says", [
    ([], "needs a path"), (["x", "--label", "nothing"], "KEY:VALUE"), (["-", "--watch"], "standard input cannot be watched"),
    (["ftp://x/y"], "s3://BUCKET/PREFIX"), (["x", "--watch", "--dry-run"], "exclude"), (["x", "--watch", "--again"], "exclude"), (["x", "--watch", "--advice", "1"], "exclude"), (["x", "-o", "json=file"], "use >"),
    (["x", "-o", "yaml"], "yaml"), (["x", "--jobs", "257"], "256"), (["s3://"], "s3://")])
def test_wrong_words(ingest, words, says):
    result = ingest(*words, status=2)
    assert says in result.err and result.out == ""


def test_standard_input(ingest, mine):
    found = rows(ingest("-", "--application", "piped", input=tiny_log(app="app-1").decode()).out)
    assert found["-"].outcome == "stored" and found["-"].application == "piped"
    assert rows(ingest("-", "--application", "piped", input=tiny_log(app="app-1").decode()).out)["-"].outcome == "duplicate"
    assert rows(ingest("-", input="not a log\n", status=1).out)["-"].outcome == "ignored"
    later = tiny_log(stages=2).splitlines(keepends=True)[3:]
    job = json.dumps({"Event": "SparkListenerJobStart", "Job ID": 0, "Submission Time": 1700000001000, "Stage IDs": [0, 1]}) + "\n"
    result = ingest("-", input=job + b"".join(later).decode(), status=1)
    assert rows(result.out)["-"].outcome == "rejected" and "Send all parts together" in result.out, "a log of which a part is missing"


def test_standard_input_is_not_repeated(make_cli):
    """It cannot be read again."""
    with stub(lambda number, body: problem(503)) as server:
        result = make_cli(server.url, "prv_x")("ingest", "-", input="x" * 100000, status=1)
    assert len(server.bodies) == 1 and server.bodies[0] == b"x" * 100000
    assert "1 not attempted" in result.err


def test_a_dry_run_sends_nothing(ingest, mine, tmp_path):
    fill(tmp_path, 3)
    (tmp_path / "x.inprogress").write_bytes(tiny_log())
    result = ingest(tmp_path, "--dry-run")
    assert sorted(row.outcome for row in rows(result.out).values()) == ["ignored"] + 3 * ["pending"]
    assert "ingest (dry run): 0 stored" in result.err and "3 pending" in result.err
    assert runs(mine) == []


def test_quiet_says_what_was_rejected(ingest, tmp_path):
    fill(tmp_path, 2)
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    result = ingest(tmp_path, "--quiet", status=1)
    assert list(rows(result.out)) == [str(tmp_path / "gone")] and result.err == ""


@pytest.mark.parametrize("form", ["table", "json"])
def test_a_reader_who_had_enough_stops_nothing(ingest, mine, tmp_path, form):
    """As behind `| head -1`: all logs are sent, the status is 0, and nobody is told that standard output is closed."""
    fill(tmp_path, 5)
    process = ingest.start(tmp_path, "-o", form)
    process.stdout.close()
    said = process.stderr.read()
    assert process.wait(PATIENCE) == 0 and "written" not in said, said
    assert len(runs(mine)) == 5


def test_a_path_that_is_not_there(ingest, tmp_path):
    result = ingest(tmp_path / "missing", status=1)
    assert rows(result.out)[str(tmp_path / "missing")].outcome == "rejected" and "No such file" in result.out


def test_progress_on_a_terminal(service, make_cli, mine, tmp_path):
    fill(tmp_path / "logs", 30)
    cli = make_cli(service.base_url, mine.token_text)
    shown = cli.terminal("ingest", tmp_path / "logs")
    assert "30 stored" in shown.splitlines()[-1]


# --- the service ---

def test_a_wrong_token_is_said_once(service, make_cli, tmp_path):
    fill(tmp_path, 20)
    result = make_cli(service.base_url, "prv_wrong")("ingest", tmp_path, status=1)
    assert result.out == "" and "the token is not valid" in result.err
    assert "20 not attempted" in result.err.splitlines()[-1]


def test_a_token_that_may_not_write_is_said_once(service, make_cli, tmp_path, name):
    fill(tmp_path, 20)
    result = make_cli(service.base_url, service.token(name, "read"))("ingest", tmp_path, status=1)
    assert result.out == "" and "scope" in result.err


def test_a_page_of_a_proxy_is_said_once(make_cli, tmp_path):
    fill(tmp_path, 20)
    with stub(lambda number, body: (200, {"Content-Type": "text/html"}, b"<html>Log in</html>")) as server:
        result = make_cli(server.url, "prv_x")("ingest", tmp_path, status=1)
    assert result.out == "" and "text/html" in result.err and "20 not attempted" in result.err


def test_overload_is_waited_for_and_the_log_read_again(make_cli, tmp_path):
    names = fill(tmp_path / "logs", 1)
    rolling(tmp_path / "logs" / "v2", "app-2")

    def answer(number, body):
        return problem(503 if number % 2 else 429, **{"Retry-After": "0"}) if number < 4 else stored(number)
    with stub(answer) as server:
        result = make_cli(server.url, "prv_x")("ingest", tmp_path / "logs", "--jobs", 1)
    assert sorted(row.outcome for row in rows(result.out).values()) == ["stored", "stored"]
    log = (tmp_path / "logs" / names[0]).read_bytes()
    assert server.bodies[:4] == 4 * [log] and len(server.bodies) == 5


def test_a_connection_that_is_cut_is_taken_up_again(make_cli, tmp_path):
    fill(tmp_path, 3)
    with stub(lambda number, body: None if number == 2 else stored(number)) as server:
        result = make_cli(server.url, "prv_x")("ingest", tmp_path, "--jobs", 1)
    assert len(rows(result.out)) == 3 and len(server.bodies) == 4


def test_a_service_that_stays_away_ends_it(make_cli, tmp_path):
    fill(tmp_path, 50)
    with stub(lambda number, body: stored(number) if number <= 10 else problem(503, **{"Retry-After": "0"})) as server:
        result = make_cli(server.url, "prv_x")("ingest", tmp_path, "--jobs", 2, "--retries", 1, status=1)
    assert len(rows(result.out)) == 10
    assert result.err.splitlines()[-1].startswith("provisor: ingest: 10 stored") and "40 not attempted" in result.err
    result = make_cli("http://127.0.0.1:9", "prv_x")("ingest", tmp_path, "--retries", 0, status=1)
    assert result.out == "" and "no reply" in result.err and "50 not attempted" in result.err.splitlines()[-1]


def test_what_the_service_refuses_stops_no_other(ingest, tmp_path):
    """Its words, on one line."""
    fill(tmp_path, 3)
    (tmp_path / "none").write_bytes(tiny_log(app="app-1").replace(b'"App Name": "tiny", ', b""))
    (tmp_path / "twice").write_bytes(tiny_log(app="app-00001", stages=5))
    found = rows(ingest(tmp_path, "--jobs", 1, status=1).out)
    assert found[str(tmp_path / "none")].outcome == "rejected" and "--application NAME" in found[str(tmp_path / "none")].reason
    assert sorted(row.outcome for row in found.values()) == ["rejected"] * 2 + ["stored"] * 3


def test_a_log_that_is_too_large(make_service, make_cli, tmp_path, name):
    service = make_service(PROVISOR_EVENTLOG_BYTES_MAX="1048576")
    token = service.token(name)
    service.start()
    (tmp_path / "large").write_bytes(b"x" * 30_000_000)
    fill(tmp_path, 2)
    found = rows(make_cli(service.base_url, token)("ingest", tmp_path, status=1).out)
    assert found[str(tmp_path / "large")].outcome == "rejected" and "eventlog_bytes_max" in found[str(tmp_path / "large")].reason
    assert sorted(row.outcome for row in found.values()) == ["rejected", "stored", "stored"]


# --- the logs ---

def test_a_log_that_changes_while_it_is_read(make_cli, tmp_path):
    """Whichever way; the others go on, and what was sent of it is no whole log."""
    begun, go_on = threading.Event(), threading.Event()
    whole = b"x" * 40_000_000
    for how in ("longer", "shorter", "touched"):
        (tmp_path / how).write_bytes(whole)
    (tmp_path / "grows.inprogress").write_bytes(whole)

    def change():
        begun.wait(PATIENCE)
        with open(tmp_path / "longer", "ab") as f:
            f.write(b"y")
        with open(tmp_path / "grows.inprogress", "ab") as f:
            f.write(b"y" * 1000)
        os.truncate(tmp_path / "shorter", 39_000_000)
        os.utime(tmp_path / "touched", (1, 1))
        go_on.set()

    usual = ingest_logs.Handler.body

    def body(handler):
        length = int(handler.headers["Content-Length"])
        first = handler.rfile.read(65536)
        with handler.server.lock:
            handler.server.waiting = getattr(handler.server, "waiting", 0) + 1
            if handler.server.waiting == 4:
                begun.set()
        go_on.wait(PATIENCE)
        return first + handler.rfile.read(length - 65536)
    thread = threading.Thread(target=change)
    thread.start()
    ingest_logs.Handler.body = body
    try:
        with stub(lambda number, body: stored(number) if len(body) == len(whole) else None) as server:
            result = make_cli(server.url, "prv_x")("ingest", tmp_path, "--include-unfinished", "--jobs", 4, "--retries", 0, status=1)
            taken = [len(b) for b in server.bodies if len(b) == len(whole)]
    finally:
        ingest_logs.Handler.body = usual
        thread.join()
    found = {os.path.basename(path): row for path, row in rows(result.out).items()}
    assert {path: row.outcome for path, row in found.items()} == {
        "longer": "rejected", "shorter": "rejected", "touched": "rejected", "grows.inprogress": "stored"}
    assert all("changed while it was read" in found[how].reason for how in ("longer", "shorter", "touched"))
    assert len(taken) == 1


def test_a_file_that_cannot_be_read_stops_no_other(ingest, tmp_path):
    fill(tmp_path, 2)
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    found = rows(ingest(tmp_path, status=1).out)
    assert sorted(row.outcome for row in found.values()) == ["rejected", "stored", "stored"]
    assert "No such file" in found[str(tmp_path / "gone")].reason


def test_a_log_that_is_cut_is_rejected_with_the_reason(ingest, mine, shared, tmp_path):
    log = (shared / "data" / "spark-eventlogs" / "rapids" / "qualification" / "jdbc_eventlog.zstd").read_bytes()
    cuts = {"early.zstd": log[:3000], "plain": tiny_log(app="app-1")[:90], "late": tiny_log(app="app-2")[:-30],
            "image.gz": gzip.compress(b"\x00\x01\n" * 4000)[:-8], "good": tiny_log(app="app-3")}
    for file, data in cuts.items():
        (tmp_path / file).write_bytes(data)
    lines, totals = documents(ingest(tmp_path, "-o", "json", status=1).out)
    found = {os.path.basename(path): (line["outcome"], line["code"]) for path, line in lines.items()}
    assert found == {"early.zstd": ("rejected", "truncated"), "plain": ("rejected", "truncated"), "late": ("stored", "no_application_end"),
                     "image.gz": ("ignored", "no_application_start"), "good": ("stored", None)}
    assert "the zstd stream ends in the middle of a frame" in lines[str(tmp_path / "early.zstd")]["reason"]
    assert lines[str(tmp_path / "late")]["reason"].endswith("; truncated")
    waiting = mine.get("/v1/ingestions?open=true").json()["items"]
    assert sorted(record["source"] for record in waiting) == ["early.zstd", "plain"]
    (tmp_path / "early.zstd").write_bytes(log)
    ingest(tmp_path / "early.zstd", "--application", "whole")
    assert [record["source"] for record in mine.get("/v1/ingestions?open=true").json()["items"]] == ["plain"]


def test_files_of_which_none_is_a_log_are_no_success(service, ingest, mine, name, tmp_path):
    (tmp_path / "sizes.csv").write_text("day,bytes\n1,5\n")
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "app.inprogress").write_bytes(tiny_log(ended=False))
    for words in (["sizes.csv"], ["empty"], ["sizes.csv", "empty", "--quiet"], ["sizes.csv", "-o", "json"], ["empty", "--dry-run"]):
        result = ingest(*words, status=1, cwd=tmp_path)
        files = sum("." in word or word == "empty" for word in words)
        assert "no log was read: %d file%s, none of them a Spark event log" % (files, "s" * (files > 1)) in result.err
    assert "none of them" not in ingest("app.inprogress", "sizes.csv", cwd=tmp_path).err, "it will be a log"
    fill(tmp_path, 1)
    for _ in ("stored", "duplicate"):
        assert "none of them" not in ingest(tmp_path).err
    for path, status in ((tmp_path / "sizes.csv", 1), (tmp_path, 0)):
        made = subprocess.run([str(PROVISORD), "import", str(path), "--team", name], env=service.env(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert made.returncode == status and ("none of them" in made.stderr) == bool(status)


# --- the user ---

def test_ctrl_c_finishes_what_is_begun(make_cli, tmp_path):
    fill(tmp_path, 50)
    go_on = threading.Event()

    def answer(number, body):
        if number > 4:
            go_on.wait(PATIENCE)
        return stored(number)
    with stub(answer) as server:
        process = make_cli(server.url, "prv_x").start("ingest", tmp_path, "--jobs", 2)
        until(lambda: len(server.bodies) == 6)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        go_on.set()
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1 and len(rows(out)) == 6
    assert "ingest interrupted: 6 stored" in err.splitlines()[-1] and "44 not attempted" in err


def test_ctrl_c_ends_the_wait_for_a_service(make_cli, tmp_path):
    fill(tmp_path, 5)
    with stub(lambda number, body: problem(503, **{"Retry-After": "20"})) as server:
        process = make_cli(server.url, "prv_x").start("ingest", tmp_path, "--jobs", 1)
        until(lambda: server.bodies)
        time.sleep(0.2)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1 and time.monotonic() - began < 10
    assert "interrupted" in err.splitlines()[-1] and "5 not attempted" in err


def test_a_second_ctrl_c_ends_at_once(make_cli, tmp_path):
    fill(tmp_path, 5)
    go_on = threading.Event()

    def answer(number, body):
        go_on.wait(PATIENCE)
        return stored(number)
    with stub(answer) as server:
        process = make_cli(server.url, "prv_x").start("ingest", tmp_path)
        until(lambda: server.bodies)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        go_on.set()
    assert process.returncode == -signal.SIGINT


def test_what_was_replaced_and_what_is_less_complete_is_said(ingest, mine, tmp_path):
    whole, part = tiny_log(app="app-1", stages=3), tiny_log(app="app-1", stages=1, ended=False)
    (tmp_path / "log").write_bytes(part)
    assert rows(ingest(tmp_path).out)[str(tmp_path / "log")].outcome == "stored"
    (tmp_path / "log").write_bytes(whole)
    row = rows(ingest(tmp_path).out)[str(tmp_path / "log")]
    assert (row.outcome, row.reason) == ("replaced", "replaced a less complete log of this run (4 s, 2 tasks, unfinished) by this log"
                                         " (10 s, 6 tasks); the audit has the old figures")
    (tmp_path / "log").write_bytes(part)
    lines, totals = documents(ingest(tmp_path, "-o", "json").out)
    line = lines[str(tmp_path / "log")]
    assert (line["outcome"], line["code"]) == ("duplicate", "less_complete") and totals["duplicates"] == 1
    assert line["reason"] == "a more complete log of this run is stored (10 s, 6 tasks); this log has 4 s, 2 tasks, unfinished"


def test_clusters_of_one_second_and_a_log_that_contradicts(ingest, mine, shared, tmp_path, name):
    folder = shared / "cases" / "42-same-application-id"
    found = rows(ingest("--application", name, *sorted(folder.glob("databricks-*"))).out)
    assert {row.outcome for row in found.values()} == {"stored"} and len({row.run_id for row in found.values()}) == 3
    (tmp_path / "log").write_bytes(tiny_log(app="app-1", stages=3))
    ingest(tmp_path)
    (tmp_path / "log").write_bytes(tiny_log(app="app-1", stages=4))
    done = ingest(tmp_path, status=1)
    row = rows(done.out)[str(tmp_path / "log")]
    assert row.outcome == "rejected" and "Delete that run first" in row.reason


def test_json_is_a_line_as_each_log_ends(ingest, tmp_path):
    fill(tmp_path, 3)
    lines, totals = documents(ingest(tmp_path, "-o", "json").out)
    assert len(lines) == totals["stored"] == 3 and totals["not_attempted"] == 0 and not totals["interrupted"]
    assert all(json.dumps(line) and line["bytes"] == (tmp_path / os.path.basename(n)).stat().st_size for n, line in lines.items())


# --- what it takes ---

@pytest.mark.release_build
@pytest.mark.parametrize("kind", ["file", "rolling", "standard input"])
def test_memory_does_not_grow_with_a_log(make_cli, tmp_path, kind):
    """Peak memory of the client, of 10 MB against 500 MB."""
    peaks = []
    for n in (10_000_000, 500_000_000):
        folder = tmp_path / ("logs-%d" % n)
        folder.mkdir()
        if kind == "rolling":
            for i in range(2):
                (folder / ("events_%d_app" % (i + 1))).touch()
                os.truncate(folder / ("events_%d_app" % (i + 1)), n // 2)
        else:
            (folder / "log").touch()
            os.truncate(folder / "log", n)
        usual = ingest_logs.Handler.body

        def body(handler):
            left = handler.headers.get("Content-Length")
            if left is None:
                while True:
                    m = int(handler.rfile.readline(), 16)
                    handler.rfile.read(m)
                    handler.rfile.readline()
                    if m == 0:
                        return b""
            left = int(left)
            while left:
                left -= len(handler.rfile.read(min(left, 1 << 20)))
            return b""
        ingest_logs.Handler.body = body
        try:
            with stub(lambda number, body: stored(number)) as server:
                cli = make_cli(server.url, "prv_x")
                words = [str(w) for w in ("/usr/bin/time", "-f", "%M", PROVISOR, "ingest", "-" if kind == "standard input" else folder)]
                with open(folder / "log" if kind == "standard input" else os.devnull) as source:
                    result = subprocess.run(words, env=cli.env, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                            timeout=PATIENCE)
        finally:
            ingest_logs.Handler.body = usual
        assert result.returncode == 0 and "1 stored" in result.stderr, result.stderr
        peaks.append(int(result.stderr.splitlines()[-1]))
    assert peaks[1] < peaks[0] + 1500 and peaks[1] < 40_000, peaks


def test_a_line_says_what_the_log_hides(ingest, shared):
    """What the reader noticed, and the name that the rules folded."""
    found = rows(ingest(shared / "cases/05-dropped-events/eventlog", shared / "cases/19-names-with-time/00").out)
    reasons = {row.application: row.reason for row in found.values()}
    assert reasons["dropper"] == "lost events: 41"
    folded = next(row for row in found.values() if "19-names" in row.name)
    assert "its name in the log is " in folded.reason
