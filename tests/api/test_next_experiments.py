"""GET /v1/applications/{name}/next-experiments, and what advice says of it: which runs to make next, from none at all on,
within the points and the budget allowed, and what they are expected to do to the interval asked about."""
import math
import random

import pytest

from test_advice import PROFILE
from test_history_models import add, ernest, fill

SMALL = [(n, m) for n in (8, 16) for m in (1, 2, 4)]


def ask(client, name, status=200, **query):
    return client.get("/v1/applications/%s/next-experiments" % name, status, params=query).json()


def refuse(client, name, parameter, **query):
    return client.refuse("GET", "/v1/applications/%s/next-experiments" % name, 422, parameter=parameter, params=query)


def points(reply):
    return [(i["problem_size"], i["executors"]) for i in reply["items"]]


def run_count(reply):
    return sum(i["repeat"] for i in reply["items"])


def codes(reply):
    return [w["code"] for w in reply["warnings"]]


def test_where_to_start_without_any_run(client, name):
    """Small sizes, different executors and loads; nothing tells yet how long or how dear they are."""
    client.post("/v1/applications", {"name": name}, 201)
    refuse(client, name, "problem_size")
    got = ask(client, name, problem_size=64, count=4, price_per_executor_hour=0.5, max_executor_s=10)
    assert got["model"] is None and got["runs"] == 0 and codes(got) == ["no_model", "cost_unknown"]
    assert got["allowed"]["problem_sizes"] == [8, 16, 32] and got["allowed"]["max_executors"] == 32
    assert got["criterion"] == "imse" and run_count(got) == 4 and got["items"][0]["reasons"][0]["code"] == "first_run"
    assert len({m for _, m in points(got)}) >= 2 and len({n / m for n, m in points(got)}) >= 2
    assert all(m <= n for n, m in points(got)), "no executor without work"
    for item in got["items"]:
        assert item["predicted_duration_s"] is None and item["executor_s"] is None and item["cost"] is None
        assert item["existing_runs"] == 0
    cuts = [i["cumulative_interval_cut_percent"] for i in got["items"]]
    assert cuts == sorted(cuts) and 0 < cuts[0] < cuts[-1] < 100
    assert got["asked"]["interval_s"] is None and got["expected_interval_cut_percent"] == cuts[-1]
    assert got["executor_s"] is None and got["cost"] is None


def test_the_runs_it_asks_for_make_a_model(client, name):
    """From nothing, one advised run after another: Ernest's law is found in six runs."""
    client.post("/v1/applications", {"name": name}, 201)
    for _ in range(6):
        (n, m), = points(ask(client, name, problem_size=32, count=1, max_executors=8))
        add(client, name, n, m, ernest(n, m))
    models = client.get("/v1/applications/%s/models" % name).json()
    fitted = next(c for c in models["candidates"] if c["model"] == "ernest")
    assert fitted["parameters"]["b"]["estimate"] == pytest.approx(3.5, rel=1e-6)
    assert ask(client, name, problem_size=32)["model"] is not None


def test_one_executor_count_needs_another_first(client, name):
    for n in (8, 16, 32):
        add(client, name, n, 4, ernest(n, 4))
    got = ask(client, name, count=1)
    assert got["items"][0]["reasons"][0]["code"] == "new_executors" and got["items"][0]["executors"] != 4
    assert got["items"][0]["predicted_duration_s"] > 0, "one run tells the order of magnitude"


def test_a_model_is_followed_and_the_interval_narrows(client, name):
    random.seed(6)
    fill(client, name, lambda n, m: ernest(n, m) * math.exp(random.gauss(0, 0.05)), SMALL * 2)
    got = ask(client, name, problem_size=64, executors=8, price_per_executor_hour=0.36, count=5)
    assert got["model"] is not None and got["warnings"] == [] and got["runs"] == 12
    low, high = got["asked"]["interval_s"]
    after = got["asked"]["expected_interval_s"]
    assert after[1] - after[0] < high - low
    assert got["expected_interval_cut_percent"] == pytest.approx(100 * (1 - (after[1] - after[0]) / (high - low)))
    kind = {"model": got["model"]}
    told = client.get("/v1/applications/%s/speedup" % name, params=dict(kind, problem_sizes=64, executors=8)).json()
    assert told["surface"][0]["points"][0]["interval_s"] == pytest.approx([low, high]), "the interval of the model itself"
    for item in got["items"]:
        assert item["executor_s"] == pytest.approx(item["repeat"] * item["executors"] * item["predicted_duration_s"])
        assert item["cost"] == pytest.approx(item["executor_s"] * 1e-4)
        assert 0 <= item["expected_interval_cut_percent"] < 100
    assert got["cost"] == pytest.approx(sum(i["cost"] for i in got["items"])) and run_count(got) == 5
    made = {(n, m): 2 for n, m in SMALL}
    assert [i["existing_runs"] for i in got["items"]] == [made.get(p, 0) for p in points(got)]


