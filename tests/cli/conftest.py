"""The service and its clients as in the API tests, and the command line client as people and pipelines run it."""
import importlib.util
import os
import pathlib
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
import fcntl

import pytest

API = pathlib.Path(__file__).resolve().parents[1] / "api"
sys.path.insert(0, str(API))
spec = importlib.util.spec_from_file_location("api_fixtures", API / "conftest.py")
api_fixtures = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = api_fixtures
spec.loader.exec_module(api_fixtures)

contract = api_fixtures.contract
databases = api_fixtures.databases
own_server = api_fixtures.own_server
make_service = api_fixtures.make_service
service = api_fixtures.service
client = api_fixtures.client
name = api_fixtures.name
shared = api_fixtures.shared
BUILD, ROOT = api_fixtures.BUILD, api_fixtures.ROOT
PROVISOR = BUILD / "clients" / "cli" / "provisor"
PATIENCE = api_fixtures.PATIENCE


def pytest_configure(config):
    api_fixtures.pytest_configure(config)
    config.addinivalue_line("markers", "release_build: speed and memory of the client, which sanitizers change by themselves")


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def __repr__(self):
        return "status %d\n--- out\n%s\n--- err\n%s" % (self.status, self.out, self.err)


class Cli:
    """`provisor` with a home of its own; url and token by the environment, as in a pipeline."""

    def __init__(self, home, url=None, token=None, **environment):
        self.home = pathlib.Path(home)
        keep = {k: v for k, v in os.environ.items()
                if not k.startswith(("PROVISOR_", "AWS_", "XDG_")) and k.lower() not in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "no_color", "columns", "term")}
        self.env = {**keep, "HOME": str(home), "TERM": "xterm", **environment}
        if url:
            self.env["PROVISOR_URL"] = url
        if token:
            self.env["PROVISOR_TOKEN"] = token

    def __call__(self, *words, status=0, input=None, env=None, cwd=None, timeout=PATIENCE):
        """status: the expected one; None accepts any."""
        environment = {k: str(v) for k, v in {**self.env, **(env or {})}.items() if v is not None}
        result = subprocess.run([str(PROVISOR), *map(str, words)], input=input, env=environment, cwd=cwd or self.home, timeout=timeout,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                **({} if input is not None else {"stdin": subprocess.DEVNULL}))
        made = Result(result.returncode, result.stdout, result.stderr)
        assert "Sanitizer" not in made.err and "runtime error:" not in made.err, made
        assert status is None or made.status == status, made
        return made

    def start(self, *words, env=None, **kwargs):
        """A process that goes on."""
        environment = {k: str(v) for k, v in {**self.env, **(env or {})}.items() if v is not None}
        return subprocess.Popen([str(PROVISOR), *map(str, words)], env=environment, cwd=self.home, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, **kwargs)

    def terminal(self, *words, columns=80, status=0, keys=b"", env=None):
        """On a pseudo terminal: what it shows, escape sequences included, standard error among it; with the exit
        status where status is None."""
        pid, fd = pty.fork()
        if pid == 0:
            environment = {k: str(v) for k, v in {**self.env, **(env or {})}.items() if v is not None}
            os.chdir(self.home)
            time.sleep(0.05)  # until the size is set
            os.execve(str(PROVISOR), [str(PROVISOR), *map(str, words)], environment)
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        if keys:
            time.sleep(0.5)
            os.write(fd, keys)
        shown, end = b"", time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if select.select([fd], [], [], 0.2)[0]:
                try:
                    more = os.read(fd, 65536)
                except OSError:
                    break
                if not more:
                    break
                shown += more
        _, ended = os.waitpid(pid, 0)
        os.close(fd)
        text = shown.decode().replace("\r\n", "\n")
        assert "Sanitizer" not in text and "runtime error:" not in text, text
        if status is None:
            return text, os.waitstatus_to_exitcode(ended)
        assert os.waitstatus_to_exitcode(ended) == status, text
        return text


def plain(text):
    """Without the sequences that colour it."""
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text)


@pytest.fixture
def make_cli(tmp_path_factory):
    def make(url=None, token=None, **environment):
        return Cli(tmp_path_factory.mktemp("home"), url, token, **environment)
    return make


@pytest.fixture
def cli(service, make_cli):
    """As a pipeline of team alpha has it."""
    return make_cli(service.base_url, service.alpha_token)


@pytest.fixture(scope="session")
def sample(tmp_path_factory):
    """The event logs of the sample: a folder an application."""
    folder = tmp_path_factory.mktemp("sample")
    subprocess.run([str(api_fixtures.PROVISORD), "sample", "--out", str(folder)], check=True, stdout=subprocess.PIPE)
    return folder


@pytest.fixture(scope="session")
def history(service, sample):
    """Team alpha with the sample's history, as ./run loads it."""
    client = service.client(service.alpha_token)
    for log in sorted(sample.rglob("*")):
        if log.is_file():
            client.post("/v1/applications/%s/eventlogs" % log.parent.name, data=log.read_bytes(), status=(200, 201),
                        headers={"Content-Type": "application/octet-stream"})
    return client
