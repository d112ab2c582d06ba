"""Names that are almost right: the nearest one is named, and names of recurring jobs are folded as those of logs are."""
import uuid

import pytest

RUN = {"problem_size": 4, "executors": 2, "cores_per_executor": 2, "duration_s": 12, "initialization_s": 2,
       "stages": [{"id": 0, "parents": [], "task_durations_s": [10, 10, 10, 10]}]}


@pytest.fixture
def nightly(client):
    name = "nightly-" + uuid.uuid4().hex[:6]
    client.post("/v1/applications/%s/runs" % name, RUN, status=201)
    return name


def message(problem):
    return problem["errors"][0]["message"] if problem.get("errors") else problem["detail"]


def test_the_nearest_application_is_named(client, nightly):
    asked = nightly.upper()
    for problem in (client.refuse("POST", "/v1/advice", 422, pointer="/application", json={"application": asked}),
                    client.get("/v1/applications/" + asked, 404).json(),
                    client.get("/v1/applications/%s/runs" % asked, 404).json()):
        assert 'did you mean "%s"?' % nightly in str(problem), problem
    swapped = nightly.replace("ig", "gi", 1)
    assert nightly in str(client.refuse("POST", "/v1/advice", 422, pointer="/application", json={"application": swapped}))
    far = client.refuse("POST", "/v1/advice", 422, pointer="/application", json={"application": "something-else-altogether-" + nightly[-6:]})
    assert "did you mean" not in str(far)


def test_no_name_of_another_team_is_named(client, stranger, nightly):
    problem = stranger.refuse("POST", "/v1/advice", 422, pointer="/application", json={"application": nightly.upper()})
    assert nightly not in str(problem)


def test_the_nearest_cluster_and_price_book_are_named(client, nightly):
    cluster, book = "eu-west-" + nightly[-6:], "prices-" + nightly[-6:]
    client.request("PUT", "/v1/price-books/" + book, 201, json={"currency": "EUR", "prices": [{"cluster": cluster, "per_executor_hour": 1}]})
    client.request("PUT", "/v1/clusters/" + cluster, 201, json={"executors": 8, "cores_per_executor": 2, "price_book": book})
    asked = {"application": nightly, "constraints": {"cluster": cluster.replace("-", "_")}}
    assert cluster in str(client.refuse("POST", "/v1/advice", 422, pointer="/constraints/cluster", json=asked))
    assert cluster in client.get("/v1/clusters/" + cluster.upper(), 404).json()["detail"]
    assert book in client.get("/v1/price-books/" + book.upper(), 404).json()["detail"]
    assert book in str(client.refuse("PUT", "/v1/clusters/" + cluster, 422, pointer="/price_book", json={"executors": 8, "price_book": book.upper()}))


def test_the_name_of_a_recurring_job_is_folded(client, nightly):
    asked = nightly + "-2026-01-05"
    for query, status in (("?dry_run=true", 200), ("", 201), ("", 201)):
        advice = client.post("/v1/advice" + query, {"application": asked, "deadline_s": 30}, status=status).json()
        assert advice["application"] == nightly and advice["recommendation"] is not None
        warning = next(w for w in advice["warnings"] if w["code"] == "name_folded")
        assert warning["evidence"] == {"asked": asked, "application": nightly}
    assert client.get("/v1/advice/" + advice["id"]).json() == advice
    plain = client.post("/v1/advice?dry_run=true", {"application": nightly, "deadline_s": 30}, status=200).json()
    assert "name_folded" not in [w["code"] for w in plain["warnings"]]
    assert plain["recommendation"] == advice["recommendation"]
    client.refuse("POST", "/v1/advice", 422, pointer="/application", json={"application": "never-ran-2026-01-05"})


def test_a_percentage_is_not_taken_for_a_share(client, nightly):
    problem = client.refuse("POST", "/v1/advice", 422, pointer="/confidence", json={"application": nightly, "confidence": 95})
    assert "95 % are 0.95" in str(problem)
