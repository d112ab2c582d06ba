"""Workloads: traces in every format, as they arrive, whole or not at all; what they come to, limits, lists, deletion."""
import gzip
import json
import random
import socket
import threading
import uuid

import pytest

from patience import PATIENCE, wait_until
from test_codings import coded

WORKLOADS = "/v1/workloads"
SMALL = "0 2 10 8 12\n5 1 3 3\n9.5 3 2 1 2 3\n"
# Job 1 has two tasks, the second of which is evicted and run again; job 2 one.
SWIM = "job0\t0\t0\t128000000\t0\t1000000\njob1\t30\t30\t64000000\t512000000\t0\n"
PROVISOR = [{"name": "a", "arrival_s": 0, "maps": 3, "map_task_s": 10, "reduces": 1, "reduce_task_s": 5},
            {"name": "b", "arrival_s": 7, "map_durations_s": [1, 2.5]}]


def pigeon(jobs, tasks, seed=1):
    """A trace with so many jobs, each with so many tasks of durations that have six digits."""
    draw, at, lines = random.Random(seed), 0.0, []
    for _ in range(jobs):
        at += draw.expovariate(1)
        durations = [round(draw.lognormvariate(3, 1), 6) for _ in range(tasks)]
        lines.append("%.6f %d %.6f %s\n" % (at, tasks, sum(durations) / tasks, " ".join(map(str, durations))))
    return "".join(lines).encode()


def send(client, body, status=201, format="pigeon", headers=None, **query):
    head = {"Content-Type": "application/octet-stream", **(headers or {})}
    params = {k: v for k, v in {"format": format, **query}.items() if v is not None}
    return client.request("POST", WORKLOADS, status, headers=head, params=params, data=body)


def refuse(client, body, status=422, format="pigeon", **more):
    """The problem; nothing was stored."""
    before = listed(client)
    reply = send(client, body, status, format, **more)
    assert reply.headers["Content-Type"].startswith("application/problem+json")
    assert listed(client) == before
    return reply.json()


def listed(client):
    return [item["id"] for item in client.get(WORKLOADS + "?limit=200").json()["items"]]


def left_over(service):
    """Rows and chunks of workloads, over all teams."""
    return tuple(int(n) for n in service.psql("SELECT (SELECT count(*) FROM provisor.workload), (SELECT count(*) FROM provisor.workload_chunk)").split("|"))


@pytest.fixture
def lonely(service):
    """A team of its own."""
    return service.client(service.token("workloads-" + uuid.uuid4().hex[:8]))


# --- what is stored ---


def test_a_trace_is_stored_and_summed_up(lonely):
    reply = send(lonely, SMALL, name="three jobs")
    made = reply.json()
    assert reply.headers["Location"] == WORKLOADS + "/" + made["id"]
    assert (made["name"], made["format"], made["jobs"], made["tasks"], made["reduce_tasks"]) == ("three jobs", "pigeon", 3, 6, 0)
    summary = made["summary"]
    assert (summary["first_arrival_s"], summary["last_arrival_s"], summary["arrivals_sorted"]) == (0, 9.5, True)
    assert summary["work_s"] == pytest.approx(29) and summary["offered_slots"] == pytest.approx(29 / 9.5)
    assert summary["tasks_per_job"]["mean"] == pytest.approx(2) and summary["tasks_per_job"]["max"] == 3
    assert summary["job_size_s"]["p50"] == pytest.approx(6, rel=1e-3) and summary["each_task_s"]["max"] == 12
    assert summary["each_reduce_s"] == {**dict.fromkeys(("mean", "p50", "p90", "p99", "max")), "quantile_error": 0}
    assert (summary["rates"], summary["durations_from"], summary["size_law"]) == (None, None, None)
    got = lonely.get(WORKLOADS + "/" + made["id"])
    assert got.json() == made
    assert lonely.get(WORKLOADS).json() == {"items": [made], "next_cursor": None}
    assert lonely.get(WORKLOADS + "/%s?fields=jobs,summary.work_s" % made["id"]).json() == {"jobs": 3, "summary": {"work_s": summary["work_s"]}}
    assert lonely.get("/v1/audit").json()["items"][0]["action"] == "workload.insert"


