"""The source that is a Spark History Server, against its REST API as Spark documents it, faults included."""
import io
import itertools
import json
import pathlib
import random
import sys
import zipfile

import pytest

sys.path.append(str(pathlib.Path(__file__).parent / "sources"))
from origin import Answer, serving  # noqa: E402
from support import SANITIZED, run, self_signed, sha256  # noqa: E402

BASE = "/api/v1/applications"


def archive(content):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr("events", content)
    return out.getvalue()


def attempt(number=None, completed=True, updated=1767607200123, **more):
    told = {"startTime": "2026-01-05T09:00:00.000GMT", "endTime": "2026-01-05T10:00:00.000GMT",
            "lastUpdated": "2026-01-05T10:00:00.123GMT", "duration": 3600000, "sparkUser": "ann", "completed": completed,
            "appSparkVersion": "3.5.1", "lastUpdatedEpoch": updated, **more}
    return told if number is None else {"attemptId": number, **told}


class History:
    """applications: as the list shows them; logs: path behind the list's -> bytes; told: path -> answers in turn."""

    def __init__(self):
        self.applications = [
            {"id": "app-1", "name": "etl", "attempts": [attempt("2"), attempt("1", updated=5)]},
            {"id": "local-2", "name": "x", "attempts": [attempt()]},
            {"id": "app-3", "name": "x", "attempts": [attempt("2", completed=False), attempt("1")]},
        ]
        self.logs = {"/app-1/2/logs": archive("a"), "/app-1/1/logs": archive("b" * 3_000_000), "/local-2/logs": archive("c"),
                     "/app-3/1/logs": archive("d"), "/app-3/2/logs": archive("e")}
        self.told = {}

    def tell(self, path, *answers):
        self.told[path] = iter(answers)

    def __call__(self, request):
        assert request.path.startswith(BASE), request.path
        path = request.path[len(BASE):]
        told = next(self.told.get(path, iter(())), None)
        if told is not None:
            return told
        if path in self.logs:
            return Answer(200, iter([self.logs[path]]), {"Content-Type": "application/octet-stream"})
        if path:
            return Answer(404, b"unknown app")
        return Answer(200, json.dumps(self.applications, indent=2).encode(), {"Content-Type": "application/json"})


@pytest.fixture
def history():
    return History()


@pytest.fixture
def origin(history):
    with serving(history) as origin:
        yield origin


def names(origin, *paths):
    return [origin.url + BASE + path for path in paths]


def test_each_completed_attempt_is_an_object(origin):
    result = run(origin.url + "/")
    assert result.names == names(origin, "/app-1/2/logs", "/app-1/1/logs", "/local-2/logs", "/app-3/1/logs")
    assert result.objects[0] == {"name": result.names[0], "folder": origin.url, "file": "eventLogs-app-1-2.zip",
                                 "identity": "1767607200123", "bytes": None, "modified": "2026-01-05T10:00:00.123Z", "unfinished": False}
    assert result.objects[2]["file"] == "eventLogs-local-2.zip" and result.objects[1]["identity"] == "5"
    assert origin.requests[0].query == "status=completed"


def test_unfinished_ones_only_where_they_are_asked_for(origin):
    result = run(origin.url, "--unfinished", "--limit", 7)
    assert [o["name"] for o in result.objects if o["unfinished"]] == names(origin, "/app-3/2/logs") and len(result.objects) == 5
    assert origin.requests[0].parameters == {"limit": "7"}
    run(origin.url, "--min-end", "2026-01-05T11:30:00.5+01:00")
    assert origin.requests[1].query == "status=completed&minEndDate=2026-01-05T10:30:00.000GMT"


def test_archives_are_read(origin, history):
    result = run(origin.url, "--read", "--threads", 3)
    assert result.digests == {origin.url + BASE + path: sha256(log) for path, log in history.logs.items() if path != "/app-3/2/logs"}


def test_ids_are_encoded_and_stopping_stops(origin, history):
    history.applications = [{"id": "a/../b?c#d", "attempts": [attempt("é 1")]}, {"id": "x", "attempts": [attempt()]}]
    result = run(origin.url, "--stop-after", 1)
    assert result.names == names(origin, "/a%2F..%2Fb%3Fc%23d/%C3%A9%201/logs")
    assert result.objects[0]["file"] == "eventLogs-a%2F..%2Fb%3Fc%23d-%C3%A9%201.zip"


def test_servers_that_say_less(origin, history):
    old = attempt()
    del old["lastUpdatedEpoch"]
    history.applications = [{"id": "x", "attempts": [old]}]
    assert run(origin.url).objects[0]["identity"] == "2026-01-05T10:00:00.123GMT"
    history.applications = []
    assert run(origin.url).names == []


