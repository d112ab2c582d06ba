"""Advice for runs that labels tell apart: on one machine type a job takes twice as long as on another."""
import json
import uuid

import pytest

SLOWER = {"fast": 1.0, "slow": 2.0}
COUNTS = (2, 4, 6, 8, 12)


def duration(machine, m, size=48):
    return SLOWER[machine] * (20 + 10 * size / m)


def add(client, name, machine, m, second, stages=True, **more):
    """A run whose 4 x m cores run equal tasks, ten for each block."""
    size = more.pop("size", 48)
    took = duration(machine, m, size)
    body = {"problem_size": size, "executors": m, "cores_per_executor": 4, "duration_s": took,
            "initialization_s": 20 * SLOWER[machine], "started_at": "2026-01-01T00:%02d:%02dZ" % divmod(second, 60),
            "labels": {"machine": machine, "run": str(second)}}
    if stages:
        rounds = took - body["initialization_s"]
        body["stages"] = [{"id": 0, "parents": [], "task_durations_s": [4 * SLOWER[machine]] * (10 * size), "duration_s": rounds}]
    body.update(more)
    return client.post("/v1/applications/%s/runs" % name, body, 201).json()


def fill(client, name, stages=True, machines=("slow", "fast")):
    second = 0
    for machine in machines:
        for m in COUNTS * 2:
            add(client, name, machine, m, second, stages)
            second += 1
    return name


@pytest.fixture
def name():
    return "contexts-" + uuid.uuid4().hex[:8]


def ask(client, name, m=8, path="/v1/advice?dry_run=true", status=200, **more):
    body = dict({"application": name, "problem_size": 48, "constraints": {"min_executors": m, "max_executors": m}}, **more)
    return client.post(path, body, status).json()


def predicted(advice):
    return advice["recommendation"]["predicted_duration_s"]


def codes(advice, where="warnings"):
    return [note["code"] for note in advice[where]]


@pytest.mark.parametrize("stages", [True, False], ids=["replayed", "modelled"])
def test_each_machine_is_near_its_own_times(client, name, stages):
    """Without labels the two would be averaged: half as long again as the one, a quarter less than the other."""
    fill(client, name, stages)
    for machine in SLOWER:
        advice = ask(client, name, labels={"machine": machine})
        assert predicted(advice) == pytest.approx(duration(machine, 8), rel=0.05), advice["model"]
        context = advice["model"]["label_group"]
        assert context["labels"] == {"machine": machine} and context["selected_by"] == "request"
        assert context["label_groups"] == 2 and context["runs"] == 10 and context["labels_applied"] is True
        assert "model_drifted" not in codes(advice), "another machine is no drift"
        assert not {"labels_of_latest_run", "labels_unknown", "label_group_not_used", "labels_not_used"} & set(codes(advice))
        assert advice["model"]["observations"] <= 10 and (stages or advice["model"]["kind"] != "replay")


def test_the_default_follows_the_latest_run_and_says_so(client, name):
    fill(client, name)
    advice = ask(client, name)
    assert predicted(advice) == pytest.approx(duration("fast", 8), rel=0.05)
    assert advice["model"]["label_group"]["labels"] == {"machine": "fast"}, "and no run number, which each run has for itself"
    assert advice["model"]["label_group"]["selected_by"] == "latest_run"
    told = [w for w in advice["warnings"] if w["code"] == "labels_of_latest_run"][0]
    assert told["evidence"] == {"labels": "machine=fast", "label_groups": 2, "runs": 10}
    add(client, name, "slow", 4, 60)
    again = ask(client, name)
    assert predicted(again) == pytest.approx(duration("slow", 8), rel=0.05)
    assert again["model"]["label_group"]["labels"] == {"machine": "slow"} and again["model"]["label_group"]["runs"] == 11


def test_the_replay_takes_runs_of_its_context_though_others_are_nearer(client, name):
    """The slow machine ran this size; the fast one only another: its runs are replayed all the same."""
    second = 0
    for machine, size in (("slow", 48), ("fast", 96)):
        for m in COUNTS * 2:
            add(client, name, machine, m, second, size=size)
            second += 1
    advice = ask(client, name, labels={"machine": "fast"})
    assert predicted(advice) == pytest.approx(duration("fast", 8), rel=0.05)
    assert predicted(ask(client, name, labels={"machine": "slow"})) == pytest.approx(duration("slow", 8), rel=0.05)


