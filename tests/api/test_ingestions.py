"""GET /v1/ingestions: every log that came or was refused, on every road, and what closes a refusal."""
import concurrent.futures
import gzip
import hashlib
import io
import re
import subprocess
import urllib.parse
import uuid
import zipfile

import pytest

from test_eventlogs import runs_of, tiny_log
from test_maintenance import admin, maintain
from test_named_eventlogs import OCTETS, named

SECRET = "AKIAIOSFODNN7EXAMPLE"


@pytest.fixture
def team(service):
    token = service.token("sent-" + uuid.uuid4().hex[:8])
    client = service.client(token)
    client.token = token
    return client


def send(client, log, status=201, path="/v1/eventlogs", source=None):
    headers = dict(OCTETS, **({} if source is None else {"X-Log-Source": urllib.parse.quote(source, safe="")}))
    return client.request("POST", path, status, data=log, headers=headers)


def records(client, query=""):
    return client.get("/v1/ingestions" + query).json()["items"]


def digest(log):
    return hashlib.blake2b(log, digest_size=32).hexdigest()


def log_of(app, name="etl"):
    return named(name, app=app)


# --- every road ---

def test_an_accepted_log_says_who_sent_what(team):
    log = log_of("app-1")
    reply = send(team, log, source="/var/log/spark/app-1.zstd")
    (one,) = records(team)
    assert one["outcome"] == "stored" and one["attempts"] == 1 and one["at"] == one["last_at"]
    assert one["road"] == "log_name" and one["application"] == "etl" and one["spark_application_id"] == "app-1"
    assert one["run_id"] == reply.json()["id"] and one["log_digest"] == digest(log) and one["bytes"] == len(log)
    assert one["source"] == "app-1.zstd", "the folder goes, by the policy for paths"
    assert one["request_id"] == reply.headers["X-Request-Id"] and one["actor"] and one["token_id"]
    assert [one[k] for k in ("problem", "code", "reason", "cure", "closed_at")] == [None] * 5 and one["open"] is False


def test_the_call_that_names_the_application_is_a_road_of_its_own(team):
    send(team, log_of("app-1"), path="/v1/applications/mine/eventlogs")
    send(team, b"{}\n", 422, path="/v1/applications/mine/eventlogs")
    refused, stored = records(team)
    assert [r["road"] for r in (refused, stored)] == ["application"] * 2
    assert [r["application"] for r in (refused, stored)] == ["mine"] * 2
    assert refused["code"] == "no_application_start" and refused["log_digest"] == digest(b"{}\n")


def test_a_bundle_is_one_log(team):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("events_1_app-1", log_of("app-1"))
    send(team, archive.getvalue())
    two = io.BytesIO()
    with zipfile.ZipFile(two, "w") as file:
        for app in "ab":
            file.writestr(app + "/eventLogs-app-" + app, log_of("app-" + app))
    assert send(team, two.getvalue(), None).status_code in (415, 422)
    refused, stored = records(team)
    assert stored["bytes"] == len(archive.getvalue()) and stored["outcome"] == "stored"
    assert refused["outcome"] == "refused" and refused["reason"] and refused["cure"]


def test_an_import_is_recorded_and_a_dry_run_is_not(service, team, tmp_path):
    (tmp_path / "good.log").write_bytes(log_of("app-1"))
    (tmp_path / "bad.log").write_bytes(named("etl " + SECRET, app="app-2"))
    token = tmp_path / "token"
    token.write_text(team.token)
    folder = tmp_path / "logs"
    folder.mkdir()
    for name in ("good.log", "bad.log"):
        (tmp_path / name).rename(folder / name)
    command = [service.program, "import", "--token-file", token, folder]
    assert subprocess.run(command + ["--dry-run"], env=service.env(), check=False).returncode == 1
    assert records(team) == []
    assert subprocess.run(command, env=service.env(), check=False).returncode == 1
    found = {r["source"]: r for r in records(team)}
    assert {s: r["outcome"] for s, r in found.items()} == {"good.log": "stored", "bad.log": "refused"}
    assert {r["road"] for r in found.values()} == {"import"}
    assert found["bad.log"]["code"] == "name_suspicious" and found["bad.log"]["spark_application_id"] == "app-2"


def test_a_preview_sends_nothing(team):
    team.post("/v1/name-rules/preview", {"names": ["etl-2026-01-05"]}, 200)
    assert records(team) == []


