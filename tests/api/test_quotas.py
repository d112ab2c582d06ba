"""What a team stores is bounded: each quota refuses with its name, what is deleted makes room, recounts correct the figures."""
import concurrent.futures
import json
import subprocess
import time
import uuid

import pytest

from patience import PATIENCE
from test_maintenance import admin, maintain

RUN = {"problem_size": 8, "executors": 2, "cores_per_executor": 2, "duration_s": 30.0, "stages": [{"id": 0, "task_durations_s": [1.0, 2.0, 3.0]}]}


@pytest.fixture(scope="module")
def bounded(make_service):
    """A service of its own, on which every test makes a team of its own and gives it its quotas."""
    service = make_service(PROVISOR_MAINTENANCE_INTERVAL_S=0, PROVISOR_FIT_QUEUE=0, PROVISOR_WEBHOOK_DELIVERY="false")
    service.operator_token = service.token("operators")
    service.start()
    return service


@pytest.fixture
def operator(bounded):
    return bounded.client(bounded.operator_token)


@pytest.fixture
def team(bounded, operator):
    """A client of a new team; `quotas` sets those of its own."""
    name = "team-" + uuid.uuid4().hex
    client = bounded.client(bounded.token(name))
    client.quotas = lambda **most: operator.put("/v1/teams/%s/quotas" % name, {quota + "_max": n for quota, n in most.items()}).json()
    client.team = name
    return client


def usage(client, path="/v1/usage"):
    return {q["name"]: q for q in client.get(path).json()["quotas"]}


def used(client, *names):
    now = usage(client)
    return [now[name]["used"] for name in names]


def add_application(client, name=None):
    return client.post("/v1/applications", {"name": name or "a-" + uuid.uuid4().hex}, 201).json()["name"]


def add_run(client, name, status=201, **more):
    return client.post("/v1/applications/%s/runs" % name, dict(RUN, **more), status)


def add_advice(client, name, status=201, **kwargs):
    return client.post("/v1/advice", {"application": name, "deadline_s": 600}, status, **kwargs)


def refused(reply, quota, limit, needed, status=422):
    problem = reply.json()
    assert reply.status_code == status
    assert problem["type"] == "/problems/" + ("storage_quota_exceeded" if status == 422 else "quota_exceeded")
    assert problem["quota"]["name"] == quota and problem["quota"]["limit"] == limit
    assert needed is None or problem["quota"]["needed"] == needed
    assert quota in problem["detail"] and str(limit) in problem["detail"]
    assert ("Retry-After" in reply.headers) == (status == 429)


def test_usage_shows_every_quota(team):
    shown = team.get("/v1/usage").json()
    assert shown["counted_at"] is None
    by_name = {q["name"]: q for q in shown["quotas"]}
    assert list(by_name) == ["applications", "runs", "advice", "tokens", "operations", "replies", "bytes", "clusters", "price_books", "workloads", "workload_bytes"]
    assert by_name["tokens"]["used"] == 1 and by_name["bytes"]["unit"] == "bytes"
    assert all(q["used"] == 0 for name, q in by_name.items() if name != "tokens")
    assert by_name["applications"]["limit"] == 10000 and by_name["clusters"]["limit"] == 1000


def test_applications(team):
    team.quotas(applications=2)
    first = add_application(team)
    add_application(team)
    refused(team.post("/v1/applications", {"name": "third"}), "applications", 2, 3)
    refused(add_run(team, "third-by-its-run", 422), "applications", 2, 3)
    assert used(team, "applications", "runs") == [2, 0]
    team.delete("/v1/applications/" + first)
    add_application(team, "third")


def test_runs_and_what_deleting_gives_back(team):
    team.quotas(runs=2)
    name = add_application(team)
    first = add_run(team, name).json()
    add_run(team, name)
    before = used(team, "bytes")[0]
    refused(add_run(team, name, 422), "runs", 2, 3)
    assert used(team, "runs", "bytes") == [2, before] and before > 2000
    team.delete("/v1/applications/%s/runs/%s" % (name, first["id"]))
    assert used(team, "runs")[0] == 1 and used(team, "bytes")[0] < before
    add_run(team, name)
    team.delete("/v1/applications/" + name)
    assert used(team, "applications", "runs", "bytes") == [0, 0, 0]


