"""POST /v1/applications/{name}/refit: all kinds fitted anew, intervals by bootstrap, as an operation."""
import math
import time
import uuid

import pytest

from long_work import wait_for
from patience import PATIENCE, SLOWDOWN

SHAPES = [(n, m) for n in (8, 16, 64) for m in (1, 2, 4, 8, 16)]
NOISE = (0.03, -0.02, 0.01, -0.04, 0.02, -0.01, 0.04)
LONG = {"resamples": 100000}


@pytest.fixture(scope="module")
def service(make_service):
    service = make_service(PROVISOR_OPERATION_WORKERS=2, PROVISOR_REFIT_POINTS_MAX=5)
    service.alpha_token, service.beta_token = service.token("alpha"), service.token("beta")
    return service.start()


@pytest.fixture(scope="module")
def client(service):
    return service.client(service.alpha_token)


@pytest.fixture
def name():
    return "refit-" + uuid.uuid4().hex


def ernest(n, m):
    return 12 + 3.5 * n / m + 1.25 * math.log(m) + 0.4 * m


def add(client, name, n, m, duration_s):
    client.post("/v1/applications/%s/runs" % name, {"problem_size": n, "executors": m, "cores_per_executor": 4,
                                                    "duration_s": duration_s}, 201)


def fill(client, name, repeats=2, noise=1.0, shapes=SHAPES):
    for i, (n, m) in enumerate(shapes * repeats):
        add(client, name, n, m, ernest(n, m) * (1 + noise * NOISE[i * 3 % 7]))


def path(name):
    return "/v1/applications/%s/refit" % name


def checked(client, operation):
    """The result of one that succeeded, as the contract says it looks."""
    assert operation["status"] == "succeeded", operation["error"]
    client.contract.check_instance(client.contract.document["components"]["schemas"]["RefitResult"], operation["result"], "result")
    client.contract.check_instance(client.contract.document["components"]["schemas"]["RefitRequest"], operation["request"], "request")
    return operation["result"]


def refit(client, name, **body):
    operation = client.post(path(name), body, 202).json()
    return checked(client, wait_for(client, operation["id"]))


def test_a_refit_from_request_to_result(client, name):
    fill(client, name)
    reply = client.post(path(name), {"resamples": 300, "points": [{"problem_size": 32, "executors": 4}]}, 202)
    made = reply.json()
    assert reply.headers["Location"] == "/v1/operations/" + made["id"]
    assert (made["kind"], made["application"]) == ("refit", name)
    assert made["request"] == {"model": "auto", "weights": "relative", "resamples": 300, "confidence": 0.95, "seed": 1,
                               "points": [{"problem_size": 32, "executors": 4}]}
    seen = wait_for(client, made["id"])
    result = checked(client, seen)
    assert seen["progress"]["unit"] == "resamples" and seen["progress"]["done"] == seen["progress"]["total"] > 300
    assert (result["history_version"], result["runs"], result["runs_used"]) == (30, 30, 30)
    assert result["selection"]["selected_model"] == result["fitted_model"]["model"] == "combined"
    bootstrap = result["bootstrap"]
    assert (bootstrap["method"], bootstrap["configurations"], bootstrap["failed"]) == ("residuals", 15, 0)
    assert bootstrap["parameters"] == {}, "of laws that are combined"
    there, = bootstrap["predictions"]
    assert there["mean_interval_s"][0] < 1.02 * ernest(32, 4) and 0.98 * ernest(32, 4) < there["mean_interval_s"][1]
    assert there["interval_s"][0] < there["mean_interval_s"][0] and there["interval_s"][1] > there["mean_interval_s"][1]
    assert there["mean_interval_s"][1] / there["mean_interval_s"][0] < 1.2 < there["interval_s"][1] / there["interval_s"][0]
    stability = result["selection_stability"]
    assert stability["selections"] == 200 and stability["configurations_left_out"] == 3
    assert sum(s["times"] for s in stability["models"]) + stability["undecided"] == 200
    assert result["warnings"] == [] or {w["code"] for w in result["warnings"]} == {"selection_unstable"}


def test_the_fit_of_a_result_predicts_as_a_fit_does(client, name):
    fill(client, name)
    result = refit(client, name, model="ernest", resamples=300)
    fitted = result["fitted_model"]
    for parameter, figure in result["bootstrap"]["parameters"].items():
        assert figure["estimate"] == fitted["parameters"][parameter]["estimate"]
        assert figure["interval"][0] <= figure["estimate"] <= figure["interval"][1]
    b = result["bootstrap"]["parameters"]["b"]
    assert b["interval"][0] < 3.5 < b["interval"][1]
    point = {"problem_size": 32, "executors": 4}
    body = {k: fitted[k] for k in ("model", "parameters", "uncertainty")}
    predicted = client.post("/v1/models/predict", dict(body, points=[point]), 200).json()["predictions"][0]
    assert predicted["duration_s"] == pytest.approx(ernest(32, 4), rel=0.05) and predicted["interval_s"]
    candidate = next(c for c in client.get("/v1/applications/%s/models" % name).json()["candidates"] if c["model"] == "ernest")
    assert candidate["parameters"] == fitted["parameters"], "relative weights, as the models of the history"


