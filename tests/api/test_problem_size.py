"""The problem size of a run: any number above 0, kept and used exactly, measured from logs, corrected by hand."""
import json

import pytest

from test_eventlogs import tiny_log, upload

SIZES = (0.25, 0.5, 1.75)


def runs_of(name):
    return "/v1/applications/%s/runs" % name


def seconds(size, executors):
    return 4 + 40 * size / executors


def beyond_sizes(advice):
    return [w for w in advice["warnings"] if w["code"] == "extrapolation" and "most_problem_size" in w["evidence"]]


def store(client, name, size, executors, **more):
    tasks = max(1, round(8 * size))
    run = {"problem_size": size, "executors": executors, "cores_per_executor": 1, "initialization_s": 2,
           "duration_s": seconds(size, executors),
           "stages": [{"id": 0, "started_s": 2, "task_durations_s": [40 * size / tasks] * tasks}], **more}
    return client.post(runs_of(name), run, 201).json()


def test_fractions_are_kept_and_the_nearest_run_is_found(client, name):
    for size in SIZES:
        assert store(client, name, size, 2)["problem_size"] == size
    assert sorted(run["problem_size"] for run in client.get(runs_of(name)).json()["items"]) == list(SIZES)
    plans = [client.post("/v1/stage-plans", {"application": name, "problem_size": size, "deadline_s": 90, "executors": 4,
                                             "cores_per_executor": 1}, 200).json() for size in (0.3, 0.45, 100)]
    assert [plan["stages"][0]["weight"] for plan in plans] == [1, 1, 1]
    assert len({plan["run_id"] for plan in plans}) == 3


def test_runs_of_programs_that_knew_whole_sizes_alone_are_found_too(client, service, name):
    ids = {size: store(client, name, size, 2)["id"] for size in (10, 20, 30, 19.25)}
    service.psql("UPDATE provisor.run SET exact_problem_size = NULL, problem_size_given = NULL WHERE id IN ('%s', '%s')" % (ids[10], ids[20]))
    for size, nearest in ((1, 10), (14.5, 10), (19.5, 19.25), (19.9, 20), (20, 20), (24.5, 20), (26, 30)):
        plan = client.post("/v1/stage-plans", {"application": name, "problem_size": size, "deadline_s": 9999, "executors": 4,
                                               "cores_per_executor": 1}, 200).json()
        assert plan["run_id"] == ids[nearest], size
    assert sorted(run["problem_size"] for run in client.get(runs_of(name)).json()["items"]) == [10, 19.25, 20, 30]


def test_fractions_reach_models_predictions_and_advice(client, name):
    for size in SIZES:
        for executors in (1, 2, 4):
            store(client, name, size, executors, stages=None)
    observed = client.get("/v1/applications/%s/models" % name).json()["history"]
    assert observed["problem_sizes"] == list(SIZES)
    surface = client.get("/v1/applications/%s/speedup?problem_sizes=0.25,1.5&executors=1,4" % name).json()["surface"]
    assert [row["problem_size"] for row in surface] == [0.25, 1.5]
    assert surface[1]["points"][0]["duration_s"] == pytest.approx(seconds(1.5, 1), rel=0.1)
    advice = client.post("/v1/advice", {"application": name, "problem_size": 1.5, "deadline_s": 30, "confidence": 0.5}, 201).json()
    assert advice["problem_size"] == 1.5 and advice["verdict"] == "met"
    assert advice["recommendation"]["predicted_duration_s"] == pytest.approx(
        seconds(1.5, advice["recommendation"]["executors"]), rel=0.15)
    next_ones = client.get("/v1/applications/%s/next-experiments?problem_size=0.75&max_executors=4" % name).json()
    assert next_ones["asked"]["problem_size"] == 0.75 and 0.75 in next_ones["allowed"]["problem_sizes"]


def test_sizes_that_are_almost_equal_are_no_extrapolation(client, name):
    for size in (64.1, 64.3, 63.9):
        store(client, name, size, 4)
    advice = client.post("/v1/advice", {"application": name, "problem_size": 64.5, "deadline_s": 9999}, 201).json()
    assert not beyond_sizes(advice)
    advice = client.post("/v1/advice", {"application": name, "problem_size": 70, "deadline_s": 9999}, 201).json()
    assert beyond_sizes(advice)


