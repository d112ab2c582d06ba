"""Reviews as the API server of Kubernetes sends them (reviews/*.json), and an application that they ask about."""
import json
import pathlib
import uuid

from test_advice_spark import run_of

REVIEWS = pathlib.Path(__file__).resolve().parent / "reviews"


def review(name):
    """A recorded one, with a uid that was not answered before."""
    text = json.loads((REVIEWS / (name + ".json")).read_text())
    text["request"]["uid"] = str(uuid.uuid4())
    return text


def teach(client, name):
    """An application whose runs on 1, 2, 4 and 5 executors of 2 cores take 45, 25, 15 and 13 s."""
    lines = [json.dumps(dict(run_of(executors), started_at="2026-01-%02dT10:00:00Z" % executors)) for executors in (1, 2, 4, 5)]
    client.post("/v1/applications", {"name": name}, 201)
    client.post("/v1/applications/%s/runs/import" % name, None, 201, data="\n".join(lines), headers={"Content-Type": "application/x-ndjson"})