def test_advice_is_kept_with_its_context_and_right_for_runs_that_follow(client, name):
    fill(client, name)
    for machine, second in (("slow", 100), ("fast", 101)):
        advice = ask(client, name, path="/v1/advice", status=201, labels={"machine": machine})
        assert client.get("/v1/advice/" + advice["id"], 200).json() == advice
        assert advice["model"]["label_group"]["labels"] == {"machine": machine}
        add(client, name, machine, 8, second, advice_id=advice["id"])
    told = client.get("/v1/applications/%s/accuracy" % name, 200).json()
    assert told["summary"]["runs_compared"] == 2 and told["summary"]["mape_percent"] < 5, told["summary"]
    assert told["summary"]["interval_coverage"] == 1


def test_asked_again_each_context_has_its_own_answer(client, name):
    """Answers are kept ready: not one for the labels of another, nor one of yesterday's history."""
    fill(client, name)
    first = {machine: predicted(ask(client, name, labels={"machine": machine})) for machine in SLOWER}
    for _ in range(2):
        for machine in SLOWER:
            assert predicted(ask(client, name, labels={"machine": machine})) == first[machine]
    assert first["slow"] / first["fast"] == pytest.approx(2, rel=0.05)


def test_labels_that_no_run_has_are_told(client, name):
    fill(client, name)
    advice = ask(client, name, labels={"machine": "unheard-of"})
    assert "labels_unknown" in codes(advice)
    assert advice["model"]["label_group"]["labels_applied"] is False and advice["model"]["label_group"]["runs"] == 0
    assert advice["model"]["label_group"]["labels"] == {"machine": "unheard-of"}
    assert duration("fast", 8) * 0.9 < predicted(advice) < duration("slow", 8) * 1.1


def test_labels_that_explain_nothing_choose_nothing(client, name):
    """Neither a number of its own for each run nor a branch makes a context; asked for, that is said."""
    for i, m in enumerate(COUNTS * 4):
        add(client, name, "fast", m, i, labels={"run": str(i), "branch": "main" if i % 2 else "other"})
    plain, asked = ask(client, name), ask(client, name, labels={"branch": "main", "run": "3"})
    assert plain["model"]["label_group"] is None and asked["model"]["label_group"] is None
    assert predicted(plain) == predicted(asked)
    assert "labels_of_latest_run" not in codes(plain) and "labels_not_used" not in codes(plain)
    told = [w for w in asked["warnings"] if w["code"] == "labels_not_used"][0]
    assert told["evidence"]["labels"] == "branch, run"


def test_an_unused_label_beside_a_used_one_does_not_hide_it(client, name):
    fill(client, name)
    advice = ask(client, name, labels={"machine": "slow", "run": "none has this"})
    assert predicted(advice) == pytest.approx(duration("slow", 8), rel=0.05)
    assert "labels_not_used" in codes(advice) and "labels_unknown" not in codes(advice)


def test_a_context_of_few_runs_without_stages_takes_all_and_says_so(client, name):
    """Three runs on a machine of its own kind: no replay, no model, unless the others teach one."""
    fill(client, name, stages=True, machines=("slow",))
    for i in range(3):
        add(client, name, "fast", 4, 30 + i, stages=False)
    advice = ask(client, name)
    context = advice["model"]["label_group"]
    assert context["labels"] == {"machine": "fast"} and context["runs"] == 3
    if context["labels_applied"]:
        assert advice["model"]["kind"] == "pooled"
    else:
        assert "label_group_not_used" in codes(advice) and "labels_of_latest_run" not in codes(advice)


def test_few_runs_with_stages_are_replayed_for_themselves(client, name):
    fill(client, name, machines=("slow",))
    for i in range(3):
        add(client, name, "fast", 4, 30 + i)
    advice = ask(client, name)
    assert predicted(advice) == pytest.approx(duration("fast", 8), rel=0.1)
    assert advice["model"]["label_group"]["labels_applied"] is True


