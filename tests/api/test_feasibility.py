"""POST /v1/feasibility: jobs in the request and jobs from history, schedule, remedies, faults, limits."""
import json

import pytest

CLUSTER = {"executors": 1, "cores_per_executor": 2}


def job(name, deadline, *stages, **more):
    return dict({"name": name, "deadline_s": deadline, "stages": list(stages)}, **more)


def stage(number, *durations, parents=()):
    return {"id": number, "parents": list(parents), "task_durations_s": list(durations)}


def ask(client, *jobs, cluster=CLUSTER, **more):
    return client.post("/v1/feasibility", dict({"cluster": cluster, "jobs": list(jobs)}, **more), 200).json()


def store_run(client, name, **changes):
    """16 tasks of 10 s on 2 x 4 cores in 26 s: (26 - 160/8)/(16/8) = 3 s of overhead a task."""
    run = {"problem_size": 16, "executors": 2, "cores_per_executor": 4, "duration_s": 26, "succeeded": True,
           "stages": [{"id": 0, "parents": [], "task_durations_s": [10] * 8, "duration_s": 10},
                      {"id": 1, "parents": [0], "skipped": True},
                      {"id": 2, "parents": [1], "tasks": 8, "task_duration_s": 10, "duration_s": 10}]}
    run.update(changes)
    return client.post("/v1/applications/%s/runs" % name, run, 201).json()


def test_the_schedule_is_there_when_asked_for(client):
    jobs = job("A", 10, stage(0, 4, 3, 2), stage(1, 1, parents=[0])),
    answer = ask(client, *jobs, include=["schedule"])
    assert answer["feasible"] and "remedies" not in answer
    assert [(r["stage"], r["task"], r["core"], r["start_s"], r["end_s"]) for r in answer["schedule"]] == [
        (0, 0, 0, 0, 4), (0, 1, 1, 0, 3), (0, 2, 1, 3, 5), (1, 0, 0, 5, 6)]
    assert "schedule" not in ask(client, *jobs)


def test_remedies_make_it_feasible(client):
    jobs = [job("A", 4, stage(0, 3)), job("B", 5, stage(0, 5)), job("C", 7, stage(0, 2))]
    one = {"executors": 1, "cores_per_executor": 1}
    answer = ask(client, *jobs, cluster=one)
    assert not answer["feasible"]
    assert answer["remedies"] == {"min_total_cores": 2, "deadlines_s": {"B": 8, "C": 10}}
    assert ask(client, *jobs, cluster={"executors": 2, "cores_per_executor": 1})["feasible"]
    for j in jobs:
        j["deadline_s"] = answer["remedies"]["deadlines_s"].get(j["name"], j["deadline_s"])
    assert ask(client, *jobs, cluster=one)["feasible"]


EIGHT = {"executors": 2, "cores_per_executor": 4}


def test_a_job_from_history_takes_tasks_and_overhead_from_the_nearest_run(client, name):
    run = store_run(client, name)
    recorded = {"name": "J", "application": name, "problem_size": 16, "release_s": 5, "deadline_s": 60}
    answer = ask(client, recorded, cluster=EIGHT, include=["schedule"])
    job_ = answer["jobs"][0]
    assert job_["execution_s"] == pytest.approx(26), "two rounds of 10 + 3 s: as long as the run took"
    assert (job_["overhead"], job_["run_id"], job_["fixed_s"]) == ("replay", run["id"], 0)
    assert job_["overhead_per_task_s"] == pytest.approx(3) and "warnings" not in answer
    assert {r["stage"] for r in answer["schedule"]} == {0, 2}, "the skipped stage has no tasks"
    plain = ask(client, dict(recorded, overhead_per_task_s=0), cluster=EIGHT)["jobs"][0]
    assert plain["execution_s"] == pytest.approx(20) and (plain["overhead"], plain["overhead_per_task_s"]) == ("given", 0)
    twice = ask(client, recorded, dict(recorded, name="K", deadline_s=70), job("L", 500, stage(0, 1)), cluster=EIGHT)
    assert [j["execution_s"] for j in twice["jobs"][:2]] == pytest.approx([26, 52]), "one after the other, on all cores"
    assert "overhead" not in twice["jobs"][2] and "run_id" not in twice["jobs"][2]


