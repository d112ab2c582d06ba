"""Accuracy over HTTP: every run that names the advice it followed is held against what was predicted."""
import json
import uuid

import pytest

from test_advice import run_of


@pytest.fixture
def name(client):
    name = "followed-" + uuid.uuid4().hex[:8]
    for executors in (1, 2, 4):
        client.post("/v1/applications/%s/runs" % name, run_of(executors), status=201)
    return name


def advise(client, name, executors=2, **more):
    limits = {"min_executors": executors, "max_executors": executors}
    body = dict(application=name, problem_size=40, constraints=limits, **more)
    return client.post("/v1/advice", body, status=201).json()


def follow(client, name, advice, duration_s, **more):
    run = dict({"problem_size": 40, "executors": advice["recommendation"]["executors"], "cores_per_executor": 2,
                "duration_s": duration_s, "advice_id": advice["id"]}, **more)
    return client.post("/v1/applications/%s/runs" % name, run, status=201).json()


def accuracy(client, name, query=""):
    return client.get("/v1/applications/%s/accuracy%s" % (name, query)).json()


def test_nothing_followed_nothing_told(client, name):
    """Runs without advice are no part of it, and means over nothing are null, not 0."""
    got = accuracy(client, name)
    assert got == {"summary": {"count": 0, "runs_compared": 0, "mape_percent": None, "mean_error_percent": None,
                               "interval_coverage": None, "confidence": None}, "items": [], "next_cursor": None}


def test_predicted_beside_actual(client, name):
    """25 s are predicted for 2 executors; 25 s are no error, 50 s are half of it too short, and outside."""
    advice = advise(client, name, confidence=0.9)
    assert advice["recommendation"]["predicted_duration_s"] == pytest.approx(25)
    exact = follow(client, name, advice, 25.0)
    slow = follow(client, name, advice, 50.0)
    got = accuracy(client, name)
    assert [i["run_id"] for i in got["items"]] == [slow["id"], exact["id"]]
    first, last = got["items"]
    assert last["error_percent"] == pytest.approx(0, abs=1e-6) and last["within_interval"] is True
    assert first["error_percent"] == pytest.approx(-50) and first["within_interval"] is False
    assert first["advised"] == {
        "problem_size": 40, "executors": 2, "cores_per_executor": 2, "model": advice["model"]["kind"],
        "predicted_duration_s": pytest.approx(advice["recommendation"]["predicted_duration_s"]),
        "interval_s": pytest.approx(advice["recommendation"]["interval_s"]), "confidence": 0.9}
    assert first["measured"] == {"problem_size": 40, "executors": 2, "cores_per_executor": 2, "duration_s": 50.0}
    assert got["summary"]["count"] == got["summary"]["runs_compared"] == 2
    assert got["summary"]["mape_percent"] == pytest.approx(25)
    assert got["summary"]["mean_error_percent"] == pytest.approx(-25)
    assert got["summary"]["interval_coverage"] == 0.5
    assert got["summary"]["confidence"] == pytest.approx(0.9)


def test_what_did_not_follow_does_not_count(client, name):
    """Failed, or on other executors or cores: listed, but the prediction is not to blame."""
    advice = advise(client, name)
    follow(client, name, advice, 500.0, executors=3)
    follow(client, name, advice, 500.0, cores_per_executor=1)
    follow(client, name, advice, 500.0, succeeded=False)
    follow(client, name, advice, 20.0)
    got = accuracy(client, name)
    assert [i["compared"] for i in got["items"]] == [True, False, False, False]
    assert got["items"][1]["error_percent"] is None and got["items"][1]["within_interval"] is None
    assert got["items"][3]["measured"]["executors"] == 3 and got["items"][3]["advised"]["executors"] == 2
    assert got["summary"]["count"] == 4 and got["summary"]["runs_compared"] == 1
    assert got["summary"]["mape_percent"] == pytest.approx(25)


def test_pages_share_one_summary(client, name):
    advice = advise(client, name)
    made = [follow(client, name, advice, 25.0 + k, started_at="2026-01-0%dT00:00:00Z" % (1 + k))["id"] for k in range(5)]
    seen, query = [], "?limit=2"
    while query:
        page = accuracy(client, name, query)
        assert page["summary"]["count"] == 5
        seen += [i["run_id"] for i in page["items"]]
        query = "?limit=2&cursor=" + page["next_cursor"] if page["next_cursor"] else None
    assert seen == made[::-1]


