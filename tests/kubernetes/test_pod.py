"""The pod as the chart describes it, without a cluster: its commands with its environment, its Secrets as files, on a PostgreSQL."""
import os
import re
import subprocess
import time

import pytest
import requests
import yaml

import chart
from conftest import PATIENCE, api_fixtures
from ports import free_port


@pytest.fixture(scope="module")
def pod():
    return chart.render()[("Deployment", "provisor")]["spec"]["template"]["spec"]


def environment(container, pod, folder, **ports):
    """What the container's processes see, with the mounted Secrets of `folder` in place of its own."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("PROVISOR_")}
    mounts = {m["mountPath"]: m["name"] for m in container["volumeMounts"]}
    secrets = {v["name"]: v["secret"] for v in pod["volumes"] if "secret" in v}
    for entry in container["env"]:
        value = entry["value"]
        for path, name in mounts.items():
            if name in secrets and entry["value"].startswith(path + "/"):
                secret = secrets[name]
                keys = {i["path"]: i["key"] for i in secret["items"]}
                value = str(folder / secret["secretName"] / keys[entry["value"].removeprefix(path + "/")])
        env[entry["name"]] = ports.get(entry["name"], value)
    return env


@pytest.fixture(scope="module")
def secrets(make_service, tmp_path_factory):
    """The Secret of the README, for a new database."""
    service = make_service()
    folder = tmp_path_factory.mktemp("secrets")
    (folder / "provisor-database").mkdir()
    (folder / "provisor-database" / "url").write_text(service.database_url + "\n")
    (folder / "provisor-database" / "owner-url").write_text(service.owner_url + "\n")
    return folder


def run(container, env):
    return subprocess.run([str(api_fixtures.PROVISORD), *container["args"]], env=env, text=True, capture_output=True, timeout=120)


def test_the_containers_do_what_the_manifests_ask_of_them(pod, secrets):
    migrate, serve = pod["initContainers"][0], pod["containers"][0]
    result = run(migrate, environment(migrate, pod, secrets))
    assert result.returncode == 0, result.stderr
    ports = {"PROVISOR_LISTEN_PORT": str(free_port()), "PROVISOR_HEALTH_PORT": str(free_port())}
    env = environment(serve, pod, secrets, **ports)
    assert not [value for value in env.values() if "owner-url" in value], "the service has no use for the owner's password"
    health = "http://127.0.0.1:%s" % ports["PROVISOR_HEALTH_PORT"]
    process = subprocess.Popen([str(api_fixtures.PROVISORD), *serve["args"]], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + PATIENCE
        ready = False
        while not ready and time.monotonic() < end:
            assert process.poll() is None, "it ended"
            try:
                ready = requests.get(health + serve["readinessProbe"]["httpGet"]["path"], timeout=5).status_code == 200
            except requests.ConnectionError:
                time.sleep(0.05)
        assert ready
        assert requests.get(health + serve["livenessProbe"]["httpGet"]["path"], timeout=5).status_code == 200
    finally:
        process.terminate()
        assert process.wait(timeout=PATIENCE) == 0


@pytest.fixture(scope="module")
def token_log(pod, secrets):
    """What `kubectl logs` shows of the pod that makes a token: both of its streams, in one."""
    migrate = pod["initContainers"][0]
    assert run(migrate, environment(migrate, pod, secrets)).returncode == 0
    token_pod = yaml.safe_load((chart.CHART.parent / "token" / "token.yaml").read_text())["spec"]
    container = token_pod["containers"][0]
    result = run(container, environment(container, token_pod, secrets))
    assert result.returncode == 0 and result.stdout.startswith("prv_") and result.stdout.count("\n") == 1, result.stderr
    assert result.stderr, "it says something beside"
    return result.stderr + result.stdout, result.stdout.strip()


def readme_commands(word):
    """The lines of the README's commands that have the word."""
    readme = (chart.CHART.parent / "README.md").read_text()
    blocks = re.findall(r"^```sh\n(.*?)^```", readme, re.M | re.S)
    return [line for block in blocks for line in block.replace("\\\n", "").splitlines() if word in line]


KUBECTL = """#!/bin/sh
case "$*" in
*" logs "*) cat "$FOLDER/log" ;;
*" create secret "*) cat >"$FOLDER/secret" ;;
*" get secret "*) base64 -w0 <"$FOLDER/secret" ;;
*) exit 2 ;;
esac
"""


@pytest.mark.parametrize("order", [1, -1])
def test_the_secret_of_the_readme_holds_the_token_alone(token_log, tmp_path, order):
    """Its own commands, with a kubectl that has this log and keeps that Secret."""
    log, token = token_log
    (tmp_path / "log").write_text("\n".join(log.splitlines()[::order]) + "\n")
    (tmp_path / "kubectl").write_text(KUBECTL)
    (tmp_path / "kubectl").chmod(0o755)
    env = dict(os.environ, PATH="%s:%s" % (tmp_path, os.environ["PATH"]), FOLDER=str(tmp_path))
    make, check = (next(line for line in readme_commands("provisor-admission") if word in line) for word in ("create secret", "get secret"))

    def sh(line):
        return subprocess.run(["sh", "-c", line], env=env, text=True, capture_output=True, timeout=30)

    assert sh(make).returncode == 0 and (tmp_path / "secret").read_text().strip() == token
    result = sh(check)
    assert result.returncode == 0 and result.stdout.strip() == "1", result
    (tmp_path / "secret").write_text(log)
    assert sh(check).returncode != 0, "it distinguishes the whole log from a token"
    (tmp_path / "secret").write_text("")
    assert sh(check).returncode != 0, "it distinguishes an empty file from a token"
