"""One team cannot hurt another: team "hostile" attacks with its token, and what team "quiet" sees meanwhile is held
against what it sees on an idle service.

PROVISOR_LOAD_SECONDS (default 2) is how long each attack is looked at. The long run (10 s and more) holds what
docs/reliability.md states: the quiet team's 99th percentile within twice its idle one and 5 ms, readiness under 50 ms.
A short one has too few samples for that, on a machine that does other things besides: it holds the median, with 100 ms
to spare where an attack without a remedy costs seconds. That no request is refused and the memory of the process are
held by both. An attack that misses a bound is looked at twice more before it counts: other users of a machine come and
go, what an attack does stays.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import probe
from patience import BUILD, PATIENCE

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = float(os.environ.get("PROVISOR_LOAD_SECONDS", "2"))
LONG = SECONDS >= 10
READY_MS = 50 if LONG else 150
SPARE_MS = 0 if LONG else 100
TRIES = 3
MB = 1 << 20
LEDGER_MB, BESIDE_MB = 512, 260  # what requests may hold, and what a process has beside them (heaps, caches, code)
SMALL = {"succeeded": True, "executors": 2, "cores_per_executor": 2, "duration_s": 60.0, "problem_size": 8,
         "stages": [{"id": 0, "parents": [], "task_durations_s": [1.0, 2.0, 3.0]}]}


class Scene:
    """A service with two teams, and what the quiet one sees while nobody attacks."""

    def __init__(self, service, with_history=True):
        self.service = service
        self.red, self.blue = service.token("hostile"), service.token("quiet")
        service.start(after_database=True)
        self.hostile, self.quiet = service.client(self.red), service.client(self.blue)
        if with_history:
            for client, name in ((self.hostile, "hostile"), (self.quiet, "nightly-etl")):
                for size in (8, 16, 32, 64):
                    for executors in (1, 2, 4, 8):
                        seconds = 40 + 0.8 * size * (1 + 1 / executors) + 0.4 * executors
                        client.post("/v1/applications/%s/runs" % name, dict(SMALL, problem_size=size, executors=executors, duration_s=seconds), 201)
        self.look(1)
        self.idle = self.look(max(2, SECONDS / 2))

    def look(self, seconds, names=tuple(probe.CALLS)):
        return probe.measure(self.service.port, self.blue, names, seconds)

    def resident_mb(self):
        return int(pathlib.Path("/proc/%d/statm" % self.service.process.pid).read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / MB

    def wait_for_memory(self):
        """Until requests hold little: what they hold is given back a moment after whoever sent them has gone."""
        end = time.monotonic() + PATIENCE
        while self.service.metric('provisor_resource_held{resource="memory"}') > LEDGER_MB * MB / 8:
            assert time.monotonic() < end, "requests still hold memory"
            time.sleep(0.05)

    def faults(self, seen):
        """What the quiet team would complain of."""
        found = []
        for name, of in seen.items():
            bound = READY_MS if name == "readyz" else 2 * self.idle[name].p99 + 5 + SPARE_MS
            value = of.median if not LONG else of.longest if name == "readyz" else of.p99
            if of.refused:
                found.append("%s: %d of %d refused: %s" % (name, len(of.refused), len(of.ms), of.refused[:5]))
            if value > bound:
                found.append("%s: %.1f ms, %.1f ms when idle (n = %d)" % (name, value, self.idle[name].p99, len(of.ms)))
        return found


class Attack:
    """An attack under way, in a process of its own at the lowest priority."""

    def __init__(self, scene, name):
        self.words = [sys.executable, "-B", str(HERE / "attacks.py"), name, str(scene.service.port), scene.red,
                      str(BUILD / "tests" / "load" / "open_loop")]

    def __enter__(self):
        self.process = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"
        time.sleep(0.7)
        return self

    def __exit__(self, *_):
        self.statuses = json.loads(self.process.communicate("", timeout=PATIENCE)[0] or "{}")


@pytest.fixture(scope="module")
def one_scene(make_service):
    return Scene(make_service(PROVISOR_MEMORY_BYTES_MAX=LEDGER_MB * MB, PROVISOR_SPOOL_TOTAL_BYTES_MAX=400 * MB, PROVISOR_LOG_LEVEL="error",
                              PROVISOR_OPERATION_WAITS_MAX=200, PROVISOR_OPERATION_STREAMS_MAX=60))


@pytest.fixture
def scene(one_scene):
    one_scene.wait_for_memory()  # which the attack before held
    return one_scene


def say(name, seen, idle, statuses, resident):
    """A row for the table of docs/reliability.md, shown by pytest -s."""
    cells = ["%.1f (%.1f)" % (of.longest if call == "readyz" else of.p99, idle[call].p99) for call, of in seen.items()]
    print("\n| %s | %s | %.0f | %s |" % (name, " | ".join(cells), resident, ", ".join("%s: %s" % s for s in sorted(statuses.items()))))


def look_closely(scene, calls, seconds):
    """What is seen in three looks, and the most that the process held meanwhile."""
    seen, highest = {call: probe.Seen() for call in calls}, 0
    for _ in range(3):
        part = scene.look(seconds / 3, calls)
        highest = max(highest, scene.resident_mb())
        seen = {call: seen[call] + part[call] for call in calls}
    return seen, highest


def endure(scene, name, calls=tuple(probe.CALLS), seconds=SECONDS, beside=lambda: None, after=lambda: None):
    """The attack, and what the quiet team sees while it lasts; beside() is done in its middle."""
    for _ in range(TRIES):
        with Attack(scene, name) as attack:
            try:
                beside()
                seen, highest = look_closely(scene, calls, seconds)
            finally:
                after()
        say(name, seen, scene.idle, attack.statuses, highest)
        found = scene.faults(seen)
        if highest > LEDGER_MB + BESIDE_MB:
            found.append("%.0f MB resident" % highest)
        assert scene.service.process.poll() is None
        if not found:
            return attack.statuses
        time.sleep(2)  # what the attack left behind ends
    raise AssertionError("; ".join(found))


@pytest.mark.parametrize("name", ["large_replies", "unfinished_lines", "json_trees", "copy_plans", "fits", "large_bodies", "bombs", "advice",
                                  "false_tokens"])
def test_the_quiet_team_is_served_as_before(scene, name):
    endure(scene, name)


def test_operations_of_another_team_begin_within_a_slice(scene):
    small = {"kind": "geo", "workload": {"workflows": 5, "sizes": [{"share": 1, "task_range": [4, 10]}]}, "topology": {"cluster_count": 5},
             "policies": [{"policy": "spark"}], "arrival_rates_per_s": [0.05], "repetitions": 1}

    def ask():
        made = scene.quiet.post("/v1/simulations", small, {200, 202}, headers={"Prefer": "wait=18"}).json()
        assert made["status"] == "succeeded", made
    ask()
    try:
        endure(scene, "simulations", beside=ask)
    finally:
        for item in scene.hostile.get("/v1/operations?limit=100").json()["items"]:
            if item["status"] in ("queued", "running"):
                scene.hostile.delete("/v1/operations/" + item["id"], {200, 202})


def test_exports_and_changes_of_the_schema_wait_for_no_reader(scene):
    for _ in range(40):
        scene.hostile.post("/v1/applications/hostile/runs", dict(SMALL, stages=[{"id": 0, "task_durations_s": [i / 7 for i in range(20000)]}]), 201)

    def change():
        assert scene.quiet.get("/v1/applications/nightly-etl/runs/export").content.count(b"\n") == 16
        scene.service.psql("SET lock_timeout = '10s'; ALTER TABLE provisor.run ADD COLUMN IF NOT EXISTS load_test integer")
        scene.service.psql("SET lock_timeout = '10s'; ALTER TABLE provisor.run DROP COLUMN load_test")
    endure(scene, "slow_exports", beside=change)


def test_held_replies_and_streams_leave_places(scene):
    long = {"kind": "geo", "workload": {"workflows": 3000}, "policies": [{"policy": "spark"}], "arrival_rates_per_s": [0.15],
            "repetitions": 20}
    ids = [(client, client.post("/v1/simulations", long, 202).json()["id"]) for client in [scene.hostile] * 3 + [scene.quiet]]

    def wait():
        began = time.monotonic()
        reply = scene.quiet.get("/v1/operations/" + ids[-1][1], headers={"Prefer": "wait=1"})
        assert reply.headers["Preference-Applied"] == "wait=1" and time.monotonic() - began >= 0.9
        with scene.quiet.session.get(scene.service.base_url + "/v1/operations/%s/events" % ids[-1][1], stream=True, timeout=10,
                                     headers={"Authorization": "Bearer " + scene.blue}) as stream:
            assert stream.status_code == 200
    try:
        endure(scene, "waits", beside=wait)
    finally:
        for client, made in ids:
            client.delete("/v1/operations/" + made, {200, 202})


def test_uploads_under_way_leave_disk(scene):
    import io
    import zipfile
    packed = io.BytesIO()
    log = ('{"Event":"SparkListenerLogStart","Spark Version":"3.3.0"}\n'
           '{"Event":"SparkListenerApplicationStart","App Name":"x","App ID":"a-%d","Timestamp":1000,"User":"u"}\n'
           '{"Event":"SparkListenerApplicationEnd","Timestamp":61000}\n' % time.time_ns())
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("log", log)

    def upload():
        reply = scene.quiet.request("POST", "/v1/applications/nightly-etl/eventlogs", None, data=packed.getvalue(),
                                    headers={"Content-Type": "application/octet-stream"})
        assert reply.status_code not in (429, 503), reply.text
    endure(scene, "half_archives", beside=upload)


def test_idle_connections_do_not_keep_others_out(make_service):
    scene = Scene(make_service(PROVISOR_CONNECTIONS_MAX=300, PROVISOR_LOG_LEVEL="error"))
    endure(scene, "idle_connections")


def test_a_log_that_nobody_reads_holds_nobody_up(make_service):
    service = make_service(PROVISOR_LOG_LEVEL="info")
    red = service.token("hostile")
    reading, writing = os.pipe()
    service.start(stderr=writing)
    client = service.client(red)
    for _ in range(3000):  # 64 KiB of a pipe are full after some hundred
        client.get("/v1/applications")
    os.close(writing)
    assert service.stop() == 0
    os.close(reading)


def test_calls_that_only_compute_need_no_database(make_service):
    scene = Scene(make_service(own_server=True, PROVISOR_TOKEN_CACHE_MS=5000, PROVISOR_LOG_LEVEL="error"))
    pids = [int(path.read_text().split()[0]) for path in scene.service.database.server.directory.rglob("postmaster.pid")]

    def signal_all(number):
        children = [c for p in pids for c in subprocess.run(["pgrep", "-P", str(p)], stdout=subprocess.PIPE, text=True).stdout.split()]
        for pid in pids + [int(c) for c in children]:
            os.kill(pid, number)

    def stop():
        time.sleep(5.1)  # token_cache_ms
        scene.look(0.2, probe.STATELESS)  # now the token is known for the next seconds
        signal_all(signal.SIGSTOP)
        time.sleep(0.5)
    endure(scene, "diagnoses", calls=probe.STATELESS, seconds=2, beside=stop, after=lambda: signal_all(signal.SIGCONT))
