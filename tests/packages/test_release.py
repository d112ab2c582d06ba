"""ops/release-tarball: the same commit gives the same bytes, and what does not fit together is refused. In a repository of its own,
made of the files that it reads."""
import gzip
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import tarfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("PROVISOR_BUILD", ROOT / "build")).resolve()
VERSION = re.search(r"^  version: '([^']+)'", (ROOT / "meson.build").read_text(), re.M)[1]
NAME = "provisor-%s.tar.gz" % VERSION
FILES = ["meson.build", "CHANGELOG.md", "debian/changelog", "debian/rules", "ops/release-tarball", "ops/common.sh"]
WHEN = "2026-11-01T12:00:00+0000"
ENVIRONMENT = dict(os.environ, GIT_AUTHOR_DATE=WHEN, GIT_COMMITTER_DATE=WHEN, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null",
                   GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@example.org", GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@example.org")


def git(folder, *words):
    return subprocess.run(["git", "-C", str(folder), *words], check=True, text=True, stdout=subprocess.PIPE, env=ENVIRONMENT).stdout


def repository(folder):
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    git(folder, "init", "-q")
    commit(folder)
    return folder


def commit(folder):
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "x")


def tarball(folder, out, umask=0o022):
    out.mkdir(exist_ok=True)
    return subprocess.run([str(folder / "ops/release-tarball"), "--program", str(BUILD / "service" / "provisord"), str(out)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=ENVIRONMENT, umask=umask)


@pytest.fixture
def checkout(tmp_path):
    return repository(tmp_path / "a")


def test_the_same_commit_gives_the_same_bytes(checkout, tmp_path):
    other = repository(tmp_path / "elsewhere" / "b")
    results = [tarball(checkout, tmp_path / "one"), tarball(other, tmp_path / "two", umask=0o077)]
    assert [r.returncode for r in results] == [0, 0], results
    contents = [(tmp_path / out / NAME).read_bytes() for out in ("one", "two")]
    assert contents[0] == contents[1]
    assert (tmp_path / "one" / (NAME + ".sha256")).read_text() == "%s  %s\n" % (hashlib.sha256(contents[0]).hexdigest(), NAME)


def test_it_has_what_is_committed_and_nothing_of_this_machine(checkout, tmp_path):
    assert tarball(checkout, tmp_path / "out").returncode == 0
    data = (tmp_path / "out" / NAME).read_bytes()
    assert data[4:8] == bytes(4), "gzip remembers no time"
    members = tarfile.open(fileobj=io.BytesIO(gzip.decompress(data))).getmembers()
    top = "provisor-%s/" % VERSION
    assert sorted(m.name for m in members if m.isfile()) == sorted(top + name for name in FILES)
    assert {m.mtime for m in members} == {1793534400}, "the time of the commit"
    assert {(m.uname, m.gname, m.uid, m.gid) for m in members} == {("root", "root", 0, 0)}
    modes = {m.name: m.mode & 0o777 for m in members if m.isfile()}
    assert modes[top + "debian/rules"] == 0o755 and modes[top + "meson.build"] == 0o644


def test_changes_that_are_not_committed_are_refused(checkout, tmp_path):
    (checkout / "new").write_text("x")
    result = tarball(checkout, tmp_path / "out")
    assert result.returncode == 1 and "not committed" in result.stdout and list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("name, pattern, text", [
    ("CHANGELOG.md", r"^## \d\S*", "## 9.9.9"), ("debian/changelog", r"\([^)]*\)", "(9.9.9)"), ("meson.build", r"version: '[^']*'", "version: '9.9.9'")])
def test_versions_that_differ_are_refused(checkout, tmp_path, name, pattern, text):
    changed = re.sub(pattern, text, (checkout / name).read_text(), count=1, flags=re.M)
    assert changed != (checkout / name).read_text()
    (checkout / name).write_text(changed)
    commit(checkout)
    result = tarball(checkout, tmp_path / "out")
    assert result.returncode == 1 and "9.9.9" in result.stdout and VERSION in result.stdout and list((tmp_path / "out").iterdir()) == []


def test_a_program_of_another_version_is_refused(checkout, tmp_path):
    for name, pattern in (("CHANGELOG.md", r"^## \d\S*"), ("debian/changelog", r"\([^)]*\)"), ("meson.build", r"version: '[^']*'")):
        text = {"CHANGELOG.md": "## 9.9.9", "debian/changelog": "(9.9.9)", "meson.build": "version: '9.9.9'"}[name]
        (checkout / name).write_text(re.sub(pattern, text, (checkout / name).read_text(), count=1, flags=re.M))
    commit(checkout)
    result = tarball(checkout, tmp_path / "out")
    assert result.returncode == 1 and "provisord is at version %s" % VERSION in result.stdout
