"""provisord import as an operation of its team: watched, cancelled, ended, and given up when the process is gone."""
import signal
import time

import pytest

from long_work import Stream, wait_for
from patience import PATIENCE, SLOWDOWN
from test_eventlogs import tiny_log
from test_import import finish, lines, run, start


@pytest.fixture(scope="module")
def service(make_service):
    return make_service(PROVISOR_OPERATION_LEASE_S=1).start()


@pytest.fixture
def mine(service, name):
    """The token and client of a team of its own."""
    token = service.token(name)
    client = service.client(token)
    client.own_token = token
    return client


def fill(path, n, stages=1):
    for i in range(n):
        (path / ("log-%05d" % i)).write_bytes(tiny_log(app="app-%d" % i, stages=stages))


def imports(client, **query):
    return client.get("/v1/operations", params=dict(query, kind="import")).json()["items"]


def running(client):
    end = time.monotonic() + PATIENCE
    while not imports(client, status="running"):
        assert time.monotonic() < end
        time.sleep(0.02)
    return imports(client, status="running")[0]["id"]


def test_an_import_leaves_an_operation_with_its_report(service, mine, tmp_path, name):
    fill(tmp_path, 5)
    (tmp_path / "broken").write_bytes(b"\x1f\x8b\x08\x00 this is no gzip stream at all")
    out, err = run(service, tmp_path, "--team", name, "--json", "--application", "etl", "--label", "from:disk", status=1)
    told = lines(out)[1]
    made, = imports(mine)
    assert "operation " + made["id"] in err
    seen = mine.get("/v1/operations/" + made["id"]).json()
    assert (seen["status"], seen["application"], seen["attempt"], seen["error"]) == ("succeeded", "etl", 1, None)
    result = seen["result"]
    mine.contract.check_instance(mine.contract.document["components"]["schemas"]["ImportReport"], result, "result")
    assert {k: result[k] for k in ("stored", "rejected", "duplicates", "bytes", "interrupted")} == {k: told[k] for k in ("stored", "rejected", "duplicates", "bytes", "interrupted")}
    assert result["stored"] == 5 and [r["name"] for r in result["rejected_logs"]] == [str(tmp_path / "broken")]
    assert seen["request"] == {"paths": [str(tmp_path)], "application": "etl", "labels": {"from": "disk"}, "files": 6, "bytes": told["bytes"]}
    assert seen["progress"] == {"done": told["bytes"], "total": told["bytes"], "unit": "bytes"}
    assert [a["action"] for a in mine.get("/v1/audit").json()["items"] if a["subject"] == "operation/" + made["id"]] == ["operation.submit"]


def test_a_dry_run_is_no_operation(service, mine, tmp_path, name):
    fill(tmp_path, 2)
    run(service, tmp_path, "--team", name, "--dry-run")
    assert imports(mine) == []


def test_an_import_by_token_is_the_token_s(service, mine, tmp_path):
    (tmp_path / "logs").mkdir()
    fill(tmp_path / "logs", 2)
    (tmp_path / "token").write_text(mine.own_token)
    _, err = run(service, tmp_path / "logs", "--token-file", tmp_path / "token", "--quiet")
    assert err == "" and imports(mine)[0]["requested_by"] == "test"


def test_progress_is_told_and_a_cancelled_import_stops_within_a_second(service, mine, tmp_path, name):
    fill(tmp_path, 4000)
    process = start(service, tmp_path, "--team", name, "--json", "--threads", 1)
    made = running(mine)
    while not mine.get("/v1/operations/" + made).json()["progress"]["done"]:
        time.sleep(0.02)
    began = time.monotonic()
    mine.delete("/v1/operations/" + made, 202)
    out, err = process.communicate(timeout=PATIENCE)
    took = time.monotonic() - began
    assert process.returncode == 1 and took < 1.5 * SLOWDOWN, (took, err)
    assert "was cancelled" in err
    told = lines(out)[1]
    seen = wait_for(mine, made)
    assert seen["status"] == "cancelled" and told["interrupted"] and told["not_attempted"] > 0
    assert seen["result"]["stored"] == told["stored"] > 0, "what it had done by then"
    assert mine.get("/v1/applications/tiny").json()["runs"] == told["stored"]
    events = list(Stream(service, mine.own_token, made))
    assert [e[2]["status"] for e in events if e[1] == "status"] == ["running", "running", "cancelled"]
    done = [e[2]["progress"]["done"] for e in events]
    assert done == sorted(done) and done[-1] > 0


def test_ctrl_c_ends_the_operation_too(service, mine, tmp_path, name):
    fill(tmp_path, 2000)
    process = start(service, tmp_path, "--team", name, "--quiet", "--threads", 1)
    made = running(mine)
    process.send_signal(signal.SIGINT)
    finish(process, 1)
    seen = mine.get("/v1/operations/" + made).json()
    assert seen["status"] == "cancelled" and seen["result"]["interrupted"] and seen["cancel_requested_at"] is None


def test_an_importer_that_is_gone_has_failed_and_nobody_takes_over(service, mine, tmp_path, name):
    fill(tmp_path, 4000)
    process = start(service, tmp_path, "--team", name, "--quiet", "--threads", 1)
    made = running(mine)
    process.kill()
    process.communicate()
    assert mine.get("/v1/operations/" + made).json()["status"] == "running", "its lease holds for a while"
    seen = wait_for(mine, made)
    assert seen["status"] == "failed" and seen["attempt"] == 1
    assert seen["error"]["type"].endswith("/process_lost") and "is gone" in seen["error"]["detail"]
    run(service, tmp_path, "--team", name, "--quiet")
    assert [i["status"] for i in imports(mine)] == ["succeeded", "failed"]
    assert mine.get("/v1/applications/tiny").json()["runs"] == 4000


def test_an_import_takes_no_team_s_share_of_the_workers(make_service, tmp_path, name):
    service = make_service(PROVISOR_OPERATION_TEAM_RUNNING_MAX=1).start()
    client = service.client(service.token(name))
    for m in (1, 2, 4, 8, 16):
        client.post("/v1/applications/law/runs", {"problem_size": 8, "executors": m, "cores_per_executor": 1, "duration_s": 10 + 40 / m}, 201)
    fill(tmp_path, 4000)
    process = start(service, tmp_path, "--team", name, "--quiet", "--threads", 1)
    made = running(client)
    refit = client.post("/v1/applications/law/refit", {"resamples": 20}, 202).json()["id"]
    assert wait_for(client, refit)["status"] == "succeeded"
    assert client.get("/v1/operations/" + made).json()["status"] == "running"
    process.send_signal(signal.SIGINT)
    finish(process, 1)
