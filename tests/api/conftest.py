"""Fixtures of the API tests: a real provisord on a real, private PostgreSQL.

service   one for the whole run; test modules that restart or break things make their own (make_service)
databases  the PostgreSQL of this process of tests, of which each service gets a database (tests/databases.py)
client    speaks as the admin of team "alpha" and validates every reply against openapi/provisor.yaml
stranger  the same for team "beta", which must see nothing of alpha's

Environment: PROVISOR_BUILD (build directory, default build), PROVISOR_SHARED (default ../shared).
"""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid

import pytest
import requests

from contract import Contract

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))
from databases import Template, new_database  # noqa: E402
from patience import PATIENCE, SLOWDOWN  # noqa: E402
from ports import free_port  # noqa: E402

BUILD = pathlib.Path(os.environ.get("PROVISOR_BUILD", ROOT / "build")).resolve()
SHARED = pathlib.Path(os.environ.get("PROVISOR_SHARED", ROOT.parent / "shared")).resolve()
PROVISORD = BUILD / "service" / "provisord"


def pytest_configure(config):
    config.addinivalue_line("markers", "resident_memory: bounds on memory, which sanitizers exceed by themselves")
    config.addinivalue_line("markers", "every_log: answers about every shared log, which take minutes under sanitizers; other tests send these logs under them")


# What takes longest, with sanitizers.
LONG_FILES = ["test_%s" % name for name in (
    "archives", "copy_plan_clusters", "exchange", "fairness", "operation_turns", "operations", "refit", "scheduler_search",
    "scheduling_simulations", "webhook_delivery")]


def pytest_collection_modifyitems(items):
    """Long files begin first: the last of several processes is not to be left alone with one."""
    items.sort(key=lambda item: item.path.stem not in LONG_FILES)


def pytest_make_parametrize_id(config, val, argname):
    """Bytes that are packed differently every second are no name by which two processes know a test."""
    return argname if isinstance(val, bytes) else None


# A sentence with a number that is none.
NO_NUMBER = re.compile(r'"message":"[^"]*\b(inf|nan) ')


class Client:
    """Requests of one token; replies are checked against the contract."""

    # The service closes a connection that has been idle for connection_idle_s, perhaps just when a request is sent.
    IDLE_S = 30

    def __init__(self, service, token, contract):
        self.service, self.token, self.contract = service, token, contract
        self.session = requests.Session()
        self.last_used = time.monotonic()

    def request(self, method, path, status=None, headers=None, token=True, timeout=60, **kwargs):
        """status: expected HTTP status (or a collection of them); None accepts any."""
        head = {"Authorization": "Bearer " + self.token} if token and self.token else {}
        head.update(headers or {})
        if time.monotonic() - self.last_used > self.IDLE_S:
            self.session.close()
        reply = self.session.request(method, self.service.base_url + path, headers=head, timeout=timeout, **kwargs)
        self.last_used = time.monotonic()
        self.contract.check_reply(method, path, reply)
        assert not NO_NUMBER.search(reply.text), reply.text[:2000]
        if status is not None:
            wanted = status if isinstance(status, (set, tuple, list)) else (status,)
            assert reply.status_code in wanted, "%s %s: %d %s" % (method, path, reply.status_code, reply.text[:600])
        return reply

    def get(self, path, status=200, **kwargs):
        return self.request("GET", path, status, **kwargs)

    def post(self, path, body=None, status=None, **kwargs):
        if body is not None:
            kwargs["json"] = body
        return self.request("POST", path, status, **kwargs)

    def put(self, path, body, status=200, **kwargs):
        return self.request("PUT", path, status, json=body, **kwargs)

    def patch(self, path, body, status=200, **kwargs):
        return self.request("PATCH", path, status, json=body, **kwargs)

    def delete(self, path, status=204, **kwargs):
        return self.request("DELETE", path, status, **kwargs)

    def refuse(self, method, path, status, pointer=None, parameter=None, header=None, **kwargs):
        """A problem with that status, one of whose errors names that place."""
        reply = self.request(method, path, status, **kwargs)
        assert reply.headers["Content-Type"].startswith("application/problem+json")
        problem = reply.json()
        for kind, at in (("pointer", pointer), ("parameter", parameter), ("header", header)):
            if at is not None:
                assert at in [e.get(kind) for e in problem.get("errors", [])], problem
        return problem


