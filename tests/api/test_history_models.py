"""GET /v1/applications/{name}/models and /speedup: what is fitted to a history, which kind is selected and why, when it
is fitted anew, what a history lacks."""
import math

import pytest

from contract import Contract
from long_work import wait_for

SHAPES = [(n, m) for n in (8, 16, 64) for m in (1, 2, 4, 8, 16)]


def ernest(n, m):
    return 12 + 3.5 * n / m + 1.25 * math.log(m) + 0.4 * m


def add(client, name, n, m, duration_s, **more):
    body = dict({"problem_size": n, "executors": m, "cores_per_executor": 4, "duration_s": duration_s}, **more)
    return client.post("/v1/applications/%s/runs" % name, body, 201).json()["id"]


def fill(client, name, of=ernest, shapes=SHAPES, noise=0.0):
    for i, (n, m) in enumerate(shapes):
        add(client, name, n, m, of(n, m) * (1 + noise * ((i * 7) % 5 - 2) / 2))


def models(client, name, status=200):
    return client.get("/v1/applications/%s/models" % name, status).json()


def speedup(client, name, status=200, **query):
    return client.get("/v1/applications/%s/speedup" % name, status, params=query).json()


def test_every_kind_is_a_candidate_and_the_law_behind_the_runs_is_selected(client, name):
    fill(client, name)
    all_of_them = models(client, name)
    by_kind = {c["model"]: c for c in all_of_them["candidates"]}
    kinds = client.contract.document["components"]["schemas"]["ModelKind"]["enum"]
    assert set(by_kind) == set(kinds) - {"ipso"}
    assert all_of_them["selected_model"] == "ernest" and by_kind["ernest"]["selected"]
    assert [k for k, c in by_kind.items() if c["selected"]] == ["ernest"]
    assert by_kind["ernest"]["parameters"]["b"]["estimate"] == pytest.approx(3.5, rel=1e-6)
    assert by_kind["ernest"]["comparison"]["loo_mape_percent"] < 1e-6 < by_kind["amdahl"]["comparison"]["difference_percent"]
    assert all_of_them["history"]["runs_used"] == len(SHAPES) and all_of_them["history"]["runs_skipped"] == 0
    assert all_of_them["reasons"][0]["evidence"]["runs_compared"] == len(SHAPES)


def test_a_candidate_is_what_a_fit_of_the_same_runs_replies(service, name):
    client = service.client(service.token(name))  # a team without other applications, whose errors would be learnt from
    fill(client, name, noise=0.04)
    body = {"model": "ernest", "weights": "relative", "observations": [
        {"problem_size": n, "executors": m, "duration_s": ernest(n, m) * (1 + 0.04 * ((i * 7) % 5 - 2) / 2)}
        for i, (n, m) in enumerate(SHAPES)]}
    fitted = client.post("/v1/models/fit", body, 200).json()
    candidate = next(c for c in models(client, name)["candidates"] if c["model"] == "ernest")
    for member in ("parameters", "reference", "uncertainty"):
        assert candidate[member] == fitted[member]
    for member in ("fit", "peak"):  # told to seven digits
        assert candidate[member] == pytest.approx(fitted[member], rel=5e-7)


def test_how_far_laws_err_is_learnt_from_the_teams_other_applications(service, name):
    """An exact law of three counts has the spread s0 sqrt(2.7 / 5.7) of its prior s0: 0.07 alone, more if the team's other application is off its law."""
    client = service.client(service.token(name))
    exact = [(32, m) for m in (2, 4, 8)]
    spread = lambda application: next(c for c in models(client, application)["candidates"] if c["model"] == "amdahl")[
        "uncertainty"]["scores"]["new_executors"]["spread"]
    fill(client, name + "-alone", lambda n, m: 30 + 270 / m, exact)
    assert spread(name + "-alone") == pytest.approx(0.07 * math.sqrt(2.7 / 5.7), rel=1e-6)
    off = {1: 1.0, 2: 1.3, 4: 0.8, 8: 1.3, 16: 0.8}
    fill(client, name + "-off", lambda n, m: (30 + 270 / m) * off[m], [(32, m) for m in off])
    models(client, name + "-off")
    fill(client, name + "-taught", lambda n, m: 30 + 270 / m, exact)
    s0 = spread(name + "-taught") / math.sqrt(2.7 / 5.7)
    # (4 0.07^2 + v1 + v2) / 6 with 0 <= v <= 0.3^2 each; the exact one has shown next to nothing.
    assert math.sqrt(4 * 0.0049 / 6) < s0 <= math.sqrt((4 * 0.0049 + 2 * 0.09) / 6)
    assert s0 > 0.1