def test_beside_running_jobs_the_runs_of_the_context_are_scheduled(client, name):
    fill(client, name)
    other = fill(client, name + "-other", machines=("fast",))
    for machine in SLOWER:
        advice = ask(client, name, labels={"machine": machine}, deadline_s=duration(machine, 8) * 1.3, confidence=0.5,
                     running=[{"application": other, "deadline_s": 1e6}], include=["contention"])
        assert advice["contention"]["met"] == [other, name] or set(advice["contention"]["met"]) == {other, name}
        assert predicted(advice) == pytest.approx(duration(machine, 8), rel=0.05)


@pytest.mark.parametrize("labels", [{"machine": 3}, {"": "x"}, ["machine"], "machine", {"m%d" % i: "x" for i in range(65)}])
def test_bad_labels_are_refused(client, name, labels):
    fill(client, name)
    problem = client.request("POST", "/v1/advice", 422, json={"application": name, "labels": labels}).json()
    assert any(e["pointer"].startswith("/labels") for e in problem["errors"]), problem


def test_labels_beside_a_profile_are_refused(client):
    profile = {"problem_size": 4, "executors": 1, "cores_per_executor": 4, "duration_s": 10,
               "stages": [{"id": 0, "task_durations_s": [8, 8, 8, 8]}]}
    client.refuse("POST", "/v1/advice", 422, pointer="/labels", json={"profile": profile, "labels": {"a": "b"}})
    assert client.post("/v1/advice?dry_run=true", {"profile": profile, "deadline_s": 60}, 200).json()["model"]["label_group"] is None


@pytest.mark.parametrize("before", ["", "a"], ids=["even", "odd"])
def test_long_labels_are_cut_between_characters(client, name, before):
    """Characters of two bytes: whether a message can hold them may not depend on where its room ends."""
    key = before + "\u00e9" * 120
    for i, m in enumerate(COUNTS * 4):
        machine = "slow" if i < 10 else "fast"
        add(client, name, machine, m, i, stages=False, labels={key: machine})
    for labels, code in (({}, "labels_of_latest_run"), ({key: "unheard-of"}, "labels_unknown"),
                         ({key: "fast", "x" + key: "y"}, "labels_not_used")):
        advice = ask(client, name, path="/v1/advice", status=201, labels=labels)
        told = [w for w in advice["warnings"] if w["code"] == code]
        assert told and "\ufffd" not in told[0]["message"] and key in told[0]["evidence"]["labels"], advice["warnings"]


@pytest.mark.parametrize("before", ["", "a"], ids=["even", "odd"])
def test_a_problem_about_a_long_key_is_valid_utf8(client, name, before):
    reply = client.post("/v1/advice", {before + "\u00e9" * 300: 1, "application": name}, 422)
    assert any(e["code"] == "unknown_field" for e in json.loads(reply.content.decode("utf-8"))["errors"])


@pytest.mark.parametrize("stages", [True, False], ids=["replayed", "modelled"])
def test_runs_of_the_configuration_that_missed_the_deadline_cap_its_probability(client, name, stages):
    """Two runs on 10 executors took 2 % longer than their law: of deadlines between, 0 of 2 were met, so at most 1/6 is promised, with Jeffreys' prior.
    Without these runs the same deadline has about one half. Where both runs are in time, nothing is capped."""
    fill(client, name, stages, machines=("fast",))
    late = duration("fast", 10) * 1.02
    before = ask(client, name, m=10, deadline_s=late * 0.999, confidence=0.9)["recommendation"]
    assert before["deadline_probability"] > 0.3
    for second in (40, 41):
        add(client, name, "fast", 10, second, stages, duration_s=late)
    after = ask(client, name, m=10, deadline_s=late * 0.999, confidence=0.9)
    assert after["recommendation"]["deadline_probability"] <= 1 / 6 + 1e-6  # told to seven digits
    assert after["verdict"] != "met"
    assert after["recommendation"]["interval_s"][1] >= late - 1e-6
    assert ask(client, name, m=10, deadline_s=late * 1.001, confidence=0.9)["recommendation"]["deadline_probability"] > 0.3
