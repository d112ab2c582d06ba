"""The member `search` of POST /v1/simulations: policies and terms that suit the jobs best, by successive halving."""
import copy
import itertools
import json
import re
import time

import pytest

from long_work import wait_for
from patience import SLOWDOWN
from test_scheduling_simulations import SLOTS, TASKS, by_name, changed, checked, ended, many_jobs, running, simulate
from test_workloads import send

SLOT_JOBS, BAGS = many_jobs(150, seed=5)
# Short jobs of few tasks beside long ones, on 60 workers: reserved ones and groups matter.
SCHEDULERS = {"kind": "tasks", "cluster": {"workers": 60}, "short_cutoff_s": 5, "jobs": BAGS, "policies": [{"policy": "pigeon", "groups": 2}],
              "baseline": "pigeon", "loads": [0.8], "repetitions": 10, "seed": 3}
SLOT_POLICIES = {"kind": "slots", "cluster": {"map_slots": 20, "reduce_slots": 8}, "jobs": SLOT_JOBS, "policies": [{"policy": "fifo"}, {"policy": "fbq", "limits_s": [50]}]}


@pytest.fixture(scope="module")
def make(make_service):
    def made(threads, **settings):
        service = make_service(PROVISOR_SIMULATION_THREADS=threads, PROVISOR_SIMULATION_SEARCH_TASK_RUNS_MAX=100000000, **settings)
        service.alpha_token = service.token("alpha")
        return service.start()
    return made


@pytest.fixture(scope="module")
def client(make):
    service = make(2)
    return service.client(service.alpha_token)


def terms_of(candidate):
    beside = ("value", "excess_percent", "jobs", "repetitions", "round")
    return {key: value for key, value in candidate.items() if key not in beside}


def best_of(load):
    """Of a policy that was not found: without its terms, which the sentence gives."""
    return dict(load["best"], message=re.sub(r"search \([^)]*\)", "search", load["best"]["message"]))


def test_what_is_found_is_one_more_policy(client):
    made = ended(client, changed(SCHEDULERS, search={"policies": [{"policy": "pigeon", "groups": [1, 6, 30], "weight": [20]}, {"policy": "sparrow"}]}))
    result = checked(client, made)
    [load] = result["loads"]
    search = load["search"]
    assert (search["name"], search["cut_short"], search["not_tried"]) == ("search", False, 0)
    assert search["error_chance"] <= 0.05 and search["loss_percent_max"] >= 0
    assert search["candidates"][0]["excess_percent"] == 0 and terms_of(search["candidates"][0]) == terms_of(search["best"])
    assert [policy["name"] for policy in load["policies"]] == ["pigeon", "search"]
    found = by_name(load)["search"]
    assert found["policy"] == search["best"]["policy"]
    assert found["reduction_percent"]["classes"][0]["name"] == "all"
    # The same terms, asked for as a policy, come to the same.
    asked = simulate(client, changed(SCHEDULERS, policies=[{"policy": "pigeon", "groups": 2}, dict(terms_of(search["best"]), name="search")]))
    assert asked["loads"][0]["policies"] == load["policies"] and best_of(asked["loads"][0]) == best_of(load)
    assert made["progress"]["done"] == made["progress"]["total"]


@pytest.mark.parametrize("compared, found", [("centralised", "sparrow"), ("sparrow", "centralised")])
def test_what_is_found_is_repeated_where_it_draws(client, compared, found):
    """At arrivals as given only policies that draw are repeated: of what is found this is known after the search."""
    body = {"kind": "tasks", "cluster": {"workers": 20}, "jobs": [{"name": "a", "task_durations_s": [2]}, {"name": "b", "task_durations_s": [3, 4]}],
            "policies": [{"policy": compared}], "repetitions": 5, "include": ["jobs"]}
    made = ended(client, changed(body, search={"policies": [{"policy": found}]}))
    result = checked(client, made)
    asked = simulate(client, changed(body, policies=[{"policy": compared}, {"policy": found, "name": "search"}]))
    assert result["loads"][0]["policies"] == asked["loads"][0]["policies"] and best_of(result["loads"][0]) == best_of(asked["loads"][0])
    assert made["progress"]["done"] == made["progress"]["total"]


