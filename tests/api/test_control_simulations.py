"""POST /v1/control-simulations: at once and as an operation, the loop's laws over HTTP, traces, bad input, limits."""
import copy

import pytest

from long_work import wait_for

STRATEGIES = ["edf_all", "edf_pure", "edf_proportional", "proportional", "speed"]
METRICS = {"advance", "delayed", "epsilon", "epsilon_advance", "epsilon_delayed", "epsilon_absolute", "makespan_s", "utilization"}


def job(name, deadline_s, *stages, **more):
    """Stages as (tasks, seconds), one after the other."""
    return dict({"name": name, "deadline_s": deadline_s, "stages": [
        {"id": i, "parents": [i - 1] if i else [], "tasks": tasks, "task_duration_s": s} for i, (tasks, s) in enumerate(stages)]}, **more)


def request(*jobs, cluster=(4, 16), **more):
    return dict({"cluster": {"executors": cluster[0], "cores_per_executor": cluster[1]}, "jobs": list(jobs)}, **more)


# The shape of the thesis's Spark-Bench set: 64 cores, three applications that together need all of them for a while.
SET = request(job("PageRank", 160, (1000, 0.6), (1000, 1.2), (1000, 2), nominal_rate=671999),
              job("KMeans", 110, (1000, 1.5), (1000, 1), release_s=20, nominal_rate=5142187),
              job("SVM", 140, (1000, 0.5), (1000, 2.5), release_s=40, nominal_rate=46898))


@pytest.fixture(scope="module")
def service(make_service):
    service = make_service(PROVISOR_CONTROL_TRACE_INTERVALS=100, PROVISOR_CONTROL_STEPS_MAX=5000000,
                           PROVISOR_CONTROL_TRACE_NUMBERS_MAX=20000, PROVISOR_CONTROL_EXECUTORS_MAX=2000)
    service.alpha_token, service.beta_token = service.token("alpha"), service.token("beta")
    return service.start()


@pytest.fixture(scope="module")
def client(service):
    return service.client(service.alpha_token)


def changed(**members):
    return dict(copy.deepcopy(SET), **members)


def simulate(client, body):
    answer = client.post("/v1/control-simulations", body, 200).json()
    schemas = client.contract.document["components"]["schemas"]
    client.contract.check_instance(schemas["ControlSimulation"], answer, "answer")
    return answer


def outcome(answer, strategy, gamma):
    [found] = [o for o in answer["outcomes"] if (o["strategy"], o["gamma"]) == (strategy, gamma)]
    return found


def refuse(client, body, pointer, code):
    problem = client.refuse("POST", "/v1/control-simulations", 422, json=body)
    assert {(e["pointer"], e["code"]) for e in problem["errors"]} == {(pointer, code)}


# --- what comes of it ---

def test_every_strategy_with_every_gamma_beside_the_baselines(client):
    answer = simulate(client, SET)
    assert [(o["strategy"], o["gamma"]) for o in answer["outcomes"]] == [(s, g) for s in STRATEGIES for g in (0, 1)]
    assert [b["baseline"] for b in answer["baselines"]] == ["clairvoyance_edf", "spark_fifo", "spark_static"]
    assert answer["cluster"] == {"executors": 4, "cores_per_executor": 16} and answer["seed"] == 1 and answer["warnings"] == []
    assert [(j["name"], j["tasks"], j["work_s"]) for j in answer["jobs"]] == [("PageRank", 3000, 3800), ("KMeans", 2000, 2500), ("SVM", 2000, 3000)]
    assert answer["jobs"][0]["critical_path_s"] == pytest.approx(3.8)
    for o in answer["outcomes"] + answer["baselines"]:
        assert set(o["metrics"]) == METRICS and o["feasible"] == (o["metrics"]["delayed"] == 0)
        errors = [j["deadline_error_percent"] for j in o["jobs"]]
        assert o["metrics"]["epsilon"] == pytest.approx(sum(errors) / 3)
        for j, sent in zip(o["jobs"], SET["jobs"]):
            assert j["execution_s"] == pytest.approx(j["completion_s"] - sent.get("release_s", 0))
            assert ("granted_core_s" in j) == ("strategy" in o)
    # Table 5.7's order: those who get what they ask for end near their deadlines, EDF All early; static shares miss all.
    for gamma in (0, 1):
        epsilon = {s: outcome(answer, s, gamma)["metrics"]["epsilon"] for s in STRATEGIES}
        assert max(epsilon["edf_pure"], epsilon["edf_proportional"], epsilon["proportional"]) < epsilon["edf_all"] / 2
        assert all(outcome(answer, s, gamma)["feasible"] for s in STRATEGIES[:4])
    for strategy in STRATEGIES:
        assert outcome(answer, strategy, 1)["metrics"]["advance"] >= outcome(answer, strategy, 0)["metrics"]["advance"]
    assert [b["metrics"]["advance"] for b in answer["baselines"]] == [3, 3, 0]
    best = min((o for o in answer["outcomes"] if o["feasible"]), key=lambda o: o["metrics"]["epsilon"])
    assert (answer["best"]["strategy"], answer["best"]["gamma"]) == (best["strategy"], best["gamma"])
    assert answer["best"]["reasons"][0]["code"] == "all_deadlines_met"


