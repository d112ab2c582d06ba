"""The gate of docs/apply-advice.md, as the document has it, with a spark-submit that only writes down its arguments."""
import json
import os
import pathlib
import re
import subprocess
import uuid

import pytest

from ports import free_port
from test_advice_formats import conf_of_flags
from test_advice_spark import record, run_of

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "apply-advice.md"
AWKWARD = {"spark.executor.extraJavaOptions": "-Dpath='a b' -Dslash=C:\\x -Ddollar=$HOME `id`"}
PROPERTIES = {"spark.executor.instances": "5", "spark.executor.cores": "2"}


def gate_of_document():
    blocks = re.findall(r"^```bash\n(.*?)^```$", DOCUMENT.read_text(), re.M | re.S)
    assert len(blocks) == 1 and blocks[0].startswith("#!/usr/bin/env bash\nset -euo pipefail\n")
    return blocks[0]


@pytest.fixture
def gate(client, tmp_path):
    """run(request, **variables): the script's result, and the arguments of spark-submit; None: it did not run."""
    seen = tmp_path / "arguments"
    for path, text in ((tmp_path / "gate", gate_of_document()),
                       (tmp_path / "bin" / "spark-submit", "#!/bin/sh\nprintf '%s\\0' \"$@\" >\"$SEEN\"\n")):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def run(request, **variables):
        seen.unlink(missing_ok=True)
        (tmp_path / "request.json").write_text(json.dumps(request))
        environment = {"PATH": "%s:%s" % (tmp_path / "bin", os.environ["PATH"]), "SEEN": str(seen), "PROVISOR_URL": client.service.base_url,
                       "PROVISOR_TOKEN": client.token, "BUILD_ID": uuid.uuid4().hex, **variables}
        environment = {k: v for k, v in environment.items() if v is not None}
        result = subprocess.run([tmp_path / "gate"], cwd=tmp_path, env=environment, text=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        return result, seen.read_text().split("\0")[:-1] if seen.exists() else None
    return run


def request_of(name, deadline_s, **constraints):
    return {"application": name, "problem_size": 40, "deadline_s": deadline_s, "constraints": constraints}


def test_met_submits_with_the_flags_before_the_jar(client, gate):
    name = record(client, PROPERTIES)
    request = request_of(name, 26, enforced=AWKWARD)
    build = uuid.uuid4().hex
    result, arguments = gate(request, BUILD_ID=build)
    assert result.returncode == 0 and "26 s" in result.stderr, result.stderr
    assert arguments[-3:] == ["--class", "Main", "job.jar"]
    conf = conf_of_flags(arguments[:-3])
    stored = client.get("/v1/advice/" + conf.pop("spark.provisor.adviceId")).json()
    assert stored["verdict"] == "met" and conf == stored["spark"]["properties"] and conf["spark.executor.extraJavaOptions"] == AWKWARD["spark.executor.extraJavaOptions"]
    assert gate(request, BUILD_ID=build)[1] == arguments, "a repeated build takes the same advice"
    assert len(client.get("/v1/advice?application=" + name).json()["items"]) == 1


def test_other_verdicts_do_not_submit(client, gate):
    name, far = record(client, PROPERTIES), "far-" + uuid.uuid4().hex[:8]
    client.request("POST", "/v1/applications/%s/runs" % far, 201, json=run_of(4))
    asked = client.post("/v1/advice?dry_run=true", request_of(name, 1000, max_executors=1), status=200).json()
    # What is predicted is met, but for a deadline that is no later not with the confidence asked for.
    at_risk = request_of(name, asked["recommendation"]["predicted_duration_s"] * 1.001, max_executors=1, min_executors=1)
    for request, status in ((at_risk, 4), (request_of(name, 5.5), 3), (dict(request_of(far, 26), problem_size=4000), 5)):
        result, arguments = gate(request)
        assert (result.returncode, arguments) == (status, None), result.stderr
        assert result.stderr.strip() not in ("", "null"), "it says why"


@pytest.mark.parametrize("deadline_s", [None, ""])
def test_a_request_without_a_deadline_is_an_error(client, gate, deadline_s):
    result, arguments = gate(request_of(record(client, PROPERTIES), deadline_s))
    assert (result.returncode, arguments) == (2, None) and "no deadline_s" in result.stderr


def test_an_error_is_shown_and_nothing_submitted(client, gate):
    name = record(client, PROPERTIES)
    for request, variables, words in (
            (dict(request_of(name, 26), deadline=1), {}, "did you mean deadline_s?"),
            (dict(request_of(name, 26), include=["stages"]), {}, "spark"),  # advice, but no flags
            (request_of(name, 26), {"PROVISOR_TOKEN": "no-such-token"}, "token"),
            (request_of(name, 26), {"PROVISOR_URL": "http://127.0.0.1:%d" % free_port()}, "onnect")):
        result, arguments = gate(request, **variables)
        assert (result.returncode, arguments) == (1, None) and words in result.stderr, (request, result.stderr)
    result, arguments = gate(request_of(name, 26), BUILD_ID=None)
    assert result.returncode not in (0, 3, 4, 5) and arguments is None and "BUILD_ID" in result.stderr
