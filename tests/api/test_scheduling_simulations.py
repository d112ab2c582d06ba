"""POST /v1/simulations of the kinds slots and tasks: schedulers of the same jobs side by side, as an operation."""
import copy
import json
import random
import statistics
import time

import pytest

from long_work import wait_for
from patience import PATIENCE, SLOWDOWN, wait_until
from quantity import number
from test_operation_turns import held, some_runs

SLOTS = {"kind": "slots", "cluster": {"map_slots": 4, "reduce_slots": 2},
         "jobs": [{"name": "A", "map_durations_s": [2, 3, 3], "reduce_durations_s": [1]},
                  {"name": "B", "arrival_s": 1, "maps": 2, "map_task_s": 3},
                  {"name": "C", "arrival_s": 1, "maps": 40, "map_task_s": 2, "reduces": 3, "reduce_task_s": 4, "shuffle_s": 1}],
         "policies": [{"policy": "fifo"}, {"policy": "fair"}]}
TASKS = {"kind": "tasks", "cluster": {"workers": 6}, "short_cutoff_s": 3,
         "jobs": [{"name": "A", "task_durations_s": [1, 2, 1, 1, 1, 1, 1]}, {"name": "B", "arrival_s": 0.5, "task_durations_s": [20, 30, 10]},
                  {"name": "C", "arrival_s": 1, "task_durations_s": [1, 1], "class": "long"}],
         "policies": [{"policy": "pigeon", "groups": 2}, {"policy": "centralised"}, {"policy": "sparrow"}, {"policy": "eagle"}]}
ALL_SLOTS = [{"policy": "fifo"}, {"policy": "fair"}, {"policy": "fair", "name": "fair-2", "concurrency": 2},
             {"policy": "capacity", "queues": [{"share": 0.5}, {"share": 0.5, "max_share": 0.5}]}, {"policy": "fbq", "limits_s": [5, 20]},
             {"policy": "tags", "limits_s": [5], "partitions": [0.5, 0.5]}, {"policy": "sita", "limits_s": [5], "partitions": [0.5, 0.5]},
             {"policy": "comp", "queues": 3}, {"policy": "fresh_static", "concurrency": 2}, {"policy": "fresh", "concurrency": 2}, {"policy": "omo"}, {"policy": "drf"}]


def many_jobs(n, seed=1, tasks=20):
    """Jobs of slots and of tasks; some are long."""
    rng = random.Random(seed)
    slots, bags = [], []
    for i in range(n):
        scale = 20 if rng.random() < 0.1 else 1
        durations = [round(scale * rng.expovariate(1), 6) + 0.01 for _ in range(rng.randint(1, tasks))]
        slots.append({"name": str(i), "arrival_s": i, "map_durations_s": durations, "reduces": rng.randint(0, 3), "reduce_task_s": scale})
        bags.append({"name": str(i), "arrival_s": i, "task_durations_s": durations})
    return slots, bags


# A minute of work and more, told every few milliseconds. In few words: an operation repeats its request whenever it is looked at.
LONG = {"kind": "slots", "cluster": {"map_slots": 400, "reduce_slots": 100}, "policies": [{"policy": "fbq", "limits_s": [50]}, {"policy": "fair"}],
        "jobs": [{"name": str(i), "arrival_s": 10 * i, "maps": 300, "map_task_s": 20 if i % 10 == 0 else 1, "reduces": 20, "reduce_task_s": 5}
                 for i in range(500)],
        "loads": [0.7, 0.8, 0.9], "repetitions": 166}


@pytest.fixture(scope="module")
def service(make_service):
    service = make_service(PROVISOR_OPERATION_WORKERS=2, PROVISOR_OPERATION_SLICE_MS=100, PROVISOR_OPERATION_LEASE_S=5)
    service.alpha_token, service.beta_token = service.token("alpha"), service.token("beta")
    return service.start()


@pytest.fixture(scope="module")
def client(service):
    return service.client(service.alpha_token)


@pytest.fixture(scope="module")
def limited(make_service):
    """A client of a service whose limits are soon reached."""
    service = make_service(PROVISOR_SIMULATION_JOB_TASK_RUNS_MAX=100000000)
    token = service.token("alpha")
    return service.start().client(token)


def changed(body, **members):
    return dict(copy.deepcopy(body), **members)


def ask(client, body):
    return client.post("/v1/simulations", body, 202).json()


def checked(client, operation):
    assert operation["status"] == "succeeded", operation["error"]
    schemas = client.contract.document["components"]["schemas"]
    kind = operation["request"]["kind"].capitalize()
    client.contract.check_instance(schemas[kind + "SimulationResult"], operation["result"], "result")
    client.contract.check_instance(schemas["SimulationRequest"], operation["request"], "request")
    return operation["result"]


def ended(client, body):
    return wait_for(client, ask(client, body)["id"])


def simulate(client, body):
    return checked(client, ended(client, body))


def by_name(load):
    return {policy["name"]: policy for policy in load["policies"]}


# --- jobs on slots ---


def test_slots_from_request_to_result(client):
    made = ended(client, changed(SLOTS, include=["jobs"], baseline="fifo"))
    result = checked(client, made)
    assert made["progress"] == {"done": 3 * 49, "total": 3 * 49, "unit": "tasks"}
    assert (result["kind"], result["seed"], result["repetitions"], result["baseline"], result["warnings"]) == ("slots", 1, 1, "fifo", [])
    [load] = result["loads"]
    assert load["load"] is None
    fifo, fair = load["policies"]
    assert [job["name"] for job in fifo["jobs"]] == ["A", "B", "C"]
    for policy in (fifo, fair):
        slowdowns = [job["slowdown"] for job in policy["jobs"]]
        assert policy["slowdown"]["mean"] == pytest.approx(statistics.mean(slowdowns))
        assert policy["slowdown"]["p50"] == pytest.approx(statistics.median(slowdowns))
        assert policy["slowdown_variability_95"] == pytest.approx(policy["slowdown"]["p95"] / policy["slowdown"]["p50"])
        assert max(job["finish_s"] for job in policy["jobs"]) == policy["makespan_s"]
        assert policy["utilization"] == pytest.approx((8 + 1 + 6 + 80 + 12) / (6 * policy["makespan_s"]))
    # C alone: ten rounds of maps, two reduces that have fetched before their end, and one that fetches after them.
    assert {job["name"]: job["runtime_s"] for job in fifo["jobs"]} == {"A": 4, "B": 3, "C": 29}
    assert fifo["reduction_percent"] is None
    saved = fair["reduction_percent"]
    assert saved["slowdown"]["p95"] == pytest.approx(100 * (1 - fair["slowdown"]["p95"] / fifo["slowdown"]["p95"]))
    assert saved["makespan"] == pytest.approx(100 * (1 - fair["makespan_s"] / fifo["makespan_s"]))


