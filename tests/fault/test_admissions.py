"""Admissions while processes die: what was acknowledged is there, and no instant is promised twice."""
import random
import time

import pytest

import admission_load
from admission_load import CLUSTER, Caller
from test_operations import replica


@pytest.fixture
def service(make_service):
    service = make_service()
    service.start()
    service.token_ = service.token("callers")
    service.client(service.token_).put("/v1/clusters/c", CLUSTER, 201)
    return service


def check(service, callers):
    items, cores = admission_load.check(service.client(service.token_), callers, "c")
    # Every request was repeated under its key until it was answered, so nothing is there that nobody was told of.
    assert len(items) == sum(len(c.granted) for c in callers)
    assert sum(c.refused for c in callers) > 0 and cores > 32, "nothing was at stake: %g" % cores
    print("granted", len(items), "refused", sum(c.refused for c in callers), "peak", cores)


def test_two_replicas_of_which_one_is_killed_again_and_again(service):
    second = replica(service).start()
    try:
        callers = [Caller([service, second], service.token_, "c", 15, seed) for seed in range(32)]
        for caller in callers:
            caller.start()
        for _ in range(4):
            time.sleep(random.uniform(0.3, 1.0))
            second.kill()
            second.start(wait=False)
        admission_load.finish(callers)
        second.wait_ready()
        check(service, callers)
    finally:
        if second.process is not None:
            second.kill()


def test_postgresql_is_killed_in_the_middle(service):
    callers = [Caller([service], service.token_, "c", 25, seed) for seed in range(16)]
    for caller in callers:
        caller.start()
    for _ in range(2):
        time.sleep(0.7)
        service.kill_database()
        time.sleep(0.3)
        service.start_database()
    admission_load.finish(callers)
    service.wait_ready()
    check(service, callers)
