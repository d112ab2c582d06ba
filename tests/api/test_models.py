"""POST /v1/models/fit and /predict: what goes in, what comes back, each fault with its place, limits."""
import math

import pytest

from contract import Contract

FIT, PREDICT = "/v1/models/fit", "/v1/models/predict"
SHAPES = [(n, m) for n in (4, 16, 64) for m in (1, 2, 4, 8, 16)]


def ernest(n, m):
    return 12 + 3.5 * n / m + 1.25 * math.log(m) + 0.4 * m


def rows(of=ernest, shapes=SHAPES, noise=0.0):
    """Durations of a law, each off by up to +-noise of itself, in a fixed pattern."""
    return [{"problem_size": n, "executors": m, "duration_s": of(n, m) * (1 + noise * ((i * 7) % 5 - 2) / 2)}
            for i, (n, m) in enumerate(shapes)]


def fit(client, model, observations, **more):
    return client.post(FIT, dict({"model": model, "observations": observations}, **more), 200).json()


def predict(client, fitted, *points, **changes):
    body = {k: fitted[k] for k in ("model", "parameters", "reference", "uncertainty", "tables") if k in fitted}
    body["points"] = [{"problem_size": n, "executors": m} for n, m in points]
    return client.post(PREDICT, dict(body, **changes), 200).json()["predictions"]


def test_a_fit_sent_back_predicts_what_the_fit_did(client):
    fitted = fit(client, "ernest", rows(noise=0.04))
    predictions = predict(client, fitted, *SHAPES)
    for residual, prediction in zip(fitted["residuals"], predictions):
        assert prediction["duration_s"] == pytest.approx(residual["predicted"], rel=1e-12)
        low, high = prediction["interval_s"]
        assert 0 <= low < prediction["duration_s"] < high and prediction["warnings"] == []


def test_intervals_hold_most_of_what_was_left_out_and_widen_outside(client):
    fitted = fit(client, "ernest", rows(noise=0.04))
    inside, near, far = predict(client, fitted, (64, 16), (64, 32), (64, 256))
    width = lambda p: p["interval_s"][1] / p["duration_s"]  # so far out the lower end is open
    assert width(inside) < width(near) < width(far)
    assert [len(p["warnings"]) for p in (inside, near, far)] == [0, 1, 1]
    assert far["warnings"][0]["code"] == "extrapolation"
    held = sum(p["interval_s"][0] <= r["actual"] <= p["interval_s"][1]
               for p, r in zip(predict(client, fitted, *SHAPES), fitted["residuals"]))
    assert held >= 0.95 * len(SHAPES)


def test_two_counts_bound_a_third_by_the_prior_and_one_count_bounds_nothing(client):
    """Many runs of two executor counts: the law is in doubt by 2.2 times the prior of 0.07. Of one count, an interpolation knows no other."""
    fitted = fit(client, "amdahl", rows(lambda n, m: 10 + 90 / m, [(8, 2), (8, 4)] * 6, noise=0.04))
    seen, new = predict(client, fitted, (8, 4), (8, 3))
    assert None not in seen["interval_s"] and None not in new["interval_s"]
    share = lambda p: p["interval_s"][1] / p["duration_s"]
    assert share(new) > share(seen) > 1
    scores = fitted["uncertainty"]["scores"]["new_executors"]
    assert scores["spread"] == pytest.approx(2.2 * 0.07) and scores["degrees_of_freedom"] == 3
    third = fit(client, "amdahl", rows(lambda n, m: 10 + 90 / m, [(8, 2), (8, 4), (8, 16)] * 6, noise=0.04))
    assert share(predict(client, third, (8, 3))[0]) < share(new)
    sizes = fit(client, "gustafson", rows(lambda n, m: 10 + 3 * n, [(8, 4), (16, 4), (32, 4)] * 4, noise=0.04))
    at, elsewhere = predict(client, sizes, (16, 4), (16, 8))
    assert None not in at["interval_s"] and elsewhere["interval_s"] == [None, None]
    assert sizes["uncertainty"]["scores"]["new_executors"] is None


