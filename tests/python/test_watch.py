"""provisor.watch: a session's own event log, sent when it ends, and what is said then. The session is a stub, the logs and
the service are real."""
import contextlib
import html.parser
import io
import itertools
import os
import pathlib
import re
import signal
import subprocess
import sys
import tarfile
import textwrap
import threading
import time
import uuid
import warnings
from types import SimpleNamespace

import pytest

import provisor
from provisor import session_log, watching
from provisor.session_report import EXPECTED, SessionReport
from conftest import INSTALLED, cli_fixtures
from spark_session import Hadoop, session
from stub import JSON, problem, stub

shared = cli_fixtures.shared
FOLDER = pathlib.Path(__file__).parent
numbers = itertools.count(1)


@pytest.fixture(autouse=True)
def configured(service, monkeypatch):
    """As after `provisor login`."""
    monkeypatch.setenv("PROVISOR_URL", service.base_url)
    monkeypatch.setenv("PROVISOR_TOKEN", service.alpha_token)


@pytest.fixture
def name():
    """Of letters: what looks like a number or an id is folded away."""
    return "watched " + "".join(chr(ord("g") + int(digit, 16)) for digit in uuid.uuid4().hex[:12])


@pytest.fixture
def logs(sample, name):
    """Runs of one application that no other test has, oldest first."""
    folder = sample / "nightly-etl"
    return [path.read_bytes().replace(b"application_17", b"application_%d17" % next(numbers)).replace(b'"nightly-etl"', b'"%s"' % name.encode())
            for path in sorted(folder.iterdir())]


@pytest.fixture
def log(logs):
    return logs[0]


def runs(client, name):
    return list(client.runs(name))


@contextlib.contextmanager
def no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


# --- the end of a session ---


def test_the_run_is_stored_when_the_session_ends_and_the_recommendation_is_printed(client, logs, name, tmp_path, capsys):
    for number, log in enumerate(logs):
        capsys.readouterr()
        spark = session(log, tmp_path / str(number))
        with no_warning():
            watch = provisor.watch(spark, deadline_s=90, problem_size=64, apply=["speculation"])
            assert watch.state == "watching" and watch.report is None and capsys.readouterr().err == ""
            spark.stop()
    assert [run.problem_size for run in runs(client, name)] == [64] * len(logs)
    report = watch.report
    assert (watch.state, report.outcome, report.application, report.run.id) == ("reported", "stored", name, runs(client, name)[0].id)
    advice = report.advice
    assert advice.deadline_s == 90 and advice.problem_size == 64 and report.properties == advice.spark.properties
    assert spark.cleared == 1 and spark.sparkContext.stops == 1  # what the session does by itself is done
    said = capsys.readouterr()
    assert said.out == ""  # which is the program's
    text = re.sub(r"\s+", " ", said.err)
    assert "This run took %.3g s on %d executors" % (report.run.duration_s, report.run.executors) in text
    assert "Deadline 1 min 30 s: %s. %s" % (advice.verdict.replace("_", " "), advice.reasons[0].message) in text
    assert re.search(r"executors +%d +%d$" % (report.run.executors, advice.recommendation.executors), said.err, re.M)
    assert advice.spark.changes and report.bottlenecks
    for change in advice.spark.changes:
        assert "%s: %s -> %s" % (change.key, change.old or "not set", change.new or "remove") in said.err and change.reason in text
    for bottleneck in report.bottlenecks:
        assert bottleneck.finding.message in text and bottleneck.cure in text


@pytest.mark.parametrize("how", [
    {}, {"compress": "true"}, {"compress": "true", "compression_codec": "lz4"}, {"rolling_enabled": "true"},
    {"rolling_enabled": "true", "compress": "true"}, {"compress": "false", "rolling_enabled": "false"}])
@pytest.mark.parametrize("attempt", [None, "2"])
def test_however_the_log_is_written(client, log, name, tmp_path, how, attempt, capsys):
    """A rolling log begins with a compacted part, and as texts its names are in another order."""
    hadoop = Hadoop(tmp_path / "hdfs")
    here = session(log, "file://%s/he%%20re" % tmp_path, attempt=attempt, **how)
    watch = provisor.watch(here)
    here.stop()
    assert watch.report.outcome == "stored" and watch.report.run.warnings == []
    # The same in HDFS is the same log. The session is another one for provisor.watch.
    other = log.replace(b"application_", b"application_h")
    there = session(other, "hdfs://namenode:8020/lo%20gs/", hadoop=hadoop, attempt=attempt, **how)
    watch = provisor.watch(there)
    there.stop()
    assert watch.report.outcome == "stored" and watch.report.run.warnings == [] and hadoop.copies == 1
    first, second = runs(client, name)
    for member in ("duration_s", "executors", "tasks_succeeded", "problem_size"):
        assert getattr(first, member) == getattr(second, member)