def test_clairvoyance_edf_is_that_of_feasibility(client):
    jobs = [{k: v for k, v in j.items() if k != "nominal_rate"} for j in SET["jobs"]]
    feasibility = client.post("/v1/feasibility", request(*jobs), 200).json()
    [edf] = [b for b in simulate(client, SET)["baselines"] if b["baseline"] == "clairvoyance_edf"]
    assert edf["jobs"] == feasibility["jobs"] and edf["metrics"] == feasibility["metrics"]


def test_spark_fifo_and_static_partitions(client):
    answer = simulate(client, request(job("A", 100, (64, 10)), job("B", 100, (64, 10), release_s=1), cluster=(4, 16)))
    ends = {b["baseline"]: [j["completion_s"] for j in b["jobs"]] for b in answer["baselines"]}
    assert ends["spark_fifo"] == [10, 20], "one application after the other"
    assert ends["spark_static"] == [20, 21], "32 cores each"


def test_one_job_alone_ends_by_alpha_of_its_deadline(client):
    for alpha in (0.95, 0.8):
        answer = simulate(client, request(job("A", 300, (2000, 2), (1000, 2), alpha=alpha), strategies=["proportional"], gammas=[0]))
        at = answer["outcomes"][0]["jobs"][0]["execution_s"] / 300
        assert at == pytest.approx(alpha, abs=0.03)


def test_what_is_infeasible_with_foresight_is_infeasible(client):
    body = request(*(job(name, 60, (1000, 2), nominal_rate=1e6) for name in "ABCD"))
    answer = simulate(client, body)
    assert not any(o["feasible"] for o in answer["outcomes"] + answer["baselines"])
    assert answer["best"]["reasons"][0]["code"] == "most_deadlines_met"
    most = max(o["metrics"]["advance"] for o in answer["outcomes"])
    assert outcome(answer, answer["best"]["strategy"], answer["best"]["gamma"])["metrics"]["advance"] == most
    assert "of 4 jobs %d %s in time" % (most, "is" if most == 1 else "are") in answer["best"]["reasons"][0]["message"]


def test_gamma_1_gives_all_cores_away(client):
    answer = simulate(client, changed(gammas=[0, 0.5, 1], strategies=["edf_all"]))
    makespans = [o["metrics"]["makespan_s"] for o in answer["outcomes"]]
    assert makespans[0] > makespans[1] > makespans[2]
    assert [o["gamma"] for o in answer["outcomes"]] == [0, 0.5, 1]
    used = [o["metrics"]["utilization"] for o in answer["outcomes"]]
    assert used[0] < 0.9 and used[2] > 0.95


# --- options ---

