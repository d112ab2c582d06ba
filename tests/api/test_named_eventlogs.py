"""POST /v1/eventlogs: the log names its application, rules fold the name; still each log once."""
import concurrent.futures
import json
import uuid

import pytest

from test_eventlogs import runs_of, tiny_log

OCTETS = {"Content-Type": "application/octet-stream"}


def named(name, **kwargs):
    log = tiny_log(**kwargs)
    if isinstance(log, str):
        log = log.encode()
    return log.replace(b'"App Name": "tiny"', b'"App Name": ' + json.dumps(name).encode())


def send(client, log, status=201, query=""):
    return client.request("POST", "/v1/eventlogs" + query, status, data=log, headers=OCTETS).json()


@pytest.fixture
def lonely(service):
    return service.client(service.token("named-" + uuid.uuid4().hex[:8]))


def test_runs_of_one_job_under_many_names_are_one_history(lonely):
    days = ["2026-01-%02d" % d for d in range(1, 6)]
    runs = [send(lonely, named("nightly-etl-" + day, app="app-" + day)) for day in days]
    assert {r["application"] for r in runs} == {"nightly-etl"}
    assert [r["labels"] for r in runs] == [{"job_name": "nightly-etl-" + day} for day in days]
    assert [a["name"] for a in lonely.get("/v1/applications").json()["items"]] == ["nightly-etl"]
    assert len(runs_of(lonely, "nightly-etl")) == 5
    one = lonely.get("/v1/applications/nightly-etl/runs?label=job_name:nightly-etl-2026-01-03").json()["items"]
    assert [r["id"] for r in one] == [runs[2]["id"]]


def test_a_stable_name_is_taken_as_it_is(lonely):
    run = send(lonely, named("tägliche Läufe/q1"))
    assert run["application"] == "tägliche Läufe/q1" and run["labels"] == {}


def test_the_same_log_again_is_known_however_it_comes(lonely):
    log = named("etl-2026-01-05")
    first = send(lonely, log)
    assert send(lonely, log, 200)["id"] == first["id"]
    assert lonely.request("POST", "/v1/applications/etl/eventlogs", 200, data=log, headers=OCTETS).json()["id"] == first["id"]
    assert len(runs_of(lonely, "etl")) == 1


def test_many_at_once_make_one_application_and_each_run_once(lonely):
    logs = [named("load-%d" % (1767600000 + i % 6), app="app-%d" % (i % 6)) for i in range(24)]
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        replies = list(pool.map(lambda log: lonely.request("POST", "/v1/eventlogs", None, data=log, headers=OCTETS), logs))
    assert sorted(r.status_code for r in replies) == [200] * 18 + [201] * 6
    assert [a["name"] for a in lonely.get("/v1/applications").json()["items"]] == ["load"]
    assert len(runs_of(lonely, "load")) == 6


def test_own_rules_and_labels_hold(lonely):
    lonely.put("/v1/name-rules", {"rules": [{"name": "mine", "pattern": "{any}:{name}", "application": "team/{name}"}]})
    run = send(lonely, named("anna:load"), query="?label=job_name:mine&label=branch:main&problem_size=7")
    assert run["application"] == "team/load" and run["problem_size"] == 7
    assert run["labels"] == {"job_name": "mine", "branch": "main"}, "the caller's label stays"
    assert send(lonely, named("nightly-2026-01-05", app="app-2"))["application"] == "nightly-2026-01-05"


def test_an_application_of_the_whole_name_keeps_its_runs(lonely):
    lonely.post("/v1/applications", {"name": "report-2026-01-05"}, 201)
    assert send(lonely, named("report-2026-01-05"))["application"] == "report-2026-01-05"
    assert send(lonely, named("report-2026-01-06", app="app-2"))["application"] == "report"


@pytest.mark.parametrize("name,code", [("", "no_name"), ("x" * 256, "invalid_name"),
                                       ("etl AKIAIOSFODNN7EXAMPLE", "name_suspicious")])
def test_a_name_that_is_none_is_refused_and_not_repeated(lonely, name, code):
    reply = lonely.request("POST", "/v1/eventlogs", 422, data=named(name), headers=OCTETS)
    assert [e["code"] for e in reply.json()["errors"]] == [code]
    assert not name or name[:20] not in reply.text
    assert lonely.get("/v1/applications").json()["items"] == []


def test_long_names_with_dates_are_no_credentials(lonely):
    """Many digits in a long name look random; folded they are not. Such a name is not kept as a label."""
    run = send(lonely, named("customer-orders-enrichment-2026-01-05-20260105T100000"))
    assert run["application"] == "customer-orders-enrichment" and run["labels"] == {}


def test_a_log_without_a_name_is_refused(lonely):
    log = named("gone").replace(b'"App Name": "gone", ', b"")
    assert lonely.request("POST", "/v1/eventlogs", 422, data=log, headers=OCTETS).json()["errors"][0]["code"] == "no_name"


def test_an_idempotency_key_replays_the_reply(lonely):
    headers = dict(OCTETS, **{"Idempotency-Key": "k1"})
    log = named("etl-2026-01-05")
    first = lonely.request("POST", "/v1/eventlogs", 201, data=log, headers=headers)
    again = lonely.request("POST", "/v1/eventlogs", 201, data=log, headers=headers)
    assert again.json() == first.json() and again.headers["Location"] == first.headers["Location"]