def test_nothing_that_was_copied_stays(log, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary %20"))
    (tmp_path / "temporary %20").mkdir()
    spark = session(log, "s3a://key:secret@bucket/logs", hadoop=Hadoop(tmp_path / "bucket"), rolling_enabled="true")
    watch = provisor.watch(spark, show=False)
    assert "secret" not in watch._log.folder
    spark.stop()
    assert watch.report is not None and list((tmp_path / "temporary %20").iterdir()) == []


@pytest.mark.parametrize("path", ["sparklens/local-1532512550423", "rapids/qualification/nested_type_eventlog", "rapids/profiling/rp_sql_eventlog.zstd"])
def test_logs_of_others(client, shared, tmp_path, path):
    """Which Spark wrote."""
    content = (shared / "data" / "spark-eventlogs" / path).read_bytes()
    if path.endswith("zstd"):
        content = subprocess.run(["zstd", "-dc"], input=content, stdout=subprocess.PIPE, check=True).stdout
    spark = session(content, tmp_path)
    watch = provisor.watch(spark, application="of-others")
    spark.stop()
    assert watch.report.run.spark_application_id == spark._sc._conf.get("spark.app.id")
    assert client.run(watch.report.run.id).application == "of-others"


def test_names_of_logs_are_those_of_spark():
    assert session_log._file_name("App 1:a/b.c${d}") == "app-1-a-b_c__d_"
    conf = {"spark.eventLog.compress": "true", "spark.eventLog.compression.codec": "org.apache.spark.io.LZ4CompressionCodec"}
    assert session_log._names("a", conf)[:2] == ["eventlog_v2_a", "a.lz4"]
    conf = {"spark.eventLog.compress": "false", "spark.eventLog.rolling.enabled": "false"}
    assert session_log._names("a", conf)[0] == "a"
    assert session_log._names("a", conf).index("a.zstd") < session_log._names("a", conf).index("a.inprogress")


@pytest.mark.parametrize("text, folder", [
    ("file:///a%20b", "/a b"), ("/a b/", "/a b"), ("relative", os.path.abspath("relative")), ("file:/a", "/a"), (None, "/tmp/spark-events")])
def test_where_a_log_is(log, tmp_path, text, folder):
    context = session(log, tmp_path).sparkContext
    context._conf._settings["spark.eventLog.dir"] = text
    assert session_log.SessionLog(context).folder == folder


def test_a_rolling_log_can_be_read_again_from_anywhere(tmp_path):
    (tmp_path / "eventlog_v2_a").mkdir()
    contents = {"events_1_a": os.urandom(3000), "events_2_a": os.urandom(512), "events_3_" + "b" * 150: b"x", "appstatus_a": b"y", "events_4_a": b""}
    for file, content in contents.items():
        (tmp_path / "eventlog_v2_a" / file).write_bytes(content)
    with session_log.tar_of(str(tmp_path / "eventlog_v2_a")) as joined:
        whole = joined.read()
        assert joined.tell() == len(whole) == joined.seek(0, os.SEEK_END)
        for start in (0, 1, 511, 512, 513, 3583, 3584, 4000, len(whole) - 1):
            joined.seek(start)
            assert joined.read() == whole[start:]
    with tarfile.open(fileobj=io.BytesIO(whole)) as packed:
        assert {member.name: packed.extractfile(member).read() for member in packed.getmembers()} == {
            "eventlog_v2_a/" + file: contents[file] for file in contents if file.startswith("events_") and contents[file]}


# --- how a session ends ---


def test_the_end_of_a_with_block(client, log, name, tmp_path):
    with session(log, tmp_path) as spark:
        watch = provisor.watch(spark)
    assert watch.report.run.id == runs(client, name)[0].id


def test_an_exception_in_a_with_block(client, log, name, tmp_path):
    with pytest.raises(ZeroDivisionError):
        with session(log, tmp_path) as spark:
            provisor.watch(spark)
            1 / 0
    assert len(runs(client, name)) == 1


@pytest.mark.parametrize("end", ["context", "other session", "context watched"])
def test_the_context_is_stopped(client, log, name, tmp_path, end):
    spark = session(log, tmp_path)
    watch = provisor.watch(spark.sparkContext if end == "context watched" else spark)
    (spark.newSession() if end == "other session" else spark.sparkContext if end == "context" else spark).stop()
    assert watch.state == "reported" and len(runs(client, name)) == 1


def test_stopped_and_watched_twice(client, log, name, tmp_path, capsys):
    spark = session(log, tmp_path)
    watch = provisor.watch(spark, problem_size=3)
    assert provisor.watch(spark, deadline_s=5) is watch and (watch.problem_size, watch.deadline_s) == (3, 5)
    assert provisor.watch(spark.newSession()) is watch
    spark.stop()
    report = watch.report
    capsys.readouterr()
    spark.stop()
    assert watch.report is report and spark.sparkContext.stops == 2
    assert capsys.readouterr().err == ""
    assert len(runs(client, name)) == 1 and "stop" not in vars(spark)


def test_several_sessions(client, logs, name, tmp_path):
    sessions = [session(log, tmp_path) for log in logs[:3]]
    watches = [provisor.watch(spark) for spark in sessions]
    for spark in reversed(sessions):
        spark.stop()
    assert len({watch.report.run.id for watch in watches}) == 3 == len(runs(client, name))


def test_the_same_log_twice(client, log, name, tmp_path):
    client.ingest_named(log)
    spark = session(log, tmp_path)
    watch = provisor.watch(spark)
    spark.stop()
    assert watch.report.outcome == "duplicate" and watch.report.advice is not None and len(runs(client, name)) == 1


def test_cancelled(client, log, name, tmp_path):
    spark = session(log, tmp_path)
    watch = provisor.watch(spark)
    watch.cancel()
    spark.stop()
    assert watch.state == "cancelled" and watch.report is None and "stop" not in vars(spark)
    with pytest.raises(provisor.NotFound):
        runs(client, name)


def test_what_the_job_learns_on_its_way(client, log, name, tmp_path):
    spark = session(log, tmp_path)
    watch = provisor.watch(spark, labels={"branch": "main"})
    watch.problem_size, watch.application, watch.deadline_s = 77, name + "-b", 1e6
    spark.stop()
    run = watch.report.run
    assert (run.problem_size, run.application, run.labels, watch.report.advice.deadline_s) == (77, name + "-b", {"branch": "main"}, 1e6)


def test_the_advice_that_was_followed(client, logs, name, tmp_path):
    followed = client.ingest_named(logs[0]) and client.advise(name)
    spark = session(logs[1], tmp_path)
    watch = provisor.watch(spark, advice_id=followed.id)
    spark.stop()
    assert watch.report.run.advice_id == followed.id


@pytest.mark.parametrize("how", [{}, {"rolling_enabled": "true"}, {"compress": "true"}])
def test_the_log_so_far(client, log, name, tmp_path, how):
    spark = session(log, tmp_path, **how)
    watch = provisor.watch(spark)
    report = watch.ingest_now()
    assert watch.report is None and watch.state == "watching" and "goes on" in str(report)
    assert "no_application_end" in {warning.code for warning in report.run.warnings}
    spark.stop()
    assert watch.report.outcome == "replaced" and len(runs(client, name)) == 1


def test_a_stop_that_fails_may_be_tried_again(client, log, name, tmp_path):
    spark = session(log, tmp_path)
    watch = provisor.watch(spark)
    java, spark._sc._jsc.stop = spark._sc._jsc.stop, lambda: 1 / 0
    stop = spark._sc.stop

    def refuse():
        spark._sc.stop = stop
        raise RuntimeError("busy")
    spark._sc.stop = refuse
    with pytest.raises(RuntimeError):
        spark.stop()
    assert watch.state == "watching"
    spark._sc._jsc.stop = java
    spark.stop()
    assert watch.report.outcome == "stored"


def test_a_log_that_is_never_finished(client, log, name, tmp_path):
    """The JVM died: what it had written is all there is."""
    spark = session(log, tmp_path)
    watch = provisor.watch(spark)
    spark._sc._jsc.stop = lambda: None
    spark.stop()
    assert watch.report.outcome == "stored" and "no_application_end" in {warning.code for warning in watch.report.run.warnings}


# --- the exit of Python ---


def python(program, **environment):
    """One that hangs shows where."""
    head = "import faulthandler, signal, sys; faulthandler.register(signal.SIGUSR1); sys.path[:0] = [%r, %r]\n" % (str(INSTALLED), str(FOLDER))
    head += "from spark_session import session\nimport pathlib, provisor\n"
    with subprocess.Popen([sys.executable, "-B", "-c", head + textwrap.dedent(program)], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, **environment}) as process:
        try:
            out, err = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGUSR1)
            time.sleep(1)
            process.kill()
            pytest.fail("it hangs: %s" % process.communicate()[1])
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@pytest.mark.parametrize("end, status", [("", 0), ("raise SystemExit(3)", 3), ("1 / 0", 1)])
def test_nobody_stops_the_session(client, log, name, tmp_path, end, status):
    (tmp_path / "log").write_bytes(log)
    made = python("""
        spark = session(pathlib.Path(%r).read_bytes(), %r)
        provisor.watch(spark)
        print("the work")
        %s
    """ % (str(tmp_path / "log"), str(tmp_path / "logs"), end))
    assert (made.returncode, made.stdout) == (status, "the work\n") and "This run took" in made.stderr, made.stderr
    assert [run.warnings for run in runs(client, name)] == [[]]


