"""POST /v1/simulations on stored workloads: the same figures as of the same jobs in the request, whatever the trace was written in."""
import json
import random
import time
import uuid

import psycopg2
import pytest

import test_scheduling_simulations as scheduling
from long_work import wait_for
from patience import PATIENCE, SLOWDOWN, wait_until
from test_scheduling_simulations import ALL_SLOTS, ask, by_name, changed, checked, running, simulate
from test_workloads import SMALL, SWIM, events_2011, events_2019, peak_kib, pigeon, send

def many_jobs(n, seed=1, tasks=20):
    """Jobs of slots and of tasks, whose durations a workload keeps exactly: whole milliseconds."""
    slots, bags = scheduling.many_jobs(n, seed, tasks)
    for job, bag in zip(slots, bags):
        job["map_durations_s"] = bag["task_durations_s"] = [round(duration, 3) for duration in bag["task_durations_s"]]
    return slots, bags


SLOTS = {"kind": "slots", "cluster": {"map_slots": 4, "reduce_slots": 2}, "policies": [{"policy": "fifo"}, {"policy": "fair"}, {"policy": "fbq", "limits_s": [5]}]}
TASKS = {"kind": "tasks", "cluster": {"workers": 6}, "short_cutoff_s": 3,
         "policies": [{"policy": "pigeon", "groups": 2}, {"policy": "centralised"}, {"policy": "sparrow"}, {"policy": "eagle"}]}


@pytest.fixture(scope="module")
def service(make_service):
    service = make_service(PROVISOR_OPERATION_WORKERS=2, PROVISOR_OPERATION_SLICE_MS=100, PROVISOR_OPERATION_LEASE_S=5)
    return service.start()


@pytest.fixture(scope="module")
def client(service):
    return service.client(service.token("workload-simulations"))


@pytest.fixture
def stranger(service):
    return service.client(service.token("workload-strangers"))


def stored(client, jobs, format="provisor"):
    """The id of a workload of these jobs, or of a trace."""
    text = jobs if isinstance(jobs, (str, bytes)) else "".join(json.dumps(job) + "\n" for job in jobs)
    return send(client, text, format=format).json()["id"]


def both(client, body, jobs):
    """The results for a stored workload and for the same jobs in the request."""
    return simulate(client, changed(body, workload=stored(client, jobs))), simulate(client, changed(body, jobs=jobs))


# --- the same figures ---


def test_slots_of_a_workload_are_those_of_the_request(client):
    jobs = many_jobs(60)[0]
    for number, job in enumerate(jobs):
        job["queue"] = 1 + number % 2
        job["shuffle_s"] = number % 3
        if number % 4 == 0:
            job["predicted_size_s"] = 5 + number
    stored_result, sent = both(client, changed(SLOTS, policies=ALL_SLOTS, include=["jobs"], baseline="fifo"), jobs)
    assert stored_result == sent
    assert [job["name"] for job in by_name(sent["loads"][0])["fifo"]["jobs"]] == [job["name"] for job in jobs]


def test_tasks_of_a_workload_are_those_of_the_request(client):
    jobs = many_jobs(60)[1]
    jobs[3]["class"], jobs[7]["class"] = "long", "short"
    stored_result, sent = both(client, changed(TASKS, include=["jobs"], seed=7, repetitions=2), jobs)
    assert stored_result == sent


@pytest.mark.parametrize("body,kind", [(SLOTS, 0), (TASKS, 1)], ids=["slots", "tasks"])
def test_loads_draw_the_same_arrivals(client, body, kind):
    stored_result, sent = both(client, changed(body, loads=[0.5, 0.9], repetitions=3, seed=3), many_jobs(40)[kind])
    assert stored_result == sent


def test_bags_of_tasks_are_maps_on_slots(client):
    jobs = many_jobs(30)[1]
    made = simulate(client, changed(SLOTS, workload=stored(client, jobs)))
    maps = [{"name": job["name"], "arrival_s": job["arrival_s"], "map_durations_s": job["task_durations_s"]} for job in jobs]
    assert made == simulate(client, changed(SLOTS, jobs=maps))


