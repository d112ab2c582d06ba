"""The files that docs/cli.md shows are taken by the commands that it names."""
import re

import pytest

from conftest import ROOT

PAGE = (ROOT / "docs" / "cli.md").read_text()
FILES = re.findall(r"^```yaml\n# ([\w.]+): provisor ([^\n]+)\n(.*?)^```", PAGE, re.M | re.S)


def test_there_are_files():
    assert len(FILES) == PAGE.count("```yaml") >= 4


@pytest.mark.parametrize("name, words, content", FILES, ids=[f[0] for f in FILES])
def test_a_file_of_the_page(service, make_cli, name, words, content):
    cli = make_cli(service.base_url, service.token("page", "read,write,admin"))
    (cli.home / name).write_text(content)
    if words.startswith("batch "):  # this team has neither the cluster nor the applications: nothing else is wrong
        assert cli(*words.split(), status=2).err.startswith('provisor: night.yaml:1: cluster: there is no cluster "')
        return
    result = cli(*words.split())
    assert result.out or result.err