def test_a_workload_is_read_by_its_tag(lonely):
    path = send(lonely, SMALL).headers["Location"]
    tag = lonely.get(path).headers["ETag"]
    assert lonely.get(path, 304, headers={"If-None-Match": tag}).content == b""
    lonely.get(path, 200, headers={"If-None-Match": '"other"'})


def test_swim_follows_the_rates(lonely):
    made = send(lonely, SWIM, format="swim").json()
    # Two maps of 64 MB and one; two reduces.
    assert (made["jobs"], made["tasks"], made["reduce_tasks"]) == (2, 5, 2)
    assert made["summary"]["rates"] == {"map_bytes": 64e6, "reduce_bytes": 256e6, "map_bytes_per_s": 10e6, "shuffle_bytes_per_s": 10e6,
                                        "output_bytes_per_s": 20e6, "task_overhead_s": 1}
    assert made["summary"]["each_task_s"]["max"] == pytest.approx(7.4) and made["summary"]["size_law"]["jobs"] == 2
    other = send(lonely, SWIM, format="swim", map_bytes=32e6, task_overhead_s=2.5).json()
    assert (other["tasks"], other["summary"]["rates"]["map_bytes"], other["summary"]["rates"]["task_overhead_s"]) == (8, 32e6, 2.5)


def test_the_format_of_provisor(lonely):
    made = send(lonely, "".join(json.dumps(job) + "\n" for job in PROVISOR), format="provisor").json()
    assert (made["format"], made["jobs"], made["tasks"], made["reduce_tasks"]) == ("provisor", 2, 6, 1)
    assert made["summary"]["work_s"] == pytest.approx(38.5)


def events_2011():
    """Submitted, scheduled, finished: of job 7 tasks 0 and 1, of job 9 task 0; microseconds."""
    rows = []
    for job, index, begin, end in ((7, 0, 1, 11), (7, 1, 1, 6), (9, 0, 3, 7)):
        for kind, at in ((0, 0 if job == 7 else 2), (1, begin), (4, end)):
            rows.append((at * 1000000, "", job, index, 42, kind, "u", 0, 0, "", "", "", ""))
    rows.sort(key=lambda row: row[0])
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def test_the_cluster_data_of_google_of_2011(lonely):
    made = send(lonely, events_2011(), format="google_2011").json()
    assert (made["jobs"], made["tasks"]) == (2, 3)
    assert made["summary"]["work_s"] == pytest.approx(10 + 5 + 4)


def events_2019():
    rows = []
    for job, index, begin, end in ((7, 0, 1, 11), (7, 1, 1, 6), (9, 0, 3, 7)):
        for kind, at in ((0, 0 if job == 7 else 2), (3, begin), (6, end)):
            rows.append((at * 1000000, kind, job, index))
    rows.sort(key=lambda row: row[0])
    return "time,type,collection_id,instance_index\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)


def test_the_cluster_data_of_google_of_2019(lonely):
    made = send(lonely, events_2019(), format="google_2019").json()
    assert (made["jobs"], made["tasks"]) == (2, 3)
    assert made["summary"]["work_s"] == pytest.approx(10 + 5 + 4)


def test_published_traces(lonely, shared):
    made = send(lonely, (shared / "data" / "pigeon-traces" / "NYH_trace90").read_bytes()).json()
    lines = (shared / "data" / "pigeon-traces" / "NYH_trace90").read_text().splitlines()
    durations = [[float(word) for word in line.split()[3:]] for line in lines if line.strip()]
    assert made["jobs"] == len(durations) and made["tasks"] == sum(map(len, durations))
    assert made["summary"]["work_s"] == pytest.approx(sum(map(sum, durations)), rel=1e-9)
    assert made["summary"]["tasks_per_job"]["max"] == max(map(len, durations))
    assert made["stored_bytes"] <= 6 * made["tasks"]
    swim = next((shared / "data" / "swim").glob("FB-2009_samples_24_times_1hr_0.tsv")).read_bytes()
    assert send(lonely, swim, format="swim").json()["jobs"] == len(swim.splitlines())


