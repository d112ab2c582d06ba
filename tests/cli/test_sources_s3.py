"""The S3 source against a bucket that does as told (s3_stub.py): what is signed, listed and read, and each way to fail."""
import http.client
import io
import itertools
import pathlib
import random
import signal
import sys
import threading
import time

import pytest

sys.path.append(str(pathlib.Path(__file__).parent / "sources"))
import sigv4  # noqa: E402
from origin import Answer, serving  # noqa: E402
from s3_stub import CREDENTIALS, KEY, SECRET, Bucket, error, etag_of  # noqa: E402
from support import PATIENCE, SANITIZED, run, self_signed, sha256, start  # noqa: E402

LOG = random.Random(1).randbytes(1_000_000)
ODD_KEYS = ["plain", "a b", "a+b", "a%41b", "a&b<c>d", "quote'\"", "日本/ログ é", "eq=x/dt=2026-01-05", "(1)*!~", "q?h#x", "s;,:@$",
            "dots/../x/./y", "two//slashes", "tab\tand\nline", "back\\slash", "trailing.inprogress"]


def s3(origin, *words, url="s3://logs/", fails=False, **env):
    return run(url, "--endpoint", origin.url, *words, fails=fails, **{**CREDENTIALS, **env})


def read(bucket, *words, fails=False, **env):
    """(result, requests of objects) of a run that reads all of the bucket."""
    with serving(bucket) as origin:
        result = s3(origin, "--read", *words, fails=fails, **env)
        return result, [r for r in origin.requests if "list-type" not in r.query]


def test_the_check_of_signatures_agrees_with_the_example_of_aws():
    """"Examples: Signature Calculations in AWS Signature Version 4", GET Object."""
    head = http.client.parse_headers(io.BytesIO(
        b"Host: examplebucket.s3.amazonaws.com\r\nRange: bytes=0-9\r\n"
        b"x-amz-content-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\r\n"
        b"x-amz-date: 20130524T000000Z\r\n"
        b"Authorization: AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
        b"SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
        b"Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41\r\n\r\n"))
    who = ("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1")
    assert sigv4.fault("GET", "/test.txt", "", head, *who) is None
    assert sigv4.fault("GET", "/text.txt", "", head, *who) == "another signature"


@pytest.mark.parametrize("by_host", [False, True])
def test_keys_of_all_kinds_are_listed_and_read(by_host):
    bucket = Bucket({key: key.encode() * 3 for key in ODD_KEYS}, by_host=by_host)
    with serving(bucket) as origin:
        where = "http://localhost:%d" % origin.port if by_host else origin.url
        result = run("s3://logs/", "--endpoint", where, "--read", *(["--host-style"] if by_host else []), **CREDENTIALS)
    assert not bucket.refusals
    assert result.digests == {"s3://logs/" + key: sha256(key.encode() * 3) for key in ODD_KEYS}


def test_what_an_object_is_called():
    listed = list_one("folder/app 1/events_1", b"xyz")
    assert listed == {"name": "s3://logs/folder/app 1/events_1", "folder": "s3://logs/folder/app 1", "file": "events_1",
                      "identity": etag_of(b"xyz").strip('"'), "bytes": 3, "modified": "2026-01-05T10:00:00Z", "unfinished": False}
    assert list_one("app-1.inprogress", b"xyz")["unfinished"] is True
    assert list_one("app-1", b"xyz")["folder"] == "s3://logs"


def list_one(key, content):
    with serving(Bucket({key: content, "folder/": b""})) as origin:
        return s3(origin).objects[0]


@pytest.mark.parametrize("prefix", ["a b+c/é&=%2F", "x/y", "it's (1)*"])
def test_a_prefix_is_asked_for_as_it_is_written(prefix):
    with serving(Bucket({prefix + "1": b"1", prefix + "/2": b"2", "other": b"3"})) as origin:
        assert s3(origin, url="s3a://logs/" + prefix).names == ["s3://logs/%s/2" % prefix, "s3://logs/%s1" % prefix]


def test_pages_follow_each_other_and_end_where_nothing_more_is_wanted():
    bucket = Bucket({"logs/%05d" % i: b"x" for i in range(2500)})
    with serving(bucket) as origin:
        assert s3(origin).names == ["s3://logs/logs/%05d" % i for i in range(2500)]
        assert len(origin.requests) == 3 and "max-keys" not in origin.requests[0].query
        assert len({r.connection for r in origin.requests}) == 1
        del origin.requests[:]
        assert len(s3(origin, "--page-size", 100, "--stop-after", 150).names) == 150
        assert [r.parameters["max-keys"] for r in origin.requests] == ["100", "100"]


