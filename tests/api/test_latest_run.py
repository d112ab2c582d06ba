"""The newest run, compared with those before it: a slowdown is named, lowers the verdict, and is not answered by a guess."""
import json
import os
import pathlib

import pytest

from test_advice_spark import run_of
from test_memory import upload

SHARED = pathlib.Path(os.environ.get("PROVISOR_SHARED", pathlib.Path(__file__).resolve().parents[3] / "shared"))
CASES = SHARED / "cases"


def ask(client, name, deadline, **more):
    return client.post("/v1/advice?dry_run=true", {"application": name, "deadline_s": deadline, **more}, 200).json()


def found(advice, code, kind="warnings"):
    return next((f for f in advice[kind] if f["code"] == code), None)


def case(number, *parts):
    folder = next(CASES.glob("%02d-*" % number), None)
    if folder is None:
        pytest.skip("no shared cases (set PROVISOR_SHARED)")
    return folder.joinpath(*parts)


def record(client, name, runs):
    """Runs a day apart, oldest first."""
    client.post("/v1/applications", {"name": name}, 201)
    lines = [json.dumps(dict(run, started_at="2026-01-%02dT10:00:00Z" % (1 + i))) for i, run in enumerate(runs)]
    client.post("/v1/applications/%s/runs/import" % name, None, 201, data="\n".join(lines), headers={"Content-Type": "application/x-ndjson"})


def test_a_regression_after_five_nights(client, name):
    """48 to 50.4 s on five nights, then 92 s on four, with the same executors and size."""
    for night in range(5):
        upload(client, case(32, "eventlog-%d" % night).read_bytes(), name)
    before = ask(client, name, 60)
    assert before["verdict"] == "met" and before["recommendation"]["executors"] == 4 and not found(before, "latest_run_deviates")
    for slow in range(1, 5):
        night = 4 + slow
        upload(client, case(32, *(["later"] if night > 5 else []), "eventlog-%d" % night).read_bytes(), name)
        advice = ask(client, name, 60)
        recommended = advice["recommendation"]
        assert advice["verdict"] == "at_risk" and recommended["executors"] == 4, (slow, recommended)
        assert recommended["deadline_probability"] == pytest.approx(1 / (1 + slow), abs=0.02)
        assert recommended["interval_s"][0] < 49 and recommended["interval_s"][1] > 92
        said = found(advice, "latest_run_deviates")
        assert said["message"].startswith("The latest run took 1 min 32 s where 41.3 to 58.5 s were expected on its 4 executors")
        assert "Stage 0 took 84 s instead of 4" in said["message"]
        evidence = said["evidence"]
        assert evidence["runs"] == slow and evidence["compared_runs"] == 5 and evidence["executors"] == 4
        assert evidence["persistence"] == pytest.approx(slow / (slow + 1)) and evidence["stage"] == 0
        guess = found(advice, "slowdown_unsupported", "reasons")
        assert "is a guess, because all runs had the same number of cores" in guess["message"]
        assert guess["evidence"]["guess_executors"] > 4 and guess["evidence"]["guess_probability"] > 0.9
        later = ask(client, name, 200)
        assert later["verdict"] == "met" and later["recommendation"]["executors"] <= 4, "both levels meet it"


def test_runs_that_were_never_replayed(client, name):
    """Durations alone, of one configuration: no model can be fitted to them, no run has stages; what is known is still said."""
    runs = [{"problem_size": 40, "executors": 4, "cores_per_executor": 2, "duration_s": s} for s in (100, 102, 99, 101, 100, 170)]
    record(client, name, runs)
    advice = ask(client, name, 120)
    assert advice["verdict"] == "unknown" and found(advice, "latest_run_deviates")["evidence"]["expected_s"] == pytest.approx(100.4, abs=0.1)


