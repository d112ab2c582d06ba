"""Replies that predict from runs say which of them are from logs that are not whole, once and with the runs' own codes."""
import uuid

import pytest

from long_work import wait_for
from test_latest_run import case, record
from test_memory import upload
from test_refit import SHAPES, ernest

OCTETS = {"Content-Type": "application/octet-stream"}
CODE = "runs_with_warnings"
LOG = "36-tasks-equal-cores/eventlog-0"


@pytest.fixture(scope="module")
def team(service):
    return service.client(service.token("warned-" + uuid.uuid4().hex[:8]))


@pytest.fixture(scope="module")
def lines(shared):
    return (shared / "cases" / LOG).read_bytes().splitlines(keepends=True)


def send(team, name, data, query=""):
    return team.request("POST", "/v1/applications/%s/eventlogs%s" % (name, query), 201, data=data, headers=OCTETS).json()


def numbered(lines, number):
    """The log as that of another run."""
    return b"".join(lines).replace(b"app-", b"app-%d-" % number)


def doubled(lines, number):
    return b"".join(line * (2 if b"TaskEnd" in line else 1) for line in numbered(lines, number).splitlines(keepends=True))


def said(findings):
    found = [finding for finding in findings if finding["code"] == CODE]
    assert len(found) <= 1
    return found[0] if found else None


def advise(team, name, **more):
    reply = team.post("/v1/advice?dry_run=true", dict({"application": name, "deadline_s": 400}, **more), 200).json()
    return reply, said(reply["warnings"])


@pytest.fixture(scope="module")
def mixed(team, lines):
    """A whole run, a run with doubled events, and one with damaged lines."""
    name = "mixed-" + uuid.uuid4().hex[:8]
    runs = [send(team, name, numbered(lines, 1)), send(team, name, doubled(lines, 2)), send(team, name, numbered(lines, 3) + b"{broken\n")]
    assert [len(run["warnings"]) for run in runs] == [0, 1, 1]
    return name, runs


@pytest.fixture(scope="module")
def whole(team, lines):
    name = "whole-" + uuid.uuid4().hex[:8]
    for number in (1, 2):
        assert send(team, name, numbered(lines, number))["warnings"] == []
    return name


def test_advice_counts_the_runs_and_their_codes(team, mixed):
    name, runs = mixed
    reply, found = advise(team, name)
    evidence = found["evidence"]
    assert reply["verdict"] != "unknown"
    assert evidence.pop("run_id") in {run["id"] for run in runs[1:]}
    assert evidence == {"runs": 3, "runs_warned": 2, "doubled_events": 1, "damaged_lines": 1}
    assert found["message"].startswith("2 of the 3 runs behind this are from logs that are not whole (damaged_lines in 1, doubled_events in 1; ")


def test_whole_runs_are_not_mentioned(team, whole):
    reply, found = advise(team, whole)
    assert reply["verdict"] != "unknown" and found is None


# --- other replies


CLUSTER = {"executors": 4, "cores_per_executor": 16}


def test_jobs_of_a_schedule_count_their_runs_once(team, mixed, whole):
    def ask(*names):
        jobs = [{"name": "J%d" % i, "application": name, "deadline_s": 1e6} for i, name in enumerate(names)]
        return said(team.post("/v1/feasibility", {"cluster": CLUSTER, "jobs": jobs}, 200).json().get("warnings", []))
    assert ask(whole, whole) is None
    alone, twice, together = ask(mixed[0]), ask(mixed[0], mixed[0]), ask(whole, mixed[0])
    assert alone["evidence"]["runs"] == 3 and alone["evidence"]["runs_warned"] == 2
    assert twice == alone, "both jobs are from the same runs"
    assert together["evidence"]["runs"] == 5 and together["evidence"]["runs_warned"] == 2


def test_a_stage_plan_says_what_its_run_is(team, lines, whole):
    name = "one-" + uuid.uuid4().hex[:8]
    run = send(team, name, doubled(lines, 1))
    for application, expected in ((whole, None), (name, {"runs": 1, "runs_warned": 1, "doubled_events": 1, "run_id": run["id"]})):
        found = said(team.post("/v1/stage-plans", dict(CLUSTER, application=application, deadline_s=1e6), 200).json()["reasons"])
        assert (found and found["evidence"]) == expected


