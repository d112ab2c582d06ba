"""Calls are carried out in steps: what computes never runs on the threads that wait for PostgreSQL, and the other way round.

The service counts what is out of place itself (provisor_misplaced_work_total); every service of the API tests is asked for
it when it is closed (conftest.py). Here calls are driven into all of their steps.
"""
import gzip
import json
import os
import signal
import threading

import psycopg2
import pytest

from patience import PATIENCE, wait_until

JSON = {"Content-Type": "application/json"}
CONTENTION = {"max_cores": 16, "applications": [{"name": "A", "requested_cores": 8, "time_to_complete_s": 50,
                                                 "remaining_tasks": 40, "nominal_rate": 1000}]}
FIT = {"observations": [{"problem_size": 1e9, "executors": e, "duration_s": 10 + 100 / e} for e in (1, 2, 3, 4, 5, 6, 8)], "model": "auto"}
FEASIBILITY = {"cluster": {"executors": 1, "cores_per_executor": 2},
               "jobs": [{"name": "A", "deadline_s": 5, "stages": [{"id": 0, "task_durations_s": [1, 2, 3]}]}]}
STAGE_PLAN = {"deadline_s": 100, "executors": 2, "cores_per_executor": 2, "stages": [
    {"id": 0, "task_durations_s": [1, 2, 3, 4], "input_records": 100}]}
RUN = {"problem_size": 1000, "executors": 4, "cores_per_executor": 2, "duration_s": 48, "initialization_s": 2,
       "stages": [{"id": 0, "task_durations_s": [1, 2, 3, 4]}]}


def large(body):
    """The same JSON in 200 kB."""
    return json.dumps(body)[:-1].encode() + b" " * 200000 + b"}"


def post(client, path, body, status=200, **kwargs):
    return client.request("POST", path, status, data=body, headers=JSON, **kwargs)


@pytest.fixture(scope="module")
def apart(make_service):
    """A service whose PostgreSQL can be frozen, with few workers, tokens and histories that stay known for long and queues without a bound in time."""
    service = make_service(own_server=True, PROVISOR_IO_WORKERS=2, PROVISOR_COMPUTE_WORKERS=2, PROVISOR_SPARE_WORKERS=0, PROVISOR_LIGHT_WORKERS=0,
                           PROVISOR_IO_WAIT_MS=0, PROVISOR_TOKEN_CACHE_MS=5000, PROVISOR_PREDICTION_CACHE_MS=5000,
                           PROVISOR_STATEMENT_TIMEOUT_MS=60000)
    service.alpha_token = service.token("alpha")
    return service.start()


def server_processes(service):
    """The postmaster and all its children."""
    path, = service.database.server.directory.rglob("postmaster.pid")
    master = int(path.read_text().split()[0])
    children = [int(p.name) for p in os.scandir("/proc") if p.name.isdigit() and parent_of(p.name) == master]
    return [master] + children


def parent_of(pid):
    try:
        with open("/proc/%s/stat" % pid) as f:
            return int(f.read().rsplit(")", 1)[1].split()[1])
    except OSError:
        return None


def moves(service, to):
    return service.metric('provisor_http_moves_total{to="%s"}' % to)


def test_what_needs_no_database_is_answered_while_all_io_workers_wait_for_it(apart, name):
    client = apart.client(apart.alpha_token)
    for i in range(3):
        client.post("/v1/applications/%s/runs" % name, dict(RUN, problem_size=1000 + i), 201)
    client.get("/v1/applications/%s/diagnosis" % name)
    answers = []
    crowd = [threading.Thread(target=lambda: answers.append(
        apart.client(apart.alpha_token).get("/v1/applications/%s/diagnosis" % name, timeout=120).status_code)) for _ in range(6)]
    asked = {"application": name, "deadline_s": 600}
    client.post("/v1/advice?dry_run=true", asked, 200)
    stopped = server_processes(apart)
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        for thread in crowd:
            thread.start()
        wait_until(lambda: apart.metric('provisor_workers_busy{queue="io"}') == 2 and
                   apart.metric('provisor_queue_depth{queue="io"}') >= 4, "all io workers wait")
        client.post("/v1/advice?dry_run=true", asked, 200)
        client.post("/v1/models/fit", FIT, 200)
        client.post("/v1/contention", CONTENTION, 200)
        post(client, "/v1/feasibility", large(FEASIBILITY))
        post(client, "/v1/stage-plans", large(STAGE_PLAN))
        assert not answers and all(thread.is_alive() for thread in crowd)
        # A worker's job ends after its answer is on the way.
        wait_until(lambda: apart.metric('provisor_workers_busy{queue="compute"}') == 0, "no compute worker waits")
    finally:
        for pid in reversed(stopped):
            os.kill(pid, signal.SIGCONT)
    for thread in crowd:
        thread.join()
    assert answers == [200] * 6