def test_the_best_policy_is_named_with_its_figures(client):
    for objective, figure in (("p50", lambda p: p["slowdown"]["p50"]), ("p99", lambda p: p["slowdown"]["p99"]),
                              ("variability", lambda p: p["slowdown_variability_95"]), ("makespan", lambda p: p["makespan_s"])):
        [load] = simulate(client, changed(SLOTS, policies=ALL_SLOTS, objective=objective))["loads"]
        figures = sorted((figure(p), i, p["name"]) for i, p in enumerate(load["policies"]))
        least, second = figures[0][0], figures[1][0]
        best = load["best"]
        assert figure(by_name(load)[best["name"]]) == pytest.approx(least, abs=1e-9)
        assert best["margin_percent"] == pytest.approx(100 * (1 - least / second), abs=1e-7)
        assert number(least) in best["message"], best
        words = {"variability": "least_variability", "makespan": "least_makespan"}
        assert best["code"] == ("equal" if best["margin_percent"] == 0 else words.get(objective, "least_slowdown"))
    [load] = simulate(client, changed(SLOTS, policies=[{"policy": "fifo"}]))["loads"]
    assert (load["best"]["name"], load["best"]["code"], load["best"]["margin_percent"]) == ("fifo", "only_one", None)


def test_of_equal_policies_the_first_is_best(client):
    policies = [{"policy": "fair", "name": "b"}, {"policy": "fair", "name": "a"}]
    [load] = simulate(client, changed(SLOTS, policies=policies))["loads"]
    assert (load["best"]["name"], load["best"]["code"], load["best"]["margin_percent"]) == ("b", "equal", 0)


@pytest.mark.parametrize("body", [
    changed(SLOTS, policies=ALL_SLOTS, include=["jobs"], loads=[0.5, 2], repetitions=2, seed=7, baseline="fbq", objective="variability", slow_start=1),
    changed(SLOTS, jobs=[{"name": "x", "maps": 0, "reduces": 2, "reduce_task_s": 1.5, "predicted_size_s": 9, "queue": 2}]),
    changed(TASKS, loads=[0.5], repetitions=3, include=["jobs"], baseline="sparrow", communication_s=0,
            jobs=TASKS["jobs"] + [{"name": "D", "task_durations_s": [1, 1, 1], "placement": [1, 0, 1]}],
            policies=TASKS["policies"] + [{"name": "x", "policy": "centralised", "weight": "infinite", "reserved_share": 0}]),
    TASKS])
def test_the_request_is_told_with_all_defaults_and_asks_for_the_same(client, body):
    made = ended(client, body)
    first = checked(client, made)
    again = ended(client, made["request"])
    assert again["request"] == made["request"] and checked(client, again) == first


def test_policies_have_the_terms_and_defaults_of_the_contract(client):
    told = {p["name"]: p for p in ended(client, changed(SLOTS, policies=ALL_SLOTS))["request"]["policies"]}
    assert told["fifo"] == {"name": "fifo", "policy": "fifo"} and told["fair"] == {"name": "fair", "policy": "fair"}
    assert told["fair-2"]["concurrency"] == 2
    assert told["capacity"]["queues"] == [{"share": 0.5, "max_share": 1}, {"share": 0.5, "max_share": 0.5}]
    assert told["fresh_static"] == {"name": "fresh_static", "policy": "fresh_static", "concurrency": 2}
    assert told["fresh"] == {"name": "fresh", "policy": "fresh", "concurrency": 2, "tau1": 0.8, "tau2": 0.6}
    assert told["omo"] == {"name": "omo", "policy": "omo", "ema_weight": 0.5, "window_s": 10, "techniques": ["lazy_start", "batch_finish"]}
    assert told["comp"]["queues"] == 3 and told["tags"]["partitions"] == [0.5, 0.5]
    told = {p["name"]: p for p in ended(client, TASKS)["request"]["policies"]}
    assert told["pigeon"] == {"name": "pigeon", "policy": "pigeon", "groups": 2, "reserved_share": 0.05, "weight": 20}
    assert told["centralised"] == {"name": "centralised", "policy": "centralised", "reserved_share": 0.05, "weight": 20}
    assert told["sparrow"] == {"name": "sparrow", "policy": "sparrow", "probes_per_task": 2}
    assert told["eagle"] == {"name": "eagle", "policy": "eagle", "reserved_share": 0.1, "probes_per_task": 2}
    schemas = client.contract.document["components"]["schemas"]
    assert {p["policy"] for p in ALL_SLOTS} == set(schemas["SlotsPolicy"]["properties"]["policy"]["enum"])
    assert set(told) == set(schemas["TasksPolicy"]["properties"]["policy"]["enum"])


def test_listed_and_counted_tasks_are_the_same(client):
    jobs = [{"name": "A", "map_durations_s": [2, 2, 2], "reduce_durations_s": [1, 1]}]
    counted = [{"name": "A", "maps": 3, "map_task_s": 2, "reduces": 2, "reduce_task_s": 1}]
    assert simulate(client, changed(SLOTS, jobs=jobs)) == simulate(client, changed(SLOTS, jobs=counted))


def test_what_draws_nothing_is_the_same_for_any_seed_and_repetition(client):
    once = simulate(client, changed(SLOTS, policies=ALL_SLOTS, include=["jobs"]))
    made = ended(client, changed(SLOTS, policies=ALL_SLOTS, include=["jobs"], seed=5, repetitions=4))
    assert checked(client, made)["loads"] == once["loads"]
    assert made["progress"]["total"] == (len(ALL_SLOTS) + 1) * 49, "and is simulated once"


