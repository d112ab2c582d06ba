"""Long work while processes die: every operation ends once, none is lost, and who follows misses nothing."""
import collections
import copy
import os
import random
import signal
import threading
import time

import pytest
import requests

from long_work import ENDED, Stream, Table, lab, wait_for
from patience import PATIENCE, SLOWDOWN
from test_provisord_kill import everything, start_again

QUICK_LEASE = {"PROVISOR_OPERATION_LEASE_S": 1, "PROVISOR_OPERATION_TEAM_RUNNING_MAX": 16}


def replica(service):
    """A further process on the same database."""
    other = copy.copy(service)
    other.port, other.process, other.log = None, None, service.directory / "replica.log"
    return other


@pytest.fixture
def pair(make_service):
    """Two services on one database, and its table; what a test has left of the second is killed."""
    service = lab(make_service(PROVISOR_OPERATION_WORKERS=4, **QUICK_LEASE))
    service.token_ = service.token("alpha")
    service.start()
    second = replica(service).start()
    table = Table(service)
    yield service, second, table
    table.close()
    if second.process is not None:
        second.kill()


class Follower(threading.Thread):
    """Follows one operation over every cut, on whichever replica answers, by the number of the last event it has."""

    def __init__(self, services, token, operation):
        super().__init__(daemon=True)
        self.services, self.token, self.operation = services, token, operation
        self.numbers, self.statuses, self.done, self.cuts = [], [], [], 0
        self.ending = time.monotonic() + 90

    def run(self):
        while time.monotonic() < self.ending:
            try:
                stream = Stream(random.choice(self.services), self.token, self.operation,
                                last=self.numbers[-1] if self.numbers else None, timeout=20)
                if stream.reply.status_code == 204:
                    return
                for number, _, data in stream:
                    self.numbers.append(number)
                    self.statuses.append(data["status"])
                    self.done.append(data["progress"]["done"])
                if self.statuses and self.statuses[-1] in ENDED:
                    return
            except (requests.RequestException, AttributeError, ValueError):
                pass
            self.cuts += 1
            time.sleep(0.05)

    def check(self):
        self.join(timeout=95)
        assert self.numbers == list(range(1, len(self.numbers) + 1)), "nothing missed, nothing twice"
        assert self.statuses[-1] == "succeeded" and self.statuses.count("succeeded") == 1
        assert self.done == sorted(self.done), "progress never falls"


def check_each_ended_once(client, table, made, prefix):
    rows = table.rows("SELECT id::text, status FROM provisor.operation WHERE id = ANY (%s::uuid[])", made)
    assert collections.Counter(status for _, status in rows) == {"succeeded": len(made)}
    table.as_team("alpha")
    events = table.rows("SELECT data->>'id', count(*) FROM provisor.outbox WHERE type = 'operation.completed' GROUP BY 1")
    assert {i: n for i, n in events if i in set(made)} == {i: 1 for i in made}
    effects = [a["name"] for a in everything(client, "/v1/applications?limit=200") if a["name"].startswith(prefix)]
    assert len(effects) == len(made), "each took effect once"


def test_two_share_200_operations_while_one_is_killed_again_and_again(pair):
    service, second, table = pair
    client = service.client(service.token_)
    made = [table.queue("alpha", {"steps": 10, "step_ms": 30, "effect": "shared-"}) for _ in range(200)]
    followers = [Follower([service, second], service.token_, i) for i in random.sample(made, 12)]
    for follower in followers:
        follower.start()
    kills, end = 0, time.monotonic() + 400

    def left():
        return table.value("SELECT count(*) FROM provisor.operation WHERE finished_at IS NULL")

    # The last few are let alone: who lost n attempts rests 2^n seconds, which nobody could wait for if it went on.
    while left() > 5:
        assert time.monotonic() < end, table.rows("SELECT status, count(*) FROM provisor.operation GROUP BY 1")
        time.sleep(random.uniform(0.3, 0.8))
        second.kill()
        kills += 1
        second.start()
    while left() > 0:
        assert time.monotonic() < end, table.rows("SELECT status, losses, not_before FROM provisor.operation WHERE finished_at IS NULL")
        time.sleep(0.2)
    check_each_ended_once(client, table, made, "shared-")
    for follower in followers:
        follower.check()
    lost = table.value("SELECT sum(losses) FROM provisor.operation")
    workers = table.rows("SELECT worker, count(*) FROM provisor.operation GROUP BY 1")
    print("kills", kills, "attempts lost", lost, "cuts", sum(f.cuts for f in followers), "processes", len(workers))
    assert kills >= 3 and lost > 0 and sum(f.cuts for f in followers) > 0 and len(workers) > 2, "the test proves nothing"


