"""POST /v1/copy-plans: plans through the door, faults with pointers, limits. What a plan decides is tested in
tests/unit/core/test_pingan.c and by the shared vectors."""
import copy

import pytest

CLUSTERS = [{"name": "eu", "slots": 4, "busy_slots": 1, "unreachable_probability": 0.1, "ingress_bytes_per_s": 1e9,
             "egress_bytes_per_s": 1e9, "processing": {"map": [[5e6, 0.5], [1e7, 0.5]]}},
            {"name": "us", "slots": 2, "unreachable_probability": 0.02, "processing": {"map": [[4e6, 1]]}}]
LINKS = [{"from": "us", "to": "eu", "distribution": [[2e6, 0.3], [2e7, 0.7]]}]
JOBS = [{"name": "j", "unprocessed_bytes": 2e8, "tasks": [
    {"id": "t1", "operation": "map", "size_bytes": 1e8, "inputs": ["us"]},
    {"id": "t2", "operation": "map", "size_bytes": 1e8}]}]


def body(**more):
    return dict({"epsilon": 1, "clusters": copy.deepcopy(CLUSTERS), "bandwidth": copy.deepcopy(LINKS),
                 "jobs": copy.deepcopy(JOBS)}, **more)


def test_a_plan_says_what_each_copy_buys(client):
    plan = client.post("/v1/copy-plans", body(), 200).json()
    assert plan["epsilon"] == 1 and plan["waiting"] == [] and plan["shares"] == [{"job": "j", "slots": 6}]
    first = [c for c in plan["copies"] if c["round"] == 1]
    assert [(c["task"], c["cluster"]) for c in first] == [("t1", "eu"), ("t2", "eu")]
    # E[min]: 2 with 0.3, else 5 or 10.
    assert first[0]["rate_bytes_per_s"] == pytest.approx(5.85e6) and first[0]["saved_s"] is None
    second = [c for c in plan["copies"] if c["round"] == 2]
    assert second and all(c["cluster"] == "us" and c["exemption_gain"] > 0 and c["saved_s"] >= 0 for c in second)
    tasks = {t["task"]: t for t in plan["tasks"]}
    assert tasks["t1"]["clusters"] == ["eu", "us"]
    assert sum(u["slots_used"] for u in plan["utilization"]) == len(plan["copies"])
    assert plan == client.post("/v1/copy-plans", body(), 200).json(), "the same again"


def test_speeds_may_be_a_list_as_samples_are(client):
    """In the form of POST /v1/clusters/{name}/samples: several speeds of an operation are as probable as one another, or as they say."""
    listed = body()
    listed["clusters"][0]["processing"] = [{"operation": "map", "bytes_per_s": 5e6}, {"operation": "idle", "bytes_per_s": 1}, {"operation": "map", "bytes_per_s": 1e7}]
    listed["clusters"][1]["processing"] = [{"operation": "map", "bytes_per_s": 4e6, "probability": 1}]
    assert client.post("/v1/copy-plans", listed, 200).json() == client.post("/v1/copy-plans", body(), 200).json()
    uneven = body()
    uneven["clusters"][0]["processing"] = {"map": [[5e6, 0.25], [1e7, 0.75]]}
    listed["clusters"][0]["processing"] = [{"operation": "map", "bytes_per_s": 1e7, "probability": 0.75}, {"operation": "map", "bytes_per_s": 5e6, "probability": 0.25}]
    assert client.post("/v1/copy-plans", listed, 200).json() == client.post("/v1/copy-plans", uneven, 200).json()


@pytest.mark.parametrize("speeds, pointer, words", [
    (5, "", 'such as [{"operation": "map"'), ([7], "/0", "object"), ([{"operation": "map"}], "/0/bytes_per_s", "required"),
    ([{"bytes_per_s": 1}], "/0/operation", "required"), ([{"operation": "map", "bytes_per_s": 1, "speed": 1}], "/0/speed", ""),
    ([{"operation": "map", "bytes_per_s": 1, "probability": 0.4}, {"operation": "map", "bytes_per_s": 2, "probability": 0.4}], "", "add up to 0.8"),
    ([{"operation": "map", "bytes_per_s": 1, "probability": 0.4}, {"operation": "map", "bytes_per_s": 2}], "", "must have a probability")])
