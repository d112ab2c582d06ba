"""provisor ingest from S3, HDFS and History Servers: from the listing to the runs, each once; faults of one log are its own."""
import dataclasses
import io
import pathlib
import signal
import sys
import time
import zipfile

import pytest

sys.path.append(str(pathlib.Path(__file__).parent / "sources"))
import test_sources_history as history_stub  # noqa: E402
import test_sources_webhdfs as hdfs_stub  # noqa: E402
from ingest_logs import documents, rows, runs, stored, stub, until  # noqa: E402
from origin import Answer, serving  # noqa: E402
from patience import PATIENCE  # noqa: E402
from s3_stub import CREDENTIALS, SECRET, Bucket, error  # noqa: E402
from test_eventlogs import tiny_log  # noqa: E402


def parts(app, n=3):
    lines = tiny_log(app=app, stages=8).splitlines(keepends=True)
    step = len(lines) // n + 1
    return {"events_%d_%s" % (i + 1, app): b"".join(lines[i * step:(i + 1) * step]) for i in range(n)}


def tree(folder):
    """Key or path -> bytes: two logs, one that is written, a rolling one, one of those that is written, and no logs."""
    return {folder + name: content for name, content in {
        "app-1": tiny_log(app="app-1"), "sub/app-2": tiny_log(app="app-2"), "app-3.inprogress": tiny_log(app="app-3", ended=False),
        "v2_4/appstatus_app-4": b"", **{"v2_4/" + name: content for name, content in parts("app-4").items()},
        "v2_5/appstatus_app-5.inprogress": b"", **{"v2_5/" + name: content for name, content in parts("app-5").items()},
        "_SUCCESS": b"x", "empty": b""}.items()}


@pytest.fixture
def mine(service, name):
    token = service.token(name)
    client = service.client(token)
    client.token_text = token
    return client


@pytest.fixture
def cli(service, make_cli, mine):
    return make_cli(service.base_url, mine.token_text, **CREDENTIALS)


@pytest.fixture
def bucket():
    return Bucket(tree("logs/"))


@pytest.fixture
def s3(bucket):
    with serving(bucket) as origin:
        yield ["s3://logs/logs/", "--endpoint", origin.url]


def short(found, folder="s3://logs/logs/"):
    return {name[len(folder):]: row.outcome for name, row in found.items()}


WHOLE = {"app-1": "stored", "sub/app-2": "stored", "v2_4": "stored", "app-3.inprogress": "ignored", "v2_5": "ignored",
         "_SUCCESS": "ignored", "empty": "ignored"}


def test_a_bucket(cli, mine, s3, bucket):
    """Each log is one run; the journal is found again without being named, and nothing is read a second time."""
    found = rows(cli("ingest", *s3).out)
    assert short(found) == WHOLE
    assert runs(mine) == ["app-1", "app-2", "app-4"]
    run = mine.get("/v1/runs/%s" % found["s3://logs/logs/v2_4"].run_id).json()
    assert run["stages_completed"] == 8 and run["warnings"] == []
    bucket.get = None  # nothing is read
    result = cli("ingest", *s3)
    assert set(short(rows(result.out)).values()) == {"ignored"} and "3 sent before" in result.err
    journal, = (cli.home / ".local" / "state" / "provisor").iterdir()
    assert SECRET not in journal.read_text() and "s3://logs/logs/app-1\t" in journal.read_text()


def test_an_object_that_changed_and_one_that_came(cli, mine, s3, bucket):
    cli("ingest", *s3)
    bucket.objects["logs/app-6"] = tiny_log(app="app-6")
    bucket.objects["logs/v2_5/appstatus_app-5"] = bucket.objects.pop("logs/v2_5/appstatus_app-5.inprogress")
    found = {n: o for n, o in short(rows(cli("ingest", *s3).out)).items() if o != "ignored"}
    assert found == {"app-6": "stored", "v2_5": "stored"}
    assert runs(mine) == ["app-1", "app-2", "app-4", "app-5", "app-6"]


def test_one_object_is_denied(cli, mine, s3, bucket):
    """The others go on; allowed again, it alone is sent."""
    bucket.fail("logs/sub/app-2", error(403, "AccessDenied"), forever=True)
    bucket.fail("logs/v2_4/" + "events_2_app-4", error(403, "AccessDenied"), forever=True)
    found = rows(cli("ingest", *s3, status=1).out)
    assert short(found) == {**WHOLE, "sub/app-2": "rejected", "v2_4": "rejected"}
    assert "AccessDenied" in found["s3://logs/logs/sub/app-2"].reason or "denied" in found["s3://logs/logs/sub/app-2"].reason.lower()
    bucket.faults.clear()
    found = {n: o for n, o in short(rows(cli("ingest", *s3).out)).items() if o != "ignored"}
    assert found == {"sub/app-2": "stored", "v2_4": "stored"}
    assert runs(mine) == ["app-1", "app-2", "app-4"]


