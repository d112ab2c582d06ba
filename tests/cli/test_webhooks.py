"""`provisor webhooks` against a service that delivers nothing, so that deliveries stay as they were asked for."""
import json

import pytest

HOOK = {"url": "https://hooks.example.com/provisor", "events": ["advice.created"]}


@pytest.fixture(scope="module")
def quiet(make_service):
    service = make_service(PROVISOR_WEBHOOK_DELIVERY="false")
    service.start()
    service.alpha_token = service.token("alpha")
    return service


@pytest.fixture
def cli(quiet, make_cli):
    return make_cli(quiet.base_url, quiet.alpha_token)


@pytest.fixture
def client(quiet):
    return quiet.client(quiet.alpha_token)


def create(cli, **members):
    """The id of a new webhook, and what standard output held."""
    result = cli("webhooks", "create", "-", input=json.dumps({**HOOK, **members}))
    return result.err.split("Created the webhook ")[1].split(".")[0], result


def test_a_secret_stands_alone_on_standard_output(cli):
    hook, made = create(cli)
    secret = made.out.strip()
    assert made.out == secret + "\n" and secret.startswith("whsec_") and secret not in made.err
    rotated = cli("webhooks", "rotate", hook, "--no-overlap")
    assert rotated.out.startswith("whsec_") and rotated.out.strip() not in (secret, rotated.err)
    assert json.loads(cli("webhooks", "show", hook, "-o", "json").out)["former_secret_until"] is None
    cli("webhooks", "rotate", hook)
    shown = cli("webhooks", "show", hook, "-o", "json").out
    assert json.loads(shown)["former_secret_until"] is not None and "whsec_" not in shown
    whole = json.loads(cli("webhooks", "create", "-", "-o", "json", input=json.dumps(HOOK)).out)
    assert whole["secret"].startswith("whsec_") and whole["id"]


def test_a_secret_and_an_authorization_come_from_a_file(cli, client):
    hook, made = create(cli, secret="whsec_" + "QUJD" * 11, authorization="Bearer from-a-file")
    assert made.out == "whsec_" + "QUJD" * 11 + "\n" and "from-a-file" not in made.err
    assert client.get("/v1/webhooks/" + hook).json()["has_authorization"] is True


def test_pings_and_deliveries_are_sent_again(cli, quiet):
    hook, _ = create(cli)
    ping = json.loads(cli("webhooks", "ping", hook, "-o", "json").out)
    assert ping["event_type"] == "webhook.ping" and ping["status"] == "pending"
    listed = json.loads(cli("webhooks", "deliveries", hook, "--event", "webhook.ping", "--status", "pending", "-o", "json").out)
    assert [d["id"] for d in listed] == [ping["id"]]
    quiet.psql("UPDATE provisor.webhook_delivery SET status = 'dead', reason = 'gave_up', next_at = NULL, ended_at = now() WHERE id = '%s'" % ping["id"])
    assert "gave_up" in cli("webhooks", "deliveries", hook, "--status", "dead").out
    again = cli("webhooks", "redeliver", hook, ping["id"], "-o", "json")
    assert json.loads(again.out)["status"] == "pending" and "webhooks deliveries " + hook in again.err
    quiet.psql("UPDATE provisor.webhook_delivery SET status = 'dead', reason = 'gave_up', next_at = NULL, ended_at = now() WHERE id = '%s'" % ping["id"])
    assert json.loads(cli("webhooks", "redeliver", hook, "--until", "1h", "-o", "json").out) == {"redelivered": 0, "more": False}
    assert json.loads(cli("webhooks", "redeliver", hook, "--since", "1h", "-o", "json").out) == {"redelivered": 1, "more": False}
    assert json.loads(cli("webhooks", "redeliver", hook, "--status", "delivered", "-o", "json").out)["redelivered"] == 0


def test_a_webhook_is_changed_disabled_and_enabled(cli, client):
    hook, _ = create(cli)
    shown = json.loads(cli("webhooks", "update", hook, "-", "-o", "json", input="description: for people\nmin_severity: warning\n").out)
    assert shown["description"] == "for people" and shown["min_severity"] == "warning" and shown["events"] == HOOK["events"]
    assert json.loads(cli("webhooks", "disable", hook, "-o", "json").out)["status"] == "disabled"
    assert client.get("/v1/webhooks/" + hook).json()["enabled"] is False
    assert json.loads(cli("webhooks", "enable", hook, "-o", "json").out)["status"] == "active"
    assert "min_severity" in cli("webhooks", "update", hook, "-", input='{"min_severity": "loud"}', status=2).err


def test_attempts_of_a_delivery(cli, quiet):
    hook, _ = create(cli)
    ping = json.loads(cli("webhooks", "ping", hook, "-o", "json").out)
    entry = '{"at": "2026-01-05T02:00:00Z", "status": 503, "error": null, "duration_ms": 12, "response": "come back"}'
    quiet.psql("UPDATE provisor.webhook_delivery SET attempts = 1, tries = 1, log = ARRAY['%s'::json] WHERE id = '%s'" % (entry, ping["id"]))
    assert json.loads(cli("webhooks", "attempts", hook, ping["id"], "-o", "json").out) == [json.loads(entry)]
    table = cli("webhooks", "attempts", hook, ping["id"]).out
    assert "503" in table and "come back" in table


def test_an_empty_word_is_no_delivery_and_not_all_of_them(cli):
    hook, _ = create(cli)
    cli("webhooks", "redeliver", hook, "", status=2)
    cli("webhooks", "attempts", hook, "", status=2)


def test_options_that_exclude_each_other(cli):
    hook, _ = create(cli)
    assert "--no-overlap" in cli("webhooks", "rotate", hook, "--overlap", "1h", "--no-overlap", status=2).err
    delivery = json.loads(cli("webhooks", "ping", hook, "-o", "json").out)["id"]
    for option in (["--status", "dead"], ["--since", "1d"], ["--until", "1d"]):
        assert option[0] in cli("webhooks", "redeliver", hook, delivery, *option, status=2).err


def test_deleting_takes_a_word_more(cli, client):
    hook, _ = create(cli)
    assert cli("webhooks", "delete", hook, status=2).out == ""
    client.get("/v1/webhooks/" + hook)
    cli("webhooks", "delete", hook, "--yes")
    client.get("/v1/webhooks/" + hook, 404)
