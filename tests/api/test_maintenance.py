"""Keeping: what is past its retention goes, from every table, of every team, and nothing else does."""
import concurrent.futures
import datetime
import json
import random
import re
import subprocess
import time
import uuid

import psycopg2
import pytest
import requests

from patience import PATIENCE, SLOWDOWN



@pytest.fixture(scope="module")
def kept(make_service):
    """A service of its own that keeps house only when told to."""
    service = make_service(PROVISOR_MAINTENANCE_INTERVAL_S=0)
    service.alpha_token, service.beta_token = service.token("alpha"), service.token("beta")
    service.start()
    return service


@pytest.fixture
def alpha(kept):
    return kept.client(kept.alpha_token)


@pytest.fixture
def beta(kept):
    return kept.client(kept.beta_token)


def admin(service, statement, *values, fetch=False):
    """As a superuser, whom no row level security stops: tests age rows with it and look into all tables."""
    if not getattr(service, "has_tester", False):
        if service.psql("SELECT 1 FROM pg_roles WHERE rolname = 'tester'") == "":
            service.psql("CREATE ROLE tester SUPERUSER LOGIN PASSWORD 'tester'")
        service.has_tester = True
    url = re.sub(r"//[^@]+@", "//tester:tester@", service.owner_url)
    with psycopg2.connect(url) as connection:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '10s'")
            cursor.execute(statement, values or None)
            rows = cursor.fetchall() if fetch else cursor.rowcount
            cursor.execute("REASSIGN OWNED BY tester TO provisor_owner")
    return rows


def maintain(service, **settings):
    """One pass; what it says it did."""
    text = service.command("maintain", *("--%s=%s" % item for item in settings.items()))
    return {line.split()[0]: int(line.split()[1]) for line in text.splitlines()}


def drop_months(service, **settings):
    """How many months were dropped, once any were: a pass puts off what somebody has locked, autovacuum among them."""
    end = time.monotonic() + PATIENCE
    while True:
        dropped = maintain(service, **settings)["partitions_dropped"]
        if dropped > 0 or time.monotonic() > end:
            return dropped


def days_ago(days):
    at = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=days)
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def add_run(client, name, days=0, **more):
    run = {"problem_size": 8, "executors": 2, "cores_per_executor": 2, "duration_s": 30.0 + days,
           "started_at": days_ago(days), "labels": {"age": str(days)},
           "stages": [{"id": 0, "task_durations_s": [1.0, 2.0, 3.0]}]}
    run.update(more)
    return client.post("/v1/applications/%s/runs" % name, run, status=201).json()


def runs_of(client, name):
    return [r["id"] for r in client.get("/v1/applications/%s/runs?limit=200" % name).json()["items"]]


def test_runs_beyond_an_age_go(kept, alpha, name):
    """Only those older than the application's own retention; number and history follow."""
    old = [add_run(alpha, name, days)["id"] for days in (400, 31)]
    new = [add_run(alpha, name, days)["id"] for days in (29, 1)]
    alpha.patch("/v1/applications/" + name, {"retention": {"days": 30, "runs": None}})
    done = maintain(kept)
    assert done["runs"] == 2
    assert set(runs_of(alpha, name)) == set(new)
    assert alpha.get("/v1/applications/" + name).json()["runs"] == 2
    for gone in old:
        alpha.get("/v1/runs/" + gone, status=404)
    left = admin(kept, "SELECT (SELECT count(*) FROM provisor.run_stage WHERE run_id = ANY (%s::uuid[])),"
                 " (SELECT count(*) FROM provisor.run_label WHERE run_id = ANY (%s::uuid[]))", old, old, fetch=True)
    assert left == [(0, 0)]
    assert maintain(kept)["runs"] == 0


def test_runs_beyond_a_number_go_oldest_first_in_small_batches(kept, alpha, name):
    ids = [add_run(alpha, name, days)["id"] for days in range(12)]
    alpha.patch("/v1/applications/" + name, {"retention": {"days": None, "runs": 5}})
    assert maintain(kept, maintenance_batch_rows=2)["runs"] == 7
    assert runs_of(alpha, name) == ids[:5]
    audit = admin(kept, "SELECT count(*) FROM provisor.audit WHERE action = 'run.expire' AND subject = %s"
                  " AND actor = 'housekeeping' AND token_id IS NULL", "application/" + name, fetch=True)
    assert audit == [(4,)], "one row for each batch: 2, 2, 2, 1"


