"""Which run a log is of: runs of one application id stay apart, and of the logs of one run the most complete one stays.

What was sent in which order, or at once, makes no difference to the history."""
import concurrent.futures
import io
import itertools
import json
import random
import tarfile
import urllib.parse

import pytest

from test_eventlogs import runs_of, tiny_log, upload
from test_maintenance import admin

ID = "app-20261003000000-0000"
OCTETS = {"Content-Type": "application/octet-stream"}


def cluster(name):
    return {"spark.databricks.clusterUsageTags.clusterId": name}


def log(stages=3, properties=None, shift_ms=0, **more):
    """A log of tiny_log, all of whose instants are so much later."""
    data = tiny_log(app=ID, stages=stages, properties=properties or {}, **more)
    lines = [json.loads(line, parse_int=lambda text: int(text) + (shift_ms if len(text) == 13 else 0)) for line in data.splitlines()]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def cut(data, lines):
    return b"".join(data.splitlines(keepends=True)[:lines])


def damaged(data, kind, nth=0):
    """The nth event of the kind is no longer JSON."""
    lines = data.splitlines(keepends=True)
    at = [i for i, line in enumerate(lines) if b'"SparkListener%s"' % kind in line][nth]
    lines[at] = lines[at].replace(b'", "', b'",_"', 1)
    return b"".join(lines)


def history(client, name):
    """The export without what depends on when a run came: its id and the instant. In the order of its lines."""
    path = "/v1/applications/%s/runs/export" % urllib.parse.quote(name, safe="")
    lines = [json.loads(line) for line in client.get(path).content.splitlines()]
    for line in lines:
        del line["id"], line["recorded_at"]
    return sorted(json.dumps(line) for line in lines)


def told(reply):
    return reply.headers["X-Log-Outcome"], reply.headers.get("X-Log-Reason")


# --- runs that have one application id


@pytest.fixture(scope="module")
def databricks(shared):
    folder = shared / "cases" / "42-same-application-id"
    return [(folder / ("databricks-" + x)).read_bytes() for x in "abc"]


def test_clusters_that_start_in_one_second_have_a_run_each(client, databricks, name):
    for order in itertools.permutations(databricks):
        for data in order:
            assert told(upload(client, name, data, 201)) == ("stored", None)
        runs = runs_of(client, name)
        assert len(runs) == 3 and len({r["id"] for r in runs}) == len({r["started_at"] for r in runs}) == 3
        for data in order:
            assert told(upload(client, name, data, 200)) == ("duplicate", None)
        client.delete("/v1/applications/" + name)


@pytest.mark.parametrize("ended", [False, True])
@pytest.mark.parametrize("twin", [
    {"shift_ms": 400}, {"properties": cluster("b")}, {"properties": {"spark.master": "yarn", "spark.driver.port": "40001"}}])
def test_another_start_or_cluster_is_another_run(client, name, twin, ended):
    first = log(properties=dict(cluster("a"), **{"spark.master": "yarn", "spark.driver.port": "40000"}), ended=ended)
    if "properties" in twin and "spark.driver.port" in twin["properties"]:
        twin = {"properties": dict(cluster("a"), **twin["properties"])}
    other = log(stages=5, ended=ended, **dict({"properties": cluster("a")}, **twin))
    ids = {upload(client, name, data, 201).json()["id"] for data in (first, other)}
    assert len(ids) == 2 and {r["tasks_succeeded"] for r in runs_of(client, name)} == {6, 10}
    assert {upload(client, name, data, 200).json()["id"] for data in (first, other)} == ids


def test_other_first_events_are_another_run(client, name):
    first, other = log(ended=False), log(stages=5, ended=False)
    other = other.replace(b"1700000000500", b"1700000000750")
    upload(client, name, first, 201)
    upload(client, name, other, 201)
    assert len(runs_of(client, name)) == 2


def test_attempts_stay_apart(client, name):
    for attempt in ("1", "2"):
        upload(client, name, log(attempt=attempt, ended=False), 201)
        upload(client, name, log(attempt=attempt), 200)
    assert {r["spark_attempt_id"]: r["tasks_succeeded"] for r in runs_of(client, name)} == {"1": 6, "2": 6}


# --- logs of one run