def test_a_log_names_its_advice_by_property(client, name):
    """spark.provisor.adviceId in the log, without any query parameter."""
    advice = advise(client, name)
    lines = [
        {"Event": "SparkListenerLogStart", "Spark Version": "3.5.0"},
        {"Event": "SparkListenerApplicationStart", "App Name": "x", "App ID": "app-" + uuid.uuid4().hex, "Timestamp": 1000,
         "User": "u"},
        {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": {"spark.provisor.adviceId": advice["id"]},
         "JVM Information": {}, "System Properties": {}, "Classpath Entries": {}},
        {"Event": "SparkListenerApplicationEnd", "Timestamp": 31000}]
    body = "".join(json.dumps(line) + "\n" for line in lines)
    path = "/v1/applications/%s/eventlogs?executors=2" % name
    run = client.request("POST", path, 201, data=body, headers={"Content-Type": "application/octet-stream"}).json()
    assert run["advice_id"] == advice["id"]
    item, = accuracy(client, name)["items"]
    assert item["run_id"] == run["id"] and item["measured"]["duration_s"] == 30.0
    assert item["error_percent"] == pytest.approx(100 * (25 - 30) / 30)


def test_the_summary_of_a_long_history_is_over_its_newest_runs(client, name):
    """The 1000 newest are 25 % off; older ones, exact, are left out as soon as there are more, and the reply says so."""
    advice = advise(client, name)
    run = {"problem_size": 40, "executors": 2, "cores_per_executor": 2, "succeeded": True, "advice_id": advice["id"]}
    recent = [dict(run, duration_s=20.0, started_at="2026-02-02T00:%02d:%02dZ" % (k // 60, k % 60)) for k in range(1000)]
    path = "/v1/applications/%s/runs/import" % name
    head = {"Content-Type": "application/x-ndjson"}
    client.request("POST", path, data="".join(json.dumps(r) + "\n" for r in recent), headers=head)
    summary = accuracy(client, name)["summary"]
    assert summary["count"] == summary["runs_compared"] == 1000 and "newest" not in summary
    follow(client, name, advice, 25.0, started_at="2026-01-01T00:00:00Z")
    got = accuracy(client, name)
    assert got["summary"] == dict(summary, newest=1000)
    assert got["summary"]["mape_percent"] == pytest.approx(25)
    newer = follow(client, name, advice, 25.0, started_at="2026-03-01T00:00:00Z")
    got = accuracy(client, name)
    assert got["items"][0]["run_id"] == newer["id"]
    assert got["summary"]["count"] == 1000 and got["summary"]["mape_percent"] == pytest.approx(25 * 0.999, rel=1e-6)
    client.delete("/v1/applications/%s/runs/%s" % (name, newer["id"]))
    assert accuracy(client, name)["summary"] == dict(summary, newest=1000)


def test_of_others_there_is_nothing(client, stranger, name):
    advice = advise(client, name)
    follow(client, name, advice, 25.0)
    stranger.get("/v1/applications/%s/accuracy" % name, 404)
    client.get("/v1/applications/%s-not/accuracy" % name, 404)
    client.refuse("GET", "/v1/applications/%s/accuracy?colour=red" % name, 422, parameter="colour")
    client.refuse("GET", "/v1/applications/%s/accuracy?limit=0" % name, 422, parameter="limit")


# --- GET /v1/accuracy ---

@pytest.fixture
def team(make_service):
    """A team of its own: what others of the module followed does not count."""
    service = make_service()
    service.start()
    return service, service.client(service.token("alone"))


def history(client, name):
    for executors in (1, 2, 4):
        client.post("/v1/applications/%s/runs" % name, run_of(executors), status=201)
    return name


def everything(client, **query):
    return client.get("/v1/accuracy", params=query).json()


NOTHING = {"count": 0, "runs_compared": 0, "mape_percent": None, "median_ape_percent": None, "mean_error_percent": None,
           "interval_coverage": None, "confidence": None, "deadlines": {"count": 0, "predicted_probability": None, "observed_rate": None}}


def test_accuracy_of_a_team(team):
    service, client = team
    empty = everything(client)
    assert empty["items"] == empty["by_model"] == [] and empty["next_cursor"] is None and empty["oldest_at"] is None
    assert dict(empty["overall"], calibration=[]) == dict(NOTHING, calibration=[])
    assert [b["count"] for b in empty["overall"]["calibration"]] == [0] * 10

    # Two applications; 25 s are predicted. Errors 0, -50 and 25 percent; one run did not follow.
    first, second = history(client, "first"), history(client, "second")
    advice = advise(client, first, confidence=0.9, deadline_s=60)
    promised = advice["recommendation"]["deadline_probability"]
    assert promised > 0.9
    follow(client, first, advice, 25.0, started_at="2026-01-01T00:00:00Z")
    follow(client, first, advice, 50.0, started_at="2026-01-02T00:00:00Z")
    follow(client, first, advice, 500.0, executors=3, started_at="2026-01-03T00:00:00Z")
    loose = advise(client, second, confidence=0.5)
    follow(client, second, loose, 20.0, started_at="2026-02-01T00:00:00Z")

    got = everything(client)
    assert "newest" not in got and got["oldest_at"] == "2026-01-01T00:00:00Z"
    total = got["overall"]
    assert (total["count"], total["runs_compared"]) == (4, 3)
    assert total["mape_percent"] == pytest.approx(25) and total["median_ape_percent"] == pytest.approx(25)
    assert total["mean_error_percent"] == pytest.approx(-25 / 3)
    assert total["confidence"] == pytest.approx((0.9 + 0.9 + 0.5) / 3)
    assert total["deadlines"] == {"count": 2, "predicted_probability": pytest.approx(promised), "observed_rate": 1.0}
    assert total["calibration"][9]["count"] == 2 and total["calibration"][9]["observed_rate"] == 1.0
    assert [i["application"] for i in got["items"]] == ["first", "second"]
    one, other = got["items"]
    assert one["mape_percent"] == pytest.approx(25) and one["runs_compared"] == 2 and one["interval_coverage"] == 0.5
    assert other["mape_percent"] == pytest.approx(25) and other["deadlines"]["count"] == 0
    assert sum(m["count"] for m in got["by_model"]) == 4
    assert {m["model"] for m in got["by_model"]} == {advice["model"]["kind"], loose["model"]["kind"]}
    summary = accuracy(client, first)["summary"]
    assert {k: one[k] for k in summary} == summary, "the same as of the application alone"

    # A deadline that was promised and missed.
    tight = advise(client, first, deadline_s=26, confidence=0.5)
    follow(client, first, tight, 30.0, started_at="2026-03-01T00:00:00Z")
    march = everything(client, since="2026-03-01T00:00:00Z")
    assert march["overall"]["count"] == 1 and march["overall"]["deadlines"]["observed_rate"] == 0.0
    assert march["overall"]["deadlines"]["predicted_probability"] == pytest.approx(tight["recommendation"]["deadline_probability"])
    assert march["since"] == "2026-03-01T00:00:00Z" and march["until"] is None

    # Windows: [since, until).
    january = everything(client, until="2026-02-01T00:00:00Z")
    assert [i["application"] for i in january["items"]] == ["first"] and january["overall"]["count"] == 3
    assert everything(client, since="2026-01-02T00:00:00Z", until="2026-01-03T00:00:00Z")["overall"]["count"] == 1

    # Pages by application say the same of all.
    page = everything(client, limit=1)
    assert [i["application"] for i in page["items"]] == ["first"] and page["overall"]["count"] == 5
    rest = everything(client, limit=1, cursor=page["next_cursor"])
    assert [i["application"] for i in rest["items"]] == ["second"] and rest["next_cursor"] is None
    assert rest["overall"] == page["overall"]
    client.refuse("GET", "/v1/accuracy?limit=1&until=2026-02-01T00:00:00Z&cursor=" + page["next_cursor"], 400)
    client.refuse("GET", "/v1/accuracy?since=yesterday", 422, parameter="since")
    client.refuse("GET", "/v1/accuracy?colour=red", 422, parameter="colour")

    # Another team has none of it; what goes with its application is gone from here, too.
    stranger = service.client(service.token("others"))
    assert everything(stranger)["overall"]["count"] == 0
    client.delete("/v1/applications/first")
    assert [i["application"] for i in everything(client)["items"]] == ["second"]


def test_the_newest_of_a_team_count(team):
    """1000 runs that are 25 % off; one older, exact, is left out as soon as there are more."""
    service, client = team
    name = history(client, "busy")
    advice = advise(client, name)
    run = {"problem_size": 40, "executors": 2, "cores_per_executor": 2, "succeeded": True, "advice_id": advice["id"]}
    recent = [dict(run, duration_s=20.0, started_at="2026-02-02T00:%02d:%02dZ" % (k // 60, k % 60)) for k in range(1000)]
    client.request("POST", "/v1/applications/%s/runs/import" % name, data="".join(json.dumps(r) + "\n" for r in recent),
                   headers={"Content-Type": "application/x-ndjson"})
    before = everything(client)
    assert before["overall"]["count"] == 1000 and "newest" not in before
    follow(client, name, advice, 25.0, started_at="2026-01-01T00:00:00Z")
    after = everything(client)
    assert after == dict(before, newest=1000)
    older = everything(client, until=after["oldest_at"])
    assert older["overall"]["count"] == 1 and older["overall"]["mape_percent"] == pytest.approx(0, abs=1e-6)
