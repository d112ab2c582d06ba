"""Replies that predict from runs say which of them are from logs that are not whole, once and with the runs' own codes."""
import json
import uuid

import pytest

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