def test_both_limits_hold(kept, alpha, name):
    ids = [add_run(alpha, name, days)["id"] for days in (0, 1, 2, 50, 60)]
    alpha.patch("/v1/applications/" + name, {"retention": {"days": 40, "runs": 2}})
    assert maintain(kept)["runs"] == 3
    assert runs_of(alpha, name) == ids[:2]


def test_the_default_holds_where_the_application_says_nothing(kept, alpha, beta, name):
    """Over teams; an application's own word goes before the default."""
    mine, theirs, own = name, name + "-theirs", name + "-own"
    add_run(alpha, mine, 100), add_run(alpha, mine, 1)
    add_run(beta, theirs, 100), add_run(beta, theirs, 1)
    kept_id = add_run(alpha, own, 100)["id"]
    alpha.patch("/v1/applications/" + own, {"retention": {"days": 200, "runs": None}})
    assert maintain(kept)["runs"] == 0, "the default is to keep for ever"
    assert maintain(kept, retention_days=90)["runs"] == 2
    assert len(runs_of(alpha, mine)) == len(runs_of(beta, theirs)) == 1
    assert runs_of(alpha, own) == [kept_id]


def test_models_are_fitted_anew_when_runs_went(kept, alpha, name):
    """The history's version rises with what retention removes, so nobody is answered from gone runs."""
    for executors in (1, 2, 4, 8):
        add_run(alpha, name, 1, executors=executors, duration_s=100.0 / executors + 10)
    for executors in (1, 2, 4, 8):
        add_run(alpha, name, 90, executors=executors, duration_s=500.0)

    before = alpha.get("/v1/applications/%s/models" % name).json()
    alpha.patch("/v1/applications/" + name, {"retention": {"days": 30, "runs": None}})
    maintain(kept)
    after = alpha.get("/v1/applications/%s/models" % name).json()
    assert before != after


def test_a_log_that_went_can_be_loaded_again(kept, alpha, name):
    """Retention forgets a log altogether; loaded again it is a new run, and is judged by its age again."""
    log = b"".join(line + b"\n" for line in (
        b'{"Event":"SparkListenerLogStart","Spark Version":"3.5.0"}',
        b'{"Event":"SparkListenerApplicationStart","App Name":"x","App ID":"app-1","Timestamp":1600000000000,"User":"u"}',
        b'{"Event":"SparkListenerApplicationEnd","Timestamp":1600000010000}'))
    path = "/v1/applications/%s/eventlogs" % name
    first = alpha.post(path, status=201, data=log).json()["id"]
    assert alpha.post(path, status=200, data=log).json()["id"] == first
    alpha.patch("/v1/applications/" + name, {"retention": {"days": 30, "runs": None}})
    assert maintain(kept)["runs"] == 1
    alpha.patch("/v1/applications/" + name, {"retention": None})
    assert alpha.post(path, status=201, data=log).json()["id"] != first


def test_expired_keys_delivered_events_old_advice_and_audit_go(kept, alpha, beta, name):
    """Each by its own setting, of all teams; what is younger or undelivered stays."""
    for client in (alpha, beta):
        add_run(client, name)
        client.post("/v1/applications/%s/runs" % name, status=201, headers={"Idempotency-Key": uuid.uuid4().hex},
                    json={"problem_size": 8, "executors": 2, "cores_per_executor": 2, "duration_s": 30.0})
        for _ in range(2):
            client.post("/v1/advice", {"application": name, "deadline_s": 600}, status=201)
    admin(kept, "UPDATE provisor.idempotency_key SET expires_at = now() - interval '1 second'")
    admin(kept, "UPDATE provisor.outbox SET delivered_at = now() - CASE WHEN type = 'run.ingested'"
          " THEN interval '8 days' ELSE interval '6 days' END")
    admin(kept, "UPDATE provisor.advice SET created_at = now() - interval '100 days' WHERE id IN"
          " (SELECT min(id::text)::uuid FROM provisor.advice WHERE application_name = %s GROUP BY team_id)", name)
    admin(kept, "UPDATE provisor.audit SET at = now() - interval '40 days' WHERE action = 'advice.insert'")
    counts = "SELECT (SELECT count(*) FROM provisor.idempotency_key), (SELECT count(*) FROM provisor.outbox WHERE" \
        " type = 'run.ingested'), (SELECT count(*) FROM provisor.advice WHERE application_name = %s)," \
        " (SELECT count(*) FROM provisor.audit WHERE action = 'advice.insert')"
    keys, events, advice, audit = admin(kept, counts, name, fetch=True)[0]
    assert keys == 2 and events >= 4 and advice == 4 and audit >= 4
    done = maintain(kept, maintenance_batch_rows=1)
    assert (done["keys"], done["events"], done["advice"], done["audit"]) == (2, events, 0, 0)
    done = maintain(kept, advice_retention_days=90, audit_retention_days=39)
    assert (done["advice"], done["audit"]) == (2, audit)
    assert admin(kept, counts, name, fetch=True)[0] == (0, 0, 2, 0)