def test_the_same_configuration_is_listed_once(client, name):
    """What is asked about is one configuration, and one of two that are allowed: most runs repeat it."""
    fill(client, name, noise=0.05, shapes=SMALL)
    for criterion in ("imse", "cheapest", "d_optimal"):
        got = ask(client, name, criterion=criterion, problem_size=16, executors=4, problem_sizes="16", min_executors=3,
                  max_executors=4, executors_step=1, count=7)
        assert got["criterion"] == criterion and run_count(got) == 7
        assert len(set(points(got))) == len(got["items"]) <= 2
        assert got["executor_s"] == pytest.approx(sum(i["executor_s"] for i in got["items"]))
        assert {p: i["existing_runs"] for p, i in zip(points(got), got["items"])}.items() <= {(16, 3): 0, (16, 4): 1}.items()
        cuts = [i["cumulative_interval_cut_percent"] for i in got["items"]]
        assert cuts == sorted(cuts) and got["expected_interval_cut_percent"] == cuts[-1]


def test_the_cheapest_first_cost_less(client, name):
    random.seed(7)
    fill(client, name, lambda n, m: ernest(n, m) * math.exp(random.gauss(0, 0.05)), SMALL * 2)
    asked = {"problem_size": 64, "executors": 8, "count": 2}
    best, cheap = ask(client, name, **asked), ask(client, name, criterion="cheapest", **asked)
    assert cheap["items"][0]["predicted_duration_s"] * cheap["items"][0]["executors"] <= \
        best["items"][0]["predicted_duration_s"] * best["items"][0]["executors"], "each for itself; two may add up to more"
    half = cheap["executor_s"] / 2
    bound = ask(client, name, max_executor_s=half, **asked)
    assert bound["executor_s"] is None or bound["executor_s"] <= half
    money = ask(client, name, max_cost=half / 3600 * 2, price_per_executor_hour=2, **asked)
    assert points(money) == points(bound)
    none = ask(client, name, max_executor_s=0.5, **asked)
    assert none["items"] == [] and codes(none) == ["budget_too_small"]
    assert none["executor_s"] == 0 and none["expected_interval_cut_percent"] is None


def test_only_allowed_points(client, name):
    fill(client, name)
    got = ask(client, name, problem_sizes="20,40", min_executors=3, max_executors=11, executors_step=4, count=6)
    assert got["allowed"] == {"problem_sizes": [20, 40], "min_executors": 3, "max_executors": 11, "point_count": 6,
                              "points_without_prediction": 0}
    assert set(points(got)) <= {(n, m) for n in (20, 40) for m in (3, 7, 11)}


def test_the_same_question_has_the_same_answer(service, name):
    client = service.client(service.token(name))  # a team without other applications, which models learn from, too
    fill(client, name, noise=0.05)
    assert ask(client, name, count=8) == ask(client, name, count=8)


@pytest.mark.parametrize("parameter, query", [
    ("colour", {"colour": "red"}), ("count", {"count": 21}), ("count", {"count": 0}), ("criterion", {"criterion": "a_optimal"}),
    ("confidence", {"confidence": 1}), ("confidence", {"confidence": "nan"}), ("confidence", {"confidence": "0x1"}),
    ("executors", {"executors": "1,1"}), ("executors", {"executors": ",".join(map(str, range(1, 18)))}),
    ("executors", {"executors": 1001}), ("max_executors", {"max_executors": 1001}),
    ("min_executors", {"min_executors": 9, "max_executors": 8}), ("problem_sizes", {"problem_sizes": "8,x"}),
    ("problem_size", {"problem_size": -1}), ("max_cost", {"max_cost": 0, "price_per_executor_hour": 1}),
    ("price_per_executor_hour", {"max_cost": 1}), ("price_per_executor_hour", {"price_per_executor_hour": -1}),
    ("max_executor_s", {"max_executor_s": "1e999"}), ("executors_step", {"executors_step": 1, "max_executors": 1000, "problem_size": 64}),
    ("problem_sizes", {"executors_step": 1, "max_executors": 1000, "problem_sizes": "8,16,32"})])
