"""The documents' walk-through, line by line, as a newcomer would: every block must do what it says.

README.md's blocks run first, then those of docs/tour.md, docs/kubernetes.md, docs/admissions.md, docs/quota-loops.md, docs/schedulers.md,
docs/slots.md, docs/slow-nodes.md, docs/stragglers.md and docs/webhooks.md. Each runs in a shell of its own after the tour's
block "setup", so that no block can lean on a variable of another. With PROVISOR_BUILD set, ./run uses that build;
without, it makes its own.
"""
import base64
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))
from ports import free_port  # noqa: E402

DOCUMENTS = ("README.md", "docs/tour.md", "docs/kubernetes.md", "docs/admissions.md", "docs/quota-loops.md", "docs/schedulers.md", "docs/slots.md",
             "docs/slow-nodes.md", "docs/stragglers.md", "docs/workloads.md", "docs/webhooks.md")
BLOCK = re.compile(r"^```sh( setup)?\n(.*?)^```$", re.M | re.S)


def blocks():
    """Every block of the documents in order; the set-up is not among them but returned by itself."""
    found = [(name, *m.groups()) for name in DOCUMENTS for m in BLOCK.finditer((ROOT / name).read_text())]
    setup = [text for _, marked, text in found if marked]
    assert len(setup) == 1, "one block is the set-up of all others"
    return setup[0], [(name, text) for name, marked, text in found if not marked]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Ports, of the service and of a receiver, and a data directory of our own instead of the documents'."""
    folder = tmp_path_factory.mktemp("walk")
    for parent in (folder, *folder.parents):
        if str(parent).startswith("/tmp/") and parent.stat().st_uid == os.getuid():
            parent.chmod(0o755)
    yield folder, free_port(), free_port()
    subprocess.run([ROOT / "run", "--stop", "--data-dir", folder / "var"], stdout=subprocess.DEVNULL)


def test_the_walk_through_works_as_printed(place):
    folder, port, receiver_port = place
    build = os.environ.get("PROVISOR_BUILD", "")

    def adapt(text):
        if build:
            text = re.sub(r"^\./run\b(?! --stop)", "./run --build-dir " + shlex.quote(build), text, flags=re.M)
            text = text.replace("build-run/", shlex.quote(build) + "/")
        text = text.replace("8080", str(port)).replace("9099", str(receiver_port)).replace("--data-dir var", "--data-dir %s/var" % folder)
        text = re.sub(r"(?<![\w/$])var/|\$PWD/var/", "%s/var/" % folder, text)
        # -f would hide the body of the one request that is wrong on purpose.
        return re.sub(r"\bcurl -sS\b", "curl -sS -w '\\\\n<%{http_code}>\\\\n'", text)

    setup, script = blocks()
    output, expected = "", 0
    for number, (name, block) in enumerate(script):
        starts = "./run --detach" in block
        command = "set -euo pipefail\n" + adapt(block if starts else setup + block)
        result = subprocess.run(["bash", "-c", command], cwd=ROOT, text=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900)
        assert result.returncode == 0, "block %d of %s:\n%s\n%s" % (number, name, block, result.stdout[-6000:])
        statuses = [int(s) for s in re.findall(r"^<(\d{3})>$", result.stdout, re.M)]
        assert len(statuses) == len(re.findall(r"^(?:ask|curl -sS) ", block, re.M)), block + result.stdout
        if "wrong on purpose" not in before(name, block):
            assert all(200 <= s < 300 for s in statuses), "%s\n%s" % (block, result.stdout[-8000:])
        else:
            expected += 1
            assert statuses == [422], result.stdout
        output += result.stdout
    assert expected == 1
    replies = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    assert any("recommendation" in r and r["feasible"] for r in replies)
    assert any("remedies" in r and "jobs" in r for r in replies)
    assert any(r.get("errors", [{}])[0].get("pointer") == "/deadline" for r in replies if r.get("status") == 422)
    assert replies_of_last_import(output), "the imported runs are seen by the token of their team"
    assert "spark.executor.instances=6\n" in output, "README.md gets the one number with jq"
    for event in ("webhook.ping", "advice.created", "deadline.infeasible"):
        assert re.search(r"^handled evt_[-0-9a-f]+ %s$" % re.escape(event), output, re.M), "the receiver had no %s" % event
    assert re.search(r"^again evt_", output, re.M), "a delivery that was sent again has its webhook-id"
    check_refusal([r["response"] for r in replies if r.get("kind") == "AdmissionReview"])
    check_shown(output)
    check_slot_plan(next(r for r in replies if "splits" in r and "sweep" in r))
    check_webhooks([r for r in replies if "recommendation" in r and r.get("deadline_s") == 1])
    check_readme(next(r for r in replies if "recommendation" in r))
    check_pictures(folder / "var" / "pictures")