def test_a_model_of_several_counts_and_a_slow_newest_run(client, name):
    """Runs on 2, 4 and 8 executors show that more executors help: they may be chosen, and the reason says so."""
    runs = [dict(run_of(n, size=160), duration_s=run_of(n, size=160)["duration_s"] * (1 + 0.01 * (i % 3))) for i, n in enumerate((2, 4, 8, 2, 4, 8, 4, 4))]
    slow = run_of(4, size=160, task_s=4.0)
    record(client, name, runs + [slow])
    deadline = 1.25 * run_of(4, size=160)["duration_s"]
    advice = ask(client, name, deadline)
    said = found(advice, "latest_run_deviates")
    assert said and said["evidence"]["persistence"] == 0.5
    assert advice["recommendation"]["executors"] > 4
    answered = found(advice, "slowdown_answered", "reasons")
    assert answered and "there are runs on 2 to 8 executors" in answered["message"], advice["reasons"]
    tight = ask(client, name, run_of(8, size=160)["duration_s"] * 1.3)
    assert tight["verdict"] == "at_risk" and tight["recommendation"]["executors"] <= 10, "hardly more than ran"


def test_a_skewed_run_is_not_cured_by_executors(client, name):
    """One task of the newest run took as long as ten: its own replay knows that more executors do not help."""
    skewed = run_of(4)
    skewed["stages"][0]["task_durations_s"][-1] = 20.0
    skewed["stages"][0]["duration_s"] = skewed["duration_s"] = 33.0
    record(client, name, [run_of(n) for n in (2, 4, 8, 4, 4, 4)] + [skewed])
    advice = ask(client, name, 20)
    assert found(advice, "latest_run_deviates") and advice["verdict"] == "at_risk", advice["recommendation"]
    assert advice["recommendation"]["deadline_probability"] < 0.6


def test_a_fast_newest_run_lowers_nothing(client, name):
    record(client, name, [run_of(4) for _ in range(6)])
    before = ask(client, name, 20)
    record_name = name + "-fast"
    record(client, record_name, [run_of(4) for _ in range(6)] + [run_of(4, task_s=0.8)])
    advice = ask(client, record_name, 20)
    said = found(advice, "latest_run_deviates")
    assert before["verdict"] == advice["verdict"] == "met"
    assert said["evidence"]["duration_s"] < said["evidence"]["lower_s"] and "persistence" not in said["evidence"]
    assert "slow" not in said["message"]


def test_sizes_that_change_from_night_to_night(client, name):
    """The time goes with the size: no surprise. As long for two thirds of the data: one."""
    sizes = (40, 44, 48, 42, 52, 46, 58)
    record(client, name, [run_of(4, size=size) for size in sizes])
    assert not found(ask(client, name, 60), "latest_run_deviates")
    record(client, name + "-slow", [run_of(4, size=size) for size in sizes[:-1]] + [dict(run_of(4, size=40, task_s=4.0))])
    assert found(ask(client, name + "-slow", 60), "latest_run_deviates")


def test_a_smoke_test_before_production(client, name):
    """A run on 400 kB and three nights on 8 GiB that sufficed with 8g (docs of the case): nothing is multiplied by the ratio of sizes."""
    for night in range(4):
        upload(client, case(38, "eventlog-%d" % night).read_bytes(), name)
    advice = ask(client, name, 60, include=["spark", "memory"])
    assert advice["spark"]["properties"]["spark.executor.memory"] == "8g" and advice["memory"]["properties"] == {}
    assert advice["memory"]["executor_memory_bytes"] == 8 << 30 and advice["memory"]["basis"] == "as_ran"
    emr = client.post("/v1/advice?dry_run=true&format=spark-submit", {"application": name, "deadline_s": 60}, 200).text
    assert "spark.executor.memory=8g" in emr


def test_an_engine_off_the_heap(client, name):
    for night in range(3):
        upload(client, case(16, "eventlog-%d" % night).read_bytes(), name)
    advice = ask(client, name, 60, include=["spark", "memory"])
    assert advice["memory"]["executor_memory_bytes"] == 8 << 30 and advice["memory"]["off_heap_bytes"] == 20 << 30
    assert advice["spark"]["properties"]["spark.executor.memory"] == "8g"
