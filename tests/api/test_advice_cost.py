"""Advice on a registered cluster and with prices: bounds, costs on demand and from the spot market, where a price is from."""
import json
import math
import uuid

import pytest

from test_advice_spark import run_of
from test_memory import GIB, memory_log, store

STAGES = [{"id": 0, "name": "map", "task_durations_s": [30 + i % 7 for i in range(160)]},
          {"id": 1, "name": "reduce", "parents": [0], "task_durations_s": [20 + i % 3 for i in range(40)]}]
ROW = {"machine_type": "m5", "per_executor_hour": 0.25, "spot_per_executor_hour": 0.1, "interruptions_per_hour": 0.5}

MACHINE = {"per_machine_hour": 0.8, "spot_per_machine_hour": 0.3, "interruptions_per_hour": 0.5, "machine_cores": 9, "startup_billed_s": 90,
           "minimum_billed_s": 60, "billing_increment_s": 1}


@pytest.fixture(scope="module")
def client(service):
    """A team with a history, a book and clusters."""
    client = service.client(service.token("cost-" + uuid.uuid4().hex[:8]))
    for size in (4, 8, 8, 16):
        work = sum(sum(s["task_durations_s"]) for s in STAGES)
        client.post("/v1/applications/job/runs", {"problem_size": 160, "executors": size, "cores_per_executor": 2, "initialization_s": 5,
                                                  "duration_s": 10 + work / (2 * size) * 1.05, "stages": STAGES}, 201)
    client.put("/v1/price-books/book", {"currency": "EUR", "prices": [
        ROW, {"machine_type": "plain", "per_executor_hour": 0.5}, {"cluster": "named", "per_executor_hour": 1},
        {"machine_type": "unrated", "per_executor_hour": 0.25, "spot_per_executor_hour": 0.1},
        dict(MACHINE, machine_type="big"), {"machine_type": "small", "per_machine_hour": 0.1, "spot_per_machine_hour": 0.1, "machine_cores": 1},
        {"machine_type": "sized", "per_machine_hour": 1, "machine_memory_bytes": 10 << 30}]}, 201)
    for name, body in {"eu": {"machine_type": "m5"}, "plain": {"machine_type": "plain"}, "named": {"machine_type": "m5"},
                       "other": {"machine_type": "nowhere"}, "big": {"machine_type": "big"}, "small": {"machine_type": "small"},
                       "sized": {"machine_type": "sized"}, "unrated": {"machine_type": "unrated"}}.items():
        client.put("/v1/clusters/" + name, dict({"executors": 30, "cores_per_executor": 2, "price_book": "book"}, **body), 201)
    client.put("/v1/clusters/bare", {}, 201)
    return client


def ask(client, status=201, include=(), **more):
    constraints = more.pop("constraints", {})
    body = dict({"application": "job", "deadline_s": 600, "constraints": constraints, "include": ["alternatives", *include]}, **more)
    return client.post("/v1/advice", body, status).json()


def reason(advice, code, where="reasons"):
    return next((n for n in advice[where] if n["code"] == code), None)


def cost_of(choice, price):
    return choice["executors"] * choice["predicted_duration_s"] / 3600 * price


def test_the_cluster_gives_bounds_and_the_price(client):
    advice = ask(client, constraints={"cluster": "eu"})
    got = advice["recommendation"]
    assert got["cores_per_executor"] == 2 and got["executors"] <= 30
    assert math.isclose(got["cost"], cost_of(got, 0.25), rel_tol=1e-6)
    assert advice["alternatives"] and all(math.isclose(a["cost"], cost_of(a, 0.25), rel_tol=1e-6) and a["executors"] <= 30
                                          for a in advice["alternatives"])
    unknown = ["price_per_machine_hour", "machine_cores", "machine_memory_bytes", "container_bytes", "executors_per_machine", "machines",
               "startup_billed_s", "minimum_billed_s", "billing_increment_s", "interruptions_per_hour", "executor_startup_s",
               "expected_interruptions", "interruption_s", "interruption_cost", "cluster"]
    assert advice["pricing"] == dict(dict.fromkeys(unknown), market="on_demand", currency="EUR", price_per_executor_hour=0.25, source="price_book",
                                     price_book="book", machine_type="m5", on_demand_cost=got["cost"], billed_s=got["predicted_duration_s"])
    assert reason(advice, "price")["evidence"]["price_book"] == "book" and "EUR" in reason(advice, "price")["message"]
    assert reason(advice, "cluster")["evidence"]["max_executors"] == 30
    # It was advice: what is read again is the same, after the cluster is gone, too.
    assert client.get("/v1/advice/" + advice["id"]).json() == advice