def test_a_task_takes_at_most_six_bytes_of_the_database(make_service):
    service = make_service()
    client = service.client(service.token("sizes"))
    service.start()
    trace = pigeon(400, 1000)
    made = send(client, trace).json()
    service.psql("VACUUM FULL provisor.workload_chunk")
    assert made["stored_bytes"] <= 6 * made["tasks"]
    assert int(service.psql("SELECT pg_total_relation_size('provisor.workload_chunk')")) <= 6 * made["tasks"]
    sizes = [int(n) for n in service.psql("SELECT octet_length(content) FROM provisor.workload_chunk ORDER BY position").split()]
    assert sum(sizes) == made["stored_bytes"] and max(sizes) <= 256 * 1024 and len(sizes) > 1


# --- how it is sent ---


def test_pieces_and_codings_make_no_difference(lonely):
    trace = pigeon(40, 25)
    plain = send(lonely, trace).json()

    def same(reply):
        made = reply.json()
        return {k: made[k] for k in ("jobs", "tasks", "stored_bytes", "summary")} == {k: plain[k] for k in ("jobs", "tasks", "stored_bytes", "summary")}

    assert same(send(lonely, iter([trace[i:i + 7] for i in range(0, len(trace), 7)]))), "chunked, in pieces of seven bytes"
    assert same(send(lonely, gzip.compress(trace)))
    for coding in ("zstd", "lz4 frame", "snappy framed"):
        assert same(send(lonely, coded(trace, coding))), coding
    assert same(send(lonely, trace, headers={"Content-Type": "text/plain; charset=utf-8"}))
    assert same(lonely.request("POST", WORKLOADS + "?format=pigeon", 201, data=trace)), "without a type"


def test_a_form_is_no_trace(lonely):
    problem = lonely.request("POST", WORKLOADS + "?format=pigeon", 415, files={"file": SMALL}).json()
    assert "--data-binary" in problem["detail"]


def test_a_repetition_with_a_key_stores_nothing_again(lonely):
    key = {"Idempotency-Key": '"%s"' % uuid.uuid4()}
    first = send(lonely, SMALL, headers=key)
    again = send(lonely, iter([SMALL.encode()]), headers=key)
    assert again.content == first.content and again.headers["Location"] == first.headers["Location"]
    assert again.headers["Idempotency-Replayed"] == "true" and len(listed(lonely)) == 1
    for body, more in ((SMALL.replace("9.5", "9.6"), {}), (SMALL, {"name": "other"})):
        assert [e["code"] for e in refuse(lonely, body, headers=key, **more)["errors"]] == ["key_reused"]


def peak_kib(service):
    with open("/proc/%d/status" % service.process.pid) as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))


@pytest.mark.resident_memory
def test_memory_does_not_grow_with_the_length_of_a_trace(make_service):
    """Three million tasks, of which the service is to hold a piece at a time."""
    service = make_service()
    client = service.client(service.token("long"))
    service.start()
    send(client, SMALL)
    with open("/proc/%d/clear_refs" % service.process.pid, "w") as f:
        f.write("5")  # the peak is that of now
    before = peak_kib(service)
    jobs = pigeon(30, 1000).splitlines()
    made = send(client, (b"%d " % i + jobs[i % 30].split(b" ", 1)[1] + b"\n" for i in range(3000))).json()
    grown = peak_kib(service) - before
    assert made["tasks"] == 3000000 and grown < 32 * 1024, "%d KiB more" % grown


# --- faults ---


@pytest.mark.parametrize("trace,line,words", [
    ("0 2 10 8 12\n5 2 3 3\n", 2, "2"), ("0 1 1 1\n1 1 x 1\n", 2, "x"), ("0 1 1 1\n\n1 1 1 -1\n", 3, "-1"), ("0 1 1 1\n1 1 0 0\n", 2, "0"),
    ("0 1 1 1\n-1 1 1 1\n", 2, "-1"), ("{}\n", 1, ""), ("0 1 1 nan\n", 1, "nan"), ("0 1 1 1\n1 3 1 1 1", 2, "cut")])
