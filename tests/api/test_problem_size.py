"""The problem size of a run: any number above 0, kept and used exactly."""
import pytest

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


@pytest.mark.parametrize("query", ("problem_sizes=0", "problem_sizes=1,x", "problem_sizes=0.5,0.50", "problem_sizes=1e13",
                                   "problem_sizes=1,", "problem_sizes=0x10"))
def test_lists_of_sizes_are_checked(client, name, query):
    for executors in (1, 2, 4):
        store(client, name, 2, executors)
    problem = client.get("/v1/applications/%s/speedup?%s" % (name, query), 422).json()
    assert problem["errors"][0]["parameter"] == "problem_sizes"