def test_the_order_of_prices(client):
    assert ask(client, constraints={"cluster": "named"})["pricing"]["price_per_executor_hour"] == 1
    assert ask(client, constraints={"cluster": "named"})["pricing"]["cluster"] == "named"
    assert ask(client, constraints={"cluster": "plain"})["pricing"]["machine_type"] == "plain"
    own = ask(client, constraints={"cluster": "named", "price_per_executor_hour": 3})
    assert own["pricing"]["source"] == "request" and own["pricing"]["currency"] is None and own["pricing"]["price_book"] is None
    assert math.isclose(own["recommendation"]["cost"], cost_of(own["recommendation"], 3), rel_tol=1e-6)
    without = ask(client, constraints={"cluster": "other"})
    assert without["pricing"] is None and without["recommendation"]["cost"] is None and reason(without, "no_price", "warnings")
    assert ask(client, constraints={"cluster": "bare"})["pricing"] is None


def test_bounds_of_the_cluster(client):
    tight = ask(client, deadline_s=60, constraints={"cluster": "eu"})
    assert not tight["feasible"] and tight["recommendation"]["executors"] <= 30
    assert ask(client, deadline_s=60, constraints={"cluster": "eu", "max_executors": 500})["recommendation"]["executors"] <= 30
    assert ask(client, deadline_s=60, constraints={"cluster": "eu", "max_executors": 7})["recommendation"]["executors"] <= 7
    # Executors twice as large: half as many.
    assert reason(ask(client, constraints={"cluster": "eu", "cores_per_executor": 4}), "cluster")["evidence"]["max_executors"] == 15