def test_a_process_that_was_frozen_comes_too_late(pair):
    """Its lease runs out, another does the work; when it goes on, what it still wants to store is refused."""
    service, second, table = pair
    assert second.stop() == 0
    client = service.client(service.token_)
    made = [table.queue("alpha", {"steps": 15, "step_ms": 100, "deaf": True, "effect": "frozen-"}) for _ in range(4)]
    for i in made:
        wait_for(client, i, ("running",))
    os.kill(service.process.pid, signal.SIGSTOP)
    try:
        second.start()
        other = second.client(service.token_)
        for i in made:
            assert wait_for(other, i)["attempt"] == 2
    finally:
        os.kill(service.process.pid, signal.SIGCONT)
    time.sleep(2.5)
    assert '"outcome":"lost"' in service.log.read_text()
    check_each_ended_once(client, table, made, "frozen-")


def test_work_that_cannot_even_be_loaded_fails_and_comes_back_no_more(make_service):
    """What it is to do is larger than the memory of an attempt: no attempt will ever do better."""
    service = lab(make_service(PROVISOR_REQUEST_MEMORY_BYTES_MAX=1 << 20, **QUICK_LEASE))
    token = service.token("alpha")
    service.start()
    client, table = service.client(token), Table(service)
    large = table.queue("alpha", {"steps": 1, "pad": "x" * (2 << 20)})
    end, seen = time.monotonic() + PATIENCE, None
    while not seen:  # its request is too large for an answer, too
        assert time.monotonic() < end, table.rows("SELECT status, attempt, losses FROM provisor.operation")
        seen = table.rows("SELECT status, attempt, losses, error->>'type' FROM provisor.operation"
                          " WHERE id = %s AND finished_at IS NOT NULL", large)
        time.sleep(0.1)
    assert seen == [("failed", 1, 0, "/problems/out_of_memory")]
    after = wait_for(client, table.queue("alpha", {"steps": 1}))
    assert after["status"] == "succeeded"
    table.close()


def test_work_that_kills_its_process_is_given_up(make_service):
    service = lab(make_service(PROVISOR_OPERATION_ATTEMPTS_MAX=3, **QUICK_LEASE))
    token = service.token("alpha")
    service.start()
    table = Table(service)
    client = service.client(token)
    made = table.queue("alpha", {"steps": 100000, "step_ms": 10})
    for attempt in (1, 2, 3):
        end = time.monotonic() + PATIENCE
        while wait_for(client, made, ("running",))["attempt"] < attempt:  # until the lease of the dead is over
            assert time.monotonic() < end
            time.sleep(0.1)
        service.kill()
        service.start()
    seen = wait_for(client, made)
    assert seen["status"] == "failed" and seen["error"]["type"] == "/problems/attempts_exhausted"
    assert "3 attempts" in seen["error"]["detail"]
    table.close()


def test_a_process_is_killed_while_operations_wait_for_their_turn(make_service):
    """What waits in its memory is taken over like what works; giving way is no attempt, being killed is one."""
    service = lab(make_service(PROVISOR_OPERATION_WORKERS=1, PROVISOR_OPERATION_SLICE_MS=100, **QUICK_LEASE))
    service.token_ = service.token("alpha")
    service.start()
    table, client = Table(service), service.client(service.token_)
    made = [table.queue("alpha", {"steps": 60, "step_ms": 25, "effect": "turns-"}) for _ in range(3)]

    def under_way():
        return [i for i in made if client.get("/v1/operations/" + i).json()["progress"]["done"] > 0]

    end = time.monotonic() + PATIENCE
    while len(under_way()) < 2:
        assert time.monotonic() < end, "two have had a turn, on one worker"
        time.sleep(0.05)
    assert table.value("SELECT max(attempt) FROM provisor.operation") == 1
    assert table.value("SELECT count(*) FROM provisor.operation WHERE status = 'running'") > 1
    service.kill()
    second = replica(service).start()
    other = second.client(service.token_)
    for operation in made:
        assert wait_for(other, operation)["status"] == "succeeded"
    check_each_ended_once(other, table, made, "turns-")
    attempts = table.rows("SELECT attempt, losses FROM provisor.operation")
    assert set(attempts) <= {(1, 0), (2, 1)} and attempts.count((2, 1)) > 1
    table.close()
    assert second.stop() == 0