def test_advice(team):
    team.quotas(advice=2)
    name = add_application(team)
    add_run(team, name)
    add_advice(team, name), add_advice(team, name)
    refused(add_advice(team, name, 422), "advice", 2, 3)
    team.post("/v1/advice?dry_run=true", {"application": name, "deadline_s": 600}, 200)
    assert used(team, "advice") == [2]
    team.delete("/v1/applications/" + name)
    assert used(team, "advice", "bytes") == [0, 0]


def test_bytes(team):
    name = add_application(team)
    add_run(team, name)
    team.quotas(bytes=used(team, "bytes")[0] + 100000)
    refused(add_run(team, name, 422, stages=[{"id": 0, "task_durations_s": [1.0] * 20000}]), "bytes", team_limit(team, "bytes"), None)
    add_run(team, name)


def team_limit(client, quota):
    return usage(client)[quota]["limit"]


def test_tokens(team, bounded):
    team.quotas(tokens=2)
    made = team.post("/v1/tokens", {"name": "second", "scopes": ["read"]}, 201).json()
    refused(team.post("/v1/tokens", {"name": "third", "scopes": ["read"]}), "tokens", 2, 3)
    team.delete("/v1/tokens/" + made["id"])
    refused(team.post("/v1/tokens", {"name": "third", "scopes": ["read"]}), "tokens", 2, 3)
    admin(bounded, "UPDATE provisor.token SET revoked_at = now() - interval '31 days' WHERE id = %s", made["id"])
    assert maintain(bounded)["tokens"] == 1
    team.post("/v1/tokens", {"name": "third", "scopes": ["read"]}, 201)


def test_replies_pass_with_time(team):
    team.quotas(replies=1)
    keyed = {"headers": {"Idempotency-Key": "one"}}
    team.post("/v1/applications", {"name": "one"}, 201, **keyed)
    refused(team.post("/v1/applications", {"name": "two"}, headers={"Idempotency-Key": "two"}), "replies", 1, 2, 429)
    team.post("/v1/applications", {"name": "one"}, 201, **keyed)
    team.post("/v1/applications", {"name": "two"}, 201)
    assert used(team, "replies") == [1]
    team.delete("/v1/applications/one", headers={"Idempotency-Key": "three"})


def test_operations(team):
    team.quotas(operations=1)
    name = add_application(team)
    for executors in (1, 2, 4):
        add_run(team, name, executors=executors)
    refit = "/v1/applications/%s/refit" % name
    team.post(refit, {"resamples": 20}, 202)
    refused(team.post(refit, {"resamples": 20}), "operations", 1, 2, 429)


def lines(n):
    return "".join(json.dumps(dict(RUN, duration_s=10.0 + i)) + "\n" for i in range(n))


def test_an_import_over_quota_changes_nothing(team):
    name = add_application(team)
    head = {"headers": {"Content-Type": "application/x-ndjson"}}
    team.quotas(runs=5)
    team.request("POST", "/v1/applications/%s/runs/import" % name, 201, data=lines(4), **head)
    refused(team.request("POST", "/v1/applications/%s/runs/import" % name, data=lines(700), **head), "runs", 5, None)
    assert used(team, "runs") == [4] and team.get("/v1/applications/" + name).json()["runs"] == 4


def test_many_writers_at_the_bound(team, bounded):
    """Each sees what others have committed: beyond the bound are at most those that were under way together."""
    writers, most = 8, 40
    name = add_application(team)
    add_run(team, name)
    team.quotas(advice=most)
    clients = [bounded.client(team.token) for _ in range(writers)]

    def write(client):
        stored = 0
        while add_advice(client, name, (201, 422)).status_code == 201:
            stored += 1
            assert stored <= 2 * most
        return stored

    with concurrent.futures.ThreadPoolExecutor(writers) as pool:
        stored = sum(pool.map(write, clients))
    assert most <= stored < most + writers
    assert used(team, "advice") == [stored]


def test_settings_bound_teams_without_quotas_of_their_own(make_service):
    service = make_service(PROVISOR_MAINTENANCE_INTERVAL_S=0, PROVISOR_QUOTA_APPLICATIONS=1, PROVISOR_QUOTA_RUNS=0)
    operator = service.token("operators")
    service.start()
    client = service.client(operator)
    name = add_application(client)
    refused(client.post("/v1/applications", {"name": "b"}), "applications", 1, 2)
    assert usage(client)["runs"]["limit"] is None
    add_run(client, name)
    metrics = client.get("/metrics").text
    assert 'provisor_quota_refusals_total{quota="applications"} 1' in metrics