@pytest.mark.parametrize("answer, says", [
    (Answer(200, b"\n<!DOCTYPE html><html>Log in</html>", {"Content-Type": "text/html"}), ["HTML", "proxy"]),
    (Answer(200, b'{"error": "no"}'), ["not the list of applications", "array"]),
    (Answer(200, b""), ["array"]),
    (Answer(200, b'[{"id": "x", "attempts": []}'), ["ends in the middle"]),
    (Answer(200, b'[{"id": "x", "attempts"'), ["not the list of applications"]),
    (Answer(200, b'[{"id": "x"}]'), ["no attempts"]),
    (Answer(200, b'[1, 2]'), ["not the list of applications"]),
    (Answer(200, b"[" * 5000), ["not the list of applications"]),
    (Answer(404, b"<html>"), ["status 404", "URL of the History Server itself"]),
    (Answer(401, b""), ["status 401", "a login"]),
    (Answer(302, b"", {"Location": BASE}), ["redirects"]),
    (Answer(302, b"", {"Location": "file:///etc/passwd"}), ["file"]),
])
def test_what_is_no_list(origin, history, answer, says):
    history.told[""] = itertools.repeat(answer)
    result = run(origin.url, fails=True)
    assert all(word in result.failure for word in [origin.url + BASE, *says]), result.failure


def test_a_list_that_is_cut_is_asked_for_again(origin, history):
    text = json.dumps(history.applications).encode()
    history.tell("", Answer(200, text, cut_after=50), Answer(200, iter([text]), length=len(text) + 1, cut_after=len(text)),
                 Answer(503, b"", {"Retry-After": "1"}))
    assert len(run(origin.url).names) == 4
    assert len(origin.requests) == 4 and origin.requests[3].at - origin.requests[2].at >= 1.0


def test_a_redirect_is_followed(origin, history):
    history.tell("/local-2/logs", Answer(302, b"", {"Location": BASE + "/app-1/2/logs"}))
    result = run(origin.url, "--name", names(origin, "/local-2/logs")[0])
    assert list(result.digests.values()) == [sha256(history.logs["/app-1/2/logs"])]


def test_a_redirect_never_leads_from_tls_to_plain(origin, tmp_path):
    both, certificate = self_signed(tmp_path)
    with serving(lambda _: Answer(302, b"", {"Location": origin.url + BASE}), tls=both) as secure:
        assert "http" in run(secure.url, "--ca-file", certificate, fails=True).failure
    assert not origin.requests
    with serving(lambda _: Answer(302, b"", {"Location": origin.url + BASE})) as plain:
        assert len(run(plain.url).names) == 4


def test_an_archive_that_was_cut_is_not_begun_anew_in_the_middle(origin, history):
    log = archive(random.Random(7).randbytes(2_000_000))
    history.tell("/local-2/logs", Answer(200, log, cut_after=1_000_000), Answer(200, log))
    result = run(origin.url, "--name", names(origin, "/local-2/logs")[0], fails=True)
    assert "cut after 1000000 bytes" in result.failure and len(origin.requests) == 1


@pytest.mark.parametrize("answer, says", [
    (Answer(200, b"<html>Log in</html>"), ["no zip archive", "proxy"]),
    (Answer(200, b""), ["no zip archive"]),
    (Answer(404, b"gone"), ["status 404", "deleted the log"]),
    (Answer(200, archive("x" * 2_000_000), cut_after=1_000_000), ["cut after 1000000 bytes"]),
    (Answer(302, b"", {"Location": BASE + "/local-2/logs"}), ["redirects"]),
])
def test_what_is_no_archive(origin, history, answer, says):
    history.told["/local-2/logs"] = itertools.repeat(answer)
    result = run(origin.url, "--read", fails=True)
    assert len(result.objects) == 3
    assert all(word in result.failure for word in [names(origin, "/local-2/logs")[0], *says]), result.failure


def test_an_archive_without_end_costs_no_memory(origin, history):
    log = b"PK" + random.Random(4).randbytes(65534)
    n = 300 if SANITIZED else 1600
    history.tell("/local-2/logs", Answer(200, itertools.repeat(log, n), length=None))
    result = run(origin.url, "--name", names(origin, "/local-2/logs")[0])
    assert result.objects[0]["read"]["bytes"] == n * len(log)
    assert SANITIZED or result.peak_rss_kib < 24_000


@pytest.mark.parametrize("url", ["http://", "http://x y", "http://user@x", "http://x/?a", "ftp://x", ""])
def test_urls_of_no_server(url):
    assert "http://HOST:18080" in run(url or "nothing", fails=True).failure


def test_another_server_is_not_asked(origin):
    assert "is not of" in run(origin.url, "--name", origin.url + "1/api/v1/applications/x/logs", fails=True).failure