@pytest.mark.parametrize("words, environment", [(", at_exit=False", {}), ("", {"DATABRICKS_RUNTIME_VERSION": "15"})])
def test_the_session_may_outlive_the_program(client, log, name, tmp_path, words, environment):
    (tmp_path / "log").write_bytes(log)
    made = python("provisor.watch(session(pathlib.Path(%r).read_bytes(), %r)%s)" % (str(tmp_path / "log"), str(tmp_path / "logs"), words), **environment)
    assert (made.returncode, made.stderr) == (0, "")
    with pytest.raises(provisor.NotFound):
        runs(client, name)


def test_a_child_leaves_the_session_alone(client, log, name, tmp_path):
    (tmp_path / "log").write_bytes(log)
    made = python("""
        import os
        spark = session(pathlib.Path(%r).read_bytes(), %r)
        watch = provisor.watch(spark)
        child = os.fork()
        if child == 0:
            raise SystemExit(0)
        os.waitpid(child, 0)
        assert [path.suffix for path in pathlib.Path(%r).iterdir()] == [".inprogress"]
    """ % (str(tmp_path / "log"), str(tmp_path / "logs"), str(tmp_path / "logs")))
    assert made.returncode == 0 and made.stderr.count("This run took") == 1, made.stderr
    assert len(runs(client, name)) == 1


