"""The kind ipso of POST /v1/models/fit and /predict: measured stages in, a law, its type and its peak out."""
import pytest

FIT, PREDICT = "/v1/models/fit", "/v1/models/predict"
COUNTS = (1, 2, 4, 8, 16, 32, 64)


def rows(work=800.0, serial=40.0, external=1.0, internal=0.0, beta=0.0, gamma=0.0, counts=COUNTS):
    """A workload given by its factors: EX = n^external, IN = n^internal, q = beta n^gamma."""
    out = []
    for n in counts:
        parallel = work * n ** external
        q = beta * n ** gamma if n > 1 else 0
        out.append({"n": n, "parallel_s": parallel, "max_task_s": parallel / n,
                    "serial_s": serial * n ** internal, "induced_s": parallel / n * q})
    return out


def fit(client, observations, status=200, **more):
    return client.post(FIT, dict({"model": "ipso", "observations": observations}, **more), status).json()


def predict(client, fitted, *counts, **changes):
    body = {k: fitted[k] for k in ("model", "parameters", "reference", "uncertainty")}
    body["points"] = [{"executors": n} for n in counts]
    return client.post(PREDICT, dict(body, **changes), 200).json()["predictions"]


def test_parameters_come_back_and_predict_what_the_law_says(client):
    fitted = fit(client, rows(internal=0.6, beta=0.01, gamma=1.4))
    got = {name: p["estimate"] for name, p in fitted["parameters"].items()}
    want = {"eta": 800 / 840, "alpha": 1, "delta": 0.4, "beta": 0.01, "gamma": 1.4, "task_time_s": 800,
            "task_exponent": 0, "external_exponent": 1, "parallel_s": 800}
    assert got == pytest.approx(want, abs=1e-7)
    assert fitted["scaling_type"] == "IVt" and fitted["reference"] == "measured"
    assert fitted["fit"]["loo_mape_percent"] < 1e-4
    for n, there in zip((1, 3, 100), predict(client, fitted, 1, 3, 100)):
        q = 0.01 * n ** 1.4 if n > 1 else 0
        assert there["duration_s"] == pytest.approx(800 + 40 * n ** 0.6 + 800 * q, rel=1e-6)
        assert there["speedup"] == pytest.approx((800 * n + 40 * n ** 0.6) / there["duration_s"], rel=1e-6)
        assert there["problem_size"] is None
        assert [w["code"] for w in there["warnings"]] == (["extrapolation"] if n == 100 else [])


def test_the_peak_is_where_the_predictions_are_best(client):
    fitted = fit(client, rows(external=0, serial=0, beta=0.002, gamma=1.6, counts=COUNTS[1:] + (128,)))
    assert fitted["scaling_type"] == "IVs" and "alpha" not in fitted["parameters"]
    assert fitted["reference"] == "extrapolated"
    peak = fitted["peak"]
    below, top, above = (p["speedup"] for p in predict(client, fitted, peak["executors"] - 1, peak["executors"],
                                                       peak["executors"] + 1))
    assert top == pytest.approx(peak["speedup"]) and below <= top >= above
    assert any(f["code"] == "peak" and f["evidence"]["executors"] == peak["executors"]
               for f in fitted["findings"])


@pytest.mark.parametrize("name, workload", [
    ("It", dict()), ("IIt", dict(internal=0.5)), ("IIIt,1", dict(internal=1.0)),
    ("IIIt,2", dict(beta=0.1, gamma=1.0)), ("IVt", dict(beta=0.01, gamma=2.0)),
    ("Is", dict(external=0, serial=0)), ("IIs", dict(external=0, serial=0, beta=0.1, gamma=0.5)),
    ("IIIs,1", dict(external=0)), ("IIIs,2", dict(external=0, beta=0.1, gamma=1.0)),
    ("IVs", dict(external=0, beta=0.01, gamma=1.7)), ("undetermined", dict(external=0.5))])
def test_every_type_is_named(client, name, workload):
    fitted = fit(client, rows(**workload))
    assert fitted["scaling_type"] == name
    assert (fitted["peak"] is not None) == name.startswith("IV")
    warned = {w["code"] for w in fitted["warnings"]}
    assert ("workload_undetermined" in warned) == (name == "undetermined")


def test_tasks_without_a_busiest_one_count_as_equal(client):
    """The deterministic form: what the statistical one says when the busiest executor has its share."""
    observations = rows(internal=1.0, beta=0.01, gamma=0.5)
    statistical = fit(client, observations)
    for row in observations:
        del row["max_task_s"]
    deterministic = fit(client, observations)
    assert deterministic["scaling_type"] == statistical["scaling_type"] == "IIIt,1"
    for a, b in zip(predict(client, deterministic, 2, 50), predict(client, statistical, 2, 50)):
        assert a["speedup"] == pytest.approx(b["speedup"], rel=1e-6)


