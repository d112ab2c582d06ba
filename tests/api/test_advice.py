"""Advice over HTTP: from recorded runs (or a profile) to an executor count, stored and readable again."""
import json
import re
import math
import uuid

import pytest

PROFILE = {
    "problem_size": 40, "executors": 2, "cores_per_executor": 2, "duration_s": 25.0, "initialization_s": 5.0,
    "stages": [{"id": 0, "parents": [], "task_durations_s": [2.0] * 40, "duration_s": 20.0}]}


def run_of(executors, size=40, task_s=2.0, init_s=5.0):
    """size equal tasks on executors x 2 cores: init + ceil(size / K) rounds."""
    rounds = -(-size // (2 * executors))
    return {"problem_size": size, "executors": executors, "cores_per_executor": 2,
            "duration_s": init_s + rounds * task_s, "initialization_s": init_s,
            "stages": [{"id": 0, "parents": [], "task_durations_s": [task_s] * size, "duration_s": rounds * task_s}]}


@pytest.fixture
def application(client):
    """An application whose runs follow the law of equal tasks exactly."""
    name = "equal-" + uuid.uuid4().hex[:8]
    for executors in (1, 2, 4, 5):
        client.post("/v1/applications/%s/runs" % name, run_of(executors), status=201)
    return name


def ask(client, status=201, path="/v1/advice", **body):
    return client.post(path, body, status=status).json()


def evidence(advice, code, where="reasons"):
    found = [n.get("evidence", {}) for n in advice[where] if n["code"] == code]
    assert found, (code, advice[where])
    return found[0]


def test_fewest_executors_that_meet_the_deadline(client, application):
    """5 s + ceil(40 / 2m) x 2 s within 26 s with room for doubt: the law gives the count by hand."""
    advice = ask(client, application=application, problem_size=40, deadline_s=26, constraints={"max_executors": 20})
    assert advice["feasible"] is True
    chosen = advice["recommendation"]
    m = chosen["executors"]
    assert chosen["cores_per_executor"] == 2
    assert chosen["predicted_duration_s"] == pytest.approx(5 + 2 * -(-40 // (2 * m)), rel=1e-6)
    assert chosen["deadline_probability"] >= 0.95
    assert chosen["interval_s"][0] < chosen["predicted_duration_s"] < chosen["interval_s"][1]
    assert evidence(advice, "deadline_met")["fewer_executors_probability"] < 0.95
    assert evidence(advice, "replayed_runs")["runs"] == 4
    assert advice["model"]["kind"] == "replay" and advice["model"]["observations"] == 4
    assert advice["model"]["loo_mape_percent"] == pytest.approx(0, abs=1e-6)
    assert advice["spark"]["properties"] == {"spark.executor.cores": "2", "spark.executor.instances": str(m)}
    times = [a["predicted_duration_s"] for a in advice["alternatives"]]
    assert times == sorted(times) and len(times) > 3


def test_infeasible_says_what_would_do(client, application):
    """Two executors cannot: the remedies, asked again, are feasible."""
    body = dict(application=application, problem_size=40, deadline_s=15)
    advice = ask(client, constraints={"max_executors": 2}, **body)
    assert advice["feasible"] is False
    assert advice["recommendation"]["executors"] == 2
    remedies = advice["remedies"]
    assert evidence(advice, "deadline_missed")["predicted_duration_s"] == pytest.approx(25)
    again = ask(client, constraints={"max_executors": remedies["max_executors"]}, **body)
    assert again["feasible"] is True
    later = ask(client, application=application, problem_size=40, deadline_s=remedies["deadline_s"] * (1 + 1e-9),
                constraints={"max_executors": 2})
    assert later["verdict"] == "met" and later["feasible"] is True


def test_more_executors_never_ask_for_a_later_deadline(client, application):
    """The remedy is the least deadline over all allowed counts, and asked again it is met with confidence."""
    before = float("inf")
    for most in (1, 2, 5, 16, 100, 1000):
        limits = {"max_executors": most}
        late = ask(client, application=application, problem_size=40, deadline_s=1, constraints=limits)
        deadline_s = late["remedies"]["deadline_s"]
        assert late["feasible"] is False and deadline_s <= before
        before = deadline_s
        again = ask(client, application=application, problem_size=40, deadline_s=deadline_s, constraints=limits)
        assert again["feasible"] is True and again["recommendation"]["deadline_probability"] >= 0.95, (most, again)
        # Fewer by far where the rest buys nothing: 40 tasks need no more than 20 executors of 2 cores.
        assert late["recommendation"]["executors"] <= 20


def test_alternatives_hold_what_the_reasons_name(client, application):
    for deadline_s in (12, 16, 20, 26, 40):
        advice = ask(client, application=application, problem_size=40, deadline_s=deadline_s,
                     constraints={"max_executors": 1000})
        listed = [a["executors"] for a in advice["alternatives"]]
        assert advice["recommendation"]["executors"] in listed and len(listed) <= 16
        for reason in advice["reasons"]:
            if "fewer_executors" in reason.get("evidence", {}):
                assert reason["evidence"]["fewer_executors"] in listed


def test_stages_that_only_fit_the_cores_are_told(client):
    """30 tasks on 30 cores may follow them or not: said, until a run on another number of cores shows it."""
    name = "cut-" + uuid.uuid4().hex[:8]
    run = {"problem_size": 64, "executors": 15, "cores_per_executor": 2, "duration_s": 6.0, "initialization_s": 2.0,
           "stages": [{"id": 0, "parents": [], "task_durations_s": [4.0] * 30, "duration_s": 4.0}]}
    client.post("/v1/applications/%s/runs" % name, run, status=201)
    advice = ask(client, application=name, deadline_s=60)
    assert evidence(advice, "stages_assumed_to_follow_cores", "warnings")["stages"] == 1
    assert evidence(advice, "bound")["bound_by"] != "straggler"
    assert evidence(advice, "bound")["recorded_work_s"] == pytest.approx(120)
    other = dict(run, executors=5, duration_s=14.0, stages=[dict(run["stages"][0], duration_s=12.0)])
    client.post("/v1/applications/%s/runs" % name, other, status=201)
    advice = ask(client, application=name, deadline_s=60)
    assert "stages_assumed_to_follow_cores" not in [w["code"] for w in advice["warnings"]]


def test_a_deadline_met_with_less_confidence_is_at_risk(client, application):
    """The deadline equals the median: met as predicted, with probability one half."""
    advice = ask(client, application=application, problem_size=40, deadline_s=25.0001, confidence=0.9,
                 constraints={"min_executors": 2, "max_executors": 2})
    assert advice["verdict"] == "at_risk" and advice["feasible"] is False
    assert evidence(advice, "deadline_at_risk")["deadline_probability"] == pytest.approx(0.5, abs=0.01)
    assert advice["remedies"]["deadline_s"] > 25.0001


def test_without_a_deadline_the_last_run_is_the_measure(client, application):
    """The last run had 5 executors: 5 + ceil(40 / 10) x 2 = 13 s. 4 take 15 s, 15 percent longer, for 60 instead of 65 executor seconds."""
    advice = ask(client, application=application, constraints={"tolerance_percent": 0, "price_per_executor_hour": 3.6})
    assert advice["objective"] == "min_cost" and advice["deadline_s"] is None and advice["verdict"] == "met"
    assert advice["recommendation"]["deadline_probability"] is None and advice["recommendation"]["executors"] == 5
    last = advice["last_run"]
    assert last["executors"] == 5 and last["duration_s"] == 13 and last["predicted_duration_s"] == pytest.approx(13)
    assert last["duration_change_percent"] == pytest.approx(0, abs=1e-6) and last["cost"] == pytest.approx(0.065)
    assert any("Without a deadline" in r["message"] for r in advice["reasons"])
    advice = ask(client, application=application, constraints={"tolerance_percent": 20})
    assert advice["recommendation"]["executors"] == 4
    assert advice["last_run"]["duration_change_percent"] == pytest.approx(100 * (15 / 13 - 1))
    assert advice["last_run"]["cost_change_percent"] == pytest.approx(100 * (60 / 65 - 1))
    assert evidence(advice, "compared_with_last_run")["cost_change_percent"] == advice["last_run"]["cost_change_percent"]
    client.refuse("POST", "/v1/advice", 422, pointer="/constraints/tolerance_percent",
                  json={"application": application, "constraints": {"tolerance_percent": -1}})


def test_no_more_than_four_times_what_ran_unless_asked_for(client, application):
    """The largest run had 5 executors: 20 at most, which take 5 + ceil(400 / 40) x 2 = 25 s."""
    body = dict(application=application, problem_size=400, deadline_s=20)
    advice = ask(client, **body)
    assert advice["verdict"] == "missed" and advice["recommendation"]["executors"] <= 20
    assert max(a["executors"] for a in advice["alternatives"]) == 20
    bounded = evidence(advice, "executors_bounded", "warnings")
    assert bounded["max_executors"] == 20 and bounded["most_cores"] == 10
    more = advice["remedies"]["max_executors"]
    assert more > 20
    told = ask(client, constraints={"max_executors": 100}, **body)
    assert told["verdict"] == "met" and told["recommendation"]["executors"] == more
    assert "executors_bounded" not in [w["code"] for w in told["warnings"]]
    assert "executors_bounded" not in [w["code"] for w in ask(client, application=application, problem_size=40, deadline_s=26)["warnings"]]


def test_an_assumed_problem_size_is_reported(client, application):
    warning = evidence(ask(client, application=application, deadline_s=26), "problem_size_of_latest_run", "warnings")
    assert warning["problem_size"] == 40
    assert "problem_size_of_latest_run" not in [w["code"] for w in ask(client, application=application, problem_size=40)["warnings"]]


def test_cores_per_executor_that_never_ran_are_extrapolation(client, application):
    body = dict(application=application, problem_size=40, deadline_s=60)
    advice = ask(client, constraints={"cores_per_executor": 1}, **body)
    assert advice["model"]["extrapolation"] is True
    assert any(w["code"] == "extrapolation" and w["evidence"].get("cores_per_executor") == 1 for w in advice["warnings"])
    advice = ask(client, constraints={"cores_per_executor": 2}, **body)
    assert advice["model"]["extrapolation"] is False and advice["warnings"] == []


def test_a_single_run_far_away_allows_no_advice(client):
    name = "far-" + uuid.uuid4().hex[:8]
    client.post("/v1/applications/%s/runs" % name, run_of(4), status=201)
    near = ask(client, application=name, problem_size=160, deadline_s=600)
    assert near["verdict"] == "met"
    advice = ask(client, application=name, problem_size=161, deadline_s=600)
    assert (advice["verdict"], advice["feasible"], advice["recommendation"], advice["spark"], advice["alternatives"]) == ("unknown", False, None, None, [])
    assert advice["reasons"][0]["code"] == "history_insufficient" and "remedies" not in advice
    assert advice["data_needed"]["runs"] == 1 and advice["data_needed"]["suggested"] == [{"problem_size": 161, "executors": 4}]
    assert client.get("/v1/advice/" + advice["id"]).json() == advice
    listed = client.get("/v1/advice?application=%s&verdict=unknown" % name).json()["items"]
    assert [a["id"] for a in listed] == [advice["id"]]
    assert len(client.get("/v1/advice?application=%s&verdict=met" % name).json()["items"]) == 1
    client.refuse("GET", "/v1/advice?verdict=maybe", 422, parameter="verdict")
    client.post("/v1/applications/%s/runs" % name, run_of(4, size=160), status=201)  # the run that it asked for, or about
    assert ask(client, application=name, problem_size=161, deadline_s=600)["verdict"] == "met"


def test_an_interval_wider_than_a_factor_of_ten_allows_no_advice(client):
    """One run of 15 s: ln T is Student-t with 3 degrees of freedom and scale 0.1; at 0.999 that is 12.9 scales on either side."""
    name = "wide-" + uuid.uuid4().hex[:8]
    client.post("/v1/applications/%s/runs" % name, run_of(4), status=201)
    body = dict(application=name, problem_size=40, deadline_s=600, constraints={"min_executors": 4, "max_executors": 4})
    near = ask(client, confidence=0.99, **body)
    low_s, high_s = near["recommendation"]["interval_s"]
    assert near["verdict"] == "met" and high_s / low_s == pytest.approx(3.215, rel=1e-3), "exp(2 x 0.1 x 5.841)"
    wide = ask(client, confidence=0.999, include=["data_needed"], **body)
    assert wide["verdict"] == "unknown" and wide["recommendation"] is None and wide["feasible"] is False
    reason = evidence(wide, "history_insufficient")
    assert reason["upper_s"] / reason["lower_s"] == pytest.approx(13.26, rel=1e-3), "exp(2 x 0.1 x 12.924)"
    assert wide["reasons"][0]["message"].startswith("The 99.9 % interval of the duration with 4 executors extends from 4.1 to 54.6 s.")
    assert wide["data_needed"]["runs"] == 2
    assert wide["data_needed"]["suggested"] == [{"problem_size": 40, "executors": 4}]
    beyond = ask(client, confidence=0.99, problem_size=160, include=["data_needed"], **{k: body[k] for k in ("application", "deadline_s")})
    assert beyond["verdict"] == "unknown" and beyond["data_needed"]["suggested"] == [{"problem_size": 160, "executors": 4}]


def test_a_history_that_errs_allows_no_advice(client):
    """Durations without rhyme or reason on one problem size: no executor count can be had from them, and some warning before that."""
    name = "noise-" + uuid.uuid4().hex[:8]
    for i, duration_s in enumerate((10, 300, 25, 900, 14, 600, 33)):
        client.post("/v1/applications/%s/runs" % name, {"problem_size": 8, "executors": 1 + i, "cores_per_executor": 2, "duration_s": duration_s}, status=201)
    advice = ask(client, application=name, problem_size=8, deadline_s=100)
    assert advice["verdict"] == "unknown" and advice["recommendation"] is None
    assert advice["model"]["loo_mape_percent"] > 50
    assert evidence(advice, "history_insufficient")["left_out_error_percent"] == pytest.approx(advice["model"]["loo_mape_percent"])
    assert advice["data_needed"]["runs"] >= 1


@pytest.mark.parametrize("objective", ["min_time", "max_speedup", "min_cost", "efficiency"])
def test_objectives(client, application, objective):
    """No alternative within the constraints is better by the asked measure."""
    advice = ask(client, application=application, problem_size=40, objective=objective,
                 constraints={"max_executors": 20, "price_per_executor_hour": 0.36})
    chosen = advice["recommendation"]
    assert chosen["cost"] == pytest.approx(chosen["executors"] * chosen["predicted_duration_s"] * 1e-4)
    others = advice["alternatives"]
    if objective == "min_cost":
        assert chosen["cost"] <= min(o["cost"] for o in others) * (1 + 1e-9)
    if objective in ("min_time", "max_speedup"):
        assert chosen["predicted_duration_s"] <= min(o["predicted_duration_s"] for o in others) * 1.01


def test_profile_of_a_job_never_seen(client):
    advice = ask(client, profile=PROFILE, deadline_s=60, include=["data_needed"])
    assert advice["application"] is None and advice["model"]["observations"] == 1
    assert advice["model"]["loo_mape_percent"] is None
    assert "few_runs" in [w["code"] for w in advice["warnings"]]
    assert advice["data_needed"]["runs"] == 4
    assert "alternatives" not in advice and "spark" not in advice


def test_extrapolation_is_flagged_and_widens(client, application):
    near = ask(client, application=application, problem_size=40, constraints={"min_executors": 4, "max_executors": 4})
    far = ask(client, application=application, problem_size=400, constraints={"min_executors": 4, "max_executors": 4})
    assert near["model"]["extrapolation"] is False and far["model"]["extrapolation"] is True
    assert evidence(far, "extrapolation", "warnings")["most_problem_size"] == 40
    assert any("is outside those of the runs replayed (" in w["message"] for w in far["warnings"]), "others may be recorded"

    def width(advice):
        return advice["recommendation"]["interval_s"][1] / advice["recommendation"]["predicted_duration_s"]
    assert width(far) > width(near)
    assert far["recommendation"]["predicted_duration_s"] == pytest.approx(5 + 50 * 2, rel=1e-6)


def test_stored_read_and_listed_as_it_was_given(client, application):
    reply = client.post("/v1/advice", {"application": application, "deadline_s": 60}, status=201)
    assert reply.headers["Location"] == "/v1/advice/" + reply.json()["id"]
    assert client.get(reply.headers["Location"]).content == reply.content
    other = ask(client, application=application, deadline_s=70)
    page = client.get("/v1/advice?application=%s&limit=1" % application).json()
    assert [a["id"] for a in page["items"]] == [other["id"]]
    page = client.get("/v1/advice?application=%s&limit=1&cursor=%s" % (application, page["next_cursor"])).json()
    assert page["items"] == [reply.json()]
    assert page["next_cursor"] is None


def test_dry_run_stores_nothing(client, application):
    advice = ask(client, 200, "/v1/advice?dry_run=true", application=application, deadline_s=60)
    assert advice["id"] is None
    assert client.get("/v1/advice?application=" + application).json()["items"] == []


def test_idempotency_key_gives_one_advice(client, application):
    head = {"Idempotency-Key": '"%s"' % uuid.uuid4()}
    body = {"application": application, "deadline_s": 60}
    first = client.post("/v1/advice", body, status=201, headers=head)
    second = client.post("/v1/advice", body, status=201, headers=head)
    assert first.content == second.content and second.headers["Location"] == first.headers["Location"]
    assert len(client.get("/v1/advice?application=" + application).json()["items"]) == 1
    client.refuse("POST", "/v1/advice", 422, header="Idempotency-Key", headers=head, json=dict(body, deadline_s=61))


def test_a_new_run_counts_at_once(client, application):
    """The cache of this process does not outlive a write through it."""
    before = ask(client, application=application, deadline_s=60)
    client.post("/v1/applications/%s/runs" % application, run_of(8), status=201)
    after = ask(client, application=application, deadline_s=60)
    assert (before["model"]["observations"], after["model"]["observations"]) == (4, 5)


def test_beside_running_jobs(client, application):
    """Both start for 5 s, which need no core. Then on 4 cores come the running job's 10 rounds of 2 s, whose deadline is
    first, and those of the new job, which ends after 45 s."""
    running = [{"application": application, "release_s": 0, "deadline_s": 40}]
    other = "beside-" + uuid.uuid4().hex[:8]
    client.post("/v1/applications/%s/runs" % other, run_of(2), status=201)
    body = dict(application=other, problem_size=40, constraints={"min_executors": 2, "max_executors": 2},
                include=["contention"], running=running, confidence=0.5)
    missed = ask(client, deadline_s=44, **body)
    assert missed["feasible"] is False
    assert missed["contention"] == {"with_running": True, "met": [application], "missed": [other]}
    assert evidence(missed, "missed_beside_running")["cores"] == 4
    assert evidence(missed, "missed_beside_running")["execution_s"] == pytest.approx(45, abs=0.01)
    assert missed["remedies"]["deadline_s"] == pytest.approx(45, abs=0.01)
    assert missed["remedies"]["max_executors"] > 2
    met = ask(client, **dict(body, deadline_s=45.1))
    assert met["feasible"] is True and met["contention"]["missed"] == []
    assert missed["reasons"][0]["code"] == "missed_beside_running"
    assert "no cap" in missed["reasons"][0]["message"]
    assert evidence(missed, "missed_beside_running")["alone_s"] == pytest.approx(25, abs=0.01)
    assert "deadline_met" not in [r["code"] for r in missed["reasons"]]
    assert evidence(missed, "deadline_met_alone")["predicted_duration_s"] == pytest.approx(25, abs=0.01)
    # Most of the running job is done: 4 tasks of 2 s are left, which end before the new job has started.
    done = ask(client, **dict(body, deadline_s=44, running=[dict(running[0], progress=0.9)]))
    assert done["feasible"] is True and sorted(done["contention"]["met"]) == sorted([application, other])
    assert evidence(done, "met_beside_running")["execution_s"] == pytest.approx(25, abs=0.01)


def record_without_stages(client, name, runs):
    for executors, duration_s in runs:
        client.post("/v1/applications/%s/runs" % name, {"problem_size": 100, "executors": executors, "cores_per_executor": 4,
                                                        "duration_s": duration_s}, status=201)


def test_runs_without_stages_say_how_many_more_allow_a_model(client):
    """Four runs are one too few; the fifth makes an answer, also for more executors than ran."""
    name = "stageless-" + uuid.uuid4().hex[:8]
    runs = [(m, 4000 * m ** -1.2) for m in (4, 8, 12, 24, 40)]
    for n, run in enumerate(runs):
        record_without_stages(client, name, [run])
        advice = ask(client, application=name, deadline_s=600)
        needed = advice.get("data_needed")
        assert (advice["verdict"] == "unknown") == (n < 4), advice["reasons"]
        if n < 4:
            assert needed["runs"] == 4 - n and "event log" in needed["why"] and "there are %d." % (n + 1) in advice["reasons"][0]["message"]
    for executors in (32, 40, 41, 44, 48, 160):
        body = {"application": name, "deadline_s": 600, "constraints": {"min_executors": executors, "max_executors": executors}}
        advice = ask(client, **body)
        assert advice["recommendation"]["executors"] == executors, advice["reasons"]
        # Of more than linear speedup no more is believed beyond the runs than that it is linear.
        predicted = advice["recommendation"]["predicted_duration_s"]
        law = 4000 * executors ** -1.2 if executors <= 40 else 4000 * 40 ** -1.2 * 40 / executors
        assert predicted == pytest.approx(law, rel=0.02), executors


def test_runs_that_do_not_differ_in_executors_say_so(client):
    name = "alike-" + uuid.uuid4().hex[:8]
    record_without_stages(client, name, [(4, 100 + i) for i in range(5)])
    advice = ask(client, application=name, deadline_s=60)
    assert advice["verdict"] == "unknown" and advice["data_needed"]["runs"] == 1
    assert "another executor count" in advice["data_needed"]["why"] and "different pairs" in advice["reasons"][0]["message"]
    record_without_stages(client, name, [(8, 60)])
    assert ask(client, application=name, deadline_s=60)["verdict"] != "unknown"


def test_no_application_and_no_usable_runs(client):
    client.refuse("POST", "/v1/advice", 422, pointer="/application", json={"application": "nobody-knows-it"})
    name = "bare-" + uuid.uuid4().hex[:8]
    client.post("/v1/applications/%s/runs" % name,
                {"problem_size": 4, "executors": 2, "cores_per_executor": 2, "duration_s": 10}, status=201)
    advice = client.post("/v1/advice", {"application": name}, status=201).json()
    assert advice["verdict"] == "unknown" and advice["recommendation"] is None and advice["data_needed"]["runs"] == 4
    why = advice["reasons"][0]["message"]
    assert "has 1 run, but" in why and ": without stages 1; and no model can be fitted: it takes 5 runs" in why, why
    # A log that neither shows executors nor an end: of the two runs now there, each lack is counted.
    log = json.dumps({"Event": "SparkListenerApplicationStart", "App Name": "bare", "App ID": name, "Timestamp": 1000,
                      "User": "someone"}) + "\n"
    client.request("POST", "/v1/applications/%s/eventlogs" % name, 201, data=log.encode(),
                   headers={"Content-Type": "application/octet-stream"})
    why = client.post("/v1/advice", {"application": name, "problem_size": 4}, status=201).json()["reasons"][0]["message"]
    assert "has 2 runs, but" in why, why
    assert ": without executors 1, cores_per_executor 1, problem_size 1, stages 1; failed 1; and no model" in why, why
    # A stage of as many tasks as the problem is large, and a problem that is too large to be replayed.
    client.post("/v1/applications/%s/runs" % name, {
        "problem_size": 4, "executors": 2, "cores_per_executor": 2, "duration_s": 12, "initialization_s": 2,
        "stages": [{"id": 0, "parents": [], "task_durations_s": [10, 10, 10, 10]}]}, status=201)
    problem = client.refuse("POST", "/v1/advice", 422, pointer="/problem_size", json={"application": name, "problem_size": 10 ** 12})
    assert problem["type"].endswith("limit_exceeded"), problem
    assert re.search(r": use (at most \d+ cores? per executor or )?a problem size of at most \d+$", problem["errors"][0]["detail"]), problem
    empty = "empty-" + uuid.uuid4().hex[:8]
    client.post("/v1/applications", {"name": empty}, status=201)
    advice = client.post("/v1/advice", {"application": empty, "deadline_s": 9}, status=201).json()
    assert "has no runs yet" in advice["reasons"][0]["message"] and advice["problem_size"] is None and advice["model"] is None


def test_too_much_work_lies_with_what_was_sent(client):
    """Tasks follow the cores: the fault is at the cores, also where the size is that of the latest run, and says how many would do."""
    name = "follows-" + uuid.uuid4().hex[:8]
    for executors in (1, 2, 4, 8):
        client.post("/v1/applications/%s/runs" % name, {
            "problem_size": 4, "executors": executors, "cores_per_executor": 4, "duration_s": 12, "initialization_s": 2,
            "stages": [{"id": 0, "parents": [], "task_durations_s": [10] * (4 * executors)}]}, status=201)
    ask_for = lambda cores, **more: {"application": name, "constraints": {"cores_per_executor": cores}, **more}
    at = "/constraints/cores_per_executor"
    alone = client.refuse("POST", "/v1/advice", 422, pointer=at, json=ask_for(2000))
    assert [e["pointer"] for e in alone["errors"]] == [at]
    most = int(re.search(r"use at most (\d+) cores per executor", alone["errors"][0]["detail"])[1])
    assert 4 <= most < 2000
    client.post("/v1/advice?dry_run=true", ask_for(most), status=200)
    both = client.refuse("POST", "/v1/advice", 422, pointer=at, json=ask_for(2000, problem_size=4))
    assert [e["pointer"] for e in both["errors"]] == [at, "/problem_size"]
    cluster = {"executors": 5, "cores_per_executor": 200000}
    refused = client.refuse("POST", "/v1/advice", 422, pointer="/constraints/cluster", json={"application": name, "constraints": {"cluster": cluster}})
    assert len(refused["errors"]) == 1
    client.refuse("POST", "/v1/advice/batch", 422, pointer="/items/0" + at, json={"items": [ask_for(2000)]})


@pytest.mark.parametrize("body, pointer", [
    ({}, "/application"),
    ({"application": "a", "profile": PROFILE}, "/profile"),
    ({"profile": PROFILE, "deadline_s": 0}, "/deadline_s"),
    ({"profile": PROFILE, "deadline_s": "NaN"}, "/deadline_s"),
    ({"profile": PROFILE, "confidence": 1}, "/confidence"),
    ({"profile": PROFILE, "objective": "fastest"}, "/objective"),
    ({"profile": PROFILE, "surprise": 1}, "/surprise"),
    ({"profile": PROFILE, "constraints": {"cluster": "eu"}}, "/constraints/cluster"),
    ({"profile": PROFILE, "constraints": {"min_executors": 5, "max_executors": 4}}, "/constraints/min_executors"),
    ({"profile": PROFILE, "constraints": {"max_cost": 1}}, "/constraints/price_per_executor_hour"),
    ({"profile": PROFILE, "constraints": {"max_cost": 1e-9, "price_per_executor_hour": 1}}, "/constraints/max_cost"),
    ({"profile": PROFILE, "include": ["alternatives", "memories"]}, "/include/1"),
    ({"profile": PROFILE, "running": [{"application": "a", "deadline_s": 5}]}, "/constraints/max_executors"),
    ({"profile": PROFILE, "constraints": {"max_executors": 2},
      "running": [{"application": "nobody-knows-it", "deadline_s": 5}]}, "/running/0/application"),
    ({"profile": dict(PROFILE, duration_s=-1)}, "/profile/duration_s"),
    ({"profile": dict(PROFILE, stages=[])}, "/profile"),
])
def test_faults_name_their_place(client, body, pointer):
    client.refuse("POST", "/v1/advice", 422, pointer=pointer, json=body)


def test_what_was_meant_is_named(client):
    def details(path, body):
        return [e["detail"] for e in client.request("POST", path, 422, json=body).json()["errors"]]
    found = details("/v1/advice", {"profile": PROFILE, "deadline": 60, "constraints": {"maxExecutors": 4}, "budget": 3})
    assert any(d.endswith("did you mean deadline_s?") for d in found) and any(d.endswith("did you mean max_executors?") for d in found)
    assert "there is no such member here" in found, "nothing is like budget"
    assert details("/v1/advice?dryrun=true", {"profile": PROFILE}) == ["this call has no such query parameter; did you mean dry_run?"]


def test_parameters(client):
    client.refuse("POST", "/v1/advice?format=toml", 422, parameter="format", json={"profile": PROFILE})
    client.refuse("POST", "/v1/advice?dry_run=maybe", 422, parameter="dry_run", json={"profile": PROFILE})
    client.get("/v1/advice/%s" % uuid.uuid4(), status=404)


def test_another_team_sees_nothing(client, stranger, application):
    advice = ask(client, application=application, deadline_s=60)
    stranger.get("/v1/advice/" + advice["id"], status=404)
    assert advice["id"] not in json.dumps(stranger.get("/v1/advice").json())
    stranger.refuse("POST", "/v1/advice", 422, pointer="/application", json={"application": application})


# --- quotas for stages

def test_quotas_are_the_stage_plan_of_the_recommended_executors(client):
    """The same figures as POST /v1/stage-plans gives for the deadline and the executors recommended."""
    name = "quotas-" + uuid.uuid4().hex[:8]
    run = {"problem_size": 40, "executors": 2, "cores_per_executor": 2, "duration_s": 40.0, "initialization_s": 2.0,
           "stages": [{"id": 0, "parents": [], "task_durations_s": [2.0] * 40, "duration_s": 20.0,
                       "input_records": 80000, "nominal_rate_per_s": 1000.0},
                      {"id": 1, "parents": [0], "task_durations_s": [4.0] * 16, "duration_s": 16.0},
                      {"id": 2, "parents": [1], "skipped": True}]}
    made = client.post("/v1/applications/%s/runs" % name, run, status=201).json()
    advice = ask(client, application=name, deadline_s=60)
    chosen = advice["recommendation"]
    plan = client.post("/v1/stage-plans", {
        "application": name, "deadline_s": 60, "executors": chosen["executors"],
        "cores_per_executor": chosen["cores_per_executor"]}, status=200).json()
    members = ("id", "deadline_s", "estimated_cores", "max_allocable_cores", "initial_cores_per_executor")
    assert [s["id"] for s in advice["stages"]] == [0, 1]
    assert advice["stages"] == [{k: pytest.approx(s[k], rel=1e-6) for k in members} for s in plan["stages"]]
    assert all(s["deadline_s"] == float("%.7g" % s["deadline_s"]) for s in advice["stages"]), "to the digits that are meant"
    assert evidence(advice, "stage_quotas")["run"] == made["id"]
    assert client.get("/v1/advice/" + advice["id"]).json() == advice


def test_without_a_deadline_there_are_no_quotas(client, application):
    advice = ask(client, application=application, problem_size=40)
    assert advice["stages"] is None
    assert "deadline" in [r["message"] for r in advice["reasons"] if r["code"] == "no_stage_quotas"][0]
    advice = ask(client, application=application, problem_size=40, deadline_s=30, include=["spark"])
    assert "stages" not in advice and "alternatives" not in advice
    assert not [r for r in advice["reasons"] if "quotas" in r["code"]]
    assert ask(client, profile=PROFILE, deadline_s=60, include=["stages"])["stages"][0]["id"] == 0


# --- replay or model

def ernest_s(size, m):
    return 12 + 9 * size / m + 2 * math.log(m) + 0.25 * m


def record(client, name, size, executors, duration_s, **more):
    run = dict({"problem_size": size, "executors": executors, "cores_per_executor": 4, "duration_s": duration_s}, **more)
    client.post("/v1/applications/%s/runs" % name, run, status=201)


@pytest.fixture
def numbers_only(client):
    """An application of whose runs only durations are known; they follow an Ernest law exactly."""
    name = "numbers-" + uuid.uuid4().hex[:8]
    for size in (32, 64, 128):
        for executors in (1, 2, 4, 8, 16):
            record(client, name, size, executors, ernest_s(size, executors))
    return name


def test_a_run_too_large_for_a_replay_still_gives_quotas(make_service):
    """Its stages are there: they are planned, and nobody says that there are none."""
    service = make_service(PROVISOR_ADVICE_TASK_BUDGET=1000)
    client = service.start().client(service.token("alpha"))
    for executors in (1, 2, 4, 8, 16):
        record(client, "wide", 64, executors, ernest_s(64, executors), stages=[{"id": 7, "tasks": 500000, "task_duration_s": 0.001}])
    advice = ask(client, application="wide", deadline_s=100, constraints={"max_executors": 32})
    assert advice["model"]["kind"] != "replay" and evidence(advice, "model_chosen")["replay_runs"] == 0
    assert [s["id"] for s in advice["stages"]] == [7]
    codes = [r["code"] for r in advice["reasons"]]
    assert "stage_quotas" in codes and "no_stage_quotas" not in codes


def test_without_stages_a_model_gives_the_exact_count(client, numbers_only):
    for deadline_s in (60, 90, 150, 400):
        advice = ask(client, application=numbers_only, problem_size=64, deadline_s=deadline_s, confidence=0.5,
                     constraints={"max_executors": 32})
        least = next(m for m in range(1, 33) if ernest_s(64, m) <= deadline_s)
        chosen = advice["recommendation"]
        assert (chosen["executors"], chosen["cores_per_executor"]) == (least, 4)
        assert chosen["predicted_duration_s"] == pytest.approx(ernest_s(64, least), rel=1e-6)
        assert chosen["speedup"] == pytest.approx(ernest_s(64, 1) / ernest_s(64, least), rel=1e-6)
        assert advice["model"]["kind"] == "ernest" and advice["model"]["observations"] == 15
        assert advice["model"]["loo_mape_percent"] == pytest.approx(0, abs=1e-6)
        told = evidence(advice, "model_chosen")
        assert told["model"] == "ernest" and told["replay_runs"] == 0 and "replay_loo_mape_percent" not in told
        assert advice["stages"] is None and evidence(advice, "no_stage_quotas") == {}
        told = [r["message"] for r in advice["reasons"] if r["code"] == "no_stage_quotas"][0]
        assert "without" in told and "stages 15" in told, told
        assert not [r for r in advice["reasons"] if r["code"] in ("bound", "replayed_runs")]
    # The law rises beyond its best count: no more executors than that are advised.
    for objective in ("min_time", "max_speedup", "efficiency", "min_cost"):
        advice = ask(client, application=numbers_only, problem_size=64, objective=objective)
        best = min(range(1, 200), key=lambda m: ernest_s(64, m))
        assert advice["recommendation"]["executors"] <= best
        if objective == "min_time":
            assert advice["recommendation"]["executors"] == best and advice["model"]["extrapolation"] is True
            assert "extrapolation" in [w["code"] for w in advice["warnings"]]


def test_a_model_says_what_would_do(client, numbers_only):
    late = ask(client, application=numbers_only, problem_size=128, deadline_s=100, constraints={"max_executors": 8})
    assert late["feasible"] is False and late["model"]["kind"] == "ernest"
    more = ask(client, application=numbers_only, problem_size=128, deadline_s=100,
               constraints={"max_executors": late["remedies"]["max_executors"]})
    longer = ask(client, application=numbers_only, problem_size=128, deadline_s=late["remedies"]["deadline_s"],
                 constraints={"max_executors": 8})
    for again in (more, longer):
        assert again["feasible"] is True
        assert again["recommendation"]["deadline_probability"] >= 0.95


def test_a_model_is_of_one_kind_of_executor(client, numbers_only):
    """The runs had 4 cores an executor; of 8 a model knows nothing, and there is nothing to replay."""
    advice = client.post("/v1/advice", {"application": numbers_only, "deadline_s": 60, "constraints": {"cores_per_executor": 8}}, status=201).json()
    assert advice["verdict"] == "unknown" and advice["recommendation"] is None
    running = [{"application": numbers_only, "deadline_s": 900}]
    client.refuse("POST", "/v1/advice", 422, pointer="/running/0/application",
                  json={"application": numbers_only, "deadline_s": 60, "running": running,
                        "constraints": {"max_executors": 8}})


def test_the_lesser_error_answers_and_both_are_told(client, application):
    """Equal tasks in whole rounds: the replay is exact where no smooth law is. Then one whose stages mislead."""
    for executors in (3, 6, 7, 9):
        client.post("/v1/applications/%s/runs" % application, run_of(executors), status=201)
    advice = ask(client, application=application, problem_size=40, deadline_s=26)
    told = evidence(advice, "replay_chosen")
    assert advice["model"]["kind"] == "replay" and told["replay_runs"] == 5
    assert told["model_loo_mape_percent"] > told["replay_loo_mape_percent"]
    name = "misled-" + uuid.uuid4().hex[:8]
    for size in (32, 64, 128):
        for m in (1, 2, 4, 8, 16):
            # Tasks of no length: nothing that a replay could shorten.
            record(client, name, size, m, ernest_s(size, m),
                   stages=[{"id": 0, "parents": [], "task_durations_s": [0.001] * 4, "duration_s": 0.004}])
    advice = ask(client, application=name, problem_size=64, deadline_s=150)
    told = evidence(advice, "model_chosen")
    assert advice["model"]["kind"] == told["model"] == "ernest"
    assert told["model_loo_mape_percent"] < told["replay_loo_mape_percent"]
    assert advice["model"]["loo_mape_percent"] == told["model_loo_mape_percent"]
    # Another number of cores an executor is the replay's.
    advice = ask(client, application=name, problem_size=64, deadline_s=1500, constraints={"cores_per_executor": 2})
    assert advice["model"]["kind"] == "replay" and evidence(advice, "replay_chosen")["model_runs"] == 0
    # Beside a running job, both keep working.
    running = [{"application": application, "deadline_s": 900}]
    advice = ask(client, application=name, problem_size=64, deadline_s=300, running=running,
                 constraints={"max_executors": 20})
    assert advice["model"]["kind"] == "ernest"
    assert evidence(advice, "met_beside_running")["running"] == 1


@pytest.mark.parametrize("word,stored", [("True", False), ("TRUE", False), ("true", False), ("1", False),
                                         ("False", True), ("false", True), ("0", True)])
def test_booleans_of_queries_are_written_as_libraries_write_them(client, word, stored):
    body = {"profile": {"problem_size": 4, "executors": 2, "cores_per_executor": 2, "duration_s": 10,
                        "stages": [{"id": 0, "task_durations_s": [4, 4, 4, 4]}]}, "deadline_s": 100}
    client.post("/v1/advice?dry_run=" + word, body, 201 if stored else 200)
    client.refuse("POST", "/v1/advice?dry_run=" + word + "x", 422, parameter="dry_run", json=body)


def test_the_detail_of_several_faults_names_them_all(client):
    problem = client.refuse("POST", "/v1/advice", 422, pointer="/deadline_s",
                            json={"application": "x", "deadline_s": -1, "confidence": 2, "objective": "most"})
    assert problem["detail"].startswith("3 faults: ")
    for error in problem["errors"]:
        assert "%s %s" % (error["pointer"][1:], error["detail"]) in problem["detail"]
    one = client.refuse("POST", "/v1/advice", 422, pointer="/deadline_s", json={"application": "x", "deadline_s": -1})
    assert one["detail"] == "deadline_s " + one["errors"][0]["detail"]


def test_lists_of_advice_are_filtered_by_time_and_outcome(client, name):
    run = {"problem_size": 8, "executors": 2, "cores_per_executor": 2, "duration_s": 16.5, "stages": [{"id": 0, "tasks": 8, "task_duration_s": 2}]}
    client.post("/v1/applications/%s/runs" % name, run, 201)
    made = [client.post("/v1/advice", {"application": name, "deadline_s": d}, 201).json() for d in (1000, 0.1, 900)]

    def ids(**query):
        return [a["id"] for a in client.get("/v1/advice", params=dict(query, application=name)).json()["items"]]

    assert [a["feasible"] for a in made] == [True, False, True]
    assert ids() == [a["id"] for a in made[::-1]]
    assert ids(feasible="true") == [made[2]["id"], made[0]["id"]] and ids(feasible="False") == [made[1]["id"]]
    assert ids(since=made[1]["created_at"]) == [made[2]["id"], made[1]["id"]]
    assert ids(until=made[1]["created_at"]) == [made[0]["id"]]
    assert ids(since=made[0]["created_at"], until=made[2]["created_at"], feasible=0) == [made[1]["id"]]
    client.refuse("GET", "/v1/advice?feasible=maybe", 422, parameter="feasible")
    cursor = client.get("/v1/advice?limit=1&feasible=1&application=" + name).json()["next_cursor"]
    assert client.get("/v1/advice?limit=1&feasible=true&application=%s&cursor=%s" % (name, cursor)).json()["items"][0]["id"] == made[0]["id"]
    client.refuse("GET", "/v1/advice?limit=1&application=%s&cursor=%s" % (name, cursor), 400)


def test_large_executors_are_bounded_by_the_cores_and_not_by_a_default_nobody_sent(client):
    """1000 executors, the most where max_executors is absent, x 2000 cores are more than cores_max."""
    def advise(status, **constraints):
        return client.post("/v1/advice?dry_run=true", {"profile": PROFILE, "deadline_s": 100, "constraints": constraints}, status).json()
    assert advise(200, cores_per_executor=2000)["recommendation"]["cores_per_executor"] == 2000
    assert advise(200, cores_per_executor=2000, min_executors=500)["recommendation"]["executors"] == 500
    for sent in ({"max_executors": 501}, {"min_executors": 501}):
        problem = advise(422, cores_per_executor=2000, **sent)
        assert [e["pointer"] for e in problem["errors"]] == ["/constraints/cores_per_executor"], problem
        assert next(iter(sent)) in problem["detail"]


def test_a_dry_run_takes_a_token_that_only_reads(service, client, application):
    """A dashboard asks what would be, and stores nothing."""
    made = client.post("/v1/tokens", {"name": "dashboard-" + uuid.uuid4().hex[:8], "scopes": ["read"]}, status=201).json()
    reader = service.client(made["token"])
    body = {"application": application, "problem_size": 40, "deadline_s": 26}
    assert reader.post("/v1/advice?dry_run=true", body, status=200).json()["verdict"] == "met"
    refused = reader.request("POST", "/v1/advice", 403, json=body)
    assert refused.json()["detail"].endswith(": write") and 'scope="write"' in refused.headers["WWW-Authenticate"]
    reader.request("POST", "/v1/advice?dry_run=false", 403, json=body)
    made = client.post("/v1/tokens", {"name": "writer-" + uuid.uuid4().hex[:8], "scopes": ["write"]}, status=201).json()
    writer = service.client(made["token"])
    writer.post("/v1/advice?dry_run=true", body, status=200)
    made = client.post("/v1/tokens", {"name": "keys-" + uuid.uuid4().hex[:8], "scopes": ["admin"]}, status=201).json()
    refused = service.client(made["token"]).request("POST", "/v1/advice?dry_run=true", 403, json=body)
    assert refused.json()["detail"].endswith(": read")
