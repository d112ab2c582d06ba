"""Long work gives way: whoever else waits for a worker has one after a slice, and nothing is lost by it."""
import json
import re
import time

import pytest
import requests

from long_work import Table, lab, wait_for
from patience import SLOWDOWN, wait_until
from test_simulations import LONG, SMALL


def held(service, state):
    """Operations of the process that are "working", or "waiting" for their turn."""
    text = requests.get(service.base_url + "/metrics", timeout=30).text
    return int(re.search(r'provisor_operations_held\{state="%s"\} (\d+)' % state, text).group(1))


def lines_of(service, operation, event):
    lines = [json.loads(line) for line in service.log.read_text().splitlines() if operation in line]
    return [line for line in lines if line["event"] == event]


def attempted(service, operation):
    """The log's line of the attempt that ended it, which is written a moment after the end."""
    wait_until(lambda: lines_of(service, operation, "operation.attempted"))
    return lines_of(service, operation, "operation.attempted")[-1]


def cancel_all(*clients):
    for client in clients:
        for status in ("queued", "running"):
            for item in client.get("/v1/operations?limit=200&status=" + status).json()["items"]:
                client.delete("/v1/operations/" + item["id"], (200, 202))
                wait_for(client, item["id"])


def some_runs(client, application):
    for m in (1, 2, 3, 4, 6, 8, 12, 16):
        client.post("/v1/applications/%s/runs" % application,
                    {"problem_size": 64, "executors": m, "cores_per_executor": 1, "duration_s": 10 + 400 / m + m}, 201)


@pytest.fixture(scope="module")
def service(make_service):
    service = make_service(PROVISOR_OPERATION_WORKERS=2, PROVISOR_OPERATION_SLICE_MS=100)
    service.alpha_token, service.beta_token = service.token("alpha"), service.token("beta")
    return service.start()


@pytest.fixture(scope="module")
def noisy(service):
    return service.client(service.alpha_token)


@pytest.fixture(scope="module")
def quiet(service):
    return service.client(service.beta_token)


@pytest.fixture(autouse=True)
def nothing_left(request):
    yield
    if "noisy" in request.fixturenames:
        cancel_all(request.getfixturevalue("noisy"), request.getfixturevalue("quiet"))


def test_simulations_of_one_team_do_not_keep_another_waiting(service, noisy, quiet):
    """As many as there are workers, each for hours; a refit of another team is done meanwhile, and they go on."""
    some_runs(quiet, "nightly")
    long = [noisy.post("/v1/simulations", LONG, 202).json()["id"] for _ in range(2)]
    for operation in long:
        wait_until(lambda: noisy.get("/v1/operations/" + operation).json()["progress"]["done"] > 0)
    asked = quiet.post("/v1/applications/nightly/refit", {"resamples": 50}, 202).json()
    assert wait_for(quiet, asked["id"])["status"] == "succeeded"
    for operation in long:
        seen = noisy.get("/v1/operations/" + operation).json()
        assert (seen["status"], seen["attempt"]) == ("running", 1)
        wait_until(lambda: noisy.get("/v1/operations/" + operation).json()["progress"]["done"] > seen["progress"]["done"])
        assert noisy.get("/v1/operations/" + operation).json()["estimated_end_at"] > seen["updated_at"]


def test_a_team_takes_turns_with_itself(service, noisy, quiet):
    """It has both workers for its long work, and something short is done all the same."""
    some_runs(noisy, "own")
    for _ in range(2):
        wait_for(noisy, noisy.post("/v1/simulations", LONG, 202).json()["id"], ("running",))
    asked = noisy.post("/v1/applications/own/refit", {"resamples": 50}, 202).json()
    assert wait_for(noisy, asked["id"])["status"] == "succeeded"


