"""The files that docs/cli.md shows are taken by the commands that it names."""
import re
import subprocess

import pytest

from conftest import PROVISOR, ROOT, Cli

PAGE = (ROOT / "docs" / "cli.md").read_text()
FILES = re.findall(r"^```yaml\n# ([\w.]+): provisor ([^\n]+)\n(.*?)^```", PAGE, re.M | re.S)


@pytest.fixture(scope="module")
def page_cli(service, history, tmp_path_factory):
    """Of the team that has the sample, which gets back what the page registers."""
    cli = Cli(tmp_path_factory.mktemp("page"), service.base_url, service.token("alpha", "read,write,admin"))
    yield cli
    for words in (("clusters", "delete", "eu-1"), ("clusters", "delete", "shared-1"), ("price-books", "delete", "aws")):
        cli(*words, "--yes", status=None)


def test_there_are_files():
    assert len(FILES) == PAGE.count("```yaml") >= 4


@pytest.mark.parametrize("name, words, content", FILES, ids=[f[0] for f in FILES])
def test_a_file_of_the_page(page_cli, name, words, content):
    """In the order of the page, against the sample: what a file names is in the sample, or a file above it made it."""
    (page_cli.home / name).write_text(content)
    result = page_cli(*words.split())
    assert result.out or result.err


# These ask for a token at a terminal (tests/cli/test_login.py).
SHELL = [block for block in re.findall(r"^```sh\n(.*?)^```", PAGE, re.M | re.S) if "provisor login" not in block]


def test_there_are_commands():
    assert len(SHELL) == PAGE.count("```sh") - 2 >= 5


@pytest.mark.parametrize("block", SHELL, ids=lambda block: block.splitlines()[-1][:40])
def test_commands_of_the_page_run_as_pasted(page_cli, block):
    """Against the sample, in a shell that stops at the first fault. What names the service of `./run` is that of the test."""
    block = "\n".join(line for line in block.splitlines() if not line.startswith(("export PROVISOR_URL", "export PATH")))
    env = {**page_cli.env, "PATH": "%s:%s" % (PROVISOR.parent, page_cli.env["PATH"])}
    result = subprocess.run(["bash", "-c", "set -euo pipefail\n" + block], env=env, cwd=page_cli.home, text=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    assert result.returncode == 0, block + result.stdout + result.stderr
