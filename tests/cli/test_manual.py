"""Help and manual pages: every command explains itself, its examples are right, and roff finds nothing to say."""
import re
import shlex
import subprocess

import pytest

from conftest import BUILD, ROOT

PAGES = BUILD / "clients" / "cli"


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    """All paths of commands: ("runs",), ("runs", "export"), ..., with their help."""
    from conftest import Cli
    cli = Cli(tmp_path_factory.mktemp("home"))

    def inside(text):
        part = re.search(r"^Commands:\n(.*?)(\n\n|\Z)", text, re.M | re.S)
        return re.findall(r"^  ([a-z][a-z-]*)(?:\s|$)", part[1], re.M) if part else []

    def walk(path):
        text = cli(*path, "--help").out
        found = {path: text} if path else {}
        for name in inside(text):
            found.update(walk((*path, name)))
        return found
    return cli, walk(())


def test_every_command_explains_itself(commands):
    cli, found = commands
    assert len(found) > 30
    for path, text in found.items():
        words = text.split("\n\n")[1]
        assert words.endswith(".") and words[0].isupper(), path
        if path != ("help",) and "[OPTION...]" in text.splitlines()[0]:
            assert "Examples:" in text, path
        assert all(len(line) <= 100 for line in text.splitlines()), path


def test_examples_are_command_lines(commands):
    """Each is understood: with --help it says so, and does nothing."""
    cli, found = commands
    seen = 0
    for path, text in found.items():
        for line in text.partition("Examples:\n")[2].splitlines():
            if not line.strip().startswith("provisor"):
                continue
            words = shlex.split(re.sub(r"\$\([^)]*\)", "WORD", re.split(r" (?:\||>|<|\|\|) ", line)[0]))
            cut = words.index("--") if "--" in words else len(words)
            assert tuple(words[1:1 + len(path)]) == path or words[1] in {p[0] for p in found}, line
            cli(*words[1:cut], "--help")
            seen += 1
    assert seen > 40


def test_a_page_a_command(commands):
    cli, found = commands
    wanted = {"provisor.1"} | {"provisor-%s.1" % path[0] for path in found}
    assert {page.name for page in PAGES.glob("*.1")} == wanted


def test_pages_have_their_sections():
    for page in PAGES.glob("*.1"):
        text = page.read_text()
        for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "ENVIRONMENT", "EXIT STATUS"):
            assert '.SH "%s"' % heading in text, page
        assert re.search(r"^provisor.* \\- .*[^.]$", text, re.M), page  # as apropos wants it


def test_roff_finds_nothing_to_say():
    for page in sorted(PAGES.glob("*.1")):
        result = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", page], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANWIDTH": "80"})
        assert (result.returncode, result.stderr) == (0, ""), page
        assert "PROVISOR" in result.stdout


def test_the_user_page_names_every_command(commands):
    cli, found = commands
    page = (ROOT / "docs" / "cli.md").read_text()
    assert {path[0] for path in found} - set(re.findall(r"^\| `provisor ([a-z-]+)", page, re.M)) == set()
    for option in re.findall(r"--([a-z-]+)", cli("--help").out):
        assert "--" + option in page or option in ("version", "help"), option