def test_a_new_executor_count_is_less_certain_than_one_observed(client):
    """Five runs of each count agree with each other; the law misses the counts by 10 percent."""
    off = {1: 1.1, 2: 0.9, 4: 1.1, 8: 0.9, 16: 1.1}
    fitted = fit(client, "amdahl", rows(lambda n, m: (10 + 90 / m) * off[m], [(8, m) for m in off] * 5, noise=0.01),
                 weights="relative")
    seen, new = predict(client, fitted, (8, 4), (8, 6))
    share = lambda p: p["interval_s"][1] / p["duration_s"]
    assert share(new) > share(seen) > 1


def test_a_lower_confidence_narrows_and_no_uncertainty_means_no_interval(client):
    fitted = fit(client, "ernest", rows(noise=0.04))
    wide = predict(client, fitted, (16, 4))[0]["interval_s"]
    narrow = predict(client, fitted, (16, 4), uncertainty=dict(fitted["uncertainty"], confidence=0.5))[0]["interval_s"]
    assert wide[0] < narrow[0] and narrow[1] < wide[1]
    assert predict(client, fitted, (16, 4), uncertainty=None)[0]["interval_s"] is None


@pytest.mark.parametrize("kind", ["ernest", "auto"])
def test_the_whole_reply_of_a_fit_may_be_sent_back(client, kind):
    fitted = fit(client, kind, rows(noise=0.02))
    few = predict(client, fitted, (32, 6))
    points = [{"problem_size": 32, "executors": 6}]
    assert client.post(PREDICT, dict(fitted, points=points), 200).json()["predictions"] == few
    client.refuse("POST", PREDICT, 422, pointer="/residual", json=dict(fitted, points=points, residual=[]))


def test_scaling_all_times_scales_parameters_predictions_and_intervals(client):
    observations = rows(noise=0.04)
    once = predict(client, fit(client, "ernest", observations), (32, 6))[0]
    longer = [dict(o, duration_s=10 * o["duration_s"]) for o in observations]
    tenfold = predict(client, fit(client, "ernest", longer), (32, 6))[0]
    assert tenfold["duration_s"] == pytest.approx(10 * once["duration_s"], rel=1e-9)
    assert tenfold["interval_s"] == pytest.approx([10 * x for x in once["interval_s"]], rel=1e-6)
    assert tenfold["speedup"] == pytest.approx(once["speedup"], rel=1e-9)


def test_the_order_of_observations_changes_no_digit(client):
    observations = rows(noise=0.04)
    forward, backward = fit(client, "ernest", observations), fit(client, "ernest", observations[::-1])
    assert forward["residuals"] == backward["residuals"][::-1]
    for member in ("parameters", "fit", "uncertainty", "peak"):
        assert forward[member] == backward[member]


def test_relative_weights_differ_from_seconds(client):
    seconds, relative = (fit(client, "ernest", rows(noise=0.1), weights=w) for w in ("seconds", "relative"))
    assert relative["fit"]["mape_percent"] < seconds["fit"]["mape_percent"]
    assert relative["fit"]["r_squared"] < seconds["fit"]["r_squared"]
    assert relative["uncertainty"]["relative"] and not seconds["uncertainty"]["relative"]


def test_speedups_give_no_seconds(client):
    observations = [{"problem_size": 64, "executors": m, "speedup": 1 / (0.9 / m + 0.1)} for m in (2, 4, 8, 32)]
    fitted = fit(client, "amdahl", observations)
    assert fitted["parameters"] == {"eta": fitted["parameters"]["eta"]}
    assert fitted["parameters"]["eta"]["estimate"] == pytest.approx(0.9, abs=1e-12)
    prediction = predict(client, fitted, (64, 16))[0]
    assert prediction["duration_s"] is None and prediction["interval_s"] is None
    assert prediction["speedup"] == pytest.approx(6.4)


def test_usba_skips_runs_without_an_initialization_and_says_so(client):
    law = lambda n, m: 20 + 5 * math.log(n / m) + 0.4 * m
    observations = [dict(o, initialization_s=3) for o in rows(law)]
    del observations[4]["initialization_s"]
    fitted = fit(client, "usba", observations)
    assert fitted["fit"]["observations"] == len(observations) - 1 == len(fitted["residuals"])
    assert [w["evidence"]["count"] for w in fitted["warnings"] if w["code"] == "initialization_unknown"] == [1]
    assert fitted["parameters"]["gamma"] == {"estimate": 0, "std_error": None, "p_value": None, "dropped": True}