def test_a_list_of_speeds_at_fault(client, speeds, pointer, words):
    wrong = body()
    wrong["clusters"][1]["processing"] = speeds
    problem = client.refuse("POST", "/v1/copy-plans", 422, pointer="/clusters/1/processing" + pointer, json=wrong)
    assert any(words in error["detail"] for error in problem["errors"])


def test_a_plan_says_what_it_may_be_misread_for(client):
    """Shares beyond all slots, and copies beside the first one in the only cluster there is."""
    assert client.post("/v1/copy-plans", body(), 200).json()["warnings"] == [], "6 slots, and copies in both clusters"
    one = body(clusters=[dict(CLUSTERS[0], slots=40, busy_slots=0)], bandwidth=[], epsilon=0.8)
    one["jobs"] = [{"name": "j", "unprocessed_bytes": 2e8, "tasks": [{"id": "t", "operation": "map", "size_bytes": 1e8}]}]
    plan = client.post("/v1/copy-plans", one, 200).json()
    further = [c for c in plan["copies"] if c["saved_s"] is not None]
    shares, insurance = sorted(plan["warnings"], key=lambda w: w["code"], reverse=True)
    assert plan["shares"] == [{"job": "j", "slots": 50}] and further
    assert (shares["code"], shares["evidence"]) == ("shares_exceed_slots", {"shares": 50, "slots": 40})
    assert insurance["code"] == "copies_share_a_cluster" and insurance["evidence"]["count"] == len(further)
    assert 0 < insurance["evidence"]["saved_percent_most"] < 50


def test_running_copies_are_taken_into_account(client):
    asked = body(max_rounds=1)
    asked["jobs"][0]["tasks"][0]["copies"] = ["eu"]
    plan = client.post("/v1/copy-plans", asked, 200).json()
    assert [c["task"] for c in plan["copies"]] == ["t2"]
    assert [t["clusters"] for t in plan["tasks"]] == [["eu"], ["eu"]]


def test_how_far_running_copies_are_may_be_told(client):
    asked = body(max_rounds=1)
    job = asked["jobs"][0]
    job.update(stage_tasks=4, done_tasks=2, median_duration_s=7.5)
    job["tasks"][0].update(waited_s=3, copies=[{"cluster": "eu", "elapsed_s": 4, "processed_bytes": 1e8}, "us",
                                               {"cluster": "us", "elapsed_s": None, "processed_bytes": None}])
    job["tasks"][1].update(waited_s=None)
    plan = client.post("/v1/copy-plans", asked, 200).json()
    assert [c["task"] for c in plan["copies"]] == ["t2"]
    assert plan["tasks"][0]["clusters"] == ["eu", "us", "us"]
    job.update(stage_tasks=None, done_tasks=None, median_duration_s=None)
    assert client.post("/v1/copy-plans", asked, 200).json() == plan, "pingan looks at none of it"


ALGORITHMS = ("pingan", "flutter", "iridium", "mantri", "dolly", "spark")


def others(**more):
    asked = body()
    del asked["epsilon"]
    return dict(asked, **more)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_answers_the_same_plan(client, algorithm):
    plan = client.post("/v1/copy-plans", others(algorithm=algorithm), 200).json()
    assert plan["algorithm"] == algorithm and plan["cancellations"] == []
    assert (plan["epsilon"] is None) == (algorithm != "pingan") == (plan["shares"] == [])
    first = {c["task"]: c for c in plan["copies"] if c["round"] == 1}
    assert set(first) | {w["task"] for w in plan["waiting"]} == {"t1", "t2"}
    for copied in first.values():
        assert copied["saved_s"] is None and copied["expected_duration_s"] > 0
    used = {u["cluster"]: u["slots_used"] for u in plan["utilization"]}
    assert used["eu"] <= 3 and used["us"] <= 2
    if algorithm == "flutter":
        # t1 lies in us, and clusters are alike to flutter; pingan sees that eu is worth the transfer.
        assert first["t1"]["cluster"] == "us"


def test_pingan_is_the_algorithm_of_requests_that_name_none(client):
    assert client.post("/v1/copy-plans", body(), 200).json() == client.post(
        "/v1/copy-plans", body(algorithm="pingan"), 200).json()


