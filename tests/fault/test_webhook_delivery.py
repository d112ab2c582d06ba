"""Deliveries while processes die: every event reaches its endpoint, and what comes twice has the same webhook-id."""
import collections
import json
import random
import threading
import time

import pytest
import requests

from patience import PATIENCE
from test_operations import replica
from webhook_receiver import Receiver, verify

SETTINGS = {"PROVISOR_WEBHOOK_PRIVATE_TARGETS": "127.0.0.0/8", "PROVISOR_WEBHOOK_PLAIN_HTTP": "true", "PROVISOR_WEBHOOK_RETRY_FIRST_MS": 100,
            "PROVISOR_WEBHOOK_RETRY_MAX_S": 2, "PROVISOR_WEBHOOK_PAUSE_FIRST_S": 1, "PROVISOR_WEBHOOK_PAUSE_MAX_S": 2,
            "PROVISOR_WEBHOOK_POLL_MS": 200}


@pytest.fixture
def service(make_service):
    service = make_service(**SETTINGS)
    service.start()
    service.token_ = service.token("hooks")
    client = service.client(service.token_)
    client.post("/v1/applications", {"name": "etl"}, status=201)
    return service


class Writer(threading.Thread):
    """Adds runs, each under a key of its own and again until it is acknowledged, on whichever replica answers."""

    def __init__(self, services, token, count, prefix):
        super().__init__(daemon=True)
        self.services, self.token, self.count, self.prefix = services, token, count, prefix
        self.made, self.fault = [], None

    def run(self):
        for number in range(self.count):
            key, end = "%s-%d" % (self.prefix, number), time.monotonic() + 120
            while True:
                service = random.choice(self.services)
                try:
                    reply = service.client(self.token).post(
                        "/v1/applications/etl/runs", {"problem_size": 2, "executors": 1, "cores_per_executor": 2, "duration_s": 4, "labels": {"key": key}},
                        headers={"Idempotency-Key": key})
                    if reply.status_code == 201:
                        self.made.append(reply.json()["id"])
                        break
                except (requests.RequestException, AssertionError):
                    pass
                if time.monotonic() > end:
                    self.fault = "run %s was never acknowledged" % key
                    return
                time.sleep(0.05)


def register(client, receiver):
    return client.post("/v1/webhooks", {"url": receiver.url, "events": ["run.ingested"]}, status=201).json()


def finish(writers):
    for writer in writers:
        writer.join(timeout=180)
        assert not writer.is_alive() and writer.fault is None, writer.fault
    return [run for writer in writers for run in writer.made]


def check(client, hook, receiver, made):
    """Everything came; all copies of an event have one id; every signature is valid; the list says the same."""
    end = time.monotonic() + 6 * PATIENCE
    wanted = set(made)
    while time.monotonic() < end:
        ids = collections.defaultdict(set)
        for message in list(receiver.messages):
            ids[json.loads(message.body)["data"]["run_id"]].add(message.headers["webhook-id"])
        if wanted <= set(ids) and client.get("/v1/webhooks/%s" % hook["id"]).json()["pending"] == 0:
            break
        time.sleep(0.1)
    missing = wanted - set(ids)
    assert not missing, "%d of %d events never came" % (len(missing), len(made))
    assert all(len(i) == 1 for i in ids.values()), "a copy had another webhook-id"
    assert len({i for found in ids.values() for i in found}) == len(ids)
    for message in random.sample(receiver.messages, min(100, len(receiver.messages))):
        verify(message, [hook["secret"]])
    assert client.get("/v1/webhooks/%s" % hook["id"]).json()["pending"] == 0
    print("events", len(made), "messages", len(receiver.messages))


def test_two_replicas_of_which_one_is_killed_again_and_again(service):
    second = replica(service).start()
    client = service.client(service.token_)
    try:
        with Receiver(lambda message, number: 500 if number % 17 == 0 else (time.sleep(0.01), 204)[1]) as receiver:
            hook = register(client, receiver)
            writers = [Writer([service, second], service.token_, 60, "w%d" % i) for i in range(6)]
            for writer in writers:
                writer.start()
            for kills in range(6):
                time.sleep(random.uniform(0.3, 1.0))
                second.kill()
                second.start(wait=False)
            second.wait_ready()
            made = finish(writers)
            assert len(made) == 360
            check(client, hook, receiver, made)
    finally:
        if second.process is not None:
            second.kill()


def test_postgresql_is_killed_in_the_middle(service):
    client = service.client(service.token_)
    with Receiver(lambda message, number: (time.sleep(0.01), 204)[1]) as receiver:
        hook = register(client, receiver)
        writers = [Writer([service], service.token_, 60, "w%d" % i) for i in range(4)]
        for writer in writers:
            writer.start()
        for _ in range(2):
            time.sleep(0.7)
            service.kill_database()
            time.sleep(0.3)
            service.start_database()
        made = finish(writers)
        check(client, hook, receiver, made)


def test_what_was_pending_when_all_died_is_delivered_after(service):
    client = service.client(service.token_)
    with Receiver(503) as receiver:
        hook = register(client, receiver)
        writer = Writer([service], service.token_, 20, "w")
        writer.start()
        made = finish([writer])
        receiver.wait(1)
        service.kill()
        receiver.answer = lambda message, number: 204
        service.start()
        check(service.client(service.token_), hook, receiver, made)


def test_a_replica_that_is_asked_to_end_lets_go_at_once(service):
    """The other one goes on without waiting for a lease to run out."""
    second = replica(service).start()
    try:
        client = second.client(service.token_)
        with Receiver() as receiver:
            register(client, receiver)
            writer = Writer([service], service.token_, 5, "w")
            writer.start()
            finish([writer])
            receiver.wait(5)
            assert service.stop() == 0
            began = time.monotonic()
            writer = Writer([second], service.token_, 1, "after")
            writer.start()
            finish([writer])
            receiver.wait(6)
            assert time.monotonic() - began < 10, "a lease lasts 15 s"
    finally:
        if second.process is not None:
            second.kill()