def test_what_gave_way_has_the_same_result(service, noisy, quiet):
    """A simulation and a refit, alone and taking turns with work that never ends: the same to the last digit."""
    some_runs(quiet, "same")
    for client in (noisy, noisy, quiet):
        wait_for(client, client.post("/v1/simulations", LONG, 202).json()["id"], ("running",))

    def outcome(path, body):
        made = quiet.post(path, body, 202).json()["id"]
        seen = wait_for(quiet, made)
        assert (seen["status"], seen["attempt"]) == ("succeeded", 1), seen
        for member in ("operation_id", "refitted_at"):
            seen["result"].pop(member, None)
        return seen["result"], attempted(service, made)["pauses"]

    def simulation(size):
        return "/v1/simulations", dict(SMALL, workload={"workflows": 30 * size // SLOWDOWN},
                                       policies=[{"policy": "pingan", "epsilon": 0.6}, {"policy": "flutter"}])

    def refit(size):
        return "/v1/applications/same/refit", {"resamples": 2000 * size // SLOWDOWN}

    in_turns = []
    for ask in (simulation, refit):
        size, pauses = 1, 0
        while pauses == 0:  # as large as it takes for this machine to need more than a slice
            size *= 2
            result, pauses = outcome(*ask(size))
        in_turns.append((ask(size), result))
    cancel_all(noisy, quiet)
    for ask, result in in_turns:
        assert outcome(*ask) == (result, 0)

#-- - with kinds that a test can steer -- -

@pytest.fixture
def narrow(make_service):
    """One worker; what others do is in its way at once."""
    service = lab(make_service(PROVISOR_OPERATION_WORKERS=1, PROVISOR_OPERATION_SLICE_MS=100, PROVISOR_OPERATION_PAUSED_MAX=4))
    service.alpha_token, service.beta_token = service.token("alpha"), service.token("beta")
    service.start()
    service.table = Table(service)
    yield service
    service.table.close()


def test_what_waits_for_its_turn_is_cancelled_at_once_and_given_back_at_the_end(narrow):
    """One that does not report keeps the worker: of two that wait meanwhile one is cancelled, one goes back to the queue."""
    alpha, beta = narrow.client(narrow.alpha_token), narrow.client(narrow.beta_token)
    steps = {"steps": 100000, "step_ms": 5}
    first = narrow.table.queue("alpha", steps)
    wait_until(lambda: alpha.get("/v1/operations/" + first).json()["progress"]["done"] > 0)
    stubborn = narrow.table.queue("beta", {"steps": 1, "step_ms": 3000})
    wait_until(lambda: beta.get("/v1/operations/" + stubborn).json()["progress"]["total"] == 1)
    waits = narrow.table.queue("alpha", steps)
    wait_for(alpha, waits, ("running",))
    assert alpha.get("/v1/operations/" + waits).json()["progress"]["total"] is None, "it has not had a turn yet"
    wait_until(lambda: (held(narrow, "working"), held(narrow, "waiting")) == (1, 2))
    alpha.delete("/v1/operations/" + first, 202)
    assert wait_for(alpha, first)["status"] == "cancelled"
    seen = beta.get("/v1/operations/" + stubborn).json()
    assert seen["status"] == "running", "it had the worker all the time"
    assert narrow.stop() == 0
    row = narrow.table.rows("SELECT status, attempt, losses FROM provisor.operation WHERE id = %s", waits)
    assert row == [("queued", 1, 0)], "its turn never came: given back, and no attempt lost"


def test_a_team_has_no_more_places_than_leave_room_for_others(narrow):
    """Five places: one team has two of them, however much it asks for, and another one soon has a turn."""
    alpha, beta = narrow.client(narrow.alpha_token), narrow.client(narrow.beta_token)
    made = [narrow.table.queue("alpha", {"steps": 100000, "step_ms": 5}) for _ in range(6)]

    def running():
        return len([m for m in made if alpha.get("/v1/operations/" + m).json()["status"] == "running"])

    wait_until(lambda: running() == 2)
    assert wait_for(beta, narrow.table.queue("beta", {"steps": 3, "step_ms": 5}))["status"] == "succeeded"
    assert running() == 2
    queued = [m for m in made if alpha.get("/v1/operations/" + m).json()["status"] == "queued"]
    assert [alpha.get("/v1/operations/" + m).json()["queue_position"] for m in queued] == [1, 2, 3, 4]
    cancel_all(alpha)


def test_a_sixth_team_has_its_turn_whatever_five_others_ask_for(make_service):
    """One after the other they queue more long work than the process has places; who has none is soon begun and done."""
    service = lab(make_service(PROVISOR_OPERATION_WORKERS=2, PROVISOR_OPERATION_SLICE_MS=100, PROVISOR_OPERATION_PAUSED_MAX=8))
    greedy = ["t1", "t2", "t3", "t4", "t5"]
    quiet = [service.token(team) for team in greedy + ["quiet"]][-1]
    service.start()
    table, quiet = Table(service), service.client(quiet)

    def places(team):
        return table.value("SELECT count(*) FROM provisor.operation WHERE status = 'running' AND team_id ="
                           " (SELECT team_id FROM provisor.team WHERE name = %s)", team)

    for team in greedy:
        for _ in range(10):
            table.queue(team, {"steps": 1000000, "step_ms": 5})
        wait_until(lambda: places(team) >= (4 if team == "t1" else 1))
        time.sleep(1.2)  # beats, at each of which it would take another place if it could
    held = [places(team) for team in greedy]
    assert held == [4, 1, 1, 1, 1], [line for line in service.log.read_text().splitlines() if '"operation.' in line][-40:]
    seen = wait_for(quiet, table.queue("quiet", {"steps": 3, "step_ms": 5}))
    assert (seen["status"], seen["attempt"]) == ("succeeded", 1)
    table.close()


def test_without_places_to_wait_in_each_works_until_its_end(make_service):
    service = lab(make_service(PROVISOR_OPERATION_WORKERS=1, PROVISOR_OPERATION_SLICE_MS=10, PROVISOR_OPERATION_PAUSED_MAX=0))
    token = service.token("alpha")
    service.start()
    table, client = Table(service), service.client(token)
    first, second = (table.queue("alpha", {"steps": 25, "step_ms": 40}) for _ in range(2))
    ended = [wait_for(client, made) for made in (first, second)]
    assert ended[0]["finished_at"] <= ended[1]["started_at"]
    assert attempted(service, first)["pauses"] == 0
    table.close()


def test_what_operations_hold_is_memory_of_their_teams(make_service):
    """One that no team could have room for fails and says so; one that others leave no room for comes back later."""
    mib = 1 << 20
    service = lab(make_service(PROVISOR_MEMORY_BYTES_MAX=64 * mib, PROVISOR_OPERATION_WORKERS=2))
    alpha, beta = service.token("alpha"), service.token("beta")
    service.start()
    table, alpha, beta = Table(service), service.client(alpha), service.client(beta)

    def held_bytes():
        return int(re.search(r'provisor_resource_held\{resource="memory"\} (\d+)', requests.get(service.base_url + "/metrics", timeout=30).text).group(1))

    failed = wait_for(alpha, table.queue("alpha", {"bytes": 60 * mib}))
    assert failed["status"] == "failed" and failed["attempt"] == 1
    assert (failed["error"]["status"], failed["error"]["type"]) == (422, "/problems/limit_exceeded")
    assert "memory_bytes_max = %d" % (64 * mib) in failed["error"]["detail"]

    long = table.queue("beta", {"steps": 1000000, "step_ms": 10, "bytes": 30 * mib})
    wait_until(lambda: held_bytes() >= 30 * mib)
    waits = table.queue("alpha", {"bytes": 40 * mib})
    wait_until(lambda: [a for a in lines_of(service, waits, "operation.attempted") if a["outcome"] == "returned"])
    assert "memory_bytes_max" in lines_of(service, waits, "operation.attempted")[0]["reason"]
    beta.delete("/v1/operations/" + long, (200, 202))
    done = wait_for(alpha, waits)
    assert done["status"] == "succeeded" and done["attempt"] > 1
    wait_until(lambda: held_bytes() < mib)
    table.close()
