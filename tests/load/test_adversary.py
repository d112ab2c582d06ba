"""The whole server under a sanitizer, against requests that are almost right and connections that break off: no
report, no 500, and afterwards it still works. PROVISOR_ADVERSARY_SECONDS (default 10) is how long each of the two
takes; the long check gives each ten minutes under ASan with UBSan, and under TSan."""
import base64
import json
import os
import pathlib
import subprocess
import sys

import pytest

from patience import PATIENCE

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = float(os.environ.get("PROVISOR_ADVERSARY_SECONDS", "10"))
NAME = "nightly-etl"
EXAMPLES = {"name": NAME, "cluster": "eu-west", "book": "on-demand"}


def requests_of(contract, token, logs):
    """A request for each call of the contract, with its example where it has one."""
    seeds = []
    for method, template, operation in contract.operations():
        path = template
        for word, value in EXAMPLES.items():
            path = path.replace("{%s}" % word, value)
        path = path.replace("{path}", "index.html").replace("{id}", "00000000-0000-7000-8000-000000000000")
        path = "/".join("x" if part.startswith("{") else part for part in path.split("/"))
        headers = {"Authorization": "Bearer " + token}
        bodies = [(None, b"")]
        content = contract.resolve(operation.get("requestBody", {})).get("content", {})
        for kind, media in content.items():
            examples = [e.get("value") for e in media.get("examples", {}).values()] + ([media["example"]] if "example" in media else [])
            for example in examples:
                bodies.append((kind, example.encode() if isinstance(example, str) else json.dumps(example).encode()))
            if not examples and "octet" in kind:
                bodies += [(kind, log) for log in logs]
        for kind, body in bodies:
            seeds.append([method, path, dict(headers, **({"Content-Type": kind} if kind else {})), base64.b64encode(body).decode()])
    return [s for s in seeds if not (s[0] == "DELETE" and "/teams" in s[1])]


@pytest.fixture(scope="module")
def target(make_service, contract, tmp_path_factory):
    service = make_service(PROVISOR_REQUEST_TIMEOUT_MS=5000, PROVISOR_CONNECTION_IDLE_S=3, PROVISOR_OPERATION_TEAM_QUEUED_MAX=3, PROVISOR_LOG_LEVEL="error")
    token = service.token("adversary")
    service.keeper = service.token("keeper")
    service.start()
    folder = tmp_path_factory.mktemp("adversary")
    service.command("sample", "--out", folder / "sample")
    logs = [p.read_bytes() for p in sorted((folder / "sample" / NAME).iterdir())[:3]]
    for who in (token, service.keeper):
        service.client(who).request("POST", "/v1/applications/%s/eventlogs" % NAME, 201, data=logs[0], headers={"Content-Type": "application/octet-stream"})
    seeds = folder / "seeds.json"
    seeds.write_text(json.dumps(requests_of(contract, token, [log[:20000] for log in logs])))
    return service, seeds


@pytest.mark.parametrize("torn", [0, 1])
def test_nothing_that_is_sent_breaks_the_service(target, torn):
    service, seeds = target
    words = [sys.executable, "-B", str(HERE / "adversary.py"), str(service.port)]
    running = [subprocess.Popen([*words, str(100 * torn + k), str(SECONDS), str(seeds), str(torn)], stdout=subprocess.PIPE, text=True) for k in range(3)]
    outcomes = [json.loads(p.communicate(timeout=SECONDS + PATIENCE)[0]) for p in running]
    statuses = {}
    for outcome in outcomes:
        assert outcome["strange"] == []
        for status, n in outcome["statuses"].items():
            statuses[status] = statuses.get(status, 0) + n
    print(json.dumps(statuses))
    assert service.process.poll() is None, service.log.read_text(errors="replace")[-4000:]
    sent = sum(statuses.values())
    assert sent > 20 * SECONDS / 10 and sum(n for status, n in statuses.items() if status[0] == "2") > 0
    keeper = service.client(service.keeper)
    assert keeper.get("/v1/applications/%s/runs" % NAME).json()["items"], "what another team has is untouched"
    assert keeper.post("/v1/advice?dry_run=true", {"application": NAME, "deadline_s": 1e6}, {200, 409, 422})