def test_it_finds_what_trying_all_of_them_finds(client):
    """At arrivals as given under policies that draw nothing there is one best policy: all are tried, or half of them at a time."""
    limits = [[5], [20], [50], [200], [5, 100], [20, 200]]
    policies = [{"policy": "fbq", "name": str(i), "limits_s": values} for i, values in enumerate(limits)]
    tasks = sum(len(job["map_durations_s"]) + job["reduces"] for job in SLOT_JOBS)
    [tried] = simulate(client, changed(SLOT_POLICIES, policies=policies))["loads"]
    least = min(policy["slowdown"]["p95"] for policy in tried["policies"])
    for budget, exact in ((100, True), (6, True), (5.5, False)):
        wanted = {"policies": [{"policy": "fbq", "limits_s": limits}], "task_runs": int(budget * tasks)}
        [load] = simulate(client, changed(SLOT_POLICIES, search=wanted))["loads"]
        search = load["search"]
        assert search["task_runs"] <= budget * tasks
        assert search["cut_short"] is not exact and (search["error_chance"] == 0) is exact
        if exact:
            assert search["best"]["value"] == pytest.approx(least, rel=1e-12)
            assert search["rounds"] == [{"purpose": "halving", "candidates": 6, "kept": 3, "jobs": 150, "repetitions": 1}]
        else:
            assert search["error_chance"] is None and search["loss_percent_max"] is None
            assert search["rounds"][0]["jobs"] < 150 == search["rounds"][-1]["jobs"]


def test_the_best_group_size_is_found(client):
    """Among numbers of groups that are far from each other, the one that does best by many repetitions."""
    groups = [1, 4, 15, 60]
    policies = [{"policy": "pigeon", "name": str(n), "groups": n} for n in groups]
    [load] = simulate(client, changed(SCHEDULERS, policies=policies, baseline="1", repetitions=50))["loads"]
    wanted = {"policies": [{"policy": "pigeon", "groups": groups, "reserved_share": [0.05], "weight": [20]}]}
    [found] = simulate(client, changed(SCHEDULERS, search=wanted))["loads"]
    assert load["best"]["code"] == "least_slowdown"
    assert str(found["search"]["best"]["groups"]) == load["best"]["name"] and found["search"]["error_chance"] <= 0.05


def test_it_errs_no_more_often_than_it_says(client):
    """Over seeds the best of a small grid is named, or one that many repetitions do not show to be worse."""
    grid = [{"policy": "pigeon", "groups": n, "weight": w, "reserved_share": 0.1} for n, w in itertools.product([1, 3, 12], [2, "infinite"])]
    policies = [dict(terms, name=str(i)) for i, terms in enumerate(grid)]
    [load] = simulate(client, changed(SCHEDULERS, policies=policies, baseline="0", repetitions=150, seed=999))["loads"]
    short = {policy["name"]: policy["classes"][1]["slowdown"]["p95"] for policy in load["policies"]}
    wanted = {"policies": [{"policy": "pigeon", "groups": [1, 3, 12], "weight": [2, "infinite"], "reserved_share": [0.1]}], "error_chance": 0.2}
    wrong = 0
    for seed in range(12):
        [found] = simulate(client, changed(SCHEDULERS, search=wanted, seed=seed, repetitions=1))["loads"]
        best = terms_of(found["search"]["best"])
        name = next(str(i) for i, terms in enumerate(grid) if terms == best)
        wrong += short[name] > 1.02 * min(short.values())
    assert wrong <= 3


def test_families_and_values_are_chosen(client):
    made = ended(client, changed(SLOT_POLICIES, search={}))
    assert made["request"]["search"] == {"policies": [{"policy": "fbq"}], "task_runs": 100000000, "error_chance": 0.05}
    [load] = checked(client, made)["loads"]
    assert load["search"]["tried"] >= 8 and {c["policy"] for c in load["search"]["candidates"]} == {"fbq"}
    made = ended(client, changed(SLOT_POLICIES, policies=[{"policy": "fifo", "name": "search"}], search={"task_runs": 3000000}))
    assert [family["policy"] for family in made["request"]["search"]["policies"]] == ["fair", "fbq", "tags", "sita", "comp"]
    [load] = checked(client, made)["loads"]
    assert load["search"]["name"] == "search-2" and load["best"]["name"] == "search-2"
    made = ended(client, changed(SCHEDULERS, policies=TASKS["policies"], baseline="eagle", search={"task_runs": 1000000}))
    assert [family["policy"] for family in made["request"]["search"]["policies"]] == ["pigeon", "centralised", "sparrow", "eagle"]
    [load] = checked(client, made)["loads"]
    assert load["search"]["tried"] + load["search"]["not_tried"] > 50 and load["search"]["task_runs"] <= 1000000