@pytest.mark.parametrize("size", (0, -1, 2e12, 1e-10, "8", True))
def test_what_is_no_size_is_refused(client, name, size):
    run = {"problem_size": size, "executors": 1, "cores_per_executor": 1, "duration_s": 1}
    problem = client.post(runs_of(name), run, 422).json()
    assert problem["errors"][0]["pointer"] == "/problem_size"


@pytest.mark.parametrize("query", ("problem_sizes=0", "problem_sizes=1,x", "problem_sizes=0.5,0.50", "problem_sizes=1e13", "problem_sizes=1e-300",
                                   "problem_sizes=1,", "problem_sizes=0x10"))
def test_lists_of_sizes_are_checked(client, name, query):
    for executors in (1, 2, 4):
        store(client, name, 2, executors)
    problem = client.get("/v1/applications/%s/speedup?%s" % (name, query), 422).json()
    assert problem["errors"][0]["parameter"] == "problem_sizes"


# --- measured


BLOCK = 2 ** 27


def log_of(app, input_bytes=None, records=1000, properties=None, times=(1, 3)):
    lines = []
    for line in tiny_log(app, properties=properties, times=times).decode().splitlines():
        event = json.loads(line)
        if event["Event"] == "SparkListenerTaskEnd" and input_bytes is not None:
            event["Task Metrics"] = {"Input Metrics": {"Bytes Read": input_bytes // len(times), "Records Read": records}}
        lines.append(json.dumps(event))
    return ("\n".join(lines) + "\n").encode()


def sizes_of(client, name):
    return {run["spark_application_id"]: run["problem_size"] for run in client.get(runs_of(name)).json()["items"]}


def measure(client, name, kind, key=None, status=200):
    return client.request("PATCH", "/v1/applications/" + name, status, json={"problem_size_measure": {"kind": kind, "key": key}}).json()


def test_logs_are_measured_in_blocks_of_input(client, name):
    run = upload(client, name, log_of("app-1", BLOCK // 4)).json()
    assert run["problem_size"] == 0.25 and run["problem_size_given"] is False
    assert upload(client, name, log_of("app-2")).json()["problem_size"] == 2  # no input: tasks of the first parallel stage
    given = upload(client, name, log_of("app-3", BLOCK), query="?problem_size=3.5").json()
    assert given["problem_size"] == 3.5 and given["problem_size_given"] is True
    measured = client.get("/v1/applications/" + name).json()["problem_size_measure"]
    assert measured == {"kind": "input_blocks", "key": None}


def version_of(service, name):
    return int(service.psql("SELECT history_version FROM provisor.application WHERE name = '%s'" % name))


def test_another_measure_applies_to_all_runs_that_were_measured(client, service, name):
    kept = {"spark.sql.shuffle.partitions": "300"}
    upload(client, name, log_of("app-1", 2 * BLOCK, properties=kept), query="?label=rows:1e6")
    upload(client, name, log_of("app-2", BLOCK, records=70))
    upload(client, name, log_of("app-3", BLOCK), query="?problem_size=9")
    client.post(runs_of(name), {"problem_size": 5, "executors": 1, "cores_per_executor": 1, "duration_s": 10}, 201)
    version = version_of(service, name)
    fixed = {"app-3": 9, None: 5}
    for kind, key, first, second in (("input_records", None, 2000, 140), ("first_parallel_stage", None, 2, 2), ("label", "rows", 1e6, None),
                                     ("spark_property", "spark.sql.shuffle.partitions", 300, None), ("first_stage", None, 2, 2),
                                     ("input_blocks", None, 2, 1)):
        assert measure(client, name, kind, key)["problem_size_measure"] == {"kind": kind, "key": key}
        assert sizes_of(client, name) == dict(fixed, **{"app-1": first, "app-2": second}), kind
    assert version_of(service, name) == version + 6  # once for each change
    measure(client, name, "label", "rows")
    assert upload(client, name, log_of("app-4", BLOCK), query="?label=rows:31").json()["problem_size"] == 31
    for i, rows in enumerate(("1e300", "1e13", "1e-300", "0", "-3", "many")):
        assert upload(client, name, log_of("app-x%d" % i, BLOCK), query="?label=rows:" + rows).json()["problem_size"] is None, rows


@pytest.mark.parametrize("size", ("0", "1e-300", "1e13", "x", ""))
def test_sizes_sent_with_a_log_are_checked(client, name, size):
    problem = upload(client, name, log_of("app-1", BLOCK), 422, query="?problem_size=" + size).json()
    assert problem["errors"][0]["parameter"] == "problem_size"


@pytest.mark.parametrize("body, pointer", (
    ({"kind": "bytes"}, "/problem_size_measure/kind"), ({}, "/problem_size_measure/kind"),
    ({"kind": "label"}, "/problem_size_measure/key"), ({"kind": "spark_property", "key": None}, "/problem_size_measure/key"),
    ({"kind": "input_blocks", "key": "rows"}, "/problem_size_measure/key"), ({"kind": "label", "key": ""}, "/problem_size_measure/key"),
    ({"kind": "spark_property", "key": "spark.hadoop.rows"}, "/problem_size_measure/key"),
    ({"kind": "label", "key": "x", "unit": "rows"}, "/problem_size_measure/unit")))
def test_measures_are_checked(client, name, body, pointer):
    sent = {"name": name, "problem_size_measure": body}
    problem = client.post("/v1/applications", sent, 422).json()
    assert pointer in [e["pointer"] for e in problem["errors"]]


def test_many_runs_are_measured_again(client, name):
    lines = [json.dumps({"duration_s": 10, "executors": 1, "problem_size": 2, "problem_size_given": False, "input_bytes": BLOCK * (i + 1),
                         "spark_application_id": "app-%d" % i, "stages": [{"id": 0, "tasks": 2, "task_duration_s": 1}]}) for i in range(450)]
    client.request("POST", runs_of(name) + "/import", 201, data="\n".join(lines).encode(), headers={"Content-Type": "application/x-ndjson"})
    measure(client, name, "first_parallel_stage")
    measure(client, name, "input_blocks")
    found, cursor = {}, ""
    while cursor is not None:
        page = client.get(runs_of(name) + "?limit=200" + cursor).json()
        found.update({run["spark_application_id"]: run["problem_size"] for run in page["items"]})
        cursor = page["next_cursor"] and "&cursor=" + page["next_cursor"]
    assert found == {"app-%d" % i: i + 1 for i in range(450)}


# --- corrected


def correct(client, name, run, body, status=200):
    return client.request("PATCH", runs_of(name) + "/" + run["id"], status, json=body).json()


def test_a_known_log_with_another_size_corrects_its_run(client, name):
    first = upload(client, name, log_of("app-1", BLOCK)).json()
    again = upload(client, name, log_of("app-1", BLOCK), 200, query="?problem_size=14&cores_per_executor=3").json()
    assert again["id"] == first["id"]
    assert (again["problem_size"], again["problem_size_given"], again["cores_per_executor"]) == (14, True, 3)
    assert client.get("/v1/runs/" + first["id"]).json() == again
    assert upload(client, name, log_of("app-1", BLOCK), 200).json() == again
    measured = upload(client, name, log_of("app-2", BLOCK)).json()
    same = upload(client, name, log_of("app-2", BLOCK), 200, query="?problem_size=1").json()
    assert (measured["problem_size"], measured["problem_size_given"], same["problem_size"], same["problem_size_given"]) == (1, False, 1, True)


def test_a_run_is_corrected_as_a_whole(client, name):
    run = upload(client, name, log_of("app-1", BLOCK), query="?label=branch:main").json()
    before = client.get(runs_of(name) + "/%s?include=tasks" % run["id"]).json()
    now = correct(client, name, run, {"problem_size": 7.25, "executors": 3, "labels": {"branch": "dev"}, "succeeded": False})
    assert (now["problem_size"], now["problem_size_given"], now["executors"], now["labels"], now["succeeded"]) == (
        7.25, True, 3, {"branch": "dev"}, False)
    after = client.get(runs_of(name) + "/%s?include=tasks" % run["id"]).json()
    changed = {k for k in before if before[k] != after[k]}
    assert changed == {"problem_size", "problem_size_given", "problem_size_measured_by", "executors", "labels", "succeeded"}
    assert [r["id"] for r in client.get(runs_of(name) + "?label=branch:dev").json()["items"]] == [run["id"]]
    assert client.get(runs_of(name) + "?label=branch:main").json()["items"] == []
    assert correct(client, name, run, {"problem_size": None})["problem_size"] == 1
    audit = client.get("/v1/audit?limit=50").json()["items"]
    assert [a["action"] for a in audit if run["id"] in a["subject"]] == ["run.update", "run.update", "run.insert"]
    assert upload(client, name, log_of("app-1", BLOCK), 200).json()["id"] == run["id"]  # its log is still known


def test_a_run_is_moved_to_another_application(client, name):
    other = name + "-other"
    client.post("/v1/applications", {"name": other, "problem_size_measure": {"kind": "input_records"}}, 201)
    run = upload(client, name, log_of("app-1", BLOCK, records=50)).json()
    now = correct(client, name, run, {"application": other})
    assert now["application"] == other and now["problem_size"] == 100
    assert client.get(runs_of(name)).json()["items"] == [] and client.get("/v1/applications/" + name).json()["runs"] == 0
    assert client.get("/v1/applications/" + other).json()["runs"] == 1
    assert client.get(runs_of(other) + "/" + run["id"]).json() == now
    again = upload(client, name, log_of("app-1", BLOCK, records=50)).json()
    correct(client, name, again, {"application": other}, 409)  # it has that log
    problem = correct(client, name, again, {"application": name + "-none"}, 422)
    assert problem["errors"][0]["pointer"] == "/application"
    assert client.get(runs_of(name)).json()["items"][0]["id"] == again["id"]


@pytest.mark.parametrize("body, pointer", (
    ({}, ""), ({"problem_size": 0}, "/problem_size"), ({"duration_s": 3}, "/duration_s"), ({"succeeded": None}, "/succeeded"),
    ({"labels": {"a": 1}}, "/labels/a"), ({"application": ""}, "/application"), ({"executors": 0}, "/executors")))
def test_corrections_are_checked(client, name, body, pointer):
    run = upload(client, name, log_of("app-1", BLOCK)).json()
    problem = correct(client, name, run, body, 422)
    assert problem["errors"][0]["pointer"] == pointer
    assert client.get("/v1/runs/" + run["id"]).json() == run


def test_only_runs_that_are_there_are_corrected(client, stranger, name):
    run = upload(client, name, log_of("app-1", BLOCK)).json()
    stranger.request("PATCH", runs_of(name) + "/" + run["id"], 404, json={"problem_size": 1})
    for id in ("nonsense", "01890000-0000-7000-8000-000000000000"):
        client.request("PATCH", runs_of(name) + "/" + id, 404, json={"problem_size": 1})


# --- listed


def test_runs_are_listed_by_success(client, name):
    for i in range(6):
        store(client, name, 1, 1, succeeded=i % 2 == 0, labels={"third": str(i % 3), "x": "y", "z": "w"})
    for query, wanted in (("", 6), ("succeeded=true", 3), ("succeeded=false", 3), ("succeeded=False&label=x:y", 3),
                          ("succeeded=1&label=third:1", 1), ("succeeded=true&label=x:y&label=z:w&label=third:0", 1)):
        items = client.get(runs_of(name) + "?" + query).json()["items"]
        assert len(items) == wanted, query
        assert not query or all(r["succeeded"] is ("succeeded=true" in query or "succeeded=1" in query) for r in items)
    page = client.get(runs_of(name) + "?succeeded=true&limit=2").json()
    rest = client.get(runs_of(name) + "?succeeded=true&limit=2&cursor=" + page["next_cursor"]).json()
    assert (len(page["items"]), len(rest["items"]), rest["next_cursor"]) == (2, 1, None)
    problem = client.get(runs_of(name) + "?succeeded=maybe", 422).json()
    assert problem["errors"][0]["parameter"] == "succeeded"


# --- measures that do not compare ---

def test_a_run_says_by_what_it_was_measured(client, name):
    for app, bytes_read, query, size, measured in (
            ("app-1", BLOCK // 4, "", 0.25, "input_blocks"), ("app-2", None, "", 2, "first_parallel_stage"),
            ("app-3", 2048, "", 2, "first_parallel_stage"), ("app-4", 2 ** 20, "", 2 ** 20 / BLOCK, "input_blocks"),
            ("app-5", 2 ** 20 - 2, "", 2, "first_parallel_stage"), ("app-6", BLOCK, "?problem_size=9", 9, None)):
        run = upload(client, name, log_of(app, bytes_read), query=query).json()
        assert (run["problem_size"], run["problem_size_measured_by"]) == (size, measured), app
    last = client.get("/v1/applications/%s?include=last_run" % name).json()["last_run"]
    assert last["problem_size_measured_by"] == client.get("/v1/runs/" + last["id"]).json()["problem_size_measured_by"]
    measure(client, name, "input_records")
    measured = {run["spark_application_id"]: run["problem_size_measured_by"] for run in client.get(runs_of(name)).json()["items"]}
    assert measured == {"app-1": "input_records", "app-2": None, "app-3": "input_records", "app-4": "input_records", "app-5": "input_records",
                        "app-6": None}
    measure(client, name, "input_blocks")
    assert client.get(runs_of(name) + "?limit=10").json()["items"][0]["problem_size_measured_by"] in ("input_blocks", "first_parallel_stage", None)


def test_runs_measured_in_tasks_are_not_fitted_with_those_in_bytes(client, name):
    """Six nights read blocks, two found almost nothing to read."""
    for i in range(6):
        upload(client, name, log_of("app-%d" % i, BLOCK * (i + 1)))
    before = client.post("/v1/advice", {"application": name, "problem_size": 4, "deadline_s": 3600}, 201).json()
    assert before["problem_size_measured_by"] == "input_blocks"
    assert "problem_sizes_differ" not in [w["code"] for w in before["warnings"]]
    seen = client.get("/v1/applications/%s/models" % name).json()
    for i in range(2):
        upload(client, name, log_of("tiny-%d" % i, 2048))
    after = client.post("/v1/advice", {"application": name, "problem_size": 4, "deadline_s": 3600}, 201).json()
    warning = next(w for w in after["warnings"] if w["code"] == "problem_sizes_differ")
    assert warning["evidence"] == {"runs": 2, "problem_size_measured_by": "input_blocks"}
    assert after["recommendation"] == before["recommendation"]
    assert client.get("/v1/applications/%s/models" % name).json()["history"]["problem_sizes"] == seen["history"]["problem_sizes"]
    measure(client, name, "first_parallel_stage")  # the cure
    cured = client.post("/v1/advice", {"application": name, "deadline_s": 3600}, 201).json()
    assert cured["problem_size_measured_by"] == "first_parallel_stage" and cured["problem_size"] == 2
    assert "problem_sizes_differ" not in [w["code"] for w in cured["warnings"]]


def test_the_measure_is_exported_and_imported(client, name):
    upload(client, name, log_of("app-1", BLOCK))
    upload(client, name, log_of("app-2"))
    lines = client.get(runs_of(name) + "/export").text
    assert sorted(json.loads(line)["problem_size_measured_by"] for line in lines.splitlines()) == ["first_parallel_stage", "input_blocks"]
    bad = json.dumps(dict(json.loads(lines.splitlines()[0]), problem_size_measured_by="bytes"))
    problem = client.request("POST", runs_of(name) + "/import", 422, data=bad.encode(), headers={"Content-Type": "application/x-ndjson"}).json()
    assert problem["errors"][0]["pointer"].endswith("/problem_size_measured_by")


def test_runs_from_before_the_measure_was_kept(client, name, service):
    """Their measure is unknown, unless the size is that of the bytes that they read."""
    ids = [upload(client, name, log_of("app-%d" % i, bytes_read)).json()["id"] for i, bytes_read in enumerate((BLOCK, 2048, None))]
    service.psql("UPDATE provisor.run SET problem_size_measure = NULL WHERE id IN ('%s', '%s', '%s')" % tuple(ids))
    service.psql("UPDATE provisor.run SET exact_problem_size = 2048.0 / 134217728 WHERE id = '%s'" % ids[1])
    runs = [client.get("/v1/runs/" + id).json() for id in ids]
    assert [run["problem_size_measured_by"] for run in runs] == ["input_blocks", "input_blocks", None]
    measure(client, name, "first_parallel_stage")
    measure(client, name, "input_blocks")
    runs = [client.get("/v1/runs/" + id).json() for id in ids]
    assert [(run["problem_size"], run["problem_size_measured_by"]) for run in runs] == [
        (1, "input_blocks"), (2, "first_parallel_stage"), (2, "first_parallel_stage")]