def test_a_damaged_log_gives_way_to_the_intact_one(client, shared, name):
    """The damaged line is the environment, and names of hosts differ: both were edited by their publisher."""
    folder = shared / "data" / "spark-eventlogs" / "rapids" / "profiling"
    broken, intact = [(folder / (x + "_eventlog.zstd")).read_bytes() for x in ("malformed_json", "rp_sql")]
    first = upload(client, name, broken, 201).json()
    assert "damaged_lines" in [w["code"] for w in first["warnings"]]
    reply = upload(client, name, intact, 200)
    run = reply.json()
    assert run["id"] == first["id"] and "damaged_lines" not in [w["code"] for w in run["warnings"]]
    assert run["spark_properties"] != {}
    outcome, reason = told(reply)
    assert outcome == "replaced" and reason.startswith("replaced a less complete log of this run (") and "damaged" in reason
    outcome, reason = told(upload(client, name, broken, 200))
    assert outcome == "duplicate" and reason.startswith("a more complete log of this run is stored (")
    assert runs_of(client, name) == [run]


def audit_of(client, action):
    """Entries of the action; those of one millisecond are in any order."""
    return [r for r in client.get("/v1/audit?limit=50").json()["items"] if r["action"] == action]


def test_what_was_replaced_is_said_and_stays_in_the_audit(service, name):
    client = service.client(service.token("identity-audit"))
    part = upload(client, name, log(stages=1, ended=False), 201).json()
    exported = json.loads(client.get("/v1/applications/%s/runs/export" % name).text)
    assert [r["replaced_run"] for r in audit_of(client, "run.insert")] == [None]
    reply = upload(client, name, log(stages=3), 200)
    assert told(reply) == ("replaced", "replaced a less complete log of this run (4 s, 2 tasks, unfinished) by this log"
                           " (10 s, 6 tasks); the audit has the old figures")
    replaced, = audit_of(client, "run.replace")
    assert replaced["subject"] == "run/" + part["id"]
    assert replaced["replaced_run"] == dict({k: part[k] for k in (
        "duration_s", "executors", "cores_per_executor", "problem_size", "tasks_succeeded", "tasks_failed")},
        log_complete=False, log_digest=exported["log_digest"])
    reply = upload(client, name, log(stages=2, ended=False), 200)
    assert told(reply) == ("duplicate", "a more complete log of this run is stored (10 s, 6 tasks); this log has 8 s, 4 tasks,"
                           " unfinished")
    assert reply.json()["tasks_succeeded"] == 6 and audit_of(client, "run.replace") == [replaced]


def test_two_intact_logs_of_one_run_contradict_each_other(client, name):
    first = upload(client, name, log(stages=3), 201).json()
    problem = upload(client, name, log(stages=4), 409).json()
    assert first["id"] in problem["detail"] and "Delete that run first" in problem["detail"]
    assert told(upload(client, name, log(stages=3), 200)) == ("duplicate", None)
    client.delete("/v1/applications/%s/runs/%s" % (name, first["id"]))
    upload(client, name, log(stages=4), 201)


def set_of_logs():
    """Cut, damaged and whole logs of four runs with one id: and of each run the log that is to stay."""
    whole = log(stages=4, properties=cluster("a"))
    later = log(stages=3, properties=cluster("a"), shift_ms=1)
    elsewhere = log(stages=2, properties=cluster("b"))
    endless = log(stages=5, properties=cluster("c"), ended=False)
    logs = [whole, damaged(whole, b"TaskEnd"), damaged(damaged(whole, b"TaskEnd"), b"TaskEnd", 3), damaged(whole, b"EnvironmentUpdate"),
            damaged(whole, b"ExecutorAdded"), cut(whole, 3), cut(whole, 9), whole[:-300], damaged(cut(whole, 12), b"TaskEnd"),
            damaged(later, b"TaskEnd", 2), damaged(cut(later, 10), b"StageSubmitted"), cut(later, 8),
            elsewhere, cut(elsewhere, 5), endless, cut(endless, 14), damaged(endless, b"TaskEnd", 1)]
    return logs, [whole, damaged(later, b"TaskEnd", 2), elsewhere, endless]


def wanted(client, name, stay):
    for data in stay:
        upload(client, name, data, 201)
    return history(client, name)


def test_the_order_of_logs_makes_no_difference(client, name):
    logs, stay = set_of_logs()
    best = wanted(client, name, stay)
    chance = random.Random(41)
    orders = [logs, logs[::-1]] + [chance.sample(logs, len(logs)) for _ in range(20)]
    for order in orders:
        client.delete("/v1/applications/" + name)
        for data in order + chance.sample(order, 5):
            upload(client, name, data, (200, 201))
        assert history(client, name) == best
        assert client.get("/v1/applications/" + name).json()["runs"] == len(stay)


def test_logs_that_come_at_once_make_the_same_history(service, client, name):
    logs, stay = set_of_logs()
    best = wanted(client, name, stay)

    def send(data):
        return upload(service.client(client.token), name, data, (200, 201))
    for _ in range(3):
        client.delete("/v1/applications/" + name)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(send, logs + logs[::-1]))
        assert history(client, name) == best