def test_a_page_holds_no_memory_for_the_next():
    def peak(n):
        with serving(Bucket({"%06d" % i + "x" * 500: b"x" for i in range(n)})) as origin:
            return s3(origin, "--stop-after", n).peak_rss_kib

    few, many = peak(1000), peak(20_000)
    assert SANITIZED or many < few + 2048, (few, many)


def test_a_session_token_goes_along_and_is_signed():
    bucket = Bucket({"log": b"x"})
    token = "FwoGZXIvYXdzE" + "/+=" * 300
    result, requests = read(bucket, AWS_SESSION_TOKEN=token)
    assert result.names == ["s3://logs/log"] and not bucket.refusals
    assert requests[0].headers["X-Amz-Security-Token"] == token


def test_without_credentials_nothing_is_signed():
    bucket = Bucket({"log": b"x"}, signed=False)
    with serving(bucket) as origin:
        assert run("s3://logs", "--endpoint", origin.url, "--read").names == ["s3://logs/log"]
        assert s3(origin, "--read", "--anonymous").names == ["s3://logs/log"]
        assert not any("Authorization" in r.headers for r in origin.requests)
        bucket.fail("log", error(403, "AccessDenied"))
        assert "There are no credentials" in run("s3://logs", "--endpoint", origin.url, "--read", fails=True).failure


@pytest.mark.parametrize("where", ["file", "config", "profile"])
def test_credentials_and_region_of_the_files_of_aws(tmp_path, where):
    keys = "aws_access_key_id = %s\naws_secret_access_key=%s\naws_session_token = %s\n" % (KEY, SECRET, "t" * 1200)
    (tmp_path / ".aws").mkdir()
    section = "work" if where == "profile" else "default"
    credentials = "# mine\n[other]\naws_access_key_id = x\n[%s]\n%s" % (section, keys)
    config = "[%s]\nregion = eu-west-1\ns3 =\n  region = nowhere\n" % ("profile work" if where == "profile" else "default")
    (tmp_path / ".aws" / "credentials").write_text("[other]\n" if where == "config" else credentials)
    (tmp_path / ".aws" / "config").write_text(config + keys if where == "config" else config)
    bucket = Bucket({"log": b"x"}, region="eu-west-1")
    env = {"HOME": str(tmp_path), **({"AWS_PROFILE": "work"} if where == "profile" else {})}
    with serving(bucket) as origin:
        result = run("s3://logs", "--read", AWS_ENDPOINT_URL=origin.url, **env)
        assert result.names == ["s3://logs/log"] and not bucket.refusals
        assert origin.requests[0].headers["X-Amz-Security-Token"] == "t" * 1200


@pytest.mark.parametrize("env, config, says", [
    ({"AWS_PROFILE": "missing"}, "", ["missing", "in none of the files"]),
    ({"AWS_ACCESS_KEY_ID": "x"}, "", ["secret access key is missing"]),
    ({}, "[default]\nsso_session = work\n", ["default", "export-credentials"]),
    ({"AWS_WEB_IDENTITY_TOKEN_FILE": "/x"}, "", ["AWS_WEB_IDENTITY_TOKEN_FILE", "export-credentials"]),
    ({"AWS_REGION": "no where"}, "", ["AWS_REGION", "no where"]),
    ({"AWS_ENDPOINT_URL": "ftp://x"}, "", ["ftp://x", "https://HOST"]),
])
def test_settings_that_do_not_do(tmp_path, env, config, says):
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "config").write_text(config)
    result = run("s3://logs", HOME=str(tmp_path), fails=True, **env)
    assert all(word in result.failure for word in says), result.failure
    assert result.failures[0]["failure"]["status"] == 2


@pytest.mark.parametrize("url", ["s3://", "s3:///x", "s3://a b/x", "s3://x@evil/", "s3://.x/"])
def test_urls_of_no_bucket(url):
    result = run(url, fails=True, **CREDENTIALS)
    assert url in result.failure and "s3://BUCKET/PREFIX" in result.failure