def test_a_fault_names_its_line(lonely, trace, line, words):
    problem = refuse(lonely, trace)
    assert problem["type"].endswith("/invalid") and problem["detail"].startswith("line %d: " % line) and words in problem["detail"]


@pytest.mark.parametrize("format,trace", [("swim", SMALL), ("google_2011", SMALL), ("google_2019", SMALL), ("provisor", SMALL), ("pigeon", SWIM),
                                          ("provisor", SWIM), ("pigeon", json.dumps(PROVISOR[0]))])
def test_a_trace_of_another_format_is_refused_at_its_first_line(lonely, format, trace):
    assert "line 1: " in refuse(lonely, trace, format=format)["detail"]


def test_a_fault_at_the_end_of_a_long_trace_leaves_nothing(service, lonely):
    before = left_over(service)
    assert "line 301: " in refuse(lonely, pigeon(300, 1000) + b"broken\n")["detail"]
    assert left_over(service) == before


def test_a_trace_without_a_job_is_refused(lonely):
    assert "the trace is empty" in refuse(lonely, "")["detail"]
    assert "line 2: the trace ends without a job" in refuse(lonely, "\n\n")["detail"]


def test_a_damaged_stream_is_refused(lonely):
    packed = gzip.compress(pigeon(40, 25))
    assert refuse(lonely, packed[:-20], 400)["type"].endswith("/malformed")
    assert refuse(lonely, packed[:200] + bytes(60) + packed[260:], 400)["type"].endswith("/malformed")


def test_parameters_are_checked(lonely):
    lonely.refuse("POST", WORKLOADS, 422, parameter="format", data=SMALL)
    lonely.refuse("POST", WORKLOADS + "?format=csv", 422, parameter="format", data=SMALL)
    lonely.refuse("POST", WORKLOADS + "?format=runs", 422, parameter="format", data=SMALL)
    lonely.refuse("POST", WORKLOADS + "?format=pigeon&name=", 422, parameter="name", data=SMALL)
    lonely.refuse("POST", WORKLOADS + "?format=pigeon&nmae=x", 422, parameter="nmae", data=SMALL)
    lonely.refuse("POST", WORKLOADS + "?format=pigeon&map_bytes=1", 422, parameter="map_bytes", data=SMALL)
    for bad in ("0", "-1", "nan", "1e16", "x"):
        lonely.refuse("POST", WORKLOADS + "?format=swim&map_bytes_per_s=" + bad, 422, parameter="map_bytes_per_s", data=SWIM)
    lonely.refuse("GET", WORKLOADS + "?order=name", 422, parameter="order")
    assert listed(lonely) == []


def test_scopes(service, lonely):
    path = send(lonely, SMALL).headers["Location"]
    reader = service.client(service.token("scopes-of-workloads", "read"))
    writer = service.client(service.token("scopes-of-workloads", "write"))
    send(reader, SMALL, 403)
    reader.get(WORKLOADS)
    reader.delete(path, 403)
    writer.get(WORKLOADS, 403)
    send(writer, SMALL)


# --- what is cut off ---


def open_upload(service, token, length=None):
    s = socket.create_connection(("127.0.0.1", service.port), timeout=30)
    framing = "Transfer-Encoding: chunked" if length is None else "Content-Length: %d" % length
    s.sendall(("POST %s?format=pigeon HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: text/plain\r\n%s\r\n\r\n"
               % (WORKLOADS, token, framing)).encode())
    return s