def test_fresh_static_says_how_it_divides_the_slots(client):
    [load] = simulate(client, changed(SLOTS, policies=ALL_SLOTS))["loads"]
    for policy in load["policies"]:
        divided = (policy["map_slots"], policy["reduce_slots"])
        if policy["policy"] == "fresh_static":
            assert sum(divided) == 6 and divided[0] > divided[1] > 0, "there is more work for maps"
        else:
            assert divided == (None, None)


# --- bags of tasks ---


def test_tasks_from_request_to_result(client):
    result = simulate(client, changed(TASKS, include=["jobs"], baseline="centralised"))
    [load] = result["loads"]
    for policy in load["policies"]:
        classes = {c["name"]: c for c in policy["classes"]}
        assert {name: c["count"] for name, c in classes.items()} == {"all": 3, "short": 1, "long": 2}
        jobs = {job["name"]: job for job in policy["jobs"]}
        assert classes["short"]["slowdown"]["p50"] == pytest.approx(jobs["A"]["slowdown"])
        assert jobs["A"]["slowdown"] == pytest.approx(jobs["A"]["finish_s"] / 2)
        assert classes["short"]["completion_over_longest_task"]["p90"] == pytest.approx(jobs["A"]["slowdown"])
        assert (policy["reduction_percent"] is None) == (policy["name"] == "centralised")
    least = min(load["policies"], key=lambda p: p["classes"][1]["slowdown"]["p95"])
    assert load["best"]["name"] == least["name"] and "short jobs" in load["best"]["message"]
    [load] = simulate(client, {k: v for k, v in TASKS.items() if k != "short_cutoff_s"} | {"jobs": TASKS["jobs"][:2]})["loads"]
    assert [c["name"] for c in load["policies"][0]["classes"]] == ["all", "short"]


def test_a_weight_and_a_share_of_reserved_workers_matter(client):
    jobs = many_jobs(200, tasks=10)[1]
    policies = [{"name": str(w), "policy": "centralised", "weight": w} for w in (1, 20, "infinite")]
    [load] = simulate(client, changed(TASKS, jobs=jobs, policies=policies, loads=[0.95], cluster={"workers": 20}))["loads"]
    one, twenty, infinite = [p["classes"][1]["completion_s"]["mean"] for p in load["policies"]]
    assert one > twenty >= infinite


# --- loads, repetitions, draws ---


@pytest.mark.parametrize("kind", ["slots", "tasks"])
def test_loads_stretch_the_same_arrivals(client, kind):
    slots, bags = many_jobs(300)
    body = changed(SLOTS, jobs=slots, cluster={"map_slots": 40, "reduce_slots": 10}) if kind == "slots" else changed(
        TASKS, jobs=bags, cluster={"workers": 60}, policies=[{"policy": "pigeon", "groups": 3}, {"policy": "centralised"}])
    result = simulate(client, dict(body, loads=[0.01, 0.6, 1.2], repetitions=3))
    light, busy, full = [[(p["classes"][0] if kind == "tasks" else p)["completion_s"]["mean"] for p in load["policies"]] for load in result["loads"]]
    assert all(a < b < c for a, b, c in zip(light, busy, full))
    assert [load["load"] for load in result["loads"]] == [0.01, 0.6, 1.2]
    # Nobody waits for long: the makespan is that of the arrivals, and utilization the load.
    assert all(p["utilization"] == pytest.approx(0.01, rel=0.2) for p in result["loads"][0]["policies"])
    assert [(w["code"], w["evidence"]["load"]) for w in result["warnings"] if w["code"] == "overload"] == [("overload", 1.2)]
    # One load alone is the same as among others.
    assert simulate(client, dict(body, loads=[0.6], repetitions=3))["loads"] == [result["loads"][1]]


def test_too_few_slots_of_one_kind_are_told(client):
    result = simulate(client, changed(SLOTS, loads=[0.9], jobs=[{"name": "A", "maps": 10, "map_task_s": 10, "reduces": 1, "reduce_task_s": 1}]))
    [warning] = result["warnings"]
    assert warning["code"] == "kind_overload" and "map slots" in warning["message"]
    assert warning["evidence"] == {"load": 0.9, "kind_load": pytest.approx(0.9 * 6 * 100 / 101 / 4)}


@pytest.mark.parametrize("body", [changed(SLOTS, jobs=many_jobs(50)[0], loads=[0.8]), changed(TASKS, jobs=many_jobs(50)[1], loads=[0.8]),
                                  changed(TASKS, jobs=many_jobs(50)[1])])
def test_figures_are_means_over_repetitions_and_jobs_are_of_the_first(client, body):
    alone = [simulate(client, dict(body, repetitions=n, include=["jobs"]))["loads"][0] for n in (1, 2, 3)]
    for i in range(len(body["policies"])):
        one, two, three = [load["policies"][i] for load in alone]
        assert one["jobs"] == two["jobs"] == three["jobs"]
    drawn = [i for i in range(len(body["policies"])) if alone[0]["policies"][i]["makespan_s"] != alone[1]["policies"][i]["makespan_s"]]
    assert drawn, "something was drawn"
    other = simulate(client, dict(body, seed=2))["loads"][0]
    assert any(other["policies"][i]["makespan_s"] != alone[0]["policies"][i]["makespan_s"] for i in drawn)


@pytest.mark.parametrize("body", [changed(SLOTS, jobs=many_jobs(40)[0], policies=ALL_SLOTS, loads=[0.8]), changed(TASKS, jobs=many_jobs(40)[1], loads=[0.8])])
def test_who_else_is_asked_changes_nothing(client, body):
    together = by_name(simulate(client, body)["loads"][0])
    for policy in body["policies"]:
        [load] = simulate(client, dict(body, policies=[policy]))["loads"]
        assert load["policies"][0] == together[load["policies"][0]["name"]]


def test_a_difference_within_its_error_is_told(client):
    """The same policy by two names of which one draws otherwise: with few repetitions nobody can say which is better."""
    policies = [{"policy": "sparrow", "name": "two"}, {"policy": "sparrow", "name": "three", "probes_per_task": 3}]
    codes = set()
    for seed in range(8):
        [load] = simulate(client, changed(TASKS, jobs=many_jobs(30, seed)[1], policies=policies, repetitions=3, seed=seed, cluster={"workers": 50}))["loads"]
        codes.add(load["best"]["code"])
    assert "too_close" in codes, codes