def test_a_process_that_is_asked_to_end_gives_back_at_once(pair):
    """A rolling restart: nobody waits for a lease, and no attempt counts as lost."""
    service, second, table = pair
    client = service.client(service.token_)
    made = [table.queue("alpha", {"steps": 20, "step_ms": 20, "effect": "rolled-"}) for _ in range(60)]
    while table.value("SELECT count(*) FROM provisor.operation WHERE finished_at IS NULL") > 0:
        time.sleep(0.4)
        assert second.stop() == 0
        second.start()
    check_each_ended_once(client, table, made, "rolled-")
    assert table.value("SELECT sum(losses) FROM provisor.operation") == 0
    assert table.value("SELECT max(attempt) FROM provisor.operation") > 1, "the end was not noticed: the test proves nothing"


def test_the_database_is_killed_under_them(pair):
    service, second, table = pair
    client = service.client(service.token_)
    made = [table.queue("alpha", {"steps": 20, "step_ms": 50, "effect": "crash-"}) for _ in range(40)]
    followers = [Follower([service, second], service.token_, i) for i in random.sample(made, 6)]
    for follower in followers:
        follower.start()
    wait_for(client, made[0], ("running", "succeeded"))
    time.sleep(0.5)
    service.kill_database()
    time.sleep(1.5)
    start_again(service)
    service.wait_ready()
    table = Table(service)
    end = time.monotonic() + PATIENCE
    while table.value("SELECT count(*) FROM provisor.operation WHERE finished_at IS NULL") > 0:
        assert time.monotonic() < end
        time.sleep(0.2)
    check_each_ended_once(client, table, made, "crash-")
    for follower in followers:
        follower.check()
    assert service.process.poll() is None and second.process.poll() is None


def test_a_team_with_a_hundred_does_not_keep_another_waiting(make_service):
    service = lab(make_service(PROVISOR_OPERATION_WORKERS=2, PROVISOR_OPERATION_TEAM_RUNNING_MAX=8))
    alpha, beta = service.token("alpha"), service.token("beta")
    service.start()
    table = Table(service)
    many = [table.queue("alpha", {"steps": 10, "step_ms": 30}) for _ in range(100)]
    wait_for(service.client(alpha), many[0])
    began = time.monotonic()
    for _ in range(3):
        wait_for(service.client(beta), table.queue("beta", {"steps": 1}))
    took = time.monotonic() - began
    left = table.value("SELECT count(*) FROM provisor.operation WHERE finished_at IS NULL")
    print("three of the other team in %.2f s, %d of the hundred left" % (took, left))
    assert left > 75 and took < 5 * SLOWDOWN
    table.close()


def test_a_team_runs_no_more_at_once_than_it_may(pair):
    service, second, table = pair
    for process in (service, second):
        process.stop()
        process.start(PROVISOR_OPERATION_TEAM_RUNNING_MAX=3)
    made = [table.queue("alpha", {"steps": 10, "step_ms": 20}) for _ in range(40)]
    most, end = 0, time.monotonic() + PATIENCE
    while table.value("SELECT count(*) FROM provisor.operation WHERE finished_at IS NULL") > 0:
        most = max(most, table.value("SELECT count(*) FROM provisor.operation WHERE status = 'running'"))
        assert time.monotonic() < end
    assert most == 3
    assert table.value("SELECT count(*) FROM provisor.operation WHERE status = 'succeeded'") == len(made)
