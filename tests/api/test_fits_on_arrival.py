"""Models are fitted when runs arrive: without a reader, once for many runs, never in the way of whoever writes; what the
queue misses the first reader fits."""
import collections
import datetime
import time
import uuid

import pytest
import requests

from patience import SLOWDOWN, wait_until


SHAPES = [(n, m) for n in (8, 16, 64) for m in (1, 2, 4, 8)]


@pytest.fixture(scope="module")
def quick(make_service):
    service = make_service(PROVISOR_FIT_SETTLE_MS=200)
    service.alpha = service.client(service.token("alpha"))
    return service.start()


def metrics(service):
    lines = [l.split() for l in requests.get(service.base_url + "/metrics").text.splitlines() if l.startswith("provisor_fit")]
    return collections.defaultdict(float, ((name, float(value)) for name, value in lines))


def settled(service):
    """A fit is kept, then counted, then no longer running: the figures once none waits or runs."""
    now = collections.defaultdict(float)

    def idle():
        now.update(metrics(service))
        return now["provisor_fits_waiting"] + now["provisor_fits_running"] == 0

    wait_until(idle)
    return now


def grown(service, before, name):
    return settled(service)[name] - before[name]


ARRIVAL, READER = 'provisor_fits_total{cause="arrival"}', 'provisor_fits_total{cause="reader"}'


def fill(client, name, shapes=SHAPES, status=201, **more):
    return [client.post("/v1/applications/%s/runs" % name, {
        "problem_size": n, "executors": m, "cores_per_executor": 4, "duration_s": 12 + 3.5 * n / m + 0.4 * m, **more},
        status).json()["id"] for n, m in shapes]


def kept(service, name):
    """(history_version of the application, of its models or None, when they were fitted), past provisord."""
    row = service.psql("SELECT a.history_version, m.history_version, m.fitted_at FROM provisor.application a"
                       " LEFT JOIN provisor.application_model m ON m.application_id = a.id WHERE a.name = '%s'" % name)
    now, fitted, at = row.strip().split("|")
    return int(now), int(fitted) if fitted else None, at


def is_current(service, name):
    now, fitted, _ = kept(service, name)
    return now == fitted


def test_models_are_there_before_anybody_asks_and_the_reader_is_answered_from_them(quick, name):
    fill(quick.alpha, name)
    wait_until(lambda: is_current(quick, name))
    before, row = settled(quick), kept(quick, name)
    models = quick.alpha.get("/v1/applications/%s/models" % name).json()
    assert models["history_version"] == len(SHAPES) == row[0] and models["selected_model"]
    quick.alpha.get("/v1/applications/%s/speedup" % name)
    assert grown(quick, before, READER) == 0 and kept(quick, name) == row, "nobody fitted again"


def test_a_run_that_goes_and_a_log_that_comes_count_as_arrivals(quick, name):
    ids = fill(quick.alpha, name)
    wait_until(lambda: is_current(quick, name))
    quick.alpha.delete("/v1/applications/%s/runs/%s" % (name, ids[0]))
    wait_until(lambda: kept(quick, name)[:2] == (len(SHAPES) + 1, len(SHAPES) + 1))
    before = settled(quick)
    log = "\n".join(['{"Event":"SparkListenerApplicationStart","App Name":"a","App ID":"%s","Timestamp":1000,"User":"u"}' % uuid.uuid4(),
                     '{"Event":"SparkListenerApplicationEnd","Timestamp":61000}'])
    quick.alpha.request("POST", "/v1/applications/%s/eventlogs?problem_size=8&executors=1" % name, 201, data=log,
                        headers={"Content-Type": "application/x-ndjson"})
    wait_until(lambda: kept(quick, name)[:2] == (len(SHAPES) + 2, len(SHAPES) + 2))
    assert grown(quick, before, ARRIVAL) == 1