# --- what is included on request ---


@pytest.mark.parametrize("body", [
    changed(SLOTS, policies=ALL_SLOTS, loads=[0.5, 0.9], repetitions=2), changed(TASKS, loads=[0.5, 0.9], repetitions=2), SLOTS, TASKS])
def test_queues_and_distributions_are_included_on_request_and_change_nothing_else(client, body):
    plain = simulate(client, body)
    full = simulate(client, dict(body, include=["jobs", "queues", "distributions"]))
    for without, within in zip(plain["loads"], full["loads"]):
        for policy, other in zip(without["policies"], within["policies"]):
            assert policy["queue_lengths"] is policy["distributions"] is policy["jobs"] is None
            assert dict(other, queue_lengths=None, distributions=None, jobs=None) == policy
        assert dict(without, policies=None) == dict(within, policies=None)


def area(queues, of, until_s):
    left, width = queues["start_s"], queues["bin_s"]
    return sum(mean * (min(left + (i + 1) * width, until_s) - left - i * width) for i, mean in enumerate(queues[of]))


def test_queues_of_slots_add_up(client):
    [load] = simulate(client, changed(SLOTS, include=["queues", "jobs"], policies=ALL_SLOTS))["loads"]
    for policy in load["policies"]:
        queues, until_s = policy["queue_lengths"], policy["makespan_s"]
        assert queues["start_s"] == 0 and all(len(queues[of][kind]) <= 200 for of in ("waiting_tasks", "running_tasks") for kind in ("map", "reduce"))
        running = area(dict(queues, map=queues["running_tasks"]["map"]), "map", until_s)
        assert running == pytest.approx(8 + 6 + 80), "all maps, one after another"
        held = area(dict(queues, reduce=queues["running_tasks"]["reduce"]), "reduce", until_s)
        assert held >= 1 + 12 + 3 - 1e-6, "reduces hold slots while they fetch"
    fifo = by_name(load)["fifo"]["queue_lengths"]
    assert fifo["running_tasks"]["map"][0] == pytest.approx(3) and max(fifo["running_tasks"]["map"]) == pytest.approx(4)


def test_queues_of_tasks_and_the_load_of_masters_add_up(client):
    [load] = simulate(client, changed(TASKS, include=["queues"], jobs=many_jobs(100)[1], cluster={"workers": 20}))["loads"]
    tasks = sum(len(job["task_durations_s"]) for job in many_jobs(100)[1])
    work_s = sum(sum(job["task_durations_s"]) for job in many_jobs(100)[1])
    for policy in load["policies"]:
        queues, until_s = policy["queue_lengths"], policy["makespan_s"]
        assert sum(area(dict(queues, x=queues["running_tasks"][c]), "x", until_s) for c in ("short", "long")) == pytest.approx(work_s)
        masters = queues["masters"]
        if policy["policy"] not in ("pigeon", "centralised"):
            assert masters is None
            continue
        assert masters["count"] == len(masters["busiest"]) == (2 if policy["policy"] == "pigeon" else 1)
        messages = sum(m["messages_per_s"] for m in masters["busiest"]) * policy["makespan_s"]
        assert messages == pytest.approx(3 * tasks), "three messages a task"
        assert masters["mean_messages_per_s"] * masters["count"] * policy["makespan_s"] == pytest.approx(3 * tasks)
        assert masters["busiest"][0]["peak_messages_per_s"] >= masters["busiest"][0]["messages_per_s"]


@pytest.mark.parametrize("kind", ["slots", "tasks"])
def test_distributions_are_those_of_the_jobs(client, kind):
    slots, bags = many_jobs(80)
    body = changed(SLOTS, jobs=slots, cluster={"map_slots": 20, "reduce_slots": 10}) if kind == "slots" else changed(
        TASKS, jobs=bags, cluster={"workers": 20})
    [load] = simulate(client, dict(body, include=["distributions", "jobs"]))["loads"]
    for policy in load["policies"]:
        everybody = policy["distributions"][0]
        slowdowns = sorted(job["slowdown"] for job in policy["jobs"])
        assert (everybody["class"], everybody["count"]) == ("all", 80)
        assert everybody["percents"] == [*range(100), 99.9, 100]
        figures = policy if kind == "slots" else policy["classes"][0]
        for name, quantiles in (("completion_s", "completion_quantiles_s"), ("slowdown", "slowdown_quantiles")):
            points = dict(zip(everybody["percents"], everybody[quantiles]))
            assert everybody[quantiles] == sorted(everybody[quantiles])
            assert [points[q] for q in (50, 90, 95, 99)] == pytest.approx([figures[name]["p%d" % q] for q in (50, 90, 95, 99)])
        assert (everybody["slowdown_quantiles"][0], everybody["slowdown_quantiles"][-1]) == pytest.approx((slowdowns[0], slowdowns[-1]))
        assert everybody["slowdown_variability"]["p50"] == 1
        assert everybody["slowdown_variability"]["p95"] == pytest.approx(figures["slowdown"]["p95"] / figures["slowdown"]["p50"])
        if kind == "tasks":
            assert [(d["class"], d["count"]) for d in policy["distributions"]] == [(c["name"], c["count"]) for c in policy["classes"]]


def test_small_and_large_jobs_are_those_of_slowdowns(client):
    [load] = simulate(client, changed(SLOTS, jobs=many_jobs(60)[0], include=["jobs"]))["loads"]
    sizes = {j["name"]: sum(j["map_durations_s"]) + j["reduces"] * j["reduce_task_s"] for j in many_jobs(60)[0]}
    arrivals = {j["name"]: j["arrival_s"] for j in many_jobs(60)[0]}
    for policy in load["policies"]:
        jobs = [{"name": j["name"], "arrival_s": arrivals[j["name"]], "finish_s": j["finish_s"], "runtime_s": j["runtime_s"], "size_s": sizes[j["name"]]}
                for j in policy["jobs"]]
        wanted = client.post("/v1/slowdowns", {"jobs": jobs}, 200).json()["classes"]
        assert len(wanted) == len(policy["classes"]) > 1
        for mine, other in zip(policy["classes"], wanted):
            assert mine == pytest.approx(other)


# --- the recommendation ---


