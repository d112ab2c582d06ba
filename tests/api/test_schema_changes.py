"""Schema changes while the service works: nobody waits for a migration, and a program works with a schema that is newer.

provisord_next is provisord with the migrations of tests/fault/next_migrations besides its own: a column of the table of
runs, an index of it, and an index of a table that is not partitioned.
"""
import json
import subprocess
import time

import psycopg2
import pytest

from long_work import LAB
from patience import PATIENCE, SLOWDOWN, wait_until

NEXT = LAB.parent / "provisord_next"
RUN = {"problem_size": 8, "executors": 2, "cores_per_executor": 2, "duration_s": 10.0}


@pytest.fixture
def served(make_service):
    service = make_service()
    service.alpha = service.token("alpha")
    service.start()
    service.client(service.alpha).post("/v1/applications/job/runs", RUN, 201)
    return service


class Migration:
    """`provisord_next migrate`, under way."""

    def __init__(self, service, **more):
        self.log = service.directory / ("migrate-%d.log" % time.monotonic_ns())
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([str(NEXT), "migrate"], env=service.env(**more), stderr=log)

    def says(self, words):
        return words in self.log.read_text()

    def end(self):
        """Its exit status."""
        return self.process.wait(timeout=PATIENCE)

    def applied(self):
        assert self.end() == 0, self.log.read_text()
        return sum(json.loads(line)["event"] == "store.migrated" for line in self.log.read_text().splitlines() if line.startswith("{"))


def reader(service, statement, isolation="READ COMMITTED"):
    """An open transaction of the owner that has read a table, as one of a long export has."""
    connection = psycopg2.connect(service.owner_url)
    connection.cursor().execute("SET TRANSACTION ISOLATION LEVEL " + isolation)
    connection.cursor().execute(statement)
    return connection


def valid_indexes(service, prefix):
    return dict(line.split("|", 1) for line in service.psql(
        "SELECT c.relname, pg_get_indexdef(c.oid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
        " WHERE c.relname LIKE '%s%%' AND i.indisvalid ORDER BY 1" % prefix.replace("_", r"\_")).splitlines())


def read_and_write(client, times):
    """The slowest of so many reads and writes of runs, in seconds; all succeed."""
    slowest = 0
    for _ in range(times):
        for ask in (lambda: client.get("/v1/applications/job/runs?limit=1"),
                    lambda: client.post("/v1/applications/job/runs", RUN, 201)):
            began = time.monotonic()
            ask()
            slowest = max(slowest, time.monotonic() - began)
    return slowest


def test_nobody_waits_for_a_migration_that_waits_for_an_export(served):
    client = served.client(served.alpha)
    export = reader(served, "SELECT count(*) FROM provisor.run")
    given_up = Migration(served, PROVISOR_MIGRATE_LOCK_WAIT_S=0, PROVISOR_MIGRATE_LOCK_TIMEOUT_MS=50)
    assert given_up.end() == 1 and given_up.says("(next_column) needs a table that others did not let go of") \
        and given_up.says("migrate_lock_wait_s"), given_up.log.read_text()

    snapshot = reader(served, "SELECT count(*) FROM provisor.team", "REPEATABLE READ")
    migration = Migration(served, PROVISOR_MIGRATE_LOCK_TIMEOUT_MS=300)
    wait_until(lambda: migration.says("store.migration_waits"), "the migration never met the export")
    # Behind one that waits without end they would wait until the statement's time-out, and fail.
    assert read_and_write(client, 60) < 2 * SLOWDOWN
    assert migration.process.poll() is None
    export.close()

    # Now an index: it waits for the older snapshot, for as long as that is there, and nobody for it.
    wait_until(lambda: served.psql("SELECT to_regclass('provisor.run_next') IS NOT NULL") == "t\n", "no index is begun")
    assert read_and_write(client, 20) < 2 * SLOWDOWN
    assert migration.process.poll() is None and valid_indexes(served, "run_next") == {}
    snapshot.close()
    assert migration.applied() == 3
    assert read_and_write(client, 1) < 2 * SLOWDOWN


def test_what_a_failed_migration_left_of_an_index_is_made_anew(served):
    """Two processes are at it together."""
    served.psql("CREATE INDEX token_next ON provisor.token (name)")
    served.psql("CREATE INDEX run_next_default ON provisor.run_default (team_id)")
    served.psql("UPDATE pg_index SET indisvalid = false WHERE indexrelid IN"
                " ('provisor.token_next'::regclass, 'provisor.run_next_default'::regclass)")
    assert sum(m.applied() for m in [Migration(served) for _ in range(2)]) == 3
    partitions = int(served.psql("SELECT count(*) FROM pg_inherits WHERE inhparent = 'provisor.run'::regclass"))
    runs, tokens = valid_indexes(served, "run_next"), valid_indexes(served, "token_next")
    assert len(runs) == 1 + partitions and all("next_note IS NOT NULL" in text for text in runs.values()), runs
    assert list(tokens) == ["token_next"] and "UNIQUE" in tokens["token_next"] and "(team_id, id, name)" in tokens["token_next"]

    # It made an index and ended before it could write that down.
    newest = "(SELECT max(version) FROM provisor.migration)"
    served.psql("DELETE FROM provisor.migration WHERE version >= %s - 1" % newest)
    assert Migration(served).applied() == 2
    assert valid_indexes(served, "run_next") == runs
    # A partition that is made later has the index, too.
    served.psql("CREATE TABLE provisor.run_later PARTITION OF provisor.run FOR VALUES"
                " FROM ('ffffffff-0000-0000-0000-000000000000') TO ('ffffffff-ffff-0000-0000-000000000000')")
    assert len(valid_indexes(served, "run_later_team_id_application_id_next_note")) == 1


def test_a_program_works_with_a_newer_schema_until_that_says_otherwise(served):
    assert Migration(served).applied() == 3
    client = served.client(served.alpha)
    assert read_and_write(client, 1) < 2 * SLOWDOWN
    served.stop()
    served.start()  # ready, though it applies migrations at its start
    read_and_write(client, 1)
    newest = int(served.psql("SELECT max(version) FROM provisor.migration"))
    served.psql("UPDATE provisor.migration SET oldest_program = version WHERE version = %d" % newest)
    says = "the database works with programs from version %d on; this one is at %d" % (newest, newest - 3)
    wait_until(lambda: client.get("/readyz", (200, 503), token=False).status_code == 503, "still ready")
    assert says in client.get("/readyz", 503, token=False).json()["detail"]
    refused = subprocess.run([str(served.program), "migrate"], env=served.env(), text=True, capture_output=True, timeout=PATIENCE)
    assert refused.returncode == 1 and "works with programs from version %d on" % newest in refused.stderr, refused.stderr
    assert Migration(served).applied() == 0