def store_started_run(client, name, executors=2, **changes):
    """6 s of start-up, 12 tasks of 4 s, 3 s of the driver, 4 tasks of 5 s, 2 s of the driver; on 8 cores 8 s + 5 s of tasks."""
    cores = 4 * executors
    first, second = 4 * -(-12 // cores), 5 * -(-4 // cores)
    run = {"executors": executors, "duration_s": 11 + first + second, "initialization_s": 6, "stages": [
        {"id": 0, "parents": [], "task_durations_s": [4] * 12, "started_s": 6, "duration_s": first},
        {"id": 1, "parents": [0], "task_durations_s": [5] * 4, "started_s": 9 + first, "duration_s": second}]}
    return store_run(client, name, **dict(run, **changes))


def test_start_up_and_driver_are_fixed_parts_of_a_job(client, name):
    """They take time and no core: another job runs meanwhile, and no number of cores shortens them."""
    run = store_started_run(client, name)
    recorded = {"name": "J", "application": name, "problem_size": 16, "deadline_s": 60}
    alone = ask(client, recorded, cluster=EIGHT, include=["schedule"])
    assert run["duration_s"] == 24 and alone["jobs"][0]["execution_s"] == pytest.approx(24)
    assert alone["jobs"][0]["fixed_s"] == pytest.approx(11) and alone["jobs"][0]["overhead_per_task_s"] == pytest.approx(0, abs=1e-6)
    assert min(r["start_s"] for r in alone["schedule"]) == pytest.approx(6)
    assert {round(r["start_s"], 6) for r in alone["schedule"] if r["stage"] == 1} == {17}
    other = ask(client, recorded, job("L", 500, stage(0, *[6] * 8)), cluster=EIGHT)
    assert [j["execution_s"] for j in other["jobs"]] == pytest.approx([24, 6])
    hopeless = ask(client, dict(recorded, deadline_s=19), cluster=EIGHT, include=["delayed_by"])
    assert "no_cores_suffice" in [r["code"] for r in hopeless["reasons"]], "11 + 4 + 5 s with a core for every task"
    assert next(r["message"] for r in hopeless["reasons"] if r["code"] == "no_cores_suffice") == (
        "No number of cores meets every deadline: the stages of J, one after another, take 20 s with its start-up and its driver's "
        "time, and its deadline is 19 s.")
    assert hopeless["jobs"][0]["critical_path_s"] == pytest.approx(20)
    enough = ask(client, dict(recorded, deadline_s=21), cluster=EIGHT)
    assert enough["remedies"]["min_total_cores"] == 12 and enough["remedies"]["deadlines_s"]["J"] == pytest.approx(24)


def test_the_run_nearest_in_cores_is_taken(client, name):
    """However many newer runs of the same size ran on others."""
    near = store_started_run(client, name)
    for _ in range(7):
        store_started_run(client, name, executors=16)
    answer = ask(client, {"name": "J", "application": name, "problem_size": 16, "deadline_s": 60}, cluster=EIGHT)
    assert answer["jobs"][0]["run_id"] == near["id"]
    answer = ask(client, {"name": "J", "application": name, "deadline_s": 60}, cluster=EIGHT)
    assert answer["jobs"][0]["run_id"] == near["id"], "also of the latest run's size"


def test_a_record_of_no_executors_or_no_size_is_passed_over(client, name):
    """An import may hold such records: they are no configuration that the distance is defined for."""
    run = store_run(client, name)
    stages = [{"id": 0, "parents": [], "task_durations_s": [10] * 8, "duration_s": 10}]
    odd = [{"problem_size": 16, "executors": 0, "cores_per_executor": 4}, {"problem_size": 0, "executors": 2, "cores_per_executor": 4},
           {"problem_size": 16, "executors": 2, "cores_per_executor": 0}]
    lines = [json.dumps(dict(record, duration_s=20, succeeded=True, stages=stages)) for record in odd]
    client.request("POST", "/v1/applications/%s/runs/import" % name, 201, data="\n".join(lines), headers={"Content-Type": "application/x-ndjson"})
    answer = ask(client, {"name": "J", "application": name, "problem_size": 16, "deadline_s": 60}, cluster=EIGHT)
    assert answer["jobs"][0]["run_id"] == run["id"] and answer["jobs"][0]["execution_s"] == pytest.approx(26, rel=0.1)


def test_a_job_that_a_size_makes_too_large_is_refused(client, name):
    """As many tasks as the problem size says: no replay of them is begun."""
    store_run(client, name, problem_size=21, duration_s=40, stages=[{"id": 0, "parents": [], "tasks": 21, "task_duration_s": 10, "duration_s": 30}])
    asked = {"cluster": EIGHT, "jobs": [{"name": "J", "application": name, "problem_size": 1e12, "deadline_s": 60}]}
    fault = client.post("/v1/feasibility", asked, 422).json()["errors"][0]
    assert (fault["pointer"], fault["code"]) == ("/jobs/0/application", "no_history") and "tasks" in fault["detail"]


def test_the_overhead_of_idle_time_on_request(client, name):
    """(24 - 68/8)/(16/8) = 7.75 s a task: two rounds of 11.75 s and one of 12.75 s."""
    store_started_run(client, name)
    recorded = {"name": "J", "application": name, "problem_size": 16, "deadline_s": 60, "overhead": "idle_time"}
    found = ask(client, recorded, cluster=EIGHT)["jobs"][0]
    assert (found["overhead"], found["fixed_s"]) == ("idle_time", 0)
    assert found["overhead_per_task_s"] == pytest.approx(7.75) and found["execution_s"] == pytest.approx(36.25)
    both = ask(client, recorded, dict(recorded, name="K", overhead="replay", deadline_s=300), cluster=EIGHT)["jobs"]
    assert [j["overhead"] for j in both] == ["idle_time", "replay"]
    for wrong in (dict(recorded, overhead_per_task_s=1), dict(job("J", 9, stage(0, 1)), overhead="replay"), dict(recorded, overhead="none")):
        client.refuse("POST", "/v1/feasibility", 422, pointer="/jobs/0/overhead", json={"cluster": EIGHT, "jobs": [wrong]})


def test_an_application_without_stages_is_a_block_of_its_predicted_duration(client, name):
    """Times of Amdahl's law, as runs without stages: advice predicts, and the whole cluster is taken for that long."""
    for executors in (1, 2, 4, 8, 16):
        run = {"problem_size": 40, "executors": executors, "cores_per_executor": 4, "duration_s": 20 + 400 / executors}
        client.post("/v1/applications/%s/runs" % name, run, 201)
    limits = {"min_executors": 4, "max_executors": 4, "cores_per_executor": 4}
    advised = client.post("/v1/advice", {"application": name, "problem_size": 40, "constraints": limits}, 201).json()
    predicted_s = advised["recommendation"]["predicted_duration_s"]
    block = {"name": "J", "application": name, "problem_size": 40, "deadline_s": 300}
    answer = ask(client, block, job("L", 500, stage(0, *[3] * 16)), cluster={"executors": 4, "cores_per_executor": 4})
    assert [j["execution_s"] for j in answer["jobs"]] == pytest.approx([predicted_s, predicted_s + 3], rel=1e-5)
    assert answer["jobs"][0]["overhead"] == "none" and "run_id" not in answer["jobs"][0]
    warning, = answer["warnings"]
    assert (warning["code"], warning["evidence"]["count"], warning["evidence"]["executors"]) == ("jobs_without_stages", 1, 4)
    assert warning["message"].startswith("1 job, such as J, is scheduled as a block of the predicted duration") and "on 4 executors" in warning["message"]
    # Executors of other cores than any run had: those of the runs, on as many cores.
    other = ask(client, block, cluster={"executors": 2, "cores_per_executor": 8})
    assert other["jobs"][0]["execution_s"] == pytest.approx(predicted_s, rel=1e-5)
    body = {"cluster": {"executors": 1, "cores_per_executor": 2}, "jobs": [block]}
    client.refuse("POST", "/v1/feasibility", 422, pointer="/jobs/0/application", json=body)


def test_an_application_without_a_run_to_replay(client, stranger, name):
    mine = {"name": "J", "application": name, "deadline_s": 60}
    body = {"cluster": CLUSTER, "jobs": [job("A", 9, stage(0, 1)), mine]}
    client.refuse("POST", "/v1/feasibility", 422, pointer="/jobs/1/application", json=body)
    store_run(client, name, succeeded=False)
    client.refuse("POST", "/v1/feasibility", 422, pointer="/jobs/1/application", json=body)
    store_run(client, name)
    client.post("/v1/feasibility", body, 200)
    stranger.refuse("POST", "/v1/feasibility", 422, pointer="/jobs/1/application", json=body)


def test_faults_come_with_pointers_and_all_at_once(client):
    body = {"cluster": CLUSTER, "jobs": [job("A", 0, stage(0, 1)), job("A", 5, stage(3, 1, parents=[4]))], "seed": 1}
    problem = client.refuse("POST", "/v1/feasibility", 422, json=body)
    assert {e["pointer"] for e in problem["errors"]} == {
        "/seed", "/jobs/0/deadline_s", "/jobs/1/name", "/jobs/1/stages/0/parents/0"}
    client.refuse("POST", "/v1/feasibility", 400, data="{\"cluster\": NaN}", headers={"Content-Type": "application/json"})
    client.refuse("POST", "/v1/feasibility?deep=1", 422, parameter="deep", json=dict(body, seed=None))


def test_limits_have_their_own_faults(make_service):
    service = make_service(PROVISOR_JOBS_MAX=2, PROVISOR_STAGES_MAX=2, PROVISOR_TASKS_MAX=10, PROVISOR_CORES_MAX=8,
                           PROVISOR_REQUEST_MEMORY_BYTES_MAX=1048576)
    token = service.token("limits")
    service.start()
    client = service.client(token)
    jobs = [job(n, 9, stage(0, 1)) for n in "ABC"]

    def refuse(pointer, cluster=CLUSTER, **body):
        client.refuse("POST", "/v1/feasibility", 422, pointer=pointer, json=dict({"cluster": cluster}, **body))

    refuse("/jobs", jobs=jobs)
    refuse("/jobs/0/stages", jobs=[job("A", 9, stage(0, 1), stage(1, 1), stage(2, 1))])
    refuse("/jobs/0/stages/0/task_durations_s", jobs=[job("A", 9, stage(0, *[1] * 11))])
    refuse("/jobs/1/stages", jobs=[job("A", 9, stage(0, *[1] * 6)), job("B", 9, stage(0, *[1] * 6))])
    refuse("/cluster", cluster={"executors": 3, "cores_per_executor": 3}, jobs=jobs[:1])
    ask(client, *jobs[:2])


def test_a_schedule_too_large_for_the_memory_of_a_request(make_service):
    service = make_service(PROVISOR_REQUEST_MEMORY_BYTES_MAX=1048576)
    token = service.token("memory")
    service.start()
    client = service.client(token)
    body = {"cluster": CLUSTER, "include": ["schedule"], "jobs": [
        {"name": "A", "deadline_s": 9, "stages": [{"id": 0, "tasks": 50000, "task_duration_s": 1}]}]}
    client.refuse("POST", "/v1/feasibility", 422, pointer="/include", json=body)
    del body["include"]
    client.post("/v1/feasibility", body, 200)


def test_a_schedule_too_large_for_the_memory_of_all_requests(make_service):
    service = make_service(PROVISOR_MEMORY_BYTES_MAX=4 << 20)
    client = service.start().client(service.token("alpha"))
    body = {"cluster": CLUSTER, "include": ["schedule"], "jobs": [
        {"name": "A", "deadline_s": 1e6, "stages": [{"id": 0, "tasks": 200000, "task_duration_s": 1}]}]}
    problem = client.refuse("POST", "/v1/feasibility", 422, json=body)
    assert problem["type"] == "/problems/limit_exceeded" and "memory_bytes_max" in problem["detail"]
    client.post("/v1/feasibility", {k: v for k, v in body.items() if k != "include"}, 200)
    # Also before it is parsed: a megabyte of JSON that is sixty as a tree.
    problem = client.refuse("POST", "/v1/feasibility", 422, data='{"jobs": [%s]}' % ",".join(['{"":0}'] * 150000),
                            headers={"Content-Type": "application/json"})
    assert problem["type"] == "/problems/limit_exceeded" and "memory_bytes_max" in problem["detail"]


def test_the_search_is_cut_by_its_budget_and_says_so(make_service):
    service = make_service(PROVISOR_REMEDY_TASK_BUDGET=5)
    token = service.token("budget")
    service.start()
    answer = ask(service.client(token), job("A", 9, stage(0, *[1.5 + i / 10 for i in range(40)])))
    assert answer["remedies"]["exact"] is False
    assert "min_total_cores" not in answer["remedies"]
    assert answer["remedies"]["deadlines_s"]["A"] == answer["jobs"][0]["execution_s"]


def test_a_body_of_too_many_values_is_refused_before_it_is_built(make_service):
    service = make_service(PROVISOR_JSON_VALUES_MAX=100)
    service.start()
    client = service.client(service.token("alpha"))
    body = {"cluster": {"executors": 1, "cores_per_executor": 1},
            "jobs": [{"name": "A", "deadline_s": 1, "stages": [{"id": 0, "task_durations_s": [0.1] * 200}]}]}
    problem = client.refuse("POST", "/v1/feasibility", 422, json=body)
    assert problem["type"] == "/problems/limit_exceeded" and "json_values_max" in problem["detail"]
    body["jobs"][0]["stages"][0]["task_durations_s"] = [0.1] * 50
    client.post("/v1/feasibility", body, 200)


def test_the_reasons_answer_first_and_say_what_would_help(client):
    def ask(cores, **more):
        jobs = [dict({"name": n, "deadline_s": 10, "stages": [{"id": 0, "tasks": 4, "task_duration_s": 4}]}, **more) for n in "AB"]
        return client.post("/v1/feasibility", {"cluster": {"executors": cores, "cores_per_executor": 1}, "jobs": jobs}, 200).json()

    met = ask(8)
    assert [r["code"] for r in met["reasons"]] == ["all_deadlines_met", "cores_in_use"]
    assert met["reasons"][0]["evidence"] == {"job": "A", "slack_s": 6.0, "jobs": 2.0, "missed": 0.0}
    missed = ask(2)
    assert [r["code"] for r in missed["reasons"]] == ["deadlines_missed", "cores_in_use", "more_cores"]
    assert missed["reasons"][0]["evidence"]["job"] == "B" and missed["reasons"][0]["evidence"]["slack_s"] == -6
    assert missed["reasons"][2]["evidence"]["min_total_cores"] == missed["remedies"]["min_total_cores"]
    hopeless = ask(2, deadline_s=3)
    assert [r["code"] for r in hopeless["reasons"]][-1] == "no_cores_suffice"


ONE_CORE = {"executors": 1, "cores_per_executor": 1}


def three_jobs():
    """On one core A ends at 3, B at 8 (due at 5), C at 10 (due at 7)."""
    return [job("A", 4, stage(0, 3)), job("B", 5, stage(0, 5)), job("C", 7, stage(0, 2))]


def test_answers_from_history_say_what_they_assume(client, name):
    """The error of a prediction against the time that is left, and that stages share cores, which a batch does not let them."""
    for executors, took in ((1, 46), (2, 26), (4, 14)):
        store_run(client, name, executors=executors, duration_s=took)
    recorded = {"name": "J", "application": name, "problem_size": 16, "deadline_s": 26.5}
    one = ask(client, recorded, cluster=EIGHT)["reasons"]
    said = next(r for r in one if r["code"] == "durations_as_predicted")
    assert 0 < said["evidence"]["margin_percent"] < 5 < said["evidence"]["error_percent"] and "J is late if it takes" in said["message"]
    assert "stages_share_cores" not in [r["code"] for r in one]
    two = ask(client, dict(recorded, deadline_s=60), dict(recorded, name="K", deadline_s=70), cluster=EIGHT)["reasons"]
    assert "batch" in next(r["message"] for r in two if r["code"] == "stages_share_cores")
    late = ask(client, recorded, dict(recorded, name="K", deadline_s=30), cluster=EIGHT)["reasons"]
    assert "batch" not in next(r["message"] for r in late if r["code"] == "stages_share_cores")


def test_all_remedies_come_when_asked_for(client):
    plain = ask(client, *three_jobs(), cluster=ONE_CORE)
    answer = ask(client, *three_jobs(), cluster=ONE_CORE, include=["all_remedies"])
    remedies = answer["remedies"]
    assert plain["remedies"] == {name: remedies[name] for name in plain["remedies"]}, "what was there stays"
    assert remedies["one_later_deadline"] == {
        "jobs": [{"job": "A", "deadline_s": 10, "later_s": 6}, {"job": "B", "deadline_s": 10, "later_s": 5}], "exact": True}
    assert remedies["later_deadlines"] == {
        "jobs": [{"job": "B", "deadline_s": 10, "later_s": 5}], "total_later_s": 5, "exact": True, "irreducible": True}
    assert remedies["jobs_left_out"] == {"jobs": ["A"], "exact": True, "irreducible": True}
    assert remedies["one_later_release"] == {"jobs": [], "exact": True}
    assert remedies["later_releases"]["jobs"] == []
    assert all("delayed_by" not in j for j in answer["jobs"])
    assert [r["code"] for r in answer["reasons"]] == [r["code"] for r in plain["reasons"]] + ["one_later_deadline", "jobs_left_out"]
    assert answer["reasons"][-2]["message"] == "If B alone may take 10 s instead of 5 s, every deadline is met."
    assert answer["reasons"][-1]["message"] == "Without A every other job meets its deadline."


def test_each_remedy_makes_it_feasible(client):
    names = "ABCDEF"
    jobs = [job(n, 6 + 3 * i % 11, stage(0, 4 + i, 3), stage(1, 2, 2, parents=[0]), release_s=i * 1.5) for i, n in enumerate(names)]
    remedies = ask(client, *jobs, include=["all_remedies"])["remedies"]

    def feasible(changes, without=()):
        changes = {c["job"]: {k: c[k] for k in ("release_s", "deadline_s") if k in c} for c in changes}
        return ask(client, *[dict(j, **changes.get(j["name"], {})) for j in jobs if j["name"] not in without])["feasible"]

    assert not feasible([])
    assert feasible(remedies["later_deadlines"]["jobs"])
    assert feasible([], remedies["jobs_left_out"]["jobs"])
    assert remedies["jobs_left_out"]["exact"] and len(remedies["jobs_left_out"]["jobs"]) < len(jobs)
    for name in remedies["jobs_left_out"]["jobs"]:
        assert not feasible([], set(remedies["jobs_left_out"]["jobs"]) - {name})
    for change in remedies["one_later_deadline"]["jobs"] + remedies["one_later_release"]["jobs"]:
        assert feasible([change])
    if remedies["later_releases"]["jobs"]:
        assert feasible(remedies["later_releases"]["jobs"])


def test_a_later_release_keeps_the_instant_the_job_is_due(client):
    """A's task cannot be interrupted when B comes at 1; released at 1, A goes second."""
    jobs = [job("A", 20, stage(0, 10)), job("B", 3, stage(0, 2), release_s=1)]
    answer = ask(client, *jobs, cluster=ONE_CORE, include=["all_remedies"])
    assert answer["remedies"]["one_later_release"] == {
        "jobs": [{"job": "A", "release_s": 1, "deadline_s": 19, "later_s": 1}], "exact": True}
    assert "one_later_release" in [r["code"] for r in answer["reasons"]]


def test_what_delays_each_late_job(client):
    jobs = [job("A", 8, stage(0, 3, 3, 3, 3)), job("B", 8, stage(0, 2, 2, 2), release_s=1), job("C", 1, stage(0, 5), release_s=50)]
    answer = ask(client, *jobs, include=["delayed_by"])
    a, b, c = answer["jobs"]
    assert a["met"] and "delayed_by" not in a and "waiting_s" not in a
    assert (b["waiting_s"], b["critical_path_s"]) == (7, 2)
    assert b["delayed_by"] == [{"job": "A", "core_s": 10, "share": pytest.approx(10 / 14)},
                               {"job": "B", "core_s": 4, "share": pytest.approx(4 / 14)}]
    assert (c["waiting_s"], c["critical_path_s"], c["delayed_by"]) == (0, 5, [])
    reasons = {r["code"]: r for r in answer["reasons"]}
    assert reasons["critical_path_too_long"]["evidence"] == {"job": "C", "critical_path_s": 5, "deadline_s": 1}
    assert reasons["delayed"]["evidence"] == {"job": "B", "waiting_s": 7, "by": "A", "core_s": 10,
                                              "share": pytest.approx(10 / 14), "own_share": pytest.approx(4 / 14)}
    assert reasons["delayed"]["message"] == ("B has tasks waiting for 7 s; meanwhile A has 71.4 % of the core time, "
                                             "more than any other job, and 28.6 % is its own.")
    assert "one_later_deadline" not in answer["remedies"]


def test_all_remedies_of_a_feasible_set_are_none(client):
    answer = ask(client, job("A", 9, stage(0, 1)), include=["all_remedies", "delayed_by", "schedule"])
    assert answer["feasible"] and "remedies" not in answer and len(answer["schedule"]) == 1


def test_a_cut_search_of_all_remedies_says_so(make_service):
    service = make_service(PROVISOR_REMEDY_TASK_BUDGET=300)
    client = service.start().client(service.token("budget"))
    jobs = [job("J%d" % i, 9 + i % 5, *[stage(s, *[1 + (i * s + t) % 7 / 7 for t in range(5)], parents=[s - 1] if s else []) for s in range(3)])
            for i in range(20)]
    answers = [ask(client, *jobs, include=["all_remedies"]) for _ in range(2)]
    assert answers[0] == answers[1]
    remedies = answers[0]["remedies"]
    assert not remedies["later_deadlines"]["exact"] and not remedies["jobs_left_out"]["exact"]
    later = {c["job"]: c["deadline_s"] for c in remedies["later_deadlines"]["jobs"]}
    assert ask(client, *[dict(j, deadline_s=later.get(j["name"], j["deadline_s"])) for j in jobs])["feasible"]

# --- memory ---

ROOM = {"executors": 2, "cores_per_executor": 2, "memory_bytes": 10}


def queue():
    """On 4 cores and 10 bytes: A holds 6 up to 5 s, B needs 6 of them, C only 3, and by 5 s."""
    return [job("A", 20, stage(0, 5, 5), memory_bytes=6),
            job("B", 20, stage(0, 4), release_s=1, memory_bytes=6),
            job("C", 3, stage(0, 1), release_s=2, memory_bytes=3)]


def test_jobs_wait_for_memory_first_come_first_served(client):
    answer = ask(client, *queue(), cluster=ROOM)
    assert [(j["launched_s"], j["completion_s"], j["met"]) for j in answer["jobs"]] == [
        (0, 5, True), (5, 9, True), (5, 6, False)]
    assert answer["memory"] == {"memory_bytes": 10, "launch_order": "first_come", "fits_at_once": 1, "waited": 2}
    waited, = [r for r in answer["reasons"] if r["code"] == "waited_for_memory"]
    assert waited["evidence"] == {"job": "B", "waited_s": 4, "job_memory_bytes": 6, "memory_bytes": 10,
                                "waited": 2, "fits_at_once": 1}
    assert "2 of 3 jobs wait for memory" in waited["message"]


def test_jobs_wait_for_memory_earliest_deadline_first(client):
    answer = ask(client, *queue(), cluster=ROOM, launch_order="earliest_deadline")
    assert answer["feasible"]
    assert [(j["launched_s"], j["completion_s"]) for j in answer["jobs"]] == [(0, 5), (5, 9), (2, 3)]
    assert answer["memory"]["launch_order"] == "earliest_deadline"
    assert answer["memory"]["waited"] == 1


def test_without_memory_the_reply_is_as_it_was(client):
    jobs = [dict(j) for j in queue()]
    for j in jobs:
        del j["memory_bytes"]
    plain = ask(client, *jobs, cluster={"executors": 2, "cores_per_executor": 2})
    assert "memory" not in plain and not any("launched_s" in j for j in plain["jobs"])
    assert ask(client, *jobs, cluster=ROOM) == plain, "memory that no job needs changes nothing"
    jobs[0]["memory_bytes"] = 10
    some = ask(client, *jobs, cluster=ROOM)
    assert [j["launched_s"] for j in some["jobs"]] == [0, 1, 2], "jobs without memory wait for none"
    assert some["memory"] == {"memory_bytes": 10, "launch_order": "first_come", "fits_at_once": 1, "waited": 0}


@pytest.mark.parametrize("order", ["first_come", "earliest_deadline"])
def test_where_memory_is_short_no_number_of_cores_is_enough_and_the_search_ends(client, order):
    jobs = [job("A", 6, stage(0, *[5] * 200), memory_bytes=6), job("B", 6, stage(0, *[4] * 200), memory_bytes=6)]
    answer = ask(client, *jobs, cluster=ROOM, launch_order=order)
    assert "min_total_cores" not in answer["remedies"] and "exact" not in answer["remedies"]
    why, = [r["message"] for r in answer["reasons"] if r["code"] == "no_cores_suffice"]
    assert "memory" in why
    for j in jobs:
        j["deadline_s"] = answer["remedies"]["deadlines_s"].get(j["name"], j["deadline_s"])
    assert ask(client, *jobs, cluster=ROOM, launch_order=order)["feasible"]
    jobs[0]["deadline_s"] = jobs[1]["deadline_s"] = 9
    answer = ask(client, *jobs, cluster=ROOM, launch_order=order)
    assert answer["remedies"]["min_total_cores"] == 200, "one after the other, all tasks of each at once"


def test_the_memory_of_a_registered_cluster(client, name):
    client.put("/v1/clusters/" + name, {"executors": 2, "cores_per_executor": 2}, {200, 201})
    client.refuse("POST", "/v1/feasibility", 422, pointer="/cluster", json={"cluster": name, "jobs": queue()})
    client.put("/v1/clusters/" + name, {"executors": 2, "cores_per_executor": 2, "memory_bytes_per_executor": 5}, {200, 201})
    assert ask(client, *queue(), cluster=name) == ask(client, *queue(), cluster=ROOM)
    client.put("/v1/clusters/" + name, {"executors": 1, "cores_per_executor": 2, "memory_bytes_per_executor": 5}, {200, 201})
    problem = client.refuse("POST", "/v1/feasibility", 422, pointer="/jobs/0/memory_bytes",
                            json={"cluster": name, "jobs": queue()})
    assert [e["pointer"] for e in problem["errors"]] == ["/jobs/0/memory_bytes", "/jobs/1/memory_bytes"]


@pytest.mark.parametrize("pointer, change", [
    ("/jobs/0/memory_bytes", {"jobs": [job("A", 9, stage(0, 1), memory_bytes=11)]}),
    ("/jobs/0/memory_bytes", {"jobs": [job("A", 9, stage(0, 1), memory_bytes=0)]}),
    ("/jobs/0/memory_bytes", {"jobs": [job("A", 9, stage(0, 1), memory_bytes=1.5)]}),
    ("/cluster", {"cluster": CLUSTER}),
    ("/cluster/memory_bytes", {"cluster": dict(ROOM, memory_bytes=0)}),
    ("/launch_order", {"launch_order": "shortest"}),
    ("/launch_order", {"launch_order": "first_come", "jobs": [job("A", 9, stage(0, 1))]}),
])
def test_faults_of_memory(client, pointer, change):
    client.refuse("POST", "/v1/feasibility", 422, pointer=pointer,
                  json=dict({"cluster": ROOM, "jobs": queue()}, **change))


def test_a_job_from_history_waits_as_well(client, name):
    store_run(client, name)
    recorded = {"name": "J", "application": name, "deadline_s": 60, "memory_bytes": 6}
    answer = ask(client, recorded, dict(recorded, name="K"), cluster=dict(ROOM, cores_per_executor=4))
    assert [j["launched_s"] for j in answer["jobs"]] == pytest.approx([0, 26])