def test_of_two_exact_laws_the_one_with_fewer_parameters_is_selected(client, name):
    fill(client, name, lambda n, m: 30 + 270 / m, [(32, m) for m in (1, 2, 4, 8, 16)])
    all_of_them = models(client, name)
    assert all_of_them["selected_model"] == "load_per_executor", all_of_them["reason"]
    assert "ernest" in all_of_them["reasons"][0]["evidence"]["near_ties"] or \
        all_of_them["reasons"][0]["evidence"]["least_error_model"] == "ernest"


def test_models_follow_runs_that_come_and_go(service, name):
    client = service.client(service.token(name))  # a team without other applications, which models learn from, too
    fill(client, name)
    before = models(client, name)
    assert models(client, name) == before
    extra = add(client, name, 64, 32, 900)
    after = models(client, name)
    assert after["history_version"] == before["history_version"] + 1
    assert after["history"]["runs_used"] == len(SHAPES) + 1
    assert after["candidates"] != before["candidates"]
    assert speedup(client, name)["history_version"] == after["history_version"]
    client.delete("/v1/applications/%s/runs/%s" % (name, extra))
    again = models(client, name)
    assert again["history_version"] == after["history_version"] + 1
    assert again["candidates"] == before["candidates"]


def test_models_of_an_application_made_again_are_not_the_old_ones(client, name):
    fill(client, name)
    models(client, name)
    client.delete("/v1/applications/" + name)
    models(client, name, 404)
    add(client, name, 8, 1, 40)
    assert "1 of the application's 1 run" in models(client, name, 422)["detail"]


def test_runs_that_cannot_be_used_are_counted(client, name):
    fill(client, name)
    add(client, name, 64, 4, 1, succeeded=False)
    seen = models(client, name)["history"]
    assert (seen["runs"], seen["examined"], seen["runs_used"], seen["runs_skipped"]) == (16, 16, 15, 1)
    assert seen["failed"] == 1 and seen["without_executors"] == 0
    assert seen["smallest"] == {"problem_size": 8, "executors": 1}


def test_the_newest_runs_are_used(make_service):
    service = make_service(PROVISOR_OBSERVATIONS_MAX=10)
    client = service.start().client(service.token("alpha"))
    for i, (n, m) in enumerate(SHAPES):
        add(client, "a", n, m, ernest(n, m) * (100 if i < 5 else 1), started_at="2026-01-%02dT00:00:00Z" % (i + 1))
    all_of_them = models(client, "a")
    assert all_of_them["history"]["runs"] == 15 and all_of_them["history"]["runs_used"] == 10
    assert all_of_them["selected_model"] == "ernest"
    service.stop()
    service.start(PROVISOR_OBSERVATIONS_MAX=12)
    assert models(client, "a")["history"]["runs_used"] == 12, "another bound, another fit"


# --- too little ---

@pytest.mark.parametrize("path", ["models", "speedup"])
def test_too_few_runs_say_how_many_and_what_is_missing(client, name, path):
    client.post("/v1/applications", {"name": name}, 201)
    problem = client.get("/v1/applications/%s/%s" % (name, path), 422).json()
    assert problem["type"].endswith("/too_few_observations") and "0 of the application's 0 runs" in problem["detail"]
    add(client, name, 8, 1, 40)
    add(client, name, 8, 2, 30, succeeded=False)
    problem = client.get("/v1/applications/%s/%s" % (name, path), 422).json()
    assert "1 of the application's 2 runs can be used, failed 1" in problem["detail"]
    assert problem["detail"].startswith("a model needs runs on two executor counts; the only run was on 1 (")