def test_mantri_ends_a_slow_copy_while_tasks_wait_for_slots(client):
    asked = others(algorithm="mantri")
    asked["clusters"][0]["busy_slots"] = 3
    asked["clusters"][1]["busy_slots"] = 2
    job = asked["jobs"][0]
    job["tasks"] = [{"id": "slow", "operation": "map", "size_bytes": 1e8,
                     "copies": [{"cluster": "us", "elapsed_s": 900, "processed_bytes": 1e7}]},
                    {"id": "a", "operation": "map", "size_bytes": 1e8},
                    {"id": "b", "operation": "map", "size_bytes": 1e8}]
    plan = client.post("/v1/copy-plans", asked, 200).json()
    assert plan["cancellations"] == [{"job": "j", "task": "slow", "cluster": "us"}]
    assert [(c["task"], c["cluster"]) for c in plan["copies"]] == [("slow", "eu"), ("a", "us")]
    assert plan["waiting"] == [{"job": "j", "task": "b", "reason": "no_slot"}]
    asked["mantri"] = {"period_s": 1e5, "duplicate_probability": 1}
    plan = client.post("/v1/copy-plans", asked, 200).json()
    assert plan["cancellations"] == [] and [c["task"] for c in plan["copies"]] == ["a"]


def test_dolly_clones_what_its_terms_allow(client):
    asked = others(algorithm="dolly", dolly={"budget": 1, "utilization_max": 1})
    plan = client.post("/v1/copy-plans", asked, 200).json()
    assert sorted(c["round"] for c in plan["copies"]) == [1, 1, 2, 2]
    for task in plan["tasks"]:
        assert sorted(task["clusters"]) == ["eu", "us"]
    asked["dolly"]["tasks_max"] = 1
    assert len(client.post("/v1/copy-plans", asked, 200).json()["copies"]) == 2


def test_spark_lets_a_task_wait_near_its_input(client):
    asked = others(algorithm="spark")
    asked["clusters"][1]["busy_slots"] = 2
    plan = client.post("/v1/copy-plans", asked, 200).json()
    assert plan["waiting"] == [{"job": "j", "task": "t1", "reason": "locality"}]
    asked["jobs"][0]["tasks"][0]["waited_s"] = 2
    asked["spark"] = {"wait_s": 1.5}
    plan = client.post("/v1/copy-plans", asked, 200).json()
    assert {c["task"]: c["cluster"] for c in plan["copies"]} == {"t1": "eu", "t2": "eu"}


@pytest.mark.parametrize("more, pointer", [
    ({"algorithm": "fifo"}, "/algorithm"), ({"algorithm": None}, "/algorithm"),
    ({"algorithm": "flutter", "epsilon": 0.5}, "/epsilon"), ({"algorithm": "spark", "epsilon": "auto"}, "/epsilon"),
    ({"algorithm": "dolly", "max_rounds": 2}, "/max_rounds"), ({"algorithm": "dolly", "max_rounds": None}, "/max_rounds"),
    ({"algorithm": "mantri", "principle": "eff-eff"}, "/principle"),
    ({"algorithm": "iridium", "allocation": "efa"}, "/allocation"),
    ({"algorithm": "flutter", "mantri": {}}, "/mantri"), ({"dolly": {}}, "/dolly"),
    ({"algorithm": "dolly", "spark": {"wait_s": 1}}, "/spark"), ({"algorithm": "mantri", "mantri": []}, "/mantri"),
    ({"algorithm": "mantri", "mantri": {"delta": 1}}, "/mantri/delta"),
    ({"algorithm": "mantri", "mantri": {"duplicate_probability": 1.1}}, "/mantri/duplicate_probability"),
    ({"algorithm": "mantri", "mantri": {"copies_max": 0}}, "/mantri/copies_max"),
    ({"algorithm": "mantri", "mantri": {"period_s": -1}}, "/mantri/period_s"),
    ({"algorithm": "mantri", "mantri": {"gain": -1}}, "/mantri/gain"),
    ({"algorithm": "dolly", "dolly": {"straggler_probability": 2}}, "/dolly/straggler_probability"),
    ({"algorithm": "dolly", "dolly": {"risk": -0.1}}, "/dolly/risk"),
    ({"algorithm": "dolly", "dolly": {"budget": 2}}, "/dolly/budget"),
    ({"algorithm": "dolly", "dolly": {"utilization_max": 2}}, "/dolly/utilization_max"),
    ({"algorithm": "dolly", "dolly": {"tasks_max": 0.5}}, "/dolly/tasks_max"),
    ({"algorithm": "spark", "spark": {"wait_s": -1}}, "/spark/wait_s"),
    ({"algorithm": "spark", "spark": {"quantile": 1.5}}, "/spark/quantile"),
    ({"algorithm": "spark", "spark": {"multiplier": "x"}}, "/spark/multiplier")])