def test_the_same_request_has_the_same_answer_and_another_seed_another(client):
    noisy = changed(duration_noise=0.4, strategies=["edf_pure"], gammas=[0])
    answer = simulate(client, noisy)
    assert simulate(client, noisy) == answer
    assert simulate(client, dict(noisy, seed=2))["outcomes"] != answer["outcomes"]
    quiet = simulate(client, dict(noisy, duration_noise=0))
    assert simulate(client, dict(noisy, duration_noise=0, seed=2))["outcomes"] == quiet["outcomes"], "nothing is drawn"
    assert answer["jobs"][0]["critical_path_s"] == quiet["jobs"][0]["critical_path_s"], "as planned"
    assert answer["jobs"][0]["work_s"] != quiet["jobs"][0]["work_s"] == pytest.approx(answer["jobs"][0]["work_s"], rel=0.05)


def test_a_job_added_at_the_end_draws_for_itself(client):
    noisy = changed(duration_noise=0.4, strategies=["edf_pure"], gammas=[0])
    fewer = dict(noisy, jobs=noisy["jobs"][:2])
    assert [j["work_s"] for j in simulate(client, fewer)["jobs"]] == [j["work_s"] for j in simulate(client, noisy)["jobs"][:2]]


def test_a_delay_of_grants_costs_time(client):
    body = request(job("A", 40, (640, 1)), strategies=["edf_all"], gammas=[1])
    prompt, late = (simulate(client, dict(body, actuation_delay_s=d))["outcomes"][0]["jobs"][0]["completion_s"] for d in (0, 0.5))
    assert prompt == 10 and late == pytest.approx(10.5)


def test_speed_is_taken_where_all_rates_are_known(client):
    body = copy.deepcopy(SET)
    del body["jobs"][1]["nominal_rate"]
    assert [o["strategy"] for o in simulate(client, dict(body, gammas=[0]))["outcomes"]] == STRATEGIES[:4]
    body["jobs"][1]["nominal_rate"] = None
    refuse(client, dict(body, strategies=["speed"]), "/jobs/1/nominal_rate", "required")


def test_a_named_cluster_and_a_job_from_history(client, name):
    client.put("/v1/clusters/%s" % name, {"executors": 2, "cores_per_executor": 4}, 201)
    run = {"problem_size": 16, "executors": 2, "cores_per_executor": 4, "duration_s": 26, "succeeded": True,
           "stages": [{"id": 0, "parents": [], "task_durations_s": [10] * 8, "duration_s": 10},
                      {"id": 2, "parents": [0], "tasks": 8, "task_duration_s": 10, "duration_s": 10}]}
    client.post("/v1/applications/%s/runs" % name, run, 201)
    answer = simulate(client, {"cluster": name, "jobs": [{"name": "J", "application": name, "deadline_s": 100}]})
    assert answer["cluster"] == {"executors": 2, "cores_per_executor": 4}
    assert answer["jobs"][0]["work_s"] == pytest.approx(208), "3 s of overhead a task"
    assert answer["baselines"][0]["jobs"][0]["completion_s"] == pytest.approx(26)
    refuse(client, {"cluster": name, "jobs": [{"name": "J", "application": "none-" + name, "deadline_s": 100}]},
           "/jobs/0/application", "unknown_application")
    refuse(client, {"cluster": "none-" + name, "jobs": [job("A", 9, (1, 1))]}, "/cluster", "unknown_cluster")


def rated_run(client, name, records=(2e6, 4e6)):
    """Two stages of 20 s of task time; what the profile of the only run says of its rate."""
    run = {"problem_size": 16, "executors": 2, "cores_per_executor": 4, "duration_s": 10, "succeeded": True,
           "stages": [dict({"id": i, "parents": [0] if i else [], "task_durations_s": [2.5] * 8, "duration_s": 4},
                           **({"input_records": r} if r is not None else {})) for i, r in enumerate(records)]}
    client.post("/v1/applications/%s/runs" % name, run, 201)
    return client.get("/v1/applications/%s/profile" % name).json()["average_nominal_rate_per_s"]