def test_a_child_that_stops_the_session_sends_nothing(client, log, name, tmp_path):
    (tmp_path / "log").write_bytes(log)
    made = python("""
        import os
        spark = session(pathlib.Path(%r).read_bytes(), %r)
        watch = provisor.watch(spark)
        child = os.fork()
        if child == 0:
            spark.stop()
            os._exit(0)
        os.waitpid(child, 0)
        watch.cancel()
    """ % (str(tmp_path / "log"), str(tmp_path / "logs")))
    assert (made.returncode, made.stderr) == (0, "")
    with pytest.raises(provisor.NotFound):
        runs(client, name)


def test_a_session_that_does_not_stop_holds_up_no_exit(log, tmp_path):
    (tmp_path / "log").write_bytes(log)
    began = time.monotonic()
    made = python("""
        import time
        from provisor import watching
        watching.STOP_S = 0.5
        spark = session(pathlib.Path(%r).read_bytes(), %r)
        spark.sparkContext._jsc.stop = lambda: time.sleep(1000)
        provisor.watch(spark, timeout_s=0.5)
    """ % (str(tmp_path / "log"), str(tmp_path / "logs")))
    assert made.returncode == 0 and "the session could not be stopped: it took more than 1 s" in made.stderr
    assert time.monotonic() - began < 60