def test_runs_that_do_not_tell_the_effects_apart_say_so(client, name):
    for i in range(6):
        add(client, name, 64, 8, 100 + i)
    assert models(client, name, 422)["detail"].startswith("a model needs runs on two executor counts; all 6 runs were on 8 (")


def test_without_a_judged_candidate_none_is_selected_but_one_may_be_asked_for(client, name):
    add(client, name, 8, 1, 300)
    add(client, name, 8, 4, 100)
    all_of_them = models(client, name)
    assert all_of_them["selected_model"] is None and all_of_them["reasons"][0]["code"] == "no_error_comparable"
    usba = next(c for c in all_of_them["candidates"] if c["model"] == "usba")
    assert usba["status"] == "not_fitted" and usba["parameters"] is None
    assert usba["error"]["code"] == "too_few_observations" and "2 more needed" in usba["error"]["message"]
    assert "needs more runs" in speedup(client, name, 422)["detail"]
    assert speedup(client, name, model="amdahl")["surface"][0]["points"][0]["duration_s"] == pytest.approx(300)
    client.refuse("GET", "/v1/applications/%s/speedup?model=usba" % name, 422, parameter="model")


# --- the surface ---

def test_the_surface_is_what_predict_says(client, name):
    fill(client, name, noise=0.04)
    candidate = next(c for c in models(client, name)["candidates"] if c["model"] == "ernest")
    body = {k: candidate[k] for k in ("model", "parameters", "reference", "uncertainty")}
    body["points"] = [{"problem_size": n, "executors": m} for n in (8, 16) for m in (1, 2, 64)]
    predictions = client.post("/v1/models/predict", body, 200).json()["predictions"]
    grid = speedup(client, name, problem_sizes="8,16", executors="1,2,64", model="ernest")
    points = [dict(p, problem_size=row["problem_size"]) for row in grid["surface"] for p in row["points"]]
    assert len(points) == 6
    for point, prediction in zip(points, predictions):
        for member in ("problem_size", "executors", "duration_s", "speedup", "interval_s"):
            assert point[member] == pytest.approx(prediction[member], rel=5e-7)
        assert point["extrapolation"] == bool(prediction["warnings"]) == (point["executors"] == 64)


def test_speedups_are_ratios_of_times_and_also_relative_to_the_smallest_run(client, name):
    fill(client, name, shapes=[(n, m) for n, m in SHAPES if m > 1 and n > 8])
    grid = speedup(client, name, problem_sizes="16,64", executors="2,8", model="ernest")
    assert grid["relative_to"] == {"problem_size": 16, "executors": 2} and not grid["has_speedup_law"]
    for row in grid["surface"]:
        n = row["problem_size"]
        for point in row["points"]:
            m = point["executors"]
            assert point["speedup"] == pytest.approx(ernest(n, 1) / ernest(n, m), rel=1e-6)
            assert point["relative_speedup"] == pytest.approx(n / 16 * ernest(16, 2) / ernest(n, m), rel=1e-6)


def test_the_ridge_holds_the_best_executors(client, name):
    fill(client, name)
    grid = speedup(client, name, problem_sizes="64,1,1000000", model="ernest")
    for crest, n in zip(grid["best_executors_by_size"], (64, 1, 1000000)):
        assert crest["problem_size"] == n
        limit = min(n, 1000)
        best = min(range(1, limit + 1), key=lambda m: ernest(n, m))
        assert crest["executors"] == best
        assert crest["still_improving"] == (best == limit and ernest(n, limit + 1) < ernest(n, limit))
        assert crest["duration_s"] == pytest.approx(ernest(n, best), rel=1e-6)


