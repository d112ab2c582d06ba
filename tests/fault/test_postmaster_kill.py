"""PostgreSQL is killed and restarted under writers: nothing acknowledged is lost, nothing is there twice."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("PROVISOR_BUILD", ROOT / "build"))
LOAD = BUILD / "tests" / "fault" / "store_load"
PRIVATE = ROOT / "ops" / "private-postgres"


@pytest.fixture
def data():
    with tempfile.TemporaryDirectory(prefix="provisor-fault-") as scratch:
        os.chmod(scratch, 0o755)  # PostgreSQL runs as another user when this is root
        directory = pathlib.Path(scratch) / "d"
        start(directory)
        yield directory
        subprocess.run([PRIVATE, "stop", "--data-dir", directory], check=False, stdout=subprocess.DEVNULL)


def start(data):
    """Start it, and again while what was killed is still falling down."""
    for _ in range(50):
        done = subprocess.run([PRIVATE, "start", "--data-dir", data], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode == 0:
            return
        time.sleep(0.2)
    raise AssertionError(done.stdout)


def postmaster(data):
    return int((data / "postgres" / "data" / "postmaster.pid").read_text().splitlines()[0])


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_acknowledged_is_there_once(data, how):
    """SIGKILL is a crash, SIGINT a fast restart; in both the same process goes on by itself."""
    env = dict(os.environ)
    env["PROVISOR_DATABASE_URL"] = (data / "database_url").read_text().strip()
    env["PROVISOR_DATABASE_OWNER_URL"] = (data / "database_owner_url").read_text().strip()
    load = subprocess.Popen([LOAD], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert load.stdout.readline() == "loading\n"
    for _ in range(2):
        time.sleep(1.5)
        pid = postmaster(data)
        os.kill(pid, how)
        while pathlib.Path("/proc/%d" % pid).exists():
            time.sleep(0.05)
        time.sleep(0.5)
        start(data)
    time.sleep(2)
    out, errors = load.communicate(timeout=60)  # ends its input
    assert load.returncode == 0, errors[-2000:]
    counts = json.loads(out)
    print(counts)
    assert counts["logs"] > 20 and counts["advice"] > 20
    assert counts["unavailable"] > 0, "the outage was not noticed: the test proves nothing"
    # One prober at a time, pausing longer each time: no stampede.
    assert counts["connect_failures"] < 200
