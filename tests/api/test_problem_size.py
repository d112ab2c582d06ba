"""One bound on problem_size, wherever a request names one."""
import pytest

MOST = 10 ** 12
RUN = {"problem_size": 1, "executors": 2, "cores_per_executor": 4, "duration_s": 10}
STAGE = {"id": 0, "tasks": 8, "task_duration_s": 2}


def set_at(body, pointer, value):
    at = body
    for step in pointer.strip("/").split("/")[:-1]:
        at = at[int(step) if step.isdigit() else step]
    at[pointer.rsplit("/", 1)[1]] = value
    return body


BODIES = [
    ("/v1/applications/{name}/runs", "/problem_size", RUN),
    ("/v1/advice", "/problem_size", {"profile": dict(RUN, stages=[STAGE]), "objective": "min_time"}),
    ("/v1/advice", "/profile/problem_size", {"profile": dict(RUN, stages=[STAGE]), "objective": "min_time"}),
    ("/v1/advice", "/running/0/problem_size", {"application": "none-such", "constraints": {"max_executors": 4},
                                               "running": [{"application": "none-such", "deadline_s": 5}]}),
    ("/v1/feasibility", "/jobs/0/problem_size", {"cluster": {"executors": 1, "cores_per_executor": 1},
                                                 "jobs": [{"name": "a", "application": "none-such", "deadline_s": 5}]}),
    ("/v1/stage-plans", "/problem_size", {"application": "none-such", "deadline_s": 5, "executors": 1, "cores_per_executor": 1}),
    ("/v1/models/fit", "/observations/0/problem_size", {"model": "amdahl", "observations": [{"executors": 1, "duration_s": 5}]}),
]


@pytest.mark.parametrize("path,pointer,body", BODIES)
def test_bodies(client, name, path, pointer, body):
    path = path.replace("{name}", name)
    reply = client.post(path, set_at(body, pointer, MOST))
    assert pointer not in [e.get("pointer") for e in reply.json().get("errors", [])], reply.text
    problem = client.refuse("POST", path, 422, pointer=pointer, json=set_at(body, pointer, MOST + 1))
    assert str(MOST) in str(problem["errors"]) or "1e+12" in str(problem["errors"])


def test_query_parameters(client, name):
    log = '{"Event":"SparkListenerApplicationStart","App Name":"a","App ID":"%s","Timestamp":1000,"User":"u"}\n' % name
    path = "/v1/applications/%s/eventlogs?executors=1&problem_size=" % name
    client.refuse("POST", path + str(MOST + 1), 422, parameter="problem_size", data=log,
                  headers={"Content-Type": "application/x-ndjson"})
    run = client.request("POST", path + str(MOST), 201, data=log, headers={"Content-Type": "application/x-ndjson"}).json()
    assert run["problem_size"] == MOST
    path = "/v1/applications/%s/speedup?problem_sizes=8," % name
    client.refuse("GET", path + str(MOST + 1), 422, parameter="problem_sizes")
    reply = client.get(path + str(MOST), (200, 422)).json()
    assert "problem_sizes" not in [e.get("parameter") for e in reply.get("errors", [])]
    client.refuse("GET", "/v1/applications/%s/speedup?executors=%d" % (name, 10 ** 9 + 1), 422, parameter="executors")
