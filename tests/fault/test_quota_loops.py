"""provisord or its PostgreSQL is killed under orchestrators: an acknowledged sample is answered alike ever after, one whose
reply was lost is taken once, and the loop goes on as if nothing had happened."""
import random
import threading
import time

import pytest
import requests

from patience import wait_until
from test_provisord_kill import start_again

LOOPS = "/v1/quota-loops"
SETTINGS = {"workers": [{"name": "w", "cores": 8}], "cgroup": {},
            "applications": [{"name": "A", "release_s": 0, "deadline_s": 900}, {"name": "B", "release_s": 0, "deadline_s": 600}]}


def first_sample():
    return {"sequence": 0, "at_s": 0, "executors": [
        {"id": name, "application": name, "worker": "w", "stage": 0, "tasks": 100000, "stage_deadline_s": 500, "completed_tasks": 0, "initial_cores": 2}
        for name in ("A", "B")]}


class Orchestrator(threading.Thread):
    """Sends the samples of a loop one after the other, each again until it is acknowledged."""

    def __init__(self, service, token, number):
        super().__init__(daemon=True)
        self.client, self.number = service.client(token), number
        self.path = "%s/loop-%d" % (LOOPS, number)
        self.ending, self.fault = threading.Event(), None
        self.sent, self.acknowledged, self.lost, self.checked = [], [], 0, 0

    def send(self, body):
        """The bytes of its reply."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                reply = self.client.post(self.path + "/samples", body)
            except requests.RequestException:
                self.lost += 1
            else:
                if reply.status_code == 200:
                    return reply.content
                assert reply.status_code == 503, reply.text
                self.lost += 1
            time.sleep(0.02)
        raise AssertionError("sample %d was never acknowledged" % body["sequence"])

    def next(self):
        n = len(self.sent)
        done = random.Random(self.number * 1000003 + n)
        return first_sample() if n == 0 else {"sequence": n, "at_s": n * 0.5, "executors": [
            {"id": name, "stage": 0, "completed_tasks": n * 7 + done.randrange(20)} for name in ("A", "B")]}

    def run(self):
        try:
            while not self.ending.is_set():
                lost = self.lost
                if self.sent:  # whatever has been killed since, it is the same reply
                    assert self.send(self.sent[-1]) == self.acknowledged[-1]
                    self.checked += self.lost > lost
                body = self.next()
                self.sent.append(body)
                self.acknowledged.append(self.send(body))
        except BaseException as fault:  # told by finish
            self.fault = fault

    def finish(self):
        self.ending.set()
        self.join(timeout=90)
        assert not self.is_alive()
        if self.fault is not None:
            raise self.fault


@pytest.fixture
def orchestrated(make_service):
    service = make_service()
    token = service.token("orchestrators")
    service.start()
    client = service.client(token)
    orchestrators = [Orchestrator(service, token, number) for number in range(4)]
    for orchestrator in orchestrators:
        client.put(orchestrator.path, SETTINGS, 201)
        orchestrator.start()
    return service, client, orchestrators


def let_them_send(orchestrators, least_s, most_s):
    """For a random time, and until each loop has had five more samples, however slow the machine is, or has failed (which finish tells)."""
    wanted = [len(o.acknowledged) + 5 for o in orchestrators]
    time.sleep(random.uniform(least_s, most_s))
    wait_until(lambda: any(o.fault for o in orchestrators) or all(len(o.acknowledged) >= n for o, n in zip(orchestrators, wanted)),
               lambda: (wanted, [len(o.acknowledged) for o in orchestrators]))


def check_all(client, orchestrators):
    for orchestrator in orchestrators:
        orchestrator.finish()
    client.put(LOOPS + "/undisturbed", SETTINGS, 201)
    for orchestrator in orchestrators:
        last = len(orchestrator.sent) - 1
        assert last >= 15, "hardly anything was sent"
        assert client.get(orchestrator.path).json()["sequence"] == last
        assert orchestrator.send(orchestrator.sent[-1]) == orchestrator.acknowledged[-1]
        # A loop that nobody killed gives the same from the first sample to the last: none was lost, none taken twice.
        client.put(LOOPS + "/undisturbed", SETTINGS, 200)
        replies = [client.post(LOOPS + "/undisturbed/samples", body, 200).content for body in orchestrator.sent]
        assert replies == orchestrator.acknowledged
        client.delete(LOOPS + "/undisturbed")
        client.put(LOOPS + "/undisturbed", SETTINGS, 201)
    assert sum(o.lost for o in orchestrators) > 0, "the death was not noticed: the test proves nothing"


def test_provisord_is_killed(orchestrated):
    service, client, orchestrators = orchestrated
    for _ in range(4):
        let_them_send(orchestrators, 0.4, 0.9)
        service.kill()
        service.start()
    let_them_send(orchestrators, 0.3, 0.3)
    check_all(client, orchestrators)
    assert sum(o.checked for o in orchestrators) > 0, "no acknowledged sample was repeated after a death"


def test_postgresql_is_killed(orchestrated):
    service, client, orchestrators = orchestrated
    for _ in range(2):
        let_them_send(orchestrators, 0.6, 1.0)
        service.kill_database()
        start_again(service)
        service.wait_ready()
    let_them_send(orchestrators, 0.5, 0.5)
    check_all(client, orchestrators)
