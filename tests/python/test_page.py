"""docs/python.md: its programs run, one after the other, with the history of the sample."""
import inspect
import re
import sys

import pytest

import provisor
from conftest import ROOT
from spark_session import pyspark

PAGE = (ROOT / "docs" / "python.md").read_text()
PROGRAMS = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)


def test_there_are_programs():
    assert len(PROGRAMS) == PAGE.count("```python") >= 9


def test_the_programs_of_the_page(service, history, sample, tmp_path, monkeypatch, capsys):
    log = sorted((sample / "nightly-etl").iterdir())[0]
    (tmp_path / "application_1700000000000_0042").write_bytes(log.read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROVISOR_URL", service.base_url)
    monkeypatch.setenv("PROVISOR_TOKEN", service.alpha_token)
    for module, stub in pyspark(log.read_bytes().replace(b"application_", b"application_page_")).items():
        monkeypatch.setitem(sys.modules, module, stub)
    variables = {}
    for program in PROGRAMS:
        exec(compile(program, "docs/python.md", "exec"), variables)
    said, shown = capsys.readouterr()
    assert "['/deadline_s']" in said and re.search(r"^(stored|duplicate|replaced)$", said, re.M)
    assert variables["done"].ended and variables["count"] > 10
    assert "This run took" in shown and variables["watch"].report.run.problem_size == 64
    assert variables["watch"].report.properties.items() <= variables["builder"].properties.items()


def test_a_result_prints_as_the_page_says(client, history):
    """In one short line; all members are in to_dict()."""
    assert "`print` of a result writes what matters most in one short line, and `to_dict()` has all members" in PAGE
    advice = client.advise("nightly-etl", problem_size=64, deadline_s=90, dry_run=True)
    assert "\n" not in str(advice) and len(str(advice)) < 200 < len(str(advice.to_dict()))


def test_the_page_names_all_exceptions():
    """But for the base classes."""
    names = {name for name, value in vars(provisor).items() if isinstance(value, type) and issubclass(value, provisor.ProvisorError)}
    assert [name for name in sorted(names - {"ProvisorError", "OperationEnded"}) if "`%s`" % name not in PAGE] == []


@pytest.mark.parametrize("argument", [*list(inspect.signature(provisor.watch).parameters)[1:], "url", "token", "profile", "timeout", "retries", "ca_file", "user_agent", "progress"])
def test_the_page_names_all_arguments(argument):
    assert re.search(r"^\| (`\w+`, )*`%s`" % argument, PAGE, re.M)