def test_stragglers_say_what_the_runs_are(team, mixed, whole):
    def ask(name):
        return said(team.get("/v1/applications/%s/stragglers" % name).json()["warnings"])
    assert ask(whole) is None
    assert ask(mixed[0])["evidence"]["runs_warned"] == 2


# --- models, whose runs have a duration only


def fill(team, warnings):
    """Runs of a law on many sizes and executors; warnings: {place of a run: its code}."""
    name = "law-" + uuid.uuid4().hex[:8]
    record(team, name, [{"problem_size": n, "executors": m, "cores_per_executor": 4, "duration_s": ernest(n, m),
                         "warnings": [{"code": warnings[i], "message": "words", "evidence": {"count": 7}}] if i in warnings else []}
                        for i, (n, m) in enumerate(SHAPES)])
    return name


DOORS = ["models", "speedup", "next-experiments?count=1"]
PLACES = {2: "lost_events", 5: "compacted_log", 7: "lost_events", 8: "set_by_the_job"}


@pytest.mark.parametrize("door", DOORS)
def test_models_count_the_runs_that_they_are_fitted_to(team, door):
    def ask(name):
        return said(team.get("/v1/applications/%s/%s" % (name, door)).json().get("warnings", []))
    assert ask(fill(team, {})) is None
    name = fill(team, PLACES)
    found = ask(name)
    evidence = dict(found["evidence"])
    assert len(evidence.pop("run_id")) == 36
    assert evidence == {"runs": len(SHAPES), "runs_warned": 3, "lost_events": 2, "compacted_log": 1}
    assert found["message"].startswith("3 of the 15 runs behind this are from logs that are not whole (lost_events in 2, compacted_log in 1; one is run ")
    assert ask(name) == found, "as stored"


def test_advice_of_a_model_counts_the_runs_that_it_is_fitted_to(team):
    name = fill(team, PLACES)
    reply, found = advise(team, name, problem_size=16, constraints={"cores_per_executor": 4})
    assert reply["model"]["kind"] != "replay" and found["evidence"]["runs"] == len(SHAPES) and found["evidence"]["runs_warned"] == 3
    assert advise(team, fill(team, {}), problem_size=16)[1] is None


def test_a_refit_says_what_the_runs_are(team):
    for warnings, runs in (({}, None), (PLACES, 3)):
        accepted = team.post("/v1/applications/%s/refit" % fill(team, warnings), {"resamples": 20}, 202).json()
        operation = wait_for(team, accepted["id"])
        found = said(operation["result"]["warnings"])
        assert (found and found["evidence"]["runs_warned"]) == runs, operation


# --- the cases of the trial


def test_runs_that_allow_no_prediction_are_the_newest(team, shared):
    name = "dropped-" + uuid.uuid4().hex[:8]
    run = send(team, name, (shared / "cases/05-dropped-events/eventlog").read_bytes())
    reply, found = advise(team, name)
    assert reply["verdict"] == "unknown" and found["evidence"]["run_id"] == run["id"]
    assert found["message"].startswith("The newest run is from a log") and found["evidence"]["lost_events"] == 1


@pytest.mark.parametrize("number, file, codes", [
    (19, "00", set()), (20, "words-00", set()), (23, "eventlog", {"executors_lost"}), (39, "eventlog-0", {"no_application_end"}),
    (40, "eventlog", set()), (42, "nightly-a", {"no_application_end"}), (42, "databricks-a", {"no_application_end"}), (8, "eventlog", {"stages_retried"})])
def test_every_case_says_what_bears_on_its_prediction(team, number, file, codes):
    name = "case-" + uuid.uuid4().hex[:8]
    path = case(number, file)
    if path.is_dir():
        path = next(p for p in path.rglob("*") if p.is_file())
    run = upload(team, path.read_bytes(), name)
    found = advise(team, name)[1]
    named = set(found["evidence"]) - {"runs", "runs_warned", "run_id"} if found else set()
    assert named >= codes and named <= {warning["code"] for warning in run["warnings"]}
    assert bool(named) == bool(codes), run["warnings"]
