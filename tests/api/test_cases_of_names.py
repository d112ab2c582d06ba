"""Cases from the field about names: each log goes into the application that a person would name."""
import uuid

import pytest

from test_named_eventlogs import OCTETS


REFUSED = ("05", "08")  # 400 characters, and one blank


@pytest.fixture
def team(service):
    return service.client(service.token("cases-" + uuid.uuid4().hex[:8]))


def applications_of(team, folder, refused=()):
    for log in sorted(path for path in folder.iterdir() if path.suffix != ".md"):
        team.request("POST", "/v1/eventlogs", 422 if log.name in refused else 201, data=log.read_bytes(), headers=OCTETS)
    return {a["name"]: a["runs"] for a in team.get("/v1/applications?limit=100").json()["items"]}


def test_ordinary_words_are_no_credentials(team, shared):
    found = applications_of(team, shared / "cases" / "20-names", refused=REFUSED)
    assert {"password-reset-daily", "token_usage_daily", "api-key-rotation", "secret-santa-etl"} <= set(found)
    assert sum(found.values()) == 15 - len(REFUSED)


def test_runs_of_one_job_come_together(team, shared):
    found = applications_of(team, shared / "cases" / "19-names-with-time")
    assert max(found.values()) > 1 and not [name for name in found if "2026" in name], found


def test_jobs_of_databricks_are_apart_and_predicted_from_their_own_runs(team, shared):
    """One executor: 5 + 160 + 4 s, by the arithmetic of the log."""
    found = applications_of(team, shared / "cases" / "39-databricks-job-identity")
    assert len(found) == 2 and sum(found.values()) == 6 and all(name.startswith("databricks-job-") for name in found)
    predicted = []
    for name in found:
        asked = {"application": name, "constraints": {"min_executors": 1, "max_executors": 1}}
        predicted.append(team.post("/v1/advice?dry_run=true", asked, 200).json()["recommendation"]["predicted_duration_s"])
    assert max(predicted) == pytest.approx(169, rel=0.05), predicted


def test_a_task_that_was_killed_before_it_began_has_no_run_time(team, shared):
    log = (shared / "cases" / "07-killed-before-start" / "eventlog").read_bytes()
    run = team.request("POST", "/v1/applications/killed/eventlogs", 201, data=log, headers=OCTETS).json()
    assert run["executor_run_time_s"] == 656
