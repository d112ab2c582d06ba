"""The source that is HDFS, against NameNode and DataNode as the WebHDFS REST API documents them, faults included."""
import itertools
import json
import pathlib
import random
import sys
import urllib.parse

import pytest

sys.path.append(str(pathlib.Path(__file__).parent / "sources"))
from origin import Answer, serving  # noqa: E402
from support import SANITIZED, run, sha256  # noqa: E402

LOG = random.Random(5).randbytes(1_000_000)
OTHER = random.Random(6).randbytes(1_000_000)
TOKEN = "JAAEcm9vdARyb290AIoBh-%2B/="


def remote(status, exception, message="said by the test\n\tat org.apache.hadoop"):
    return Answer(status, json.dumps({"RemoteException": {
        "exception": exception, "javaClassName": "org.apache." + exception, "message": message}}).encode(), {"Content-Type": "application/json"})


class Cluster:
    """files: path -> bytes; told: (operation, path) -> answers in turn, or functions of (request, usual answer)."""

    def __init__(self, files):
        self.files, self.times, self.told, self.data_node = dict(files), {}, {}, None
        self.redirects = True

    def tell(self, operation, path, *answers):
        self.told[operation, path] = iter(answers)

    def status(self, path, suffix=""):
        if path in self.files:
            return {"pathSuffix": suffix, "type": "FILE", "length": len(self.files[path]),
                    "modificationTime": self.times.get(path, 1767607200123), "owner": "spark", "permission": "644"}
        return {"pathSuffix": suffix, "type": "DIRECTORY", "length": 0, "modificationTime": 1767607200123}

    def list(self, path):
        if path in self.files:
            return [self.status(path)]
        below = {f[len(path) + 1:].split("/")[0] for f in self.files if f.startswith(path + "/")}
        return [self.status(path + "/" + name, name) for name in sorted(below)] if below else None

    def __call__(self, request):
        path = urllib.parse.unquote(request.path)[len("/webhdfs/v1"):].rstrip("/")
        operation = request.parameters["op"]
        usual = self.usual(request, operation, path)
        told = next(self.told.get((operation, path), iter(())), None)
        return told(request, usual) if callable(told) else told or usual

    def usual(self, request, operation, path):
        if self.list(path) is None:
            return remote(404, "FileNotFoundException", "File does not exist: " + path)
        if operation == "LISTSTATUS":
            return Answer(200, json.dumps({"FileStatuses": {"FileStatus": self.list(path)}}).encode())
        if operation == "GETFILESTATUS":
            return Answer(200, json.dumps({"FileStatus": self.status(path)}).encode())
        assert operation == "OPEN"
        if self.redirects:
            return Answer(307, b"", {"Location": "%s%s?%s&namenoderpcaddress=nn:8020" % (self.data_node.url, request.path, request.query)})
        return self.data(request)

    def data(self, request):
        path = urllib.parse.unquote(request.path)[len("/webhdfs/v1"):]
        content = self.files[path][int(request.parameters.get("offset", 0)):]
        usual = Answer(200, content, {"Content-Type": "application/octet-stream"})
        told = next(self.told.get(("DATA", path), iter(())), None)
        return told(request, usual) if callable(told) else told or usual


@pytest.fixture
def cluster():
    cluster = Cluster({"/logs/app-1": LOG, "/logs/eventlog_v2_app 2/events_1_é+%": b"1", "/logs/eventlog_v2_app 2/appstatus_app 2.inprogress": b"",
                       "/logs/x/y/z": b"deep", "/logs-other/app-9": b"no"})
    with serving(cluster.data) as cluster.data_node:
        yield cluster


@pytest.fixture
def name_node(cluster):
    with serving(cluster) as origin:
        origin.hdfs = "webhdfs://127.0.0.1:%d" % origin.port
        yield origin


def data_requests(cluster):
    return [r for r in cluster.data_node.requests]