def test_audit_younger_than_30_days_stays_whatever_the_setting_says(kept, alpha, name):
    add_run(alpha, name)
    admin(kept, "UPDATE provisor.audit SET at = now() - interval '29 days' WHERE subject LIKE 'run/%%'")
    assert maintain(kept, audit_retention_days=1)["audit"] == 0


def months(service, parent):
    return [r[0] for r in admin(service, "SELECT child FROM provisor.monthly_partition WHERE parent = %s"
                                " ORDER BY child", parent, fetch=True)]


def month_name(parent, ahead):
    now = datetime.datetime.now(datetime.timezone.utc)
    year, month = divmod(now.year * 12 + now.month - 1 + ahead, 12)
    return "%s_%04d_%02d" % (parent, year, month + 1)


def test_partitions_are_made_ahead_and_used(kept, alpha, name):
    """Five tables, this month and as many ahead as the setting says; a run of today lies in this month's."""
    done = maintain(kept, partition_months_ahead=5)
    assert done["partitions_made"] == 10, "two months more than a new database has"
    for parent in ("run", "run_stage", "run_label", "advice", "audit"):
        assert months(kept, parent) == [month_name(parent, ahead) for ahead in range(6)]
    run = add_run(alpha, name)
    assert admin(kept, "SELECT tableoid::regclass::text FROM provisor.run WHERE id = %s", run["id"], fetch=True) \
        == [("provisor." + month_name("run", 0),)]
    assert maintain(kept, partition_months_ahead=5)["partitions_made"] == 0


def test_months_that_are_over_are_dropped(kept, alpha, name):
    """Empty ones of runs with their stages and labels; those of audit and advice by their retention. A month that
    still holds one run stays."""
    low, high = (admin(kept, "SELECT provisor.uuid7_floor(%s)", at, fetch=True)[0][0]
                 for at in ("2024-03-01Z", "2024-04-01Z"))
    for parent in ("run", "run_stage", "run_label", "advice", "audit"):
        admin(kept, "CREATE TABLE provisor.%s_2024_03 PARTITION OF provisor.%s FOR VALUES FROM ('%s') TO ('%s')"
              % (parent, parent, low, high))
    run = add_run(alpha, name, 700)
    # ids cannot be chosen over HTTP: this one becomes an old one
    old = low[:-1] + "7"
    columns = admin(kept, "SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute WHERE attrelid ="
                    " 'provisor.run'::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''"
                    " AND attname <> 'id'", fetch=True)[0][0]
    admin(kept, "INSERT INTO provisor.run (id, %s) SELECT '%s', %s FROM provisor.run WHERE id = '%s'"
          % (columns, old, columns, run["id"]))
    assert maintain(kept, audit_retention_days=0)["partitions_dropped"] == 0, "a run lies there, and the rest is kept for ever"
    alpha.delete("/v1/applications/%s/runs/%s" % (name, old))
    assert drop_months(kept, audit_retention_days=0) == 1
    assert "run_2024_03" not in months(kept, "run") and "run_stage_2024_03" not in months(kept, "run_stage")
    assert drop_months(kept, advice_retention_days=365, audit_retention_days=365) == 2
    assert admin(kept, "SELECT child FROM provisor.monthly_partition WHERE child LIKE '%%2024%%'", fetch=True) == []
    assert len(months(kept, "run")) >= 4, "months to come stay, though they are empty"


def test_a_busy_table_is_left_for_the_next_pass(kept, alpha):
    """Whoever reads for long is not disturbed and nobody queues behind us: the pass gives up soon."""
    before = len(months(kept, "audit"))
    reader = psycopg2.connect(kept.owner_url)
    try:
        reader.cursor().execute("SELECT count(*) FROM provisor.run")  # holds its locks until the end
        began = time.monotonic()
        done = maintain(kept, partition_months_ahead=9)
        assert done["partitions_made"] == 0 and time.monotonic() - began < 5 * SLOWDOWN
    finally:
        reader.close()
    assert maintain(kept, partition_months_ahead=9)["partitions_made"] > 0
    assert len(months(kept, "audit")) > before