def test_an_import_is_one_arrival_and_none_where_it_brings_nothing_new(quick, name):
    fill(quick.alpha, name)
    wait_until(lambda: is_current(quick, name))
    copy, before = name + "-copy", settled(quick)
    lines = quick.alpha.get("/v1/applications/%s/runs/export" % name).content

    def bring(status):
        quick.alpha.request("POST", "/v1/applications/%s/runs/import" % copy, status, data=lines,
                            headers={"Content-Type": "application/x-ndjson"})

    bring(201)
    wait_until(lambda: is_current(quick, copy))
    row = kept(quick, copy)
    assert row[0] >= 1 and grown(quick, before, ARRIVAL) == 1
    bring(200)
    time.sleep(0.6)
    assert kept(quick, copy) == row and grown(quick, before, ARRIVAL) == 1
    assert grown(quick, before, 'provisor_fits_spared_total{reason="current"}') == 0, "nobody was told of it"


def test_runs_that_retention_takes_count_as_a_change(make_service):
    """Nobody writes and nobody reads: the housekeeping's pass alone brings models, and advice, of what is left."""
    service = make_service(PROVISOR_FIT_SETTLE_MS=50, PROVISOR_MAINTENANCE_INTERVAL_S=1, PROVISOR_HISTORY_CACHE_MS=5000)
    token = service.token("alpha")
    client = service.start().client(token)
    old = (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=40)).strftime("%Y-%m-%dT%H:%M:%SZ")
    fill(client, "aged")
    fill(client, "aged", [(n, m) for n, m in SHAPES if n == 16], started_at=old)
    fill(client, "young")
    wait_until(lambda: is_current(service, "aged") and is_current(service, "young"))
    before, untouched = settled(service), kept(service, "young")
    question = {"application": "aged", "problem_size": 16, "deadline_s": 3600}
    asked = client.post("/v1/advice", question, 201).json()
    client.patch("/v1/applications/aged", {"retention": {"days": 30, "runs": None}})
    wait_until(lambda: client.get("/v1/applications/aged").json()["runs"] == len(SHAPES))
    wait_until(lambda: is_current(service, "aged"))
    assert kept(service, "aged")[1] == len(SHAPES) + 5, "one change for the four runs that went together"
    assert grown(service, before, ARRIVAL) == 1 and grown(service, before, READER) == 0
    assert kept(service, "young") == untouched
    anew = client.post("/v1/advice", question, 201).json()
    assert (asked["model"]["observations"], anew["model"]["observations"]) == (len(SHAPES) + 4, len(SHAPES))


def test_many_runs_in_a_row_cost_few_fits(quick, name):
    before = settled(quick)
    began = time.monotonic()
    fill(quick.alpha, name, SHAPES * 20)
    took = time.monotonic() - began
    wait_until(lambda: is_current(quick, name))
    fits = grown(quick, before, ARRIVAL)
    assert 1 <= fits <= took / 0.2 + 2, "one for each time of settling at most"
    assert fits < len(SHAPES) * 20 / 4
    # A run that arrives while a fit has begun, but has not read the history yet, needs none of its own either.
    spared = [grown(quick, before, 'provisor_fits_spared_total{reason="%s"}' % reason) for reason in ("merged", "current")]
    assert sum(spared) == len(SHAPES) * 20 - fits and spared[0] > spared[1]
    assert grown(quick, before, "provisor_fit_seconds_total") > 0


def test_that_nothing_can_be_fitted_is_kept_too(quick, name):
    fill(quick.alpha, name, SHAPES[:1])
    wait_until(lambda: is_current(quick, name))
    before = settled(quick)
    problem = quick.alpha.get("/v1/applications/%s/models" % name, 422).json()
    assert "1 of the application's 1 run" in problem["detail"] and grown(quick, before, READER) == 0


def test_an_application_that_is_gone_is_no_failure(quick, name):
    before = settled(quick)
    fill(quick.alpha, name, SHAPES[:1])
    quick.alpha.delete("/v1/applications/" + name)
    wait_until(lambda: metrics(quick)["provisor_fits_waiting"] + metrics(quick)["provisor_fits_running"] == 0)
    assert grown(quick, before, 'provisor_fits_missed_total{reason="failed"}') == 0


def test_what_a_full_queue_refuses_the_first_reader_fits(make_service):
    service = make_service(PROVISOR_FIT_QUEUE=1, PROVISOR_FIT_SETTLE_MS=60000)
    client = service.start().client(service.token("alpha"))
    fill(client, "first", SHAPES[:1])
    fill(client, "second")
    seen = metrics(service)
    assert seen["provisor_fits_waiting"] == 1 and seen['provisor_fits_missed_total{reason="queue_full"}'] == len(SHAPES)
    assert client.get("/v1/applications/second/models").json()["selected_model"]
    assert metrics(service)[READER] == 1 and is_current(service, "second")
    began = time.monotonic()
    assert service.stop() == 0, "what waits holds nobody up"
    assert time.monotonic() - began < 5 * SLOWDOWN


