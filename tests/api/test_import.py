"""provisord import: a folder of real logs against its manifest, twice, two at once, stopped; bad files stop nothing."""
import collections
import csv
import json
import os
import signal
import subprocess
import time

import pytest

from conftest import PROVISORD
from patience import PATIENCE, SLOWDOWN
from test_eventlogs import tiny_log
from test_jobhistory import job_history

NO_LOGS = {"manifest.tsv", "unparsed-lines.tsv"}


def start(service, *words, **more):
    # One log here asks for a large window; the default refuses it, with the reason.
    env = service.env(**more)
    return subprocess.Popen([str(PROVISORD), "import", *map(str, words)], env=env, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def finish(process, status):
    out, err = process.communicate(timeout=120)
    assert process.returncode == status, err[-2000:] + out[-2000:]
    return out, err


def run(service, *words, status=0, **more):
    return finish(start(service, *words, **more), status)


def lines(out):
    """(items by path, totals) of --json."""
    rows = [json.loads(line) for line in out.splitlines()]
    assert "totals" in rows[-1] and all("outcome" in row for row in rows[:-1])
    return {row["name"]: row for row in rows[:-1]}, rows[-1]["totals"]


@pytest.fixture(scope="module")
def logs(shared):
    return shared / "data" / "spark-eventlogs"


@pytest.fixture(scope="module")
def manifest(logs):
    with open(logs / "manifest.tsv") as f:
        rows = [row for row in csv.DictReader(f, delimiter="\t") if row["kind"] != "rolling-part"]
    return {str(logs / row["file"]).rstrip("/"): row for row in rows}


def seconds(ms):
    return int(ms) / 1000


def check_run(run, row):
    """The figures of a run against a row of the manifest."""
    assert run["spark_application_id"] == row["app_id"]
    assert (run["spark_attempt_id"] or "") == row["app_attempt"]
    assert run["jobs"] == int(row["jobs"]) and run["stages_completed"] == int(row["stages_completed"])
    assert run["tasks_succeeded"] == int(row["tasks_ok"]) and run["tasks_failed"] == int(row["tasks_failed"])
    assert run["executors_added"] == int(row["executors_added"])
    assert run["task_time_s"] == pytest.approx(seconds(row["sum_ok_task_ms"]), abs=1e-9)
    if row["app_end_ms"]:
        assert run["duration_s"] == pytest.approx(seconds(int(row["app_end_ms"]) - int(row["app_start_ms"])), abs=1e-9)
    damaged = [w["evidence"]["count"] for w in run["warnings"] if w["code"] == "damaged_lines"]
    assert damaged == ([int(row["unparsed_lines"])] if int(row["unparsed_lines"]) else [])


def team(service, name):
    return service.client(service.token(name))


def test_every_log_of_a_history_is_taken_as_its_manifest_says(service, logs, manifest, name):
    """Whole, by the names that the logs give themselves, then again: the same runs, and nothing twice."""
    client = team(service, name)
    words = [logs, "--team", name, "--json", "--label", "from:import", "--zstd-window-log-max=27"]
    items, totals = lines(run(service, *words)[0])
    assert set(items) == set(manifest) | {str(logs / n) for n in NO_LOGS}
    assert {n for n, item in items.items() if item["outcome"] == "ignored"} == {str(logs / n) for n in NO_LOGS}
    # A copy of a log, edited so that it is damaged, gives way to the log, whichever came first.
    damaged, intact = [str(logs / "rapids" / "profiling" / (x + "_eventlog.zstd")) for x in ("malformed_json", "rp_sql")]
    assert sorted(items[path]["outcome"] for path in (damaged, intact)) in (["replaced", "stored"], ["duplicate", "stored"])
    assert items[damaged]["run_id"] == items[intact]["run_id"]
    runs = {path: row for path, row in manifest.items() if path != damaged}
    assert {items[path]["outcome"] for path in set(runs) - {intact}} == {"stored"}
    assert totals["stored"] == len(runs) == len({items[path]["run_id"] for path in runs}) and totals["rejected"] == 0
    for path, row in runs.items():
        run_ = client.get("/v1/runs/%s" % items[path]["run_id"]).json()
        check_run(run_, row)
        assert run_["labels"].pop("from") == "import" and set(run_["labels"]) <= {"job_name"}
        assert (items[path]["code"] == "no_application_end") == (row["app_end_ms"] == "")
    again, totals = lines(run(service, *words)[0])
    assert totals["stored"] == totals["replaced"] == 0 and totals["duplicates"] == len(manifest)
    for path, item in items.items():
        if path in manifest:
            assert again[path]["outcome"] == "duplicate" and again[path]["run_id"] == item["run_id"]
    assert again[damaged]["code"] == "less_complete" and "damaged" in again[damaged]["reason"]
    applications = client.get("/v1/applications?limit=200").json()["items"]
    assert sum(a["runs"] for a in applications) == len(runs)


def test_two_imports_at_once_make_each_run_once(service, logs, manifest, name):
    """Both read everything; each run was stored by one of them and known to the other."""
    client = team(service, name)
    words = [logs / "rapids" / "qualification", logs / "xspark", "--team", name, "--json", "--threads", 4,
             "--zstd-window-log-max=27"]
    both = [start(service, *words), start(service, *words)]
    outs = [lines(p.communicate(timeout=120)[0])[0] for p in both]
    stored = collections.Counter()
    for path in outs[0]:
        pair = sorted(out[path]["outcome"] for out in outs)
        assert pair in (["duplicate", "stored"], ["ignored", "ignored"]), (path, pair)
        if pair[0] == "duplicate":
            assert outs[0][path]["run_id"] == outs[1][path]["run_id"]
            stored[outs[0][path]["application"]] += 1
    items = client.get("/v1/applications?limit=200").json()["items"]
    assert {a["name"]: a["runs"] for a in items} == stored


def test_what_an_upload_brought_is_known_to_an_import(service, tmp_path, name):
    """One road, one digest: the same log through HTTP and from disk is one run; --application names it."""
    client = team(service, name)
    log = tiny_log(app="app-7")
    run_ = client.request("POST", "/v1/applications/both/eventlogs", 201, data=log,
                          headers={"Content-Type": "application/octet-stream"}).json()
    (tmp_path / "log").write_bytes(log)
    items, _ = lines(run(service, tmp_path, "--team", name, "--application", "both", "--json")[0])
    item, = items.values()
    assert (item["outcome"], item["run_id"], item["application"]) == ("duplicate", run_["id"], "both")


def test_logs_of_all_kinds_in_one_tree(service, tmp_path, name):
    """Folders, links, MapReduce, rolling logs, rubbish: each is told, and a bad file stops nothing."""
    client = team(service, name)
    tree = tmp_path / "tree"
    rolling = tree / "spark" / "eventlog_v2_app-2"
    rolling.mkdir(parents=True)
    whole = tiny_log(app="app-2")
    cut = whole.index(b"\n", len(whole) // 2) + 1
    (rolling / "events_1_app-2").write_bytes(whole[:cut])
    (rolling / "events_2_app-2").write_bytes(whole[cut:])
    (rolling / "appstatus_app-2").write_bytes(b"")
    done = tree / "done" / "2026" / "01"
    done.mkdir(parents=True)
    (done / "job_1.jhist").write_bytes(job_history(name="word count"))
    (done / "job_1_conf.xml").write_text("<configuration/>")
    (done / "job_2.jhist").write_bytes(b"Avro-Binary\n{}\n\x02")
    (tree / "loop").symlink_to(tree)
    (tree / "empty").write_bytes(b"")
    (tree / "notes.txt").write_text("nothing of interest\n")
    (tree / "broken.zst").write_bytes(b"\x28\xb5\x2f\xfd" + b"\xff" * 60)
    (tree / "later.inprogress").write_bytes(tiny_log(app="app-3", ended=False))
    out, err = run(service, tree, "--team", name, status=1)
    rows = {os.path.relpath(path, tree): (outcome, application, reason)
            for outcome, application, path, reason in (line.split("\t") for line in out.splitlines())}
    assert {path: row[:2] for path, row in rows.items()} == {
        "spark/eventlog_v2_app-2": ("stored", "tiny"), "done/2026/01/job_1.jhist": ("stored", "word count"),
        "later.inprogress": ("stored", "tiny"), "done/2026/01/job_1_conf.xml": ("ignored", "-"),
        "done/2026/01/job_2.jhist": ("rejected", "-"), "loop": ("ignored", "-"), "empty": ("ignored", "-"),
        "notes.txt": ("ignored", "-"), "broken.zst": ("rejected", "-")}
    assert all(row[2] for path, row in rows.items() if row[0] != "stored")
    assert "jhist.format=json" in rows["done/2026/01/job_2.jhist"][2]
    assert rows["later.inprogress"][2].startswith("unfinished")
    assert "3 stored" in err and "2 rejected" in err
    # The application ends, its log gets its name: the run is replaced and stays one.
    (tree / "later.inprogress").unlink()
    (tree / "later").write_bytes(tiny_log(app="app-3"))
    items, totals = lines(run(service, tree, "--team", name, "--json", status=1)[0])
    assert (totals["stored"], totals["replaced"], totals["duplicates"]) == (0, 1, 2)
    assert items[str(tree / "later")]["outcome"] == "replaced"
    # What is left of the unfinished one says nothing new.
    (tree / "later.inprogress").write_bytes(tiny_log(app="app-3", ended=False))
    items, _ = lines(run(service, tree / "later.inprogress", "--team", name, "--json")[0])
    assert [item["outcome"] for item in items.values()] == ["duplicate"]
    assert [r["succeeded"] for r in client.get("/v1/applications/tiny/runs").json()["items"]] == [True, True]


def test_recurring_names_are_folded(service, tmp_path, name):
    """A job with the day in its name belongs to the same application every day."""
    client = team(service, name)
    for day in (5, 6, 7):
        (tmp_path / ("log-%d" % day)).write_bytes(
            tiny_log(app="app-%d" % day).replace(b'"tiny"', b'"nightly-etl-2026-01-%02d"' % day))
    run(service, tmp_path, "--team", name)
    items = client.get("/v1/applications").json()["items"]
    assert [(a["name"], a["runs"]) for a in items] == [("nightly-etl", 3)]


def test_a_name_that_cannot_be_kept_is_asked_for(service, tmp_path, name):
    """No name, or one that looks like a credential: refused, unless the caller names the application."""
    team(service, name)
    (tmp_path / "none").write_bytes(tiny_log(app="app-1").replace(b'"App Name": "tiny", ', b""))
    (tmp_path / "secret").write_bytes(tiny_log(app="app-2").replace(b'"tiny"', b'"password=hunter2"'))
    items, _ = lines(run(service, tmp_path, "--team", name, "--json", status=1)[0])
    assert sorted((i["outcome"], i["code"]) for i in items.values()) == [
        ("rejected", "name_suspicious"), ("rejected", "no_name")]
    assert "hunter2" not in json.dumps(items)
    run(service, tmp_path, "--team", name, "--application", "named")


def test_a_dry_run_says_what_would_be_done_and_does_nothing(service, tmp_path, name):
    """Outcomes as they would be, and an empty history."""
    client = team(service, name)
    (tmp_path / "log").write_bytes(tiny_log(app="app-1"))
    items, totals = lines(run(service, tmp_path, "--team", name, "--json", "--dry-run")[0])
    assert [(i["outcome"], i["application"], i["run_id"]) for i in items.values()] == [("stored", "tiny", None)]
    assert totals["dry_run"]
    assert client.get("/v1/applications").json()["items"] == []


def test_a_token_of_the_team_does_as_well(service, tmp_path, name):
    """--token-file: as the service's role, without the owner's; a token without the scope is refused."""
    token = tmp_path / "token"
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "log").write_bytes(tiny_log(app="app-1"))
    token.write_text(service.token(name, "read,write") + "\n")
    nobody = {"PROVISOR_DATABASE_OWNER_URL": "postgresql:///nowhere?host=/nonexistent"}
    run(service, tmp_path / "logs", "--token-file", token, **nobody)
    token.write_text(service.token(name, "read"))
    assert "scope" in run(service, tmp_path / "logs", "--token-file", token, status=1, **nobody)[1]
    token.write_text("prv_nothing")
    assert "token" in run(service, tmp_path / "logs", "--token-file", token, status=1, **nobody)[1]
    rows = team(service, name).get("/v1/audit").json()["items"]
    assert any(r["action"] == "run.insert" and r["request_id"] for r in rows)


@pytest.mark.parametrize("words", [
    [], ["x"], ["x", "--team", "t", "--token-file", "f"], ["x", "--team", "t", "--threads", "0"],
    ["x", "--team", "t", "--label", "nothing"], ["x", "--team", "t", "--label", "a:1", "--label", "a:2"],
    ["x", "--team", "t", "--application", ""], ["x", "--team", "t", "--json=yes"], ["x", "--team", "t", "--odd", "1"]])
def test_wrong_words_are_refused_before_anything_is_done(service, words):
    """Exit status 2, and what is wrong."""
    assert run(service, *words, status=2)[1].startswith("provisord: ")


def test_an_unknown_team_or_path_is_an_error(service, name, tmp_path):
    """A mistyped team is not made; a path that is not there is a file that cannot be read."""
    assert "no team" in run(service, tmp_path, "--team", "not-" + name, status=1)[1]
    as_service = {"PROVISOR_DATABASE_OWNER_URL": service.database_url}
    assert "database_owner_url" in run(service, tmp_path, "--team", name, status=1, **as_service)[1]
    team(service, name)
    out, _ = run(service, tmp_path / "missing", "--team", name, status=1)
    assert out.startswith("rejected\t-\t") and "No such file" in out
    assert run(service, tmp_path, "--team", name)[0] == ""


def test_ctrl_c_stops_and_what_was_told_stays(service, tmp_path, name):
    """Stopped between logs: what was told as stored is there; the next import does the rest."""
    client = team(service, name)
    for i in range(150):
        (tmp_path / ("log-%03d" % i)).write_bytes(tiny_log(app="app-%03d" % i, stages=40))
    process = start(service, tmp_path, "--team", name, "--json", "--threads", 1)
    told = [json.loads(process.stdout.readline()) for _ in range(3)]
    process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1 and time.monotonic() - begun < 5 * SLOWDOWN
    rest = [json.loads(line) for line in out.splitlines()]
    totals = rest.pop()["totals"]
    assert totals["interrupted"] and totals["not_attempted"] > 0
    assert totals["stored"] == len(told) + len(rest)
    assert client.get("/v1/applications/tiny").json()["runs"] == totals["stored"]
    for item in told + rest:
        client.get("/v1/runs/%s" % item["run_id"])
    _, totals = lines(run(service, tmp_path, "--team", name, "--json")[0])
    assert totals["stored"] + totals["duplicates"] == 150 and totals["rejected"] == 0
    assert client.get("/v1/applications/tiny").json()["runs"] == 150


def test_unreadable_files_are_told(service, tmp_path, name):
    """A file that may not be read is refused with the system's reason; the others go in."""
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    team(service, name)
    (tmp_path / "locked").write_bytes(tiny_log(app="app-1"))
    (tmp_path / "locked").chmod(0)
    (tmp_path / "open").write_bytes(tiny_log(app="app-2"))
    out, _ = run(service, tmp_path, "--team", name, status=1)
    assert "Permission denied" in out and "stored\ttiny" in out