def test_a_listing_that_breaks_off(cli, mine, s3, bucket):
    """What was listed is sent, what went wrong is said, and the status tells."""
    result = cli("ingest", s3[0], "--endpoint", "http://127.0.0.1:9", "--retries", 0, status=1)
    assert result.out == "" and "0 stored" in result.err.splitlines()[-1]
    bucket.fail("", error(403, "AccessDenied"), forever=True)
    result = cli("ingest", *s3, status=1)
    assert result.out == "" and "AccessDenied" in result.err + result.out or "denied" in result.err.lower()


def test_an_object_that_becomes_another_while_it_is_read(make_cli, bucket):
    """Of what was listed it is another by now: rejected, and read as what it is the next time."""
    def change(request, usual):
        return error(412, "PreconditionFailed")
    bucket.fail("logs/app-1", change)
    with serving(bucket) as origin, stub(lambda number, body: stored(number)) as server:
        cli = make_cli(server.url, "prv_x", **CREDENTIALS)
        words = ["ingest", "s3://logs/logs/app-1", "--endpoint", origin.url]
        assert [r.outcome for r in rows(cli(*words, status=1).out).values()] == ["rejected"]
        assert [r.outcome for r in rows(cli(*words).out).values()] == ["stored"]
        assert server.bodies[-1] == bucket.objects["logs/app-1"]


def test_ctrl_c_breaks_off_what_is_read(make_cli, bucket):
    """It has no outcome; the next call does it."""
    bucket.fail("logs/app-1", lambda request, usual: dataclasses.replace(usual, stall_after=100))
    with serving(bucket) as origin, stub(lambda number, body: stored(number)) as server:
        cli = make_cli(server.url, "prv_x", **CREDENTIALS)
        words = ["ingest", "s3://logs/logs/app-1", "--endpoint", origin.url]
        process = cli.start(*words)
        until(lambda: any(request.path.endswith("app-1") for request in origin.requests))
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 1 and out == "" and "1 not attempted" in err, (out, err)
        assert [row.outcome for row in rows(cli(*words).out).values()] == ["stored"]


def test_a_dry_run_looks_into_the_journal(cli, mine, s3):
    assert "3 pending" in cli("ingest", *s3, "--dry-run").err
    assert not (cli.home / ".local").exists()
    cli("ingest", *s3)
    assert "3 sent before" in cli("ingest", *s3, "--dry-run").err


def test_a_bucket_is_watched(cli, mine, s3, bucket):
    process = cli.start("ingest", "--watch", "--rescan", "1s", *s3)
    until(lambda: len(runs(mine)) == 3)
    bucket.objects["logs/app-7"] = tiny_log(app="app-7")
    until(lambda: len(runs(mine)) == 4)
    process.terminate()
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and {r.outcome for r in rows(out).values()} == {"stored"} and len(rows(out)) == 4, err


def test_hdfs(cli, mine):
    """Data is read where the NameNode sends the client to."""
    cluster = hdfs_stub.Cluster(tree("/spark/"))
    with serving(cluster.data) as data_node, serving(cluster) as name_node:
        cluster.data_node = data_node
        url = "webhdfs://127.0.0.1:%d/spark" % name_node.port
        found = rows(cli("ingest", url, "--user", "ann").out)
        assert short(found, url + "/") == WHOLE, found
        assert all(request.parameters["user.name"] == "ann" for request in name_node.requests)
        cluster.times["/spark/app-1"] = 5
        again = {n: o for n, o in short(rows(cli("ingest", url).out), url + "/").items() if o != "ignored"}
        assert again == {"app-1": "duplicate"}
    assert runs(mine) == ["app-1", "app-2", "app-4"]


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for name, content in files.items():
            z.writestr(name, content)
    return out.getvalue()


@pytest.fixture
def history():
    stub_of = history_stub.History()
    stub_of.applications = [{"id": "app-%d" % i, "name": "etl", "attempts": [history_stub.attempt(completed=i != 3)]} for i in (1, 2, 3)]
    stub_of.logs = {"/app-1/logs": zipped({"app-1": tiny_log(app="app-1")}),
                    "/app-2/logs": zipped({"eventlog_v2_app-2/" + n: c for n, c in parts("app-2").items()}),
                    "/app-3/logs": zipped({"app-3.inprogress": tiny_log(app="app-3", ended=False)})}
    return stub_of