def test_without_parameters_the_grid_is_what_was_observed(client, name):
    fill(client, name, noise=0.02)
    grid = speedup(client, name)
    assert grid["selected"] and grid["model"] == models(client, name)["selected_model"]
    assert [row["problem_size"] for row in grid["surface"]] == [8, 16, 64] and grid["executor_counts"] == [1, 2, 4, 8, 16]
    assert not any(p["extrapolation"] for row in grid["surface"] for p in row["points"])


@pytest.mark.parametrize("query,parameter", [
    ("problem_sizes=", "problem_sizes"), ("problem_sizes=8,", "problem_sizes"), ("problem_sizes=0", "problem_sizes"),
    ("problem_sizes=8,x", "problem_sizes"), ("executors=1.5", "executors"), ("executors=-1", "executors"),
    ("executors=2,4,2", "executors"), ("executors=99999999999", "executors"), ("executors=" + "1," * 10000 + "1", "executors"),
    ("model=magic", "model"), ("model=", "model"), ("colour=red", "colour")])
def test_faults_name_the_parameter(client, name, query, parameter):
    fill(client, name)
    client.refuse("GET", "/v1/applications/%s/speedup?%s" % (name, query), (400, 414, 422, 431) if len(query) > 9999 else 422,
                  parameter=None if len(query) > 9999 else parameter)


def test_the_grid_has_a_limit(client, name):
    fill(client, name)
    sizes = ",".join(str(i) for i in range(1, 103))
    problem = client.refuse("GET", "/v1/applications/%s/speedup?problem_sizes=%s&executors=%s" % (
        name, sizes, ",".join(str(i) for i in range(1, 101))), 422, parameter="executors")
    assert "10000" in problem["errors"][0]["detail"]


# --- whose ---

def test_another_team_sees_nothing(client, stranger, name):
    fill(client, name)
    models(client, name)
    for path in ("models", "speedup"):
        assert stranger.get("/v1/applications/%s/%s" % (name, path), 404).status_code == 404
    stranger.post("/v1/applications", {"name": name}, 201)
    assert "0 of the application's 0 runs" in models(stranger, name, 422)["detail"]
    assert models(client, name)["selected_model"] == "ernest"


def test_there_is_no_model_of_what_is_not_there(client):
    models(client, "nobody", 404)
    speedup(client, "nobody", 404)
    client.get("/v1/applications/nobody/models?x=1", 422)


# --- stage times ---

def test_stage_times_that_are_not_the_parallel_time_are_told(client, name):
    """Stages side by side: their durations add up to more than duration_s - initialization_s."""
    for i, (n, m) in enumerate(SHAPES):
        duration_s = ernest(n, m)
        first = {"id": 0, "tasks": n, "task_duration_s": 1, "duration_s": (duration_s - 4) * (1.02 if i % 3 else 1.5)}
        add(client, name, n, m, duration_s, initialization_s=4, stages=[first, {"id": 1, "tasks": 0, "task_duration_s": 0, "duration_s": None,
                                                                                "skipped": True}])
    by_kind = {c["model"]: c["warnings"] for c in models(client, name)["candidates"]}
    told = [w for w in by_kind["usba"] if w["code"] == "stage_times_differ"]
    assert len(told) == 1 and told[0]["evidence"]["count"] == 5 and "5 of 15 runs" in told[0]["message"]
    assert not [w for w in by_kind["ernest"] if w["code"] == "stage_times_differ"], "a law of whole durations"


def test_stage_times_that_are_not_all_known_are_not_compared(client, name):
    for n, m in SHAPES:
        add(client, name, n, m, ernest(n, m), initialization_s=4, stages=[
            {"id": 0, "tasks": n, "task_duration_s": 1, "duration_s": 1}, {"id": 1, "tasks": 1, "task_duration_s": 1}])
    assert not [w for c in models(client, name)["candidates"] for w in c["warnings"] if w["code"] == "stage_times_differ"]


# --- labels that explain the time ---

MACHINES = {"c4": 1, "m4": 1.6, "r4": 0.7, "x1": 2.2}
COUNTS = (2, 4, 6, 8, 12)


