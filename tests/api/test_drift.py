"""An application that becomes slower: the models say so, the event is due once, old runs fade and advice follows; runs that
speak for nothing but themselves are listed and count less."""
import datetime
import json
import random

import pytest


START = datetime.datetime(2026, 3, 1, tzinfo=datetime.timezone.utc)
COUNTS = (2, 4, 8, 16)


def law(m):
    return 30 + 400 / m


def post(client, name, i, m, factor=1.0, status=201, **more):
    """Run number i, an hour after the one before; noise of 2 percent that depends on the number alone."""
    noise = 1 + 0.02 * random.Random(i).gauss(0, 1)
    run = {"problem_size": 64, "executors": m, "cores_per_executor": 4, "duration_s": law(m) * factor * noise,
           "started_at": (START + datetime.timedelta(hours=i)).isoformat().replace("+00:00", "Z"), **more}
    return client.post("/v1/applications/%s/runs" % name, run, status).json()["id"]


def fill(client, name, first, last, factor=1.0):
    return [post(client, name, i, COUNTS[i % 4], factor) for i in range(first, last)]


def models(client, name):
    return client.get("/v1/applications/%s/models" % name, 200).json()


def events(service, name):
    rows = service.psql("SELECT data FROM provisor.outbox WHERE type = 'model.drifted' AND application_id = (SELECT id"
                        " FROM provisor.application WHERE name = '%s') ORDER BY id" % name)
    return [json.loads(line) for line in rows.splitlines() if line]


def advise(client, name, m, **more):
    return client.post("/v1/advice?dry_run=true", {"application": name, "problem_size": 64, "constraints": {
        "min_executors": m, "max_executors": m}, **more}, 200).json()


def test_a_shift_is_told_once_and_advice_follows(service, client):
    name = "drifting"
    fill(client, name, 0, 32)
    stable = models(client, name)
    assert stable["drift"]["state"] == "stable" and stable["drift"]["since_run"] is None and stable["down_weighted"] == []
    assert advise(client, name, 8)["recommendation"]["predicted_duration_s"] == pytest.approx(law(8), rel=0.05)
    ids, drift = [], None
    for i in range(32, 44):
        ids.append(post(client, name, i, COUNTS[i % 4], 1.4))
        drift = models(client, name)["drift"]
        if drift["state"] == "drifted":
            break
    assert drift["state"] == "drifted" and len(ids) <= 5, drift
    assert drift["direction"] == "slower" and drift["change_percent"] == pytest.approx(40, abs=12)
    assert drift["since_run"]["run_id"] == ids[0] and drift["detected_run"]["run_id"] == ids[-1]
    assert drift["runs_discounted"] == 32
    warning = [w for w in advise(client, name, 8)["warnings"] if w["code"] == "model_drifted"]
    assert warning and warning[0]["evidence"]["change_percent"] == pytest.approx(drift["change_percent"])
    told = events(service, name)
    assert len(told) == 1 and told[0]["application"] == name and told[0]["direction"] == "slower"
    assert told[0]["since_run"] == drift["since_run"] and told[0]["detected_run"] == drift["detected_run"]
    fill(client, name, 32 + len(ids), 32 + len(ids) + 12, 1.4)
    after = models(client, name)["drift"]
    assert after["state"] == "recovered" and after["since_run"] == drift["since_run"]
    for m in COUNTS:
        recommendation = advise(client, name, m)["recommendation"]
        assert recommendation["predicted_duration_s"] == pytest.approx(1.4 * law(m), rel=0.08)
    assert not [w for w in advise(client, name, 8)["warnings"] if w["code"] == "model_drifted"]
    assert len(events(service, name)) == 1


def test_runs_that_count_less_are_listed(client):
    name = "odd-runs"
    fill(client, name, 0, 24)
    wild = post(client, name, 24, 8, 3.0)
    failed = post(client, name, 25, 8, 0.1, succeeded=False)
    fill(client, name, 26, 30)
    reply = models(client, name)
    listed = {r["run_id"]: r for r in reply["down_weighted"]}
    assert reply["down_weighted_count"] == len(listed)
    assert listed[failed]["reason"] == "failed" and listed[failed]["weight"] == 0
    outlier = listed[wild]
    assert outlier["reason"] == "outlier" and 0 < outlier["weight"] < 0.1
    assert outlier["evidence"]["expected_duration_s"] == pytest.approx(law(8), rel=0.05)
    assert outlier["evidence"]["deviations"] > 3.5
    assert reply["drift"]["state"] == "stable"
    assert advise(client, name, 8)["recommendation"]["predicted_duration_s"] == pytest.approx(law(8), rel=0.05)


def test_an_old_drift_in_a_history_that_is_imported_is_no_news(service, client):
    name = "imported"
    lines = []
    for i in range(60):
        m = COUNTS[i % 4]
        lines.append(json.dumps({"problem_size": 64, "executors": m, "cores_per_executor": 4, "succeeded": True,
                                 "duration_s": law(m) * (1 if i < 20 else 1.5) * (1 + 0.02 * random.Random(i).gauss(0, 1)),
                                 "started_at": (START + datetime.timedelta(hours=i)).isoformat().replace("+00:00", "Z")}))
    client.post("/v1/applications", {"name": name}, 201)
    client.post("/v1/applications/%s/runs/import" % name, data="\n".join(lines).encode(), status=201,
                headers={"Content-Type": "application/x-ndjson"})
    drift = models(client, name)["drift"]
    assert drift["state"] == "recovered" and drift["drifts"] == 1
    assert events(service, name) == []


def test_the_probability_of_a_deadline_comes_from_the_interval(client):
    """Two-sided at 0.9: 5 percent lie beyond the upper end, so a deadline there is met with probability 0.95; a little more
    where the end is the largest score, which is the bound of a range of levels."""
    name = "consistent"
    fill(client, name, 0, 20)
    for m in (3, 8, 12):
        upper = advise(client, name, m, confidence=0.9)["recommendation"]["interval_s"][1]
        there = advise(client, name, m, confidence=0.9, deadline_s=upper)["recommendation"]
        assert 0.95 - 1e-5 < there["deadline_probability"] < 0.97, "the end has seven digits"
        lower = there["interval_s"][0]
        late = advise(client, name, m, confidence=0.9, deadline_s=lower)["recommendation"]["deadline_probability"]
        assert 0.03 < late < 0.05 + 1e-5