def test_partitions_without_slots_are_left_out(client):
    body = changed(SLOTS, search={"policies": [{"policy": "sita", "limits_s": [[5], [5, 20]], "partitions": [[0.5, 0.5], [0.4, 0.3, 0.3]]}]})
    [load] = simulate(client, body)["loads"]
    # Two reduce slots are none for a third queue.
    assert (load["search"]["tried"], load["search"]["not_tried"]) == (1, 1)
    assert terms_of(load["search"]["best"]) == {"policy": "sita", "limits_s": [5], "partitions": [0.5, 0.5]}


@pytest.mark.parametrize("body", [
    changed(SCHEDULERS, search={"task_runs": 3000000}, loads=[0.5, 0.9]),
    changed(SLOT_POLICIES, search={"policies": [{"policy": "tags"}, {"policy": "comp", "queues": [2, 3]}, {"policy": "fair", "concurrency": [3]}],
                                   "task_runs": 500000}, loads=[0.7], repetitions=2),
    changed(SLOT_POLICIES, search={"policies": [{"policy": "sita", "queues": [3], "partitions": [[0.2, 0.3, 0.5]]}], "task_runs": 8000})])
def test_one_request_has_one_answer_on_any_number_of_threads(client, make, body):
    service = make(1)
    other = service.client(service.alpha_token)
    made = ended(client, body)
    assert checked(other, ended(other, body)) == checked(client, made)
    again = ended(client, made["request"])
    assert again["request"] == made["request"] and again["result"] == made["result"]


def said(load, terms):
    """The reasons as of a policy that was not found: without its terms, which the first sentence gives."""
    reasons = copy.deepcopy(load["recommendation"]["reasons"])
    assert f"search ({terms})" in reasons[0]["message"]
    for reason in reasons:
        reason["message"] = reason["message"].replace(f" ({terms})", "")
    return reasons


def test_what_is_found_is_explained_and_shown_as_the_others_are(client):
    """Its terms were chosen among others, so that none of them is reported as left at its default."""
    wanted = {"policies": [{"policy": "pigeon", "groups": [1], "reserved_share": [0.05], "weight": [20]}]}
    body = changed(SCHEDULERS, policies=[{"policy": "sparrow", "probes_per_task": 1}], include=["queues", "distributions"], objective="p99")
    del body["baseline"]
    [load] = simulate(client, changed(body, search=wanted))["loads"]
    given = {"policy": "pigeon", "name": "search", "groups": 1, "reserved_share": 0.05, "weight": 20}
    [alike] = simulate(client, changed(body, policies=body["policies"] + [given]))["loads"]
    assert load["policies"] == alike["policies"] and load["best"]["name"] == alike["best"]["name"] == "search"
    found = by_name(load)["search"]
    assert found["queue_lengths"]["masters"]["count"] == 1 and [d["class"] for d in found["distributions"]] == ["all", "short", "long"]
    assert said(load, "pigeon, groups 1, reserved_share 0.05, weight 20") == alike["recommendation"]["reasons"]

    def warned(at):
        return {warning["code"] for warning in at["recommendation"]["warnings"]}
    assert warned(alike) - warned(load) == {"default_terms"} and not warned(load) - warned(alike)
    body = changed(SLOT_POLICIES, policies=[{"policy": "fifo"}], include=["queues", "distributions"])
    [load] = simulate(client, changed(body, search={"policies": [{"policy": "fbq", "limits_s": [[50]]}]}))["loads"]
    [alike] = simulate(client, changed(body, policies=body["policies"] + [{"policy": "fbq", "name": "search", "limits_s": [50]}]))["loads"]
    assert load["policies"] == alike["policies"]
    assert said(load, "fbq, queues 2") == alike["recommendation"]["reasons"] and warned(load) == warned(alike)
    assert by_name(load)["search"]["queue_lengths"] and by_name(load)["search"]["distributions"]


@pytest.mark.parametrize("body", [
    dict(SCHEDULERS, policies=[{"policy": "sparrow"}], baseline="sparrow", repetitions=2,
         search={"policies": [{"policy": "pigeon", "groups": [2, 6]}, {"policy": "eagle", "probes_per_task": [2]}]}),
    dict(SCHEDULERS, short_cutoff_s=1e6, search={"policies": [{"policy": "pigeon"}]}),
    dict(SLOT_POLICIES, loads=[0.7], search={"policies": [{"policy": "tags"}, {"policy": "fair"}], "task_runs": 500000})], ids=["tasks", "all short", "slots"])