def test_terms_of_algorithms_have_their_own_faults(client, more, pointer):
    problem = client.refuse("POST", "/v1/copy-plans", 422, pointer=pointer, json=others(**more))
    if pointer.count("/") == 1 and isinstance(more.get(pointer[1:]), dict) or pointer == "/epsilon":
        assert problem["errors"][0]["code"] == "conflict"


def test_every_task_has_a_reason_to_wait(client):
    asked = body(epsilon=0.3)
    asked["jobs"].append({"name": "large", "unprocessed_bytes": 1e12, "tasks": [
        {"id": "t", "operation": "map", "size_bytes": 1}]})
    for cluster in asked["clusters"]:
        cluster["busy_slots"] = cluster["slots"]
    plan = client.post("/v1/copy-plans", asked, 200).json()
    assert plan["copies"] == [] and plan["tasks"] == []
    assert [(w["job"], w["reason"]) for w in plan["waiting"]] == [("j", "no_slot"), ("j", "no_slot"),
                                                                 ("large", "not_admitted")]


def auto(ready, busy=0, slots=100):
    """A request in which so many tasks run nowhere, of one job on one cluster."""
    tasks = [{"id": "t%d" % i, "operation": "map", "size_bytes": 1e6} for i in range(ready)]
    return {"epsilon": "auto", "clusters": [{"name": "one", "slots": slots, "busy_slots": busy, "processing": {"map": [[1e6, 1]]}}],
            "jobs": [{"name": "j", "unprocessed_bytes": 1e9, "tasks": tasks}]}


@pytest.mark.parametrize("ready, busy, load, epsilon", [
    (5, 5, 0.1, 0.8), (20, 20, 0.4, 0.6), (20, 40, 0.6, 0.5), (0, 100, 1, 0.2), (90, 60, 1.5, 0.2)])
def test_epsilon_is_drawn_from_the_load(client, ready, busy, load, epsilon):
    """The paper's ends and middle; 0.6 is half way between a load of 7/15 (0.6) and one of 11/15 (0.4)."""
    plan = client.post("/v1/copy-plans", auto(ready, busy), 200).json()
    assert plan["epsilon"] == pytest.approx(epsilon)
    assert plan["epsilon_choice"] == {"load": pytest.approx(load), "slots": 100, "busy_slots": busy, "ready_tasks": ready}
    told = client.post("/v1/copy-plans", dict(auto(ready, busy), epsilon=plan["epsilon"]), 200).json()
    assert told["epsilon_choice"] is None
    assert dict(told, epsilon_choice=0) == dict(plan, epsilon_choice=0), "the same plan as with the number given"


def test_epsilon_is_large_where_it_is_left_out(client):
    asked = dict(auto(5, 95), epsilon=0.8)
    plan = client.post("/v1/copy-plans", asked, 200).json()
    del asked["epsilon"]
    assert client.post("/v1/copy-plans", asked, 200).json() == plan and plan["epsilon"] == 0.8 and plan["epsilon_choice"] is None


def test_a_tiny_epsilon_gives_the_smallest_job_all_it_can_use(client):
    for epsilon in (1e-12, 1e-300, 5e-324):
        plan = client.post("/v1/copy-plans", body(epsilon=epsilon), 200).json()
        assert len(plan["shares"]) == 1 and plan["shares"][0]["slots"] > 1e9 and plan["copies"]


