"""provisor ingest's journal: what was sent is not sent again, whatever ended the process; and where it cannot be written."""
import os
import resource
import signal
import threading

import pytest

from ingest_logs import documents, fill, problem, rolling, rows, runs, stored, stub, until
from patience import PATIENCE
from test_eventlogs import tiny_log


@pytest.fixture
def mine(service, name):
    token = service.token(name)
    client = service.client(token)
    client.token_text = token
    return client


@pytest.fixture
def cli(service, make_cli, mine):
    return make_cli(service.base_url, mine.token_text)


def test_what_is_in_the_journal_is_not_sent_again(make_cli, tmp_path):
    """Neither read nor sent; a log that changed is, and --again sends everything."""
    logs, journal = tmp_path / "logs", tmp_path / "journal"
    fill(logs, 4)
    rolling(logs / "v2", "app-r")
    with stub(lambda number, body: stored(number)) as server:
        cli = make_cli(server.url, "prv_x")
        assert len(rows(cli("ingest", logs, "--state", journal).out)) == 5
        result = cli("ingest", logs, "--state", journal)
        assert result.out == "" and "5 sent before" in result.err and len(server.bodies) == 5
        (logs / "app-00002").write_bytes(tiny_log(app="app-00002", stages=3))
        (logs / "v2" / "events_4_app-r").write_bytes(b"{}\n")
        found = rows(cli("ingest", logs, "--state", journal).out)
        assert sorted(os.path.basename(n) for n in found) == ["app-00002", "v2"]
        found, totals = documents(cli("ingest", logs, "--state", journal, "-o", "json").out)
        assert found == {} and totals["sent_before"] == 5
        assert len(rows(cli("ingest", logs, "--state", journal, "--again").out)) == 5
        # Without --state a folder has no journal.
        assert len(rows(cli("ingest", logs).out)) == 5
    assert not (cli.home / ".local").exists()


def test_what_may_end_in_another_way_is_tried_again(make_cli, tmp_path):
    """A fault of the service stays out of the journal; what it will always refuse is in it."""
    journal = tmp_path / "journal"
    fill(tmp_path / "logs", 2)
    told = [problem(500, "internal"), problem(422, "invalid"), stored()]
    with stub(lambda number, body: told[number - 1]) as server:
        cli = make_cli(server.url, "prv_x")
        words = ["ingest", tmp_path / "logs", "--state", journal, "--jobs", 1]
        assert [r.outcome for r in rows(cli(*words, status=1).out).values()] == ["rejected", "rejected"]
        assert {os.path.basename(n): r.outcome for n, r in rows(cli(*words).out).items()} == {"app-00000": "stored"}
        assert rows(cli(*words).out) == {}


@pytest.mark.parametrize("killed_after", [1, 40, 140])
def test_killed_and_begun_again_each_log_is_one_run(cli, mine, tmp_path, killed_after):
    names = fill(tmp_path / "logs", 200)
    words = ["ingest", tmp_path / "logs", "--state", tmp_path / "journal"]
    process = cli.start(*words)
    said = [process.stdout.readline() for _ in range(killed_after)]
    process.kill()
    said += process.communicate()[0].splitlines()
    first = {line.split("\t")[2] for line in said if line.count("\t") == 4}
    result = cli(*words)
    second = rows(result.out)
    # What was reported was in the journal before.
    assert not first & set(second) and "%d sent before" % (200 - len(second)) in result.err
    assert {r.outcome for r in second.values()} <= {"stored", "duplicate"}
    assert runs(mine) == names
    assert rows(cli(*words).out) == {}


def test_killed_between_the_service_and_the_journal(make_cli, tmp_path):
    """The log is sent again, and the service knows it."""
    fill(tmp_path / "logs", 1)
    words = ["ingest", tmp_path / "logs", "--state", tmp_path / "journal"]

    def answer(number, body):
        if number == 1:
            process.kill()
            process.wait()
        return stored(number)
    with stub(answer) as server:
        cli = make_cli(server.url, "prv_x")
        process = cli.start(*words)
        process.communicate()
        assert len(rows(cli(*words).out)) == 1 and server.bodies[0] == server.bodies[1]