def test_maps_and_reduces_are_one_bag_on_workers(client):
    jobs = many_jobs(30)[0]
    made = simulate(client, changed(TASKS, workload=stored(client, jobs)))
    bags = [{"name": job["name"], "arrival_s": job["arrival_s"], "task_durations_s": job["map_durations_s"] + job["reduces"] * [job["reduce_task_s"]]}
            for job in jobs]
    assert made == simulate(client, changed(TASKS, jobs=bags))


def test_layouts_of_pigeon_take_workloads(client):
    body = changed(TASKS, cluster={"groups": [{"workers": 3, "power": 2}, {"workers": 4}]}, include=["jobs"],
                   policies=[{"policy": "pigeon"}, {"policy": "pigeon", "name": "lost", "failures": [{"group": 0, "at_s": 9.5, "detection_s": 3}]}])
    stored_result, sent = both(client, body, many_jobs(40)[1])
    assert stored_result == sent


def test_jobs_out_of_order_are_simulated_as_they_arrive(client):
    jobs = many_jobs(30)[0]
    mixed = random.Random(1).sample(jobs, len(jobs))
    assert simulate(client, changed(SLOTS, workload=stored(client, mixed), include=["jobs"])) == simulate(client, changed(SLOTS, jobs=jobs, include=["jobs"]))


def test_the_request_is_kept_with_all_defaults_and_asks_for_the_same(client):
    for body, kind in ((changed(SLOTS, predicted_sizes="exact"), 0), (TASKS, 1)):
        asked = changed(body, workload=stored(client, many_jobs(10)[kind]))
        made = wait_for(client, ask(client, asked)["id"])
        assert made["request"]["workload"] == asked["workload"] and "jobs" not in made["request"]
        assert simulate(client, made["request"]) == checked(client, made)


# What each of the traces of test_workloads comes to.
TRACES = [
    ("pigeon", SMALL, [(0, [8, 12]), (5, [3]), (9.5, [1, 2, 3])]),
    ("google_2011", events_2011(), [(0, [5, 10]), (2, [4])]),
    ("google_2019", events_2019(), [(0, [5, 10]), (2, [4])]),
]


@pytest.mark.parametrize("format,trace,jobs", TRACES, ids=[trace[0] for trace in TRACES])
def test_each_format_can_be_simulated(client, format, trace, jobs):
    bags = [{"name": str(i), "arrival_s": at, "task_durations_s": durations} for i, (at, durations) in enumerate(jobs)]
    made = simulate(client, changed(TASKS, workload=stored(client, trace, format)))
    assert made == simulate(client, changed(TASKS, jobs=bags))


def test_a_trace_of_bytes_can_be_simulated(client):
    jobs = [{"name": "job0", "map_durations_s": [7.4, 7.4]}, {"name": "job1", "arrival_s": 30, "map_durations_s": [7.4], "reduces": 2, "reduce_task_s": 26.6}]
    made = simulate(client, changed(SLOTS, workload=stored(client, SWIM, "swim"), include=["jobs"]))
    sent = simulate(client, changed(SLOTS, jobs=jobs, include=["jobs"]))
    assert close(made, sent), (made, sent)