def test_jobs_of_a_workload_are_searched_as_those_of_the_request(client, body):
    jobs = [dict(job, **{key: [round(s, 3) for s in job[key]] for key in ("map_durations_s", "task_durations_s") if key in job}) for job in body["jobs"]]
    workload = send(client, "".join(json.dumps(job) + "\n" for job in jobs), format="provisor").json()["id"]
    named = {key: value for key, value in body.items() if key != "jobs"}
    made = ended(client, changed(named, workload=workload))
    assert checked(client, made)["loads"] == simulate(client, changed(body, jobs=jobs))["loads"]
    again = ended(client, made["request"])
    assert again["request"] == made["request"] and again["result"] == made["result"]
    problem = client.post("/v1/simulations", changed(named, workload=workload, search={"task_runs": 100}), 422).json()
    assert ("/search/task_runs", "out_of_range") in {(fault["pointer"], fault["code"]) for fault in problem["errors"]}, problem


def test_slots_of_a_workload_without_candidates_fail(client):
    workload = send(client, json.dumps({"name": "A", "maps": 1, "map_task_s": 1}) + "\n", format="provisor").json()["id"]
    body = {"kind": "slots", "cluster": {"map_slots": 2, "reduce_slots": 0}, "workload": workload, "policies": [{"policy": "fifo"}]}
    for family, detail in (({"policy": "sita", "limits_s": [[1, 2]], "partitions": [[0.4, 0.3, 0.3]]}, "none of the candidates"),
                           ({"policy": "fbq", "limits_s": [[i + 1, j + 100] for i in range(8) for j in range(8)]}, None),
                           ({"policy": "tags", "limits_s": [[i + 1] for i in range(64)], "partitions": [[i / 64, 1 - i / 64] for i in range(20, 40)]},
                            "more than 256 candidates")):
        made = client.post("/v1/simulations", changed(body, cluster={"map_slots": 2 if detail and "none" in detail else 64, "reduce_slots": 0},
                                                      search={"policies": [family]}), 202).json()
        seen = wait_for(client, made["id"])
        assert (seen["status"] == "failed") is (detail is not None), seen
        assert detail is None or detail in seen["error"]["detail"], seen


@pytest.mark.parametrize("body, pointer, code", [
    (changed(SCHEDULERS, search={}, cluster={"groups": [{"workers": 30}, {"workers": 30}]}, policies=[{"policy": "pigeon"}]), "/search", "conflict"),
    (changed(SCHEDULERS, search={"policies": [{"policy": "sparrow"}]}, cluster={"groups": [{"workers": 60}]}, policies=[{"policy": "pigeon"}]),
     "/search", "conflict"),
    (changed(TASKS, search={}, classes=["high", "low"], jobs=[{"name": "A", "class": "high", "task_durations_s": [1]}]), "/search", "conflict"),
    (changed(SCHEDULERS, search={}, jobs=[{"name": "A", "task_durations_s": [1], "bound_to": [[3]]}]), "/search", "conflict"),
    (changed(SCHEDULERS, search=5), "/search", "wrong_type"),
    (changed(SCHEDULERS, search={"polices": []}), "/search/polices", "unknown_field"),
    (changed(SCHEDULERS, search={"policies": []}), "/search/policies", "too_few_items"),
    (changed(SCHEDULERS, search={"policies": [{"policy": "fifo"}]}), "/search/policies/0/policy", "not_allowed"),
    (changed(SCHEDULERS, search={"policies": [{"policy": "sparrow", "groups": [1]}]}), "/search/policies/0/groups", "unknown_field"),
    (changed(SCHEDULERS, search={"policies": [{"policy": "pigeon", "name": "a"}]}), "/search/policies/0/name", "unknown_field"),
    (changed(SCHEDULERS, search={"policies": [{"policy": "pigeon", "groups": 3}]}), "/search/policies/0/groups", "wrong_type"),
    (changed(SCHEDULERS, search={"policies": [{"policy": "pigeon", "groups": [0]}]}), "/search/policies/0/groups/0", "out_of_range"),
    (changed(SCHEDULERS, search={"policies": [{"policy": "pigeon", "weight": ["many"]}]}), "/search/policies/0/weight/0", "not_allowed"),
    (changed(SCHEDULERS, search={"policies": [{"policy": "pigeon", "reserved_share": [0.7]}]}), "/search/policies/0/reserved_share/0", "out_of_range"),
    (changed(SCHEDULERS, search={"policies": [{"policy": "sparrow", "probes_per_task": [1000]}]}), "/search/policies/0/probes_per_task/0", "out_of_range"),
    (changed(SCHEDULERS, search={"policies": [{"policy": "pigeon", "groups": [61]}]}), "/search/policies", "out_of_range"),
    (changed(SCHEDULERS, search={"policies": [{"policy": "pigeon", "groups": list(range(1, 60)), "weight": [1, 2, 3, 4, 5]}]}),
     "/search/policies", "too_many_items"),
    (changed(SCHEDULERS, search={"task_runs": 100}), "/search/task_runs", "out_of_range"),
    (changed(SCHEDULERS, search={"task_runs": 10 ** 12}), "/search/task_runs", "out_of_range"),
    (changed(SCHEDULERS, search={"error_chance": 0}), "/search/error_chance", "out_of_range"),
    (changed(SLOT_POLICIES, search={"policies": [{"policy": "capacity"}]}), "/search/policies/0/policy", "not_allowed"),
    (changed(SLOT_POLICIES, search={"policies": [{"policy": "fbq", "limits_s": [5]}]}), "/search/policies/0/limits_s/0", "wrong_type"),
    (changed(SLOT_POLICIES, search={"policies": [{"policy": "fbq", "limits_s": [[]]}]}), "/search/policies/0/limits_s/0", "too_few_items"),
    (changed(SLOT_POLICIES, search={"policies": [{"policy": "fbq", "limits_s": [[5]], "queues": [2]}]}), "/search/policies/0/queues", "not_allowed"),
    (changed(SLOT_POLICIES, search={"policies": [{"policy": "sita", "limits_s": [[5, 5]]}]}), "/search/policies/0/limits_s/0", "out_of_range"),
    (changed(SLOT_POLICIES, search={"policies": [{"policy": "sita", "partitions": [[0.5, 0.4]]}]}), "/search/policies/0/partitions/0", "out_of_range"),
    (changed(SLOT_POLICIES, search={"policies": [{"policy": "sita", "queues": [3], "partitions": [[0.5, 0.5]]}]}),
     "/search/policies/0/partitions/0", "out_of_range"),
    (changed(SLOT_POLICIES, search={"policies": [{"policy": "tags", "queues": [21]}]}), "/search/policies/0/queues/0", "out_of_range"),
])
def test_faults_are_named(client, body, pointer, code):
    problem = client.post("/v1/simulations", body, 422).json()
    assert (pointer, code) in {(fault["pointer"], fault["code"]) for fault in problem["errors"]}, problem


