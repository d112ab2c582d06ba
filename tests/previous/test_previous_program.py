"""The program of before the last migration works on the schema of today, beside the program of today.

It is built from the history of this repository, from the commit before the one that last changed db/migrations; without a
history there is nothing to build. Replies are not held against the contract, which is that of today.
"""
import os
import pathlib
import subprocess
import time

import pytest
import requests

from patience import PATIENCE

ROOT = pathlib.Path(__file__).resolve().parents[2]
MIGRATIONS = "db/migrations"


def git(*words):
    """What git prints; None where it cannot."""
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None


def commit_before_the_last_migration():
    changed = git("status", "--porcelain", "--", MIGRATIONS)
    if changed is None:
        pytest.skip("no git history")
    last = "HEAD" if changed.strip() else (git("log", "-1", "--diff-filter=A", "--format=%H~1", "--", MIGRATIONS) or b"").decode().strip()
    found = git("rev-parse", "--verify", "--quiet", last + "^{commit}") if last else None
    if found is None:
        pytest.skip("the history does not reach to before the last migration")
    return found.decode().strip()


def run(words, **kwargs):
    done = subprocess.run([str(w) for w in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **kwargs)
    assert done.returncode == 0, "%s: %s" % (" ".join(map(str, words)), done.stdout[-3000:])


def save(data, path):
    path.write_bytes(data)
    return path


@pytest.fixture(scope="module")
def previous(tmp_path_factory):
    """The source folder of the previous program, built."""
    commit = commit_before_the_last_migration()
    folder = tmp_path_factory.mktemp("previous")
    run(["tar", "-x", "-C", folder, "-f", save(git("archive", commit), folder / "source.tar")])
    # Objects of another folder are as good: paths are relative to the build.
    env = {**os.environ, "CCACHE_NOHASHDIR": "1"}
    run(["meson", "setup", folder / "build", folder, "-Dbuildtype=release", "-Dtests=false", "-Dsite=disabled"], env=env)
    run(["ninja", "-C", folder / "build"], env=env)
    return folder


class Caller:
    """Requests of one token that all succeed."""

    def __init__(self, service, token):
        self.base, self.head = service.base_url, {"Authorization": "Bearer " + token}

    def ask(self, method, path, body=None, **headers):
        reply = requests.request(method, self.base + path, json=body, headers={**self.head, **headers}, timeout=60)
        assert reply.ok, "%s %s: %d %s" % (method, path, reply.status_code, reply.text[:600])
        return reply

    def read(self, path):
        return self.ask("GET", path).json()


def run_of(executors):
    return {"problem_size": 100 * executors, "executors": executors, "cores_per_executor": 4, "duration_s": 400 / executors + 10,
            "stages": [{"id": 0, "tasks": 100, "task_duration_s": 6}]}


def use(caller, name):
    """A little of everything that is stored."""
    application = "/v1/applications/" + name
    for executors in range(1, 7):
        caller.ask("POST", application + "/runs", run_of(executors), **{"Idempotency-Key": "%s-%d" % (name, executors)})
    made = caller.ask("POST", "/v1/advice", {"application": name, "deadline_s": 300}).json()
    assert caller.read("/v1/advice/" + made["id"])["id"] == made["id"]
    assert len(caller.read(application + "/runs?limit=10")["items"]) == 6
    caller.read(application + "/models")
    caller.ask("GET", application + "/runs/export")
    caller.ask("PUT", "/v1/clusters/" + name, {"executors": 4, "cores_per_executor": 4}, **{"If-None-Match": "*"})
    caller.read("/v1/clusters/" + name)
    token = caller.ask("POST", "/v1/tokens", {"name": name, "scopes": ["read"]}).json()
    caller.ask("DELETE", "/v1/tokens/" + token["id"])
    work = caller.ask("POST", application + "/refit", {"resamples": 20}).json()
    end = time.monotonic() + PATIENCE
    while caller.read("/v1/operations/" + work["id"])["status"] in ("queued", "running"):
        assert time.monotonic() < end, "the refit does not end"
        time.sleep(0.1)
    assert caller.read("/v1/operations/" + work["id"])["status"] == "succeeded"
    caller.read("/v1/audit?limit=5")


def test_the_previous_program_works_beside_that_of_today(previous, make_service):
    old = make_service()
    token = old.token("alpha")
    program, old.program = old.program, previous / "build" / "service" / "provisord"
    # Programs from before this rule wait for somebody to apply what they do not know.
    knows = list((previous / MIGRATIONS).glob("*_oldest_program.sql")) != []
    old.start(PROVISOR_MIGRATE_ON_START="true" if knows else "false")
    new = make_service()
    new.database_url, new.owner_url, new.program = old.database_url, old.owner_url, program
    new.start()
    use(Caller(old, token), "by-old")
    use(Caller(new, token), "by-new")
    # Each reads and goes on with what the other has written.
    for name, caller in (("by-old", Caller(new, token)), ("by-new", Caller(old, token))):
        caller.read("/v1/applications/%s/models" % name)
        caller.ask("POST", "/v1/advice", {"application": name, "deadline_s": 200})
        caller.ask("DELETE", "/v1/applications/" + name, **{"If-Match": caller.ask("GET", "/v1/applications/" + name).headers["ETag"]})
    assert old.stop() == 0