def test_no_slots_at_all(client):
    """The load has no number then; every task waits for a slot."""
    plan = client.post("/v1/copy-plans", auto(2, slots=0), 200).json()
    assert plan["epsilon"] == pytest.approx(0.2) and plan["epsilon_choice"]["load"] is None
    assert [w["reason"] for w in plan["waiting"]] == ["no_slot", "no_slot"]


def put(asked, path, value):
    *way, last = path
    for step in way:
        asked = asked[step]
    asked[last] = value


@pytest.mark.parametrize("path, value, pointer", [
    (("epsilon",), 0, "/epsilon"), (("epsilon",), 1.01, "/epsilon"), (("epsilon",), "NaN", "/epsilon"),
    (("epsilon",), "Auto", "/epsilon"), (("epsilon",), None, "/epsilon"), (("epsilon",), True, "/epsilon"), (("epsilon",), -0.2, "/epsilon"),
    (("slot_s",), 0, "/slot_s"), (("max_rounds",), 0, "/max_rounds"), (("principle",), "eff", "/principle"),
    (("allocation",), "fair", "/allocation"), (("seed",), 1, "/seed"),
    (("clusters",), [], "/clusters"), (("clusters", 1, "name"), "eu", "/clusters/1/name"),
    (("clusters", 0, "slots"), -1, "/clusters/0/slots"), (("clusters", 0, "busy_slots"), 5, "/clusters/0/busy_slots"),
    (("clusters", 0, "unreachable_probability"), 1.5, "/clusters/0/unreachable_probability"),
    (("clusters", 0, "ingress_bytes_per_s"), -1, "/clusters/0/ingress_bytes_per_s"),
    (("clusters", 0, "processing", "map"), [[1e6, 0.5]], "/clusters/0/processing/map"),
    (("clusters", 0, "processing", "map"), [], "/clusters/0/processing/map"),
    (("clusters", 0, "processing", "map"), [[-1, 1]], "/clusters/0/processing/map/0/0"),
    (("clusters", 0, "processing", "map"), [[1e6, 2]], "/clusters/0/processing/map/0/1"),
    (("clusters", 0, "processing", "map"), [[1e6]], "/clusters/0/processing/map/0"),
    (("clusters", 0, "processing"), 5, "/clusters/0/processing"),
    (("bandwidth", 0, "from"), "mars", "/bandwidth/0/from"), (("bandwidth", 0, "to"), "us", "/bandwidth/0/to"),
    (("bandwidth", 0, "distribution"), None, "/bandwidth/0/distribution"),
    (("jobs",), [], "/jobs"), (("jobs", 0, "unprocessed_bytes"), -1, "/jobs/0/unprocessed_bytes"),
    (("jobs", 0, "tasks", 1, "id"), "t1", "/jobs/0/tasks/1/id"),
    (("jobs", 0, "tasks", 0, "operation"), "reduce", "/jobs/0/tasks/0/operation"),
    (("jobs", 0, "tasks", 0, "size_bytes"), 0, "/jobs/0/tasks/0/size_bytes"),
    (("jobs", 0, "tasks", 0, "inputs"), ["mars"], "/jobs/0/tasks/0/inputs"),
    (("jobs", 0, "tasks", 0, "inputs"), ["us", "us"], "/jobs/0/tasks/0/inputs/1"),
    (("jobs", 0, "tasks", 0, "inputs"), [3], "/jobs/0/tasks/0/inputs/0"),
    (("jobs", 0, "tasks", 0, "copies"), ["mars"], "/jobs/0/tasks/0/copies"),
    (("jobs", 0, "tasks", 0, "copies"), [3], "/jobs/0/tasks/0/copies/0"),
    (("jobs", 0, "tasks", 0, "copies"), [{}], "/jobs/0/tasks/0/copies/0/cluster"),
    (("jobs", 0, "tasks", 0, "copies"), [{"cluster": "mars"}], "/jobs/0/tasks/0/copies/0/cluster"),
    (("jobs", 0, "tasks", 0, "copies"), [{"cluster": "eu", "since": 1}], "/jobs/0/tasks/0/copies/0/since"),
    (("jobs", 0, "tasks", 0, "copies"), [{"cluster": "eu", "elapsed_s": -1}], "/jobs/0/tasks/0/copies/0/elapsed_s"),
    (("jobs", 0, "tasks", 0, "copies"), ["eu", {"cluster": "eu", "processed_bytes": 1.1e8}],
     "/jobs/0/tasks/0/copies/1/processed_bytes"),
    (("jobs", 0, "tasks", 0, "waited_s"), -1, "/jobs/0/tasks/0/waited_s"),
    (("jobs", 0, "stage_tasks"), 0, "/jobs/0/stage_tasks"), (("jobs", 0, "done_tasks"), 1.5, "/jobs/0/done_tasks"),
    (("jobs", 0, "median_duration_s"), 0, "/jobs/0/median_duration_s"),
    # No link leads from eu to us, and eu itself does not know the operation.
    (("clusters", 0, "processing"), {"reduce": [[1, 1]]}, "/jobs/0/tasks/0/inputs")])
