"""Numbers as they stand in replies: whole ones without a point, what is predicted without digits that mean nothing."""
import json
import re

import pytest

from test_history_models import SHAPES, fill

# What POST /v1/models/predict takes back has to be exact, and so are quantities that are told as they were recorded.
EXACT = re.compile(r"^/candidates/\[\]/(parameters|tables|uncertainty)/|/(predicted_)?problem_sizes?(/|$)|/problem_size_range/")
REPLIES = ("/models", "/speedup", "/diagnosis", "/next-experiments", "/accuracy", "/runs", "")


class Literal(str):
    """A number as it was written."""


def numbers(value, path=""):
    if isinstance(value, Literal):
        yield path, value
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from numbers(member, path + "/" + key)
    elif isinstance(value, list):
        for member in value:
            yield from numbers(member, path + "/[]")


def significant(text):
    return len(re.sub(r"e.*|[-.]", "", text).strip("0"))


@pytest.fixture(scope="module")
def known(client):
    """Runs with odd durations and sizes that are no whole numbers, with and without stages."""
    name = "numbers"
    fill(client, name, of=lambda n, m: 9 + 4 * n / m + 0.3 * m, noise=0.08, shapes=[(n + 1 / 3, m) for n, m in SHAPES])
    for m in (2, 4, 8):
        client.post("/v1/applications/%s/runs" % name, {
            "problem_size": 32, "executors": m, "cores_per_executor": 2, "duration_s": 7 + 100 / m + 1 / 3, "initialization_s": 2,
            "stages": [{"id": 0, "parents": [], "task_durations_s": [10 / 3] * 60, "duration_s": 200 / m / 2}]}, 201)
    return name


def written(reply):
    return list(numbers(json.loads(reply.text, parse_float=Literal)))


@pytest.mark.parametrize("path", REPLIES)
def test_numbers_of_a_history_are_meant(client, known, path):
    found = written(client.get("/v1/applications/%s%s" % (known, path)))
    assert found or path in ("/accuracy", "")
    assert [] == [(at, text) for at, text in found if re.search(r"\.0*(e|$)", text)]
    if path != "/runs":
        assert [] == [(at, text) for at, text in found if significant(text) > 7 and not EXACT.search(at)]


def test_numbers_of_an_advice_are_meant(client, known):
    body = {"application": known, "problem_size": 33, "deadline_s": 60, "include": ["alternatives", "data_needed", "next_experiments", "spark"]}
    found = written(client.post("/v1/advice?dry_run=true", body, 200))
    assert [] == [(at, text) for at, text in found if re.search(r"\.0*(e|$)", text) or significant(text) > 7 and not EXACT.search(at)]


def test_models_are_told_exactly_enough_to_predict_with(client, name):
    """Rounding what is told of a model does not reach its parameters: predictions from them are those of the surface."""
    fill(client, name, of=lambda n, m: 9 + 4 * n / m + 0.3 * m, noise=0.08)
    models = client.get("/v1/applications/%s/models" % name).json()
    chosen = next(c for c in models["candidates"] if c["selected"])
    body = {k: chosen[k] for k in ("model", "parameters", "reference", "tables", "uncertainty") if chosen.get(k) is not None}
    surface = client.get("/v1/applications/%s/speedup?problem_sizes=%r&executors=4" % (name, 8 + 1 / 3)).json()["surface"]
    body["points"] = [{"problem_size": surface[0]["problem_size"], "executors": 4}]
    predicted = client.post("/v1/models/predict", body, 200).json()["predictions"][0]
    assert surface[0]["points"][0]["duration_s"] == pytest.approx(predicted["duration_s"], rel=5e-7)