def codes(load, of):
    return {finding["code"]: finding for finding in load["recommendation"][of]}


def test_the_recommendation_gives_its_reasons_and_its_price(client):
    body = changed(SLOTS, jobs=many_jobs(300)[0], cluster={"map_slots": 40, "reduce_slots": 10}, baseline="fifo", loads=[0.9, 1.1], repetitions=3)
    result = simulate(client, body)
    for load in result["loads"]:
        policies, best = by_name(load), load["best"]["name"]
        assert load["recommendation"]["policy"] == best == "fair"
        reasons = codes(load, "reasons")
        assert reasons["objective"]["message"] == load["best"]["message"]
        assert reasons["objective"]["evidence"]["value"] == pytest.approx(policies["fair"]["slowdown"]["p95"])
        assert reasons["objective"]["evidence"]["next_value"] == pytest.approx(policies["fifo"]["slowdown"]["p95"])
        against = reasons.get("baseline_trade_off") or reasons["baseline_improved"]
        assert against["evidence"]["completion_p50_change_percent"] == pytest.approx(-policies["fair"]["reduction_percent"]["completion"]["p50"])
        assert against["evidence"]["makespan_change_percent"] == pytest.approx(-policies["fair"]["reduction_percent"]["makespan"])
        assert ("trade_off" in reasons) == ("baseline_trade_off" in reasons), "the next one is the baseline"
        assert ("overload" in codes(load, "warnings")) == (load["load"] >= 1)
        assert "one_repetition" not in codes(load, "warnings")


def test_the_load_of_masters_idle_workers_and_usual_terms_are_said(client):
    jobs = [{"name": str(i), "arrival_s": i, "task_durations_s": [0.5] * 3} for i in range(50)]
    body = changed(TASKS, jobs=jobs, cluster={"workers": 100}, policies=[{"policy": "pigeon", "groups": 4}])
    [load] = simulate(client, dict(body, include=["queues"]))["loads"]
    reasons, warnings = codes(load, "reasons"), codes(load, "warnings")
    busiest = load["policies"][0]["queue_lengths"]["masters"]["busiest"][0]
    assert reasons["masters_load"]["evidence"] == {"masters": 4, **{k: v for k, v in busiest.items() if k != "master"}}
    assert warnings["reserved_idle"]["evidence"] == {"reserved_workers": 4, "reserved_utilization": 0}
    assert warnings["default_terms"]["evidence"]["terms"] == "reserved_share is 0.05 and weight 20"
    assert set(reasons) == {"only_policy", "masters_load"}


def test_classes_and_queues_without_jobs_are_said(client):
    def warned(body):
        return [warning["code"] for warning in simulate(client, body)["warnings"]]
    jobs = [{"name": str(i), "arrival_s": i, "task_durations_s": [0.5] * 3} for i in range(5)]
    body = {"kind": "tasks", "cluster": {"workers": 4}, "jobs": jobs, "policies": [{"policy": "centralised"}]}
    assert warned(body) == ["no_long_jobs"] and warned(dict(body, short_cutoff_s=1)) == ["no_long_jobs"]
    assert warned(dict(body, short_cutoff_s=0.1)) == ["no_short_jobs"]
    assert warned(dict(body, jobs=[dict(jobs[0], **{"class": "long"})] + jobs[1:])) == []
    queues = [{"share": 0.5}, {"share": 0.5}]
    slots = changed(SLOTS, policies=[{"policy": "capacity", "queues": queues}, {"policy": "fifo"}])
    slots.pop("baseline", None)
    assert warned(slots) == ["one_queue_only"]
    slots["jobs"][0]["queue"] = 2
    assert warned(slots) == []


def test_policies_under_which_nothing_waits_are_as_good(client):
    jobs = [{"name": str(i), "arrival_s": 100 * i, "maps": 2, "map_task_s": 3} for i in range(5)]
    [load] = simulate(client, changed(SLOTS, jobs=jobs))["loads"]
    assert set(codes(load, "reasons")) == {"equal", "nothing_worse"}
    assert codes(load, "warnings")["nothing_waits"]["evidence"] == {"slowdown_p99": 1}


def test_how_many_repetitions_settle_a_difference(client):
    policies = [{"policy": "sparrow", "name": "two"}, {"policy": "sparrow", "name": "three", "probes_per_task": 3}]
    found = []
    for seed in range(8):
        [load] = simulate(client, changed(TASKS, jobs=many_jobs(30, seed)[1], policies=policies, repetitions=3, seed=seed, cluster={"workers": 50}))["loads"]
        warning = codes(load, "warnings").get("within_noise")
        assert (warning is not None) == (load["best"]["code"] == "too_close")
        found += [warning["evidence"]] if warning else []
    assert found
    for evidence in found:
        error = evidence["standard_error"] * 3 ** 0.5
        needed = evidence.get("repetitions_needed", 1e6)
        assert needed > 3 and (needed == 1e6 or 2 * error / needed ** 0.5 < evidence["difference"] <= 2 * error / (needed - 1) ** 0.5 + 1e-9)
    [load] = simulate(client, changed(TASKS, jobs=many_jobs(50)[1], loads=[0.9]))["loads"]
    assert "one_repetition" in codes(load, "warnings")


# --- what is refused ---


def job(**members):
    return dict({"name": "A", "maps": 2, "map_task_s": 3}, **members)


def slots_job(**members):
    return changed(SLOTS, jobs=[{"name": "A", **members}])


def slots_policy(**members):
    return changed(SLOTS, policies=[members])


def tasks_policy(**members):
    return changed(TASKS, policies=[members])


def tasks_job(**members):
    return changed(TASKS, jobs=[dict({"name": "A", "task_durations_s": [1, 2]}, **members)])


