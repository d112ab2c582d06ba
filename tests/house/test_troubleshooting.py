"""The pages of what can go wrong have every exit status of the client, every type of problem and every code of a warning."""
import pathlib
import re

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
# A warning is added under its code; some functions that add warnings have names that begin with "warn".
ADDED = re.compile(r'\b(?:finding_add|warn\w*)\(\s*([^;"]*?)"([a-z]+(?:_[a-z]+)+)",')
# What such a call has as a parameter of another kind.
NO_WARNINGS = {"map", "reduce"}


def codes_in_the_source():
    found = set()
    for path in (ROOT / "service").rglob("*.c"):
        for call in ADDED.finditer(path.read_text()):
            if "warn" in call[0].partition('"')[0]:
                found.add(call[2])
    return found - NO_WARNINGS


def test_every_exit_status_has_a_section():
    numbers = re.findall(r"^    EXIT_\w+ = (\d+)", (ROOT / "clients" / "cli" / "exit.h").read_text(), re.M)
    sections = re.findall(r"^### Exit status (\d+):", (DOCS / "troubleshooting.md").read_text(), re.M)
    assert len(numbers) > 6 and sections == numbers


def test_every_warning_is_explained_with_what_to_do():
    codes = codes_in_the_source()
    rows = re.findall(r"^\| (`[a-z_`, ]+`) \| [^|]+ \| [^|]+ \|$", (DOCS / "warnings.md").read_text() + (DOCS / "log-warnings.md").read_text(), re.M)
    explained = {code for row in rows for code in re.findall(r"[a-z_]+", row)}
    assert len(codes) > 120
    assert sorted(codes - explained) == []


def test_the_page_has_the_table_of_problem_types():
    problems = yaml.safe_load((DOCS / "problems.yaml").read_text())
    assert "\n<!-- problem types -->\n" in (DOCS / "troubleshooting.md").read_text()
    assert all(problem["advice"] for problem in problems.values())