def test_a_search_is_cancelled_soon(client):
    made = running(client, changed(SLOT_POLICIES, jobs=many_jobs(5000)[0], loads=[0.7, 0.9], search={}))
    began = time.monotonic()
    client.delete("/v1/operations/" + made, (200, 202))
    seen = wait_for(client, made)
    assert seen["status"] == "cancelled" and time.monotonic() - began < 1.5 * SLOWDOWN
    assert 0 < seen["progress"]["done"] < seen["progress"]["total"]


def test_what_a_search_leaves_open_is_a_warning(client):
    body = changed(SCHEDULERS, search={"policies": [{"policy": "pigeon", "groups": [1], "reserved_share": [0.1, 0.3], "weight": [20]}]})
    [load] = simulate(client, body)["loads"]
    [edge] = [warning for warning in load["recommendation"]["warnings"] if warning["code"] == "at_edge_of_values"]
    assert edge["evidence"]["term"] == "reserved_share" and edge["evidence"]["value"] in ("0.1", "0.3")
    cut = [warning["code"] for warning in load["recommendation"]["warnings"]].count("search_cut_short")
    assert cut == load["search"]["cut_short"]


def test_incidents_count_in_the_budget(client):
    """Each of 100 incidents may change all 20 map and 8 reduce slots of the node, at its begin and at its end: a budget of the tasks alone does not do."""
    jobs = SLOT_JOBS[:20]
    tasks = sum(len(job.get("map_durations_s", [])) + len(job.get("reduce_durations_s", [])) + job.get("maps", 0) + job.get("reduces", 0) for job in jobs)
    body = {"kind": "slots", "cluster": {"nodes": [{"name": "n", "map_slots": 20, "reduce_slots": 8}]}, "jobs": jobs, "policies": [{"policy": "fifo"}],
            "incidents": [{"node": "n", "at_s": i, "until_s": i + 0.5, "speed_factor": 0.5} for i in range(100)], "search": {"policies": [{"policy": "fair"}], "task_runs": tasks}}
    [error] = client.post("/v1/simulations", body, 422).json()["errors"]
    least = tasks + 100 * 2 * min(28, tasks)
    assert (error["pointer"], error["code"]) == ("/search/task_runs", "out_of_range") and "at least %d" % least in error["detail"]
    body["search"]["task_runs"] = 20 * least
    assert ended(client, body)["status"] == "succeeded"