@pytest.mark.parametrize("pointer,code,body", [
    ("/cluster", "required", {k: v for k, v in SLOTS.items() if k != "cluster"}),
    ("/cluster/map_slots", "out_of_range", changed(SLOTS, cluster={"map_slots": 0, "reduce_slots": 1})),
    ("/cluster/reduce_slots", "required", changed(SLOTS, cluster={"map_slots": 1})),
    ("/cluster/reduce_slots", "out_of_range", changed(SLOTS, cluster={"map_slots": 4, "reduce_slots": 0})),
    ("/cluster/workers", "unknown_field", changed(SLOTS, cluster={"map_slots": 4, "reduce_slots": 1, "workers": 3})),
    ("/slow_start", "out_of_range", changed(SLOTS, slow_start=1.01)),
    ("/communication_s", "unknown_field", changed(SLOTS, communication_s=0)),
    ("/arrival_rates_per_s", "unknown_field", changed(SLOTS, arrival_rates_per_s=[1])),
    ("/jobs", "required", {k: v for k, v in SLOTS.items() if k != "jobs"}),
    ("/jobs", "too_few_items", changed(SLOTS, jobs=[])),
    ("/jobs/0", "wrong_type", changed(SLOTS, jobs=["A"])),
    ("/jobs/0/name", "required", changed(SLOTS, jobs=[{"maps": 1, "map_task_s": 1}])),
    ("/jobs/1/name", "duplicate", changed(SLOTS, jobs=[job(), job()])),
    ("/jobs/0/arrival_s", "out_of_range", changed(SLOTS, jobs=[job(arrival_s=-1)])),
    ("/jobs/0/maps", "required", slots_job()),
    ("/jobs/0/maps", "required", slots_job(map_durations_s=[])),
    ("/jobs/0/maps", "required", slots_job(maps=0, map_task_s=1)),
    ("/jobs/0/maps", "required", slots_job(map_task_s=1)),
    ("/jobs/0/map_task_s", "required", slots_job(maps=2)),
    ("/jobs/0/map_task_s", "out_of_range", slots_job(maps=2, map_task_s=0)),
    ("/jobs/0/map_durations_s/1", "out_of_range", slots_job(map_durations_s=[1, 0])),
    ("/jobs/0/map_durations_s/0", "wrong_type", slots_job(map_durations_s=["1"])),
    ("/jobs/0/map_durations_s", "conflict", slots_job(map_durations_s=[1], maps=1, map_task_s=1)),
    ("/jobs/0/reduce_durations_s", "conflict", slots_job(reduce_durations_s=[1], reduce_task_s=1)),
    ("/jobs/0/shuffle_s", "out_of_range", changed(SLOTS, jobs=[job(shuffle_s=-0.5)])),
    ("/jobs/0/predicted_size_s", "out_of_range", changed(SLOTS, jobs=[job(predicted_size_s=0)])),
    ("/jobs/0/queue", "out_of_range", changed(SLOTS, jobs=[job(queue=0)])),
    ("/jobs/0/queue", "out_of_range", changed(SLOTS, jobs=[job(queue=3)], policies=ALL_SLOTS)),
    ("/jobs/0/task_durations_s", "unknown_field", changed(SLOTS, jobs=[job(task_durations_s=[1])])),
    ("/jobs", "out_of_range", changed(SLOTS, jobs=[job(arrival_s=1e12), job(name="B", map_task_s=0.001)])),
    ("/policies", "required", {k: v for k, v in SLOTS.items() if k != "policies"}),
    ("/policies", "too_few_items", changed(SLOTS, policies=[])),
    ("/policies", "too_many_items", changed(SLOTS, policies=[{"policy": "fifo", "name": str(i)} for i in range(33)])),
    ("/policies/0/policy", "not_allowed", slots_policy(policy="pigeon", groups=2)),
    ("/policies/0/groups", "unknown_field", slots_policy(policy="pigeon", groups=2)),
    ("/policies/1/name", "duplicate", changed(SLOTS, policies=[{"policy": "fifo"}, {"policy": "fifo"}])),
    ("/policies/0/limits_s", "unknown_field", slots_policy(policy="fifo", limits_s=[1])),
    ("/policies/0/concurrency", "out_of_range", slots_policy(policy="fair", concurrency=0)),
    ("/policies/0/queues", "required", slots_policy(policy="capacity")),
    ("/policies/0/queues", "wrong_type", slots_policy(policy="capacity", queues=2)),
    ("/policies/0/queues", "out_of_range", slots_policy(policy="capacity", queues=[{"share": 0.5}, {"share": 0.4}])),
    ("/policies/0/queues/0/share", "out_of_range", slots_policy(policy="capacity", queues=[{"share": 0}, {"share": 1}])),
    ("/policies/0/queues/0/max_share", "out_of_range", slots_policy(policy="capacity", queues=[{"share": 1, "max_share": 1.5}])),
    ("/policies/0/limits_s", "required", slots_policy(policy="fbq")),
    ("/policies/0/limits_s", "too_few_items", slots_policy(policy="fbq", limits_s=[])),
    ("/policies/0/limits_s/0", "out_of_range", slots_policy(policy="fbq", limits_s=[0])),
    ("/policies/0/partitions", "required", slots_policy(policy="tags", limits_s=[1])),
    ("/policies/0/partitions", "too_many_items", slots_policy(policy="tags", limits_s=[1], partitions=[0.2, 0.2, 0.6])),
    ("/policies/0/partitions", "too_few_items", slots_policy(policy="tags", limits_s=[1, 2], partitions=[0.2, 0.8])),
    ("/policies/0/partitions", "out_of_range", slots_policy(policy="tags", limits_s=[1], partitions=[0.2, 0.7])),
    ("/policies/0/partitions/0", "out_of_range", slots_policy(policy="tags", limits_s=[1], partitions=[0, 1])),
    ("/policies/0/limits_s/1", "out_of_range", slots_policy(policy="sita", limits_s=[2, 2], partitions=[0.2, 0.2, 0.6])),
    ("/cluster/reduce_slots", "out_of_range", slots_policy(policy="sita", limits_s=[2, 3], partitions=[0.2, 0.2, 0.6])),
    ("/cluster/map_slots", "out_of_range", dict(slots_policy(policy="tags", limits_s=[2], partitions=[0.5, 0.5]), cluster={"map_slots": 1, "reduce_slots": 2})),
    ("/policies/0/queues", "out_of_range", slots_policy(policy="comp", queues=1)),
    ("/policies/0/concurrency", "required", slots_policy(policy="fresh")),
    ("/policies/0/concurrency", "required", slots_policy(policy="fresh_static")),
    ("/policies/0/tau1", "unknown_field", slots_policy(policy="fresh_static", concurrency=1, tau1=1)),
    ("/policies/0/tau1", "out_of_range", slots_policy(policy="fresh", concurrency=1, tau1=1.1)),
    ("/policies/0/tau2", "wrong_type", slots_policy(policy="fresh", concurrency=1, tau2=None)),
    ("/policies/0/policy", "out_of_range", dict(slots_policy(policy="fresh_static", concurrency=1), cluster={"map_slots": 10**7, "reduce_slots": 1})),
    ("/jobs/1/maps", "out_of_range", changed(SLOTS, jobs=[job(), {"name": "B", "reduces": 1, "reduce_task_s": 1}],
                                             policies=[{"policy": "fresh", "concurrency": 1}])),
    ("/policies/0/ema_weight", "out_of_range", slots_policy(policy="omo", ema_weight=0)),
    ("/policies/0/window_s", "out_of_range", slots_policy(policy="omo", window_s=0)),
    ("/policies/0/techniques/0", "not_allowed", slots_policy(policy="omo", techniques=["lazy"])),
    ("/baseline", "unknown_policy", changed(SLOTS, baseline="comp")),
    ("/loads", "too_few_items", changed(SLOTS, loads=[])),
    ("/loads/0", "out_of_range", changed(SLOTS, loads=[0])),
    ("/loads/1", "duplicate", changed(SLOTS, loads=[0.5, 0.5])),
    ("/repetitions", "out_of_range", changed(SLOTS, repetitions=0)),
    ("/repetitions", "out_of_range", changed(SLOTS, repetitions=501)),
    ("/seed", "out_of_range", changed(SLOTS, seed=-1)),
    ("/include/0", "not_allowed", changed(SLOTS, include=["tasks"])),
    ("/objective", "not_allowed", changed(SLOTS, objective="mean")),
    ("/workload", "unknown_field", changed(SLOTS, workload={"workflows": 3})),
    ("/cluster/workers", "out_of_range", changed(TASKS, cluster={"workers": 0})),
    ("/communication_s", "out_of_range", changed(TASKS, communication_s=-1)),
    ("/short_cutoff_s", "out_of_range", changed(TASKS, short_cutoff_s=0)),
    ("/jobs/0/task_durations_s", "required", changed(TASKS, jobs=[{"name": "A"}])),
    ("/jobs/0/task_durations_s", "too_few_items", tasks_job(task_durations_s=[])),
    ("/jobs/0/task_durations_s/1", "out_of_range", tasks_job(task_durations_s=[1, -1])),
    ("/jobs/0/class", "not_allowed", tasks_job(**{"class": "medium"})),
    ("/jobs/0/placement", "too_few_items", tasks_job(placement=[0])),
    ("/jobs/0/placement", "too_many_items", tasks_job(placement=[0, 0, 0])),
    ("/jobs/0/placement/1", "out_of_range", tasks_job(placement=[0, 2])),
    ("/jobs/0/placement/0", "out_of_range", tasks_job(placement=[-1, 0])),
    ("/jobs/0/maps", "unknown_field", tasks_job(maps=3)),
    ("/policies/0/groups", "required", tasks_policy(policy="pigeon")),
    ("/policies/0/groups", "out_of_range", tasks_policy(policy="pigeon", groups=7)),
    ("/policies/0/groups", "unknown_field", tasks_policy(policy="sparrow", groups=2)),
    ("/policies/0/reserved_share", "out_of_range", tasks_policy(policy="centralised", reserved_share=0.6)),
    ("/policies/0/reserved_share", "unknown_field", tasks_policy(policy="sparrow", reserved_share=0.1)),
    ("/policies/0/weight", "out_of_range", tasks_policy(policy="centralised", weight=0)),
    ("/policies/0/weight", "not_allowed", tasks_policy(policy="centralised", weight="heavy")),
    ("/policies/0/weight", "wrong_type", tasks_policy(policy="centralised", weight=1.5)),
    ("/policies/0/probes_per_task", "out_of_range", tasks_policy(policy="sparrow", probes_per_task=0)),
    ("/policies/0/probes_per_task", "out_of_range", tasks_policy(policy="eagle", probes_per_task=101)),
    ("/policies/0", "too_large", changed(TASKS, cluster={"workers": 10**9}, policies=[{"policy": "sparrow"}])),
])
def test_what_is_wrong_is_named(client, pointer, code, body):
    problem = client.refuse("POST", "/v1/simulations", 422, pointer=pointer, json=body)
    assert code in [e["code"] for e in problem["errors"] if e["pointer"] == pointer], problem


