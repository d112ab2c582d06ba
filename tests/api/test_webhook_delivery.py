"""Events on their way to real endpoints: what arrives, signed how, and what becomes of endpoints that fail."""
import collections
import copy
import json
import statistics
import time

import pytest

from patience import PATIENCE, SLOWDOWN
from test_drift import COUNTS, fill
from test_drift import post as post_run
from test_eventlogs import tiny_log
from webhook_receiver import Receiver, verify

QUICK = {"PROVISOR_WEBHOOK_PRIVATE_TARGETS": "127.0.0.0/8", "PROVISOR_WEBHOOK_PLAIN_HTTP": "true", "PROVISOR_WEBHOOK_RETRY_FIRST_MS": 100,
         "PROVISOR_WEBHOOK_RETRY_MAX_S": 1, "PROVISOR_WEBHOOK_POLL_MS": 100, "PROVISOR_WEBHOOK_TIMEOUT_MS": 1500, "PROVISOR_WEBHOOK_GIVE_UP_S": 3600,
         "PROVISOR_WEBHOOK_PAUSE_FIRST_S": 1, "PROVISOR_WEBHOOK_PAUSE_MAX_S": 2}


@pytest.fixture
def team(make_service):
    """(service, client) with nothing but what the test makes."""
    service = make_service(**QUICK)
    service.start()
    client = service.client(service.token("hooks"))
    return service, client


def register(client, receiver, **members):
    body = {"url": receiver.url, "events": ["run.ingested"], **members}
    return client.post("/v1/webhooks", body, status=201).json()


def add_run(client, application="etl", duration_s=60, **members):
    return client.post("/v1/applications/%s/runs" % application,
                       {"problem_size": 64, "executors": 4, "cores_per_executor": 2, "duration_s": duration_s, **members}, status=201).json()


def delivery_of(client, hook, index=0):
    item = client.get("/v1/webhooks/%s/deliveries" % hook["id"]).json()["items"][index]
    return client.get("/v1/webhooks/%s/deliveries/%s" % (hook["id"], item["id"])).json()


