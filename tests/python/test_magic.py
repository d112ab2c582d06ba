"""%provisor, in IPython itself. The session is a stub, the service and the logs are real."""
import os
import pathlib
import subprocess
import sys
import textwrap
import uuid

import pytest
from IPython.core import interactiveshell as interactive
from jupyter_client import KernelManager

import provisor
from provisor import watching
from conftest import INSTALLED
from spark_session import session

FOLDER = pathlib.Path(__file__).parent


@pytest.fixture
def shell(service, monkeypatch, tmp_path):
    monkeypatch.setenv("PROVISOR_URL", service.base_url)
    monkeypatch.setenv("PROVISOR_TOKEN", service.alpha_token)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setattr(watching, "_latest", [])
    made = interactive.InteractiveShell.instance()
    made.run_line_magic("load_ext", "provisor")
    yield made
    interactive.InteractiveShell.clear_instance()


@pytest.fixture
def spark(shell, sample, tmp_path):
    """In the variable `spark`; no other test has its application."""
    letters = "".join(chr(ord("g") + int(digit, 16)) for digit in uuid.uuid4().hex[:12])
    log = sorted((sample / "nightly-etl").iterdir())[-1].read_bytes()
    log = log.replace(b"application_", b"application_" + letters.encode()).replace(b'"nightly-etl"', b'"magic %s"' % letters.encode())
    shell.user_ns["spark"] = session(log, tmp_path / "logs")
    return shell.user_ns["spark"]


def run(shell, cell, status=True):
    """What the cell's last line is."""
    ran = shell.run_cell(cell)
    assert ran.success is status, (ran.error_before_exec, ran.error_in_exec)
    return ran.result


def test_a_notebook_from_beginning_to_end(shell, spark, client, capsys):
    run(shell, "%provisor")
    said = capsys.readouterr().out
    assert "accepts the token" in said and "none is watched" in said and "Next: %provisor watch\n" in said
    watch = run(shell, "%provisor watch --problem-size 64 --deadline 1m30s --label branch:main")
    assert (watch.state, watch.problem_size, watch.deadline_s, watch.labels) == ("watching", 64, 90, {"branch": "main"})
    capsys.readouterr()
    run(shell, "%provisor")
    assert ", watching\nNext: spark.stop()" in capsys.readouterr().out
    run(shell, "spark.stop()")
    assert "This run took" in capsys.readouterr().out  # IPython displays it
    run(shell, "%provisor")
    said = capsys.readouterr().out
    assert ", reported\n" in said and "This run took" in said
    advice = run(shell, "%provisor advise --deadline 90")
    assert isinstance(advice, provisor.schemas.Advice) and advice.application == watch.report.application and advice.deadline_s == 90
    assert client.run(watch.report.run.id).labels == {"branch": "main"}


def test_advice_and_speedup(shell, history):
    advice = run(shell, "limit = 90\n%provisor advise nightly-etl --deadline {limit} --problem-size 64")
    assert (advice.deadline_s, advice.problem_size, advice.application) == (90, 64, "nightly-etl")
    speedup = run(shell, "found = %provisor speedup nightly-etl --problem-size 64\nfound")
    assert type(speedup).__name__ == "Speedup" and [row.problem_size for row in speedup.surface] == [64]


def test_another_variable_and_application(shell, spark):
    shell.user_ns["mine"] = shell.user_ns.pop("spark")
    watch = run(shell, "%provisor watch --session mine --application 'my job'")
    assert watch.application == "my job"
    assert run(shell, "%provisor watch another --session mine") is watch and watch.application == "another"
    watch.cancel()


@pytest.mark.parametrize("line, says", [
    ("watch", "no session in the variable spark"), ("advise", "which application?"), ("advise nightly-etl --deadline soon", "--deadline is a time"),
    ("advise a --label b", "--label is KEY:VALUE"), ("dance", "invalid choice"), ("watch --problem-size many", "invalid float"),
    ("advise 'a", "No closing quotation"), ("advise no-such-job", "there is no application \"no-such-job\"")])
def test_mistakes_have_no_trace(shell, history, capsys, line, says):
    ran = shell.run_cell("%provisor " + line)
    said = capsys.readouterr()
    assert not ran.success and says in said.out + said.err and "Traceback" not in said.out + said.err


def test_a_wrong_size_has_no_trace(shell, spark, capsys):
    run(shell, "%provisor watch --problem-size 0", status=False)
    said = capsys.readouterr()
    assert "problem_size is to be greater than 0" in said.out + said.err and "Traceback" not in said.out + said.err


def test_a_cell_of_a_session_that_goes_on(shell, spark, client):
    run(shell, "%%provisor --problem-size 7\nx = 6 * 7\n")
    report = shell.user_ns["_"]  # which is displayed; the result is that of the inner cell
    assert shell.user_ns["x"] == 42 and report.unfinished and report.run.problem_size == 7
    run(shell, "spark.stop()")
    assert watching.latest().report.outcome == "replaced"
    assert len(list(client.runs(report.application))) == 1


def test_a_cell_that_ends_the_session(shell, spark, capsys):
    assert run(shell, "%%provisor\nspark.stop()\n") is None
    assert watching.latest().state == "reported" and capsys.readouterr().out.count("This run took") == 1


