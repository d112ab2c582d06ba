"""Stages with as many tasks as the runs had cores: one observation is not a law.

Three runs on 4 executors of 4 cores: 64 tasks of 10 s, then 16 tasks of 120 s behind a shuffle, 166 s in all. With 8
executors the job takes 146 s if the 16 are a fixed number, 86 s if they follow the cores.
"""
import uuid

import pytest


@pytest.fixture
def ask_with(client, shared):
    """Ask about an application whose three logs have these properties in addition."""
    folder = shared / "cases" / "36-tasks-equal-cores"
    if not folder.is_dir():
        pytest.skip("no cases under %s" % shared)

    def ask(properties="", **body):
        name = "repart-" + uuid.uuid4().hex[:8]
        for log in sorted(folder.glob("eventlog-*")):
            text = log.read_text().replace('"spark.master":"yarn"', '"spark.master":"yarn"' + properties)
            client.request("POST", "/v1/applications/%s/eventlogs" % name, {200, 201}, data=text.encode(),
                           headers={"Content-Type": "application/octet-stream"})
        return client.post("/v1/advice", dict(application=name, **body), status=201).json()
    return ask


def warning(advice, code):
    found = [w for w in advice["warnings"] if w["code"] == code]
    return found[0] if found else None


EIGHT = {"min_executors": 8, "max_executors": 8}


def test_a_coincidence_promises_nothing(ask_with):
    advice = ask_with(deadline_s=120, constraints=EIGHT, include=["data_needed"])
    assert advice["verdict"] == "at_risk"
    assert 0.4 < advice["recommendation"]["deadline_probability"] < 0.7
    low_s, high_s = advice["recommendation"]["interval_s"]
    assert low_s < 86 and high_s > 146
    doubt = warning(advice, "stages_assumed_to_follow_cores")
    assert doubt["evidence"]["follows_duration_s"] == pytest.approx(86, abs=1)
    assert doubt["evidence"]["otherwise_duration_s"] == pytest.approx(146, abs=1)
    assert "8 executors take 1 min 26 s if it does (probability 50 %), else 2 min 26 s." in doubt["message"]
    assert advice["data_needed"]["runs"] == 1
    assert advice["data_needed"]["suggested"] == [{"problem_size": 64, "executors": 8}]


def test_whatever_the_count_no_promise_between_both_durations(ask_with):
    advice = ask_with(deadline_s=120)
    assert advice["verdict"] == "at_risk"
    assert all(a["deadline_probability"] < 0.7 for a in advice["alternatives"])
    assert ask_with(deadline_s=200, constraints=EIGHT)["verdict"] == "met", "both take less"


@pytest.mark.parametrize("properties", [',"spark.sql.shuffle.partitions":"16"', ',"spark.default.parallelism":"16"'])
def test_a_property_that_sets_the_number_decides(ask_with, properties):
    advice = ask_with(properties, deadline_s=120, constraints=EIGHT)
    assert advice["verdict"] == "missed"
    assert advice["recommendation"]["predicted_duration_s"] == pytest.approx(146, abs=1)
    assert warning(advice, "stages_assumed_to_follow_cores") is None