def wait_for(what, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = what()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError("it did not come to pass: %s" % what())


def test_an_event_arrives_signed_and_soon(team):
    _, client = team
    with Receiver() as receiver:
        hook = register(client, receiver)
        client.post("/v1/applications", {"name": "etl"}, status=201)
        add_run(client)
        receiver.wait(1)
        took = []
        for number in range(2, 12):
            began = time.time()
            run = add_run(client)
            took.append(receiver.wait(number)[-1].at - began)
            time.sleep(0.05)
        message = receiver.messages[-1]
        assert verify(message, [hook["secret"]]) == 1
        body = json.loads(message.body)
        assert body["type"] == "run.ingested" and body["data"]["run_id"] == run["id"] and body["data"]["severity"] == "info"
        assert set(body) == {"type", "timestamp", "data"} and message.headers["content-type"].startswith("application/json")
        assert len(set(receiver.ids())) == 11
        assert statistics.median(took) < 0.2 * SLOWDOWN, took
        wait_for(lambda: delivery_of(client, hook)["status"] == "delivered")
        attempt = delivery_of(client, hook)["log"][0]
        assert attempt["status"] == 204 and attempt["error"] is None and attempt["duration_ms"] >= 0


def test_a_key_pair_shares_no_secret(team):
    _, client = team
    with Receiver() as receiver:
        hook = register(client, receiver, signature="v1a")
        assert hook["public_key"].startswith("whpk_") and hook.get("secret") is None
        client.post("/v1/webhooks/%s/ping" % hook["id"], status=202)
        message = receiver.wait(1)[0]
        verify(message, public_keys=[hook["public_key"]])
        assert json.loads(message.body)["type"] == "webhook.ping"


def test_both_secrets_sign_while_one_is_rotated(team):
    _, client = team
    with Receiver() as receiver:
        hook = register(client, receiver)
        new = client.post("/v1/webhooks/%s/rotate" % hook["id"], {"overlap_s": 3600}, status=200).json()
        client.post("/v1/webhooks/%s/ping" % hook["id"], status=202)
        message = receiver.wait(1)[0]
        assert new["secret"] != hook["secret"]
        assert verify(message, [new["secret"]]) == 2 and verify(message, [hook["secret"]]) == 2
        newer = client.post("/v1/webhooks/%s/rotate" % hook["id"], {"overlap_s": 0}, status=200).json()
        client.post("/v1/webhooks/%s/ping" % hook["id"], status=202)
        message = receiver.wait(2)[1]
        assert verify(message, [newer["secret"]]) == 1
        with pytest.raises(AssertionError):
            verify(message, [new["secret"], hook["secret"]])


def test_formats(team):
    _, client = team
    with Receiver() as receiver:
        cloud = register(client, receiver, format="cloudevents")
        client.post("/v1/webhooks/%s/ping" % cloud["id"], status=202)
        message = receiver.wait(1)[0]
        event = json.loads(message.body)
        assert message.headers["content-type"].startswith("application/cloudevents+json")
        assert event["specversion"] == "1.0" and event["type"] == "provisor.webhook.ping" and event["id"] == message.headers["webhook-id"]
        assert event["source"].startswith("urn:provisor:") and event["data"]["severity"] == "info" and event["time"]
        verify(message, [cloud["secret"]])
        text = register(client, receiver, format="text")
        client.post("/v1/webhooks/%s/ping" % text["id"], status=202)
        message = receiver.wait(2)[1]
        assert set(json.loads(message.body)) == {"text"}
        verify(message, [text["secret"]])


NOT_SENT = {"admission.expired"}  # this version reserves no cores


def cause_every_event(client, hooks):
    """Each type at least once, with its members known and, where the contract has them nullable, unknown; how many of each type."""
    client.post("/v1/applications", {"name": "etl"}, status=201)
    runs = [json.dumps({"problem_size": 64, "executors": m, "cores_per_executor": 2, "duration_s": 30 + 400 / m + extra}) for m in (2, 4, 8) for extra in (0, 1)]
    client.post("/v1/applications/etl/runs/import", None, 201, data="\n".join(runs), headers={"Content-Type": "application/x-ndjson"})
    in_time = client.post("/v1/advice", {"application": "etl", "problem_size": 64, "deadline_s": 150}, status=201).json()
    without_deadline = client.post("/v1/advice", {"application": "etl", "problem_size": 64}, status=201).json()
    too_late = client.post("/v1/advice", {"application": "etl", "problem_size": 64, "deadline_s": 1}, status=201).json()
    unknown = client.post("/v1/advice", {"application": "etl", "problem_size": 64e6, "deadline_s": 90}, status=201).json()
    assert [a["verdict"] for a in (in_time, without_deadline, too_late, unknown)] == ["met", "met", "missed", "unknown"]
    add_run(client, duration_s=151, advice_id=in_time["id"])
    add_run(client, duration_s=91, advice_id=unknown["id"], succeeded=False)
    unread = client.request("POST", "/v1/applications/etl/eventlogs", 201, data=tiny_log(stages=0)).json()
    assert unread["problem_size"] is None
    client.post("/v1/applications", {"name": "drifting"}, status=201)
    fill(client, "drifting", 0, 32)
    client.get("/v1/applications/drifting/models")
    slower = 0
    while client.get("/v1/applications/drifting/models").json()["drift"]["state"] != "drifted":
        assert slower < 8
        post_run(client, "drifting", 32 + slower, COUNTS[slower % 4], 1.4)
        slower += 1
    client.post("/v1/applications/drifting/refit", {"resamples": 100}, status=202)
    client.post("/v1/simulations", {"kind": "geo", "workload": {"workflows": 2, "sizes": [{"share": 1, "task_range": [4, 8]}]}, "topology": {"cluster_count": 2},
                                    "policies": [{"policy": "flutter"}], "arrival_rates_per_s": [0.05]}, status=202)
    for hook in hooks:
        client.post("/v1/webhooks/%s/ping" % hook["id"], status=202)
    return {"run.ingested": 1 + 3 + 32 + slower, "advice.created": 4, "deadline.infeasible": 1, "deadline.missed": 2, "model.drifted": 1, "operation.completed": 2,
            "webhook.ping": 1}


def check_headers(contract, operation, message):
    """Parameters of a webhook are headers that each delivery has."""
    for parameter in map(contract.resolve, operation["parameters"]):
        assert parameter["in"] == "header"
        value = message.headers[parameter["name"].lower()]
        schema = contract.resolve(parameter["schema"])
        contract.check_instance(schema, int(value) if schema["type"] == "integer" else value, parameter["name"])


def test_what_arrives_is_what_the_contract_describes(team):
    """Every event that this version sends, in every format: body, media type and headers."""
    _, client = team
    contract = client.contract
    document = contract.document
    types = document["components"]["schemas"]["WebhookEvents"]["items"]["enum"]
    with Receiver() as standard, Receiver() as cloud, Receiver() as text:
        formats = {"standard": standard, "cloudevents": cloud, "text": text}
        hooks = [register(client, receiver, events=types, format=name) for name, receiver in formats.items()]
        expected = cause_every_event(client, hooks)
        assert set(expected) == set(document["webhooks"]) - NOT_SENT
        for receiver in formats.values():
            receiver.wait(sum(expected.values()), PATIENCE)
        time.sleep(0.3)
        found = {name: collections.defaultdict(list) for name in ("standard", "cloudevents")}
        for name, prefix, media, schema_of in (
                ("standard", "", "application/json", lambda schema: schema["anyOf"][0]),
                ("cloudevents", "provisor.", "application/cloudevents+json", lambda schema: schema)):
            for message in formats[name].messages:
                body = json.loads(message.body)
                kind = body["type"].removeprefix(prefix)
                operation = document["webhooks"][kind]["post"]
                assert message.headers["content-type"].split(";")[0] == media
                contract.check_instance(schema_of(operation["requestBody"]["content"][media]["schema"]), body, "%s as %s" % (kind, name))
                check_headers(contract, operation, message)
                found[name][kind].append(body)
            assert {kind: len(bodies) for kind, bodies in found[name].items()} == expected
        for body in found["cloudevents"]["webhook.ping"] + found["cloudevents"]["operation.completed"]:
            assert body.get("subject") == body["data"].get("application")
        for message in text.messages:
            assert message.headers["content-type"].split(";")[0] == "application/json"
            contract.check_instance(document["components"]["schemas"]["EventText"], json.loads(message.body), "text")
            check_headers(contract, document["webhooks"]["webhook.ping"]["post"], message)
        assert len(text.messages) == sum(expected.values())
        data = {kind: [body["data"] for body in bodies] for kind, bodies in found["standard"].items()}
        of_event = dict(zip(standard.ids(), standard.bodies()))
        for kind in set(expected) - {"webhook.ping"}:
            for body in found["cloudevents"][kind]:
                assert (body["data"], body["time"]) == (of_event[body["id"]]["data"], of_event[body["id"]]["timestamp"])
        imports = [d for d in data["run.ingested"] if d["run_id"] is None]
        assert [(d["application"], d["imported"], d["replaced"]) for d in imports] == [("etl", 6, 0)]
        assert None in [d.get("problem_size", 0) for d in data["run.ingested"]] and {True, False} <= {d.get("succeeded") for d in data["run.ingested"]}
        assert {d["executors"] is None for d in data["advice.created"]} == {d["deadline_s"] is None for d in data["advice.created"]} == {True, False}
        assert {d["predicted_duration_s"] is None for d in data["deadline.missed"]} == {True, False}
        assert sorted((d["kind"], d["application"]) for d in data["operation.completed"]) == [("refit", "drifting"), ("simulation", None)]


def test_only_what_was_asked_for(team):
    _, client = team
    with Receiver() as by_name, Receiver() as by_label, Receiver() as by_severity, Receiver() as everything:
        register(client, by_name, applications=["wanted"])
        register(client, by_label, labels={"env": "prod"})
        register(client, by_severity, events=["run.ingested", "deadline.missed"], min_severity="critical")
        register(client, everything)
        for name in ("wanted", "other"):
            client.post("/v1/applications", {"name": name}, status=201)
            add_run(client, name)
        labelled = add_run(client, "other", labels={"env": "prod", "zone": "a"})
        everything.wait(3)
        time.sleep(0.3)
        assert [b["data"]["application"] for b in by_name.bodies()] == ["wanted"]
        assert [b["data"]["run_id"] for b in by_label.bodies()] == [labelled["id"]]
        assert by_severity.bodies() == []


def test_a_missed_deadline_is_reported(team):
    _, client = team
    with Receiver() as receiver, Receiver() as grave:
        register(client, receiver, events=["deadline.missed", "deadline.infeasible", "advice.created"])
        register(client, grave, events=["run.ingested", "advice.created", "deadline.missed"], min_severity="critical")
        client.post("/v1/applications", {"name": "etl"}, status=201)
        for executors in (2, 4, 8):
            for extra in (0, 1):
                client.post("/v1/applications/etl/runs", {"problem_size": 64, "executors": executors, "cores_per_executor": 2, "duration_s": 30 + 400 / executors + extra}, status=201)
        advice = client.post("/v1/advice", {"application": "etl", "problem_size": 64, "deadline_s": 150}, status=201).json()
        kept = add_run(client, duration_s=149, advice_id=advice["id"])
        missed = add_run(client, duration_s=151, advice_id=advice["id"])
        body = json.loads(receiver.wait(1, of="deadline.missed")[0].body)
        assert body["data"]["run_id"] == missed["id"] != kept["id"] and body["data"]["advice_id"] == advice["id"]
        assert body["data"]["deadline_s"] == 150 and body["data"]["duration_s"] == 151 and body["data"]["severity"] == "critical"
        client.post("/v1/advice", {"application": "etl", "problem_size": 64, "deadline_s": 1}, status=201)
        receiver.wait(1, of="deadline.infeasible")
        time.sleep(0.2)
        types = [b["type"] for b in receiver.bodies()]
        assert types.count("deadline.missed") == 1 and types.count("advice.created") == 2 and types.count("deadline.infeasible") == 1
        assert [b["type"] for b in grave.bodies()] == ["deadline.missed"]


def test_failures_are_tried_again_with_the_same_id(team):
    _, client = team
    with Receiver(lambda message, number: 500 if number < 4 else (200, {}, b"thanks \xff")) as receiver:
        hook = register(client, receiver)
        client.post("/v1/webhooks/%s/ping" % hook["id"], status=202)
        receiver.wait(4)
        assert len(set(receiver.ids())) == 1
        delivery = wait_for(lambda: (d := delivery_of(client, hook))["status"] == "delivered" and d)
        assert [a["status"] for a in delivery["log"]] == [500, 500, 500, 200] and delivery["attempts"] == 4
        assert delivery["log"][-1]["response"].startswith("thanks ")
        gaps = [b.at - a.at for a, b in zip(receiver.messages, receiver.messages[1:])]
        assert gaps[0] >= 0.07 and gaps[1] > gaps[0]
        for message in receiver.messages:
            verify(message, [hook["secret"]])


def test_retry_after_is_obeyed(make_service):
    service = make_service(**{**QUICK, "PROVISOR_WEBHOOK_RETRY_MAX_S": 10})
    service.start()
    client = service.client(service.token("hooks"))
    with Receiver(lambda message, number: (503, {"Retry-After": "2"}, b"") if number == 1 else 204) as receiver:
        hook = register(client, receiver)
        client.post("/v1/webhooks/%s/ping" % hook["id"], status=202)
        client.post("/v1/webhooks/%s/ping" % hook["id"], status=202)
        receiver.wait(3)
        times = [m.at for m in receiver.messages]
        assert all(t - times[0] >= 1.9 for t in times[1:]) or times[1] - times[0] < 0.5 and times[2] - times[0] >= 1.9


def test_redirects_are_not_followed(team):
    _, client = team
    with Receiver() as target, Receiver(lambda message, number: (302, {"Location": target.url}, b"")) as receiver:
        hook = register(client, receiver)
        client.post("/v1/webhooks/%s/ping" % hook["id"], status=202)
        receiver.wait(2)
        assert target.messages == []
        assert delivery_of(client, hook)["log"][0]["status"] == 302


def test_gone_disables(team):
    service, client = team
    with Receiver(410) as receiver:
        hook = register(client, receiver)
        client.post("/v1/webhooks/%s/ping" % hook["id"], status=202)
        shown = wait_for(lambda: (w := client.get("/v1/webhooks/%s" % hook["id"]).json())["status"] == "disabled" and w)
        assert not shown["enabled"] and "410" in shown["status_reason"] and shown["pending"] == 0
        assert delivery_of(client, hook)["status"] == "dead"
        receiver.answer = lambda message, number: 204
        client.patch("/v1/webhooks/%s" % hook["id"], {"enabled": True})
        client.post("/v1/webhooks/%s/redeliver" % hook["id"], {}, status=202)
        wait_for(lambda: delivery_of(client, hook)["status"] == "delivered")
        assert len(set(receiver.ids())) == 1 and len(receiver.ids()) == 2


def test_an_endpoint_that_keeps_failing_is_paused(team):
    service, client = team
    with Receiver(500) as receiver:
        hook = register(client, receiver)
        for _ in range(3):
            client.post("/v1/webhooks/%s/ping" % hook["id"], status=202)
        shown = wait_for(lambda: (w := client.get("/v1/webhooks/%s" % hook["id"]).json())["status"] == "paused" and w)
        assert shown["consecutive_failures"] >= 10 and shown["held_until"] and shown["pending"] == 3 and "500" in shown["last_error"]
        wait_for(lambda: service.metric('provisor_webhooks{state="paused"}') == 1)
        seen = len(receiver.messages)
        time.sleep(0.7)
        assert len(receiver.messages) - seen <= 2, "a paused endpoint is left alone"
        receiver.answer = lambda message, number: 204
        wait_for(lambda: client.get("/v1/webhooks/%s" % hook["id"]).json()["status"] == "active")
        wait_for(lambda: client.get("/v1/webhooks/%s" % hook["id"]).json()["pending"] == 0)


def test_a_delivery_is_given_up_and_can_be_asked_for_again(make_service):
    service = make_service(**{**QUICK, "PROVISOR_WEBHOOK_GIVE_UP_S": 2, "PROVISOR_WEBHOOK_PAUSE_AFTER": 1000})
    service.start()
    client = service.client(service.token("hooks"))
    with Receiver(500) as receiver:
        hook = register(client, receiver)
        client.post("/v1/webhooks/%s/ping" % hook["id"], status=202)
        delivery = wait_for(lambda: (d := delivery_of(client, hook))["status"] == "dead" and d)
        assert delivery["reason"] == "gave_up" and delivery["attempts"] >= 3
        receiver.answer = lambda message, number: 204
        client.post("/v1/webhooks/%s/deliveries/%s/redeliver" % (hook["id"], delivery["id"]), status=202)
        delivery = wait_for(lambda: (d := delivery_of(client, hook))["status"] == "delivered" and d)
        assert len(set(receiver.ids())) == 1


@pytest.mark.parametrize("fault", ["hang", "drop", "trickle", "flood", 500])
def test_one_that_misbehaves_holds_up_no_other(team, fault):
    _, client = team
    with Receiver(fault) as bad, Receiver() as good:
        broken = register(client, bad)
        register(client, good)
        client.post("/v1/applications", {"name": "etl"}, status=201)
        took = []
        for number in range(1, 16):
            began = time.time()
            add_run(client)
            took.append(good.wait(number)[-1].at - began)
        assert statistics.median(took) < 0.2 * SLOWDOWN, took
        delivery = wait_for(lambda: (d := delivery_of(client, broken, -1))["attempts"] > 0 and d)
        attempt = delivery["log"][0]
        assert delivery["status"] == ("delivered" if fault == "flood" else "pending")
        assert attempt["duration_ms"] < 4000 * SLOWDOWN
        if fault == "flood":
            assert attempt["response"] == "x" * 1024 and bad.flooded < 64 << 20
        elif fault == 500:
            assert attempt["status"] == 500
        else:
            assert attempt["error"] and attempt["status"] == (200 if fault == "trickle" else None)


def test_the_static_header_is_sent_and_never_shown(team):
    service, client = team
    with Receiver() as receiver:
        hook = register(client, receiver, authorization="Bearer of-bad-news")
        assert "of-bad-news" not in json.dumps(hook) and hook["has_authorization"]
        client.post("/v1/webhooks/%s/ping" % hook["id"], status=202)
        assert receiver.wait(1)[0].headers["authorization"] == "Bearer of-bad-news"
        assert "of-bad-news" not in client.get("/v1/webhooks").text
        assert "of-bad-news" not in service.log.read_text()


def test_a_deleted_webhook_gets_nothing_more(team):
    _, client = team
    with Receiver(500) as receiver:
        hook = register(client, receiver)
        client.post("/v1/webhooks/%s/ping" % hook["id"], status=202)
        receiver.wait(1)
        client.delete("/v1/webhooks/%s" % hook["id"])
        time.sleep(0.5)
        seen = len(receiver.messages)
        time.sleep(1.5)
        assert len(receiver.messages) == seen


def test_private_addresses_are_refused_when_connecting(make_service):
    service = make_service(**{k: v for k, v in QUICK.items() if "PRIVATE" not in k})
    service.start()
    client = service.client(service.token("hooks"))
    with Receiver() as receiver:
        refused = client.refuse("POST", "/v1/webhooks", 422, pointer="/url", json={"url": receiver.url, "events": ["run.ingested"]})
        assert "127.0.0.1" in json.dumps(refused)
        hook = client.post("/v1/webhooks", {"url": "http://localhost:%d/hook" % receiver.port, "events": ["run.ingested"]}, status=201).json()
        client.post("/v1/webhooks/%s/ping" % hook["id"], status=202)
        delivery = wait_for(lambda: (d := delivery_of(client, hook))["attempts"] > 0 and d)
        assert "127.0.0.1" in delivery["log"][0]["error"] or "::1" in delivery["log"][0]["error"] or "address" in delivery["log"][0]["error"]
        assert receiver.messages == []


def test_the_concurrency_of_an_endpoint_is_bounded(team):
    _, client = team
    with Receiver(lambda message, number: (time.sleep(0.05), 204)[1]) as receiver:
        hook = register(client, receiver, concurrency=3)
        for _ in range(40):
            client.post("/v1/webhooks/%s/ping" % hook["id"], status=202)
        receiver.wait(40)
        assert 2 <= receiver.most_open <= 3


def slow(status, seconds, headers=None):
    return lambda message, number: (time.sleep(seconds), (status, headers or {}, b""))[1]


@pytest.mark.parametrize("status, headers", [(410, {}), (503, {"Retry-After": "3600"})])
def test_what_an_old_endpoint_answers_says_nothing_of_the_new_one(team, status, headers):
    _, client = team
    with Receiver(slow(status, 1, headers)) as old, Receiver() as new:
        hook = register(client, old)
        client.post("/v1/webhooks/%s/ping" % hook["id"], status=202)
        old.wait(1)
        client.patch("/v1/webhooks/%s" % hook["id"], {"url": new.url})
        client.post("/v1/webhooks/%s/ping" % hook["id"], status=202)
        new.wait(2)
        shown = client.get("/v1/webhooks/%s" % hook["id"]).json()
        assert shown["status"] == "active" and shown["held_until"] is None and shown["enabled"]


def test_a_failure_after_it_was_disabled_brings_nothing_back(team):
    _, client = team
    with Receiver(slow(500, 1)) as receiver:
        hook = register(client, receiver)
        client.post("/v1/webhooks/%s/ping" % hook["id"], status=202)
        receiver.wait(1)
        client.patch("/v1/webhooks/%s" % hook["id"], {"enabled": False})
        wait_for(lambda: delivery_of(client, hook)["attempts"] == 1)
        delivery = delivery_of(client, hook)
        assert delivery["status"] == "dead" and delivery["reason"] == "disabled" and len(delivery["log"]) == 1
        assert client.get("/v1/webhooks/%s" % hook["id"]).json()["pending"] == 0


def test_a_redelivery_during_the_last_attempt_is_tried_again(make_service):
    service = make_service(**{**QUICK, "PROVISOR_WEBHOOK_GIVE_UP_S": 6, "PROVISOR_WEBHOOK_RETRY_FIRST_MS": 2500, "PROVISOR_WEBHOOK_RETRY_MAX_S": 3,
                              "PROVISOR_WEBHOOK_PAUSE_AFTER": 1000})
    service.start()
    client = service.client(service.token("hooks"))
    with Receiver(lambda message, number: slow(500, 1)(message, number) if number == 2 else 500 if number == 1 else 204) as receiver:
        hook = register(client, receiver)
        client.post("/v1/webhooks/%s/ping" % hook["id"], status=202)
        receiver.wait(2)
        delivery = delivery_of(client, hook)
        client.post("/v1/webhooks/%s/deliveries/%s/redeliver" % (hook["id"], delivery["id"]), status=202)
        wait_for(lambda: delivery_of(client, hook)["status"] == "delivered")


def test_what_waits_is_counted_right_when_an_application_goes(make_service):
    service = make_service(**{**QUICK, "PROVISOR_WEBHOOK_PENDING_MAX": 10, "PROVISOR_WEBHOOK_RETRY_MAX_S": 60, "PROVISOR_WEBHOOK_RETRY_FIRST_MS": 60000})
    service.start()
    client = service.client(service.token("hooks"))
    with Receiver(500) as receiver:
        hook = register(client, receiver)
        for name in ("a", "b"):
            client.post("/v1/applications", {"name": name}, status=201)
        for _ in range(9):
            add_run(client, "a")
        add_run(client, "b")
        wait_for(lambda: client.get("/v1/webhooks/%s" % hook["id"]).json()["pending"] == 10)
        full = client.post("/v1/webhooks/%s/ping" % hook["id"], status=409).json()
        assert "webhook_pending_max" in full["detail"]
        client.delete("/v1/applications/a")
        assert client.get("/v1/webhooks/%s" % hook["id"]).json()["pending"] == 1
        add_run(client, "b")
        wait_for(lambda: client.get("/v1/webhooks/%s" % hook["id"]).json()["pending"] == 2)
        statuses = [d["status"] for d in client.get("/v1/webhooks/%s/deliveries" % hook["id"]).json()["items"]]
        assert statuses == ["pending", "pending"]


def test_a_burst_for_many_webhooks_is_dispatched_and_others_are_not_forgotten(team):
    """As many events as an outage leaves, for as many webhooks as a team may have; another team's event comes after them."""
    service, client = team
    other = service.client(service.token("others"))
    with Receiver() as receiver:
        hooks = [client.post("/v1/webhooks", {"url": receiver.url, "events": ["run.ingested"], "applications": ["never"]}, status=201).json()
                 for _ in range(49)]
        hooks.append(register(client, receiver))
        own = register(other, receiver)
        service.psql("INSERT INTO provisor.outbox (team_id, id, type, data) SELECT team_id, gen_random_uuid(), 'run.ingested',"
                     " '{\"application\": \"etl\"}' FROM provisor.webhook, generate_series(1, 2000) WHERE id = '%s'" % hooks[-1]["id"])
        other.post("/v1/applications", {"name": "etl"}, status=201)
        add_run(other)
        wait_for(lambda: other.get("/v1/webhooks/%s/deliveries?status=delivered" % own["id"]).json()["items"], seconds=3 * PATIENCE)
        wait_for(lambda: int(service.psql("SELECT count(*) FROM provisor.outbox WHERE delivered_at IS NULL")) == 0, seconds=3 * PATIENCE)


def test_one_that_cannot_be_written_down_stops_no_other(team):
    service, client = team
    other = service.client(service.token("others"))
    with Receiver() as receiver:
        hook, own = register(client, receiver), register(other, receiver)
        service.psql("CREATE FUNCTION provisor.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.webhook_id = '%s' AND NEW.attempts > 0"
                     " THEN RAISE 'refused'; END IF; RETURN NEW; END $$" % hook["id"])
        service.psql("CREATE TRIGGER refuse BEFORE UPDATE ON provisor.webhook_delivery FOR EACH ROW EXECUTE FUNCTION provisor.refuse()")
        client.post("/v1/webhooks/%s/ping" % hook["id"], status=202)
        receiver.wait(1)
        for _ in range(3):
            other.post("/v1/webhooks/%s/ping" % own["id"], status=202)
            wait_for(lambda: other.get("/v1/webhooks/%s" % own["id"]).json()["pending"] == 0)
        assert len([i for i in receiver.ids()]) <= 6, "it is not sent again and again"
        assert "webhook.attempt_not_recorded" in service.log.read_text()


def test_metrics_go_on_when_dispatching_fails(team):
    service, client = team
    service.psql("CREATE FUNCTION provisor.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$")
    service.psql("CREATE TRIGGER refuse BEFORE UPDATE ON provisor.outbox FOR EACH ROW EXECUTE FUNCTION provisor.refuse()")
    client.post("/v1/applications", {"name": "etl"}, status=201)
    add_run(client)
    wait_for(lambda: service.metric("provisor_outbox_age_seconds") > 1)


def test_a_replica_hears_of_what_others_write(make_service):
    """Not by asking: that it does every minute here. The other one delivers nothing itself."""
    service = make_service(**{**QUICK, "PROVISOR_WEBHOOK_DELIVERY": "false"})
    service.start()
    second = copy.copy(service)
    second.port, second.process, second.log = None, None, service.directory / "replica.log"
    second.environment = {**service.environment, "PROVISOR_WEBHOOK_DELIVERY": "true", "PROVISOR_WEBHOOK_POLL_MS": "60000"}
    second.start()
    try:
        client = service.client(service.token("hooks"))
        with Receiver() as receiver:
            register(client, receiver)
            client.post("/v1/applications", {"name": "etl"}, status=201)
            for number in range(1, 4):
                add_run(client)
                receiver.wait(number, seconds=10 * SLOWDOWN)
    finally:
        second.stop()


def test_deliveries_that_ended_are_deleted_after_their_retention(team):
    service, client = team
    with Receiver() as receiver:
        hook = register(client, receiver)
        for _ in range(3):
            client.post("/v1/webhooks/%s/ping" % hook["id"], status=202)
        wait_for(lambda: [d["status"] for d in client.get("/v1/webhooks/%s/deliveries" % hook["id"]).json()["items"]] == ["delivered"] * 3)
        receiver.answer = lambda message, number: 500
        client.post("/v1/webhooks/%s/ping" % hook["id"], status=202)
        listed = client.get("/v1/webhooks/%s/deliveries" % hook["id"]).json()["items"]
        service.psql("UPDATE provisor.webhook_delivery SET ended_at = now() - interval '8 days' WHERE id = '%s'" % listed[1]["id"])
        service.psql("UPDATE provisor.webhook_delivery SET ended_at = now() - interval '6 days' WHERE id = '%s'" % listed[2]["id"])
        service.psql("UPDATE provisor.webhook_delivery SET created_at = now() - interval '8 days' WHERE id = '%s'" % listed[0]["id"])
        service.command("maintain", PROVISOR_WEBHOOK_DELIVERY_RETENTION_DAYS=0)
        assert len(client.get("/v1/webhooks/%s/deliveries" % hook["id"]).json()["items"]) == 4, "0 keeps all"
        service.command("maintain")
        left = [d["id"] for d in client.get("/v1/webhooks/%s/deliveries" % hook["id"]).json()["items"]]
        assert left == [listed[0]["id"], listed[2]["id"], listed[3]["id"]]


def test_a_webhook_of_a_newer_version_is_left_alone_and_said_so(team):
    service, client = team
    with Receiver() as receiver:
        hook = register(client, receiver)
        service.psql("UPDATE provisor.webhook SET format = 'avro' WHERE id = '%s'" % hook["id"])
        service.psql("INSERT INTO provisor.outbox (team_id, id, type, data) SELECT team_id, gen_random_uuid(), 'run.ingested', '{}' FROM provisor.webhook")
        error = wait_for(lambda: service.psql("SELECT last_error FROM provisor.webhook WHERE pauses > 0"))
        assert "avro" in error and receiver.messages == []
        assert service.psql("SELECT status FROM provisor.webhook_delivery") == "pending\n"