def test_a_job_from_history_has_the_nominal_rate_of_its_run(client, name):
    rate = rated_run(client, name)
    assert rate == pytest.approx((2 * 1e5 + 2e5) / 3), "weights 2 and 1"
    from_history = {"name": "H", "application": name, "deadline_s": 30}
    told = job("T", 30, (60, 1), nominal_rate=5e6)
    body = request(from_history, told, cluster=(1, 8), strategies=["speed", "edf_pure"], gammas=[1])
    answer = simulate(client, body)
    assert [o["strategy"] for o in answer["outcomes"]] == ["edf_pure", "speed"]
    assert [j.get("nominal_rate") for j in answer["jobs"]] == [pytest.approx(rate), None], "only what the request does not say"
    spelt_out = simulate(client, dict(body, jobs=[dict(from_history, nominal_rate=rate), told]))
    assert spelt_out["outcomes"] == answer["outcomes"] and "nominal_rate" not in spelt_out["jobs"][0]
    assert simulate(client, dict(body, jobs=[dict(from_history, nominal_rate=None), told])) == answer
    slower = simulate(client, dict(body, jobs=[dict(from_history, nominal_rate=5e8), told]))
    assert outcome(slower, "speed", 1)["jobs"][0]["completion_s"] > outcome(answer, "speed", 1)["jobs"][0]["completion_s"], "it weighs less"
    twice = simulate(client, dict(body, jobs=[from_history, dict(from_history, name="H2"), told]))
    assert [j.get("nominal_rate") for j in twice["jobs"]] == [pytest.approx(rate)] * 2 + [None]


def test_rates_from_history_are_taken_only_for_strategies_that_are_named(client, name):
    rated_run(client, name)
    answer = simulate(client, request({"name": "H", "application": name, "deadline_s": 30}, gammas=[0]))
    assert [o["strategy"] for o in answer["outcomes"]] == STRATEGIES[:4] and "nominal_rate" not in answer["jobs"][0]


@pytest.mark.parametrize("records", [(None, None), (0, 0)])
def test_a_run_without_records_has_no_rate(client, name, records):
    rated_run(client, name, records)
    jobs = [job("T", 30, (60, 1), nominal_rate=5e6), {"name": "H", "application": name, "deadline_s": 30}]
    refuse(client, request(*jobs, strategies=["speed"]), "/jobs/1/nominal_rate", "required")
    refuse(client, request(*jobs, strategies=["proportional"], penalty="slow_first"), "/jobs/1/nominal_rate", "required")
    simulate(client, request(*jobs, strategies=["proportional"], penalty="strict"))
    simulate(client, request(*jobs, strategies=["edf_all"]))


def test_an_operation_takes_the_same_rates(client, make_service, name):
    rated_run(client, name)
    service = make_service(PROVISOR_CONTROL_INLINE_STEPS=0).start()
    other = service.client(service.token("alpha"))
    rate = rated_run(other, name)
    body = request({"name": "H", "application": name, "deadline_s": 30}, strategies=["speed"], gammas=[0.5])
    operation = other.post("/v1/control-simulations", body, 200, headers={"Prefer": "wait=20"}).json()
    at_once = simulate(client, body)
    assert at_once["jobs"][0].pop("run_id") != operation["result"]["jobs"][0].pop("run_id"), "each service has a run of its own"
    assert operation["status"] == "succeeded" and operation["result"] == at_once
    assert operation["result"]["jobs"][0]["nominal_rate"] == pytest.approx(rate)


# --- traces ---

def test_traces_on_request(client):
    answer = simulate(client, changed(strategies=["edf_pure", "proportional"], gammas=[0], include=["traces"]))
    for o in answer["outcomes"]:
        traces = o["traces"]
        assert traces["start_s"] == 0 and traces["step_s"] in (1, 2, 4, 8)
        n = len(traces["jobs"][0]["granted"])
        end = max(j["completion_s"] for j in o["jobs"])
        assert (n - 1) * traces["step_s"] < end <= n * traces["step_s"] and n <= 100
        lengths = [min(traces["step_s"], end - i * traces["step_s"]) for i in range(n)]
        for trace, j, sent in zip(traces["jobs"], o["jobs"], SET["jobs"]):
            assert trace["name"] == j["name"] and len(trace["requested"]) == n
            assert sum(g * s for g, s in zip(trace["granted"], lengths)) == pytest.approx(j["granted_core_s"], rel=1e-5)
            assert [s["stage"] for s in trace["stages"]] == [s["id"] for s in sent["stages"]]
            starts = [s["start_s"] for s in trace["stages"]]
            ends = [s["end_s"] for s in trace["stages"]]
            assert starts == [sent.get("release_s", 0)] + ends[:-1] and ends[-1] == j["completion_s"]
            assert all(s["deadline_s"] > 0 for s in trace["stages"])
        assert all(sum(g) <= 64 + 1e-6 for g in zip(*(t["granted"] for t in traces["jobs"])))
    assert "traces" not in simulate(client, SET)["outcomes"][0]