@pytest.mark.parametrize("body,pointer,code", [
    ({"constraints": {"cluster": "nobody"}}, "/constraints/cluster", "unknown_cluster"),
    ({"constraints": {"cluster": 3}}, "/constraints/cluster", "wrong_type"),
    ({"constraints": {"cluster": "eu", "min_executors": 31}}, "/constraints/min_executors", "out_of_range"),
    ({"constraints": {"cluster": "eu", "cores_per_executor": 61}}, "/constraints/cores_per_executor", "out_of_range"),
    ({"constraints": {"max_cost": 1}}, "/constraints/price_per_executor_hour", "required"),
    ({"constraints": {"max_cost": 1, "cluster": "bare"}}, "/constraints/max_cost", "required"),
    ({"constraints": {"max_cost": 1, "cluster": "other"}}, "/constraints/max_cost", "required"),
    ({"constraints": {"max_cost": 0.001, "cluster": "eu"}}, "/constraints/max_cost", "unsatisfiable"),
    ({"constraints": {"spot_per_executor_hour": 1}}, "/constraints/price_per_executor_hour", "required"),
    ({"constraints": {"price_per_executor_hour": 1, "interruptions_per_hour": 1}}, "/constraints/spot_per_executor_hour", "required"),
    ({"constraints": {"price_per_executor_hour": 1, "price_per_machine_hour": 1, "machine_cores": 4}}, "/constraints/price_per_machine_hour", "conflict"),
    ({"constraints": {"price_per_machine_hour": 1}}, "/constraints/machine_cores", "required"),
    ({"constraints": {"machine_cores": 4}}, "/constraints/price_per_machine_hour", "required"),
    ({"constraints": {"machine_memory_bytes": 4}}, "/constraints/price_per_machine_hour", "required"),
    ({"constraints": {"spot_per_machine_hour": 4, "machine_cores": 1}}, "/constraints/price_per_machine_hour", "required"),
    ({"constraints": {"price_per_machine_hour": 1, "machine_cores": 4, "interruptions_per_hour": 1}}, "/constraints/spot_per_machine_hour", "required"),
    ({"constraints": {"price_per_machine_hour": 1, "machine_cores": 0}}, "/constraints/machine_cores", "out_of_range"),
    ({"constraints": {"price_per_machine_hour": 1, "machine_cores": 1}}, "/constraints/machine_cores", "out_of_range"),
    ({"constraints": {"price_per_machine_hour": 1, "machine_memory_bytes": 1 << 34}}, "/constraints/machine_cores", "required"),
    ({"constraints": {"price_per_machine_hour": 1, "machine_memory_bytes": 1 << 28, "enforced": {"spark.executor.memory": "2g"}}},
     "/constraints/machine_memory_bytes", "out_of_range"),
    ({"constraints": {"startup_billed_s": 60}}, "/constraints/price_per_executor_hour", "required"),
    ({"constraints": {"minimum_billed_s": -1, "cluster": "eu"}}, "/constraints/minimum_billed_s", "out_of_range"),
    ({"constraints": {"billing_increment_s": 1e13, "cluster": "eu"}}, "/constraints/billing_increment_s", "out_of_range"),
    ({"market": "spot", "constraints": {"price_per_machine_hour": 1, "machine_cores": 4}}, "/market", "no_spot_price"),
    ({"market": "spot", "constraints": {"cluster": "small"}}, "/market", "required"),
    ({"constraints": {"max_cost": 1, "cluster": "small"}}, "/constraints/max_cost", "required"),
    ({"constraints": {"price_per_executor_hour": -1}}, "/constraints/price_per_executor_hour", "out_of_range"),
    ({"market": "spot"}, "/market", "required"), ({"market": "cheapest"}, "/market", "required"),
    ({"market": "free"}, "/market", "not_allowed"),
    ({"market": "spot", "constraints": {"cluster": "plain"}}, "/market", "no_spot_price"),
    ({"market": "spot", "constraints": {"price_per_executor_hour": 1}}, "/market", "no_spot_price"),
    ({"running": [{"application": "job", "deadline_s": 9000}], "constraints": {"cluster": "bare"}}, "/constraints/cluster", "cluster_attribute_missing"),
    ({"running": [{"application": "job", "deadline_s": 9000}]}, "/constraints/max_executors", "required"),
])
def test_faults_name_their_place(client, body, pointer, code):
    problem = client.refuse("POST", "/v1/advice", 422, pointer=pointer, json=dict({"application": "job", "deadline_s": 600}, **body))
    assert code in [e["code"] for e in problem["errors"]]


def test_faults_say_what_to_send(client):
    for constraints, detail in (
            ({"spot_per_executor_hour": 1}, "must be sent where spot_per_executor_hour is"),
            ({"price_per_machine_hour": 1}, "must be sent, or machine_memory_bytes, where price_per_machine_hour is"),
            ({"price_per_executor_hour": 1, "price_per_machine_hour": 1, "machine_cores": 4}, "must be left out where price_per_executor_hour is sent"),
            ({"cores_per_executor": 2, "enforced": {"spark.executor.cores": "4"}}, "must be 2, as cores_per_executor says"),
            ({"max_executors": 7, "enforced": {"spark.executor.instances": "8"}}, "must lie within min_executors and max_executors")):
        errors = client.request("POST", "/v1/advice", 422, json={"application": "job", "constraints": constraints}).json()["errors"]
        assert [detail in e["detail"] for e in errors] == [True], errors