def test_a_law_below_zero_has_no_best(client):
    """One run that is wildly off bends the law below zero at its far end: no executors are best there."""
    shapes = ((1, 1, 200), (8, 1, 40), (8, 2, 27), (8, 4, 21), (16, 2, 41), (16, 4, 28), (64, 4, 70), (64, 8, 43), (64, 16, 32))
    rows = [{"problem_size": n, "executors": m, "duration_s": t, "initialization_s": 3} for n, m, t in shapes]
    told = {d["code"]: d for d in client.post("/v1/models/fit", {"model": "usba", "observations": rows}, 200).json()["findings"]}
    assert told["below_zero"]["evidence"] == {"problem_size": 64, "executors": 64}
    assert not {"peak", "no_peak"} & set(told)


def test_a_law_below_zero_is_no_duration(client):
    """T = 9 + 20 (1 - ln(N/m)) falls below zero for large N."""
    estimates = {"alpha": -1, "beta": 0, "gamma": 0, "epsilon": 0, "theta": 1, "initialization_s": 9, "parallel_s": 20}
    body = {"model": "usba", "parameters": {k: {"estimate": v} for k, v in estimates.items()},
            "points": [{"problem_size": 1, "executors": 1}, {"problem_size": 1000, "executors": 1}]}
    fine, below = client.post(PREDICT, body, 200).json()["predictions"]
    assert fine["duration_s"] == 29 and fine["warnings"] == []
    assert below["duration_s"] is None and below["speedup"] is None
    assert [w["code"] for w in below["warnings"]] == ["not_positive"]


@pytest.mark.parametrize("pointer, change", [
    ("/model", {"model": "magic"}),
    ("/model", {"model": 3}),
    ("/weights", {"weights": "heavy"}),
    ("/weights", {"weights": "seconds", "model": "auto"}),
    ("/observations/0/labels/branch",
     {"observations": [{"problem_size": 1, "executors": 1, "duration_s": 1, "labels": {"branch": 3}}]}),
    ("/observations/0/labels",
     {"observations": [{"problem_size": 1, "executors": 1, "duration_s": 1, "labels": "main"}]}),
    ("/seed", {"seed": 1}),
    ("/observations", {"observations": []}),
    ("/observations/0", {"observations": [3]}),
    ("/observations/0/duration_s", {"observations": [{"problem_size": 1, "executors": 1}]}),
    ("/observations/0/executors", {"observations": [{"problem_size": 1, "executors": 0, "duration_s": 1}]}),
    ("/observations/0/duration_s", {"observations": [{"problem_size": 1, "executors": 1, "duration_s": 0}]}),
    ("/observations/0/initialization_s",
     {"observations": [{"problem_size": 1, "executors": 1, "duration_s": 1, "initialization_s": 2}]}),
    ("/observations/0/speedup", {"observations": [{"problem_size": 1, "executors": 1, "speedup": 2}]}),
    ("/observations/1/speedup", {"observations": rows()[:1] + [{"problem_size": 1, "executors": 1, "speedup": 2}]}),
])
def test_each_fault_of_a_fit_is_named(client, pointer, change):
    body = dict({"model": "ernest", "observations": rows()}, **change)
    client.refuse("POST", FIT, 422, pointer=pointer, json=body)


@pytest.mark.parametrize("model, shapes, words", [
    ("ernest", SHAPES[:3], "1 more needed"),
    ("ernest", [(n, 4) for n in (1, 2, 4, 8)], "different executor counts"),
    ("usba", [(n, 4) for n in (1, 2, 4, 8)], "different executor counts"),
    ("usba", [(4 * m, m) for m in (1, 2, 4, 8)], "another problem_size per executor"),
    ("amdahl", [(8, 4), (8, 4)], "more needed"),
    ("gustafson", [(4 * m, m) for m in (1, 2, 4)], "speedups"),
])
def test_too_few_or_degenerate_observations_say_what_is_missing(client, model, shapes, words):
    body = {"model": model, "observations": rows(shapes=shapes)}
    problem = client.refuse("POST", FIT, 422, pointer="/observations", json=body)
    assert words in problem["detail"]


