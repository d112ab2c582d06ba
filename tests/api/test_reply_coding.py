"""Replies that are compressed because the request accepts gzip: their bytes, their tags, and which are left plain."""
import gzip
import json

import pytest

CLUSTER = "/v1/clusters/packed"
LARGE = {"executors": 40, "description": "d" * 400, "labels": {"label-%d" % i: "value " * 20 for i in range(12)}}
RUN = {"problem_size": 8, "executors": 2, "cores_per_executor": 2, "duration_s": 16.5}


def raw(client, path, accept, **headers):
    """(reply, body as it was sent)"""
    reply = client.session.get(client.service.base_url + path, stream=True, timeout=60,
                               headers={"Authorization": "Bearer " + client.token, "Accept-Encoding": accept, **headers})
    return reply, reply.raw.read(decode_content=False)


@pytest.fixture
def runs(client, name):
    for i in range(60):
        client.post("/v1/applications/%s/runs" % name, dict(RUN, started_at="2026-01-05T10:%02d:00Z" % i), 201)
    return "/v1/applications/%s/runs" % name


@pytest.mark.parametrize("accept", ["gzip", "br, gzip;q=0.5", "*", "GZIP"])
def test_a_large_reply_is_packed_if_the_request_accepts_it(client, runs, accept):
    plain, plain_bytes = raw(client, runs, "identity")
    packed, packed_bytes = raw(client, runs, accept)
    assert packed.headers["Content-Encoding"] == "gzip" and "Content-Encoding" not in plain.headers
    assert len(packed_bytes) < len(plain_bytes) / 5 and int(packed.headers["Content-Length"]) == len(packed_bytes)
    assert gzip.decompress(packed_bytes) == plain_bytes
    assert "Accept-Encoding" in plain.headers["Vary"] and "Accept-Encoding" in packed.headers["Vary"]


@pytest.mark.parametrize("accept", ["", "identity", "br", "gzip;q=0", "gzip;a=b;q=0", "*;q=0", "gzip;q=0, *", "gzipp"])
def test_other_requests_get_plain_bytes(client, runs, accept):
    reply, body = raw(client, runs, accept)
    assert "Content-Encoding" not in reply.headers and json.loads(body)["items"]


def test_a_small_reply_stays_plain(client):
    reply, body = raw(client, "/v1/applications?limit=1&fields=name", "gzip")
    assert "Content-Encoding" not in reply.headers and json.loads(body)


def test_the_least_size_is_a_setting(make_service):
    service = make_service()
    service.start(PROVISOR_REPLY_PACK_BYTES_MIN=1000000000)
    client = service.client(service.token("packing"))
    reply, _ = raw(client, "/openapi.json", "gzip")
    assert reply.headers["Content-Encoding"] == "gzip"  # was packed when the program was built
    reply, body = raw(client, "/metrics", "gzip")
    assert "Content-Encoding" not in reply.headers and len(body) > 10000


def test_metrics_are_packed(client):
    reply, body = raw(client, "/metrics", "gzip")
    assert reply.headers["Content-Encoding"] == "gzip" and b"provisor_build_info" in gzip.decompress(body)


def test_the_tag_of_a_packed_reply_names_the_same_version(client):
    made = client.put(CLUSTER, LARGE, {200, 201})
    plain, _ = raw(client, CLUSTER, "identity")
    packed, body = raw(client, CLUSTER, "gzip")
    tag, packed_tag = plain.headers["ETag"], packed.headers["ETag"]
    assert len(body) < 1000 and packed_tag == tag[:-1] + '-gzip"' and made.headers["ETag"] == packed_tag
    for accept in ("gzip", "identity"):
        for known in (tag, packed_tag, "W/" + packed_tag):
            reply, body = raw(client, CLUSTER, accept, **{"If-None-Match": known})
            assert (reply.status_code, body) == (304, b"") and "Content-Encoding" not in reply.headers
            assert reply.headers["ETag"] == known.removeprefix("W/") and reply.headers["Vary"] == "Accept-Encoding"
    reply, _ = raw(client, CLUSTER, "identity", **{"If-None-Match": '"nope-gzip", ' + tag})
    assert (reply.status_code, reply.headers["ETag"]) == (304, tag), "the tag that the client has"
    client.put(CLUSTER, dict(LARGE, executors=41), 200, headers={"If-Match": packed_tag})
    client.put(CLUSTER, LARGE, 412, headers={"If-Match": packed_tag})
    client.put(CLUSTER, LARGE, 412, headers={"If-Match": "W/" + packed_tag})


def test_an_export_is_packed_piece_by_piece(client, runs):
    plain, plain_bytes = raw(client, runs + "/export", "identity")
    packed, packed_bytes = raw(client, runs + "/export", "gzip")
    assert packed.headers["Content-Encoding"] == "gzip" and packed.headers["Transfer-Encoding"] == "chunked"
    assert gzip.decompress(packed_bytes) == plain_bytes and plain_bytes.count(b"\n") == 60
    assert len(packed_bytes) < len(plain_bytes) / 4


def test_an_empty_export_is_a_whole_stream(client, name):
    made = client.post("/v1/applications/%s/runs" % name, RUN, 201).json()
    client.delete("/v1/applications/%s/runs/%s" % (name, made["id"]))
    reply, body = raw(client, "/v1/applications/%s/runs/export" % name, "gzip")
    assert reply.headers["Content-Encoding"] == "gzip" and gzip.decompress(body) == b""