def test_running_jobs_share_the_registered_cluster(client):
    """K is the cluster's, not max_executors x cores_per_executor."""
    running = [{"application": "job", "deadline_s": 100000}]
    advice = ask(client, include=["contention"], constraints={"cluster": "eu", "max_executors": 20}, running=running)
    assert reason(advice, "met_beside_running")["evidence"]["cores"] == 60
    advice = ask(client, include=["contention"], constraints={"max_executors": 20, "cores_per_executor": 2}, running=running)
    assert reason(advice, "met_beside_running")["evidence"]["cores"] == 40
    advice = ask(client, include=["contention"], constraints={"cluster": "bare", "max_executors": 20, "cores_per_executor": 2}, running=running)
    assert reason(advice, "met_beside_running")["evidence"]["cores"] == 40


def test_spot_pays_less_and_waits_longer(client):
    ten = {"cluster": "eu", "min_executors": 10, "max_executors": 10}
    plain = ask(client, constraints=ten)["recommendation"]
    advice = ask(client, constraints=ten, market="spot")
    got, pricing = advice["recommendation"], advice["pricing"]
    hours = plain["predicted_duration_s"] / 3600
    expected = 3600 * math.expm1(0.5 * hours) / 0.5
    assert math.isclose(got["predicted_duration_s"], expected, rel_tol=1e-6)
    assert math.isclose(got["cost"], 10 * expected / 3600 * 0.1, rel_tol=1e-6)
    assert math.isclose(pricing["interruption_cost"], 10 * (expected / 3600 - hours) * 0.1, rel_tol=1e-5)
    assert math.isclose(pricing["interruption_s"], expected - plain["predicted_duration_s"], rel_tol=1e-5)
    assert math.isclose(pricing["expected_interruptions"], 10 * expected / 3600 * 0.5, rel_tol=1e-6)
    assert math.isclose(pricing["on_demand_cost"], plain["cost"], rel_tol=1e-6) and pricing["interruptions_per_hour"] == 0.5
    assert got["deadline_probability"] <= plain["deadline_probability"]
    assert got["interval_s"][1] - got["interval_s"][0] > plain["interval_s"][1] - plain["interval_s"][0]
    assert reason(advice, "interruptions")["evidence"]["interruption_cost"] == pricing["interruption_cost"]


def test_a_deadline_that_spot_endangers_is_warned_of(client):
    ten = {"cluster": "eu", "min_executors": 10, "max_executors": 10}
    plain = ask(client, constraints=ten)["recommendation"]
    deadline = plain["predicted_duration_s"] * 1.1
    advice = ask(client, deadline_s=deadline, constraints=ten, market="spot")
    warning = reason(advice, "spot_deadline_risk", "warnings")["evidence"]
    assert warning["deadline_probability"] == advice["recommendation"]["deadline_probability"] < warning["on_demand_deadline_probability"]
    on_demand = ask(client, deadline_s=deadline, constraints=ten)
    assert math.isclose(warning["on_demand_deadline_probability"], on_demand["recommendation"]["deadline_probability"], rel_tol=1e-5)


def test_cheapest_weighs_both(client):
    advice = ask(client, deadline_s=3000, constraints={"cluster": "eu"}, market="cheapest")
    assert advice["pricing"]["market"] == "spot"
    weighed = reason(advice, "market_chosen")["evidence"]
    assert weighed["cost"] == advice["recommendation"]["cost"] < weighed["other_cost"]
    assert weighed["other_cost"] == ask(client, deadline_s=3000, constraints={"cluster": "eu"})["recommendation"]["cost"]
    # An executor that is taken away every two minutes is no bargain.
    dear = {"price_per_executor_hour": 0.25, "spot_per_executor_hour": 0.2, "interruptions_per_hour": 30, "max_executors": 30}
    advice = ask(client, deadline_s=3000, constraints=dear, market="cheapest")
    assert advice["pricing"]["market"] == "on_demand" and advice["pricing"]["source"] == "request"
    advice = ask(client, constraints={"cluster": "plain"}, market="cheapest")
    assert advice["pricing"]["market"] == "on_demand" and reason(advice, "market_chosen")