@pytest.mark.parametrize("pointer, change", [
    ("/model", {"model": "magic"}),
    ("/parameters", {"parameters": None}),
    ("/parameters/d", {"parameters": {k: {"estimate": 1} for k in "abc"}}),
    ("/parameters/e", {"parameters": {k: {"estimate": 1} for k in "abcde"}}),
    ("/parameters/b/estimate", {"parameters": {k: {"estimate": -1} for k in "abcd"}}),
    ("/points", {"points": []}),
    ("/points/0/executors", {"points": [{"problem_size": 1, "executors": "one"}]}),
    ("/reference", {"reference": "guessed"}),
    ("/uncertainty/scores", {"uncertainty": {"observation_count": 3}}),
    ("/fits", {"fits": {}}),
])
def test_each_fault_of_a_prediction_is_named(client, pointer, change):
    body = {"model": "ernest", "parameters": {k: {"estimate": 1} for k in "abcd"},
            "points": [{"problem_size": 1, "executors": 1}]}
    client.post(PREDICT, body, 200)
    client.refuse("POST", PREDICT, 422, pointer=pointer, json=dict(body, **change))


def test_limits_have_their_own_faults(make_service):
    service = make_service(PROVISOR_OBSERVATIONS_MAX=14, PROVISOR_POINTS_MAX=2)
    token = service.token("limits")
    service.start()
    client = service.client(token)
    client.refuse("POST", FIT, 422, pointer="/observations", json={"model": "ernest", "observations": rows()})
    fitted = fit(client, "ernest", rows()[:14])
    body = {"model": "ernest", "parameters": fitted["parameters"], "points": [{"problem_size": 1, "executors": 1}] * 3}
    client.refuse("POST", PREDICT, 422, pointer="/points", json=body)


# `pooled` learns from runs with other labels, `ipso` from measured stages.
KINDS = tuple(k for k in Contract().document["components"]["schemas"]["ModelKind"]["enum"] if k not in ("pooled", "ipso"))


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_sent_back_predicts_what_was_fitted_and_says_what_it_means(client, kind):
    """Tables and all: knots of interpolation, the laws of a combination."""
    fitted = fit(client, kind, rows(noise=0.04), weights="relative")
    for residual, prediction in zip(fitted["residuals"], predict(client, fitted, *SHAPES)):
        if residual["predicted"] > 0:
            assert prediction["duration_s"] == pytest.approx(residual["predicted"], rel=1e-12)
    assert fitted["findings"] and all(d["code"] and d["message"] for d in fitted["findings"])
    assert fitted["fit"]["loo_mape_percent"] >= fitted["fit"]["mape_percent"]


def test_amdahls_law_says_how_fast_it_can_get(client):
    observations = [{"problem_size": 64, "executors": m, "duration_s": 20 + 180 / m} for m in (1, 2, 4, 8, 16)]
    limit = fit(client, "amdahl", observations)["findings"][0]
    assert limit["code"] == "speedup_limit"
    assert limit["evidence"]["speedup_limit"] == pytest.approx(10)
    assert limit["evidence"]["half_at_executors"] == pytest.approx(9)


def test_interpolation_goes_through_what_was_measured(client):
    observations = [{"problem_size": 8, "executors": m, "duration_s": t} for m, t in ((2, 100), (4, 60), (16, 30))]
    fitted = fit(client, "interpolation", observations)
    assert fitted["tables"]["knots"] == [[8, 2, pytest.approx(100)], [8, 4, pytest.approx(60)], [8, 16, pytest.approx(30)]]
    between, beyond = predict(client, fitted, (8, 8), (8, 64))
    assert between["duration_s"] == pytest.approx(math.sqrt(60 * 30))
    assert beyond["duration_s"] == pytest.approx(15, rel=0.002)  # nearly the exponent of the last two, -0.5
    assert [w["code"] for w in beyond["warnings"]] == ["extrapolation"]


