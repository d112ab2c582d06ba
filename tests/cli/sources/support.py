"""Runs list_and_read, the program that reads sources for tests."""
import hashlib
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "tests"))
from patience import PATIENCE, is_sanitized  # noqa: E402

BUILD = pathlib.Path(os.environ.get("PROVISOR_BUILD", ROOT / "build")).resolve()
PROGRAM = BUILD / "tests" / "cli" / "sources" / "list_and_read"
SANITIZED = is_sanitized(PROGRAM)
# Attempts follow each other at once, unless a test is about when they do.
HASTE = ("--first-s", "0.01")


class Result:
    def __init__(self, lines):
        self.objects = [line for line in lines if "file" in line]
        self.failures = [line for line in lines if "failure" in line]
        self.peak_rss_kib = lines[-1]["peak_rss_kib"]

    @property
    def names(self):
        return [o["name"] for o in self.objects]

    @property
    def failure(self):
        """What the only failure says, in one text."""
        assert len(self.failures) == 1, (self.failures, self.objects)
        return "%(what)s\n%(next)s" % self.failures[0]["failure"]

    @property
    def digests(self):
        return {o["name"]: o["read"]["sha256"] for o in self.objects}


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def start(*words, **env):
    """Without anything of AWS, Hadoop or proxies in its environment but what is given."""
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "LC_ALL", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")}
    return subprocess.Popen([str(PROGRAM), *HASTE, *map(str, words)], env={**kept, **env}, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)


def run(*words, fails=False, **env):
    process = start(*words, **env)
    try:
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == (1 if fails else 0) and not err, (process.returncode, err[-4000:], out[-2000:])
    return Result([json.loads(line) for line in out.splitlines()])


def self_signed(folder):
    """(key and certificate, certificate alone) of 127.0.0.1."""
    key, certificate, both = folder / "key.pem", folder / "certificate.pem", folder / "both.pem"
    made = subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2",
                           "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert made.returncode == 0, made.stdout
    both.write_text(key.read_text() + certificate.read_text())
    return both, certificate