def test_bad_parameters_are_named(client, name, parameter, query):
    fill(client, name, shapes=SMALL)
    refuse(client, name, parameter, **query)


def test_points_are_bounded_by_a_setting(make_service):
    service = make_service(PROVISOR_EXPERIMENT_POINTS_MAX=6)
    client = service.start().client(service.token("alpha"))
    fill(client, "a")
    assert ask(client, "a")["allowed"]["point_count"] <= 6, "counts nobody asked for make way"
    refuse(client, "a", "executors_step", executors_step=1, max_executors=4)
    refuse(client, "a", "problem_sizes", executors_step=1, problem_sizes="8,16", max_executors=4)
    refuse(client, "a", "problem_sizes", problem_sizes="1,2,3,4,5,6,7")


def test_of_others_there_is_nothing(client, stranger, name):
    fill(client, name)
    ask(stranger, name, 404)
    ask(client, name + "-not", 404)


# --- advice ---

def test_advice_names_the_runs_that_make_it_more_certain(service, name):
    client = service.client(service.token(name))  # a team without other applications, which models learn from, too
    random.seed(8)
    fill(client, name, lambda n, m: ernest(n, m) * math.exp(random.gauss(0, 0.05)), SMALL * 2)
    body = {"application": name, "problem_size": 64, "include": ["next_experiments", "data_needed"],
            "constraints": {"min_executors": 2, "max_executors": 12, "cores_per_executor": 4, "price_per_executor_hour": 0.36}}
    advice = client.post("/v1/advice", body, 201).json()
    assert "data_needed" in advice and sum(i["repeat"] for i in advice["next_experiments"]) == 3
    wanted = ask(client, name, criterion="cheapest", problem_size=64, min_executors=2, max_executors=12, price_per_executor_hour=0.36)
    assert advice["next_experiments"] == wanted["items"]
    assert all(2 <= i["executors"] <= 12 for i in advice["next_experiments"])
    assert client.get("/v1/advice/" + advice["id"]).json() == advice, "as it was given"
    plain = client.post("/v1/advice", dict(body, include=[]), 201).json()
    assert "next_experiments" not in plain and "data_needed" not in plain
    assert client.post("/v1/advice?dry_run=true", body, 200).json()["next_experiments"] == advice["next_experiments"]


