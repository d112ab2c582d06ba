"""A wall clock that is wrong, or set back as a correction does: nothing waits for it to catch up, tokens expire by the
database's clock, and the difference is reported."""
import datetime
import json
import time

import pytest
import requests

from long_work import LAB, Table, lab, wait_for
from patience import wait_until

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


@pytest.fixture
def skewed(make_service):
    """A service and a function that sets its wall clock: hours from the truth, -1, 0 or 1."""
    if not CLOCK.exists():
        pytest.skip("built with a sanitizer")
    service = make_service()
    ahead = service.directory / "ahead"

    def set_clock(hours):
        if hours == 0:
            ahead.unlink(missing_ok=True)
        else:
            ahead.write_text("" if hours > 0 else "behind")
        return service

    service.token_ = service.token("alpha")
    service.start(LD_PRELOAD=CLOCK, PROVISOR_TEST_AHEAD=ahead)
    return set_clock


def clock_lines(service):
    found = [json.loads(line) for line in service.log.read_text().splitlines()]
    return [(line["event"], round(line["database_ahead_s"])) for line in found if line["event"].startswith("clock.")]


def test_a_clock_that_differs_from_the_database_s_is_reported(skewed):
    for hours, logged in ((0, []), (1, [("clock.skewed", -3600)]), (0, [("clock.skewed", -3600), ("clock.in_step", 0)])):
        service = skewed(hours)
        for _ in range(3):  # it is ready all the same, and says so once
            seen = service.client(None).get("/readyz").json()
            assert abs(seen["clock_skew_s"] + hours * 3600) < 0.5, seen
        assert abs(metric(service, "provisor_clock_skew_seconds") + hours * 3600) < 0.5
        wait_until(lambda: clock_lines(service) == logged)


def test_a_token_expires_by_the_database_s_clock(skewed):
    service = skewed(-1)
    until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=2)
    made = service.client(service.token_).post("/v1/tokens", {
        "name": "t", "scopes": ["read"], "expires_at": until.isoformat().replace("+00:00", "Z")}, 201).json()
    user = service.client(made["token"])
    user.get("/v1/applications")
    wait_until(lambda: user.get("/v1/applications", (200, 401)).status_code == 401)
    assert datetime.datetime.now(datetime.timezone.utc) >= until
    # One that is good for half an hour yet, asked an hour ahead of it.
    until += datetime.timedelta(minutes=30)
    made = service.client(service.token_).post("/v1/tokens", {
        "name": "t", "scopes": ["read"], "expires_at": until.isoformat().replace("+00:00", "Z")}, 201).json()
    skewed(1).client(made["token"]).get("/v1/applications")