@pytest.mark.parametrize("path,body,status,problem", [
    ("/v1/eventlogs", b"", 422, "invalid"),
    ("/v1/eventlogs?executors=0", b"{}", 422, "invalid"),
    ("/v1/eventlogs", b"PK\x03\x04 no zip", None, None),
    ("/v1/eventlogs", gzip.compress(b"x" * 100)[:-12] + b"\xff" * 12, None, None),
])
def test_what_is_refused_at_any_step_is_recorded(team, path, body, status, problem):
    reply = send(team, body, status, path)
    assert 400 <= reply.status_code < 500
    (one,) = records(team)
    assert one["outcome"] == "refused" and one["open"] is True
    assert reply.json()["type"].endswith("/" + one["problem"]) and (problem is None or one["problem"] == problem)
    assert one["reason"] and one["cure"].endswith(".")
    assert one["request_id"] == reply.headers["X-Request-Id"]


def test_a_log_that_is_too_large_is_recorded_while_it_is_sent(make_service):
    small = make_service(PROVISOR_EVENTLOG_BYTES_MAX=1048576)
    token = small.token("alpha")
    small.start()
    client = small.client(token)
    send(client, b"x" * 2000000, 413, source="known")       # by its length, before a byte is read
    send(client, iter([b"{}\n" * 20000] * 100), 413, source="streamed")  # while it arrives, on a compute worker
    assert [(r["problem"], r["source"]) for r in records(client)] == [("body_too_large", "streamed"), ("body_too_large", "known")]
    assert all("eventlog_bytes_max" in r["reason"] and "setting" in r["cure"] for r in records(client))


def test_what_says_nothing_about_the_log_is_not_recorded(service, team):
    reader = service.client(service.token("sent-reader-" + uuid.uuid4().hex[:8], scopes="read"))
    send(reader, log_of("app-1"), 403)
    assert records(reader) == []


# --- what closes a refusal ---

def refuse(team, app="app-1", source=None):
    log = named("etl " + SECRET, app=app)
    send(team, log, 422, source=source)
    return log


def test_the_same_log_with_a_name_closes_the_refusal(team):
    log = refuse(team)
    (one,) = records(team, "?open=true")
    assert "--application NAME" in one["cure"] and one["application"] is None
    run = send(team, log, path="/v1/applications/etl/eventlogs").json()
    assert records(team, "?open=true") == []
    (closed,) = records(team, "?outcome=refused")
    assert closed["id"] == one["id"] and closed["open"] is False
    assert closed["run_id"] == run["id"] and closed["closed_at"] >= closed["last_at"]


def test_a_corrected_log_of_the_same_application_id_closes_it(team):
    refuse(team)
    send(team, log_of("app-2"))
    assert len(records(team, "?open=true")) == 1, "another application"
    send(team, log_of("app-1"))
    assert records(team, "?open=true") == []