# Calls with a body that need the database: (method, path, body, statuses)
CALLS = [
    ("POST", "/v1/applications", {"name": "NAME"}, 201),
    ("PATCH", "/v1/applications/NAME", {"labels": {"a": "b"}}, 200),
    ("POST", "/v1/applications/NAME/runs", RUN, 201),
    ("PUT", "/v1/clusters/NAME", {"executors": 4, "cores_per_executor": 2}, 201),
    ("PUT", "/v1/price-books/NAME", {"currency": "EUR", "prices": [{"cluster": "NAME", "per_executor_hour": 1}]}, 201),
    ("POST", "/v1/clusters/NAME/samples", {"processing": [{"operation": "map", "bytes_per_s": 1e6}]}, 204),
    ("POST", "/v1/name-rules/preview", {"names": ["etl-20260101"]}, 200),
    ("POST", "/v1/advice?dry_run=true", {"application": "NAME", "deadline_s": 600}, 200),
    ("POST", "/v1/advice", {"application": "NAME", "deadline_s": 600}, 201),
    ("POST", "/v1/applications/NAME/refit", {}, {202, 422}),
    ("POST", "/v1/feasibility", {"cluster": "NAME", "jobs": [{"name": "A", "application": "NAME", "deadline_s": 500}]}, 200),
    ("POST", "/v1/stage-plans", {"application": "NAME", "deadline_s": 500, "cluster": "NAME"}, {200, 422}),
    ("POST", "/v1/tokens", {"name": "NAME", "scopes": ["read"]}, 201),
]


def test_large_bodies_are_parsed_on_compute_workers_and_stored_from_io_workers(apart, name):
    client = apart.client(apart.alpha_token)
    for method, path, body, status in CALLS:
        before = moves(apart, "io")
        text = large(body).replace(b"NAME", name.encode())
        client.request(method, path.replace("NAME", name), status, data=text, headers=dict(JSON, **{"Idempotency-Key": name + path}))
        assert moves(apart, "io") >= before + 1, (method, path)
    apart.check_places()


def test_small_bodies_stay_where_they_are(apart, name):
    client = apart.client(apart.alpha_token)
    client.post("/v1/applications/%s/runs" % name, RUN, 201)
    asked = {"application": name, "deadline_s": 600}
    client.post("/v1/advice", asked, 201)
    before = moves(apart, "io") + moves(apart, "compute")
    client.post("/v1/advice", asked, 201)
    client.post("/v1/advice?dry_run=true", asked, 200)
    client.post("/v1/contention", CONTENTION, 200)
    client.post("/v1/models/fit", FIT, 200)
    client.post("/v1/feasibility", FEASIBILITY, 200)
    client.post("/v1/stage-plans", STAGE_PLAN, 200)
    client.post("/v1/applications/%s/runs" % name, RUN, 201)
    assert moves(apart, "io") + moves(apart, "compute") == before


def test_an_advice_with_everything_goes_to_and_fro_and_says_the_same_as_in_one_place(apart, name):
    """Loaded, predicted, loaded, computed, loaded, planned; then from the cache."""
    client = apart.client(apart.alpha_token)
    client.put("/v1/clusters/" + name, {"executors": 4, "cores_per_executor": 2, "slots": 8, "ingress_bytes_per_s": 1e9,
                                        "egress_bytes_per_s": 1e9, "unreachable_probability": 0.01}, 201)
    client.post("/v1/clusters/%s/samples" % name, {"processing": [{"operation": name, "bytes_per_s": 1e7}]}, 204)
    for i in range(4):  # with an input, without which there is no copy plan and nothing to load for it
        stages = [dict(stage, input_bytes=1000000) for stage in RUN["stages"]]
        client.post("/v1/applications/%s/runs" % name, dict(RUN, problem_size=1000 + i, stages=stages), 201)
    asked = {"application": name, "deadline_s": 600, "include": ["next_experiments", "copy_plan"],
             "copy_plan": {"clusters": [name]}, "running": [{"application": name, "release_s": 0, "deadline_s": 900}],
             "constraints": {"cluster": name}}
    before = moves(apart, "io")
    first = client.post("/v1/advice?dry_run=true", asked, 200).json()
    assert first["copy_plan"], first["warnings"]
    assert moves(apart, "io") == before + 3  # for the cluster, the runs, and those of the plan
    again = post(client, "/v1/advice?dry_run=true", large(asked)).json()
    for member in ("id", "created_at"):
        first.pop(member, None), again.pop(member, None)
    for advice in (first, again):
        del advice["copy_plan"]["sources"]  # which weigh less the older they are
    assert first == again
    apart.check_places()