def test_of_several_faults_all_are_told(client):
    body = changed(SLOTS, slow_start=2, policies=[{"policy": "fbq"}, {"policy": "tags", "limits_s": [1], "queues": 3, "partitions": [1, 0]}])
    problem = client.refuse("POST", "/v1/simulations", 422, json=body)
    assert {e["pointer"] for e in problem["errors"]} >= {"/slow_start", "/policies/0/limits_s", "/policies/1/queues", "/policies/1/partitions/1"}


@pytest.mark.parametrize("pointer,setting,figure,body", [
    ("/jobs", "simulation_tasks_max", "1000001", changed(SLOTS, jobs=[job(maps=1000001)])),
    ("/repetitions", "simulation_runs_max", "2 x 3 x 200", changed(SLOTS, loads=[0.1, 0.2, 0.3], repetitions=200)),
    ("/repetitions", "simulation_job_task_runs_max", "102000000", changed(SLOTS, jobs=[job(maps=1000000)], repetitions=51)),
    ("/loads", "simulation_job_task_runs_max", "208000000", changed(SLOTS, jobs=[job(maps=1000000)], policies=ALL_SLOTS[:8],
                                                                    loads=[0.01 * (i + 1) for i in range(26)])),
    ("/repetitions", "simulation_job_task_runs_max", "101250000", changed(SLOTS, policies=[{"policy": "fresh", "concurrency": 2000}], repetitions=15,
                                                                          jobs=[job(name=str(i), maps=600) for i in range(1500)])),
    ("/policies", "simulation_job_task_runs_max", "150741180", changed(TASKS, policies=[{"policy": "sparrow", "name": str(i), "probes_per_task": 100}
                                                                                         for i in range(30)], jobs=many_jobs(5000, tasks=19)[1])),
    ("/repetitions", "simulation_job_task_runs_max", "120001000", changed(TASKS, cluster={"workers": 60000}, policies=[{"policy": "pigeon", "groups": 60000}],
                                                                          jobs=[{"name": "a", "task_durations_s": [1]}], loads=[0.5], repetitions=1000)),
    ("/include", "simulation_job_rows_max", "640000", changed(SLOTS, jobs=[job(name=str(i)) for i in range(10000)], include=["jobs"],
                                                             loads=[0.5, 0.6], policies=[{"policy": "fifo", "name": str(i)} for i in range(32)])),
    ("/policies/0", "simulation_memory_bytes_max", " GiB", changed(TASKS, cluster={"workers": 10**9}, policies=[{"policy": "eagle"}])),
])
def test_limits_name_their_setting_and_the_figure(limited, pointer, setting, figure, body):
    before = limited.get("/v1/operations?limit=1").json()["items"]
    problem = limited.refuse("POST", "/v1/simulations", 422, pointer=pointer, json=body)
    [detail] = [e["detail"] for e in problem["errors"] if e["pointer"] == pointer]
    assert setting in detail and figure in detail, detail
    assert limited.get("/v1/operations?limit=1").json()["items"] == before, "nothing is stored"


