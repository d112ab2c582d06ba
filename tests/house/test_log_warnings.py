"""Every warning that a reader of logs can give stands on the page that explains them."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
READERS = ["core/joblog", "ingest", "api/history"]
CODES = re.compile(r'NOTICE_\w+,\s*"([a-z_]+)"|\[NOTICE_\w+\] = \{"([a-z_]+)"|finding_add\(\s*&?(?:run->)?warnings,\s*"([a-z_]+)"')


def test_every_warning_of_a_log_is_explained():
    sources = [p for folder in READERS for p in (ROOT / "service" / folder).rglob("*.[ch]")]
    codes = {code for p in sources for groups in CODES.findall(p.read_text()) for code in groups if code}
    page = (ROOT / "docs" / "log-warnings.md").read_text()
    assert len(codes) > 30
    assert sorted(code for code in codes if "`%s`" % code not in page) == []


def test_the_page_lists_the_warnings_that_predictions_name():
    table = (ROOT / "service" / "core" / "history" / "warned_runs.c").read_text()
    named = re.findall(r'\{"([a-z_]+)", (?:true|false)\}', table)
    page = (ROOT / "docs" / "log-warnings.md").read_text()
    paragraph = page[page.index("The codes that bear on predictions"):page.index("## Parts that are missing")]
    assert re.findall(r"`([a-z_]+)`", paragraph) == named
    rows = re.findall(r"^\| (`[a-z_`, ]+`) \|", page, re.M)
    explained = {code for row in rows for code in re.findall(r"[a-z_]+", row)}
    assert sorted(set(named) - explained) == []