def test_without_a_queue_only_readers_fit(make_service):
    service = make_service(PROVISOR_FIT_QUEUE=0, PROVISOR_FIT_SETTLE_MS=0)
    client = service.start().client(service.token("alpha"))
    fill(client, "a")
    time.sleep(0.3)
    assert kept(service, "a")[1] is None and metrics(service)[ARRIVAL] == 0
    assert client.get("/v1/applications/a/models").json()["selected_model"] and metrics(service)[READER] == 1


def test_a_database_that_is_away_at_the_time_costs_nothing_but_the_fit(make_service):
    service = make_service(own_server=True, PROVISOR_FIT_SETTLE_MS=2000, PROVISOR_DATABASE_WAIT_MS=500)
    client = service.start().client(service.token("alpha"))
    fill(client, "a")
    service.stop_database()
    wait_until(lambda: metrics(service)['provisor_fits_missed_total{reason="failed"}'] == 1)
    assert "fitter.failed" in service.log.read_text()
    service.start_database()
    service.wait_ready()
    assert kept(service, "a")[1] is None
    assert client.get("/v1/applications/a/models").json()["history_version"] == len(SHAPES)
    fill(client, "a", SHAPES[:1])
    wait_until(lambda: is_current(service, "a"))


MACHINES = {"a": 1, "b": 1.5, "c": 2.5, "d": 4}


def searches(service):
    """Predictions that pooled label groups: (with a process that was kept, with one searched for meanwhile)."""
    lines = dict(l.split() for l in requests.get(service.base_url + "/metrics").text.splitlines() if l.startswith("provisor_process_searches"))
    return tuple(float(lines.get('provisor_process_searches_total{outcome="%s"}' % outcome, 0)) for outcome in ("kept", "made"))


def predicted_s(client, name, problem_size, **more):
    body = {"application": name, "problem_size": problem_size, "deadline_s": 1e6, "constraints": {"min_executors": 3, "cores_per_executor": 4}, **more}
    return client.post("/v1/advice", body, 201).json()["recommendation"]["predicted_duration_s"]


def test_a_process_over_label_groups_is_searched_for_before_anybody_asks(quick, name):
    """The fitter keeps what it finds; predictions take it as long as the runs are the same, and predict what they would without it."""
    runs = [(n, m, machine) for n in (16, 64) for m in (2, 4, 8) for machine in MACHINES]
    for n, m, machine in runs:
        fill(quick.alpha, name, [(n, m)], labels={"machine": machine},
             duration_s=MACHINES[machine] * (12 + 3.5 * n / m) * (1 + 0.01 * ((n + m) % 3)))

    def is_kept():
        return quick.psql("SELECT m.theta IS NOT NULL AND m.history_version = a.history_version FROM provisor.application a"
                          " JOIN provisor.application_model m ON m.application_id = a.id WHERE a.name = '%s'" % name).strip() == "t"

    wait_until(is_kept)
    settled(quick)
    kept, made = searches(quick)
    with_it = [predicted_s(quick.alpha, name, n) for n in (16, 40, 64)]
    assert searches(quick) == (kept + 3, made)
    of_b = predicted_s(quick.alpha, name, 64, labels={"machine": "b"})
    assert searches(quick) == (kept + 4, made), "of all label groups"
    quick.psql("UPDATE provisor.application_model SET theta = theta[1:2] WHERE application_id ="
               " (SELECT id FROM provisor.application WHERE name = '%s')" % name)
    without = [predicted_s(quick.alpha, name, n, constraints={"min_executors": 3, "max_executors": 50, "cores_per_executor": 4})
               for n in (16, 40, 64)]
    assert searches(quick) == (kept + 4, made + 3), "what is not of these runs is not taken"
    assert without == with_it
    assert predicted_s(quick.alpha, name, 64, labels={"machine": "b"}, constraints={"min_executors": 3, "max_executors": 50, "cores_per_executor": 4}) == of_b
    assert searches(quick) == (kept + 4, made + 4)
