"""The files that docs/cli.md shows are taken by the commands that it names."""
import re

import pytest

from conftest import ROOT, Cli

PAGE = (ROOT / "docs" / "cli.md").read_text()
FILES = re.findall(r"^```yaml\n# ([\w.]+): provisor ([^\n]+)\n(.*?)^```", PAGE, re.M | re.S)


@pytest.fixture(scope="module")
def page_cli(service, history, tmp_path_factory):
    """Of the team that has the sample, which gets back what the page registers."""
    cli = Cli(tmp_path_factory.mktemp("page"), service.base_url, service.token("alpha", "read,write,admin"))
    yield cli
    for words in (("clusters", "delete", "eu-1"), ("price-books", "delete", "aws")):
        cli(*words, "--yes", status=None)


def test_there_are_files():
    assert len(FILES) == PAGE.count("```yaml") >= 4


@pytest.mark.parametrize("name, words, content", FILES, ids=[f[0] for f in FILES])
def test_a_file_of_the_page(page_cli, name, words, content):
    """In the order of the page, against the sample: what a file names is in the sample, or a file above it made it."""
    (page_cli.home / name).write_text(content)
    result = page_cli(*words.split())
    assert result.out or result.err