def test_a_long_trace_is_coarser(client):
    body = request(job("A", 5000, (3000, 8)), cluster=(1, 8), strategies=["proportional"], gammas=[0], include=["traces"])
    traces = simulate(client, body)["outcomes"][0]["traces"]
    assert traces["step_s"] == 64 and 50 <= len(traces["jobs"][0]["granted"]) <= 100


def test_traces_have_a_limit(client):
    many = [job("J%d" % i, 100, (4, 1)) for i in range(30)]
    body = request(*many, gammas=[0], strategies=["edf_all", "edf_pure", "edf_proportional", "proportional"])
    simulate(client, body)
    refuse(client, dict(body, include=["traces"]), "/include", "too_large")


# --- bad input ---

def test_jobs_that_cannot_be_in_time_are_simulated_with_a_warning(client):
    answer = simulate(client, request(job("A", 100, (10, 1)), job("B", 5, (2, 3), (2, 4)), strategies=["edf_pure"], gammas=[1]))
    [warning] = answer["warnings"]
    assert warning["code"] == "critical_path_exceeds_deadline"
    assert warning["evidence"] == {"count": 1, "job": "B", "critical_path_s": 7, "deadline_s": 5}
    assert [j["met"] for j in answer["outcomes"][0]["jobs"]] == [True, False]


def test_a_job_that_is_late_goes_first(client):
    """Its time to complete is negative from its first sample on."""
    body = request(job("A", 13, (40, 1)), job("B", 1e-3, (40, 1), release_s=0.5), cluster=(1, 4), gammas=[0], strategies=["edf_all", "edf_pure"])
    for o in simulate(client, body)["outcomes"]:
        a, b = o["jobs"]
        assert b["completion_s"] < 12 < 19 < a["completion_s"]


def test_jobs_without_tasks_or_work_end_when_they_are_released(client):
    empty = job("E", 10, (0, 0), (5, 0), release_s=3)
    answer = simulate(client, request(empty, job("A", 50, (10, 1))))
    for o in answer["outcomes"]:
        assert o["jobs"][0]["completion_s"] == 3 and o["jobs"][0]["met"]
    alone = simulate(client, request(empty, strategies=["edf_all"], include=["traces"]))
    assert alone["outcomes"][0]["metrics"]["utilization"] is None
    assert alone["outcomes"][0]["traces"]["jobs"] == [{"name": "E", "requested": [], "granted": [], "stages": []}]