def test_a_whole_log_from_the_same_source_closes_it(team):
    log = log_of("app-1")
    send(team, log[len(log) // 2:].split(b"\n", 1)[1], 422, source="a/app-1")
    send(team, b"{}\n", 422)
    assert len(records(team, "?open=true")) == 2
    send(team, log, source="a/app-1")
    assert [r["source"] for r in records(team, "?open=true")] == [None]


def test_a_log_that_is_cut_waits_for_the_whole_one(team):
    """Before its start nothing of it can be stored, later it is an unfinished run. Of what is not a log nothing is missed."""
    log = log_of("app-1")
    for cut, source in ((log[:50], "plain"), (gzip.compress(log)[:12], "gzip"), (gzip.compress(b"time,load\n1,2\n" * 5000)[:-9], "load.csv.gz")):
        send(team, cut, 422, source=source)
    waiting = records(team, "?open=true")
    assert [r["source"] for r in waiting] == ["gzip", "plain"] and {r["code"] for r in waiting} == {"truncated"}
    assert "the gzip stream ends in the middle of a frame" in waiting[0]["reason"] and "after its end" in waiting[0]["cure"]
    assert send(team, log[:log.index(b"ApplicationEnd")], source="plain").json()["succeeded"] is False
    send(team, log, 200, source="gzip")
    assert records(team, "?open=true") == []


def test_if_nothing_else_is_known_the_next_log_of_the_application_closes_it(team):
    """As curl sends: no source, and of garbage no id."""
    path = "/v1/applications/mine/eventlogs"
    send(team, b"garbage\n", 422, path=path)
    send(team, b"rubbish\n", 422, path="/v1/applications/other/eventlogs")
    assert [r["open"] for r in records(team)] == [True, True]
    run = send(team, log_of("app-1"), path=path).json()
    refused = {r["application"]: r for r in records(team, "?outcome=refused")}
    assert (refused["mine"]["open"], refused["mine"]["run_id"], refused["other"]["open"]) == (False, run["id"], True)


def test_a_file_that_lay_beside_the_logs_is_not_missed(team):
    send(team, b"import pyspark\n", 422, source="logs/job.py")
    (one,) = records(team)
    assert one["outcome"] == "refused" and one["code"] == "no_application_start" and one["open"] is False and one["closed_at"] == one["last_at"]
    assert records(team, "?open=true") == []
    # A part of a log is missed, even one that holds no more than its first line.
    send(team, b'{"Event":"DBCEventLoggingListenerMetadata","Spark Version":"3.1.2","Rollover Number":3}\n', 422, source="logs/eventlog")
    assert [r["source"] for r in records(team, "?open=true")] == ["eventlog"]


def test_another_team_closes_nothing_and_sees_nothing(service, team):
    log = refuse(team, source="app-1")
    other = service.client(service.token("sent-other-" + uuid.uuid4().hex[:8]))
    send(other, log_of("app-1"), source="app-1")
    send(other, log, path="/v1/applications/etl-2/eventlogs", status=None)
    assert len(records(team, "?open=true")) == 1
    assert all(r["outcome"] != "refused" for r in records(other))


def test_a_refusal_that_comes_back_is_open_again(team):
    log = refuse(team)
    send(team, log, path="/v1/applications/etl/eventlogs")
    send(team, log, 422)
    (again,) = records(team, "?open=true")
    assert again["attempts"] == 2 and again["at"] < again["last_at"] and again["closed_at"] is None
    assert [r["id"] for r in records(team)][0] == again["id"], "the latest attempt is first"


# --- bounds ---

def test_equal_attempts_share_a_record(team):
    for _ in range(5):
        refuse(team)
    log = log_of("app-9")
    send(team, log)
    for _ in range(3):
        send(team, log, 200)
    assert [(r["outcome"], r["attempts"]) for r in records(team)] == [("duplicate", 3), ("stored", 1), ("refused", 5)]


def test_at_once_they_share_it_too(team):
    log = named("etl " + SECRET)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: send(team, log, 422), range(24)))
    assert [(r["outcome"], r["attempts"]) for r in records(team)] == [("refused", 24)]


def test_garbage_in_a_loop_does_not_fill_the_disk(make_service):
    few = make_service(PROVISOR_INGESTIONS_REFUSED_MAX=5)
    token = few.token("alpha")
    few.start()
    client = few.client(token)
    send(client, log_of("app-1"))
    for i in range(12):
        send(client, b'{"garbage": %d}\n' % i, 422)
    assert [r["outcome"] for r in records(client)] == ["refused"] * 5 + ["stored"]
    assert [r["log_digest"] for r in records(client)][:5] == [digest(b'{"garbage": %d}\n' % i) for i in range(11, 6, -1)]


def test_refusals_at_once_do_not_wait_for_each_other(make_service):
    """Beyond the limit each of them deletes the oldest ones."""
    service = make_service(own_server=True, PROVISOR_INGESTIONS_REFUSED_MAX=20).start()
    client = service.client(service.token("alpha"))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: send(client, b"{} %d\n" % n, 422), range(400)))
    send(client, b"{} last\n", 422)
    assert len(records(client, "?limit=200")) == 20
    assert "deadlock" not in service.log.read_text(errors="replace")


def test_records_are_kept_as_long_as_the_audit(make_service):
    kept = make_service(PROVISOR_MAINTENANCE_INTERVAL_S=0)
    token = kept.token("alpha")
    kept.start()
    client = kept.client(token)
    send(client, log_of("app-1"))
    refuse(client, "app-2")
    age = ("UPDATE provisor.ingestion SET id = overlay(provisor.uuid7_floor(now() - %s * interval '1 day')::text"
           " PLACING right(id::text, 12) FROM 25)::uuid WHERE outcome = 'refused'")
    admin(kept, age, 39)
    assert maintain(kept, audit_retention_days=40)["ingestions"] == 0
    assert maintain(kept, audit_retention_days=0)["ingestions"] == 0, "0: for ever"
    assert maintain(kept, audit_retention_days=38)["ingestions"] == 1
    assert [r["outcome"] for r in records(client)] == ["stored"]
    admin(kept, age.replace("refused", "stored"), 29)
    assert maintain(kept, audit_retention_days=1)["ingestions"] == 0, "none younger than 30 days, as of the audit"


