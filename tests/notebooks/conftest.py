"""The notebooks of clients/notebooks, executed with the package as it is shipped, against the real service; fixtures as in tests/python."""
import collections
import html.parser
import importlib.util
import os
import pathlib
import subprocess
import sys

import nbformat
import pytest

PACKAGE = pathlib.Path(__file__).resolve().parents[1] / "python"
sys.path.insert(0, str(PACKAGE))
spec = importlib.util.spec_from_file_location("package_fixtures", PACKAGE / "conftest.py")
package_fixtures = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = package_fixtures
spec.loader.exec_module(package_fixtures)

contract = package_fixtures.contract
databases = package_fixtures.databases
own_server = package_fixtures.own_server
make_service = package_fixtures.make_service
service = package_fixtures.service
name = package_fixtures.name
sample = package_fixtures.sample
client = package_fixtures.client
pytest_configure = package_fixtures.pytest_configure
ROOT, INSTALLED = package_fixtures.ROOT, package_fixtures.INSTALLED
BUILD = package_fixtures.cli_fixtures.BUILD

FOLDER = ROOT / "clients" / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
TIME_MAX_S = 120  # of all of them, on a machine that does other things as well


class Html(html.parser.HTMLParser):
    """Tables as (caption, heads, rows of texts), and images as (src, alt)."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.images, self._words = [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == "table":
            self.tables.append(["", [], []])
        elif tag == "tr" and self.tables:
            self.tables[-1][2].append([])
        elif tag == "img":
            found = dict(attributes)
            self.images.append((found.get("src", ""), found.get("alt", "")))
        if tag in ("caption", "th", "td"):
            self._words = ""

    def handle_data(self, text):
        if self._words is not None:
            self._words += text

    def handle_endtag(self, tag):
        if tag == "caption":
            self.tables[-1][0] = self._words.strip()
        elif tag in ("th", "td"):
            self.tables[-1][2][-1].append(self._words.strip())
        if tag in ("caption", "th", "td"):
            self._words = None
        if tag == "thead":
            self.tables[-1][1] = self.tables[-1][2].pop(0)


class Executed:
    """What a notebook showed, by the id of the cell."""

    def __init__(self, path):
        self.path, self.book = path, nbformat.read(str(path), as_version=4)
        self.outputs = {cell.id: cell.outputs for cell in self.book.cells if cell.cell_type == "code"}

    def said(self, cell, stream="stdout"):
        return "".join(o.text for o in self.outputs[cell] if o.output_type == "stream" and o.name == stream)

    def html(self, cell):
        return Html("".join(o.data.get("text/html", "") for o in self.outputs[cell] if "data" in o))

    def rows(self, cell):
        """Of the table, each as texts by head."""
        (_, heads, rows), = self.html(cell).tables
        return [dict(zip(heads, row)) for row in rows]


Execution = collections.namedtuple("Execution", "folder stderr books")


def execute(folder, url, token, sample):
    environment = {**os.environ, "PYTHONPATH": str(INSTALLED), "PROVISOR_URL": url, "PROVISOR_TOKEN": token, "PROVISOR_SAMPLE": str(sample)}
    result = subprocess.run([sys.executable, "-B", str(FOLDER / "execute.py"), str(folder)], env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIME_MAX_S)
    assert result.returncode == 0, result.stderr[-6000:]
    assert [pathlib.Path(line).stem for line in result.stdout.split()] == NAMES
    return Execution(folder, result.stderr, {name: Executed(folder / (name + ".ipynb")) for name in NAMES})


@pytest.fixture(scope="session")
def executions(service, sample, tmp_path_factory):
    """The first one on a service without history, and one after it."""
    return [execute(tmp_path_factory.mktemp("executed"), service.base_url, service.alpha_token, sample) for _ in range(2)]


@pytest.fixture
def books(executions):
    return executions[1].books