def test_only_operators_see_and_set_those_of_others(team, operator):
    shown = team.quotas(runs=7, bytes=0)
    by_name = {q["name"]: q["limit"] for q in shown["quotas"]}
    assert by_name["runs"] == 7 and by_name["bytes"] is None and by_name["advice"] == 5000000
    assert usage(operator, "/v1/teams/%s/usage" % team.team)["runs"]["limit"] == 7
    assert usage(operator)["runs"]["limit"] == 10000000
    team.get("/v1/teams/%s/usage" % team.team, 403)
    team.put("/v1/teams/%s/quotas" % team.team, {"runs_max": 100}, 403)
    operator.get("/v1/teams/nobody/usage", 404)
    operator.put("/v1/teams/nobody/quotas", {}, 404)
    operator.refuse("PUT", "/v1/teams/%s/quotas" % team.team, 422, pointer="/rnus", json={"rnus": 1})
    operator.refuse("PUT", "/v1/teams/%s/quotas" % team.team, 422, pointer="/runs_max", json={"runs_max": -1})
    assert usage(team)["runs"]["limit"] == 7
    team.quotas()
    assert usage(team)["runs"]["limit"] == 10000000


# --- the command line ---

def words(service, *words, **env):
    return subprocess.run([service.program, "quotas", *words], env=service.env(**env), text=True, capture_output=True)


def printed(text):
    lines = [line.split("\t") for line in text.splitlines()]
    assert lines[0] == ["team", "quota", "used", "limit", "unit", "set by"]
    return {(line[0], line[1]): line[2:] for line in lines[1:]}


def test_the_command_line_shows_what_each_team_stores_and_may(team, bounded):
    name = add_application(team)
    add_run(team, name)
    team.quotas(runs=7, advice=0)
    shown = printed(bounded.command("quotas", "--team", team.team))
    assert [quota for _, quota in shown] == [q["name"] for q in team.get("/v1/usage").json()["quotas"]]
    assert shown[team.team, "runs"] == ["1", "7", "count", "team"]
    assert shown[team.team, "advice"] == ["0", "-", "count", "team"]
    assert shown[team.team, "applications"] == ["1", "10000", "count", "settings"]
    assert shown[team.team, "bytes"][2:] == ["bytes", "settings"]
    everybody = printed(bounded.command("quotas", "list"))
    assert everybody.items() >= shown.items() and ("operators", "runs") in everybody
    assert printed(bounded.command("quotas", "--team=operators", PROVISOR_QUOTA_RUNS=5))["operators", "runs"][1] == "5"
    item, = json.loads(bounded.command("quotas", "list", "--team", team.team, "--json"))["items"]
    assert item == {"team": team.team, "usage": team.get("/v1/usage").json()}


def test_the_command_line_sets_and_resets_quotas_of_a_running_service(team, bounded):
    team.quotas(advice=9)
    name = add_application(team)
    add_run(team, name)
    done = words(bounded, "set", team.team, "runs=1", "bytes=0")
    shown = printed(done.stdout)
    assert done.returncode == 0 and {team for team, _ in shown} == {team.team}
    assert [shown[team.team, quota][1] for quota in ("runs", "bytes", "advice", "tokens")] == ["1", "-", "9", "10000"]
    line = json.loads(done.stderr)
    assert (line["event"], line["team"], line["runs"], line["bytes"]) == ("team.quotas_set", team.team, 1, 0) and "advice" not in line
    refused(add_run(team, name, 422), "runs", 1, 2)
    assert {n: q["limit"] for n, q in usage(team).items() if q["own"]} == {"runs": 1, "advice": 9, "bytes": None}

    bounded.command("quotas", "set", team.team, "runs=2")
    add_run(team, name)
    refused(add_run(team, name, 422), "runs", 2, 3)
    done = words(bounded, "reset", team.team, "runs")
    assert done.returncode == 0 and json.loads(done.stderr)["runs"] == "as the settings"
    add_run(team, name)
    assert [n for n, q in usage(team).items() if q["own"]] == ["advice", "bytes"]
    bounded.command("quotas", "reset", team.team)
    assert not [n for n, q in usage(team).items() if q["own"]]
    deeds = team.get("/v1/audit?limit=200").json()["items"]
    assert [d["actor"] for d in deeds if d["action"] == "team.set_quotas"].count("command line") == 4