def test_a_step_of_the_serial_part_is_told_and_replayed(client):
    counts = (1, 3, 5, 7, 9, 11, 13, 15, 17, 20, 24, 32, 40, 50, 64)
    observations = rows(counts=counts)
    internal = lambda n: 1 + 0.15 * (n - 1) if n <= 15 else 4.2 + 0.25 * (n - 15)
    for row in observations:
        row["serial_s"] = 40 * internal(row["n"])
    fitted = fit(client, observations)
    assert fitted["scaling_type"] == "IIIt,1"
    warning = [w for w in fitted["warnings"] if w["code"] == "step_in_serial_work"]
    assert len(warning) == 1 and "n = 15 " in warning[0]["message"] and "n = 17," in warning[0]["message"]
    assert fitted["parameters"]["alpha"]["estimate"] == pytest.approx(4)
    for n, there in zip((2, 15, 18, 60), predict(client, fitted, 2, 15, 18, 60)):
        assert there["duration_s"] == pytest.approx(800 + 40 * internal(n), rel=1e-6)


def test_only_the_parameters_of_the_paper_predict_too(client):
    """alpha n^delta and beta n^gamma as the paper writes them: what a fit adds may be left out."""
    parameters = {name: {"estimate": value} for name, value in
                  dict(eta=0.9, alpha=1, delta=0.5, beta=0.01, gamma=1, task_time_s=90, task_exponent=0).items()}
    body = {"model": "ipso", "parameters": parameters, "points": [{"executors": 16}]}
    there = client.post(PREDICT, body, 200).json()["predictions"][0]
    assert there["speedup"] == pytest.approx((0.9 * 16 + 0.1 * 4) / (0.9 * 1.16 + 0.1 * 4))
    assert there["interval_s"] is None


def remove(key, index):
    return lambda o: o[index].pop(key)


def put(key, index, value):
    return lambda o: o[index].update({key: value})


@pytest.mark.parametrize("pointer, change", [
    ("/observations/0/n", remove("n", 0)),
    ("/observations/2/n", put("n", 2, 0)),
    ("/observations/2/n", put("n", 2, "4")),
    ("/observations/1/serial_s", remove("serial_s", 1)),
    ("/observations/1/serial_s", put("serial_s", 1, -1)),
    ("/observations/1/induced_s", put("induced_s", 1, "NaN")),
    ("/observations/3/induced_s", remove("induced_s", 3)),
    ("/observations/3/max_task_s", put("max_task_s", 3, 0)),
    ("/observations/3/parallel_s", put("parallel_s", 3, -2)),
    ("/observations/4/parallel_s", remove("parallel_s", 4)),
    ("/observations/4/max_task_s", remove("max_task_s", 4)),
    ("/observations/1/parallel_s", remove("parallel_s", 0)),
    ("/observations/5/executors", put("executors", 5, 4)),
    ("/observations/5/speedup", put("speedup", 5, 4)),
    ("/observations/0/max_task_s", lambda o: [r.pop(k) for r in o for k in ("max_task_s", "parallel_s")]),
])
def test_each_fault_of_an_observation_is_named(client, pointer, change):
    observations = rows()
    change(observations)
    problem = fit(client, observations, 422)
    assert pointer in [e["pointer"] for e in problem["errors"]]


@pytest.mark.parametrize("observations, words", [
    (rows(counts=(4, 4, 4)), "two executor counts"),
    (rows(counts=(1, 8), beta=0.1, gamma=1), "two counts"),
    (rows(counts=(4,)), "two executor counts")])
def test_too_few_counts_say_what_is_missing(client, observations, words):
    problem = fit(client, observations, 422)
    assert words in problem["detail"] and problem["errors"][0]["pointer"] == "/observations"


def test_relative_weights_are_refused(client):
    problem = fit(client, rows(), 422, weights="relative")
    assert problem["errors"][0]["pointer"] == "/weights"


def test_labels_are_refused_and_not_ignored(client):
    problem = fit(client, rows(), 422, labels={"machine": "m5"})
    assert [(e["pointer"], e["code"]) for e in problem["errors"]] == [("/labels", "conflict")]
    assert fit(client, rows(), labels=None)["model"] == "ipso"


def test_other_kinds_do_not_take_stages_nor_ipso_durations(client):
    problem = client.post(FIT, {"model": "ernest", "observations": rows()}, 422).json()
    assert any(e["pointer"] == "/observations/0/n" for e in problem["errors"])
    problem = fit(client, [{"problem_size": 4, "executors": m, "duration_s": 10} for m in (1, 2, 4)], 422)
    assert any(e["pointer"] == "/observations/0/duration_s" for e in problem["errors"])