def test_logs_from_before_origins_were_stored(service, client, name):
    """Only a run that began at the same instant is replaced; a digest that is known is known still."""
    first = upload(client, name, log(stages=1, ended=False), 201).json()
    admin(service, "UPDATE provisor.run_log SET origin = NULL WHERE run_id = %s", first["id"])
    upload(client, name, log(stages=5, shift_ms=1000, ended=False), 201)
    assert told(upload(client, name, log(stages=1, ended=False), 200)) == ("duplicate", None)
    whole = upload(client, name, log(stages=3), 200).json()
    assert whole["id"] == first["id"] and whole["tasks_succeeded"] == 6
    assert len(runs_of(client, name)) == 2


# --- runs that are moved, exported and imported


def import_lines(client, name, text, status=200):
    return client.request("POST", "/v1/applications/%s/runs/import" % name, status, data=text,
                          headers={"Content-Type": "application/x-ndjson"}).json()


def test_an_export_keeps_runs_of_one_id_apart(client, name):
    logs, stay = set_of_logs()
    best = wanted(client, name, stay)
    text = client.get("/v1/applications/%s/runs/export" % name).content
    copy = name + "-copy"
    assert import_lines(client, copy, text, 201)["imported"] == len(stay)
    assert history(client, copy) == best
    assert import_lines(client, copy, text)["unchanged"] == len(stay)
    for data in logs:
        upload(client, copy, data, 200)
    assert history(client, copy) == best


def test_an_import_replaces_less_complete_logs_and_says_so_in_the_audit(service, name):
    client = service.client(service.token("identity-import"))
    upload(client, name, log(stages=3), 201)
    upload(client, name, log(stages=4, shift_ms=1), 201)
    text = client.get("/v1/applications/%s/runs/export" % name).content
    copy = name + "-copy"
    part = upload(client, copy, log(stages=1, ended=False), 201).json()
    done = import_lines(client, copy, text, 201)
    assert (done["imported"], done["replaced"], done["unchanged"]) == (1, 1, 0)
    replaced, = audit_of(client, "run.replace")
    assert replaced["subject"] == "run/" + part["id"] and replaced["replaced_run"]["tasks_succeeded"] == 2
    assert history(client, copy) == history(client, name)


def test_a_beginning_is_checked(client, name):
    line = {"problem_size": 8, "executors": 2, "cores_per_executor": 2, "duration_s": 16.5, "spark_application_id": "app"}
    for beginning in ("", "00", "0123456789abcde", "0123456789ABCDEF", "0" * 152):
        problem = import_lines(client, name, json.dumps(dict(line, log_beginning=beginning)), 422)
        assert problem["errors"][0]["pointer"] == "/0/log_beginning"
    assert import_lines(client, name, json.dumps(dict(line, log_beginning="0" * 144)), 201)["imported"] == 1


def test_a_run_moves_next_to_its_twin_but_not_onto_itself(client, name):
    other = name + "-other"
    first = upload(client, name, log(properties=cluster("a")), 201).json()
    upload(client, other, log(properties=cluster("b")), 201)
    path = "/v1/applications/%s/runs/" % name
    client.patch(path + first["id"], {"application": other})
    assert len(runs_of(client, other)) == 2
    again = upload(client, name, log(properties=cluster("a")), 201).json()
    client.patch(path + again["id"], {"application": other}, 409)


# --- everything there is


def packed(folder):
    """The folder of a rolling log as one archive."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for path in sorted(folder.iterdir()):
            tar.add(path, arcname=path.name)
    return out.getvalue()


def all_logs(shared):
    folders, logs = set(), []
    for top in (shared / "data" / "spark-eventlogs", shared / "cases"):
        for path in sorted(p for p in top.rglob("*") if p.is_file() and p.suffix not in (".md", ".tsv", ".json")):
            if path.parent.name.startswith("eventlog_v2_"):
                folders.add(path.parent)
            else:
                logs.append(path.read_bytes())
    return logs + [packed(folder) for folder in sorted(folders)]


@pytest.mark.every_log
def test_all_logs_make_one_history_in_whatever_order_they_come(service, shared):
    client = service.client(service.token("identity-all"))
    logs = all_logs(shared)
    assert len(logs) > 120
    found = []
    for order in (logs, logs[::-1], random.Random(41).sample(logs, len(logs))):
        for data in order:
            client.request("POST", "/v1/eventlogs", (200, 201, 413, 422), data=data, headers=OCTETS)
        names = [a["name"] for a in client.get("/v1/applications?limit=200").json()["items"]]
        found.append({name: history(client, name) for name in names})
        for name in names:
            client.delete("/v1/applications/" + urllib.parse.quote(name, safe=""))
    assert found[0] == found[1] == found[2]
    assert sum(map(len, found[0].values())) > 100
