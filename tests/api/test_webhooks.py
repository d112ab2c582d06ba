"""Webhooks as calls: what may be set, what is shown, what is kept secret, and asking for deliveries again. Rows of deliveries
are written here; that events are sent is tests/api/test_webhook_delivery.py's to prove."""
import base64
import concurrent.futures
import datetime
import re
import uuid

import pytest

HOOK = {"url": "https://hooks.example.com/provisor", "events": ["advice.created"]}
SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
NOWHERE = "0190d4a0-0000-7000-8000-000000000000"


@pytest.fixture(scope="module")
def service(make_service):
    """One that delivers nothing, so that rows stay as the tests leave them."""
    service = make_service(PROVISOR_WEBHOOK_DELIVERY="false")
    service.alpha_token, service.beta_token = service.token("alpha"), service.token("beta")
    return service.start()


@pytest.fixture(scope="module")
def client(service):
    return service.client(service.alpha_token)


@pytest.fixture(scope="module")
def stranger(service):
    return service.client(service.beta_token)


def make(client, **body):
    return client.post("/v1/webhooks", {**HOOK, **body}, 201).json()


def get(client, hook):
    return client.get("/v1/webhooks/" + hook["id"]).json()


def column(service, hook, name):
    return service.psql("SELECT %s FROM provisor.webhook WHERE id = '%s'" % (name, hook["id"])).strip()


def change_row(service, hook, assignments):
    service.psql("UPDATE provisor.webhook SET %s WHERE id = '%s'" % (assignments, hook["id"]))


