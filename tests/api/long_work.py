"""Long work for tests: provisord_lab is provisord with kinds that a test can steer (tests/fault/lab_kinds.c), and
operations are put into the table as the calls that start work do."""
import json
import os
import pathlib
import time
import uuid

import psycopg2
import requests

from patience import PATIENCE

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAB = pathlib.Path(os.environ.get("PROVISOR_BUILD", ROOT / "build")).resolve() / "tests" / "fault" / "provisord_lab"
ENDED = ("succeeded", "failed", "cancelled")


def lab(service):
    """The service with the kinds of the laboratory."""
    service.program = LAB
    return service


class Table:
    """The database behind the service, as its owner, who may look across teams."""

    def __init__(self, service):
        self.connection = psycopg2.connect(service.owner_url)
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()
        self.cursor.execute("SELECT set_config('provisor.registry', 'on', false)")

    def close(self):
        self.connection.close()

    def rows(self, text, *values):
        self.cursor.execute(text, values)
        return self.cursor.fetchall() if self.cursor.description else []

    def value(self, text, *values):
        return self.rows(text, *values)[0][0]

    def as_team(self, team):
        found = self.value("SELECT team_id FROM provisor.team WHERE name = %s", team)
        self.cursor.execute("SELECT set_config('provisor.team_id', %s, false)", (found,))
        return found

    def queue(self, team, request=None, kind="steps", application=None):
        """A new operation; its id."""
        team_id = self.as_team(team)
        made = str(uuid.uuid4())
        owner = self.rows("SELECT id, name FROM provisor.application WHERE name = %s AND team_id = %s", application, team_id)
        application_id, name = owner[0] if owner else (None, None)
        self.rows("INSERT INTO provisor.operation (team_id, id, kind, application_id, application_name, actor, scopes, request_id,"
                  " trace_id, request) VALUES (%s, %s, %s, %s, %s, 'test', 3, '', '', %s)",
                  team_id, made, kind, application_id, name, json.dumps(request or {}))
        return made


def wait_for(client, operation, wanted=ENDED, seconds=PATIENCE):
    """The operation once its status is one of these."""
    end = time.monotonic() + seconds
    while True:
        seen = client.get("/v1/operations/" + operation).json()
        if seen["status"] in wanted:
            return seen
        assert time.monotonic() < end, seen
        time.sleep(0.02)


class Stream:
    """Server-sent events of an operation: (id, event, data), as an EventSource would take them."""

    def __init__(self, service, token, operation, last=None, timeout=PATIENCE, query=""):
        head = {"Authorization": "Bearer " + token, "Accept": "text/event-stream"}
        if last is not None:
            head["Last-Event-ID"] = str(last)
        self.reply = requests.get("%s/v1/operations/%s/events%s" % (service.base_url, operation, query), headers=head,
                                  stream=True, timeout=timeout)
        self.comments, self.retry = 0, None

    def __iter__(self):
        fields = {}
        for line in self.reply.iter_lines(chunk_size=1, decode_unicode=True):
            if line == "":
                if "data" in fields:
                    yield int(fields["id"]), fields["event"], json.loads(fields["data"])
                fields = {}
            elif line.startswith(":"):
                self.comments += 1
            else:
                key, value = line.split(": ", 1)
                fields[key] = value
                self.retry = value if key == "retry" else self.retry

    def close(self):
        self.reply.close()