def test_one_seed_one_answer(client, name):
    fill(client, name)
    first, again = (refit(client, name, model="ernest", resamples=50, seed=7) for _ in range(2))
    other = refit(client, name, model="ernest", resamples=50, seed=8)
    assert first == again
    assert first["bootstrap"]["parameters"] != other["bootstrap"]["parameters"]
    for parameter, figure in first["bootstrap"]["parameters"].items():
        assert figure["estimate"] == other["bootstrap"]["parameters"][parameter]["estimate"]


def test_more_confidence_is_wider_and_exact_runs_leave_no_doubt(client, name):
    fill(client, name)
    point = {"points": [{"problem_size": 16, "executors": 4}], "model": "ernest", "resamples": 200}
    half, most = (refit(client, name, confidence=c, **point)["bootstrap"]["predictions"][0]["mean_interval_s"] for c in (0.5, 0.99))
    assert most[0] < half[0] < half[1] < most[1]
    fill(client, "exact-" + name, noise=0)
    exact = refit(client, "exact-" + name, **point)["bootstrap"]["predictions"][0]
    assert exact["interval_s"] == pytest.approx([ernest(16, 4)] * 2, rel=1e-6)


def test_points_not_asked_for_are_those_observed(client, name):
    fill(client, name)
    predictions = refit(client, name, resamples=30)["bootstrap"]["predictions"]
    assert [(p["problem_size"], p["executors"]) for p in predictions] == SHAPES
    assert refit(client, name, resamples=30, points=[])["bootstrap"]["predictions"] == []


def test_many_configurations_are_drawn_as_cases(client, name):
    fill(client, name, repeats=1, shapes=[(n, m) for n in range(8, 56, 8) for m in range(1, 13, 2)])
    bootstrap = refit(client, name, model="ernest", resamples=100)["bootstrap"]
    assert (bootstrap["method"], bootstrap["configurations"]) == ("cases", 36)


def test_a_body_may_be_left_out(client, name):
    fill(client, name)
    made = client.request("POST", path(name), 202).json()
    assert made["request"]["resamples"] == 1000 and made["request"]["points"] is None
    checked(client, wait_for(client, made["id"]))


def test_the_models_show_the_intervals_while_the_history_stays(client, name):
    fill(client, name)
    models = lambda: client.get("/v1/applications/%s/models" % name).json()
    before = models()
    assert before["refit"] is None
    made = client.post(path(name), {"resamples": 100}, 202).json()
    result = checked(client, wait_for(client, made["id"]))
    shown = models()
    assert shown["refit"]["operation"] == made["id"] and shown["refit"]["model"] == result["fitted_model"]["model"]
    assert shown["refit"]["bootstrap"]["parameters"] == result["bootstrap"]["parameters"]
    assert dict(shown, refit=None) == before, "nothing else changed"
    add(client, name, 8, 1, 40)
    assert models()["refit"] is None
    refit(client, name, resamples=30)
    assert models()["refit"]["bootstrap"]["resamples"] == 30


def test_wait_for_the_end(client, name):
    fill(client, name)
    reply = client.post(path(name), {"resamples": 50}, 200, headers={"Prefer": "wait=20"})
    assert reply.headers["Preference-Applied"].startswith("wait=") and reply.json()["status"] == "succeeded"
    checked(client, reply.json())


def test_a_key_asks_for_one_refit(client, name):
    fill(client, name)
    head = {"Idempotency-Key": '"%s"' % uuid.uuid4()}
    first, again = (client.post(path(name), {"resamples": 40}, 202, headers=head).json() for _ in range(2))
    assert first["id"] == again["id"]
    client.post(path(name), {"resamples": 41}, 422, headers=head)
    wait_for(client, first["id"])


def test_a_repetition_gets_the_first_reply_though_the_runs_are_gone(client, name):
    shapes = [(8, 1), (8, 2), (8, 4), (16, 8)]
    fill(client, name, repeats=1, shapes=shapes)
    head = {"Idempotency-Key": '"%s"' % uuid.uuid4()}
    first = client.post(path(name), {"model": "amdahl", "resamples": 20}, 202, headers=head).json()
    wait_for(client, first["id"])
    for run in client.get("/v1/applications/%s/runs" % name).json()["items"]:
        client.delete("/v1/applications/%s/runs/%s" % (name, run["id"]))
    client.post(path(name), {"model": "amdahl", "resamples": 20}, 422)
    again = client.post(path(name), {"model": "amdahl", "resamples": 20}, 202, headers=head)
    assert again.json()["id"] == first["id"] and again.headers["Idempotency-Replayed"] == "true"


# --- what is refused at once ---