@pytest.mark.parametrize("rolling", ["false", "true"])
def test_links_are_not_followed(client, log, name, tmp_path, rolling):
    """A folder that all may write to could have one to any file of this user."""
    spark = session(log, tmp_path / "logs", rolling_enabled=rolling)
    watch = provisor.watch(spark)
    (tmp_path / "secret").write_bytes(log)

    def replace():
        found = [path for path in (tmp_path / "logs").rglob("*") if path.is_file()]
        found[0].unlink()
        found[0].symlink_to(tmp_path / "secret")
        return original()

    original = watch._log.content
    watch._log.content = replace
    with pytest.warns(provisor.WatchWarning, match="is a symbolic link, which is not followed"):
        spark.stop()
    with pytest.raises(provisor.NotFound):
        runs(client, name)


def test_where_no_thread_can_be_started(client, log, name, tmp_path, monkeypatch):
    """As Python 3.12 has it while it exits."""
    def refuse(self):
        raise RuntimeError("can't create new thread at interpreter shutdown")
    spark = session(log, tmp_path)
    watch = provisor.watch(spark)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    spark.stop()
    assert watch.state == "reported"


# --- what goes wrong ---


def test_the_event_log_is_off(log, tmp_path):
    spark = session(log, tmp_path, enabled="false")
    with pytest.warns(provisor.WatchWarning, match=r"cannot be changed in a running session(.|\n)*spark.eventLog.enabled") as said:
        watch = provisor.watch(spark)
    assert len(said) == 1 and watch.state == "off" and watch.problem in str(said[0].message)
    with no_warning():
        spark.stop()
    assert watch.report is None
    with pytest.raises(provisor.ProvisorError, match="spark.eventLog.enabled"):
        watch.ingest_now()


def test_the_service_is_away(log, tmp_path, client):
    spark = session(log, tmp_path)
    with provisor.Client("http://127.0.0.1:1", "prv_secret", retries=0) as away:
        with pytest.warns(provisor.WatchWarning, match="could not be reported.*refused"):  # at once
            watch = provisor.watch(spark, away)
        with pytest.warns(provisor.WatchWarning, match="was not reported.*refused") as said:
            spark.stop()
    assert watch.state == "failed" and watch.report is None and spark.cleared == 1
    text = str(said[0].message)
    assert str(tmp_path) in text and "provisor ingest" in text and "prv_secret" not in text + repr(watch)
    watch._client = client  # it came back
    assert watch.ingest_now() is watch.report and watch.state == "reported" and watch.problem == ""


def test_the_token_is_refused(log, service, tmp_path, capsys):
    spark = session(log, tmp_path)
    with provisor.Client(service.base_url, "prv_wrong_token") as client:
        with pytest.warns(provisor.WatchWarning, match="401"):
            watch = provisor.watch(spark, client)
        with pytest.warns(provisor.WatchWarning, match="401") as said:
            spark.stop()
    assert watch.state == "failed" and "prv_wrong_token" not in str(said[0].message) + watch.problem + capsys.readouterr().err


def test_the_configuration_is_wrong_until_it_is_mended(client, log, name, tmp_path, monkeypatch, service):
    monkeypatch.setenv("PROVISOR_URL", "ftp://nowhere")
    spark = session(log, tmp_path)
    with pytest.warns(provisor.WatchWarning, match="PROVISOR_URL"):
        provisor.watch(spark)
    monkeypatch.setenv("PROVISOR_URL", service.base_url)
    spark.stop()
    assert len(runs(client, name)) == 1


def test_warnings_are_errors(log, tmp_path, capsys):
    spark = session(log, tmp_path)
    with provisor.Client("http://127.0.0.1:1", "x", retries=0) as away, no_warning():
        provisor.watch(spark, away)
        spark.stop()
    assert capsys.readouterr().err.count("provisor: ") == 2


def test_the_log_cannot_be_read(log, tmp_path):
    for number, (harm, says) in enumerate([(lambda: (tmp_path / "0").rename(tmp_path / "gone"), "no event log of application_"),
                                           (lambda: setattr(hadoop, "dead", True), "ConnectionRefusedError: .*Answer from Java")]):
        hadoop = Hadoop(tmp_path / "hdfs")
        spark = session(log.replace(b"application_", b"application_x%d" % number), tmp_path / "0" if number == 0 else "hdfs://n/logs", hadoop=hadoop)
        watch = provisor.watch(spark)
        stop = spark._sc._jsc.stop

        def stop_and_harm():
            stop()
            harm()
        spark._sc._jsc.stop = stop_and_harm
        with pytest.warns(provisor.WatchWarning, match=says):
            spark.stop()
        assert watch.state == "failed"