def test_folders_are_listed_with_all_that_is_in_them(name_node, cluster):
    result = run(name_node.hdfs + "/logs/", "--read")
    assert result.digests == {name_node.hdfs + path: sha256(content) for path, content in cluster.files.items() if path.startswith("/logs/")}
    by_name = {o["name"][len(name_node.hdfs):]: o for o in result.objects}
    log = by_name["/logs/app-1"]
    assert (log["folder"], log["file"], log["bytes"], log["identity"], log["modified"], log["unfinished"]) == (
        name_node.hdfs + "/logs", "app-1", len(LOG), "1767607200123-1000000", "2026-01-05T10:00:00.123Z", False)
    status = by_name["/logs/eventlog_v2_app 2/appstatus_app 2.inprogress"]
    assert status["unfinished"] and status["folder"] == name_node.hdfs + "/logs/eventlog_v2_app 2"
    assert run(name_node.hdfs, "--stop-after", 3).names and len(run(name_node.hdfs).names) == 5


def test_a_file_is_a_list_of_one(name_node):
    assert run(name_node.hdfs + "/logs/app-1").names == [name_node.hdfs + "/logs/app-1"]


def test_an_http_fs_that_sends_the_bytes_itself(name_node, cluster):
    cluster.redirects = False
    cluster.tell("DATA", "/logs/app-1", lambda _, usual: Answer(200, iter([LOG]), length=None))
    assert run(name_node.hdfs + "/logs/app-1", "--read").digests == {name_node.hdfs + "/logs/app-1": sha256(LOG)}
    assert not data_requests(cluster)


def cut_at(n):
    def cut(_, usual):
        usual.cut_after = n
        return usual
    return cut


def test_what_is_cut_is_opened_again_behind_the_last_byte(name_node, cluster):
    cluster.tell("DATA", "/logs/app-1", cut_at(400_000), cut_at(7), cut_at(0))
    assert run(name_node.hdfs + "/logs/app-1", "--read").digests == {name_node.hdfs + "/logs/app-1": sha256(LOG)}
    assert [r.parameters.get("offset") for r in data_requests(cluster)] == [None, "400000", "400007", "400007"]


@pytest.mark.parametrize("how", ["rewritten", "touched", "longer", "shorter"])
def test_a_file_that_changes_while_it_is_read_is_not_mixed(name_node, cluster, how):
    def then(_, usual):
        cluster.files["/logs/app-1"] = {"rewritten": OTHER, "touched": LOG, "longer": LOG + b"x", "shorter": LOG[:500_000]}[how]
        cluster.times["/logs/app-1"] = 1767607200124
        usual.cut_after = 400_000
        return usual

    cluster.tell("DATA", "/logs/app-1", then)
    result = run(name_node.hdfs + "/logs/app-1", "--read", fails=True)
    assert not result.objects and "changed while it was read" in result.failure


def test_a_file_that_changed_since_it_was_listed(name_node, cluster):
    words = ("--name", name_node.hdfs + "/logs/app-1", "--bytes", len(LOG))
    assert run(name_node.hdfs, *words, "--identity", "1767607200123-1000000").digests
    cluster.times["/logs/app-1"] = 1767607200999
    assert "changed" in run(name_node.hdfs, *words, "--identity", "1767607200123-1000000", fails=True).failure
    cluster.files["/logs/app-1"] += b"x"
    assert "changed since it was listed" in run(name_node.hdfs, *words, fails=True).failure


def test_the_name_node_that_is_active_is_found(name_node, cluster):
    with serving(lambda request: remote(403, "StandbyException", "Operation category READ is not supported in state standby")) as standby:
        with serving(cluster) as gone:
            pass
        nodes = "127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d" % (gone.port, standby.port, name_node.port)
        result = run("webhdfs://" + nodes + "/logs", "--read")
        assert len(result.objects) == 4 and result.names[0].startswith("webhdfs://" + nodes + "/logs/")
        assert len(standby.requests) == 1  # whoever answered is asked from then on
        alone = run("webhdfs://127.0.0.1:%d/logs" % standby.port, fails=True)
        assert "StandbyException" in alone.failure and "separated by commas" in alone.failure and "attempts: 5" in alone.failure


def test_who_asks(name_node):
    run(name_node.hdfs + "/logs", "--user", "ann b")
    run(name_node.hdfs + "/logs", HADOOP_USER_NAME="bob")
    run(name_node.hdfs + "/logs")
    assert [r.parameters.get("user.name") for r in name_node.requests if r.path.endswith("/logs")] == ["ann b", "bob", None]