@pytest.mark.parametrize("members, pointer, code", [
    ({"strategies": ["fastest"]}, "/strategies/0", "not_allowed"),
    ({"strategies": ["edf_all", "edf_all"]}, "/strategies/1", "duplicate"),
    ({"strategies": []}, "/strategies", "too_few_items"),
    ({"gammas": [0, 1.01]}, "/gammas/1", "out_of_range"),
    ({"gammas": [-0.1]}, "/gammas/0", "out_of_range"),
    ({"gammas": [0.5, 0.5]}, "/gammas/1", "duplicate"),
    ({"gammas": []}, "/gammas", "too_few_items"),
    ({"gammas": [i / 100 for i in range(21)]}, "/gammas", "too_many_items"),
    ({"gammas": ["1"]}, "/gammas/0", "wrong_type"),
    ({"gamma": 1}, "/gamma", "unknown_field"),
    ({"controller": {"gain": 0}}, "/controller/gain", "out_of_range"),
    ({"controller": {"core_quantum": 1.5}}, "/controller/core_quantum", "out_of_range"),
    ({"controller": {"sample_s": 0}}, "/controller/sample_s", "out_of_range"),
    ({"controller": {"kp": 1}}, "/controller/kp", "unknown_field"),
    ({"actuation_delay_s": 1.5}, "/actuation_delay_s", "out_of_range"),
    ({"actuation_delay_s": -1}, "/actuation_delay_s", "out_of_range"),
    ({"duration_noise": 2.5}, "/duration_noise", "out_of_range"),
    ({"seed": -1}, "/seed", "out_of_range"),
    ({"include": ["schedule"]}, "/include/0", "not_allowed"),
    ({"beta": 2}, "/beta", "out_of_range"),
    ({"overscale": 0.5}, "/overscale", "out_of_range"),
    ({"jobs": []}, "/jobs", "too_few_items"),
    ({"jobs": [job("A", 0, (1, 1))]}, "/jobs/0/deadline_s", "out_of_range"),
    ({"jobs": [job("A", 9, (1, 1)), job("A", 9, (1, 1))]}, "/jobs/1/name", "duplicate"),
    ({"jobs": [job("A", 9, (1, 1), alpha=0)]}, "/jobs/0/alpha", "out_of_range"),
    ({"jobs": [job("A", 9, (1, 1), nominal_rate=0)]}, "/jobs/0/nominal_rate", "out_of_range"),
    ({"jobs": [job("A", 9, (1, -1))]}, "/jobs/0/stages/0/task_duration_s", "out_of_range"),
    ({"jobs": [{"name": "A", "deadline_s": 9}]}, "/jobs/0/stages", "required"),
    ({"jobs": [dict(job("A", 9, (1, 1)), priority=1)]}, "/jobs/0/priority", "unknown_field"),
    ({"cluster": {"executors": 0, "cores_per_executor": 4}}, "/cluster/executors", "out_of_range"),
])
def test_faults(client, members, pointer, code):
    refuse(client, changed(**members), pointer, code)


def test_all_faults_are_told(client):
    problem = client.refuse("POST", "/v1/control-simulations", 422, json=changed(gammas=[2], strategies=["x"], seed="1"))
    assert {e["pointer"] for e in problem["errors"]} == {"/gammas/0", "/strategies/0", "/seed"}
    client.refuse("POST", "/v1/control-simulations?deep=1", 422, parameter="deep", json=SET)


# --- limits ---

def test_too_many_executors_or_steps(client):
    stages = [(1, 1)] * 30
    refuse(client, request(job("A", 900, *stages), cluster=(100, 1)), "/jobs", "too_many_items")
    refuse(client, request(job("A", 1e12, (1, 1))), "/jobs", "too_large")
    refuse(client, request(job("A", 90, (1, 1)), controller={"sample_s": 1e-9}), "/jobs", "too_large")


# --- as an operation ---

def large(**more):
    """About a million steps."""
    jobs = [job(name, 2500, (50000, 1.5), nominal_rate=1e6, release_s=10 * i) for i, name in enumerate("AB")]
    return request(*jobs, strategies=["edf_pure", "proportional", "speed"], gammas=[0, 0.5, 1], **more)


def test_a_large_one_is_an_operation_with_the_same_answer(client, make_service):
    body = large(duration_noise=0.1, seed=5)
    reply = client.post("/v1/control-simulations", body, 202)
    made = reply.json()
    assert made["kind"] == "control_simulation" and reply.headers["Location"] == "/v1/operations/" + made["id"]
    seen = wait_for(client, made["id"])
    assert seen["status"] == "succeeded", seen["error"]
    schemas = client.contract.document["components"]["schemas"]
    client.contract.check_instance(schemas["ControlSimulation"], seen["result"], "result")
    client.contract.check_instance(schemas["ControlSimulationRequest"], seen["request"], "request")
    assert seen["progress"] == {"done": 1200000, "total": 1200000, "unit": "tasks"}, "9 outcomes and 3 baselines"
    assert (seen["request"]["seed"], seen["request"]["beta"], seen["request"]["jobs"][0]["alpha"]) == (5, 0.33, 0.95)
    # A service that takes more at once gives the same.
    ready = make_service(PROVISOR_CONTROL_INLINE_STEPS=10000000)
    token = ready.token("alpha")
    ready.start()
    assert simulate(ready.client(token), body) == seen["result"]
    # So does the request as it was stored.
    assert simulate(ready.client(token), seen["request"]) == seen["result"]