def test_a_quiet_reader_is_answered_while_large_bodies_are_parsed(apart):
    """Bodies of hundreds of thousands of values keep the compute workers busy, and no io worker at all."""
    body = b'{"stages":[' + b",".join([b'{"":0}'] * 200000) + b"]}"
    crowd = [threading.Thread(target=post, args=(apart.client(apart.alpha_token), "/v1/stage-plans", body, {422, 429, 503}),
                              kwargs={"timeout": 120}) for _ in range(6)]
    client = apart.client(apart.alpha_token)
    for thread in crowd:
        thread.start()
    while any(thread.is_alive() for thread in crowd):
        client.get("/v1/applications")
    apart.check_places()


def test_uploads_are_unpacked_on_compute_workers(apart, name):
    client = apart.client(apart.alpha_token)
    lines = "".join(json.dumps(dict(RUN, problem_size=1000 + i)) + "\n" for i in range(500))
    before = moves(apart, "io")
    client.request("POST", "/v1/applications/%s/runs/import" % name, 201, data=gzip.compress(lines.encode()),
                   headers={"Content-Type": "application/x-ndjson"})
    assert moves(apart, "io") > before
    client.request("POST", "/v1/applications/%s/eventlogs" % name, 422, data=gzip.compress(b"{}\n" * 300000),
                   headers={"Content-Type": "application/octet-stream"})
    apart.check_places()


def send_runs(client, name, runs, status=201, **kwargs):
    body = "".join(json.dumps(run) + "\n" for run in runs).encode()
    return client.request("POST", "/v1/applications/%s/runs/import" % name, status, data=body, headers={"Content-Type": "application/x-ndjson"},
                          **kwargs)


def test_an_import_is_decoded_on_compute_workers_and_saved_from_io_workers(apart, name):
    """Lines too long for an io worker, and several batches."""
    client = apart.client(apart.alpha_token)
    long = dict(RUN, stages=[{"id": 0, "task_durations_s": [i / 7 for i in range(10000)]}])
    assert len(json.dumps(long)) > 2 * 65536
    before = moves(apart, "io"), moves(apart, "compute")
    runs = [dict(long if i % 100 == 0 else RUN, problem_size=1000 + i) for i in range(701)]
    assert send_runs(client, name, runs).json()["imported"] == 701
    assert moves(apart, "io") - before[0] == 4 and moves(apart, "compute") - before[1] == 3
    assert send_runs(client, name, runs, 200).json()["unchanged"] == 701
    apart.check_places()


@pytest.fixture(scope="module")
def hasty(make_service):
    service = make_service(PROVISOR_IMPORT_TIMEOUT_S=2, PROVISOR_DRAIN_S=1)
    service.alpha_token = service.token("alpha")
    return service.start()


MANY = [dict(RUN, problem_size=1000 + i) for i in range(500)]


def hold_runs(service):
    """Until it is closed nobody reads or writes runs."""
    connection = psycopg2.connect(service.owner_url)
    connection.cursor().execute("LOCK TABLE provisor.run IN ACCESS EXCLUSIVE MODE")
    return connection


def is_new_to_the_service(client, name):
    """The import whose time was over, or whose connection was, left nothing; it may take a moment to end."""
    replies = []
    wait_until(lambda: replies.append(send_runs(client, name, MANY, {200, 201, 409, 503})) or replies[-1].status_code < 300,
               "an import into the application is under way")
    return replies[-1].json()["imported"] == len(MANY)


def test_an_import_whose_time_is_over_is_undone_after_its_batch(hasty, name):
    client = hasty.client(hasty.alpha_token)
    holder = hold_runs(hasty)
    try:
        send_runs(client, name, MANY, 503)
    finally:
        holder.close()
    assert is_new_to_the_service(client, name)


def test_an_import_that_loses_its_connection_between_batches_leaves_nothing(hasty, name):
    client = hasty.client(hasty.alpha_token)
    holder = hold_runs(hasty)
    replies = []
    sender = threading.Thread(target=lambda: replies.append(send_runs(client, name, MANY, 503)))
    sender.start()
    try:
        wait_until(lambda: hasty.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                                      " AND datname = current_database()") != "", "the import waits for the table")
        sender.join()
    finally:
        holder.close()
    assert "Retry-After" in replies[0].headers
    assert is_new_to_the_service(client, name)


def test_an_import_between_two_workers_does_not_outlive_the_service(hasty, name):
    """When the time to drain is over, the batch is saved and the import handed to workers that stand still by then."""
    client = hasty.client(hasty.alpha_token)
    holder = hold_runs(hasty)
    replies = []
    sender = threading.Thread(target=lambda: replies.append(send_runs(client, name, MANY, 503)))
    sender.start()
    try:
        wait_until(lambda: hasty.psql("SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
                                      " AND usename <> current_user") != "", "the import waits for the table")
        hasty.process.send_signal(signal.SIGTERM)
        sender.join()
        wait_until(lambda: "http.drained" in hasty.log.read_text(), "the time to drain is over")
    finally:
        holder.close()
    assert hasty.process.wait(timeout=PATIENCE) == 0
    hasty.process = None
    hasty.start()
    assert is_new_to_the_service(hasty.client(hasty.alpha_token), name)