def test_objectives_and_limits_of_cost(client):
    free = ask(client, deadline_s=None, objective="min_cost", constraints={"cluster": "eu"})
    assert free["recommendation"]["cost"] <= min(a["cost"] for a in free["alternatives"]) * (1 + 1e-6)
    fast = ask(client, deadline_s=None, objective="min_time", constraints={"cluster": "eu"})["recommendation"]
    assert fast["cost"] > free["recommendation"]["cost"]
    limit = (fast["cost"] + free["recommendation"]["cost"]) / 2
    held = ask(client, deadline_s=None, objective="min_time", constraints={"cluster": "eu", "max_cost": limit})
    assert held["recommendation"]["cost"] <= limit and all(a["cost"] <= limit for a in held["alternatives"])
    # The front: who is faster costs more.
    front = [(a["predicted_duration_s"], a["cost"]) for a in fast and ask(client, deadline_s=None, objective="min_time",
                                                                        constraints={"cluster": "eu"})["alternatives"]]
    assert front == sorted(front)


def test_unknown_interruptions_are_told(client):
    advice = ask(client, constraints={"cluster": "unrated"}, market="spot")
    assert reason(advice, "interruptions_unknown", "warnings") and advice["pricing"]["interruptions_per_hour"] is None
    assert advice["pricing"]["interruption_cost"] == 0


def test_advice_is_history_and_holds_no_cluster_back(client):
    client.put("/v1/clusters/gone", {"executors": 10, "cores_per_executor": 2}, 201)
    advice = ask(client, constraints={"cluster": "gone"})
    client.delete("/v1/clusters/gone")
    assert client.get("/v1/advice/" + advice["id"]).json() == advice
    client.refuse("POST", "/v1/advice", 422, pointer="/constraints/cluster", json={"application": "job", "constraints": {"cluster": "gone"}})


def test_a_changed_cluster_changes_the_next_advice(client):
    client.put("/v1/clusters/moving", {"executors": 10, "cores_per_executor": 2}, 201)
    first = reason(ask(client, constraints={"cluster": "moving"}), "cluster")["evidence"]
    client.put("/v1/clusters/moving", {"executors": 12, "cores_per_executor": 2})
    second = reason(ask(client, constraints={"cluster": "moving"}), "cluster")["evidence"]
    assert (first["max_executors"], second["max_executors"]) == (10, 12) and second["version"] == first["version"] + 1


def test_a_model_is_priced_like_a_replay(client):
    """Runs without stages: only a model can answer, with a distribution of its own."""
    for size in (2, 3, 4, 6, 8, 12, 16):
        client.post("/v1/applications/plain/runs", {"problem_size": 64, "executors": size, "cores_per_executor": 2, "initialization_s": 5,
                                                    "duration_s": 30 + 7200 / size + size}, 201)
    eight = {"cluster": "eu", "min_executors": 8, "max_executors": 8}
    plain = ask(client, application="plain", constraints=eight, deadline_s=1100)
    spot = ask(client, application="plain", constraints=eight, deadline_s=1100, market="spot")
    assert plain["model"]["kind"] == spot["model"]["kind"] != "replay"
    hours = plain["recommendation"]["predicted_duration_s"] / 3600
    assert math.isclose(spot["recommendation"]["predicted_duration_s"], 3600 * math.expm1(0.5 * hours) / 0.5, rel_tol=1e-6)
    width = [a["recommendation"]["interval_s"][1] / a["recommendation"]["interval_s"][0] for a in (plain, spot)]
    assert width[1] > width[0]
    assert spot["recommendation"]["deadline_probability"] < plain["recommendation"]["deadline_probability"]


def billed(pricing, duration_s):
    """By the terms of the reply alone."""
    least = max(pricing["minimum_billed_s"] or 0, (pricing["startup_billed_s"] or 0) + duration_s)
    step = pricing["billing_increment_s"]
    return math.ceil(least / step * (1 - 1e-9)) * step if step else least