def test_tables_that_do_not_belong_are_refused(client):
    observations = [{"problem_size": 8, "executors": m, "duration_s": t} for m, t in ((2, 100), (4, 60), (16, 30))]
    fitted = fit(client, "interpolation", observations)
    body = {k: fitted[k] for k in ("model", "parameters", "tables")}
    body["points"] = [{"problem_size": 8, "executors": 8}]
    client.post(PREDICT, body, 200)
    for pointer, tables in (("/tables", None), ("/tables/knots", {}), ("/tables/weights", dict(fitted["tables"], weights=[])),
                            ("/tables/knots", {"knots": []}), ("/tables/knots/0", {"knots": [[8, 2]]}),
                            ("/tables/knots/1", {"knots": [[8, 4, 60], [8, 2, 100]]}),
                            ("/tables/knots/0/2", {"knots": [[8, 4, 0], [8, 16, 10]]})):
        client.refuse("POST", PREDICT, 422, pointer=pointer, json=dict(body, tables=tables))
    ernest = {"model": "ernest", "parameters": {k: {"estimate": 1} for k in "abcd"}, "points": body["points"]}
    client.refuse("POST", PREDICT, 422, pointer="/tables", json=dict(ernest, tables=fitted["tables"]))


def test_auto_replies_the_best_kind_and_how_it_came_to_it(client):
    chosen = fit(client, "auto", rows(noise=0.02))
    selection = chosen["selection"]
    assert selection["selected_model"] == chosen["model"] and selection["reasons"][0]["message"]
    by_kind = {c["model"]: c for c in selection["candidates"]}
    assert set(KINDS) <= set(by_kind)
    assert [k for k, c in by_kind.items() if c["selected"]] == [chosen["model"]]
    assert chosen["parameters"] == by_kind[chosen["model"]]["parameters"]
    for residual, prediction in zip(chosen["residuals"], predict(client, chosen, *SHAPES)):
        assert prediction["duration_s"] == pytest.approx(residual["predicted"], rel=1e-12)
    problem = client.refuse("POST", FIT, 422, pointer="/observations", json={"model": "auto", "observations": rows()[:1]})
    assert "more needed" in problem["detail"]


def test_who_misspells_auto_is_told_of_it(client):
    """Where `auto` may stand the message names it, where it may not it does not."""
    problem = client.refuse("POST", FIT, 422, pointer="/model", json={"model": "autom", "observations": rows()})
    assert problem["detail"].startswith("model must be one of: auto, amdahl") and problem["detail"].endswith("ipso")
    body = {"model": "auto", "parameters": {}, "points": [{"problem_size": 8, "executors": 2}]}
    problem = client.refuse("POST", PREDICT, 422, pointer="/model", json=body)
    assert problem["detail"].startswith("model must be one of: amdahl")


def test_auto_takes_speedups_too(client):
    observations = [{"problem_size": 64, "executors": m, "speedup": 1 / (0.9 / m + 0.1)} for m in (1, 2, 4, 8, 16, 32)]
    chosen = fit(client, "auto", observations)
    assert chosen["model"] == "amdahl" and chosen["parameters"]["eta"]["estimate"] == pytest.approx(0.9)


def test_a_history_of_one_size_answers_for_another(client):
    """Ten executor counts of one size, as T = 150 + 9600/m: the law with the size is taken, and every kind grows with the data."""
    observations = rows(lambda n, m: 150 + 9600 / m, [(373, m) for m in (4, 6, 8, 10, 12, 16, 20, 24, 32, 48)], noise=0.02)
    chosen = fit(client, "auto", observations)
    assert chosen["model"] != "amdahl"
    assert chosen["uncertainty"]["observed"]["size_exponent_max"] == pytest.approx(1.5)
    assert [row[:2] for row in chosen["uncertainty"]["observed"]["recorded_bounds"]] == [[o["problem_size"], o["executors"]] for o in observations]
    for kind in ("auto", "amdahl", "load_per_executor", "usba", "ernest", "combined", "interpolation"):
        fitted = fit(client, kind, observations)
        same, twice, tenfold, shared = predict(client, fitted, (373, 8), (746, 8), (3730, 8), (746, 16))
        expected = 150 * 2 ** 0.4 + 9600 / 4
        assert twice["duration_s"] == pytest.approx(expected, rel=0.2 if kind in ("usba", "interpolation") else 0.06), kind
        assert tenfold["duration_s"] > 5 * same["duration_s"] and tenfold["interval_s"][1] > 1.05 * tenfold["duration_s"], kind
        assert shared["duration_s"] >= observations[2]["duration_s"], kind


