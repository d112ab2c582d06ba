#!/usr/bin/python3
"""Stored advice against the database's own speed, in one run on one server.

provisord answers POST /v1/advice at 32 connections (wrk); then pgbench inserts the same rows (advice, audit,
outbox) with 32 clients into the same database; then provisord answers the same as dry runs. Prints the rates, the
ratio of the first two (goal: 0.7), the service's 99th percentile (goal: under 30 ms) and the dry runs a second (goal: 8000).

    tests/bench/bench_advice.py [SECONDS]        default 10; PROVISOR_BUILD says which build (default build)
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "api"))

from conftest import PROVISORD, Service  # noqa: E402
from contract import Contract  # noqa: E402

CONNECTIONS = 32
GOAL = 0.7
GOAL_P99_MS = 30
GOAL_DRY = 8000
PGBENCH = shutil.which("pgbench") or "/usr/lib/postgresql/15/bin/pgbench"

WRK = """
wrk.method = "POST"
wrk.headers["Authorization"] = "Bearer %s"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"application": "nightly-etl", "problem_size": 64, "deadline_s": 120}'
done = function(summary, latency)
  io.write(string.format("errors %%d\\np99_ms %%.2f\\n", summary.errors.status + summary.errors.timeout
           + summary.errors.connect + summary.errors.read + summary.errors.write, latency:percentile(99) / 1000))
end
"""

# One transaction as the service writes it: its team, advice as long as real advice, audit row, event.
PGBENCH_SCRIPT = """
BEGIN;
SELECT set_config('provisor.team_id', '{team}', true);
INSERT INTO provisor.advice (team_id, id, application_id, application_name, objective, feasible, executors,
 predicted_duration_s, deadline_s, request, document)
 VALUES ('{team}', gen_random_uuid(), '{application}', 'nightly-etl', 'min_executors', true, 8, 88.5, 120, '{request}', '{document}');
INSERT INTO provisor.audit (team_id, id, token_id, actor, action, subject, request_id)
 VALUES ('{team}', gen_random_uuid(), '{token}', 'bench', 'advice.insert', 'advice/' || gen_random_uuid(), gen_random_uuid());
INSERT INTO provisor.outbox (team_id, id, type, data)
 VALUES ('{team}', gen_random_uuid(), 'advice.created', '{event}');
COMMIT;
"""


def load_sample(service, client, directory):
    service.command("sample", "--out", directory)
    for log in sorted((directory / "nightly-etl").iterdir()):
        client.post("/v1/applications/nightly-etl/eventlogs", status=201, data=log.read_bytes(),
                    headers={"Content-Type": "application/octet-stream"})


def measure_service(service, token, seconds, directory, query=""):
    script = directory / "advice.lua"
    script.write_text(WRK % token)
    out = service.run("wrk", "-t2", "-c%d" % CONNECTIONS, "-d%ds" % seconds, "-s", script,
                      service.base_url + "/v1/advice" + query)
    print(out)
    assert re.search(r"^errors 0$", out, re.M), out
    return [float(re.search(pattern, out).group(1)) for pattern in (r"Requests/sec:\s+([\d.]+)", r"p99_ms ([\d.]+)")]


def psql(service, sql):
    import psycopg2
    with psycopg2.connect(service.owner_url) as connection, connection.cursor() as cursor:
        # Row level security holds for the owner as well.
        cursor.execute("SELECT set_config('provisor.registry', 'on', true)")
        cursor.execute("SELECT set_config('provisor.team_id', team_id::text, true) FROM provisor.team"
                       " WHERE name = 'bench'")
        cursor.execute(sql)
        return cursor.fetchone()


def measure_database(service, advice, seconds, directory):
    service_row = psql(service, "SELECT a.team_id::text, a.application_id::text, a.request::text, a.document::text,"
                       " (SELECT data::text FROM provisor.outbox WHERE type = 'advice.created' LIMIT 1),"
                       " (SELECT token_id::text FROM provisor.audit WHERE action = 'advice.insert' LIMIT 1)"
                       " FROM provisor.advice a WHERE id = '%s'" % advice["id"])
    team, application, request, document, event, token = (text.replace("'", "''") for text in service_row)
    script = directory / "advice.sql"
    # pgbench reads ":name" as a variable, also inside quotes: a blank keeps colons apart.
    spaced = [re.sub(r":(?=[A-Za-z0-9_])", ": ", text) for text in (request, document, event)]
    script.write_text(PGBENCH_SCRIPT.format(team=team, application=application, request=spaced[0],
                                            document=spaced[1], event=spaced[2], token=token))
    os.chmod(directory, 0o755)
    out = service.run(PGBENCH, "-n", "-M", "prepared", "-c", CONNECTIONS, "-j", 2, "-T", seconds, "-f", script, service.database_url)
    print(out)
    return float(re.search(r"tps = ([\d.]+) \(without", out).group(1))


def main():
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    directory = pathlib.Path(tempfile.mkdtemp(prefix="provisor-bench-"))
    os.chmod(directory, 0o755)
    service = Service(directory, Contract())
    try:
        service.command("migrate")
        token = service.token("bench")
        service.start()
        client = service.client(token)
        load_sample(service, client, directory / "sample")
        advice = client.post("/v1/advice", {"application": "nightly-etl", "problem_size": 64, "deadline_s": 120},
                             status=201).json()
        measure_service(service, token, 2, directory)
        ours, p99_ms = measure_service(service, token, seconds, directory)
        theirs = measure_database(service, advice, seconds, directory)
        dry, _ = measure_service(service, token, seconds, directory, "?dry_run=true")
    finally:
        service.close()
        shutil.rmtree(directory, ignore_errors=True)
    print("%s: %.0f advice/s, pgbench %.0f transactions/s, ratio %.2f (goal %.2f), p99 %.1f ms (goal %d)"
          % (PROVISORD.name, ours, theirs, ours / theirs, GOAL, p99_ms, GOAL_P99_MS))
    print("%.0f dry runs/s (goal %d)" % (dry, GOAL_DRY))
    return 0 if ours >= GOAL * theirs and p99_ms < GOAL_P99_MS and dry >= GOAL_DRY else 1


if __name__ == "__main__":
    sys.exit(main())