def cost_by_hand(choice, pricing):
    machines = -(-choice["executors"] // pricing["executors_per_machine"])
    return machines * billed(pricing, choice["predicted_duration_s"]) / 3600 * pricing["price_per_machine_hour"]


def test_machines_of_a_price_book_are_packed_and_billed(client):
    """9 cores hold four executors of 2; every cost of the reply follows from what it says of the price."""
    advice = ask(client, constraints={"cluster": "big"})
    pricing, got = advice["pricing"], advice["recommendation"]
    assert (pricing["executors_per_machine"], pricing["machine_cores"], pricing["price_per_executor_hour"]) == (4, 9, None)
    assert pricing["machines"] == -(-got["executors"] // 4) and pricing["machine_type"] == "big"
    assert (pricing["startup_billed_s"], pricing["minimum_billed_s"], pricing["billing_increment_s"]) == (90, 60, 1)
    assert pricing["billed_s"] == billed(pricing, got["predicted_duration_s"])
    for choice in (got, *advice["alternatives"]):
        assert math.isclose(choice["cost"], cost_by_hand(choice, pricing), rel_tol=1e-6), choice
    front = [a for a in advice["alternatives"] if a["executors"] not in (got["executors"], got["executors"] - 1)]
    assert all(slow["cost"] < fast["cost"] for fast, slow in zip(front, front[1:]))
    last = ask(client, deadline_s=None, constraints={"cluster": "big"})["last_run"]
    assert math.isclose(last["cost"], cost_by_hand(last, pricing), rel_tol=1e-6)
    evidence = reason(advice, "price")["evidence"]
    assert (evidence["machines"], evidence["billed_s"]) == (pricing["machines"], pricing["billed_s"])


def test_terms_of_the_request_override_those_of_the_book(client):
    pricing = ask(client, constraints={"cluster": "big", "billing_increment_s": 3600, "minimum_billed_s": 0})["pricing"]
    assert (pricing["startup_billed_s"], pricing["minimum_billed_s"], pricing["billing_increment_s"], pricing["billed_s"]) == (90, 0, 3600, 3600)
    assert ask(client, constraints={"cluster": "eu", "startup_billed_s": 30})["pricing"]["startup_billed_s"] == 30
    own = ask(client, constraints={"cluster": "big", "price_per_executor_hour": 1})["pricing"]
    assert own["machines"] is own["startup_billed_s"] is None and own["price_per_executor_hour"] == 1


def test_the_least_cost_fills_machines(client):
    """By the hour all that ends within one costs by its machines: the fastest that fills the fewest."""
    constraints = {"price_per_machine_hour": 1, "machine_cores": 8, "max_executors": 30, "billing_increment_s": 3600}
    advice = ask(client, deadline_s=None, objective="min_cost", constraints=constraints)
    got = advice["recommendation"]
    assert got["executors"] == 4 and got["predicted_duration_s"] < 3600 and got["cost"] == 1
    held = ask(client, deadline_s=None, objective="min_time", constraints=dict(constraints, max_cost=2.5))["recommendation"]
    assert held["executors"] == 8 and held["cost"] == 2
    assert "costs the least" in reason(advice, "objective")["message"]


def test_a_machine_from_spot_takes_its_executors_with_it(client):
    ten = {"cluster": "big", "min_executors": 10, "max_executors": 10}
    plain = ask(client, constraints=ten)["recommendation"]
    advice = ask(client, constraints=ten, market="spot")
    got, pricing = advice["recommendation"], advice["pricing"]
    a = 0.5 * plain["predicted_duration_s"] / 3600
    assert math.isclose(got["predicted_duration_s"], 3600 * math.expm1(a) / 0.5, rel_tol=1e-6)
    assert math.isclose(pricing["expected_interruptions"], 3 * math.expm1(a), rel_tol=1e-5) and pricing["machines"] == 3
    assert math.isclose(got["cost"], cost_by_hand(got, pricing), rel_tol=1e-6) and pricing["price_per_machine_hour"] == 0.3
    # Ten that are interrupted one by one spread less than three machines do.
    alone = ask(client, constraints={"min_executors": 10, "max_executors": 10, "price_per_executor_hour": 1, "spot_per_executor_hour": 1,
                                     "interruptions_per_hour": 0.5, "cores_per_executor": 2}, market="spot")["recommendation"]
    assert math.isclose(alone["predicted_duration_s"], got["predicted_duration_s"], rel_tol=1e-6)
    assert got["interval_s"][1] > alone["interval_s"][1]


def test_an_executor_that_exceeds_the_book_s_machine_has_no_price(client):
    advice = ask(client, constraints={"cluster": "small"})
    assert advice["pricing"] is None and advice["recommendation"]["cost"] is None
    assert reason(advice, "executor_exceeds_machine", "warnings")["evidence"]["machine_cores"] == 1
    advice = ask(client, constraints={"cluster": "sized"})
    assert advice["pricing"] is None and reason(advice, "executor_memory_unknown", "warnings")
    # Memory that is enforced is known: 2 GiB and 384 MiB of overhead, four times in 10 GiB.
    sized = ask(client, constraints={"cluster": "sized", "enforced": {"spark.executor.memory": "2g"}})["pricing"]
    assert (sized["container_bytes"], sized["executors_per_machine"]) == ((2048 + 384) << 20, 4)


def test_costs_of_next_experiments_are_billed_too(client):
    advice = ask(client, include=["next_experiments"], constraints={"cluster": "big"})
    assert advice["next_experiments"]
    for item in advice["next_experiments"]:
        assert math.isclose(item["cost"], item["repeat"] * cost_by_hand(item, advice["pricing"]), rel_tol=1e-6)


def test_logs_show_memory_and_start_up(client, name):
    """Containers as the memory advice plans them decide on the packing, and spot waits as long as executors took to start."""
    store(client, name, *(memory_log(n, executors=4, peak=2 * GIB, JVMOffHeapMemory=100 << 20) for n in range(5)))
    constraints = {"min_executors": 4, "max_executors": 4, "price_per_machine_hour": 1, "spot_per_machine_hour": 0.5, "interruptions_per_hour": 60, "machine_cores": 16,
                   "machine_memory_bytes": 10 * GIB}
    advice = ask(client, application=name, deadline_s=60, include=["memory"], constraints=constraints, apply=["memory"])
    planned = advice["memory"]["container_bytes"]
    assert planned == 4505 << 20 and advice["pricing"]["container_bytes"] == planned and advice["pricing"]["executors_per_machine"] == 2
    assert "by its memory" in reason(advice, "price")["message"] and reason(advice, "machine_packing", "warnings") is None
    for more in ({"constraints": dict(constraints, preserve=["spark.executor.memory"]), "apply": ["memory"]}, {"constraints": constraints}):
        kept = ask(client, application=name, deadline_s=60, **more)["pricing"]
        assert kept["executors_per_machine"] == 1 and kept["container_bytes"] > 8 * GIB, "the price is for the memory that is set"
    plain = ask(client, application=name, deadline_s=600, constraints=constraints)["recommendation"]["predicted_duration_s"]
    spot = ask(client, application=name, deadline_s=600, constraints=constraints, market="spot")
    assert spot["pricing"]["executor_startup_s"] == 2
    assert math.isclose(spot["recommendation"]["predicted_duration_s"], math.expm1(plain / 60) * (60 + 2), rel_tol=1e-6)
    assert "starting replacements (2 s each)" in reason(spot, "interruptions")["message"]


def test_other_memory_for_the_recommended_executors_is_told(client, name):
    """Memory is cut for as many executors as ran last, and not for fewer; the cost is of the memory for as many as ran last."""
    store(client, name, *(memory_log(n, executors=8, heap="6g", peak=3 * GIB, OnHeapStorageMemory=2 * GIB) for n in range(5)))
    constraints = {"price_per_machine_hour": 1, "machine_cores": 64, "machine_memory_bytes": 16 * GIB, "max_executors": 2}
    advice = ask(client, application=name, deadline_s=600, include=["memory"], constraints=constraints, apply=["memory"])
    pricing, evidence = advice["pricing"], reason(advice, "machine_packing", "warnings")["evidence"]
    assert evidence["container_bytes_advised"] == advice["memory"]["container_bytes"] > pricing["container_bytes"] == evidence["container_bytes"]
    assert evidence["executors_per_machine"] == pricing["executors_per_machine"] == 16 * GIB // pricing["container_bytes"]
    assert evidence["executors_per_machine_advised"] == 16 * GIB // advice["memory"]["container_bytes"]


def test_a_profile_is_priced_by_machines_too(client):
    profile = {"problem_size": 160, "executors": 4, "cores_per_executor": 2, "duration_s": 800, "initialization_s": 5, "stages": STAGES}
    body = {"profile": profile, "deadline_s": 600, "market": "spot", "constraints": {
        "price_per_machine_hour": 1, "spot_per_machine_hour": 0.5, "interruptions_per_hour": 1, "machine_cores": 8, "max_executors": 20}}
    pricing = client.post("/v1/advice?dry_run=true", body, 200).json()["pricing"]
    assert pricing["executors_per_machine"] == 4 and pricing["executor_startup_s"] is pricing["container_bytes"] is None


def test_the_start_of_a_replacement_is_the_median_of_the_runs_that_have_one(client, name):
    lines = [json.dumps(dict(run_of(2 + n), executor_startup_s=startup, started_at="2026-01-%02dT10:00:00Z" % (n + 1)))
             for n, startup in enumerate([90, 1, None, 2, 3])]
    client.request("POST", "/v1/applications/%s/runs/import" % name, 201, data="\n".join(lines), headers={"Content-Type": "application/x-ndjson"})
    spot = {"price_per_executor_hour": 1, "spot_per_executor_hour": 0.5, "interruptions_per_hour": 1}
    assert ask(client, application=name, constraints=spot, market="spot")["pricing"]["executor_startup_s"] == 2.5
    assert ask(client, application=name, constraints=spot)["pricing"]["executor_startup_s"] is None


def test_a_cost_that_would_do_is_a_remedy_that_holds(client):
    price = {"price_per_executor_hour": 0.25, "max_executors": 16}
    deadline_s = ask(client, constraints=price, objective="min_time", deadline_s=None)["recommendation"]["predicted_duration_s"] * 1.3
    least = ask(client, constraints=price, objective="min_cost", deadline_s=None)["recommendation"]["cost"]
    missed = ask(client, constraints=dict(price, max_cost=least * 1.01), deadline_s=deadline_s)
    assert missed["verdict"] == "missed" and "max_executors" not in missed["remedies"]
    finding = next(r for r in missed["reasons"] if r["code"] == "deadline_missed")
    assert finding["evidence"]["max_cost"] == pytest.approx(least * 1.01) and "at a cost of at most" in finding["message"]
    assert "executors_bounded" not in [w["code"] for w in missed["warnings"]]
    cost = missed["remedies"]["max_cost"]
    again = ask(client, constraints=dict(price, max_cost=cost * (1 + 1e-6)), deadline_s=deadline_s)
    assert again["verdict"] == "met" and again["recommendation"]["cost"] <= cost * (1 + 1e-5)
    assert ask(client, constraints=dict(price, max_cost=cost * 0.99), deadline_s=deadline_s)["verdict"] != "met"


def test_the_lower_price_is_never_taken_for_a_deadline_that_is_more_at_risk(client):
    terms = {"price_per_executor_hour": 0.25, "spot_per_executor_hour": 0.01, "interruptions_per_hour": 6, "max_executors": 8}
    on_demand = {d: ask(client, constraints=terms, deadline_s=d) for d in (400, 450, 500, 550, 600, 700, 900)}
    seen = set()
    for deadline_s, alone in on_demand.items():
        both = ask(client, constraints=terms, deadline_s=deadline_s, market="cheapest")
        probability = both["recommendation"]["deadline_probability"]
        seen.add((both["verdict"], both["pricing"]["market"]))
        assert probability >= min(0.95, alone["recommendation"]["deadline_probability"] - 0.02 - 1e-6)
    assert ("met", "spot") in seen and any(market == "on_demand" for _, market in seen), seen