def test_an_operation_with_jobs_from_history_on_a_named_cluster(client, name):
    client.put("/v1/clusters/%s" % name, {"executors": 4, "cores_per_executor": 16}, 201)
    run = {"problem_size": 16, "executors": 4, "cores_per_executor": 16, "duration_s": 1200, "succeeded": True,
           "stages": [{"id": 3, "parents": [], "tasks": 50000, "task_duration_s": 1.5}]}
    client.post("/v1/applications/%s/runs" % name, run, 201)
    body = {"cluster": name, "jobs": [{"name": "J", "application": name, "deadline_s": 2500, "problem_size": 10}], "gammas": [0, 0.2, 1]}
    reply = client.post("/v1/control-simulations", body, 202).json()
    assert reply["request"]["cluster"] == {"executors": 4, "cores_per_executor": 16}
    assert reply["request"]["jobs"][0]["application"] == name and "stages" not in reply["request"]["jobs"][0]
    seen = wait_for(client, reply["id"])
    assert seen["status"] == "succeeded", seen["error"]
    assert seen["result"]["jobs"][0]["tasks"] == 50000 and len(seen["result"]["outcomes"]) == 12


def test_prefer_wait_holds_the_reply(client):
    reply = client.request("POST", "/v1/control-simulations", json=large(), headers={"Prefer": "wait=20"})
    assert reply.status_code == 200 and reply.headers["Preference-Applied"] == "wait=20"
    assert reply.json()["status"] == "succeeded" and len(reply.json()["result"]["outcomes"]) == 9


def test_one_key_is_one_operation(client, name):
    first, again = (client.request("POST", "/v1/control-simulations", json=large(), headers={"Idempotency-Key": name}) for _ in range(2))
    assert first.status_code == again.status_code == 202 and first.json()["id"] == again.json()["id"]


def test_it_can_be_cancelled(make_service):
    service = make_service()
    token = service.token("alpha")
    service.start()
    client = service.client(token)
    long = request(job("A", 1e6, (1000, 100)), gammas=[i / 20 for i in range(20)], controller={"sample_s": 1})
    made = client.post("/v1/control-simulations", long, 202).json()
    client.request("DELETE", "/v1/operations/" + made["id"])
    assert wait_for(client, made["id"])["status"] == "cancelled"


@pytest.mark.parametrize("sample_s", [1e-8, 1e-6, 1e-4])
def test_far_from_the_beginning_instants_are_further_apart_than_samples(client, sample_s):
    body = request(job("A", 1e-4, (10, 1e-4), release_s=1e12), cluster=(1, 1), strategies=["edf_all"], gammas=[0],
                   controller={"sample_s": sample_s}, include=["traces"])
    [outcome] = simulate(client, body)["outcomes"]
    assert 1e12 < outcome["jobs"][0]["completion_s"] < 1e12 + 0.1
    assert outcome["traces"]["step_s"] > 1e-4 and len(outcome["traces"]["jobs"][0]["granted"]) <= 100


def test_far_from_the_beginning_no_core_is_busier_than_always(client):
    body = request(job("A", 1e-4, (1000, 1e-4), release_s=1e6), cluster=(100, 10), strategies=["edf_all"], gammas=[0])
    answer = simulate(client, body)
    assert all(0 < o["metrics"]["utilization"] <= 1 for o in answer["outcomes"] + answer["baselines"])


def test_who_may(service, client):
    anonymous = service.client("")
    anonymous.request("POST", "/v1/control-simulations", 401, json=SET)
    reader = service.client(service.token("alpha", scopes="read", name="reader"))
    reader.request("POST", "/v1/control-simulations", 403, json=SET)
    made = client.post("/v1/control-simulations", large(), 202).json()
    service.client(service.beta_token).request("GET", "/v1/operations/" + made["id"], 404)