@pytest.mark.parametrize("body,pointer", [
    ({"model": "magic"}, "/model"), ({"model": 7}, "/model"), ({"resamples": 19}, "/resamples"), ({"resamples": 100001}, "/resamples"),
    ({"resamples": 20.5}, "/resamples"), ({"confidence": 1}, "/confidence"), ({"confidence": 0.4}, "/confidence"),
    ({"seed": -1}, "/seed"), ({"seed": "NaN"}, "/seed"), ({"weights": "seconds"}, "/weights"), ({"weights": "heavy"}, "/weights"),
    ({"points": [{"problem_size": 8, "executors": 1}] * 2}, "/points"), ({"points": [{"problem_size": 0, "executors": 1}]}, "/points/0/problem_size"),
    ({"points": [{"problem_size": 8}]}, "/points/0/executors"), ({"points": [{"problem_size": n, "executors": 1} for n in range(1, 7)]}, "/points"),
    ({"resample": 10}, "/resample")])
def test_what_is_wrong_is_named(client, body, pointer):
    client.refuse("POST", path("nothing-is-there"), 422, pointer=pointer, json=body)


def test_an_unknown_application_and_an_unknown_parameter(client, name):
    client.post(path(name), {}, 404)
    client.refuse("POST", path(name) + "?wait=3", 422, parameter="wait")
    client.request("POST", path(name), 400, data="{", headers={"Content-Type": "application/json"})


def test_too_few_runs_are_told_at_once(client, name):
    add(client, name, 8, 1, 40)
    assert "1 of the application's 1 run" in client.post(path(name), {}, 422).json()["detail"]
    for m in (2, 4):
        add(client, name, 8, m, 40 / m + 5)
    client.refuse("POST", path(name), 422, pointer="/model", json={"model": "usba"})
    problem = client.refuse("POST", path(name), 422, pointer="/model", json={"model": "ipso"})
    assert problem["detail"] == "model: this kind is not fitted to the runs of an application"
    assert client.get("/v1/operations?application=" + name).json()["items"] == []


def test_where_nothing_tells_how_far_the_law_is_off_there_is_a_fit_and_no_interval(client, name):
    for m in (1, 4):
        add(client, name, 8, m, 40 / m + 5)
    result = refit(client, name, model="amdahl", resamples=20)
    assert result["bootstrap"] is None and result["fitted_model"]["parameters"]["eta"]
    assert [w["code"] for w in result["warnings"]] == ["no_bootstrap"]


def test_another_team_s_application_is_not_there(service, client, name):
    fill(client, name)
    stranger = service.client(service.beta_token)
    stranger.post(path(name), {}, 404)
    reader = service.client(client.post("/v1/tokens", {"name": "reader-" + name, "scopes": ["read"]}, 201).json()["token"])
    reader.post(path(name), {}, 403)


# --- what happens meanwhile ---

def test_a_refit_is_cancelled_within_a_second(client, name):
    fill(client, name)
    made = client.post(path(name), LONG, 202).json()["id"]
    wait_for(client, made, ("running",))
    while not client.get("/v1/operations/" + made).json()["progress"]["done"]:
        time.sleep(0.02)
    began = time.monotonic()
    client.delete("/v1/operations/" + made, (200, 202))
    seen = wait_for(client, made)
    assert seen["status"] == "cancelled" and time.monotonic() - began < 1.5 * SLOWDOWN
    assert 0 < seen["progress"]["done"] < seen["progress"]["total"] and seen["result"] is None
    assert client.get("/v1/applications/%s/models" % name).json()["refit"] is None


def test_a_history_that_moves_on_leaves_the_result_behind(client, name):
    fill(client, name)
    made = client.post(path(name), {"model": "ernest", "resamples": 20000 // SLOWDOWN, "points": []}, 202).json()["id"]
    wait_for(client, made, ("running",))
    while not client.get("/v1/operations/" + made).json()["progress"]["done"]:
        time.sleep(0.02)
    add(client, name, 8, 1, 40)
    result = checked(client, wait_for(client, made))
    assert (result["history_version"], result["history_version_now"]) == (30, 31)
    assert "history_changed" in [w["code"] for w in result["warnings"]]
    assert client.get("/v1/applications/%s/models" % name).json()["refit"] is None


def test_an_application_removed_meanwhile_is_told(client, name):
    fill(client, name)
    done = client.post(path(name), {"resamples": 20}, 202).json()["id"]
    wait_for(client, done)
    made = client.post(path(name), LONG, 202).json()["id"]
    wait_for(client, made, ("running",))
    client.delete("/v1/applications/" + name)
    seen = wait_for(client, made)
    assert seen["status"] == "failed" and seen["application"] == name
    assert seen["error"]["type"].endswith("/not_found") and "removed meanwhile" in seen["error"]["detail"]
    client.get("/v1/operations/" + done, 404)


def test_the_same_name_anew_is_another_application(client, name):
    fill(client, name)
    made = client.post(path(name), LONG, 202).json()["id"]
    wait_for(client, made, ("running",))
    client.delete("/v1/applications/" + name)
    fill(client, name)
    assert wait_for(client, made)["status"] == "failed"
    assert client.get("/v1/applications/%s/models" % name).json()["refit"] is None