def instant(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def seconds_from_now(text):
    return (instant(text) - datetime.datetime.now(datetime.timezone.utc)).total_seconds()


def deliver(service, hook, status="dead", kind="advice.created", at="now()", log="{}", tries=7):
    """A row as the dispatcher leaves it; its id. Later ones have greater ids."""
    made = service.psql("SELECT lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0')").strip()
    one = str(uuid.UUID(made + "7" + uuid.uuid4().hex[13:]))
    ended = "NULL" if status == "pending" else "now()"
    service.psql("INSERT INTO provisor.webhook_delivery (team_id, webhook_id, id, event_id, type, severity, data, happened_at, status, reason,"
                 " attempts, tries, log, next_at, give_up_at, created_at, ended_at)"
                 " SELECT team_id, id, '%s', '%s', '%s', 1, '{\"id\": \"x\", \"n\": 1.50}', '2026-01-05T10:00:00Z', '%s', %s, %d, %d, '%s', %s, now(), %s, %s"
                 " FROM provisor.webhook WHERE id = '%s'" % (
                     one, one, kind, status, "'gave_up'" if status == "dead" else "NULL", tries, tries, log,
                     "now()" if status == "pending" else "NULL", at, ended, hook["id"]))
    if status == "pending":
        change_row(service, hook, "pending = pending + 1, due_at = now()")
    return one


# --- creating and reading -------------------------------------------------------------------------------------------


def test_a_new_webhook_is_shown_with_its_secret_once(service, client):
    reply = client.post("/v1/webhooks", HOOK, 201)
    made = reply.json()
    assert reply.headers["Location"] == "/v1/webhooks/" + made["id"] and reply.headers["Cache-Control"] == "no-store"
    assert re.fullmatch(r"whsec_[A-Za-z0-9+/]+=*", made["secret"])
    secret = base64.b64decode(made["secret"].removeprefix("whsec_"), validate=True)
    assert 24 <= len(secret) <= 64
    shown = client.get(reply.headers["Location"])
    assert shown.headers["ETag"] == reply.headers["ETag"] and "no-store" not in shown.headers.get("Cache-Control", "")
    made.pop("secret")
    assert shown.json() == made
    assert made == {**made, **HOOK, "description": None, "applications": [], "labels": {}, "min_severity": "info", "format": "standard",
                    "signature": "v1", "public_key": None, "has_authorization": False, "concurrency": 8, "enabled": True, "status": "active",
                    "status_reason": None, "held_until": None, "consecutive_failures": 0, "last_delivered_at": None, "last_failed_at": None,
                    "last_error": None, "pending": 0, "former_secret_until": None, "version": 1}
    assert made["created_at"] == made["updated_at"]
    other = make(client)
    assert base64.b64decode(other["secret"].removeprefix("whsec_")) != secret


def test_everything_that_may_be_set_is_shown(client):
    body = {"description": "d", "events": ["run.ingested", "deadline.missed"], "applications": ["a", "b"], "labels": {"k": "v", "team": "etl"},
            "min_severity": "warning", "format": "cloudevents", "concurrency": 32, "enabled": False}
    made = make(client, **body)
    assert {k: made[k] for k in body} == body
    assert made["status"] == "disabled" and made["status_reason"] == "a request disabled it"


def test_the_public_key_of_v1a_is_shown_and_no_secret(service, client):
    made = make(client, signature="v1a")
    key = made["public_key"]
    assert made["secret"] is None and key.startswith("whpk_") and len(base64.b64decode(key.removeprefix("whpk_"), validate=True)) == 32
    assert get(client, made)["public_key"] == key
    assert column(service, made, "encode(public_key, 'base64')") == key.removeprefix("whpk_")
    assert make(client, signature="v1a")["public_key"] != key


def test_secrets_are_sealed_in_the_table_and_in_no_later_reply(service, client):
    made = make(client, secret=SECRET, authorization="Bearer s3cret-of-mine")
    assert made["secret"] == SECRET and made["has_authorization"] is True
    for text in (client.get("/v1/webhooks/" + made["id"]).text, client.get("/v1/webhooks?limit=200").text,
                 client.get("/v1/audit?limit=200").text, service.log.read_text()):
        assert SECRET not in text and "s3cret-of-mine" not in text
    held = bytes.fromhex(column(service, made, "encode(secret, 'hex')")) + b"|" + bytes.fromhex(column(service, made, "encode(authorization_value, 'hex')"))
    for plain in (bytes(range(32)), SECRET.encode(), base64.b64encode(bytes(range(32))), b"s3cret-of-mine", b"Bearer"):
        assert plain not in held
    # The same secret is other bytes in another row, so equal ones cannot be recognized.
    again = make(client, secret=SECRET)
    assert column(service, again, "encode(secret, 'hex')") != column(service, made, "encode(secret, 'hex')")


@pytest.mark.parametrize("body, pointer", [
    ({"url": None}, "/url"), ({"url": ""}, "/url"), ({"url": "x" * 2049}, "/url"), ({"url": "not a url"}, "/url"),
    ({"url": "/relative"}, "/url"), ({"url": "ftp://a.example/"}, "/url"), ({"url": "http://a.example/"}, "/url"),
    ({"url": "https://user:word@a.example/"}, "/url"), ({"url": "https://127.0.0.1/"}, "/url"), ({"url": "https://[::1]/"}, "/url"),
    ({"url": "https://10.1.2.3/"}, "/url"), ({"url": "https://169.254.169.254/latest"}, "/url"), ({"url": "https://2130706433/"}, "/url"),
    ({"events": []}, "/events"), ({"events": ["run.ingested", "advice.create"]}, "/events/1"), ({"events": ["webhook.ping"]}, "/events/0"),
    ({"events": ["run.ingested", "run.ingested"]}, "/events/1"), ({"applications": ["a", "a"]}, "/applications/1"),
    ({"applications": [str(i) for i in range(101)]}, "/applications"), ({"labels": {str(i): "" for i in range(65)}}, "/labels"),
    ({"min_severity": "error"}, "/min_severity"), ({"format": "xml"}, "/format"), ({"signature": "v2"}, "/signature"),
    ({"secret": "0" * 40}, "/secret"), ({"secret": "nosec_" + base64.b64encode(bytes(range(32))).decode()}, "/secret"), ({"secret": "whsec_" + "!" * 40}, "/secret"),
    ({"secret": "whsec_" + base64.b64encode(bytes(65)).decode()}, "/secret"), ({"signature": "v1a", "secret": SECRET}, "/secret"),
    ({"authorization": "a\r\nX-Other: b"}, "/authorization"), ({"authorization": ""}, "/authorization"),
    ({"authorization": "x" * 4097}, "/authorization"), ({"concurrency": 0}, "/concurrency"), ({"concurrency": 33}, "/concurrency"),
    ({"enabled": "yes"}, "/enabled"), ({"public_key": "x"}, "/public_key"), ({"evnets": []}, "/evnets"),
])
def test_a_wrong_request_names_the_field(client, body, pointer):
    body = {**HOOK, **body}
    client.refuse("POST", "/v1/webhooks", 422, pointer=pointer, json={k: v for k, v in body.items() if v is not None or k != "url"})


def test_a_misspelt_event_is_told_the_nearest(client):
    problem = client.refuse("POST", "/v1/webhooks", 422, pointer="/events/0", json={**HOOK, "events": ["advice.create"]})
    assert "did you mean advice.created?" in problem["errors"][0]["detail"]


def test_what_goes_wrong_is_not_told_with_the_secret(service, client):
    wrong = "whsec_" + base64.b64encode(b"tell-nobody-" * 7).decode()
    reply = client.request("POST", "/v1/webhooks", 422, json={**HOOK, "secret": wrong, "authorization": "tell-nobody\x01"})
    assert "tell-nobody" not in reply.text and wrong not in reply.text
    assert wrong not in service.log.read_text()


def test_networks_and_plain_http_that_the_operators_allow(make_service):
    service = make_service(PROVISOR_WEBHOOK_DELIVERY="false", PROVISOR_WEBHOOK_PRIVATE_TARGETS="127.0.0.0/8,10.2.0.0/16", PROVISOR_WEBHOOK_PLAIN_HTTP="true")
    client = service.start().client(service.token("alpha"))
    for url in ("http://127.0.0.1:9099/x", "https://10.2.3.4/", "http://hooks.example.com/"):
        make(client, url=url)
    for url in ("https://10.3.0.1/", "http://[::1]/"):
        client.refuse("POST", "/v1/webhooks", 422, pointer="/url", json={**HOOK, "url": url})


@pytest.mark.parametrize("networks", ["10.0.0.0/33", "everything", "::1/129"])
def test_networks_that_are_none_stop_the_program_at_its_start(make_service, networks):
    service = make_service(PROVISOR_WEBHOOK_PRIVATE_TARGETS=networks)
    service.start(wait=False)
    assert service.process.wait(timeout=60) != 0
    assert "webhook_private_targets" in service.log.read_text()


def test_a_team_has_no_more_webhooks_than_it_may(make_service):
    service = make_service(PROVISOR_WEBHOOKS_MAX=2, PROVISOR_WEBHOOK_DELIVERY="false")
    service.start()
    client, other = service.client(service.token("alpha")), service.client(service.token("beta"))
    first, _ = make(client), make(client)
    problem = client.request("POST", "/v1/webhooks", 422, json=HOOK).json()
    assert "webhooks_max" in problem["detail"] and problem["type"].endswith("limit_exceeded")
    make(other)
    client.delete("/v1/webhooks/" + first["id"])
    make(client)


def together(service, call, n=8):
    """What n clients of team alpha get that do it at the same moment."""
    clients = [service.client(service.alpha_token) for _ in range(n)]
    with concurrent.futures.ThreadPoolExecutor(n) as pool:
        return list(pool.map(call, clients))


def test_nor_when_several_are_made_at_the_same_moment(make_service):
    service = make_service(PROVISOR_WEBHOOKS_MAX=3, PROVISOR_WEBHOOK_DELIVERY="false")
    service.alpha_token = service.token("alpha")
    service.start()
    replies = together(service, lambda client: client.post("/v1/webhooks", HOOK, (201, 422)).status_code)
    assert replies.count(201) == 3 and len(service.client(service.alpha_token).get("/v1/webhooks").json()["items"]) == 3


def test_pages_and_fields(service):
    client = service.client(service.token("webhook-pages"))
    made = [make(client, description=str(i))["id"] for i in range(5)]
    seen, path = [], "/v1/webhooks?limit=2"
    while path:
        reply = client.get(path)
        seen += [i["id"] for i in reply.json()["items"]]
        cursor = reply.json()["next_cursor"]
        assert (cursor is None) == ("Link" not in reply.headers)
        path = cursor and "/v1/webhooks?limit=2&cursor=" + cursor
    assert seen == made
    cursor = client.get("/v1/webhooks?limit=2").json()["next_cursor"]
    client.refuse("GET", "/v1/webhooks/%s/deliveries?cursor=%s" % (made[0], cursor), 400, parameter="cursor")
    assert client.get("/v1/webhooks?limit=1&fields=id,status").json()["items"] == [{"id": made[0], "status": "active"}]
    assert client.get("/v1/webhooks/%s?fields=description" % made[3]).json() == {"description": "3"}
    client.refuse("GET", "/v1/webhooks?fields=secret", 422, parameter="fields")


# --- idempotency, versions ------------------------------------------------------------------------------------------


def test_an_idempotency_key_never_replays_a_secret(service, client):
    key = {"Idempotency-Key": uuid.uuid4().hex}
    made = client.request("POST", "/v1/webhooks", 201, json=HOOK, headers=key).json()
    again = client.request("POST", "/v1/webhooks", 409, json=HOOK, headers=key)
    assert made["id"] in again.json()["detail"] and "whsec_" not in again.text
    client.request("POST", "/v1/webhooks", 422, json={**HOOK, "concurrency": 2}, headers=key)
    key = {"Idempotency-Key": uuid.uuid4().hex}
    path = "/v1/webhooks/%s/rotate" % made["id"]
    client.request("POST", path, 200, json={}, headers=key)
    again = client.request("POST", path, 409, json={}, headers=key)
    assert made["id"] in again.json()["detail"] and "whsec_" not in again.text
    assert get(client, made)["version"] == 2
    kept = service.psql("SELECT string_agg(convert_from(body, 'UTF8'), ' ') FROM provisor.idempotency_key")
    assert "whsec_" not in kept


def test_an_idempotency_key_replays_what_holds_none(service, client):
    key = {"Idempotency-Key": uuid.uuid4().hex}
    first = client.request("POST", "/v1/webhooks", 201, json={**HOOK, "signature": "v1a"}, headers=key)
    again = client.request("POST", "/v1/webhooks", 201, json={**HOOK, "signature": "v1a"}, headers=key)
    assert again.json() == first.json() and again.headers["Idempotency-Replayed"] == "true" and again.headers["Location"] == first.headers["Location"]
    for path, body in (("/ping", None), ("/redeliver", {})):
        key = {"Idempotency-Key": uuid.uuid4().hex}
        replies = [client.request("POST", "/v1/webhooks/" + first.json()["id"] + path, 202, json=body, headers=key) for _ in range(2)]
        assert replies[0].json() == replies[1].json() and replies[1].headers["Idempotency-Replayed"] == "true"
    assert get(client, first.json())["pending"] == 1
    key = {"Idempotency-Key": uuid.uuid4().hex}
    for _ in range(2):
        assert client.patch("/v1/webhooks/" + first.json()["id"], {"concurrency": 3}, headers=key).json()["version"] == 2


def test_versions_guard_changes(client):
    made = client.post("/v1/webhooks", HOOK, 201)
    path, etag = made.headers["Location"], made.headers["ETag"]
    client.patch(path, {"concurrency": 2}, 412, headers={"If-Match": '"v9"'})
    changed = client.patch(path, {"concurrency": 2}, headers={"If-Match": etag})
    assert changed.headers["ETag"] != etag and changed.json()["version"] == 2
    client.patch(path, {"concurrency": 3}, 412, headers={"If-Match": etag})
    client.delete(path, 412, headers={"If-Match": etag})
    client.delete(path, headers={"If-Match": changed.headers["ETag"]})
    client.get(path, 404)
    client.delete(path, 404)


# --- changing -------------------------------------------------------------------------------------------------------


def test_a_change_sets_what_it_names(client):
    made = make(client, description="d", labels={"a": "b"}, applications=["x"])
    path = "/v1/webhooks/" + made["id"]
    changed = client.patch(path, {"description": None, "events": ["model.drifted"], "min_severity": "critical", "format": "text", "applications": [],
                                  "concurrency": 1}).json()
    made.pop("secret")
    assert changed == {**made, "description": None, "events": ["model.drifted"], "min_severity": "critical", "format": "text", "applications": [],
                       "concurrency": 1, "version": 2, "updated_at": changed["updated_at"]}
    assert changed["updated_at"] > made["updated_at"]
    assert client.patch(path, {"labels": None}).json()["labels"] == {}
    for body, pointer in (({}, ""), ({"url": "https://10.0.0.1/"}, "/url"), ({"signature": "v1a"}, "/signature"), ({"secret": SECRET}, "/secret"),
                          ({"events": []}, "/events"), ({"enabled": None}, "/enabled")):
        client.refuse("PATCH", path, 422, pointer=pointer, json=body)
    assert get(client, made)["version"] == 3


def test_an_authorization_is_set_kept_and_removed(service, client):
    made = make(client)
    path = "/v1/webhooks/" + made["id"]
    assert client.patch(path, {"authorization": "Bearer one"}).json()["has_authorization"] is True
    sealed = column(service, made, "encode(authorization_value, 'hex')")
    assert b"one" not in bytes.fromhex(sealed)
    assert client.patch(path, {"concurrency": 2}).json()["has_authorization"] is True
    assert column(service, made, "encode(authorization_value, 'hex')") == sealed
    client.patch(path, {"authorization": "Bearer two"})
    assert column(service, made, "encode(authorization_value, 'hex')") != sealed
    assert client.patch(path, {"authorization": None}).json()["has_authorization"] is False


FARES_BADLY = "failures = 12, pauses = 3, held_until = now() + interval '1 hour', last_error = 'HTTP 503', last_failed_at = now()"


@pytest.mark.parametrize("change", [{"enabled": True}, {"url": "https://new.example.com/"}])
def test_enabling_and_a_new_url_start_over(service, client, change):
    made = make(client)
    deliver(service, made, "pending")
    change_row(service, made, FARES_BADLY + ", due_at = now() + interval '1 hour'")
    paused = get(client, made)
    assert (paused["status"], paused["status_reason"], paused["consecutive_failures"], paused["last_error"]) == ("paused", "attempts keep failing", 12, "HTTP 503")
    assert 3500 < seconds_from_now(paused["held_until"]) < 3700
    path = "/v1/webhooks/" + made["id"]
    still = client.patch(path, {"concurrency": 2, "url": made["url"]}).json()
    assert still["status"] == "paused" and still["consecutive_failures"] == 12, "the same URL is no new one"
    renewed = client.patch(path, change).json()
    assert (renewed["status"], renewed["status_reason"], renewed["consecutive_failures"], renewed["last_error"], renewed["held_until"]) == \
        ("active", None, 0, None, None)
    assert renewed["pending"] == 1 and column(service, made, "due_at <= now()") == "t"


def test_disabling_ends_what_waits_and_enabling_forgets_why(service, client):
    made = make(client)
    waiting, delivered = deliver(service, made, "pending"), deliver(service, made, "delivered")
    path = "/v1/webhooks/" + made["id"]
    disabled = client.patch(path, {"enabled": False}).json()
    assert (disabled["status"], disabled["status_reason"], disabled["pending"]) == ("disabled", "a request disabled it", 0)
    ended = client.get("%s/deliveries/%s" % (path, waiting)).json()
    assert (ended["status"], ended["reason"], ended["next_attempt_at"]) == ("dead", "disabled", None) and ended["ended_at"] is not None
    assert client.get("%s/deliveries/%s" % (path, delivered)).json()["status"] == "delivered"
    change_row(service, made, "disabled_reason = 'gone'")
    assert get(client, made)["status_reason"] == "gone"
    for call, body in (("/ping", None), ("/redeliver", {}), ("/deliveries/%s/redeliver" % waiting, None)):
        assert "disabled" in client.request("POST", path + call, 409, json=body).json()["detail"]
    enabled = client.patch(path, {"enabled": True}).json()
    assert (enabled["status"], enabled["status_reason"]) == ("active", None)
    client.post(path + "/deliveries/%s/redeliver" % waiting, status=202)


# --- rotating -------------------------------------------------------------------------------------------------------


def test_a_rotated_secret_overlaps_with_the_former_one(service, client):
    made = make(client)
    path = "/v1/webhooks/%s/rotate" % made["id"]
    old = column(service, made, "encode(secret, 'hex')")
    reply = client.post(path, {}, 200)
    rotated = reply.json()
    assert reply.headers["Cache-Control"] == "no-store" and rotated["secret"].startswith("whsec_") and rotated["secret"] != made["secret"]
    assert rotated["version"] == 2 and 86300 < seconds_from_now(rotated["former_secret_until"]) < 86500
    assert column(service, made, "encode(former_secret, 'hex')") == old and column(service, made, "encode(secret, 'hex')") != old
    assert get(client, made)["former_secret_until"] == rotated["former_secret_until"]
    assert client.post(path, {"secret": SECRET, "overlap_s": 0}, 200).json()["secret"] == SECRET
    assert column(service, made, "former_secret IS NULL AND former_secret_until IS NULL") == "t"
    change_row(service, made, "former_secret = secret, former_secret_until = now() - interval '1 second'")
    assert get(client, made)["former_secret_until"] is None, "it is over"


def test_a_key_pair_is_rotated_too(service, client):
    made = make(client, signature="v1a")
    path = "/v1/webhooks/%s/rotate" % made["id"]
    rotated = client.post(path, {"overlap_s": 60}, 200).json()
    assert rotated["secret"] is None and rotated["public_key"] != made["public_key"]
    assert column(service, made, "encode(public_key, 'base64')") == rotated["public_key"].removeprefix("whpk_")
    client.refuse("POST", path, 422, pointer="/secret", json={"secret": SECRET})
    for body, pointer in (({"overlap_s": 604801}, "/overlap_s"), ({"overlap_s": -1}, "/overlap_s"), ({"keep": 1}, "/keep")):
        client.refuse("POST", path, 422, pointer=pointer, json=body)


# --- deliveries -----------------------------------------------------------------------------------------------------


def test_a_ping_is_a_delivery(service, client):
    made = make(client)
    reply = client.post("/v1/webhooks/%s/ping" % made["id"], status=202)
    ping = reply.json()
    assert reply.headers["Location"] == "/v1/webhooks/%s/deliveries/%s" % (made["id"], ping["id"])
    assert client.get(reply.headers["Location"]).json() == ping
    assert (ping["event_type"], ping["severity"], ping["status"], ping["attempts"], ping["data"], ping["log"]) == \
        ("webhook.ping", "info", "pending", 0, {"webhook_id": made["id"]}, [])
    assert re.fullmatch(r"evt_[0-9a-f-]{36}", ping["message_id"]) and 86300 < seconds_from_now(ping["give_up_at"]) < 86500
    assert get(client, made)["pending"] == 1 and column(service, made, "due_at <= now()") == "t"
    change_row(service, made, "held_until = now() + interval '1 hour', due_at = NULL")
    client.post("/v1/webhooks/%s/ping" % made["id"], status=202)
    assert column(service, made, "due_at = held_until") == "t", "a pause is respected"


ATTEMPT = '{"at": "2026-01-05T10:00:01.5Z", "status": %s, "error": %s, "duration_ms": %s, "response": %s}'


def test_a_delivery_shows_its_attempts(service, client):
    made = make(client)
    entries = [ATTEMPT % ("503", '"HTTP 503"', "12.5", '"busy \\u003cb\\u003e"'), ATTEMPT % ("null", '"connection refused"', "null", "null")]
    log = "{%s}" % ",".join('"%s"' % e.replace("\\", "\\\\").replace('"', '\\"') for e in entries)
    one = deliver(service, made, log=log)
    shown = client.get("/v1/webhooks/%s/deliveries/%s" % (made["id"], one)).json()
    assert shown["log"] == [
        {"at": "2026-01-05T10:00:01.5Z", "status": 503, "error": "HTTP 503", "duration_ms": 12.5, "response": "busy <b>"},
        {"at": "2026-01-05T10:00:01.5Z", "status": None, "error": "connection refused", "duration_ms": None, "response": None}]
    assert (shown["status"], shown["reason"], shown["attempts"], shown["severity"], shown["event_at"]) == ("dead", "gave_up", 7, "warning", "2026-01-05T10:00:00Z")
    assert shown["message_id"] == "evt_" + one and shown["data"] == {"id": "x", "n": 1.5}
    listed = client.get("/v1/webhooks/%s/deliveries" % made["id"]).json()["items"]
    assert listed == [{k: v for k, v in shown.items() if k not in ("data", "log")}]
    assert client.get("/v1/webhooks/%s/deliveries/%s?fields=log.status" % (made["id"], one)).json() == {"log": [{"status": 503}, {"status": None}]}


def test_deliveries_are_filtered_and_come_newest_first(service, client):
    made = make(client)
    path = "/v1/webhooks/%s/deliveries" % made["id"]
    rows = [deliver(service, made, status, kind) for status, kind in
            (("dead", "advice.created"), ("pending", "webhook.ping"), ("delivered", "advice.created"), ("dead", "model.drifted"), ("pending", "advice.created"))]

    def ids(query=""):
        return [i["id"] for i in client.get(path + query).json()["items"]]

    assert ids() == rows[::-1]
    assert ids("?status=dead") == [rows[3], rows[0]] and ids("?event_type=advice.created") == [rows[4], rows[2], rows[0]]
    assert ids("?status=pending&event_type=webhook.ping") == [rows[1]]
    first = client.get(path + "?limit=2&status=pending").json()
    assert first["next_cursor"] is None
    first = client.get(path + "?limit=2").json()
    assert ids("?limit=2&cursor=" + first["next_cursor"]) == [rows[2], rows[1]]
    client.refuse("GET", path + "?limit=2&status=dead&cursor=" + first["next_cursor"], 400, parameter="cursor")
    client.refuse("GET", path + "?status=lost", 422, parameter="status")
    client.refuse("GET", path + "?event_type=x", 422, parameter="event_type")


@pytest.mark.parametrize("status,more", [("dead", 1), ("delivered", 1), ("pending", 0)])
def test_one_delivery_is_sent_again(service, client, status, more):
    made = make(client)
    one = deliver(service, made, status)
    if status == "pending":
        service.psql("UPDATE provisor.webhook_delivery SET next_at = now() + interval '1 hour' WHERE id = '%s'" % one)
    before = get(client, made)["pending"]
    reply = client.post("/v1/webhooks/%s/deliveries/%s/redeliver" % (made["id"], one), status=202)
    again = reply.json()
    assert reply.headers["Location"] == "/v1/webhooks/%s/deliveries/%s" % (made["id"], one)
    assert (again["id"], again["message_id"], again["status"], again["reason"], again["ended_at"], again["attempts"]) == (one, "evt_" + one, "pending", None, None, 7)
    assert seconds_from_now(again["next_attempt_at"]) < 5 and 86300 < seconds_from_now(again["give_up_at"]) < 86500
    assert service.psql("SELECT tries FROM provisor.webhook_delivery WHERE id = '%s'" % one).strip() == "0"
    assert get(client, made)["pending"] == before + more and column(service, made, "due_at <= now()") == "t"


def test_what_waits_is_counted_once_whoever_asks_for_it(service, client):
    made = make(client)
    one = deliver(service, made)
    path = "/v1/webhooks/%s" % made["id"]
    together(service, lambda client: client.post("%s/deliveries/%s/redeliver" % (path, one), status=202))
    assert get(client, made)["pending"] == 1
    together(service, lambda client: client.post(path + "/ping", status=202))
    assert get(client, made)["pending"] == 9
    answers = together(service, lambda client: client.patch(path, {"enabled": False}) and client.request("POST", path + "/ping", 409, json=None))
    assert len(answers) == 8 and get(client, made)["pending"] == 0


def test_many_deliveries_are_sent_again(service, client):
    made = make(client)
    path = "/v1/webhooks/%s/redeliver" % made["id"]
    rows = [deliver(service, made, "dead", at="timestamptz '2026-01-05T%02d:00:00Z'" % hour) for hour in range(10, 15)]
    done = [deliver(service, made, "delivered") for _ in range(2)]
    assert client.post(path, {"since": "2026-01-05T11:00:00Z", "until": "2026-01-05T13:00:00Z"}, 202).json() == {"redelivered": 2, "more": False}

    def pending():
        return {i["id"] for i in client.get("/v1/webhooks/%s/deliveries?status=pending" % made["id"]).json()["items"]}

    assert pending() == set(rows[1:3]) and get(client, made)["pending"] == 2
    assert client.post(path, {}, 202).json() == {"redelivered": 3, "more": False}
    assert client.post(path, {"status": "delivered"}, 202).json() == {"redelivered": 2, "more": False}
    assert pending() == set(rows + done) and get(client, made)["pending"] == 7
    assert client.post(path, {}, 202).json() == {"redelivered": 0, "more": False}
    for body, pointer in (({"status": "pending"}, "/status"), ({"since": "x"}, "/since"), ({"all": True}, "/all"),
                          ({"since": "2026-01-05T11:00:00Z", "until": "2026-01-05T11:00:00Z"}, "/until")):
        client.refuse("POST", path, 422, pointer=pointer, json=body)


def test_no_more_are_sent_again_at_once_than_may_wait(make_service):
    service = make_service(PROVISOR_WEBHOOK_PENDING_MAX=3, PROVISOR_WEBHOOK_DELIVERY="false")
    client = service.start().client(service.token("alpha"))
    made = make(client)
    rows = [deliver(service, made, "dead") for _ in range(5)]
    path = "/v1/webhooks/%s/redeliver" % made["id"]
    assert client.post(path, {}, 202).json() == {"redelivered": 3, "more": True}
    listed = client.get("/v1/webhooks/%s/deliveries?status=dead" % made["id"]).json()["items"]
    assert [i["id"] for i in listed] == rows[:2:-1], "the oldest go first"
    assert client.post(path, {}, 202).json() == {"redelivered": 0, "more": True}


def test_ten_thousand_at_once(service, client):
    made = make(client)
    service.psql("INSERT INTO provisor.webhook_delivery (team_id, webhook_id, id, event_id, type, severity, data, happened_at, status, give_up_at, ended_at)"
                 " SELECT team_id, id, gen_random_uuid(), gen_random_uuid(), 'advice.created', 0, '{}', now(), 'dead', now(), now()"
                 " FROM provisor.webhook, generate_series(1, 10001) WHERE id = '%s'" % made["id"])
    path = "/v1/webhooks/%s/redeliver" % made["id"]
    assert client.post(path, {}, 202).json() == {"redelivered": 10000, "more": True}
    assert client.post(path, {}, 202).json() == {"redelivered": 1, "more": False}
    assert get(client, made)["pending"] == 10001


def test_deliveries_go_with_their_webhook(service, client):
    made = make(client)
    deliver(service, made, "pending")
    client.delete("/v1/webhooks/" + made["id"])
    assert service.psql("SELECT count(*) FROM provisor.webhook_delivery WHERE webhook_id = '%s'" % made["id"]).strip() == "0"


# --- others ---------------------------------------------------------------------------------------------------------


CALLS = [("GET", "", None), ("PATCH", "", {"concurrency": 1}), ("DELETE", "", None), ("POST", "/rotate", {}), ("POST", "/ping", None),
         ("POST", "/redeliver", {}), ("GET", "/deliveries", None), ("GET", "/deliveries/{d}", None), ("POST", "/deliveries/{d}/redeliver", None)]


@pytest.mark.parametrize("method,call,body", CALLS)
def test_another_teams_webhook_does_not_exist(service, client, stranger, method, call, body):
    made = make(client)
    one = deliver(service, made)
    before = service.psql("SELECT w FROM provisor.webhook w WHERE id = '%s'" % made["id"])
    path = "/v1/webhooks/" + made["id"] + call.replace("{d}", one)
    stranger.request(method, path, 404, json=body)
    assert made["id"] not in stranger.get("/v1/webhooks?limit=200").text
    assert service.psql("SELECT w FROM provisor.webhook w WHERE id = '%s'" % made["id"]) == before
    for unknown in (NOWHERE, "no-id"):
        client.request(method, "/v1/webhooks/" + unknown + call.replace("{d}", one), 404, json=body)
        if "{d}" in call:
            client.request(method, "/v1/webhooks/" + made["id"] + call.replace("{d}", unknown), 404, json=body)


def test_a_delivery_of_another_webhook_is_not_found(service, client):
    made, other = make(client), make(client)
    one = deliver(service, other)
    client.get("/v1/webhooks/%s/deliveries/%s" % (made["id"], one), 404)
    client.request("POST", "/v1/webhooks/%s/deliveries/%s/redeliver" % (made["id"], one), 404)
    assert get(client, made)["pending"] == 0


def test_only_admins_may(service):
    user = service.client(service.token("alpha", "read,write"))
    user.request("GET", "/v1/webhooks", 403)
    user.request("POST", "/v1/webhooks", 403, json=HOOK)


def test_every_change_leaves_an_audit_row(service):
    client = service.client(service.token("webhook-audit"))
    made = make(client, authorization="Bearer hidden-away")
    path = "/v1/webhooks/" + made["id"]
    client.patch(path, {"concurrency": 2})
    client.post(path + "/rotate", {}, 200)
    one = client.post(path + "/ping", status=202).json()["id"]
    client.post("%s/deliveries/%s/redeliver" % (path, one), status=202)
    client.post(path + "/redeliver", {}, 202)
    client.delete(path)
    rows = client.get("/v1/audit?limit=200").json()["items"]
    mine = [(r["action"], r["subject"]) for r in rows if r["subject"] == "webhook/" + made["id"]]
    assert [action for action, _ in reversed(mine)] == ["webhook.insert", "webhook.update", "webhook.rotate", "webhook.ping", "webhook.redeliver",
                                                        "webhook.redeliver", "webhook.delete"]
    assert "hidden-away" not in str(rows) and "whsec_" not in str(rows)