def test_a_token_goes_along_and_is_never_printed(name_node, cluster):
    result = run(name_node.hdfs + "/logs/app-1", "--read", "--user", "ann", WEBHDFS_DELEGATION_TOKEN=TOKEN)
    assert result.names
    for request in name_node.requests + data_requests(cluster):
        assert request.parameters["delegation"] == TOKEN and "user.name" not in request.parameters
    cluster.told["OPEN", "/logs/app-1"] = itertools.repeat(Answer(302, b"", {"Location": "gopher://x/"}))
    cluster.told["LISTSTATUS", "/logs"] = itertools.repeat(remote(403, "InvalidToken"))
    for words in (["/logs"], ["/logs/app-1", "--read"]):
        failure = run(name_node.hdfs + words[0], *words[1:], fails=True, WEBHDFS_DELEGATION_TOKEN=TOKEN).failure
        assert TOKEN not in failure and urllib.parse.quote(TOKEN, safe="") not in failure


@pytest.mark.parametrize("answer, says", [
    (remote(403, "AccessControlException", "Permission denied: user=bob"), ["Permission denied: user=bob", "HADOOP_USER_NAME"]),
    (remote(404, "FileNotFoundException"), ["FileNotFoundException: said by the test", "path"]),
    (remote(403, "InvalidToken"), ["new delegation token"]),
    (Answer(401, b"<html>Authentication required</html>"), ["status 401", "WEBHDFS_DELEGATION_TOKEN"]),
    (Answer(404, b"<html>"), ["status 404", "NameNode?"]),
    (Answer(200, b"<html>Log in</html>"), ["HTML", "proxy"]),
    (Answer(200, b"{"), ["not JSON"]),
    (Answer(200, b"[]"), ["not a list of files"]),
    (Answer(200, b'{"FileStatuses": {"FileStatus": [{"pathSuffix": "x"}]}}'), ["not a list of files"]),
    (Answer(200, b'{"FileStatuses": {"FileStatus": [{"pathSuffix": "../x", "type": "FILE", "length": 1}]}}'), ["not a list of files"]),
    (Answer(307, b"", {"Location": "/webhdfs/v1/logs?op=LISTSTATUS"}), ["redirects"]),
    (Answer(200, itertools.repeat(b" " * 1_000_000)), ["longer than"]),
])
def test_what_is_no_list(name_node, cluster, answer, says):
    cluster.told["LISTSTATUS", "/logs"] = itertools.repeat(answer)
    result = run(name_node.hdfs + "/logs", fails=True)
    assert all(word in result.failure for word in [name_node.hdfs + "/logs", *says]), result.failure
    assert "at org.apache" not in result.failure


def test_what_is_denied_leaves_the_others_alone(name_node, cluster):
    cluster.told["OPEN", "/logs/app-1"] = itertools.repeat(remote(403, "AccessControlException"))
    result = run(name_node.hdfs + "/logs", "--read", fails=True)
    assert len(result.objects) == 3 and (name_node.hdfs + "/logs/app-1: AccessControlException") in result.failure


def test_retry_after_is_honoured(name_node, cluster):
    cluster.tell("OPEN", "/logs/app-1", Answer(503, b"", {"Retry-After": "1"}))
    run(name_node.hdfs + "/logs/app-1", "--read")
    first, second = [r for r in name_node.requests if r.parameters["op"] == "OPEN"]
    assert second.at - first.at >= 1.0


def test_memory_does_not_grow_with_a_file(name_node, cluster):
    n = 20 if SANITIZED else 100
    cluster.tell("DATA", "/logs/app-1", lambda _, usual: Answer(200, itertools.repeat(LOG, n), length=n * len(LOG)))
    result = run(name_node.hdfs, "--name", name_node.hdfs + "/logs/app-1", "--bytes", n * len(LOG))
    assert result.objects[0]["read"]["bytes"] == n * len(LOG)
    assert SANITIZED or result.peak_rss_kib < 24_000


@pytest.mark.parametrize("url", ["webhdfs://", "webhdfs:///x", "webhdfs://a b/x", "webhdfs://u@h/x", "webhdfs://h,,i/x", "xwebhdfs://h/x",
                                 "webhdfs://" + ",".join("abcdefghi") + "/x"])
def test_urls_of_no_hdfs(url):
    assert url in run(url, fails=True).failure