def test_bounds_of_recorded_runs_are_checked(client):
    fitted = fit(client, "amdahl", rows())
    observed = fitted["uncertainty"]["observed"]
    for bounds, where in (([[4, 1, 10]], "/0"), ([[4, 1, 0, 10]], "/0/2"), ([[16, 1, 5, 5], [4, 1, 5, 5]], "/1"), ([[4, 1, 5, 5]] * 257, "")):
        body = {k: fitted[k] for k in ("model", "parameters", "reference", "uncertainty")}
        body["uncertainty"] = dict(body["uncertainty"], observed=dict(observed, recorded_bounds=bounds))
        problem = client.post(PREDICT, dict(body, points=[{"problem_size": 4, "executors": 1}]), 422).json()
        assert problem["errors"][0]["pointer"] == "/uncertainty/observed/recorded_bounds" + where


# --- bad input (each its own answer) ---

@pytest.mark.parametrize("field, value", [("duration_s", 0), ("duration_s", -3.5), ("duration_s", "NaN"),
                                          ("duration_s", "12"), ("initialization_s", -1), ("problem_size", 0),
                                          ("executors", -2), ("executors", "NaN"), ("problem_size", True)])
def test_what_is_no_time_or_count_is_named(client, field, value):
    observations = rows()
    observations[3] = dict(observations[3], **{field: value})
    client.refuse("POST", FIT, 422, pointer="/observations/3/" + field, json={"model": "ernest", "observations": observations})


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_none_are_not_json(client, literal):
    text = '{"model": "ernest", "observations": [{"problem_size": 1, "executors": 1, "duration_s": %s}]}' % literal
    client.refuse("POST", FIT, 400, data=text, headers={"Content-Type": "application/json"})


@pytest.mark.parametrize("kind", KINDS + ("auto",))
def test_one_executor_count_is_refused_by_every_kind(client, kind):
    """gustafson can tell its share from sizes alone: it says so by fitting."""
    body = {"model": kind, "observations": rows(shapes=[(n, 4) for n in (1, 2, 4, 8, 16, 32)])}
    if kind in ("gustafson", "auto"):
        client.post(FIT, body, (200, 422))
        return
    problem = client.refuse("POST", FIT, 422, pointer="/observations", json=body)
    assert "executor count" in problem["detail"]


def test_runs_that_contradict_each_other_are_told_of(client):
    observations = rows(noise=0.02) + [{"problem_size": 16, "executors": 4, "duration_s": 900}]
    warnings = {w["code"]: w for w in fit(client, "ernest", observations)["warnings"]}
    warning = warnings["contradicting_observations"]
    assert warning["evidence"]["count"] == 2 and "16" in warning["message"] and "900" in warning["message"]
    calm = rows(noise=0.02) + [{"problem_size": 16, "executors": 4, "duration_s": 1.5 * ernest(16, 4)}]
    assert "contradicting_observations" not in {w["code"] for w in fit(client, "ernest", calm)["warnings"]}


def test_runs_with_other_labels_do_not_contradict(client):
    """Nine times as fast a machine contradicts nothing, once it is said which machine is asked about."""
    observations = [dict(o, labels={"machine": "small", "branch": "main"}) for o in rows()]
    observations += [dict(o, duration_s=9 * o["duration_s"], labels={"machine": "big"}) for o in rows()]
    told_apart = fit(client, "ernest", observations, labels={"machine": "small"})
    assert "contradicting_observations" not in {w["code"] for w in told_apart["warnings"]}
    assert "contradicting_observations" in {w["code"] for w in fit(client, "ernest", observations)["warnings"]}
    client.refuse("POST", FIT, 422, pointer="/labels",
                  json={"model": "ernest", "observations": observations, "labels": {"machine": "medium"}})


def test_more_observations_than_allowed_are_refused_with_the_limit(client):
    one = '{"problem_size":8,"executors":2,"duration_s":9.5}'
    headers = {"Content-Type": "application/json"}
    body = lambda n: '{"model":"ernest","observations":[' + ",".join([one] * n) + "]}"
    problem = client.refuse("POST", FIT, 422, pointer="/observations", data=body(1001), headers=headers)
    assert "1000" in problem["errors"][0]["detail"]
    problem = client.refuse("POST", FIT, 413, data=body(1000000), headers=headers)
    assert "8388608" in problem["detail"]
