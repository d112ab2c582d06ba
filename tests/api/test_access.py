"""Who may do what: tokens, scopes, teams, the audit trail."""
import datetime
import hashlib
import os
import re
import subprocess
import time
import uuid

import pytest
import requests

from conftest import PROVISORD

BOTH = ["read", "write"]


def in_seconds(seconds):
    at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return at.isoformat().replace("+00:00", "Z")


def make(client, **body):
    body = {"name": "t", "scopes": BOTH, **body}
    return client.post("/v1/tokens", body, 201)


def forged(token_id, secret):
    """Well-formed to the last digit: the checksum is no secret."""
    text = "prv_%s_%s" % (token_id, secret)
    return text + "_" + hashlib.blake2b(text.encode(), digest_size=16).hexdigest()[:8]


def until_refused(client, seconds):
    """How long the client's token still works."""
    start = time.monotonic()
    while time.monotonic() - start < seconds:
        if client.request("GET", "/v1/applications", (200, 401)).status_code == 401:
            return time.monotonic() - start
        time.sleep(0.1)
    raise AssertionError("the token still works after %s s" % seconds)


def test_a_new_token_speaks_for_its_team_with_its_scopes(service, client):
    reply = make(client, name="ci", scopes=["read"])
    token = reply.json()
    assert re.fullmatch(r"prv_[0-9a-f]{32}_[0-9a-f]{64}_[0-9a-f]{8}", token["token"])
    assert token["team"] == "alpha" and token["scopes"] == ["read"] and token["expires_at"] is None
    assert reply.headers["Cache-Control"] == "no-store"
    assert reply.headers["Location"] == "/v1/tokens/" + token["id"]
    reader = service.client(token["token"])
    reader.get("/v1/applications")
    refused = reader.request("POST", "/v1/applications", 403, json={"name": "x"})
    assert 'error="insufficient_scope"' in refused.headers["WWW-Authenticate"]
    assert refused.json()["detail"].endswith(": write")
    assert 'scope="write"' in refused.headers["WWW-Authenticate"]
    reader.request("GET", "/v1/tokens", 403)
    reader.request("GET", "/v1/audit", 403)


