"""A Debian 12 to be thrown away, for tests of what is delivered: made by debootstrap (minbase) from the machine's own package
source, and kept as build-container/base.tar for the next run. And a PostgreSQL that what runs in it reaches by TCP.
"""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

import pytest

from ports import free_port

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORK = ROOT / "build-container"


def run(*words, **kwargs):
    """What a command printed; it has to succeed."""
    result = subprocess.run([str(w) for w in words], text=True, errors="replace", stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, **kwargs)
    assert result.returncode == 0, "%s: %s" % (words, result.stdout[-6000:])
    return result.stdout


def apt_sources():
    """(files to copy, mirror of bookworm, keyring or None), as the machine's apt is configured."""
    files = [p for p in [pathlib.Path("/etc/apt/sources.list"), *pathlib.Path("/etc/apt/sources.list.d").glob("*")]
             if p.is_file() and p.suffix in (".list", ".sources") and "bookworm" in p.read_text()]
    for path in files:
        for stanza in re.split(r"\n\s*\n", path.read_text()):
            fields = dict(re.findall(r"^([A-Za-z-]+):[ \t]*(.*)$", stanza, re.M))
            if "bookworm" in fields.get("Suites", "").split():
                return files, fields["URIs"].split()[0], fields.get("Signed-By")
            line = re.search(r"^deb\s+(?:\[(?P<options>[^]]*)\]\s+)?(?P<uri>\S+)\s+bookworm\s", stanza, re.M)
            if line:
                key = re.search(r"signed-by=(\S+)", line.group("options") or "")
                return files, line.group("uri"), key.group(1) if key else None
    pytest.skip("apt has no source for bookworm")


def make_base(path):
    """A tar of the smallest Debian 12 that apt works in."""
    files, mirror, keyring = apt_sources()
    with tempfile.TemporaryDirectory(dir=WORK) as scratch:
        tree = pathlib.Path(scratch) / "tree"
        options = ["--keyring=" + keyring] if keyring and keyring.startswith("/") else []
        run("debootstrap", "--variant=minbase", *options, "bookworm", tree, mirror)
        (tree / "etc/apt/sources.list").unlink(missing_ok=True)
        for source in files:
            target = tree / source.relative_to("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
        for conf in pathlib.Path("/etc/apt/apt.conf.d").glob("*"):
            if "Acquire::" in conf.read_text(errors="replace"):
                shutil.copy(conf, tree / "etc/apt/apt.conf.d")
        shutil.rmtree(tree / "var/cache/apt/archives", ignore_errors=True)
        part = path.with_suffix(".part")
        run("tar", "-C", tree, "--numeric-owner", "-cf", part, ".")
        part.rename(path)


def base_tar():
    """The path of that tar, made unless it is there. Only root can; the test is skipped for others."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    WORK.mkdir(exist_ok=True)
    base = WORK / "base.tar"
    if not base.is_file():
        make_base(base)
    return base


@contextlib.contextmanager
def tcp_database():
    """(service URL, owner URL) by TCP: who sees another root sees no socket of ours."""
    with tempfile.TemporaryDirectory(prefix="provisor-root-") as scratch:
        os.chmod(scratch, 0o755)
        port = free_port()
        command = ROOT / "ops" / "private-postgres"
        run(command, "start", "--data-dir", scratch, "--port", port)
        try:
            yield [re.sub(r"@/provisor\?.*", "@127.0.0.1:%d/provisor" % port,
                          (pathlib.Path(scratch) / name).read_text().strip()) for name in ("database_url", "database_owner_url")]
        finally:
            run(command, "stop", "--data-dir", scratch)


def wait_ready(base_url, process, log, patience_s=30):
    """Until /readyz answers 200; else what the process logged."""
    end = time.monotonic() + patience_s
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(base_url + "/readyz", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    log.seek(0)
    raise AssertionError("not ready: %s" % log.read()[-3000:])