def test_a_body_that_breaks_off_leaves_nothing(service, lonely):
    trace = pigeon(300, 1000)
    before = left_over(service)
    held = service.metric('provisor_resource_held{resource="spool"}')
    s = open_upload(service, lonely.token, len(trace))
    s.sendall(trace[:len(trace) * 9 // 10])
    wait_until(lambda: service.metric('provisor_resource_held{resource="spool"}') > held)
    s.close()
    wait_until(lambda: service.metric('provisor_resource_held{resource="spool"}') <= held)
    assert listed(lonely) == [] and left_over(service) == before


def test_a_process_that_is_killed_leaves_nothing(make_service, tmp_path):
    tmp_path.chmod(0o777)
    service = make_service(PROVISOR_SPOOL_DIRECTORY=tmp_path, PROVISOR_STATEMENT_TIMEOUT_MS=60000, PROVISOR_DATABASE_WAIT_MS=60000)
    token = service.token("killed")
    service.start()
    trace = pigeon(300, 1000)
    # While the body arrives,
    s = open_upload(service, token)
    for i in range(0, len(trace) // 2, 65536):
        piece = trace[i:i + 65536]
        s.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
    wait_until(lambda: service.metric('provisor_resource_held{resource="spool"}') > 0)
    service.kill()
    s.close()
    assert list(tmp_path.iterdir()) == []
    service.start()
    assert left_over(service) == (0, 0)
    # and while it is stored: the chunks are written, the row waits for a lock that somebody else holds.
    team = service.psql("SELECT team_id FROM provisor.team WHERE name = 'killed'").strip()
    lock = "SELECT pg_advisory_lock(hashtextextended('provisor.workload %s', 0)), pg_sleep(600)" % team
    holder = threading.Thread(target=lambda: hold(service, lock), daemon=True)
    holder.start()
    held = ("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND %s"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
    wait_until(lambda: int(service.psql(held % "granted AND mode = 'ExclusiveLock' AND objsubid = 1")) > 0)
    client = service.client(token)
    sender = threading.Thread(target=lambda: send_and_lose(client, trace), daemon=True)
    sender.start()
    wait_until(lambda: int(service.psql(held % "NOT granted")) > 0)
    service.kill()
    service.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
                 " AND query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()")
    holder.join(PATIENCE)
    sender.join(PATIENCE)
    service.start()
    wait_until(lambda: int(service.psql(held % "true")) == 0)
    assert left_over(service) == (0, 0)
    assert send(service.client(token), trace).json()["jobs"] == 300


def hold(service, statement):
    try:
        service.psql(statement)
    except RuntimeError:
        pass  # it is terminated


def send_and_lose(client, trace):
    try:
        send(client, trace, None)
    except OSError:
        pass  # the service dies


# --- limits ---


@pytest.fixture(scope="module")
def narrow(make_service):
    service = make_service(PROVISOR_WORKLOADS_MAX=2, PROVISOR_WORKLOAD_BYTES_MAX=60000, PROVISOR_WORKLOAD_TRACE_BYTES_MAX=400000, PROVISOR_WORKLOAD_JOBS_MAX=50,
                           PROVISOR_WORKLOAD_TASKS_MAX=20000, PROVISOR_WORKLOAD_JOB_TASKS_MAX=15000, PROVISOR_WORKLOAD_LINE_BYTES_MAX=200000,
                           PROVISOR_WORKLOAD_OPEN_TASKS_MAX=2)
    service.operator_token = service.token("operators")
    service.start()
    return service


@pytest.fixture
def bounded(narrow):
    return narrow.client(narrow.token("bounded-" + uuid.uuid4().hex[:8]))


def equal(jobs, tasks):
    """Durations that take next to no room."""
    return "".join("%d %d 1 %s\n" % (i, tasks, " ".join(["1"] * tasks)) for i in range(jobs))


def test_jobs_and_tasks_are_bounded(bounded):
    send(bounded, equal(50, 1))
    assert "50 jobs (workload_jobs_max)" in refuse(bounded, equal(51, 1))["detail"]
    send(bounded, equal(2, 10000))
    bounded.delete(WORKLOADS + "/" + listed(bounded)[0])
    assert "20000 tasks (workload_tasks_max)" in refuse(bounded, equal(2, 10000) + "3 1 1 1\n")["detail"]
    assert "15000 tasks (workload_job_tasks_max)" in refuse(bounded, equal(1, 15001))["detail"]


def test_lines_and_bodies_are_bounded(bounded):
    assert "(workload_line_bytes_max)" in refuse(bounded, "0 1 1 1" + " " * 200000 + "\n")["detail"]
    blank = "0 1 1 1\n" + "\n" * 400000
    assert "workload_trace_bytes_max" in refuse(bounded, blank, 413)["detail"]
    assert "workload_trace_bytes_max" in refuse(bounded, gzip.compress(blank.encode()), 413)["detail"]
    assert "workload_trace_bytes_max" in refuse(bounded, iter([blank.encode()]), 413)["detail"]


def test_tasks_that_are_open_at_a_time_are_bounded(bounded):
    rows = ["%d,,7,%d,1,%d,u,0,0,,,,\n" % (at, i, kind) for kind, at in ((0, 0), (1, 1000000)) for i in range(30)]
    assert "more than 2 tasks (workload_open_tasks_max)" in refuse(bounded, "".join(rows), format="google_2011")["detail"]


def test_how_many_workloads_a_team_has_is_bounded(bounded):
    paths = [send(bounded, SMALL).headers["Location"] for _ in range(2)]
    assert "workloads_max" in refuse(bounded, SMALL)["detail"]
    key = {"Idempotency-Key": '"%s"' % uuid.uuid4()}
    assert "workloads_max" in refuse(bounded, SMALL, headers=key)["detail"], "also where only the end can decide"
    bounded.delete(paths[0])
    send(bounded, SMALL)


def test_what_the_workloads_of_a_team_take_is_bounded(bounded):
    made = send(bounded, pigeon(10, 1000)).json()
    assert 30000 < made["stored_bytes"] <= 60000
    problem = refuse(bounded, pigeon(10, 1000))
    assert problem["type"].endswith("/limit_exceeded") and "workload_bytes_max" in problem["detail"]
    bounded.delete(WORKLOADS + "/" + made["id"])
    send(bounded, pigeon(10, 1000))


def test_workloads_count_among_the_bytes_of_a_team(narrow):
    operator = narrow.client(narrow.operator_token)
    team = "quota-" + uuid.uuid4().hex[:8]
    client = narrow.client(narrow.token(team))
    made = send(client, pigeon(10, 1000)).json()

    def used(name="bytes"):
        return next(q["used"] for q in client.get("/v1/usage").json()["quotas"] if q["name"] == name)

    assert (used("workloads"), used("workload_bytes")) == (1, made["stored_bytes"]) and used() >= made["stored_bytes"]
    operator.put("/v1/teams/%s/quotas" % team, {"bytes_max": used()}, 200)
    assert refuse(client, SMALL)["type"].endswith("/storage_quota_exceeded")
    client.delete(WORKLOADS + "/" + made["id"])
    assert used() < made["stored_bytes"]
    send(client, SMALL)


def test_two_that_are_stored_at_once_keep_to_the_bound(bounded):
    trace, outcomes = pigeon(10, 1000), []
    # Fewer than imports_max: the place of the last one before may not be free yet.
    clients = [bounded.service.client(bounded.token) for _ in range(3)]
    threads = [threading.Thread(target=lambda c=c: outcomes.append(send(c, trace, (201, 422)).status_code)) for c in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [201, 422, 422]


# --- lists and ends ---


def test_pages_are_in_the_order_in_which_they_were_stored(lonely):
    made = [send(lonely, SMALL, name="w%d" % i).json()["id"] for i in range(5)]
    seen, cursor = [], ""
    while cursor is not None:
        page = lonely.get(WORKLOADS + "?limit=2" + ("&cursor=" + cursor if cursor else "")).json()
        seen += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]
    assert seen == made


def test_what_is_deleted_is_gone(service, lonely):
    before = left_over(service)
    path = send(lonely, SMALL).headers["Location"]
    assert left_over(service) == (before[0] + 1, before[1] + 1)
    lonely.delete(path)
    assert left_over(service) == before
    lonely.get(path, 404)
    lonely.delete(path, 404)
    assert lonely.get("/v1/audit").json()["items"][0]["action"] == "workload.delete"
    for other in ("nonsense", str(uuid.uuid4())):
        lonely.get(WORKLOADS + "/" + other, 404)


def test_other_teams_see_nothing(lonely, stranger):
    path = send(lonely, SMALL).headers["Location"]
    stranger.get(path, 404)
    stranger.delete(path, 404)
    assert path.rsplit("/", 1)[1] not in listed(stranger)
    lonely.get(path)
