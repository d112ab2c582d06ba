"""provisor ingest --watch: each log once it is finished, once, whatever happens to the process, the folder and the service."""
import os
import shutil
import signal
import threading
import time

import pytest

from ingest_logs import fill, problem, rolling, rows, runs, stored, stub, until
from patience import PATIENCE
from test_eventlogs import tiny_log


class Watching:
    """A watch and the lines it has written so far."""

    def __init__(self, process):
        self.process, self.out, self.err = process, [], []
        self.threads = [threading.Thread(target=self.read, args=a) for a in ((process.stdout, self.out), (process.stderr, self.err))]
        for thread in self.threads:
            thread.start()

    @staticmethod
    def read(stream, lines):
        for line in stream:
            lines.append(line)

    @property
    def rows(self):
        return rows("".join(line for line in list(self.out) if line.endswith("\n")))

    def names(self):
        return {os.path.basename(name) for name in self.rows}

    def until(self, true):
        """Or it has ended meanwhile, which it shall not."""
        until(lambda: true() or self.process.poll() is not None)
        assert true(), (self.out, self.err)

    def expect(self, *names):
        self.until(lambda: set(names) <= self.names())

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(timeout=PATIENCE)
        for thread in self.threads:
            thread.join()
        text = "".join(self.err)
        assert "Sanitizer" not in text and "runtime error:" not in text, text
        return self.process.returncode


@pytest.fixture
def mine(service, name):
    token = service.token(name)
    client = service.client(token)
    client.token_text = token
    return client


@pytest.fixture
def watch(request):
    started = []

    def start(cli, *words):
        watching = Watching(cli.start("ingest", "--watch", *words))
        started.append(watching)
        return watching
    yield start
    for watching in started:
        if watching.process.poll() is None:
            watching.end(signal.SIGKILL)


@pytest.fixture
def cli(service, make_cli, mine):
    return make_cli(service.base_url, mine.token_text)


def test_logs_are_sent_when_they_are_finished(cli, mine, watch, tmp_path):
    """Those that were there, those that come: renamed as Spark does at the end, copied, in folders that come, rolling."""
    logs = tmp_path / "logs"
    fill(logs, 2)
    watching = watch(cli, logs, "--rescan", "1h", "--quiet-for", "1s")
    watching.expect("app-00000", "app-00001")
    (logs / "app-90002.inprogress").write_bytes(tiny_log(app="app-90002", ended=False))
    rolling(logs / "v2", "app-90001", finished=False)
    fill(logs / "deep" / "er", 1, first=7)
    watching.expect("app-00007")
    time.sleep(1.5)
    assert watching.names() == {"app-00000", "app-00001", "app-00007"}
    (logs / "app-90002.inprogress").write_bytes(tiny_log(app="app-90002"))
    (logs / "app-90002.inprogress").rename(logs / "app-90002")
    (logs / "v2" / "appstatus_app-90001.inprogress").rename(logs / "v2" / "appstatus_app-90001")
    watching.expect("app-90002", "v2")
    shutil.move(logs / "v2", tmp_path / "away")
    assert watching.end() == 0
    assert "5 stored" in watching.err[-1] and {row.outcome for row in watching.rows.values()} == {"stored"}
    assert runs(mine) == ["app-00000", "app-00001", "app-00007", "app-90001", "app-90002"]
    assert all(run["warnings"] == [] for run in mine.get("/v1/applications/tiny/runs").json()["items"])