def curve(m):
    """A law of no kind here: a loss at two executors, another at eight."""
    return 40 + 600 / m * (2.5 if m < 3 else 1) + (45 if m == 8 else 0)


def fill_machines(client, name, noise=0.01):
    for i, (machine, m) in enumerate((a, m) for a in MACHINES for m in COUNTS for _ in range(2)):
        add(client, name, 16, m, MACHINES[machine] * curve(m) * (1 + noise * ((i * 7) % 5 - 2)),
            labels={"machine": machine, "number": str(i)}, started_at="2026-01-01T00:00:%02dZ" % i)


def test_runs_are_grouped_by_the_labels_that_explain_the_time(client, name):
    fill_machines(client, name)
    got = models(client, name)
    assert got["label_group"]["labels"] == {"machine": "x1"}, "that of the latest run, and no run number"
    assert got["label_group"]["label_groups"] == 4 and got["label_group"]["runs"] == 10 and got["label_group"]["labels_applied"]
    assert got["label_group"]["selected_by"] == "latest_run"
    other = client.get("/v1/applications/%s/models?label=machine:r4" % name, 200).json()
    assert other["label_group"]["labels"] == {"machine": "r4"} and other["label_group"]["selected_by"] == "request"
    ours = speedup(client, name, executors="4", model="ernest")["surface"][0]["points"][0]["duration_s"]
    both = client.get("/v1/applications/%s/models?label=machine:r4&label=number:20" % name, 200).json()
    assert both["label_group"] == other["label_group"], "several labels, one of them of a single run"
    for door in ("models", "speedup", "next-experiments"):
        client.refuse("GET", "/v1/applications/%s/%s?label=machine:r4&label=number:none" % (name, door), 422, parameter="label")
    theirs = client.get("/v1/applications/%s/speedup?executors=4&model=ernest&label=machine:r4" % name,
                        200).json()["surface"][0]["points"][0]["duration_s"]
    assert ours / theirs == pytest.approx(2.2 / 0.7, rel=0.03)
    assert models(client, name) == got, "what was asked for in between is not kept"