def test_a_history_server(cli, mine, history):
    """Its archives are sent as they are; the journal keeps them by when they were last changed."""
    with serving(history) as origin:
        words = ["ingest", "--history-server", origin.url]
        lines, totals = documents(cli(*words, "-o", "json").out)
        assert totals["stored"] == 2 and all(line["bytes"] > 0 for line in lines.values())
        assert runs(mine) == ["app-1", "app-2"]
        read = [request.path for request in origin.requests if request.path.endswith("/logs")]
        assert "2 sent before" in cli(*words).err
        assert [request.path for request in origin.requests if request.path.endswith("/logs")] == read
        lines, totals = documents(cli(*words, "--include-unfinished", "-o", "json").out)
        assert [line["outcome"] for line in lines.values()] == ["stored"] and totals["sent_before"] == 2
        history.logs["/app-3/logs"] = zipped({"app-3": tiny_log(app="app-3")})
        history.applications[2]["attempts"] = [history_stub.attempt(updated=1767607300000)]
        lines, totals = documents(cli(*words, "-o", "json").out)
        assert [line["outcome"] for line in lines.values()] == ["replaced"]
    assert runs(mine) == ["app-1", "app-2", "app-3"]


def test_an_application_that_the_history_server_has_deleted(cli, mine, history):
    del history.logs["/app-1/logs"]
    with serving(history) as origin:
        found = rows(cli("ingest", "--history-server", origin.url, status=1).out)
    assert sorted(row.outcome for row in found.values()) == ["rejected", "stored"]
    assert runs(mine) == ["app-2"]


def test_several_places_at_once(cli, mine, s3, history, tmp_path):
    (tmp_path / "log").write_bytes(tiny_log(app="app-9"))
    history.logs["/app-2/logs"] = zipped({"app-2": tiny_log(app="app-2")})
    with serving(history) as origin:
        result = cli("ingest", tmp_path, *s3, "--history-server", origin.url, "--dry-run")
        assert "6 pending" in result.err
        result = cli("ingest", tmp_path, *s3, "--history-server", origin.url)
        assert "4 stored, 2 duplicates" in result.err
    assert runs(mine) == ["app-1", "app-2", "app-4", "app-9"]


def test_an_answer_that_is_no_page(cli, bucket):
    with serving(lambda request: Answer(200, b"<html>Log in</html>", {"Content-Type": "text/html"})) as origin:
        result = cli("ingest", "s3://logs/logs/", "--endpoint", origin.url, status=1)
    assert result.out == "" and "0 stored" in result.err.splitlines()[-1] and len(result.err.splitlines()) >= 2


JOBS = 4  # of `provisor ingest`, without --jobs


def kill_and_go_on(cli, mine, words, n, killed_after):
    """kill -9 behind so many reported logs, twice; then to the end. Each of n logs is one run, and none that was reported is sent again."""
    reported = []
    for _ in range(2):
        process = cli.start(*words)
        said = [process.stdout.readline() for _ in range(killed_after)]
        process.kill()
        said += process.communicate()[0].splitlines()
        reported += [line.split("\t")[2] for line in said if line.count("\t") == 4]
    reported += [name for name, row in rows(cli(*words).out).items() if row.outcome in ("stored", "duplicate")]
    # A log is in the journal before its line is written: a kill between the two leaves one of each that is under way unreported.
    assert len(set(reported)) == len(reported) and n - 2 * JOBS <= len(reported) <= n
    assert len(runs(mine)) == len(set(runs(mine))) == n
    assert "%d sent before" % n in cli(*words).err


@pytest.mark.parametrize("killed_after", [1, 15])
def test_a_bucket_and_kills_in_the_middle(cli, mine, killed_after):
    bucket = Bucket({"logs/app-%03d" % i: tiny_log(app="app-%03d" % i) for i in range(60)})
    with serving(bucket) as origin:
        kill_and_go_on(cli, mine, ["ingest", "s3://logs/logs/", "--endpoint", origin.url], 60, killed_after)


@pytest.mark.parametrize("killed_after", [1, 15])
def test_a_history_server_and_kills_in_the_middle(cli, mine, killed_after):
    ids = ["app-%03d" % i for i in range(60)]
    server = history_stub.History()
    server.applications = [{"id": id, "name": "etl", "attempts": [history_stub.attempt()]} for id in ids]
    server.logs = {"/%s/logs" % id: zipped({id: tiny_log(app=id)}) for id in ids}
    with serving(server) as origin:
        kill_and_go_on(cli, mine, ["ingest", "--history-server", origin.url], 60, killed_after)
