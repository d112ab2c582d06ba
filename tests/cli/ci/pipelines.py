"""The gate in pipelines: what runs in a job is run here, with the environment that the system gives a job, and programs that
write down how they were called. The service and its history are those of tests/cli/conftest.py. Fixtures are imported by the tests
that use them: a second conftest.py would take the name of the first."""
import os
import pathlib
import shutil

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CI = ROOT / "clients" / "ci"
BUILD = pathlib.Path(os.environ.get("PROVISOR_BUILD", ROOT / "build")).resolve()

# All that the gate may need of a machine besides the client: POSIX utilities, bash and od's /dev/urandom on GitHub, mktemp.
TOOLS = ("awk", "cat", "cksum", "dirname", "mkdir", "mktemp", "od", "rm", "sed", "tr")
SHELLS = ("bash", "dash", "sh", "env")


def recorded(system):
    lines = (HERE / "recorded" / (system + ".env")).read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)


class Machine:
    """Where a job runs: a PATH on which every program notes its arguments before it becomes the real one, and folders."""

    def __init__(self, folder, url, token):
        self.folder, self.url, self.token = folder, url, token
        self.bin, self.workspace, self.temp, self.home = (folder / name for name in ("bin", "workspace", "temp", "home"))
        for path in (self.bin, self.workspace, self.temp, self.home):
            path.mkdir()
        self.called = folder / "called"  # a file a call
        self.called.mkdir()
        for name in SHELLS:
            (self.bin / name).symlink_to(shutil.which(name))
        for name in TOOLS:
            self.add(name, shutil.which(name))
        self.add("provisor", BUILD / "clients" / "cli" / "provisor")
        (self.bin / "provisor-gate").symlink_to(CI / "shell" / "provisor-gate")

    def add(self, name, real):
        path = self.bin / name
        path.write_text("#!/bin/sh\nprintf '%%s\\0' \"$@\" >'%s/%s.'$$\nexec '%s' \"$@\"\n" % (self.called, name, real))
        path.chmod(0o755)

    def calls(self, program="provisor"):
        """The arguments of every call of a program, in their order."""
        files = sorted(self.called.glob(program + ".*"), key=lambda path: path.stat().st_mtime_ns)
        return [path.read_text().split("\0")[:-1] for path in files]

    def environment(self, system=None, **more):
        sanitizer = {k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}
        made = {"PATH": str(self.bin), "HOME": str(self.home), **sanitizer, **(recorded(system) if system else {}), **more}
        return {k: str(v) for k, v in made.items() if v is not None}

    def check_no_token(self, *texts):
        """Neither among arguments, nor in a file that was left behind, nor in what was printed."""
        for path in self.folder.rglob("*"):
            if path.is_file() and not path.is_symlink():
                assert self.token not in path.read_text(errors="replace"), path
        for text in texts:
            assert self.token not in text


@pytest.fixture
def machine(tmp_path, service, history):
    made = Machine(tmp_path, service.base_url, service.alpha_token)
    yield made


# name: (what is asked, with it: exit status, outcome, verdict)
CASES = {
    "met": ({"deadline": "90s"}, 0, "passed", "met"),
    "at risk": ({"deadline": "60s", "max_executors": "10"}, 4, "failed", "at_risk"),
    "at risk, allowed": ({"deadline": "60s", "max_executors": "10", "allow": "at-risk"}, 0, "warned", "at_risk"),
    "missed": ({"deadline": "20s"}, 3, "failed", "missed"),
    "missed, warn only": ({"deadline": "20s", "warn_only": "true"}, 0, "warned", "missed"),
    "unknown": ({"size": "6400", "deadline": "90s"}, 5, "failed", "unknown"),
    "unknown, allowed": ({"size": "6400", "deadline": "90s", "allow": "unknown"}, 0, "warned", "unknown"),
    "missed, warns": ({"deadline": "20s", "on_missed": "warn"}, 0, "warned", "missed"),
    "at risk, warns": ({"deadline": "60s", "max_executors": "10", "on_at_risk": "warn"}, 0, "warned", "at_risk"),
    "unknown, warns": ({"size": "6400", "deadline": "90s", "on_unknown": "warn"}, 0, "warned", "unknown"),
    "no deadline": ({"deadline": "none", "no_deadline": "true"}, 0, "passed", "met"),
    "no deadline, unknown": ({"size": "6400", "deadline": "none", "no_deadline": "true"}, 5, "failed", "unknown"),
    "cost alone": ({"deadline": "none", "max_cost_rise": "20%"}, 0, "passed", "met"),
    "cheaper": ({"deadline": "90s", "max_cost_rise": "0%"}, 0, "passed", "met"),
    "inaccurate": ({"deadline": "90s", "max_error": "1%"}, 5, "failed", "met"),
    "accurate": ({"deadline": "90s", "max_error": "25%"}, 0, "passed", "met"),
    "a lower confidence": ({"deadline": "60s", "max_executors": "10", "confidence": "50%"}, 0, "passed", "met"),
}


@pytest.fixture(params=sorted(CASES))
def case(request):
    """(inputs, exit status, outcome, verdict)"""
    inputs, *expected = CASES[request.param]
    return ({"application": "nightly-etl", "size": "64", **inputs}, *expected)