def test_the_secret_is_in_no_later_reply_and_not_in_the_database(service, client):
    token = make(client).json()
    secret = token["token"].split("_")[2]
    listed = client.get("/v1/tokens?limit=200").text
    assert token["id"] in listed and secret not in listed
    dump = subprocess.run(["/usr/lib/postgresql/15/bin/pg_dump", "--data-only", "--table=provisor.token",
                           service.owner_url], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    # Row level security keeps even the owner's dump from reading all; what comes must not hold it.
    assert secret not in dump.stdout
    assert secret not in service.log.read_text()


@pytest.mark.parametrize("how", ["missing", "basic", "empty", "garbled", "checksum", "unknown", "two"])
def test_what_is_no_token_is_401(service, client, how):
    good = client.token
    last = "0" if good[-1] != "0" else "1"
    value = {"missing": None, "basic": "Basic " + good, "empty": "Bearer ", "garbled": "Bearer prv_x_y_z",
             "checksum": "Bearer " + good[:-1] + last,
             "unknown": "Bearer " + forged("0" * 32, "0" * 64),
             "two": "Bearer " + good + " " + good}[how]
    headers = {} if value is None else {"Authorization": value}
    reply = client.request("GET", "/v1/applications", (400, 401), headers=headers, token=False)
    assert reply.headers["WWW-Authenticate"].startswith("Bearer realm=\"provisor\"") or reply.status_code == 400
    if how == "missing":
        assert "error=" not in reply.headers["WWW-Authenticate"]


def test_only_the_whole_token_opens(service, client, stranger):
    """Right id with another token's secret, or a guessed one, and a checksum that fits."""
    alpha, beta = client.token.split("_"), stranger.token.split("_")
    assert forged(alpha[1], alpha[2]) == client.token, "the test forges as the service makes"
    for secret in (beta[2], "0" * 64, alpha[2][:-1] + ("0" if alpha[2][-1] != "0" else "1")):
        service.client(forged(alpha[1], secret)).request("GET", "/v1/applications", 401)


def test_a_revoked_token_dies_within_five_seconds_and_stays_dead(service, client):
    token = make(client).json()
    user = service.client(token["token"])
    user.get("/v1/applications")
    client.delete("/v1/tokens/" + token["id"])
    assert until_refused(user, 5) < 5
    client.delete("/v1/tokens/" + token["id"])  # again: no harm
    revoked = [t for t in client.get("/v1/tokens?limit=200").json()["items"] if t["id"] == token["id"]]
    assert revoked[0]["revoked_at"] is not None
    assert user.request("GET", "/v1/applications", 401).json()["detail"] == "the token was revoked"


def test_an_expired_token_is_refused(service, client):
    token = make(client, expires_at=in_seconds(1.0)).json()
    user = service.client(token["token"])
    user.get("/v1/applications")
    assert until_refused(user, 6.5) < 6.5
    for _ in range(2):  # asked of the database, and remembered
        refused = user.request("GET", "/v1/applications", 401)
        assert refused.json()["detail"] == "the token expired at " + re.sub(r"\.\d+", "", token["expires_at"])
        assert "Provisor-Token-Expires" not in refused.headers
    # Who knows no more than the number of a token learns nothing.
    forged = token["token"].split("_")
    forged[2] = forged[2][::-1]
    assert service.client("_".join(forged)).request("GET", "/v1/applications", 401).json()["detail"] == "the token is not valid"


def test_two_tokens_live_side_by_side(service, client):
    users = [service.client(make(client, name="rotate").json()["token"]) for _ in range(2)]
    for user in users:
        user.get("/v1/applications")


def test_use_is_noted(service, client):
    token = make(client).json()
    assert token["last_used_at"] is None
    service.client(token["token"]).get("/v1/applications")
    listed = {t["id"]: t for t in client.get("/v1/tokens?limit=200").json()["items"]}
    assert listed[token["id"]]["last_used_at"] is not None


@pytest.mark.parametrize("body, pointer", [
    ({"scopes": ["read"]}, "/name"),
    ({"name": "", "scopes": ["read"]}, "/name"),
    ({"name": "t"}, "/scopes"),
    ({"name": "t", "scopes": []}, "/scopes"),
    ({"name": "t", "scopes": "read"}, "/scopes"),
    ({"name": "t", "scopes": ["root"]}, "/scopes/0"),
    ({"name": "t", "scopes": ["read", "read"]}, "/scopes/1"),
    ({"name": "t", "scopes": ["read"], "expires_at": "tomorrow"}, "/expires_at"),
    ({"name": "t", "scopes": ["read"], "expires_at": "2001-01-01T00:00:00Z"}, "/expires_at"),
    ({"name": "t", "scopes": ["read"], "extra": 1}, "/extra"),
])
def test_a_wrong_request_for_a_token_names_the_field(client, body, pointer):
    client.refuse("POST", "/v1/tokens", 422, pointer=pointer, json=body)


def test_another_teams_token_cannot_be_seen_or_revoked(service, client, stranger):
    token = make(client).json()
    stranger.request("DELETE", "/v1/tokens/" + token["id"], 404)
    assert token["id"] not in stranger.get("/v1/tokens?limit=200").text
    service.client(token["token"]).get("/v1/applications")
    stranger.request("DELETE", "/v1/tokens/not-an-id", 404)


def test_an_idempotency_key_never_replays_the_secret(service, client):
    key = {"Idempotency-Key": '"token-once"'}
    first = client.request("POST", "/v1/tokens", 201, json={"name": "once", "scopes": BOTH}, headers=key).json()
    again = client.request("POST", "/v1/tokens", 409, json={"name": "once", "scopes": BOTH}, headers=key)
    assert first["id"] in again.json()["detail"] and "prv_" not in again.text
    made = [t for t in client.get("/v1/tokens?limit=200").json()["items"] if t["name"] == "once"]
    assert len(made) == 1


def test_only_the_operators_make_teams_and_give_tokens_to_them(service, client, operator, name):
    client.request("GET", "/v1/teams", 403)
    client.request("POST", "/v1/teams", 403, json={"name": name})
    client.request("POST", "/v1/tokens", 403, json={"name": "t", "scopes": BOTH, "team": "beta"})
    team = operator.post("/v1/teams", {"name": name}, 201).json()
    assert team["name"] == name
    operator.request("POST", "/v1/teams", 409, json={"name": name})
    token = operator.post("/v1/tokens", {"name": "first", "scopes": BOTH + ["admin"], "team": name}, 201).json()
    assert token["team"] == name
    newcomer = service.client(token["token"])
    assert newcomer.get("/v1/applications").json()["items"] == []
    assert [t["id"] for t in newcomer.get("/v1/tokens").json()["items"]] == [token["id"]]
    assert token["id"] not in operator.get("/v1/tokens?limit=200").text
    operator.refuse("POST", "/v1/tokens", 422, pointer="/team",
                    json={"name": "t", "scopes": BOTH, "team": "no-" + name})
    # Naming one's own team is no privilege.
    assert client.post("/v1/tokens", {"name": "t", "scopes": BOTH, "team": "alpha"}, 201).json()["team"] == "alpha"


def pages(client, path, limit):
    items, cursor = [], None
    while True:
        reply = client.get("%s?limit=%d" % (path, limit) + ("" if cursor is None else "&cursor=" + cursor))
        items += reply.json()["items"]
        cursor = reply.json()["next_cursor"]
        assert ("Link" in reply.headers) == (cursor is not None)
        if cursor is None:
            return [i["id"] for i in items]
        assert reply.headers["Link"] == "<%s?cursor=%s&limit=%d>; rel=\"next\"" % (path, cursor, limit)


def test_pages_hold_everything_once(service, operator, name):
    """The team is its own: what other tests made would be many pages."""
    client = service.client(service.token(name))
    for _ in range(3):
        make(client)
    for user, path, limit in ((client, "/v1/tokens", 2), (operator, "/v1/teams", 20), (client, "/v1/audit", 2)):
        ids = pages(user, path, limit)
        assert ids == pages(user, path, 200) and len(set(ids)) == len(ids) > 1


def test_a_cursor_opens_only_where_it_was_given_out(client, stranger):
    make(client)
    cursor = client.get("/v1/tokens?limit=1").json()["next_cursor"]
    client.refuse("GET", "/v1/audit?cursor=" + cursor, 400, parameter="cursor")
    stranger.refuse("GET", "/v1/tokens?cursor=" + cursor, 400, parameter="cursor")
    client.refuse("GET", "/v1/tokens?cursor=" + cursor[:-2], 400, parameter="cursor")
    client.refuse("GET", "/v1/tokens?limit=0", 422, parameter="limit")
    client.refuse("GET", "/v1/tokens?limit=201", 422, parameter="limit")
    client.refuse("GET", "/v1/tokens?limit=x", 422, parameter="limit")
    client.refuse("GET", "/v1/tokens?page=2", 422, parameter="page")


def test_every_write_leaves_an_audit_row_with_who_and_what(client, stranger, name):
    request_id = "audit-" + name
    token = client.request("POST", "/v1/tokens", 201, json={"name": name, "scopes": BOTH},
                           headers={"X-Request-Id": request_id}).json()
    rows = client.get("/v1/audit?limit=200").json()["items"]
    mine = [r for r in rows if r["request_id"] == request_id]
    assert len(mine) == 1
    assert mine[0]["action"] == "token.insert" and token["id"] in mine[0]["subject"]
    assert mine[0]["actor"] == "test" and mine[0]["token_id"]
    # By id, the order of writing; `at` is when the transaction began, and transactions overlap.
    assert [r["id"] for r in rows] == sorted((r["id"] for r in rows), reverse=True)
    assert request_id not in stranger.get("/v1/audit?limit=200").text
    # What is refused changes nothing and leaves no row.
    client.request("POST", "/v1/tokens", 422, json={"name": name}, headers={"X-Request-Id": request_id + "-no"})
    assert request_id + "-no" not in client.get("/v1/audit?limit=200").text


# --- the command line -------------------------------------------------------------------------------


def run(service, *words, **env):
    return subprocess.run([str(PROVISORD), *words], env=service.env(**env), text=True, capture_output=True)


def test_the_command_line_makes_shows_and_revokes(service):
    made = run(service, "token", "create", "--team", "alpha", "--name", "by hand", "--scopes", "read", "--expires-in", "90d")
    assert made.returncode == 0 and re.fullmatch(r"prv_[0-9a-f]+_[0-9a-f]+_[0-9a-f]+\n", made.stdout)
    token = made.stdout.strip()
    assert token not in made.stderr
    user = service.client(token)
    user.get("/v1/applications")
    listed = [line.split("\t") for line in run(service, "token", "list", "--team=alpha").stdout.splitlines()]
    row = [r for r in listed if r[2] == "by hand"][-1]
    assert row[0].replace("-", "") == token.split("_")[1] and row[1] == "alpha" and row[3] == "r--"
    assert row[5] != "-" and row[7] == "-"
    assert "beta" in run(service, "token", "list").stdout
    misspelt = run(service, "token", "list", "--team=alhpa")
    assert (misspelt.returncode, misspelt.stdout) == (1, "") and "no such team" in misspelt.stderr
    assert run(service, "token", "revoke", row[0]).returncode == 0
    assert until_refused(user, 5) < 5
    missing = run(service, "token", "revoke", "00000000-0000-7000-8000-000000000000")
    assert missing.returncode == 1 and "no such token" in missing.stderr


@pytest.mark.parametrize("words", [
    (), ("make",), ("create",), ("create", "--team", "a", "--name", "n"), ("create", "--team", "a", "--name", "n", "--scopes", "all"),
    ("create", "--team", "a", "--name", "n", "--scopes", "read", "--expires-in", "soon"), ("revoke",), ("revoke", "x"),
    ("list", "x"), ("create", "--color", "red"),
])
def test_the_command_line_refuses_what_it_does_not_understand(service, words):
    result = run(service, "token", *words)
    assert result.returncode == 2 and result.stdout == "" and result.stderr.startswith("provisord: ")


# --- false tokens ----------------------------------------------------------------------------------------------------

def false_token():
    """Well-formed, checksum and all, and nobody's."""
    text = "prv_%s_%s" % (uuid.uuid4().hex, os.urandom(32).hex())
    return "%s_%s" % (text, hashlib.blake2b(text.encode(), digest_size=16).hexdigest()[:8])


def lookups(service, answer):
    text = requests.get(service.base_url + "/metrics", timeout=10).text
    found = re.search(r'^provisor_token_lookups_total{answer="%s"} (\S+)$' % answer, text, re.M)
    return int(float(found[1])) if found else 0


def ask_with(session, service, token):
    return session.get(service.base_url + "/v1/applications", headers={"Authorization": "Bearer " + token}, timeout=20)


def test_every_reply_says_that_the_token_ends_soon(service, client):
    """Of success and of failure, with a body and without, while the caller is known."""
    soon = make(client, expires_at=in_seconds(13.9 * 86400)).json()
    user = service.client(soon["token"])
    for method, path, status in (("GET", "/v1/applications", 200), ("GET", "/v1/applications", 200), ("GET", "/v1/applications/none", 404), ("POST", "/v1/advice", 400),
                                 ("GET", "/v1/tokens", 403)):
        assert user.request(method, path, status).headers["Provisor-Token-Expires"] == soon["expires_at"], path
    for quiet in (make(client, expires_at=in_seconds(14.1 * 86400)).json(), make(client).json()):
        assert "Provisor-Token-Expires" not in service.client(quiet["token"]).get("/v1/applications").headers
    for reply in (requests.get(service.base_url + "/healthz"), requests.get(service.base_url + "/v1/applications"),
                  requests.get(service.base_url + "/healthz", headers={"Authorization": "Bearer " + soon["token"]})):
        assert "Provisor-Token-Expires" not in reply.headers


@pytest.mark.parametrize("days, announced", [(0, []), (3, [2]), (3650, [2, 13])])
def test_how_long_before_its_end_a_token_is_announced(make_service, days, announced):
    service = make_service(PROVISOR_TOKEN_WARNING_DAYS=days)
    service.start()
    client = service.client(service.command("token", "create", "--team", "operators", "--name", "x", "--scopes", "admin,read,write").strip())
    tokens = {n: make(client, expires_at=in_seconds(n * 86400)).json()["token"] for n in (2, 13)}
    assert [n for n, token in tokens.items() if "Provisor-Token-Expires" in service.client(token).get("/v1/applications").headers] == announced


def test_a_false_token_is_looked_up_once(make_service):
    service = make_service(PROVISOR_TOKEN_REFUSAL_CACHE_MS=5000)
    service.start()
    token = false_token()
    with requests.Session() as session:
        first = ask_with(session, service, token)
        assert first.status_code == 401
        for _ in range(30):
            again = ask_with(session, service, token)
            assert (again.status_code, again.headers["WWW-Authenticate"]) == (401, first.headers["WWW-Authenticate"])
            assert again.json()["detail"] == first.json()["detail"]
        assert 1 <= lookups(service, "false") <= 3, "more than one only where 31 requests take longer than five seconds"
        for broken in (token[:-1], token[:-1] + ("0" if token[-1] != "0" else "1"), "prv_x", "x" * 300):
            before = lookups(service, "false")
            assert ask_with(session, service, broken).status_code == 401
            assert lookups(service, "false") == before, "what its checksum refutes is not looked up"
    made = service.token("alpha")
    assert service.client(made).get("/v1/applications").status_code == 200, "a new token works at once"


def test_a_flood_of_false_tokens_keeps_out_nobody_who_was_let_in_before(make_service):
    service = make_service(PROVISOR_TOKEN_LOOKUPS_PER_S=1, PROVISOR_TOKEN_CACHE_MS=0)
    known = service.token("alpha")
    service.start()
    with requests.Session() as session:
        assert ask_with(session, service, known).status_code == 200
        begin = time.monotonic()
        statuses = []
        for _ in range(60):
            reply = ask_with(session, service, false_token())
            statuses.append(reply.status_code)
            assert ask_with(session, service, known).status_code == 200, "looked up each time, for nothing is cached"
        most = 2 + time.monotonic() - begin
        assert set(statuses) <= {401, 503} and statuses.count(503) >= 60 - most
        assert lookups(service, "false") == statuses.count(401)
        assert lookups(service, "valid") == 61
        refused = next(r for r in iter(lambda: ask_with(session, service, false_token()), None) if r.status_code == 503)
        assert refused.headers["Retry-After"] == "1" and "token_lookups_per_s" in refused.json()["detail"]