def test_a_surface_has_one_predictor_whatever_sizes_are_asked_for(client, name):
    """Runs with tasks are replayed, at each size for itself; more than eight sizes are left to the selected model."""
    for n in (9, 33, 65):
        for m in (1, 2, 5, 8):
            stage_s = -(-n // (2 * m)) * 4.0
            client.post("/v1/applications/%s/runs" % name, {
                "problem_size": n, "executors": m, "cores_per_executor": 2, "initialization_s": 4, "duration_s": 4 + stage_s,
                "stages": [{"id": 0, "parents": [], "task_durations_s": [4.0] * n, "duration_s": stage_s}]}, 201)

    def times(sizes=None, **more):
        grid = speedup(client, name, executors="1,2,3,8", **dict({"problem_sizes": sizes} if sizes else {}, **more))
        return grid["model"], {row["problem_size"]: [p["duration_s"] for p in row["points"]] for row in grid["surface"]}

    model, all_sizes = times()
    assert model == "replay" and set(all_sizes) == {9, 33, 65}
    for sizes in ("65", "9", "33,65", "48,9,128"):
        other, some = times(sizes)
        assert other == "replay"
        for size in set(some) & set(all_sizes):
            assert some[size] == pytest.approx(all_sizes[size], rel=1e-9)
    for size, row in all_sizes.items():
        for m, duration_s in zip((1, 2, 3, 8), row):
            advice = client.post("/v1/advice?dry_run=true", {"application": name, "problem_size": size,
                                                             "constraints": {"min_executors": m, "max_executors": m}}, 200).json()
            assert duration_s == pytest.approx(advice["recommendation"]["predicted_duration_s"]), (size, m)
    selected = models(client, name)["selected_model"]
    many = ",".join(str(n) for n in range(16, 25))
    model, by_law = times(many)
    assert model == selected != "replay" and by_law == times(many, model=selected)[1]


def test_a_kind_that_does_not_exist_is_refused_with_all_that_do(client, name):
    fill(client, name)
    problem = client.refuse("GET", "/v1/applications/%s/speedup?model=linear" % name, 422, parameter="model")
    kinds = set(Contract().document["components"]["schemas"]["ModelKind"]["enum"]) - {"ipso"}
    assert set(problem["errors"][0]["detail"].removeprefix("must be one of: ").split(", ")) == kinds, problem


def width(prediction):
    low, high = prediction["interval_s"]
    return high / low


def test_runs_with_other_labels_are_learnt_from(client, name):
    fill_machines(client, name)
    got = models(client, name)
    by_kind = {c["model"]: c for c in got["candidates"]}
    assert got["selected_model"] == "pooled" and got["reasons"][0]["code"] == "pooled"
    assert got["reasons"][0]["evidence"]["left_out"] == "executor_counts"
    pooled, single = (by_kind[k]["comparison"]["scale_out_mape_percent"]
                      for k in ("pooled", got["reasons"][0]["evidence"]["best_single_model"]))
    assert pooled < single / 2
    body = {k: by_kind["pooled"][k] for k in ("model", "parameters", "tables", "reference", "uncertainty")}
    assert body["uncertainty"]["pooled_executors_range"][0] <= 4 and all(
        c["uncertainty"]["pooled_executors_range"] is None for c in by_kind.values() if c["uncertainty"] and c["model"] != "pooled")
    del body["uncertainty"]["observed"]["executor_counts"][0]  # as if these labels had not run there
    body["points"] = [{"problem_size": 16, "executors": m} for m in (8, COUNTS[0])]
    replayed, below = client.post("/v1/models/predict", body, 200).json()["predictions"]
    assert replayed["duration_s"] == pytest.approx(2.2 * curve(8), rel=0.05)
    # Without it the model would not know that others ran there: wider, as in models that earlier versions stored.
    del body["uncertainty"]["pooled_executors_range"]
    alone = client.post("/v1/models/predict", body, 200).json()["predictions"][1]
    assert alone["duration_s"] == below["duration_s"] and width(alone) > width(below), (alone, below)


def test_a_refit_says_that_the_group_alone_has_no_model(client, name):
    fill_machines(client, name)
    for i, m in enumerate((4, 12)):
        add(client, name, 16, m, 9 * curve(m), labels={"machine": "new"}, started_at="2026-02-01T00:00:0%dZ" % i)
    assert models(client, name)["selected_model"] == "pooled"
    operation = wait_for(client, client.post("/v1/applications/%s/refit" % name, {"resamples": 20}, 202).json()["id"])
    assert operation["status"] == "failed", operation
    assert "learns from runs with other labels" in operation["error"]["detail"], operation["error"]


def test_labels_that_explain_nothing_make_no_contexts(client, name):
    fill(client, name, noise=0.02)
    assert models(client, name)["label_group"] is None


def test_a_context_of_too_few_runs_is_told_and_not_used(client, name):
    fill_machines(client, name)
    for i in range(3):
        add(client, name, 16, 4, 9 * curve(4), labels={"machine": "new"}, started_at="2026-02-01T00:00:0%dZ" % i)
    context = models(client, name)["label_group"]
    assert context["labels"] == {"machine": "new"} and context["runs"] == 3
    assert context["labels_applied"] is (models(client, name)["selected_model"] == "pooled")


@pytest.mark.parametrize("path", ["models", "speedup"])
def test_labels_that_no_run_has_are_refused(client, name, path):
    fill_machines(client, name)
    client.refuse("GET", "/v1/applications/%s/%s?label=machine:z9" % (name, path), 422, parameter="label")
    client.refuse("GET", "/v1/applications/%s/%s?label=machine" % (name, path), 422, parameter="label")


def laws(all_of_them):
    """The weights of the laws that `combined` holds: with an idle machine, and all."""
    of = next(c for c in all_of_them["candidates"] if c["model"] == "combined")
    components = of["tables"]["components"]
    return components[0]["weight"], sum(c["weight"] for c in components)


def test_what_a_team_s_other_applications_show_of_an_idle_machine_moves_the_odds_of_one_with_few_runs(service, name):
    """The master takes one of the machines counted: several applications of a team show it, and a new one believes it
    more, while they stay as they were fitted; another team's do not learn of it."""
    team, others = (service.client(service.token("%s-%s" % (name, which))) for which in ("a", "b"))
    few = [(64, m) for m in (4, 8, 12)]
    many = [(64, m) for m in (2, 3, 4, 6, 8, 12, 16)]

    def idle(n, m):
        return 30 + 900 / (m - 1)

    def between(n, m):
        return 30 + 900 / (m - 0.5)

    fill(team, "first", between, few)
    alone = models(team, "first")
    assert alone["idle_machine"]["prior_odds"] == pytest.approx(2, abs=1e-9) and alone["idle_machine"]["other_applications"] == 0
    for i in range(5):
        fill(team, "shows-%d" % i, idle, many, noise=0.01)
        shown = models(team, "shows-%d" % i)["idle_machine"]
        assert shown["other_applications"] == i + 1, "the first, and those before; nobody is a witness of its own"
        assert shown["odds"] > 50 * shown["prior_odds"]
    kept = models(team, "shows-0")
    fill(team, "new", between, few)
    new = models(team, "new")
    assert new["idle_machine"]["other_applications"] == 6
    assert 3 < new["idle_machine"]["prior_odds"] < 5, "Beta(4 + 5, 2) at most"
    assert new["idle_machine"]["odds"] / new["idle_machine"]["prior_odds"] == pytest.approx(
        alone["idle_machine"]["odds"] / alone["idle_machine"]["prior_odds"]), "the runs are the same"
    assert laws(new)[0] / laws(new)[1] > laws(alone)[0] / laws(alone)[1]
    assert models(team, "first") == alone and models(team, "shows-0") == kept, "nobody is fitted again for it"
    fill(others, "new", between, few)
    assert models(others, "new")["idle_machine"] == alone["idle_machine"]


def test_advice_learns_of_an_idle_machine_as_the_models_do(service, name):
    """The same runs, of fewer executors than any of them: where others show an idle machine, that takes longer."""
    team, others = (service.client(service.token("%s-%s" % (name, which))) for which in ("a", "b"))
    for i in range(8):
        fill(team, "shows-%d" % i, lambda n, m: 30 + 900 / (m - 1), [(64, m) for m in (2, 3, 4, 6, 8, 12, 16)], noise=0.01)
        models(team, "shows-%d" % i)
    took = []
    for client in (team, others):
        for m in (4, 4, 8, 8, 12):
            add(client, name, 64, m, 30 + 900 / (m - 0.5))
        body = {"application": name, "problem_size": 64, "deadline_s": 10000, "constraints": {"min_executors": 2, "max_executors": 2}}
        took.append(client.post("/v1/advice", body, 201).json()["recommendation"]["predicted_duration_s"])
    assert took[0] > 1.01 * took[1]


def test_executors_of_event_logs_are_not_taken_for_machines(service, name):
    """Runs with stages are as from an event log, which lists the driver apart: what a fit believes of an idle machine
    beforehand, and which applications it learns from, goes by that."""
    team = service.client(service.token(name))
    fill(team, "machines", lambda n, m: 30 + 900 / (m - 1), [(64, m) for m in (2, 4, 6, 8, 12)], noise=0.01)
    assert models(team, "machines")["idle_machine"]["prior_odds"] == pytest.approx(2)
    for m in (2, 4, 6, 8, 12):
        add(team, "logs", 64, m, 30 + 900 / m, stages=[{"id": 0, "parents": [], "task_durations_s": [2.0] * 64, "duration_s": 30.0}])
    found = models(team, "logs")["idle_machine"]
    assert found["prior_odds"] == pytest.approx(1 / 9) and found["other_applications"] == 0 and found["odds"] < 1 / 9