@pytest.mark.parametrize("answer, says", [
    (error(403, "AccessDenied"), ["s3:ListBucket", KEY]),
    (error(404, "NoSuchBucket"), ["NoSuchBucket", "name of the bucket"]),
    (error(400, "ExpiredToken"), ["ExpiredToken", "new credentials"]),
    (error(403, "RequestTimeTooSkewed"), ["clock"]),
    (error(301, "PermanentRedirect", headers={"x-amz-bucket-region": "eu-west-1", "Location": "http://127.0.0.1:1/"}),
     ["AWS_REGION=eu-west-1"]),
    (error(400, "AuthorizationHeaderMalformed", more="<Region>ap-south-1</Region>"), ["AWS_REGION=ap-south-1"]),
    (Answer(307, b"", {"Location": "http://127.0.0.1:1/"}), ["status 307"]),
    (Answer(403, b"<html>Log in</html>"), ["status 403", "proxy"]),
    (error(403, "AccessDenied", "\x1b[2J".replace("\x1b", "&#x7f;")), ["?[2J"]),
    (Answer(200, b"<html><body>Log in</body></html>"), ["not a list of S3", "proxy"]),
    (Answer(200, b"no XML at all"), ["not a list of S3", "AWS_ENDPOINT_URL"]),
    (Answer(200, b"<ListBucketResult><Contents><Key>x"), ["not a list of S3"]),
    (Answer(200, b"<ListBucketResult><Contents><Size>1</Size></Contents></ListBucketResult>"), ["no Key"]),
    (Answer(200, b"<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"), ["no token"]),
    (Answer(200, b'<!DOCTYPE x [<!ENTITY a "aaaa">]><ListBucketResult>&a;</ListBucketResult>'), ["document type"]),
    (Answer(200, b"<ListBucketResult>" + b"<Contents><Key>" + b"k" * 20_000 + b"</Key></Contents></ListBucketResult>"), ["too long"]),
])
def test_a_list_that_is_refused_or_none(answer, says):
    bucket = Bucket()
    bucket.fail("", answer, forever=True)
    with serving(bucket) as origin:
        result = s3(origin, fails=True)
        assert len(origin.requests) == 1
    assert all(word in result.failure for word in ["s3://logs/", *says]), result.failure
    assert not any(word in result.failure for word in (SECRET, "\x7f"))


def test_a_page_that_comes_again_and_again():
    bucket = Bucket({"%d" % i: b"" for i in range(2)})
    same = Answer(200, b"<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t=1</NextContinuationToken>"
                       b"<Contents><Key>k</Key></Contents></ListBucketResult>")
    bucket.fail("", same, forever=True)
    with serving(bucket) as origin:
        assert "the same again" in s3(origin, fails=True).failure
        assert len(origin.requests) == 2


@pytest.mark.parametrize("status", [200, 403])
def test_a_list_without_end(status):
    bucket = Bucket()
    bucket.fail("", Answer(status, itertools.repeat(b" " * 65536)), forever=True)
    with serving(bucket) as origin:
        result = s3(origin, fails=True)
    assert ("longer than" if status == 200 else "status 403") in result.failure
    assert SANITIZED or result.peak_rss_kib < 80_000


def test_objects_that_are_denied_leave_the_others_alone():
    bucket = Bucket({"a": b"1", "b": b"2", "c": b"3", "d": b"4"})
    bucket.fail("b", error(403, "AccessDenied"), forever=True)
    bucket.fail("c", error(403, "InvalidObjectState"), forever=True)
    result, _ = read(bucket, fails=True)
    assert result.names == ["s3://logs/a", "s3://logs/d"]
    denied, archived = ["%(what)s %(next)s" % line["failure"] for line in result.failures]
    assert denied.startswith("s3://logs/b: AccessDenied") and "s3:GetObject" in denied and KEY in denied
    assert "s3://logs/c" in archived and "restore" in archived


def test_what_is_gone_since_it_was_listed():
    bucket = Bucket({"a": b"1"})
    bucket.fail("a", error(404, "NoSuchKey"))
    assert "deleted" in read(bucket, fails=True)[0].failure


# --- again -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [error(503, "SlowDown"), error(500, "InternalError"), error(400, "RequestTimeout"), Answer(429)])
def test_what_may_pass_is_tried_again(answer):
    bucket = Bucket({"a": b"1"})
    bucket.fail("a", answer, answer)
    bucket.fail("", answer)
    result, requests = read(bucket)
    assert result.names == ["s3://logs/a"] and len(requests) == 3


def test_retry_after_is_honoured():
    bucket = Bucket({"a": b"1"})
    slow = error(503, "SlowDown", headers={"Retry-After": "2"})
    bucket.fail("a", slow)
    _, (first, second) = read(bucket)
    assert second.at - first.at >= 2.0
    bucket.fail("a", error(503, "SlowDown", headers={"Retry-After": "3600"}), forever=True)
    result, requests = read(bucket, fails=True)
    assert len(requests) == 1 and "3600 s" in result.failure