def test_jobs_are_bounded(client):
    problem = client.refuse("POST", "/v1/simulations", 422, pointer="/jobs", json=changed(SLOTS, jobs=[job(name=str(i)) for i in range(10001)]))
    assert [e["code"] for e in problem["errors"]] == ["too_many_items"]


# --- whose it is ---


def test_simulations_need_the_right_to_write(client):
    reader = client.post("/v1/tokens", {"name": "schedulers-reader", "scopes": ["read"]}, 201).json()["token"]
    client.service.client(reader).post("/v1/simulations", SLOTS, 403)


def test_a_simulation_of_another_team_is_not_there(service, client):
    made = ask(client, TASKS)["id"]
    service.client(service.beta_token).get("/v1/operations/" + made, 404)
    wait_for(client, made)


def test_prefer_wait_answers_with_the_result(client):
    reply = client.post("/v1/simulations", SLOTS, 200, headers={"Prefer": "wait=15"})
    assert reply.json()["status"] == "succeeded" and reply.json()["result"]["loads"]


# --- threads, turns, and what happens meanwhile ---


def some_work(kind):
    slots, bags = many_jobs(400)
    if kind == "slots":
        return changed(SLOTS, jobs=slots, policies=ALL_SLOTS, cluster={"map_slots": 30, "reduce_slots": 10}, loads=[0.6, 0.9], repetitions=4, include=["jobs"])
    return changed(TASKS, jobs=bags, cluster={"workers": 50}, loads=[0.6, 0.9], repetitions=4, include=["jobs"])


@pytest.mark.parametrize("kind", ["slots", "tasks"])
def test_the_number_of_threads_does_not_change_a_byte(make_service, kind):
    results = []
    for threads in (1, 2, 5):
        service = make_service(PROVISOR_SIMULATION_THREADS=threads)
        token = service.token("alpha")
        service.start()
        made = ended(service.client(token), some_work(kind))
        assert made["progress"]["done"] == made["progress"]["total"]
        results.append(json.dumps(checked(service.client(token), made)))
        service.stop()
    assert results[0] == results[1] == results[2]


def running(client, body):
    made = ask(client, body)["id"]
    wait_for(client, made, ("running",))
    wait_until(lambda: client.get("/v1/operations/" + made).json()["progress"]["done"])
    return made


def test_a_simulation_is_cancelled_within_half_a_second_of_being_told(client):
    made = running(client, LONG)
    began = time.monotonic()
    client.delete("/v1/operations/" + made, (200, 202))
    seen = wait_for(client, made)
    # The workers are told of it within a beat, then half a second is theirs.
    assert seen["status"] == "cancelled" and time.monotonic() - began < 1.5 * SLOWDOWN
    assert 0 < seen["progress"]["done"] < seen["progress"]["total"] and seen["result"] is None


def test_one_that_gave_way_has_the_same_result_and_others_have_their_turn(service, client):
    quiet = service.client(service.beta_token)
    some_runs(quiet, "beside")
    alone = simulate(quiet, some_work("slots"))
    long = [running(client, LONG) for _ in range(2)]
    made = ended(quiet, some_work("slots"))
    assert made["attempt"] == 1 and checked(quiet, made) == alone
    asked = quiet.post("/v1/applications/beside/refit", {"resamples": 50}, 202).json()
    assert wait_for(quiet, asked["id"])["status"] == "succeeded"
    for operation in long:
        seen = client.get("/v1/operations/" + operation).json()
        assert (seen["status"], seen["attempt"]) == ("running", 1)
        wait_until(lambda: client.get("/v1/operations/" + operation).json()["progress"]["done"] > seen["progress"]["done"])
    for operation in long:
        client.delete("/v1/operations/" + operation, (200, 202))
        wait_for(client, operation)


def test_while_it_waits_for_its_turn_its_threads_stand_still(service, client):
    """Two workers, four operations for minutes: those that wait make no progress."""
    made = [running(client, LONG) for _ in range(4)]
    try:
        wait_until(lambda: held(service, "waiting") >= 2)
        began = [client.get("/v1/operations/" + m).json()["progress"]["done"] for m in made]
        wait_until(lambda: all(client.get("/v1/operations/" + m).json()["progress"]["done"] > b for m, b in zip(made, began)))
    finally:
        for operation in made:
            client.delete("/v1/operations/" + operation, (200, 202))
    assert all(wait_for(client, operation)["status"] == "cancelled" for operation in made)


def test_a_killed_process_begins_anew_and_comes_to_the_same(make_service):
    service = make_service(PROVISOR_OPERATION_WORKERS=1, PROVISOR_OPERATION_LEASE_S=5)
    token = service.token("alpha")
    client = service.start().client(token)
    for repetitions in (24, 96, 384):  # a fast machine may be done before it is killed
        body = changed(LONG, repetitions=repetitions // SLOWDOWN)
        made = running(client, body)
        service.kill()
        service.start()
        seen = wait_for(client, made, seconds=2 * PATIENCE)
        if seen["attempt"] == 2:
            break
    assert seen["attempt"] == 2
    assert checked(client, seen) == simulate(client, body)
