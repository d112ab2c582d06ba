"""docs/pipelines.md as a newcomer follows it: from an empty folder and a new token, every block in its order does what the page says."""
import json
import os
import re
import shutil
import subprocess

import pytest
import yaml

from composite_action import Action
from gitlab_pipeline import Template, run as run_job
from pipelines import BUILD, CI, ROOT

PAGE = (ROOT / "docs" / "pipelines.md").read_text()
PROVISOR = BUILD / "clients" / "cli" / "provisor"


def blocks(language):
    return re.findall(r"^```%s\n(.*?)^```$" % language, PAGE, re.M | re.S)


class Shell:
    """Blocks run one by one in an empty folder, each in a shell of its own."""

    def __init__(self, folder, service):
        self.service, self.folder, self.home, bin = service, folder / "empty", folder / "home", folder / "bin"
        for path in (self.folder, self.home, bin):
            path.mkdir()
        (bin / "provisord").symlink_to(service.program)
        (bin / "provisor").symlink_to(PROVISOR)
        (bin / "provisor-gate").symlink_to(CI / "shell" / "provisor-gate")
        self.submitted = folder / "submitted"
        (bin / "spark-submit").write_text("#!/bin/sh\nprintf '%%s\\n' \"$@\" >'%s'\nexit 7\n" % self.submitted)
        (bin / "spark-submit").chmod(0o755)
        self.path = "%s:%s" % (bin, os.environ["PATH"])
        self.token = None

    def __call__(self, block, status=0, operator=False):
        env = self.service.env() if operator else {k: v for k, v in os.environ.items() if not k.startswith("PROVISOR_")}
        if not operator:
            env = {**env, "PROVISOR_URL": self.service.base_url, "PROVISOR_TOKEN": self.token, "HOME": str(self.home)}
        result = subprocess.run(["bash", "-c", "set -euo pipefail\n" + block], cwd=self.folder, env={**env, "PATH": self.path}, text=True, timeout=120,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert result.returncode == status, "%s\n%s\n%s" % (block, result.stdout, result.stderr)
        assert self.token is None or self.token not in result.stdout + result.stderr
        return result


def commands():
    return subprocess.run([PROVISOR, "--help"], text=True, stdout=subprocess.PIPE).stdout


@pytest.fixture(scope="module")
def followed(tmp_path_factory, make_service, sample):
    """The shell of a newcomer for whom the page worked up to the history, on a service of its own."""
    service = make_service()
    service.command("migrate")
    service.start()
    shell = Shell(tmp_path_factory.mktemp("page"), service)
    create, apps, ingest = blocks("sh")[:3]
    assert "token create" in create and "apps" in apps and "ingest" in ingest
    shell.token = shell(create, operator=True).stdout.strip()
    assert shell.token.startswith("prv_")
    assert "nightly-etl" not in shell(apps).stdout, "a new team has none"
    if re.search(r"^ +ingest\b", commands(), re.M):
        assert "stored" in shell(ingest.replace("/var/log/spark-events", str(sample))).stdout
    else:  # a client without that command; the history comes by the API
        client = service.client(shell.token)
        for log in sorted(sample.rglob("*")):
            if log.is_file():
                client.post("/v1/applications/%s/eventlogs" % log.parent.name, data=log.read_bytes(), status=(200, 201), headers={"Content-Type": "application/octet-stream"})
    assert "nightly-etl" in shell(apps).stdout
    return shell


def test_the_blocks_in_their_order(followed):
    gate, script, decide, tolerance, submit = blocks("sh")[3:]
    result = followed(gate)
    assert "Gate passed" in result.stdout and "cost: ok" in result.stdout and "accuracy: ok" in result.stdout
    result = followed(script)
    said = re.search(r"^advised: (\d+) executors$", result.stdout, re.M)
    assert int(said[1]) == json.loads((followed.folder / "provisor-gate" / "gate.json").read_text())["advice"]["recommendation"]["executors"]
    assert {path.name for path in (followed.folder / "provisor-gate").iterdir()} == {"gate.json", "gate.md", "gate.xml", "gate.env"}
    assert "too little is known" in followed(decide).stdout
    followed(tolerance)
    result = followed(submit, status=7)  # that of spark-submit
    words = followed.submitted.read_text().splitlines()
    assert words[-3:] == ["--class", "Main", "job.jar"] and "spark.executor.instances=%s" % said[1] in words
    assert any(word.startswith("spark.provisor.adviceId=") for word in words)


def test_the_gate_of_submit_runs_nothing(followed):
    followed.submitted.unlink(missing_ok=True)
    submit = blocks("sh")[-1]
    followed(submit.replace("90s", "20s"), status=3)
    assert not followed.submitted.exists()
    followed(submit.replace("90s", "20s").replace(" --gate", ""), status=7)
    assert followed.submitted.exists(), "without, it runs whatever is predicted"


def test_statuses_are_those_of_the_table(followed):
    rows = dict(re.findall(r"^\| (\d) \| ([^|]+) \|", PAGE, re.M))
    assert sorted(rows) == ["0", "1", "2", "3", "4", "5"]
    gate = "provisor gate nightly-etl --size 64 "
    for words, status in (("--deadline 90s", 0), ("--deadline 20s", 3), ("--deadline 60s --max-executors 10", 4), ("--deadline 90s --max-error 1%", 5),
                          ("--deadline 90s --min-executors 30 --max-cost-rise 5%", 3), ("--deadline 60s --max-executors 10 --allow at-risk", 0),
                          ("--deadline 90s --max-error 1% --allow unknown", 5), ("--deadline 20s --warn-only", 0), ("--deadline soon", 2), ("--deadline=", 2), ("", 2), ("--no-deadline", 0),
                          ("--deadline 20s --on-missed warn", 0), ("--deadline 60s --max-executors 10 --on-at-risk warn", 0), ("--size 6400 --deadline 90s --on-unknown warn", 0),
                          ("--deadline 90s --token-file /dev/null", 2), ("--deadline 90s --url http://127.0.0.1:1 --on-unavailable fail", 1),
                          ("--deadline 90s --url http://127.0.0.1:1", 0), ("--deadline 90s --url http://127.0.0.1:1 --on-unavailable closed", 1)):
        followed(gate + words, status=status)
    # The same limits and codes as the enumeration that the client is built on.
    source = (ROOT / "clients" / "cli" / "exit.h").read_text()
    assert [status for status in re.findall(r"= (\d)", source) if status != "6"] == sorted(rows), "6 is of admissions"


def test_yaml_of_the_page_runs(followed, tmp_path):
    github, gitlab = (yaml.safe_load(text) for text in blocks("yaml"))
    for name in ("workspace", "temp"):
        (tmp_path / name).mkdir()
    env = {"PATH": followed.path, "HOME": str(followed.home), "GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": "1", "GITHUB_REPOSITORY": "a/b", "GITHUB_EVENT_NAME": "push"}
    inputs = {**{k: str(v) for k, v in github[0]["with"].items()}, "url": followed.service.base_url, "token": followed.token}
    assert github[0]["uses"].split("@")[0].endswith("/clients/ci/github")
    assert Action(CI / "github").run(inputs, env, {}, tmp_path / "workspace", tmp_path / "temp").outputs["gate"] == "passed"
    entry, = gitlab["include"]
    job, = Template((ROOT / entry["file"]).read_text()).interpolate(entry["inputs"]).values()
    made = run_job(job, {"PATH": followed.path, "HOME": str(followed.home), "GITLAB_CI": "true", "CI_JOB_ID": "1"}, tmp_path / "workspace",
                   settings={"PROVISOR_URL": followed.service.base_url, "PROVISOR_TOKEN": followed.token})
    assert made.status == "success" and made.dotenv["PROVISOR_GATE"] == "passed"


def test_the_page_and_readmes_show_the_same():
    for system in ("github", "gitlab", "jenkins"):
        readme = (CI / system / "README.md").read_text()
        for line in re.findall(r"url: '[^']*'.*deadline: '?90s'?", PAGE):
            assert any(line in (CI / other / "README.md").read_text() for other in ("github", "jenkins")), line
        assert "clients/ci/%s" % system in PAGE and readme


def test_the_script_is_installed_beside_the_client():
    if not shutil.which("meson"):
        pytest.skip("no meson")
    installed = json.loads(subprocess.run(["meson", "introspect", "--installed", BUILD], text=True, check=True, stdout=subprocess.PIPE).stdout)
    where = {os.path.basename(place): os.path.dirname(place) for place in installed.values()}
    assert where["provisor-gate"] == where["provisor"]