def before(name, block):
    """The paragraph that introduces a block."""
    text = (ROOT / name).read_text()
    return text[:text.index("```sh\n" + block)].rstrip().rsplit("\n\n", 1)[-1]


def replies_of_last_import(output):
    pages = [json.loads(line) for line in output.splitlines() if line.startswith('{"items":')]
    names = [{item.get("name") for item in page["items"]} for page in pages]
    return any({"nightly-etl", "hourly-report"} <= n and "my-job" not in n for n in names[1:])


def members(value, key=""):
    """Every number and text of a reply with the name of its member."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from members(member, name)
    elif isinstance(value, list):
        for member in value:
            yield from members(member, key)
    else:
        yield key, value


def check_refusal(reviews):
    """What docs/kubernetes.md quotes is what the webhook says of the review that it shows."""
    text = (ROOT / "docs" / "kubernetes.md").read_text()
    shown = json.loads(re.search(r"^```json\n(.*?)^```$", text, re.M | re.S).group(1))
    assert shown == json.loads((ROOT / "clients" / "kubernetes" / "examples" / "review.json").read_text())
    quoted = " ".join(re.search(r"^    admission webhook .*?(?=\n\n)", text, re.M | re.S).group(0).split())
    refused, patched = reviews
    assert quoted.endswith(" denied the request: " + refused["status"]["message"])
    changes = {o["path"]: o["value"] for o in json.loads(base64.b64decode(patched["patch"]))}
    assert "would set executor.instances from 2 to %d`" % changes["/spec/executor/instances"] in text and "warnings" not in patched


def check_shown(output):
    """What docs/schedulers.md and docs/stragglers.md show of the client's output is what it wrote."""
    for name, blocks_shown in (("schedulers.md", 3), ("stragglers.md", 1)):
        shown = re.findall(r"^```text\n(.*?)^```$", (ROOT / "docs" / name).read_text(), re.M | re.S)
        assert len(shown) == blocks_shown
        for text in shown:
            assert text in output


def check_slot_plan(plan):
    """What docs/slots.md says of the plan that it asks for is what the reply says."""
    text = (ROOT / "docs" / "slots.md").read_text()
    best = (plan["map_slots"], plan["reduce_slots"], plan["per_node"]["map_slots"], plan["per_node"]["reduce_slots"], round(plan["makespan_s"]))
    assert "For this batch it is %d and %d, %d and %d on each node, and all jobs take %d s." % best in text
    assert "One map slot alone would make it %d s." % round(plan["splits"][0]["makespan_s"]) in text


def check_webhooks(replies):
    """The event that docs/webhooks.md shows is of the advice that it asks for."""
    (advice,) = replies
    shown = json.loads(re.search(r"^```json\n(.*?)^```$", (ROOT / "docs" / "webhooks.md").read_text(), re.M | re.S).group(1))["data"]
    best = advice["recommendation"]
    wanted = {**{key: advice[key] for key in ("application", "verdict", "feasible", "deadline_s")}, "executors": best["executors"],
              "predicted_duration_s": round(best["predicted_duration_s"], 3)}
    assert {key: shown[key] for key in wanted} == wanted


def check_readme(reply):
    """What README.md shows of the reply is what the reply holds, to the digits shown."""
    shown = re.search(r"^```json\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S).group(1)
    held = list(members(reply))
    pairs = re.findall(r'"([\w.]+)": ("[^"]*"|\[\d[-\d., ]*\]|[-\d.]+(?=[,}\s])|true|false)', shown)
    assert len(pairs) > 20
    for key, text in pairs:
        values = [v for k, v in held if k == key]
        for want in json.loads(text) if text.startswith("[") else [json.loads(text)]:
            digits = len(str(want).partition(".")[2]) if isinstance(want, float) else 0
            assert any(v == want or isinstance(want, float) and v is not None and round(v, digits) == want for v in values), (key, text, values)


def check_pictures(folder):
    """The pictures of the documents say what this service draws of the sample; a model learns from what is known of the team's
    other applications when it is fitted, so figures may differ a little."""
    words, number = re.compile(r"<text[^>]*>([^<]*)</text>"), re.compile(r"\d+(?:\.\d+)?")
    for name in ("speedup.svg", "fit.svg"):
        drawn, shown = ("\n".join(words.findall((place / name).read_text())) for place in (folder, ROOT / "docs" / "pictures"))
        stale = "docs/pictures/%s is stale: docs/tour.md says how to draw it" % name
        assert number.sub("#", drawn) == number.sub("#", shown), stale
        assert [float(n) for n in number.findall(drawn)] == pytest.approx([float(n) for n in number.findall(shown)], rel=0.1), stale