def come_after_database():
    """As ops/provisord.service.in and `run` have it: a scheduling group of its own, which weighs less than PostgreSQL's."""
    os.setsid()
    with contextlib.suppress(OSError):
        pathlib.Path("/proc/self/autogroup").write_text("10")


class Service:
    """provisord and its database; without one given, with a PostgreSQL of its own in the directory, not migrated."""

    program = PROVISORD

    def __init__(self, directory, contract, environment=None, database=None):
        self.directory, self.contract = pathlib.Path(directory), contract
        self.database = database or new_database(self.directory / "data")
        self.environment = dict(environment or {})
        self.process = None
        self.port = None
        self.log = self.directory / "provisord.log"
        self.database_url, self.owner_url = self.database.service_url, self.database.owner_url

    def run(self, *words, **kwargs):
        return subprocess.run([str(w) for w in words], check=True, text=True, stdout=subprocess.PIPE, **kwargs).stdout

    def psql(self, statement):
        """What a superuser's psql prints of it, unaligned, without headings."""
        return self.database.psql("-qAt", "-v", "ON_ERROR_STOP=1", "-c", statement)

    def require_own_server(self):
        assert not self.database.shared, "others use this server too: make_service(own_server=True)"

    def start_database(self):
        self.require_own_server()
        self.database.server.start()

    def stop_database(self):
        self.require_own_server()
        self.database.server.stop()

    def kill_database(self):
        """kill -9 of the postmaster and all its children, as a crash of the machine would."""
        self.require_own_server()
        for path in self.database.server.directory.rglob("postmaster.pid"):
            pid = int(path.read_text().split()[0])
            children = subprocess.run(["pgrep", "-P", str(pid)], text=True, stdout=subprocess.PIPE).stdout.split()
            for victim in [pid] + [int(c) for c in children]:
                try:
                    os.kill(victim, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            return
        raise AssertionError("no postmaster.pid under %s" % self.database.server.directory)

    def env(self, **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith("PROVISOR_")}
        env.update(PROVISOR_DATABASE_URL=self.database_url, PROVISOR_DATABASE_OWNER_URL=self.owner_url)
        env["PROVISOR_METRICS_CACHE_MS"] = "0"  # tests read what they have just caused
        if SLOWDOWN > 1:  # what takes long in this build is not what an operator would wait for
            env.update(PROVISOR_IO_WAIT_MS="5000", PROVISOR_COMPUTE_WAIT_MS="30000")
        env.update({k: str(v) for k, v in self.environment.items()})
        env.update({k: str(v) for k, v in more.items()})
        return env

    def command(self, *words, **more):
        return self.run(self.program, *words, env=self.env(**more))

    def start(self, wait=True, stderr=None, after_database=False, **more):
        """more: environment settings such as PROVISOR_BODY_BYTES_MAX=1000."""
        if self.port is None:
            self.port = free_port()
        env = self.env(PROVISOR_LISTEN_PORT=self.port, **more)
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([str(self.program), "serve"], env=env, stdout=log, stderr=log if stderr is None else stderr,
                                            preexec_fn=come_after_database if after_database else None)
        if wait:
            self.wait_ready()
        return self

    @property
    def base_url(self):
        return "http://127.0.0.1:%d" % self.port

    def wait_ready(self, seconds=PATIENCE):
        end = time.monotonic() + seconds
        while True:
            assert self.process.poll() is None, "provisord ended: " + self.log.read_text()[-2000:]
            try:
                if requests.get(self.base_url + "/readyz", timeout=2).status_code == 200:
                    return
            except requests.ConnectionError:
                pass
            assert time.monotonic() < end, "not ready: " + self.log.read_text()[-2000:]
            time.sleep(0.02)

    def stop(self):
        """SIGTERM; answers the exit status."""
        if self.process is None:
            return None
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=PATIENCE)
        self.process = None
        return status

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process = None

    def metric(self, name):
        """Of the metrics the sum of that name's series, labels or not; name may have labels: name{a="b"}."""
        rows = [line.rsplit(" ", 1) for line in requests.get(self.base_url + "/metrics", timeout=PATIENCE).text.splitlines()]
        return sum(float(value) for series, value in rows if series == name or series.startswith(name + "{"))

    def check_places(self):
        """No compute worker waited for PostgreSQL, and no io worker parsed anything large."""
        try:
            misplaced = self.metric("provisor_misplaced_work_total")
        except requests.RequestException:
            return  # stopped, frozen, or too busy to tell
        assert misplaced == 0, "work on the wrong workers: %g %s" % (misplaced, re.findall(r".*http.misplaced.*", self.log.read_text(errors="replace")))

    def close(self):
        """Stop it, and a server of its own; what it logged may hold no report of a sanitizer."""
        if self.process is not None and self.process.poll() is None:
            self.check_places()
        status = self.stop() if self.process is not None and self.process.poll() is None else None
        if not self.database.shared:
            self.database.server.stop()
        text = self.log.read_text(errors="replace") if self.log.is_file() else ""
        assert "Sanitizer" not in text and "runtime error:" not in text, text[-6000:]
        return status

    def token(self, team, scopes="read,write,admin", name="test"):
        return self.command("token", "create", "--team", team, "--name", name, "--scopes", scopes).strip()

    def client(self, token):
        return Client(self, token, self.contract)


