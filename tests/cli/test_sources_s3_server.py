"""The S3 source against a server of S3 that others wrote, and that verifies signatures (tests/cli/s3)."""
import http.client
import pathlib
import random
import shutil
import subprocess
import sys
import urllib.parse

import pytest

sys.path.append(str(pathlib.Path(__file__).parent / "sources"))
from support import SANITIZED, run, sha256  # noqa: E402

PACKAGE = pathlib.Path(__file__).parent / "s3"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "S3RVER", "AWS_SECRET_ACCESS_KEY": "S3RVER"}
# Of & < > and quotes, this server's lists are escaped twice; s3_stub.py has them.
ODD_KEYS = ["plain", "a b", "a+b", "a%41b", "100%", "日本/ログ é", "eq=x/dt=2026-01-05", "(1)*!~", "q?h#x", "s;,:@$", "back\\slash"]


class Server:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port)
        self.url = "http://127.0.0.1:%d" % port

    def put(self, key, content):
        self.connection.request("PUT", "/logs/" + urllib.parse.quote(key), content)
        reply = self.connection.getresponse()
        assert reply.status == 200, reply.read()
        reply.read()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("s3")
    for name in ("package.json", "package-lock.json", ".npmrc", "server.js"):
        shutil.copy(PACKAGE / name, folder / name)
    installed = subprocess.run(["npm", "ci", "--ignore-scripts"], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert installed.returncode == 0, installed.stdout[-3000:]
    (folder / "data").mkdir()
    process = subprocess.Popen(["node", "--openssl-legacy-provider", "server.js", "data", "127.0.0.1"], cwd=folder,
                               stdout=subprocess.PIPE, text=True)
    try:
        yield Server(int(process.stdout.readline()))
    finally:
        process.kill()
        process.communicate()


def s3(server, prefix, *words, fails=False, **env):
    return run("s3://logs/" + prefix, "--endpoint", server.url, *words, fails=fails, **{**CREDENTIALS, **env})


def test_the_lock_file_names_no_host():
    assert "resolved" not in (PACKAGE / "package-lock.json").read_text()


def test_keys_of_all_kinds(server):
    for key in ODD_KEYS:
        server.put("odd/" + key, key.encode())
    result = s3(server, "odd/", "--read")
    assert result.digests == {"s3://logs/odd/" + key: sha256(key.encode()) for key in ODD_KEYS}
    assert s3(server, "odd/a b").names == ["s3://logs/odd/a b"]
    assert s3(server, "odd/日本/").names == ["s3://logs/odd/日本/ログ é"]


def test_what_is_signed_with_another_secret_is_refused(server):
    server.put("secret/log", b"x")
    assert s3(server, "secret/", "--read").digests == {"s3://logs/secret/log": sha256(b"x")}
    result = s3(server, "secret/", AWS_SECRET_ACCESS_KEY="S3RVER2", fails=True)
    assert "SignatureDoesNotMatch" in result.failure and "AWS_SECRET_ACCESS_KEY" in result.failure and "S3RVER2" not in result.failure
    assert "InvalidAccessKeyId" in s3(server, "secret/", AWS_ACCESS_KEY_ID="S3RVER2", fails=True).failure


def test_pages(server):
    names = ["pages/%04d" % i for i in range(1203)]
    for name in names:
        server.put(name, b"")
    assert s3(server, "pages/").names == ["s3://logs/" + name for name in names]


def test_a_bucket_that_is_missing(server):
    result = run("s3://logs2/", "--endpoint", server.url, fails=True, **CREDENTIALS)
    assert "NoSuchBucket" in result.failure and "s3://logs2/" in result.failure


def test_an_object_of_100_mb(server):
    content = random.Random(3).randbytes(100_000_000)
    server.put("large", content)
    result = s3(server, "large", "--read")
    assert result.digests == {"s3://logs/large": sha256(content)}
    assert SANITIZED or result.peak_rss_kib < 24_000


def test_what_was_listed_and_is_another_by_now(server):
    """Even where If-Match is passed over: the ETag of the reply tells."""
    server.put("changed", b"first")
    listed = s3(server, "changed").objects[0]
    server.put("changed", b"other")
    result = s3(server, "", "--name", listed["name"], "--identity", listed["identity"], "--bytes", 5, fails=True)
    assert "changed since it was listed" in result.failure