def test_one_process_keeps_house_at_a_time(kept, alpha, name):
    """A holder of the lease keeps others away until it ends or the lease does; a pass that is young, too."""
    claim = "SELECT provisor.claim_housekeeping(%s, %s, 60)"
    one, two = str(uuid.uuid4()), str(uuid.uuid4())
    assert admin(kept, claim, one, 0, fetch=True) == [(True,)]
    assert admin(kept, claim, two, 0, fetch=True) == [(False,)]
    assert admin(kept, claim, one, 3600, fetch=True) == [(True,)], "the holder renews at any time"
    with pytest.raises(subprocess.CalledProcessError) as refused:
        maintain(kept)
    assert refused.value.returncode == 1
    admin(kept, "SELECT provisor.end_housekeeping(%s)", two)
    assert admin(kept, claim, two, 0, fetch=True) == [(False,)], "only the holder ends it"
    admin(kept, "UPDATE provisor.housekeeping SET held_until = now() - interval '1 second'")
    assert admin(kept, claim, two, 0, fetch=True) == [(True,)], "a lease that ran out is anybody's"
    admin(kept, "SELECT provisor.end_housekeeping(%s)", two)
    assert admin(kept, claim, one, 3600, fetch=True) == [(False,)], "the last pass began a moment ago"
    maintain(kept)


def test_the_service_keeps_house_by_itself(make_service):
    """Two replicas on one database: due runs go without anybody asking, each once; metrics and a log line tell."""
    service = make_service(PROVISOR_MAINTENANCE_INTERVAL_S=1)
    token = service.token("alpha")
    service.start()
    client = service.client(token)
    add_run(client, "nightly", 90), add_run(client, "nightly", 1)
    client.patch("/v1/applications/nightly", {"retention": {"days": 30, "runs": None}})
    end = time.monotonic() + PATIENCE
    while client.get("/v1/applications/nightly").json()["runs"] != 1:
        assert time.monotonic() < end
        time.sleep(0.1)
    end = time.monotonic() + PATIENCE
    while True:  # the count is published when the pass is over
        text = requests.get(service.base_url + "/metrics", timeout=5).text
        if re.search(r'^provisor_maintenance_total\{kind="runs"\} 1$', text, re.M):
            break
        assert time.monotonic() < end, text
        time.sleep(0.1)
    assert re.search(r'^provisor_maintenance_passes_total\{outcome="done"\} [1-9]', text, re.M)
    assert re.search(r'^provisor_maintenance_last_pass_timestamp_seconds [1-9]', text, re.M)
    assert re.search(r'"event":"maintenance.pass","outcome":"done".*"runs":1[,}]', service.log.read_text())


def test_runs_come_and_go_at_once(kept, alpha, name):
    """Retention beside writers: the number of runs and what is there agree to the last one."""
    alpha.post("/v1/applications", {"name": name}, status=201)
    alpha.patch("/v1/applications/" + name, {"retention": {"days": None, "runs": 10}})

    def write(_):
        return add_run(kept.client(kept.alpha_token), name, 0)["id"]

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        written = [pool.submit(write, i) for i in range(60)]
        for _ in range(5):
            maintain(kept, maintenance_batch_rows=3)
        ids = [w.result() for w in written]
    maintain(kept)
    assert alpha.get("/v1/applications/" + name).json()["runs"] == 10
    left = runs_of(alpha, name)
    assert len(left) == 10 and set(left) <= set(ids)


def tasks_of(n, seed=7):
    """Skewed task times: most about two seconds, a few far longer."""
    rng = random.Random(seed)
    return [round(2.0 + rng.random() + (30.0 * rng.random() if rng.random() < 0.02 else 0.0), 3) for _ in range(n)]