@pytest.fixture(scope="session")
def contract():
    return Contract()


@pytest.fixture(scope="session")
def shared():
    if not (SHARED / "data").is_dir():
        pytest.skip("shared data not found at PROVISOR_SHARED=%s" % SHARED)
    return SHARED


def migrate(environment):
    env = {k: v for k, v in os.environ.items() if not k.startswith("PROVISOR_")}
    subprocess.run([str(PROVISORD), "migrate"], check=True, stdout=subprocess.PIPE, env={**env, **environment})


@pytest.fixture(scope="session")
def databases():
    made = Template(migrate)
    yield made
    made.close()


@pytest.fixture(scope="module")
def own_server():
    """Whether every service of this module gets a PostgreSQL of its own."""
    return False


@pytest.fixture(scope="module")
def make_service(contract, databases, own_server):
    """A factory of services that a test may restart, break and configure as it likes. own_server: with a durable
    PostgreSQL that it may stop, start and kill; otherwise with a database of the one that all share."""
    made = []

    def make(own_server=own_server, **environment):
        directory = tempfile.mkdtemp(prefix="provisor-api-")
        os.chmod(directory, 0o755)
        database = databases.own_server(directory + "/data") if own_server else databases.database()
        service = Service(directory, contract, environment, database)
        made.append(service)
        return service

    yield make
    faults = []
    for service in made:
        try:
            service.close()
        except AssertionError as fault:
            faults.append(fault)
        finally:
            if service.database.shared:
                databases.drop(service.database)
            shutil.rmtree(service.directory, ignore_errors=True)
    assert not faults, faults


@pytest.fixture(scope="session")
def service(contract, databases):
    directory = tempfile.mkdtemp(prefix="provisor-api-")
    os.chmod(directory, 0o755)
    service = Service(directory, contract, database=databases.database())
    service.operator_token = service.token("operators")
    service.alpha_token = service.token("alpha")
    service.beta_token = service.token("beta")
    service.start()
    yield service
    try:
        status = service.close()
        assert status == 0, "provisord ended with %s: %s" % (status, service.log.read_text(errors="replace")[-3000:])
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(scope="session")
def client(service):
    return service.client(service.alpha_token)


@pytest.fixture(scope="session")
def stranger(service):
    return service.client(service.beta_token)


@pytest.fixture(scope="session")
def operator(service):
    return service.client(service.operator_token)


@pytest.fixture
def name():
    """An application name that no other test uses."""
    return "app-" + uuid.uuid4().hex[:12]
