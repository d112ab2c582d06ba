"""The notebooks as they lie in the repository: without outputs, without anything that only one machine has."""
import json
import re

import nbformat
import pytest

from conftest import FOLDER, NAMES


@pytest.fixture(params=NAMES)
def path(request):
    return FOLDER / (request.param + ".ipynb")


def cells(path, kind=None):
    return [cell for cell in json.loads(path.read_text())["cells"] if kind in (None, cell["cell_type"])]


def source(cell):
    return "".join(cell["source"])


def test_there_are_four():
    assert [name[:3] for name in NAMES] == ["01-", "02-", "03-", "04-"]


def test_it_is_valid(path):
    book = nbformat.read(str(path), as_version=nbformat.NO_CONVERT)
    nbformat.validate(book)
    assert (book.nbformat, book.nbformat_minor) == (4, 5)
    assert book.metadata == {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}}
    ids = [cell.id for cell in book.cells]
    assert len(set(ids)) == len(ids) and all(re.fullmatch(r"[a-z]+(-[a-z]+)*", id) for id in ids)


def test_it_has_no_outputs(path):
    assert cells(path, "code") and all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells(path, "code"))
    assert all(cell["metadata"] == {} for cell in cells(path))


def test_it_is_written_as_jupyter_writes_it(path):
    """So that saving it changes nothing but what was changed."""
    assert path.read_text() == json.dumps(json.loads(path.read_text()), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def test_it_names_no_place_and_no_token(path):
    text = "\n".join(source(cell) for cell in cells(path))
    assert re.findall(r"prv_|https?://|file:|localhost|127\.0|(?<![\w.*`])/(?:\w+/)+\w+|[A-Z]:\\", text) == []
    assert "provisor.Client()" in text


def test_numbers_are_computed(path):
    """Text says what is to be seen; how much it is, cells say, so that it is never wrong."""
    assert [source(cell) for cell in cells(path, "markdown") if re.search(r"(?<![\w`.-])\d", re.sub(r"`[^`]*`", "", source(cell)))] == []


def test_it_is_a_story(path):
    """A title and what it is about come first; no two programs but with text or a result between them, each short enough to take in."""
    kinds = [cell["cell_type"] for cell in cells(path)]
    assert kinds[0] == "markdown" and source(cells(path)[0]).startswith("# ")
    assert sum(source(cell).startswith("# ") for cell in cells(path, "markdown")) == 1
    assert "code,code,code,code,code" not in ",".join(kinds)
    assert all(source(cell).count("\n") < 35 and max(map(len, source(cell).splitlines())) <= 100 for cell in cells(path, "code"))
