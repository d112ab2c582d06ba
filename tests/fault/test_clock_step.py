"""The wall clock is set back while the service runs, as a correction does: nothing waits for it to catch up."""
import time

import pytest
import requests

from long_work import LAB, Table, lab, wait_for

CLOCK = LAB.parent / "libwall_clock.so"


@pytest.fixture
def stepped(make_service):
    """A service that has seen a wall clock one hour ahead for 1.5 s and now sees the truth."""
    if not CLOCK.exists():
        pytest.skip("built with a sanitizer")
    service = lab(make_service(PROVISOR_OPERATION_WORKERS=2, PROVISOR_OPERATION_LEASE_S=2, PROVISOR_MAINTENANCE_INTERVAL_S=1))
    ahead = service.directory / "ahead"
    service.token_ = service.token("alpha")
    service.start(LD_PRELOAD=CLOCK, PROVISOR_TEST_AHEAD=ahead)
    ahead.touch()
    time.sleep(1.5)
    ahead.unlink()
    return service


def metric(service, line):
    for text in requests.get(service.base_url + "/metrics", timeout=10).text.splitlines():
        if text.startswith(line + " "):
            return float(text.split()[-1])
    return 0


def test_heart_beat_watches_and_housekeeping_go_on(stepped):
    table = Table(stepped)
    client = stepped.client(stepped.token_)
    passes = metric(stepped, 'provisor_maintenance_passes_total{outcome="done"}')
    made = table.queue("alpha", {"steps": 6000, "step_ms": 10})
    wait_for(client, made, ("running",), 10)
    time.sleep(4)  # two leases
    seen = client.get("/v1/operations/" + made).json()
    assert seen["status"] == "running" and seen["attempt"] == 1 and seen["progress"]["done"] > 50, seen
    # Somebody who waits is answered when there is news, not after his whole wait.
    client.delete("/v1/operations/" + made, {200, 202, 204})
    began = time.monotonic()
    ended = client.get("/v1/operations/" + made, headers={"Prefer": "wait=10"}).json()
    assert ended["status"] == "cancelled", ended
    assert time.monotonic() - began < 5
    assert metric(stepped, 'provisor_maintenance_passes_total{outcome="done"}') > passes
    table.close()
    began = time.monotonic()
    assert stepped.stop() == 0
    assert time.monotonic() - began < 10