def test_attempts_end():
    bucket = Bucket({"a": b"1"})
    bucket.fail("a", error(503, "SlowDown"), forever=True)
    result, requests = read(bucket, "--attempts", 4, fails=True)
    assert len(requests) == 4 and "SlowDown" in result.failure and "attempts: 4" in result.failure


def test_nobody_answers():
    with serving(Bucket()) as origin:
        url = origin.url
    result = run("s3://logs", "--endpoint", url, fails=True, **CREDENTIALS)
    assert "s3://logs/: " in result.failure and "attempts: 5" in result.failure


def cut_at(n):
    def cut(_, usual):
        usual.cut_after = n
        return usual
    return cut


def test_what_is_cut_is_taken_up_again_behind_the_last_byte():
    bucket = Bucket({"log": LOG})
    bucket.fail("log", cut_at(300_000), cut_at(1), cut_at(450_000))
    result, requests = read(bucket)
    assert result.digests == {"s3://logs/log": sha256(LOG)}
    assert [r.range for r in requests] == [None, "bytes=300000-", "bytes=300001-", "bytes=750001-"]
    assert all(r.headers["If-Match"] == etag_of(LOG) for r in requests)
    assert not bucket.refusals


def test_cut_again_and_again_with_progress():
    bucket = Bucket({"log": LOG})
    bucket.fail("log", cut_at(70_000), forever=True)
    result, requests = read(bucket)
    assert result.digests == {"s3://logs/log": sha256(LOG)} and len(requests) == 15
    bucket.fail("log", cut_at(100), forever=True)
    result, requests = read(bucket, fails=True)
    assert len(requests) == 5 and "cut after" in result.failure


def test_cut_before_anything_arrived():
    bucket = Bucket({"log": LOG})
    bucket.fail("log", cut_at(0), cut_at(0))
    result, requests = read(bucket)
    assert result.digests == {"s3://logs/log": sha256(LOG)} and [r.range for r in requests] == [None] * 3


def test_silence_counts_as_cut():
    bucket = Bucket({"log": LOG})

    def stall(_, usual):
        usual.stall_after = 5000
        return usual

    bucket.fail("log", stall)
    result, requests = read(bucket, "--stall-s", 1)
    assert result.digests == {"s3://logs/log": sha256(LOG)} and requests[1].range == "bytes=5000-"
    assert requests[1].at - requests[0].at < 20


@pytest.mark.parametrize("while_", ["it waits for bytes", "it waits for the next attempt"])
def test_what_waits_is_interrupted(while_):
    bucket = Bucket({"log": LOG})
    asked = threading.Event()

    def wait(_, usual):
        asked.set()
        usual.stall_after = 5000
        return usual if while_ == "it waits for bytes" else error(503, "SlowDown", headers={"Retry-After": "29"})

    bucket.fail("log", wait, forever=True)
    with serving(bucket) as origin:
        process = start("s3://logs", "--endpoint", origin.url, "--read", **CREDENTIALS)
        assert asked.wait(PATIENCE)
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1 and "s3://logs/log: interrupted" in out and not err
    assert time.monotonic() - began < 10


# --- changed ---------------------------------------------------------------------------------------

OTHER = random.Random(2).randbytes(len(LOG))


def replaced(bucket, honest):
    """The object is another from the second request on; honest: If-Match is obeyed."""
    def then(_, usual):
        bucket.objects["log"] = OTHER
        usual.cut_after = 400_000
        return usual

    def wrong(request, usual):
        return usual if honest else Answer(206, OTHER[400_000:], {
            "ETag": etag_of(OTHER), "Content-Range": "bytes 400000-%d/%d" % (len(OTHER) - 1, len(OTHER))})

    bucket.fail("log", then, wrong)


def whole(_, usual):
    return Answer(200, LOG, {"ETag": etag_of(LOG)})


def another_range(_, usual):
    usual.headers["Content-Range"] = "bytes 399999-%d/%d" % (len(LOG) - 1, len(LOG))
    return usual


def longer(_, usual):
    usual.headers["Content-Range"] = "bytes 400000-%d/%d" % (len(LOG), len(LOG) + 1)
    usual.body += b"x"
    return usual