def test_an_application_takes_its_records_along(team):
    send(team, log_of("app-1"))
    send(team, log_of("app-2", "other"))
    team.request("DELETE", "/v1/applications/etl", 204)
    assert [r["application"] for r in records(team)] == ["other"]


def test_an_import_of_runs_is_no_log(team):
    team.request("POST", "/v1/applications/etl/runs/import", 422, data=b'{"nonsense": 1}\n', headers={"Content-Type": "application/x-ndjson"})
    assert records(team) == []


# --- privacy ---

@pytest.mark.parametrize("source", ["app-1 password=hunter2hunter2", SECRET, "https://joe:secretword@host/x?token=a8f3b2c1d4e5f6a7b8c9",
                                    "s3://AKey1:secretword@bucket/", "hdfs://u:secretword@nn:9000", "https://h/x?password=hunter2/hunter2"])
def test_no_credential_is_stored_or_shown(service, team, source):
    send(team, named("etl " + SECRET, app="app-1"), 422, source=source)
    (one,) = records(team)
    assert re.fullmatch("name:[0-9a-f]{16}", one["source"])
    stored = admin(service, "SELECT i::text FROM provisor.ingestion i", fetch=True)
    for word in (SECRET, "hunter2", "secretword", "a8f3b2c1d4e5f6a7b8c9"):
        assert all(word not in row for (row,) in stored), word
    send(team, log_of("app-7"), source=source)
    assert records(team, "?open=true") == [], "its hash is known again"


@pytest.mark.parametrize("policy,wanted", [("drop", "app-1"), ("hash", "path:[0-9a-f]{16}/app-1"), ("keep", "s3://bucket/logs/app-1")])
def test_folders_are_kept_by_the_policy_for_paths(make_service, policy, wanted):
    strict = make_service(PROVISOR_EVENTLOG_PATHS=policy)
    token = strict.token("alpha")
    strict.start()
    client = strict.client(token)
    send(client, log_of("app-1"), source="s3://bucket/logs/app-1")
    assert re.fullmatch(wanted, records(client)[0]["source"])


def test_a_source_that_is_not_text_is_refused(team):
    reply = team.request("POST", "/v1/eventlogs", 422, data=log_of("app-1"), headers=dict(OCTETS, **{"X-Log-Source": "%ff%"}))
    assert reply.json()["errors"][0]["header"] == "X-Log-Source"


# --- the list ---

def test_filters(team):
    send(team, log_of("app-1"))
    send(team, log_of("app-2", "other"))
    refuse(team, "app-3")
    assert [r["application"] for r in records(team, "?outcome=stored")] == ["other", "etl"]
    assert [r["spark_application_id"] for r in records(team, "?application=other")] == ["app-2"]
    assert [r["outcome"] for r in records(team, "?open=true")] == ["refused"]
    assert len(records(team, "?open=false")) == 3
    assert len(records(team, "?since=2026-01-01T00:00:00Z")) == 3
    assert records(team, "?since=2999-01-01T00:00:00Z") == []
    for query in ("?outcome=lost", "?open=perhaps", "?since=yesterday", "?what=1"):
        assert team.get("/v1/ingestions" + query, status=None).status_code in (400, 422)


def test_pages_hold_every_record_once(team):
    for i in range(7):
        send(team, log_of("app-%d" % i))
    seen, path = [], "/v1/ingestions?limit=3&outcome=stored"
    while path:
        page = team.get(path).json()
        seen += [r["spark_application_id"] for r in page["items"]]
        path = page["next_cursor"] and "/v1/ingestions?limit=3&outcome=stored&cursor=" + page["next_cursor"]
    assert seen == ["app-%d" % i for i in range(6, -1, -1)]


def test_whoever_reads_runs_reads_what_was_refused(service, name):
    writer = service.client(service.token("sent-roles-" + name, scopes="write"))
    reader = service.client(service.token("sent-roles-" + name, scopes="read"))
    send(writer, log_of("app-1"))
    assert len(records(reader)) == 1
    assert writer.get("/v1/ingestions", status=403).json()["type"].endswith("/forbidden")


def test_an_idempotent_repetition_is_no_attempt(team):
    headers = dict(OCTETS, **{"Idempotency-Key": '"once"'})
    for _ in range(2):
        team.request("POST", "/v1/eventlogs", 201, data=log_of("app-1"), headers=headers)
    assert [(r["outcome"], r["attempts"]) for r in records(team)] == [("stored", 1)]
    assert len(runs_of(team, "etl")) == 1