def test_faults_name_the_field(client, path, value, pointer):
    asked = body()
    put(asked, path, value)
    if path[-1] == "processing" and isinstance(value, dict):
        asked["jobs"][0]["tasks"][0]["inputs"] = ["eu"]
    problem = client.refuse("POST", "/v1/copy-plans", 422, pointer=pointer, json=asked)
    assert problem["errors"]


def test_no_more_tasks_are_done_than_the_stage_has(client):
    asked = body()
    asked["jobs"][0].update(stage_tasks=2, done_tasks=3)
    client.refuse("POST", "/v1/copy-plans", 422, pointer="/jobs/0/done_tasks", json=asked)


def test_a_pair_of_clusters_has_one_link(client):
    client.refuse("POST", "/v1/copy-plans", 422, pointer="/bandwidth/1", json=body(bandwidth=LINKS + LINKS))


def test_limits_have_their_own_faults(make_service):
    service = make_service(PROVISOR_PLAN_CLUSTERS_MAX=2, PROVISOR_PLAN_TASKS_MAX=3, PROVISOR_JOBS_MAX=2,
                           PROVISOR_DISTRIBUTION_POINTS_MAX=2)
    token = service.token("limits")
    service.start()
    client = service.client(token)
    client.post("/v1/copy-plans", body(), 200)
    third = dict(CLUSTERS[1], name="third")
    client.refuse("POST", "/v1/copy-plans", 422, pointer="/clusters", json=body(clusters=CLUSTERS + [third]))
    more = [dict(JOBS[0], name=n) for n in ("a", "b")]
    client.refuse("POST", "/v1/copy-plans", 422, pointer="/jobs/1/tasks", json=body(jobs=more))
    client.refuse("POST", "/v1/copy-plans", 422, pointer="/jobs", json=body(jobs=more + JOBS))
    wide = body()
    wide["clusters"][0]["processing"]["map"] = [[1, 0.5], [2, 0.25], [3, 0.25]]
    client.refuse("POST", "/v1/copy-plans", 422, pointer="/clusters/0/processing/map", json=wide)


def test_a_hundred_clusters_and_two_thousand_tasks(client):
    """The size that the plan is made for, through the door; what it takes is told by tests/bench/bench_copies."""
    clusters = [dict(CLUSTERS[0], name="c%d" % i, slots=40, busy_slots=i % 20, unreachable_probability=i / 500,
                     processing={"map": [[1e6 * (1 + (i * 7 + k) % 13), 0.125] for k in range(8)]}) for i in range(100)]
    links = [{"from": "c%d" % i, "to": "c%d" % k, "distribution": [[1e6, 0.5], [3e6, 0.5]]}
             for i in range(100) for k in range(i + 1, min(100, i + 20))]
    jobs = [{"name": "j%d" % j, "unprocessed_bytes": 1e9 + j, "tasks": [
        {"id": "t%d" % t, "operation": "map", "size_bytes": 1e8, "inputs": ["c%d" % ((j * 100 + t) % 100)]}
        for t in range(100)]} for j in range(20)]
    plan = client.post("/v1/copy-plans", {"epsilon": 0.8, "max_rounds": 3, "clusters": clusters, "bandwidth": links,
                                          "jobs": jobs}, 200).json()
    assert len(plan["tasks"]) + len(plan["waiting"]) == 2000
    used = {u["cluster"]: u["slots_used"] for u in plan["utilization"]}
    assert all(used["c%d" % i] <= 40 - i % 20 for i in range(100))