@pytest.mark.parametrize("how", ["412", "another ETag", "200", "another range", "longer", "gone"])
def test_an_object_that_changes_while_it_is_read_is_never_mixed(how):
    bucket = Bucket({"log": LOG})
    if how in ("412", "another ETag"):
        replaced(bucket, honest=how == "412")
    else:
        bucket.fail("log", cut_at(400_000), {"200": whole, "another range": another_range, "longer": longer,
                                             "gone": error(404, "NoSuchKey")}[how])
    result, requests = read(bucket, fails=True)
    assert not result.objects and len(requests) == 2
    assert ("NoSuchKey" if how == "gone" else "s3://logs/log: changed while it was read") in result.failure
    assert how != "200" or "all of it came" in result.failure


@pytest.mark.parametrize("content", [OTHER, LOG + b"x", LOG[:-1], b""])
@pytest.mark.parametrize("obeys", [True, False])
def test_an_object_that_is_another_than_was_listed_is_not_read(content, obeys):
    bucket = Bucket({"log": LOG})
    bucket.fail("log", lambda request, usual: error(412, "PreconditionFailed") if obeys else Answer(
        200, content, {"ETag": etag_of(content)}))
    result, _ = read(bucket, fails=True)
    assert "changed since it was listed" in result.failure


def test_without_an_etag_the_length_counts():
    bucket = Bucket({"log": LOG})
    bucket.fail("log", Answer(200, LOG + b"more", length=None))
    with serving(bucket) as origin:
        words = ("--name", "s3://logs/log", "--bytes", len(LOG))
        assert "longer than it was said" in s3(origin, *words, fails=True).failure
        bucket.fail("log", Answer(200, LOG[:-1], length=None))
        assert s3(origin, *words).digests == {"s3://logs/log": sha256(LOG)}
        assert origin.requests[-1].range == "bytes=%d-" % (len(LOG) - 1)


# --- much ------------------------------------------------------------------------------------------


def test_memory_does_not_grow_with_an_object_however_slowly_it_is_read():
    piece = LOG[:65536]
    n = 1600 if not SANITIZED else 400
    bucket = Bucket({"log": b""})
    bucket.fail("log", lambda request, usual: Answer(200, itertools.repeat(piece, n), length=n * len(piece)), forever=True)
    with serving(bucket) as origin:
        words = ("--name", "s3://logs/log", "--bytes", n * len(piece))
        result = s3(origin, *words)
        assert result.objects[0]["read"] == {"bytes": n * len(piece), "sha256": sha256(piece * n)}
        slow = s3(origin, *words, "--chunk", 1_000_000, "--pause-ms", 2)
        assert slow.digests == result.digests
    if not SANITIZED:
        assert max(result.peak_rss_kib, slow.peak_rss_kib) < 24_000


def test_many_threads_read_at_a_time():
    contents = {"%03d" % i: random.Random(i).randbytes(i * 997) for i in range(150)}
    bucket = Bucket(contents)
    for i in range(0, 150, 7):
        bucket.fail("%03d" % i, cut_at(i * 500))
    result, requests = read(bucket, "--threads", 8)
    assert result.digests == {"s3://logs/" + key: sha256(content) for key, content in contents.items()}
    assert len({r.connection for r in requests}) < 60  # connections are used again


def test_what_is_read_while_libcurl_asks_for_what_to_send():
    bucket = Bucket({"a": LOG, "b": OTHER, "c": b""})
    bucket.fail("b", cut_at(400_000), cut_at(100_000))
    with serving(bucket) as origin:
        result = s3(origin, "--read", "--threads", 2, "--forward", origin.url)
        assert [o["read"]["bytes"] for o in sorted(result.objects, key=lambda o: o["name"])] == [len(LOG), len(OTHER), 0]
        assert origin.bodies == {"/0": LOG, "/1": OTHER, "/2": b""}
        replaced(bucket, honest=True)
        bucket.objects = {"log": LOG}
        origin.bodies.clear()
        assert "changed while it was read" in s3(origin, "--read", "--forward", origin.url, fails=True).failure
        assert not origin.bodies


def test_tls_is_verified(tmp_path):
    both, certificate = self_signed(tmp_path)
    with serving(Bucket({"log": LOG}), tls=both) as origin:
        assert s3(origin, "--read", "--ca-file", certificate).digests == {"s3://logs/log": sha256(LOG)}
        result = s3(origin, fails=True)
        assert "certificate" in result.failure and "attempts" not in result.failure
        assert "absent" in s3(origin, "--ca-file", tmp_path / "absent", fails=True).failure