def test_a_log_that_grows_is_left_until_it_is_quiet(cli, mine, watch, tmp_path):
    """Copied in slowly, under its own name."""
    logs = tmp_path / "logs"
    logs.mkdir()
    watching = watch(cli, logs, "--rescan", "1h", "--quiet-for", "3s")
    whole = tiny_log(app="app-1", stages=40)
    with open(logs / "app-1", "wb", buffering=0) as f:
        for i in range(8):
            f.write(whole[i * len(whole) // 8:(i + 1) * len(whole) // 8])
            time.sleep(0.5)
    watching.expect("app-1")
    assert watching.end(signal.SIGINT) == 0
    run, = mine.get("/v1/applications/tiny/runs").json()["items"]
    assert run["stages_completed"] == 40 and run["warnings"] == []
    assert len(watching.out) == 1 and watching.rows[str(logs / "app-1")].outcome == "stored"


def test_restarted_or_killed_each_log_is_sent_once(cli, mine, watch, tmp_path):
    """While logs come: what one has reported no other sends; all of them are one run each."""
    logs = tmp_path / "logs"
    names = fill(logs, 20)
    stop = threading.Event()
    more = []

    def come():
        for i in range(100, 220):
            if stop.wait(0.02):
                return
            (tmp_path / "new").write_bytes(tiny_log(app="app-%05d" % i))
            os.rename(tmp_path / "new", logs / ("app-%05d" % i))
            more.append("app-%05d" % i)
    writer = threading.Thread(target=come)
    writer.start()
    reported = []
    try:
        for _ in range(4):
            watching = watch(cli, logs, "--quiet-for", "0.01s", "--rescan", "1s")
            watching.until(lambda: len(watching.out) >= 8)
            watching.end(signal.SIGKILL)
            reported.append(watching.names())
        writer.join()
        watching = watch(cli, logs, "--quiet-for", "0.01s", "--rescan", "1s")
        watching.until(lambda: runs(mine) == sorted(names + more))
        assert watching.end() == 0
        reported.append(watching.names())
    finally:
        stop.set()
        writer.join()
    for i, one in enumerate(reported):
        for other in reported[i + 1:]:
            assert not one & other
    assert runs(mine) == sorted(names + more)
    watching = watch(cli, logs, "--quiet-for", "0.01s")
    time.sleep(1)
    assert watching.end() == 0 and watching.out == []


def test_what_is_not_told_is_found_by_looking_again(cli, mine, watch, tmp_path):
    """A folder behind a link that is put in place later, and a file made readable by a rename far away."""
    logs = tmp_path / "logs"
    logs.mkdir()
    fill(tmp_path / "elsewhere", 1)
    watching = watch(cli, logs / "link", "--rescan", "1s", "--quiet-for", "0.01s")
    time.sleep(0.5)
    (logs / "link").symlink_to(tmp_path / "elsewhere")
    watching.expect("app-00000")
    assert watching.end() == 0


def test_a_service_that_goes_away_and_comes_back(make_service, make_cli, watch, tmp_path, name):
    service = make_service()
    token = service.token(name)
    client = service.client(token)
    service.start()
    port = service.base_url.rpartition(":")[2]
    logs = tmp_path / "logs"
    fill(logs, 2)
    cli = make_cli(service.base_url, token)
    watching = watch(cli, logs, "--quiet-for", "0.01s", "--retries", "1")
    watching.expect("app-00000", "app-00001")
    service.stop()
    fill(logs, 3, first=2)
    watching.until(lambda: any("no reply" in line for line in watching.err))
    assert watching.process.poll() is None
    service.start(PROVISOR_PORT=port)
    assert service.base_url.endswith(":" + port)
    watching.expect("app-00002", "app-00003", "app-00004")
    assert watching.end() == 0
    assert runs(client) == ["app-%05d" % i for i in range(5)]


def test_faults_that_last_are_one_line(make_cli, watch, tmp_path):
    """Tried again at each look, reported once; once they are over the log is stored."""
    logs = tmp_path / "logs"
    fill(logs, 1)
    with stub(lambda number, body: problem(500, "internal") if number < 4 else stored(number)) as server:
        watching = watch(make_cli(server.url, "prv_x"), logs, "--quiet-for", "0.01s", "--rescan", "1s")
        watching.until(lambda: len(watching.out) == 2)
        assert watching.end() == 0
    assert [line.split("\t")[0] for line in watching.out] == ["rejected", "stored"] and len(server.bodies) == 4


def test_a_wrong_token_ends_it(service, make_cli, tmp_path):
    """Whoever started it gets to know."""
    fill(tmp_path, 3)
    result = make_cli(service.base_url, "prv_wrong")("ingest", "--watch", tmp_path, "--quiet-for", "0.01s", status=1)
    assert "the token is not valid" in result.err and result.out == ""


def test_more_events_than_the_system_keeps(cli, mine, watch, tmp_path):
    """While it sends nothing it hears of thousands; those it does not hear of it finds."""
    logs = tmp_path / "logs"
    logs.mkdir()
    queue = int(open("/proc/sys/fs/inotify/max_queued_events").read())
    if queue > 200_000:
        pytest.skip("the queue of events holds %d" % queue)
    watching = watch(cli, logs, "--rescan", "1h", "--quiet-for", "0.01s")
    time.sleep(1)
    watching.process.send_signal(signal.SIGSTOP)
    (tmp_path / "log").write_bytes(tiny_log(app="app-1"))
    for i in range(queue // 2 + 10):
        (logs / "x").touch()
        (logs / "x").unlink()
    os.rename(tmp_path / "log", logs / "log")
    watching.process.send_signal(signal.SIGCONT)
    watching.expect("log")
    assert watching.end() == 0


def test_a_folder_that_is_renamed_is_watched_on(cli, mine, watch, tmp_path):
    (tmp_path / "w" / "A").mkdir(parents=True)
    watching = watch(cli, tmp_path / "w", "--rescan", "10m")
    (tmp_path / "w" / "A" / "app-1").write_bytes(tiny_log(app="app-1"))
    watching.expect("app-1")
    (tmp_path / "w" / "A").rename(tmp_path / "w" / "B")
    time.sleep(0.5)
    (tmp_path / "w" / "B" / "app-2").write_bytes(tiny_log(app="app-2"))
    watching.expect("app-2")


def test_a_file_that_becomes_a_pipe_holds_nobody_up(make_cli, tmp_path):
    """Nobody writes into it; what was found as a file is read as one or not at all."""
    fill(tmp_path / "logs", 6)

    def answer(number, body):
        if number == 1:
            for path in (tmp_path / "logs").iterdir():
                path.unlink()
                os.mkfifo(path)
        return stored(number)
    with stub(answer) as server:
        result = make_cli(server.url, "prv_x")("ingest", tmp_path / "logs", "--jobs", 1, status=1)
    assert [r.outcome for r in rows(result.out).values()].count("rejected") == 5