def test_a_cell_that_makes_the_session(shell, spark):
    shell.user_ns["make"] = lambda made=shell.user_ns.pop("spark"): made
    run(shell, "%%provisor watch\nspark = make()\n")
    report = shell.user_ns["_"]
    assert report.unfinished and watching.latest().state == "watching"
    watching.latest().cancel()


def test_a_cell_that_fails(shell, spark, capsys):
    run(shell, "%%provisor\n1 / 0\n")  # the shell shows the exception of the inner cell
    assert "ZeroDivisionError" in capsys.readouterr().out
    watching.latest().cancel()
    run(shell, "%%provisor advise nightly-etl\n1\n", status=False)


def test_the_event_log_is_off(shell, spark, capsys):
    spark._sc._conf._settings["spark.eventLog.enabled"] = "false"
    with pytest.warns(provisor.WatchWarning, match="spark.eventLog.enabled"):
        run(shell, "%provisor watch")
    run(shell, "%provisor")
    assert "SparkSession.builder.config" in capsys.readouterr().out


@pytest.mark.parametrize("variable, value, says", [
    ("PROVISOR_TOKEN", "prv_of_nobody", "401"), ("PROVISOR_URL", "http://127.0.0.1:1", "refused"), ("PROVISOR_URL", "x", "not the URL")])
def test_the_state_of_the_login(shell, monkeypatch, capsys, variable, value, says):
    monkeypatch.setenv(variable, value)
    run(shell, "%provisor")
    said = capsys.readouterr()
    assert says in said.out and "provisor login" in said.out and "prv_" not in said.out + said.err


def test_its_help(shell):
    """As `%provisor?` shows it."""
    assert "--problem-size" in shell.magics_manager.magics["line"]["provisor"].__doc__


def test_ipython_that_nobody_stops(service, sample, tmp_path):
    """The report comes as IPython ends."""
    log = tmp_path / "log"
    log.write_bytes(sorted((sample / "nightly-etl").iterdir())[0].read_bytes().replace(b"application_", b"application_e"))
    program = textwrap.dedent("""
        import sys, pathlib; sys.path[:0] = [%r, %r]
        %%load_ext provisor
        from spark_session import session
        spark = session(pathlib.Path(%r).read_bytes(), %r)
        %%provisor watch --application ended
    """ % (str(INSTALLED), str(FOLDER), str(log), str(tmp_path / "logs")))
    env = {**os.environ, "PROVISOR_URL": service.base_url, "PROVISOR_TOKEN": service.alpha_token, "IPYTHONDIR": str(tmp_path / "ipython")}
    made = subprocess.run([sys.executable, "-B", "-m", "IPython", "--no-banner", "--quick", "--colors=NoColor", "-c", program], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, timeout=60)
    assert made.returncode == 0 and "This run took" in made.stdout, made.stdout


# --- a notebook's kernel ---


@pytest.fixture
def kernel(service, sample, tmp_path, monkeypatch):
    """A function that runs code in a kernel and gives what it shows: {MIME type: content} of each display, and text of streams."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    manager = KernelManager(kernel_name="python3", connection_file=str(tmp_path / "kernel.json"))
    manager.kernel_spec.argv[0] = sys.executable
    manager.start_kernel(env={**os.environ, "PROVISOR_URL": service.base_url, "PROVISOR_TOKEN": service.alpha_token, "PYTHONDONTWRITEBYTECODE": "1"})
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)

    def run(code):
        shown = []
        reply = client.execute_interactive(code, timeout=60, output_hook=lambda message: shown.append(message["content"]))
        assert reply["content"]["status"] == "ok", shown
        return [content["data"] for content in shown if "data" in content], "".join(content["text"] for content in shown if "text" in content)

    run.manager = manager
    (tmp_path / "log").write_bytes(sorted((sample / "nightly-etl").iterdir())[1].read_bytes().replace(b"application_", b"application_k" + uuid.uuid4().hex.encode()))
    run("import sys, pathlib; sys.path[:0] = [%r, %r]\n%%load_ext provisor\nfrom spark_session import session\nspark = session(pathlib.Path(%r).read_bytes(), %r)"
        % (str(INSTALLED), str(FOLDER), str(tmp_path / "log"), str(tmp_path / "logs")))
    yield run
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    manager.cleanup_resources()


def test_a_notebook_shows_tables(kernel, client):
    shown, _ = kernel("%provisor watch --application 'kernel stopped'")
    assert "'watching'" in shown[0]["text/plain"]
    shown, text = kernel("spark.stop()")
    assert "[====" in text and "Warning" not in text and len(shown) == 1  # the bar of the upload
    assert "<table><caption>" in shown[0]["text/html"] and "This run took" in shown[0]["text/plain"]
    assert len(list(client.runs("kernel stopped"))) == 1


def test_a_restart_of_the_kernel(kernel, client):
    kernel("%provisor watch --application 'kernel restarted'")
    kernel.manager.shutdown_kernel(restart=True)
    runs = list(client.runs("kernel restarted"))
    assert len(runs) == 1 and runs[0].warnings == []
