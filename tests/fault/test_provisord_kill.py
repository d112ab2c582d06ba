"""provisord or its PostgreSQL is killed under writers: what was acknowledged is there, once, and a request that is
repeated with its Idempotency-Key after a lost reply takes effect once."""
import itertools
import random
import subprocess
import threading
import time

import requests

from patience import wait_until
from test_eventlogs import tiny_log

WRITERS = 6
KINDS = ("run", "log", "advice", "report")
RUN = {"problem_size": 2, "executors": 1, "cores_per_executor": 2, "duration_s": 4,
       "stages": [{"id": 0, "task_durations_s": [1, 3], "duration_s": 3}]}


class Writer(threading.Thread):
    """Posts runs, logs, advice and reports of one cluster in turn, each under a key of its own and again until it is acknowledged."""

    def __init__(self, service, token, number):
        super().__init__(daemon=True)
        self.client = service.client(token)
        self.number = number
        self.application = "writer-%d" % number
        self.ending = threading.Event()
        self.acknowledged = {kind: {} for kind in KINDS}  # key: id of what was made
        self.lost = self.unavailable = self.in_progress = 0
        self.slowest_refusal_s = 0.0
        self.fault = None

    def send(self, kind, key):
        head = {"Idempotency-Key": key}
        if kind == "run":
            return self.client.post("/v1/applications/%s/runs" % self.application,
                                    dict(RUN, labels={"key": key}), headers=head)
        if kind == "log":
            head["Content-Type"] = "application/octet-stream"
            return self.client.post("/v1/applications/%s/eventlogs?label=key:%s" % (self.application, key),
                                    headers=head, data=tiny_log(app=key))
        if kind == "report":
            return self.client.post("/v1/clusters/shared/samples", headers=head, body={
                "processing": [{"operation": self.application, "bytes_per_s": 1e6}, {"operation": "any", "bytes_per_s": 1e6}]})
        return self.client.post("/v1/advice", {"application": self.application, "deadline_s": 60}, headers=head)

    def send_until_acknowledged(self, kind, key):
        """The id of what was made."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            begun = time.monotonic()
            try:
                reply = self.send(kind, key)
            except requests.RequestException:
                self.lost += 1
            else:
                if reply.status_code in (200, 201):
                    return reply.json()["id"]
                if reply.status_code == 204:
                    return key
                if reply.status_code == 503:
                    self.unavailable += 1
                    self.slowest_refusal_s = max(self.slowest_refusal_s, time.monotonic() - begun)
                    assert int(reply.headers["Retry-After"]) >= 1
                else:  # the first request with this key has not ended yet
                    assert reply.status_code == 409, reply.text
                    self.in_progress += 1
            time.sleep(random.uniform(0.01, 0.1))
        raise AssertionError("%s %s was never acknowledged" % (kind, key))

    def run(self):
        try:
            for i in itertools.count():
                for kind in KINDS:
                    if self.ending.is_set() and i > 0:
                        return
                    key = "%s-%d-%d" % (kind, self.number, i)
                    self.acknowledged[kind][key] = self.send_until_acknowledged(kind, key)
        except BaseException as fault:  # told by finish
            self.fault = fault

    def finish(self):
        self.ending.set()
        self.join(timeout=90)
        assert not self.is_alive()
        if self.fault is not None:
            raise self.fault


def everything(client, path):
    items, cursor = [], None
    while True:
        page = client.get(path + ("&cursor=" + cursor if cursor else "")).json()
        items += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return items


def start_writers(service, token):
    writers = [Writer(service, token, number) for number in range(WRITERS)]
    for writer in writers:
        writer.start()
    return writers


def check_each_is_there_once(client, writer):
    made = writer.acknowledged
    runs = everything(client, "/v1/applications/%s/runs?limit=200" % writer.application)
    wanted = {**made["run"], **made["log"]}
    assert sorted(run["labels"]["key"] for run in runs) == sorted(wanted)
    assert {run["labels"]["key"]: run["id"] for run in runs} == wanted
    advice = everything(client, "/v1/advice?limit=200&application=" + writer.application)
    assert sorted(a["id"] for a in advice) == sorted(made["advice"].values())
    known = client.get("/v1/clusters/shared/performance?operation=" + writer.application).json()
    assert [p["samples"] for p in known["processing"]] == [len(made["report"])]


def check_a_repetition_makes_nothing(writer):
    for kind, made in writer.acknowledged.items():
        for key in random.sample(sorted(made), min(3, len(made))):
            assert writer.send_until_acknowledged(kind, key) == made[key]


def acknowledged(writers):
    return {kind: sum(len(w.acknowledged[kind]) for w in writers) for kind in KINDS}


def wait_for_writes(writers, wanted):
    """Until so many of each kind are acknowledged, or a writer has failed (which finish tells)."""
    wait_until(lambda: any(w.fault for w in writers) or all(n >= wanted[kind] for kind, n in acknowledged(writers).items()),
               lambda: (wanted, acknowledged(writers)))


def check_all(service, token, writers):
    client = service.client(token)
    wait_for_writes(writers, dict.fromkeys(KINDS, 20))
    for writer in writers:
        writer.finish()
    for writer in writers:
        check_a_repetition_makes_nothing(writer)
        check_each_is_there_once(client, writer)
    known = client.get("/v1/clusters/shared/performance?operation=any").json()
    assert [p["samples"] for p in known["processing"]] == [sum(len(w.acknowledged["report"]) for w in writers)]
    print(acknowledged(writers), {what: sum(getattr(w, what) for w in writers) for what in ("lost", "unavailable", "in_progress")},
          "slowest 503: %.2f s" % max(w.slowest_refusal_s for w in writers))


def let_them_write(writers, least_s, most_s):
    """Returns after a random time in which each kind was acknowledged once more, however slow the machine is: a fault meets writes in every state."""
    wanted = {kind: n + 1 for kind, n in acknowledged(writers).items()}
    time.sleep(random.uniform(least_s, most_s))
    wait_for_writes(writers, wanted)


def loaded_service(make_service):
    service = make_service()
    token = service.token("alpha")
    service.start()
    service.client(token).put("/v1/clusters/shared", {}, 201)
    return service, token, start_writers(service, token)


def test_provisord_is_killed(make_service):
    service, token, writers = loaded_service(make_service)
    for _ in range(4):
        let_them_write(writers, 0.6, 1.2)
        service.kill()
        service.start()
    time.sleep(0.5)
    check_all(service, token, writers)
    assert sum(w.lost for w in writers) > 0, "the death was not noticed: the test proves nothing"


def test_provisord_is_asked_to_end(make_service):
    service, token, writers = loaded_service(make_service)
    for _ in range(3):
        let_them_write(writers, 0.6, 1.2)
        assert service.stop() == 0
        service.start()
    time.sleep(0.5)
    check_all(service, token, writers)


def start_again(service):
    """What was killed may still be falling down."""
    for _ in range(50):
        try:
            return service.start_database()
        except subprocess.CalledProcessError:
            time.sleep(0.2)
    raise AssertionError("PostgreSQL does not start again")


def test_postgresql_is_killed(make_service):
    """The same provisord goes on by itself and says 503 meanwhile, at once rather than after a time-out."""
    service, token, writers = loaded_service(make_service)
    for _ in range(2):
        let_them_write(writers, 0.8, 1.2)
        service.kill_database()
        time.sleep(1.0)
        start_again(service)
        service.wait_ready()
    time.sleep(1.0)
    check_all(service, token, writers)
    assert service.process.poll() is None
    assert sum(w.unavailable for w in writers) > 0, "the outage was not noticed: the test proves nothing"
    assert max(w.slowest_refusal_s for w in writers) < 5
    assert service.stop() == 0