def long_run(days, executors, tasks, seed):
    times, small = tasks_of(tasks, seed), tasks_of(tasks // 50, seed + 1)
    cores = executors * 4
    stages = [{"id": 0, "task_durations_s": times, "duration_s": sum(times) / cores + 2, "started_s": 5.0},
              {"id": 1, "parents": [0], "task_durations_s": small, "duration_s": sum(small) / cores + 3,
               "started_s": 7.0 + sum(times) / cores}]
    return {"problem_size": tasks, "executors": executors, "cores_per_executor": 4, "initialization_s": 5.0,
            "duration_s": 5.0 + sum(times) / cores + 2 + sum(small) / cores + 3, "started_at": days_ago(days),
            "stages": stages}


def test_old_task_times_are_thinned_to_a_sketch(kept, alpha, name):
    """Stages of many tasks lose them one by one; number, sum, mean, fastest and slowest stay to the last digit, and
    so does everything of the run and its short stages. Young runs stay whole."""
    old, young = [alpha.post("/v1/applications/%s/runs" % name, long_run(days, 4, 2000, 3), status=201).json()["id"]
                  for days in (100, 1)]
    path = "/v1/applications/%s/runs/" % name
    before = alpha.get(path + old + "?include=tasks").json()
    whole_young = alpha.get(path + young + "?include=tasks").json()
    done = maintain(kept, task_summary_after_days=90)
    assert (done["runs_thinned"], done["stages_thinned"]) == (1, 1)
    after = alpha.get(path + old + "?include=tasks").json()
    assert before.pop("task_times_summarized") is False and after.pop("task_times_summarized") is True
    times = before["stages"][0].pop("task_durations_s")
    sketch = after["stages"][0].pop("task_time_summary")
    assert after == before, "all else is as it was, the short stage's list included"
    assert sum(g["tasks"] for g in sketch) == len(times) == 2000
    assert sketch[0] == {"tasks": 1, "mean_s": min(times)} and sketch[-1] == {"tasks": 1, "mean_s": max(times)}
    assert [g["mean_s"] for g in sketch] == sorted(g["mean_s"] for g in sketch) and len(sketch) <= 66
    assert sum(g["tasks"] * g["mean_s"] for g in sketch) == pytest.approx(sum(times), rel=1e-14)
    assert alpha.get(path + young + "?include=tasks").json() == whole_young
    assert maintain(kept, task_summary_after_days=90)["stages_thinned"] == 0, "once"


def test_runs_that_cannot_be_removed_keep_no_others(kept, alpha):
    """Two applications whose runs are due, of which one refuses, whichever comes first in the list of a pass."""
    stuck, other = ["%s-%s" % (word, uuid.uuid4().hex[:8]) for word in ("stuck", "other")]
    for name in (stuck, other):
        add_run(alpha, name, 40)
        alpha.patch("/v1/applications/" + name, {"retention": {"days": 30, "runs": None}})
    admin(kept, "CREATE FUNCTION public.refuse_delete() RETURNS trigger LANGUAGE plpgsql AS"
                " $$ BEGIN RAISE 'not this one'; END $$;"
                "CREATE TRIGGER refuse_delete BEFORE DELETE ON provisor.run FOR EACH ROW WHEN (OLD.application_id = '%s')"
                " EXECUTE FUNCTION public.refuse_delete()" % alpha.get("/v1/applications/" + stuck).json()["id"])
    # Another one that is due stands on either side of it.
    third = "third-" + uuid.uuid4().hex[:8]
    add_run(alpha, third, 40)
    alpha.patch("/v1/applications/" + third, {"retention": {"days": 30, "runs": None}})
    try:
        assert maintain(kept)["runs"] == 2
        assert runs_of(alpha, other) == runs_of(alpha, third) == [] and len(runs_of(alpha, stuck)) == 1
    finally:
        admin(kept, "DROP TRIGGER refuse_delete ON provisor.run; DROP FUNCTION public.refuse_delete()")
    assert maintain(kept)["runs"] == 1 and runs_of(alpha, stuck) == []


def test_each_application_that_fails_has_a_reason_of_its_own(kept, alpha):
    """Two applications whose runs cannot be removed, for different reasons: the log gives each its own."""
    names = ["%s-%s" % (word, uuid.uuid4().hex[:8]) for word in ("checked", "broken")]
    for name in names:
        add_run(alpha, name, 40)
        alpha.patch("/v1/applications/" + name, {"retention": {"days": 30, "runs": None}})
    checked, broken = [alpha.get("/v1/applications/" + name).json()["id"] for name in names]
    admin(kept, "CREATE FUNCTION public.refuse_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                " IF OLD.application_id = '%s' THEN RAISE 'checked' USING ERRCODE = '23514'; END IF;"
                " IF OLD.application_id = '%s' THEN RAISE 'broken' USING ERRCODE = 'XX000'; END IF;"
                " RETURN OLD; END $$;"
                "CREATE TRIGGER refuse_delete BEFORE DELETE ON provisor.run FOR EACH ROW"
                " EXECUTE FUNCTION public.refuse_delete()" % (checked, broken))
    try:
        done = subprocess.run([str(kept.program), "maintain"], env=kept.env(), stderr=subprocess.PIPE, text=True)
        events = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
        reasons = {e["application_id"]: e["reason"] for e in events if e["event"] == "maintenance.application_not_expired"}
        assert "breaks a rule" in reasons[checked] and "refused a statement" in reasons[broken]
    finally:
        admin(kept, "DROP TRIGGER refuse_delete ON provisor.run; DROP FUNCTION public.refuse_delete()")
    assert maintain(kept)["runs"] == 2


def test_a_run_that_cannot_be_thinned_keeps_no_other_from_it(kept, alpha, name):
    """It is the oldest, so it heads the list of every pass: the pass says that it failed, and does the rest."""
    stuck, other = [alpha.post("/v1/applications/%s/runs" % name, long_run(days, 4, 1000, 3), status=201).json()["id"]
                    for days in (200, 100)]
    admin(kept, "CREATE FUNCTION public.refuse_update() RETURNS trigger LANGUAGE plpgsql AS"
                " $$ BEGIN RAISE 'not this one'; END $$;"
                "CREATE TRIGGER refuse_update BEFORE UPDATE ON provisor.run_stage FOR EACH ROW"
                " WHEN (OLD.run_id = '%s') EXECUTE FUNCTION public.refuse_update()" % stuck)
    try:
        with pytest.raises(subprocess.CalledProcessError):
            maintain(kept, task_summary_after_days=90)
        path = "/v1/applications/%s/runs/" % name
        assert alpha.get(path + other + "?include=tasks").json()["task_times_summarized"] is True
        assert "task_durations_s" in alpha.get(path + stuck + "?include=tasks").json()["stages"][0]
    finally:
        admin(kept, "DROP TRIGGER refuse_update ON provisor.run_stage; DROP FUNCTION public.refuse_update()")
    assert maintain(kept, task_summary_after_days=90)["runs_thinned"] == 1


def test_a_thinned_stage_says_no_longer_where_its_tasks_ran(kept, alpha, name):
    """Its short stages still do, and the run keeps its nodes; what is missing is named."""
    run = long_run(100, 4, 1000, 3)
    tasks = len(run["stages"][0]["task_durations_s"])
    run["nodes"] = [{"name": "n1", "cores": 4}, {"name": "n2", "cores": 4}]
    run["stages"][0].update(task_nodes=[i % 2 for i in range(tasks)], task_read_bytes=[7] * tasks)
    short = {"id": 1000, "task_durations_s": [1, 2, 3, 4], "task_nodes": [0, 1, 0, 1], "duration_s": 6}
    run["stages"].append(short)
    path = "/v1/applications/%s" % name
    id_ = alpha.post(path + "/runs", run, status=201).json()["id"]
    maintain(kept, task_summary_after_days=90)
    thinned = alpha.get("%s/runs/%s?include=tasks" % (path, id_)).json()
    assert "task_time_summary" in thinned["stages"][0] and not {"task_nodes", "task_read_bytes"} & set(thinned["stages"][0])
    assert thinned["nodes"] == run["nodes"] and thinned["stages"][-1]["task_nodes"] == short["task_nodes"]
    found = alpha.get(path + "/stragglers").json()
    assert {"runs_thinned", "stages_without_nodes"} <= {w["code"] for w in found["warnings"]}
    assert {n["stages_compared"] for n in found["nodes"]} == {1}


def test_a_sketch_is_taken_where_a_list_is(kept, alpha, name):
    """What a thinned run replies can be sent again and is the same stage; nonsense is refused with its place."""
    first = alpha.post("/v1/applications/%s/runs" % name, long_run(100, 4, 1000, 3), status=201).json()["id"]
    maintain(kept, task_summary_after_days=90)
    stages = alpha.get("/v1/applications/%s/runs/%s?include=tasks" % (name, first)).json()["stages"]
    assert "task_time_summary" in stages[0]
    run = long_run(50, 4, 1000, 3)
    run["stages"] = stages
    again = alpha.post("/v1/applications/%s/runs" % name, run, status=201)
    reply = alpha.get("/v1/applications/%s/runs/%s?include=tasks" % (name, again.json()["id"])).json()
    assert reply["stages"] == stages and reply["task_times_summarized"] is True
    path = "/v1/applications/%s/runs" % name
    for sketch, pointer in (([], "/stages/0/task_time_summary"), ([{"tasks": 0, "mean_s": 1}], "/stages/0/task_time_summary/0/tasks"),
                            ([{"tasks": 1}], "/stages/0/task_time_summary/0/mean_s"), ([{"tasks": 2, "mean_s": -1}], "/stages/0/task_time_summary/0/mean_s"),
                            ([{"tasks": 1, "mean_s": 1, "x": 1}], "/stages/0/task_time_summary/0/x"),
                            ([{"tasks": 600000, "mean_s": 1}, {"tasks": 600000, "mean_s": 1}], "/stages/0/task_time_summary/1/tasks")):
        alpha.refuse("POST", path, 422, pointer=pointer, json=dict(run, stages=[{"id": 0, "task_time_summary": sketch}]))
    # Together they may not have more either, whatever a few bytes say each.
    many = [{"id": i, "task_time_summary": [{"tasks": 900000, "mean_s": 1}]} for i in range(9000)]
    alpha.refuse("POST", path, 422, pointer="/stages/1/task_time_summary", json=dict(run, stages=many), timeout=20)
    both = [{"id": 0, "task_time_summary": [{"tasks": 1, "mean_s": 1}], "task_durations_s": [1]}]
    alpha.refuse("POST", path, 422, pointer="/stages/0/task_time_summary", json=dict(run, stages=both))
    wrong = [{"id": 0, "task_time_summary": [{"tasks": 2, "mean_s": 1}], "tasks": 3}]
    alpha.refuse("POST", path, 422, pointer="/stages/0/tasks", json=dict(run, stages=wrong))


def test_advice_of_a_thinned_history_is_the_same_but_for_a_little(kept, alpha, name):
    """Models fit the same figures, so they are equal; what is replayed differs by 2 % at most; profile and stage
    plan stay as they were."""
    for executors in (2, 4, 8, 16):
        alpha.post("/v1/applications/%s/runs" % name, long_run(60 + executors, executors, 1600, executors), status=201)
    app = "/v1/applications/" + name

    def look():
        alpha.post("/v1/applications/%s/runs" % name, long_run(1, 4, 100, 1), status=201)  # a new version, nothing cached
        advice = alpha.post("/v1/advice?dry_run=true", {"application": name, "problem_size": 1600, "deadline_s": 200,
                            "include": ["alternatives"]}, status=200).json()
        return advice, alpha.get(app + "/models").json(), alpha.get(app + "/profile").json()

    advice, models, profile = look()
    run = [r["id"] for r in alpha.get(app + "/runs").json()["items"]][0]
    alpha.delete(app + "/runs/" + run)
    assert maintain(kept, task_summary_after_days=30)["runs_thinned"] == 4
    thin_advice, thin_models, thin_profile = look()
    for document in (models, thin_models, profile, thin_profile):
        for word in ("history_version", "fitted_at", "run_id", "id", "source_runs", "latest_run_id", "recorded_at"):
            document.pop(word, None)
    assert models == thin_models and profile == thin_profile
    assert advice["recommendation"]["executors"] == thin_advice["recommendation"]["executors"]
    assert advice["recommendation"]["predicted_duration_s"] == pytest.approx(thin_advice["recommendation"]["predicted_duration_s"], rel=0.02)
    for a, b in zip(advice["alternatives"], thin_advice["alternatives"]):
        if a["executors"] == b["executors"]:
            assert a["predicted_duration_s"] == pytest.approx(b["predicted_duration_s"], rel=0.02)


def test_nothing_is_left_of_a_deleted_application(kept, alpha, name):
    """Its name, id and the ids of its runs and advice are in no row of any table; the audit alone keeps what was done.
    Another application of the team, and one of the same name elsewhere, stay."""
    other, twin = name + "-other", kept.client(kept.beta_token)
    add_run(alpha, other, 1), add_run(twin, name, 1)
    log = (b'{"Event":"SparkListenerApplicationStart","App Name":"x","App ID":"app-7","Timestamp":1600000000000,"User":"u"}\n'
           b'{"Event":"SparkListenerApplicationEnd","Timestamp":1600000010000}\n')
    words = [name, alpha.post("/v1/applications", {"name": name}, status=201, headers={"Idempotency-Key": name}).json()["id"]]
    words.append(add_run(alpha, name, 2)["id"])
    words.append(alpha.post("/v1/applications/%s/eventlogs" % name, status=201, data=log).json()["id"])
    words.append(alpha.post("/v1/applications/%s/runs" % name, status=201, headers={"Idempotency-Key": uuid.uuid4().hex},
                            json={"problem_size": 8, "executors": 4, "cores_per_executor": 2, "duration_s": 20.0}).json()["id"])
    words.append(alpha.post("/v1/advice", {"application": name, "deadline_s": 600}, status=201,
                            headers={"Idempotency-Key": uuid.uuid4().hex}).json()["id"])
    alpha.get("/v1/applications/%s/models" % name)

    def found():
        tables = admin(kept, "SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'provisor'::regnamespace"
                       " AND c.relkind IN ('r', 'p') AND NOT c.relispartition", fetch=True)
        where = {}
        for (table,) in tables:
            # bytea shows as hex in a row's text, so bodies of kept replies are read as what they say
            text = "t::text || convert_from(t.body, 'UTF8')" if table == "idempotency_key" else "t::text"
            team = " AND team_id = (SELECT team_id FROM provisor.team WHERE name = 'alpha')" if table not in (
                "migration", "service_key", "housekeeping") else ""
            n = admin(kept, "SELECT count(*) FROM provisor.%s t, unnest(%%s) AS word WHERE"
                      " position(word IN replace(%s, %%s, '')) > 0%s" % (table, text, team), words, other, fetch=True)[0][0]
            if n:
                where[table] = n
        return where

    before = found()
    assert {"application", "run", "run_label", "run_stage", "run_log", "advice", "outbox", "idempotency_key",
            "audit"} <= set(before), before
    alpha.delete("/v1/applications/" + name)
    assert set(found()) == {"audit"}
    assert len(runs_of(alpha, other)) == 1 and len(runs_of(twin, name)) == 1


def test_a_long_history_is_deleted_in_one_request(kept, alpha, name):
    """30,000 runs with labels, stages and logs: gone with the reply, while another application is written to."""
    add_run(alpha, name, 1)
    made = admin(kept, """
        WITH one AS (SELECT * FROM provisor.application WHERE name = %s LIMIT 1),
        made AS (INSERT INTO provisor.run (team_id, application_id, id, executors, duration_s, started_at, succeeded,
                 label_keys, label_values, has_stages, from_log, spark_application_id, ended, property_keys, property_values,
                 warning_codes, warning_counts, warning_details)
            SELECT team_id, id, (left(provisor.uuid7_floor(now())::text, 13) || '-7' || substr(gen_random_uuid()::text, 16))::uuid,
                   4, 10, now() - n * interval '1 second', true, ARRAY['k'], ARRAY['v'], true, true, 'app-' || n, true,
                   '{}', '{}', '{}', '{}', '{}' FROM one, generate_series(1, 30000) AS n RETURNING *),
        labelled AS (INSERT INTO provisor.run_label SELECT team_id, application_id, id, 'k', 'v', instant FROM made),
        logged AS (INSERT INTO provisor.run_log SELECT team_id, application_id, spark_application_id, '', id, NULL, true FROM made)
        INSERT INTO provisor.run_stage (team_id, application_id, run_id, id, parents, skipped)
        SELECT team_id, application_id, id, 0, '{}', false FROM made""", name)
    assert made == 30000
    admin(kept, "UPDATE provisor.application SET runs = 30001 WHERE name = %s", name)
    other = kept.client(kept.alpha_token)
    slowest = 0.0
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        deleted = pool.submit(alpha.delete, "/v1/applications/" + name)
        while not deleted.done():
            began = time.monotonic()
            add_run(other, name + "-other", 1)
            slowest = max(slowest, time.monotonic() - began)
        deleted.result()
    assert slowest < 5, "others wait for nothing of it: %.1f s" % slowest
    left = admin(kept, "SELECT (SELECT count(*) FROM provisor.run WHERE spark_application_id LIKE 'app-%%' AND executors = 4),"
                 " (SELECT count(*) FROM provisor.run_log WHERE spark_application_id = 'app-30000'),"
                 " (SELECT count(*) FROM provisor.run_label WHERE key = 'k')", fetch=True)
    assert left == [(0, 0, 0)]