def test_quotas_set_over_http_are_logged_with_their_values(team, bounded):
    team.quotas(runs=123456)

    def logged():
        return [json.loads(line) for line in bounded.log.read_text().splitlines() if "team.quotas_set" in line and team.team in line]

    end = time.monotonic() + PATIENCE
    while not logged() and time.monotonic() < end:  # a thread of its own writes the log
        time.sleep(0.02)
    line, = logged()
    assert (line["runs"], line["bytes"], bool(line["request_id"])) == (123456, "as the settings", True)


@pytest.mark.parametrize("status, line, says", [
    (2, ["show"], "usage:"), (2, ["list", "x"], "usage:"), (2, ["set"], "usage:"), (2, ["set", "T"], "usage:"), (2, ["reset"], "usage:"),
    (2, ["set", "--team", "T", "runs=1"], "usage:"),
    (2, ["set", "T", "rnus=1"], "There are applications, runs, advice, tokens, operations, replies, bytes"),
    (2, ["set", "T", "clusters=1"], "There are applications"), (2, ["reset", "T", "runs=1"], "There are applications"),
    (2, ["set", "T", "runs"], "runs is a whole number from 0, which is no bound, to 1000000000000000"),
    (2, ["set", "T", "runs="], "runs is a whole number"), (2, ["set", "T", "runs=-1"], "runs is a whole number"),
    (2, ["set", "T", "runs=1e6"], "runs is a whole number"), (2, ["set", "T", "runs=1000000000000001"], "runs is a whole number"),
    (2, ["set", "T", "runs=99999999999999999999"], "runs is a whole number"),
    (2, ["set", "T", "runs=1", "runs=2"], "twice"), (2, ["reset", "T", "runs", "runs"], "twice"),
    (1, ["set", "nobody", "runs=1"], "no such team"), (1, ["reset", "nobody"], "no such team"), (1, ["list", "--team", "nobody"], "no such team"),
])
def test_the_command_line_refuses_and_says_why(team, bounded, status, line, says):
    run = words(bounded, *[team.team if word == "T" else word for word in line])
    assert run.returncode == status and run.stdout == "" and run.stderr.startswith("provisord: ") and says in run.stderr, run
    assert not [n for n, q in usage(team).items() if q["own"]]


def test_the_largest_quota_is_taken(team, bounded):
    assert printed(bounded.command("quotas", "set", team.team, "bytes=1000000000000000"))[team.team, "bytes"][1] == "1000000000000000"


def test_recounts_correct_what_drifted(team, bounded):
    team.quotas(advice=100)  # so near to it that the service keeps no count for later
    name = add_application(team)
    add_run(team, name)
    add_advice(team, name, headers={"Idempotency-Key": "kept"})
    kinds = ["applications", "runs", "advice", "operations", "replies", "bytes"]
    right = used(team, *kinds)
    admin(bounded, "UPDATE provisor.team_usage SET runs = runs + 7, advice = advice - 5, bytes = bytes + 1000000"
                   " WHERE team_id = (SELECT team_id FROM provisor.team WHERE name = %s)", team.team)
    assert used(team, *kinds) != right
    assert maintain(bounded)["recounts"] > 0
    assert used(team, *kinds) == right and team.get("/v1/usage").json()["counted_at"] is not None
    assert maintain(bounded)["recounts"] == 0  # not due again for a day
    team.delete("/v1/applications/" + name)
    assert used(team, *kinds) == [0] * len(kinds)


def test_events_that_nobody_fetches_go_by_number_and_by_age(team, bounded):
    name = add_application(team)
    for _ in range(6):
        add_run(team, name)
    mine = "(SELECT team_id FROM provisor.team WHERE name = '%s')" % team.team

    def events():
        return admin(bounded, "SELECT count(*) FROM provisor.outbox WHERE team_id = " + mine, fetch=True)[0][0]

    there = events()
    assert there >= 6
    assert maintain(bounded)["events_dropped"] == 0
    assert maintain(bounded, outbox_events_max=4)["events_dropped"] >= there - 4 and events() == 4
    admin(bounded, "UPDATE provisor.outbox SET created_at = now() - interval '8 days' WHERE team_id = " + mine)
    assert maintain(bounded, outbox_retention_days=9)["events_dropped"] == 0 and events() == 4
    assert maintain(bounded)["events_dropped"] == 4 and events() == 0