def test_exceptions_of_java_come_without_their_trace():
    class Py4JJavaError(Exception):
        pass
    error = Py4JJavaError("An error occurred while calling o1.exists.\n: java.io.IOException: s3a://key:secret@b is away\n\tat org.apache.A.b(A.java:1)\n"
                          "\tat C.d(C.java:2)\n\t... 12 more\n")
    assert watching._why(error) == "Py4JJavaError: An error occurred while calling o1.exists. java.io.IOException: s3a://b is away"


def test_the_end_is_not_held_up(log, tmp_path):
    """The service takes the log, and says nothing."""
    release = threading.Event()

    def silent(handler):
        release.wait(30)
    spark = session(log, tmp_path)
    try:
        with stub((200, JSON, '{"items": [], "next_cursor": null}'), silent) as server, provisor.Client(server.url, "x") as client:
            watch = provisor.watch(spark, client, timeout_s=0.5)
            began = time.monotonic()
            with pytest.warns(provisor.WatchWarning, match="took more than 0.5 s"):
                spark.stop()
            assert time.monotonic() - began < 5 and watch.state == "failed"
            release.set()
    finally:
        release.set()


def test_the_log_is_stored_and_there_is_no_advice(log, tmp_path, capsys):
    run = (201, {**JSON, "X-Log-Outcome": "stored"}, '{"id": "r", "application": "a", "duration_s": null, "executors": null, "cores_per_executor": null, '
           '"problem_size": null, "succeeded": false, "spark_properties": {}, "warnings": []}')
    spark = session(log, tmp_path)
    with stub((200, JSON, '{"items": [], "next_cursor": null}'), run, problem(422, "no"), problem(404, "gone")) as server:
        with provisor.Client(server.url, "x", retries=0) as client, no_warning():
            watch = provisor.watch(spark, client)
            spark.stop()
    report = watch.report
    assert report.advice is None and report.bottlenecks is None and report.properties == {}
    said = capsys.readouterr().err
    assert "failed after an unknown time." in said and "There is no advice: " in said
    assert "<table" not in report._repr_html_() and "None" not in said + report._repr_html_()


def test_instances_that_the_advice_removes_are_the_initial_executors():
    """The builder of the next session cannot unset what another place sets."""
    properties = {"spark.dynamicAllocation.initialExecutors": "2"}

    def report(new, verdict="met"):
        change = SimpleNamespace(key="spark.executor.instances", old="10", new=new)
        advice = SimpleNamespace(verdict=verdict, spark=SimpleNamespace(properties=properties, changes=[change]))
        return SessionReport(SimpleNamespace(reply=None), advice, None)
    assert report(None).properties == {**properties, "spark.executor.instances": "2"}
    assert report("4").properties == report("4", "at_risk").properties == properties
    assert report("4", "missed").properties == {}, "the closest of those that are late is nothing to configure a session with"


def test_an_interrupt_is_the_users(log, tmp_path, monkeypatch):
    spark = session(log, tmp_path)
    watch = provisor.watch(spark)

    def interrupted(*_):
        raise KeyboardInterrupt
    monkeypatch.setattr(threading.Thread, "join", interrupted)
    with pytest.raises(KeyboardInterrupt):
        spark.stop()
    assert (watch.state, watch.problem) == ("failed", "it was interrupted") and spark.sparkContext._jsc is None


def test_what_shows_the_report_fails(log, tmp_path):
    spark = session(log, tmp_path)
    watch = provisor.watch(spark, show=lambda report: 1 / 0)
    with pytest.warns(provisor.WatchWarning, match="ZeroDivisionError"):
        spark.stop()
    assert watch.state == "reported"


def test_shown_as_one_likes(log, tmp_path, capsys):
    shown = []
    spark = session(log, tmp_path)
    watch = provisor.watch(spark, show=shown.append)
    spark.stop()
    assert shown == [watch.report] and capsys.readouterr() == ("", "")


@pytest.mark.parametrize("wrong", [{"problem_size": 0}, {"deadline_s": -1}, {"deadline_s": float("nan")}, {"timeout_s": 0}])
def test_wrong_figures_are_refused_at_once(log, tmp_path, wrong):
    spark = session(log, tmp_path)
    with pytest.raises(ValueError, match=next(iter(wrong))):
        provisor.watch(spark, **wrong)
    assert "stop" not in vars(spark)


