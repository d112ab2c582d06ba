"""provisord behind PgBouncer in transaction mode: no session state, no prepared statement missed, teams stay apart.

Three server connections serve many clients, so that one connection sees transactions of both teams in turn.
"""
import concurrent.futures
import os
import pathlib
import pwd
import re
import shutil
import socket
import subprocess
import time

import pytest

from conftest import free_port
from long_work import Stream, Table, lab, wait_for
from test_runs import check_windows

PGBOUNCER = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"

CONFIG = """
[databases]
provisor = host={socket} port={port} dbname=provisor
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen}
auth_type = plain
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = 3
max_client_conn = 200
ignore_startup_parameters = extra_float_digits
unix_socket_dir =
logfile = {folder}/pgbouncer.log
"""


def unprivileged():
    """PgBouncer refuses root too."""
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())


@pytest.fixture(scope="module")
def bounced(make_service, tmp_path_factory):
    service = lab(make_service(own_server=True))
    parts = re.match(r"postgresql://(\w+):(\w+)@/provisor\?host=([^&]+)&port=(\d+)", service.database_url)
    user, password, directory, port = parts.groups()
    # Beside the database's own directory: pytest's temporary folders are closed to other users.
    folder = pathlib.Path(service.directory) / "pgbouncer"
    folder.mkdir()
    listen = free_port()
    (folder / "users").write_text('"%s" "%s"\n' % (user, password))
    (folder / "config.ini").write_text(CONFIG.format(socket=directory, port=port, listen=listen, folder=folder))
    owner = unprivileged()
    for path in (folder, *folder.iterdir()):
        os.chown(path, owner.pw_uid, owner.pw_gid)
    process = subprocess.Popen([PGBOUNCER, str(folder / "config.ini")], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, user=owner.pw_uid if os.geteuid() == 0 else None)
    try:
        end = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", listen), timeout=1).close()
                break
            except OSError:
                assert time.monotonic() < end and process.poll() is None, (folder / "pgbouncer.log").read_text()
                time.sleep(0.05)
        service.alpha_token, service.beta_token = service.token("alpha"), service.token("beta")
        direct, service.database_url = service.database_url, "postgresql://%s:%s@127.0.0.1:%d/provisor" % (user, password, listen)
        service.start(PROVISOR_DATABASE_CONNECTIONS=12)
        yield service
        service.stop()
        service.database_url = direct
    finally:
        process.terminate()
        process.wait(timeout=10)


def run_of(number):
    return {"problem_size": 8, "executors": 1 + number % 4, "cores_per_executor": 2, "duration_s": 10.0 + number, "initialization_s": 1,
            "stages": [{"id": 0, "task_durations_s": [2.0, 3.0, 2.5, 2.25]}]}


def test_transactions_of_two_teams_share_connections_and_nothing_else(bounced):
    def work(number):
        team = (bounced.alpha_token, bounced.beta_token)[number % 2]
        client = bounced.client(team)
        name = "job-%d" % (number % 4)
        client.post("/v1/applications/%s/runs" % name, run_of(number), 201, headers={"Idempotency-Key": "k%d" % number})
        client.post("/v1/applications/%s/runs" % name, run_of(number), 201, headers={"Idempotency-Key": "k%d" % number})
        advice = client.post("/v1/advice", {"application": name, "deadline_s": 60}, 201).json()
        assert client.get("/v1/advice/" + advice["id"]).json() == advice
        other = bounced.client((bounced.beta_token, bounced.alpha_token)[number % 2])
        other.get("/v1/advice/" + advice["id"], 404)
        return team, name

    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        done = list(pool.map(work, range(48)))
    for token in (bounced.alpha_token, bounced.beta_token):
        names = {n for t, n in done if t == token}
        found = {a["name"]: a["runs"] for a in bounced.client(token).get("/v1/applications").json()["items"]}
        assert set(found) == names
        assert sum(found.values()) == sum(t == token for t, _ in done), "each key acted once"


def test_windows_of_lists_hold_each_run_once_behind_it(bounced):
    """The settings that a list is planned under stay in its transaction, and nothing is prepared."""
    check_windows(bounced.client(bounced.alpha_token), "windows")


def test_lists_filters_and_changes_work_behind_it(bounced):
    client = bounced.client(bounced.alpha_token)
    first = client.get("/v1/applications?limit=1").json()
    assert len(first["items"]) == 1 and first["next_cursor"]
    name = first["items"][0]["name"]
    client.patch("/v1/applications/" + name, {"labels": {"a": "b"}})
    assert client.get("/v1/applications/" + name).json()["labels"] == {"a": "b"}
    assert client.get("/v1/audit?limit=5").json()["items"]
    client.delete("/v1/applications/" + name)
    client.get("/v1/applications/" + name, 404)


def test_long_work_is_done_watched_and_cancelled_behind_it(bounced):
    table = Table(bounced)
    teams = {"alpha": bounced.alpha_token, "beta": bounced.beta_token}
    made = [(team, table.queue(team, {"steps": 10, "step_ms": 40, "effect": "bounced-"})) for team in ("alpha", "beta") * 4]

    def follow(team, operation):
        return [e[2]["status"] for e in Stream(bounced, teams[team], operation)][-1]

    def hold(team, operation):
        return bounced.client(teams[team]).get("/v1/operations/" + operation, headers={"Prefer": "wait=20"}).json()["status"]

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        seen = [pool.submit(what, team, i) for what in (follow, hold) for team, i in made]
        assert {f.result() for f in seen} == {"succeeded"}
    for team, token in teams.items():
        names = [a["name"] for a in bounced.client(token).get("/v1/applications?limit=200").json()["items"]]
        assert len([n for n in names if n.startswith("bounced-")]) == 4, "each team has its own"
    client = bounced.client(bounced.alpha_token)
    long = table.queue("alpha", {"steps": 100000, "step_ms": 10})
    wait_for(client, long, ("running",))
    client.delete("/v1/operations/" + long, 202)
    assert wait_for(client, long)["status"] == "cancelled"
    table.close()