def test_two_do_not_share_a_journal(make_cli, tmp_path):
    fill(tmp_path / "logs", 3)
    words = ["ingest", tmp_path / "logs", "--state", tmp_path / "journal"]
    go_on = threading.Event()

    def answer(number, body):
        go_on.wait(PATIENCE)
        return stored(number)
    with stub(answer) as server:
        cli = make_cli(server.url, "prv_x")
        process = cli.start(*words)
        until(lambda: server.bodies)
        result = cli(*words, status=1)
        assert "another `provisor ingest`" in result.err and "--state" in result.err and result.out == ""
        go_on.set()
        assert process.communicate(timeout=PATIENCE)[0].count("stored") == 3


def test_a_journal_that_cannot_be_made_is_said_before_anything_is_sent(cli, mine, tmp_path):
    fill(tmp_path / "logs", 3)
    (tmp_path / "file").write_text("")
    for journal, says, status in ((tmp_path / "file" / "journal", "Not a directory", 1), ("/dev/full", "not a regular file", 2),
                                  (tmp_path / "logs" / "app-00000", "not a journal", 2), ("/proc/journal", "No such file", 1)):
        result = cli("ingest", tmp_path / "logs", "--state", journal, status=status)
        assert says in result.err and result.out == "", result
    assert runs(mine) == []


def test_a_journal_that_cannot_be_written_any_more_ends_nothing(cli, mine, tmp_path):
    """The disk is full: said once, the logs go on, and the status tells."""
    names = fill(tmp_path / "logs", 30)

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700))
    process = cli.start("ingest", tmp_path / "logs", "--state", tmp_path / "journal", preexec_fn=limit)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1 and {r.outcome for r in rows(out).values()} == {"stored"} and len(rows(out)) == 30
    assert err.count("cannot be written") == 1 and "30 stored" in err.splitlines()[-1]
    assert runs(mine) == names
    # What it holds is whole lines.
    text = (tmp_path / "journal").read_text()
    assert text.endswith("\n") and 0 < len(text) <= 700
    kept = text.count("\n") - 1
    assert kept > 0 and "%d sent before" % kept in cli("ingest", tmp_path / "logs", "--state", tmp_path / "journal").err


def test_the_journal_is_that_of_one_service(cli, make_cli, service, mine, tmp_path):
    fill(tmp_path / "logs", 1)
    cli("ingest", tmp_path / "logs", "--state", tmp_path / "journal")
    other = make_cli(service.base_url + "/elsewhere", mine.token_text)
    assert service.base_url in other("ingest", tmp_path / "logs", "--state", tmp_path / "journal", status=2).err


def test_it_is_private_and_holds_no_token(cli, mine, tmp_path):
    fill(tmp_path / "logs", 1)
    cli("ingest", tmp_path / "logs", "--state", tmp_path / "journal")
    assert (tmp_path / "journal").stat().st_mode & 0o777 == 0o600
    assert mine.token_text not in (tmp_path / "journal").read_text()


@pytest.mark.parametrize("content", [b"my secret without an end", b"p", b"\0" * 100])
def test_a_file_of_somebody_else_is_no_journal(make_cli, tmp_path, content):
    fill(tmp_path / "logs", 1)
    (tmp_path / "f").write_bytes(content)
    with stub(lambda number, body: stored(number)) as server:
        result = make_cli(server.url, "prv_x")("ingest", tmp_path / "logs", "--state", tmp_path / "f", status=None)
    if content == b"p":  # a heading that was cut
        assert result.status == 0
    else:
        assert result.status == 2 and (tmp_path / "f").read_bytes() == content


def test_compaction_follows_no_link(make_cli, tmp_path):
    fill(tmp_path / "logs", 1)
    (tmp_path / "victim").write_text("mine")
    with stub(lambda number, body: stored(number)) as server:
        cli = make_cli(server.url, "prv_x")
        cli("ingest", tmp_path / "logs", "--state", tmp_path / "j")
        with open(tmp_path / "j", "a") as out:
            out.write("".join("same\t%d\tstored\tx\n" % i for i in range(3000)))
        (tmp_path / "j.new").symlink_to(tmp_path / "victim")
        cli("ingest", tmp_path / "logs", "--state", tmp_path / "j")
    assert (tmp_path / "victim").read_text() == "mine" and not (tmp_path / "j").is_symlink()
    assert len((tmp_path / "j").read_text().splitlines()) < 10