def test_what_runs_take_is_what_advice_predicts(client, name):
    """Tasks that are replayed say another time than the law of the durations: everywhere the same of the two is believed."""
    stages = lambda n: [{"id": 0, "parents": [], "task_durations_s": [1.5 + 0.1 * (i % 3) for i in range(n)]}]
    for n in (40, 80):
        for m in (2, 4):
            made = -(-n // (2 * m)) * 1.6
            client.post("/v1/applications/%s/runs" % name, {"problem_size": n, "executors": m, "cores_per_executor": 2, "succeeded": True,
                                                            "duration_s": made, "stages": stages(n)}, 201)
    items = [item for n in (40, 80) for item in ask(client, name, count=20, problem_size=n, problem_sizes=n)["items"]]
    assert {i["problem_size"] for i in items} == {40, 80}
    kinds = set()
    for item in items:
        m = item["executors"]
        advice = client.post("/v1/advice?dry_run=true", {"application": name, "problem_size": item["problem_size"],
                                                         "constraints": {"min_executors": m, "max_executors": m}}, 200).json()
        assert advice["recommendation"]["predicted_duration_s"] == pytest.approx(item["predicted_duration_s"]), item
        kinds |= {r["code"] for r in advice["reasons"]}
    assert "replayed_runs" in kinds
    one = ask(client, name, problem_size=80, executors=8)
    advice = client.post("/v1/advice?dry_run=true", {"application": name, "problem_size": 80,
                                                     "constraints": {"min_executors": 8, "max_executors": 8}}, 200).json()
    assert one["asked"]["interval_s"] == pytest.approx(advice["recommendation"]["interval_s"])
    # The surface, too, at every size.
    surface = client.get("/v1/applications/%s/speedup?problem_sizes=40,80&executors=1,%d" % (name, one["asked"]["executor_counts"][0]), 200).json()
    smaller, (single, asked) = (row["points"] for row in surface["surface"])
    assert surface["predicted_problem_size"] == 80 and surface["has_speedup_law"] is False
    assert asked["duration_s"] == pytest.approx(advice["recommendation"]["predicted_duration_s"])
    assert asked["interval_s"] == pytest.approx(advice["recommendation"]["interval_s"])
    assert asked["speedup"] == pytest.approx(single["duration_s"] / asked["duration_s"])
    assert surface["model"] == "replay" and surface["selected"] is True
    small = client.post("/v1/advice?dry_run=true", {"application": name, "problem_size": 40,
                                                    "constraints": {"min_executors": 8, "max_executors": 8}}, 200).json()
    assert smaller[1]["executors"] == 8 and smaller[1]["duration_s"] == pytest.approx(small["recommendation"]["predicted_duration_s"])
    selected = client.get("/v1/applications/%s/models" % name, 200).json()["selected_model"]
    law = client.get("/v1/applications/%s/speedup?problem_sizes=40,80&executors=1,8&model=%s" % (name, selected), 200).json()
    by_law = [row["points"][1]["duration_s"] for row in law["surface"]]
    assert law["model"] == selected and law["predicted_problem_size"] is None
    assert by_law[1] != pytest.approx(asked["duration_s"], rel=0.001)


def test_other_sizes_go_on_from_the_size_asked_about(client, name):
    fill(client, name, ernest, SMALL)
    got = ask(client, name, problem_sizes=",".join(str(n) for n in range(8, 48)), problem_size=16, executors=4, min_executors=4,
              max_executors=4, count=20, criterion="cheapest")
    assert len(got["allowed"]["problem_sizes"]) == 40
    for item in got["items"]:
        assert item["predicted_duration_s"] == pytest.approx(ernest(item["problem_size"], 4), rel=0.1)


def test_advice_for_a_profile_says_what_to_run_beside_it(client):
    advice = client.post("/v1/advice?dry_run=true", {"profile": PROFILE, "deadline_s": 60, "include": ["next_experiments"]},
                         200).json()
    first = advice["next_experiments"][0]
    assert first["reasons"][0]["code"] == "new_executors" and first["executors"] != PROFILE["executors"]


def test_runs_are_chosen_for_the_labels_asked_for(service, name):
    """Half the time on one machine: what the runs are expected to take follows its own runs."""
    client = service.client(service.token(name))  # a team without other applications, which models learn from, too
    shapes = [(n, m) for n in (8, 16, 32) for m in (1, 2, 4)]
    for machine, factor in (("slow", 2), ("fast", 1)):
        for i, (n, m) in enumerate(shapes):
            add(client, name, n, m, factor * ernest(n, m), labels={"machine": machine},
                started_at="2026-01-0%dT00:00:0%dZ" % (3 - factor, i))
    asked = {"problem_size": 32, "executors": 4, "max_executors": 4}
    slow, fast = (ask(client, name, label="machine:" + machine, **asked) for machine in ("slow", "fast"))
    assert slow["runs"] == fast["runs"] == len(shapes)
    for got, factor in ((slow, 2), (fast, 1)):
        for item in got["items"]:
            own = factor * ernest(item["problem_size"], item["executors"])
            assert item["predicted_duration_s"] == pytest.approx(own, rel=0.1), item
    assert ask(client, name, **asked) == fast, "that of the latest run"
    refuse(client, name, "label", label="machine:z9", **asked)
    body = {"application": name, "include": ["next_experiments"], "problem_size": 32, "labels": {"machine": "slow"},
            "constraints": {"min_executors": 4, "max_executors": 4}}
    advice = client.post("/v1/advice?dry_run=true", body, 200).json()
    item = advice["next_experiments"][0]
    own = 2 * ernest(item["problem_size"], item["executors"])
    assert item["predicted_duration_s"] == pytest.approx(own, rel=0.1), item