def test_no_session():
    with pytest.raises(TypeError, match="SparkSession"):
        provisor.watch(42)


def test_a_session_that_has_ended(log, tmp_path):
    spark = session(log, tmp_path)
    spark.stop()
    with pytest.warns(provisor.WatchWarning, match="has ended"):
        assert provisor.watch(spark).state == "off"


def test_spark_connect():
    remote = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session", "stop": lambda self: None})
    for kind in (remote, type("DatabricksSession", (remote,), {})):
        with pytest.warns(provisor.WatchWarning, match="Spark Connect"):
            assert provisor.watch(kind()).state == "off"


def test_a_session_without_a_name(log, tmp_path):
    spark = session(log, tmp_path, name="pyspark-shell")
    with pytest.warns(provisor.WatchWarning, match="without a name"):
        provisor.watch(spark).cancel()
    with no_warning():
        provisor.watch(spark, application="mine").cancel()


# --- the report ---


class Text(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.words = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture
def report(client, history, sample):
    run = client.ingest("nightly-etl", sorted((sample / "nightly-etl").iterdir())[-1])
    advice = client.advise("nightly-etl", deadline_s=20, include=["spark", "data_needed"])
    return SessionReport(run, advice, client.diagnose("nightly-etl", run_id=run.id).bottlenecks.items)


def test_the_same_in_a_notebook(report):
    found = Text(report._repr_html_())
    said = " ".join(found.words)
    assert found.tags.count("caption") == 3 and set(found.tags) <= set("div p strong table caption thead tbody tr th td ul li".split())
    for text in (report.advice.reasons[0].message, "A deadline of", *(change.key for change in report.advice.spark.changes),
                 *(bottleneck.cure for bottleneck in report.bottlenecks), *(warning.message for warning in report.advice.warnings if warning.code not in EXPECTED)):
        assert text in said
    assert "style=" not in report._repr_html_() and repr(report).startswith("SessionReport(application='nightly-etl'")


def test_names_of_others_do_no_harm(report):
    hostile = "<script>alert(1)</script>\x1b[31m"
    raw = report.run.to_dict()
    raw.update(application=hostile, warnings=[{"code": "x", "message": hostile}])
    run = type(report.run).from_json(raw)
    raw = report.advice.to_dict()
    raw["recommendation"]["cost"], raw["pricing"] = 1.5, {"currency": hostile}
    advice = type(report.advice).from_json(raw)
    text, page = str(SessionReport(run, advice, [])), SessionReport(run, advice, [])._repr_html_()
    assert "alert(1)</script> [31m" in text
    assert "<script" not in page and "&lt;script" in page and "\x1b" not in text


def test_every_width(report):
    assert max(len(line) for line in str(report).splitlines()) <= 100


def test_what_is_not_known(report):
    raw = report.run.to_dict()
    raw.update(executors=None, duration_s=None, problem_size=None)
    advice = report.advice.to_dict()
    advice["recommendation"]["interval_s"] = [12.5, None]
    text = str(SessionReport(type(report.run).from_json(raw), type(report.advice).from_json(advice), None))
    assert "None" not in text and "unknown" in text and "12.5 s or more" in text


# --- the package ---


def test_the_function_is_not_hidden_by_its_module():
    program = "import sys; sys.path.insert(0, sys.argv[1]); import provisor.watching, provisor.magic; assert callable(provisor.watch); print(len(dir(provisor)))"
    subprocess.run([sys.executable, "-B", "-c", program, str(INSTALLED)], check=True, stdout=subprocess.PIPE)


def test_it_is_loaded_when_it_is_used():
    program = ("import sys; sys.path.insert(0, sys.argv[1]); import provisor; assert 'watch' in dir(provisor)\n"
               "assert not [m for m in sys.modules if m in ('provisor.watching', 'provisor.magic', 'tarfile')]; provisor.watch\n"
               "assert 'IPython' not in sys.modules\n"
               "try: provisor.nothing\nexcept AttributeError: print('right')")
    made = subprocess.run([sys.executable, "-B", "-S", "-c", program, str(INSTALLED)], stdout=subprocess.PIPE, text=True, check=True)
    assert made.stdout == "right\n"