def close(a, b):
    """Equal but for durations that are kept in single precision."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(close(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(close, a, b))
    return a == (pytest.approx(b, rel=1e-6) if isinstance(b, float) else b) or isinstance(a, str)


def test_jobs_without_a_name_have_none_in_the_result(client):
    made = simulate(client, changed(TASKS, workload=stored(client, SMALL, "pigeon"), include=["jobs"]))
    assert [job["name"] for job in by_name(made["loads"][0])["sparrow"]["jobs"]] == [None, None, None]


# --- sizes predicted from input ---

BY_SIZE = changed(SLOTS, policies=[{"policy": "sita", "limits_s": [12], "partitions": [0.5, 0.5]}, {"policy": "comp", "queues": 3}], include=["jobs"])


def sized_jobs():
    """Jobs with sizes that their input does not foretell."""
    draw = random.Random(5)
    return [{"name": str(i), "arrival_s": i, "maps": draw.randint(1, 9), "map_task_s": 1.5, "input_bytes": draw.randint(1, 40)} for i in range(40)]


def predicted(jobs, rate):
    return [dict({k: v for k, v in job.items() if k != "input_bytes"}, predicted_size_s=rate * job["input_bytes"]) for job in jobs]


def test_sizes_are_predicted_from_input_by_a_rate(client):
    jobs = sized_jobs()
    made = simulate(client, changed(BY_SIZE, jobs=jobs, predicted_sizes="input", seconds_per_byte=0.5))
    assert made == simulate(client, changed(BY_SIZE, jobs=predicted(jobs, 0.5)))
    assert made != simulate(client, changed(BY_SIZE, jobs=jobs))
    own = jobs[:5] + predicted(jobs, 3)[5:]
    assert simulate(client, changed(BY_SIZE, jobs=own, predicted_sizes="input", seconds_per_byte=0.5)) == \
        simulate(client, changed(BY_SIZE, jobs=predicted(jobs, 0.5)[:5] + own[5:])), "what a job says of itself stands"


def swim_trace():
    """Jobs of 1 to 20 maps; how long they take follows from their input but for the overhead."""
    draw = random.Random(6)
    return "".join("job%d\t%d\t1\t%d\t%d\t1000000\n" % (i, i, draw.randint(1, 20) * 60000000, draw.choice([0, 0, 512000000])) for i in range(40))


def test_sizes_are_predicted_by_what_the_trace_has_taught(client):
    made = send(client, swim_trace(), format="swim").json()
    rate = made["summary"]["size_law"]["seconds_per_byte"]
    body = changed(BY_SIZE, workload=made["id"], policies=[{"policy": "sita", "limits_s": [60], "partitions": [0.5, 0.5]}])
    learnt = simulate(client, changed(body, predicted_sizes="input"))
    assert learnt == simulate(client, changed(body, predicted_sizes="input", seconds_per_byte=rate))
    assert learnt != simulate(client, body)
    assert learnt != simulate(client, changed(body, predicted_sizes="input", seconds_per_byte=rate / 3))


# --- what is refused ---


def without(body, *members):
    return {k: v for k, v in body.items() if k not in members}


JOBS = [{"name": "A", "maps": 2, "map_task_s": 3}]
ID = "0190f0f0-0000-7000-8000-000000000000"


@pytest.mark.parametrize("pointer,code,body", [
    ("/workload", "conflict", changed(SLOTS, workload=ID, jobs=JOBS)),
    ("/workload", "conflict", changed(TASKS, workload=ID, jobs=[{"name": "A", "task_durations_s": [1]}])),
    ("/jobs", "required", SLOTS),
    ("/jobs", "required", TASKS),
    ("/workload", "unknown_workload", changed(SLOTS, workload=ID)),
    ("/workload", "unknown_workload", changed(TASKS, workload=ID)),
    ("/workload", "invalid_id", changed(SLOTS, workload="NYH")),
    ("/workload", "wrong_type", changed(SLOTS, workload=3)),
    ("/workload", "unknown_field", changed(TASKS, workload={"workflows": 3})),
    ("/cluster/map_slots", "out_of_range", changed(SLOTS, workload=ID, cluster={"map_slots": 0, "reduce_slots": 1})),
    ("/policies/0/groups", "out_of_range", changed(TASKS, workload=ID, policies=[{"policy": "pigeon", "groups": 7}])),
    ("/predicted_sizes", "not_allowed", changed(SLOTS, jobs=JOBS, predicted_sizes="guess")),
    ("/seconds_per_byte", "required", changed(SLOTS, jobs=JOBS, predicted_sizes="input")),
    ("/seconds_per_byte", "conflict", changed(SLOTS, jobs=JOBS, seconds_per_byte=1)),
    ("/seconds_per_byte", "out_of_range", changed(SLOTS, jobs=JOBS, predicted_sizes="input", seconds_per_byte=0)),
    ("/jobs/0/input_bytes", "out_of_range", changed(SLOTS, jobs=[dict(JOBS[0], input_bytes=-1)])),
    ("/predicted_sizes", "unknown_field", changed(TASKS, workload=ID, predicted_sizes="input")),
])
def test_what_is_wrong_is_named(client, pointer, code, body):
    problem = client.refuse("POST", "/v1/simulations", 422, pointer=pointer, json=body)
    assert code in [e["code"] for e in problem["errors"] if e["pointer"] == pointer], problem


def refused(client, body, pointer):
    before = client.get("/v1/operations?limit=1").json()["items"]
    problem = client.refuse("POST", "/v1/simulations", 422, pointer=pointer, json=body)
    assert client.get("/v1/operations?limit=1").json()["items"] == before, "nothing is stored"
    [fault] = [e for e in problem["errors"] if e["pointer"] == pointer]
    return fault


def test_what_the_workload_does_not_allow_is_named(client):
    reducing, bags = stored(client, many_jobs(10)[0]), stored(client, SMALL, "pigeon")
    assert refused(client, changed(SLOTS, workload=reducing, cluster={"map_slots": 4, "reduce_slots": 0}), "/cluster/reduce_slots")["code"] == "out_of_range"
    assert refused(client, changed(SLOTS, workload=bags, predicted_sizes="input"), "/seconds_per_byte")["code"] == "required"
    fresh = changed(SLOTS, workload=bags, policies=[{"policy": "fresh_static", "concurrency": 1}], cluster={"map_slots": 10**7, "reduce_slots": 1})
    assert refused(client, fresh, "/policies/0/policy")["code"] == "out_of_range"
    assert simulate(client, changed(SLOTS, workload=bags, cluster={"map_slots": 4, "reduce_slots": 0}))["loads"]


def test_a_workload_of_another_team_is_not_there(client, stranger):
    theirs = stored(stranger, SMALL, "pigeon")
    assert refused(client, changed(TASKS, workload=theirs), "/workload")["code"] == "unknown_workload"
    assert simulate(stranger, changed(TASKS, workload=theirs))["loads"]


def failed(client, body):
    seen = wait_for(client, ask(client, body)["id"])
    assert seen["status"] == "failed" and seen["result"] is None, seen
    return seen["error"]


def test_what_only_jobs_can_tell_fails_with_the_job(client):
    jobs = [{"name": "A", "maps": 1, "map_task_s": 1}, {"name": "B", "arrival_s": 1, "reduces": 1, "reduce_task_s": 1, "queue": 3}]
    made = stored(client, jobs)
    error = failed(client, changed(SLOTS, workload=made, policies=[{"policy": "capacity", "queues": [{"share": 0.5}, {"share": 0.5}]}]))
    assert "job 2 of the workload is of queue 3" in error["detail"] and "2 queues" in error["detail"]
    error = failed(client, changed(SLOTS, workload=made, policies=[{"policy": "fresh", "concurrency": 1}]))
    assert "job 2 of the workload has no map" in error["detail"]
    short = stored(client, [{"name": "A", "arrival_s": 1e12, "maps": 1, "map_task_s": 0.001}])
    assert "the shortest task takes 0.001 s" in failed(client, changed(SLOTS, workload=short))["detail"]


# --- limits ---


@pytest.fixture(scope="module")
def narrow(make_service):
    service = make_service(PROVISOR_SIMULATION_MEMORY_BYTES_MAX=9000000, PROVISOR_SIMULATION_JOB_TASK_RUNS_MAX=100000, PROVISOR_SIMULATION_JOB_ROWS_MAX=100,
                           PROVISOR_SIMULATION_TASKS_MAX=1000, PROVISOR_SIMULATION_JOBS_MAX=10)
    token = service.token("narrow")
    return service.start().client(token)


def test_limits_name_their_setting_and_the_figure(narrow):
    small, large = stored(narrow, many_jobs(90)[1]), send(narrow, pigeon(20, 3000)).json()["id"]
    fault = refused(narrow, changed(TASKS, workload=large), "/policies")
    assert "simulation_job_task_runs_max" in fault["detail"] and "360387" in fault["detail"], fault
    fault = refused(narrow, changed(TASKS, workload=small, include=["jobs"]), "/include")
    assert "simulation_job_rows_max" in fault["detail"] and "360" in fault["detail"], fault
    fault = refused(narrow, changed(TASKS, workload=large, cluster={"workers": 100000}, policies=[{"policy": "sparrow", "probes_per_task": 1}]), "/policies/0")
    assert (fault["code"], "simulation_memory_bytes_max" in fault["detail"]) == ("too_large", True) and "of the workload included" in fault["detail"], fault
    # Jobs and tasks of a workload are bounded where it is stored.
    assert simulate(narrow, changed(TASKS, workload=small))["loads"]


def test_a_workload_too_large_for_memory_is_refused(make_service):
    service = make_service(PROVISOR_SIMULATION_MEMORY_BYTES_MAX=1048576)
    token = service.token("alpha")
    client = service.start().client(token)
    fault = refused(client, changed(TASKS, workload=send(client, pigeon(20, 8000)).json()["id"]), "/workload")
    assert fault["code"] == "too_large" and "its jobs take 1.2 MiB of memory, 1.0 MiB are allowed" in fault["detail"], fault


@pytest.mark.resident_memory
def test_a_million_tasks_take_less_than_a_hundred_megabytes(make_service):
    service = make_service()
    token = service.token("alpha")
    client = service.start().client(token)
    made = send(client, pigeon(10000, 100)).json()
    before = peak_kib(service)
    assert simulate(client, changed(TASKS, workload=made["id"], cluster={"workers": 2000}, loads=[0.8]))["loads"]
    assert peak_kib(service) - before < 100 * 1024


# --- deleted, cancelled, killed ---

# Minutes of work.
LONG = {"kind": "slots", "cluster": {"map_slots": 400, "reduce_slots": 100}, "policies": [{"policy": "fbq", "limits_s": [50]}, {"policy": "fair"}],
        "loads": [0.7, 0.8, 0.9], "repetitions": 166}


def test_a_workload_that_is_deleted_is_missed_by_whoever_has_not_loaded_it(make_service):
    service = make_service(PROVISOR_OPERATION_WORKERS=1, PROVISOR_OPERATION_SLICE_MS=600000)
    token = service.token("alpha")
    client = service.start().client(token)
    made = stored(client, many_jobs(5000, tasks=60)[0])
    first = running(client, changed(LONG, workload=made))
    second = ask(client, changed(LONG, workload=made))["id"]
    client.delete("/v1/workloads/" + made)
    done = client.get("/v1/operations/" + first).json()["progress"]["done"]
    wait_until(lambda: client.get("/v1/operations/" + first).json()["progress"]["done"] > done)
    client.delete("/v1/operations/" + first, (200, 202))
    assert wait_for(client, first)["status"] == "cancelled"
    seen = wait_for(client, second)
    assert (seen["status"], seen["error"]["status"]) == ("failed", 404), seen
    assert seen["error"]["detail"] == "the workload was deleted before its jobs were loaded"


def test_a_repetition_is_answered_as_before_when_the_workload_has_been_deleted(client):
    body, head = changed(TASKS, workload=stored(client, SMALL, "pigeon")), {"Idempotency-Key": str(uuid.uuid4())}
    first = client.post("/v1/simulations", body, 202, headers=head)
    wait_for(client, first.json()["id"])
    client.delete("/v1/workloads/" + body["workload"])
    again = client.post("/v1/simulations", body, 202, headers=head)
    assert again.json() == first.json() and again.headers["Idempotency-Replayed"] == "true" and again.headers["Location"] == first.headers["Location"]
    client.refuse("POST", "/v1/simulations", 422, header="Idempotency-Key", headers=head, json=changed(body, seed=2))
    assert refused(client, body, "/workload")["code"] == "unknown_workload"


def test_a_simulation_is_cancelled_while_it_loads(service, client):
    body = changed(LONG, workload=stored(client, many_jobs(5000, tasks=60)[0]))
    with psycopg2.connect(service.owner_url) as owner:  # nobody reads a chunk
        owner.cursor().execute("LOCK TABLE provisor.workload_chunk IN ACCESS EXCLUSIVE MODE")
        made = ask(client, body)["id"]
        wait_for(client, made, ("running",))
        client.delete("/v1/operations/" + made, (200, 202))
        time.sleep(2 * SLOWDOWN)  # it is told within a beat
    owner.close()
    seen = wait_for(client, made)
    assert seen["status"] == "cancelled" and not seen["progress"]["done"]


def test_a_simulation_of_a_workload_is_cancelled(client):
    made = running(client, changed(LONG, workload=stored(client, many_jobs(5000, tasks=60)[0])))
    began = time.monotonic()
    client.delete("/v1/operations/" + made, (200, 202))
    seen = wait_for(client, made)
    assert seen["status"] == "cancelled" and time.monotonic() - began < 1.5 * SLOWDOWN


def test_a_killed_process_loads_again_and_comes_to_the_same(make_service):
    service = make_service(PROVISOR_OPERATION_WORKERS=1, PROVISOR_OPERATION_LEASE_S=5)
    token = service.token("alpha")
    client = service.start().client(token)
    body = changed(LONG, repetitions=8 // SLOWDOWN, workload=stored(client, many_jobs(5000, tasks=60)[0]))
    made = running(client, body)
    service.kill()
    service.start()
    seen = wait_for(client, made, seconds=2 * PATIENCE)
    assert seen["attempt"] == 2
    assert checked(client, seen) == simulate(client, body)


# --- searches on a workload ---

# Minutes of work, nearly all of it the search's.
SEARCHED = {"kind": "tasks", "cluster": {"workers": 40}, "short_cutoff_s": 3, "policies": [{"policy": "sparrow"}], "loads": [0.9],
            "search": {"policies": [{"policy": "pigeon", "groups": [2, 4, 8], "reserved_share": [0.05], "weight": [20]}, {"policy": "sparrow"}]}}


def test_a_search_on_a_workload_is_cancelled(client):
    body = changed(SEARCHED, workload=stored(client, many_jobs(5000, tasks=60)[1]))
    body["search"] = dict(body["search"], task_runs=10 ** 9, error_chance=0.0001)
    made = running(client, body)
    began = time.monotonic()
    client.delete("/v1/operations/" + made, (200, 202))
    seen = wait_for(client, made)
    assert seen["status"] == "cancelled" and time.monotonic() - began < 1.5 * SLOWDOWN
    assert 0 < seen["progress"]["done"] < seen["progress"]["total"]


def test_a_process_killed_in_a_search_on_a_workload_comes_to_the_same(make_service):
    service = make_service(PROVISOR_OPERATION_WORKERS=1, PROVISOR_OPERATION_LEASE_S=5)
    token = service.token("alpha")
    client = service.start().client(token)
    jobs = many_jobs(2000, tasks=20)[1]
    tasks = sum(len(job["task_durations_s"]) for job in jobs)
    body = changed(SEARCHED, workload=stored(client, jobs))
    body["search"] = dict(body["search"], task_runs=tasks * 200 // SLOWDOWN, error_chance=0.0001)
    for _ in range(5):  # a search takes half a second: it may have ended before the kill
        made = ask(client, body)["id"]
        wait_for(client, made, ("running", "succeeded"))
        service.kill()
        service.start()
        seen = wait_for(client, made, seconds=2 * PATIENCE)
        if seen["attempt"] > 1:
            break
    assert seen["attempt"] == 2
    assert checked(client, seen) == simulate(client, body)


def test_a_process_killed_while_it_loads_comes_to_the_same(make_service):
    service = make_service(PROVISOR_OPERATION_WORKERS=1, PROVISOR_OPERATION_LEASE_S=5)
    token = service.token("alpha")
    client = service.start().client(token)
    body = changed(TASKS, workload=stored(client, many_jobs(500)[1]))
    with psycopg2.connect(service.owner_url) as owner:  # nobody reads a chunk
        owner.cursor().execute("LOCK TABLE provisor.workload_chunk IN ACCESS EXCLUSIVE MODE")
        made = ask(client, body)["id"]
        wait_for(client, made, ("running",))
        service.kill()
    owner.close()
    service.start()
    seen = wait_for(client, made, seconds=2 * PATIENCE)
    assert seen["attempt"] == 2
    assert checked(client, seen) == simulate(client, body)


# --- published traces ---


def test_a_published_trace_comes_to_the_figures_of_its_simulator(client, shared):
    """Pigeon's own simulator with one master, which draws nothing (tests/golden/test_pigeon_traces.c)."""
    made = stored(client, (shared / "data" / "pigeon-traces" / "NYH_trace90").read_bytes(), "pigeon")
    policies = [{"policy": "centralised", "reserved_share": 0.1, "weight": "infinite"}]
    result = simulate(client, {"kind": "tasks", "workload": made, "cluster": {"workers": 330}, "short_cutoff_s": 1, "policies": policies})
    classes = {item["name"]: item["completion_s"] for item in by_name(result["loads"][0])["centralised"]["classes"]}
    found = [classes[name][q] for name in ("short", "long") for q in ("p50", "p90", "p99")] + [classes["all"]["mean"]]
    assert found == pytest.approx([0.576, 1.80, 3.15, 28.3, 65.8, 98.4, 4.14], rel=3e-3)
