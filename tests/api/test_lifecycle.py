"""Start, settings, signals, and a database that comes and goes."""
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import pytest
import requests

from conftest import BUILD, PROVISORD, ROOT
from patience import PATIENCE, SLOWDOWN


def lines(service):
    return [json.loads(line) for line in service.log.read_text().splitlines()]


def events(service):
    return [line["event"] for line in lines(service)]


def wait_for(condition, seconds, what):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def resident_mb(pid):
    status = pathlib.Path("/proc/%d/status" % pid).read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) / 1024


@pytest.mark.resident_memory
def test_the_idle_service_is_small(make_service):
    service = make_service()
    client = service.client(service.token("alpha"))
    service.start()
    client.get("/v1/applications")
    assert resident_mb(service.process.pid) < 25


def test_every_log_line_is_json_and_holds_no_secret(service, client):
    client.get("/v1/applications")
    text = service.log.read_text()
    assert lines(service)
    password = re.search(r":([^:@]+)@", service.database_url).group(1)
    for secret in (client.token, client.token.split("_")[2], password):
        assert secret not in text


@pytest.mark.parametrize("words, env, says", [
    (["--listen_port=65536"], {}, 'listen_port = "65536" must be an integer from 0 to 65535'),
    (["--colour=red"], {}, 'no setting or option "--colour=red"'),
    ([], {"PROVISOR_IO_WORKERS": "0"}, 'PROVISOR_IO_WORKERS: io_workers = "0" must be an integer from 1 to 1024'),
    ([], {"PROVISOR_TOKEN_CACHE_MS": "5001"}, "from 0 to 5000 ms"),
    ([], {"PROVISOR_CONFIG": "/nonexistent.conf"}, "/nonexistent.conf"),
    (["--page_default=60", "--page_max=50"], {}, "page_default = 60 must not exceed page_max = 50"),
    (["stray"], {}, "one word too many"),
])
def test_wrong_settings_are_refused_at_start_with_the_reason(service, words, env, says):
    result = subprocess.run([str(PROVISORD), "serve", *words], env=service.env(**env), text=True,
                            capture_output=True, timeout=20)
    assert result.returncode == 2 and says in result.stderr, result.stderr


def test_an_unknown_variable_is_only_warned_of(make_service):
    service = make_service()
    service.start(PROVISOR_LISTEN_PROT=1)
    warned = [line for line in lines(service) if line["event"] == "config.unknown_variable"]
    assert [line["name"] for line in warned] == ["PROVISOR_LISTEN_PROT"]


def test_a_taken_address_ends_the_start(service):
    result = subprocess.run([str(PROVISORD), "serve", "--listen_port=%d" % service.port], env=service.env(),
                            text=True, capture_output=True, timeout=20)
    assert result.returncode == 1
    assert "service.not_started" in result.stderr and str(service.port) in result.stderr


def test_help_and_version_and_nonsense(service):
    def run(*words):
        return subprocess.run([str(PROVISORD), *words], text=True, capture_output=True, timeout=20)
    assert "--listen_port=8080" in run("--help").stdout
    contract = service.contract.document["info"]["version"]
    assert re.fullmatch(r"provisord [0-9]+\.[0-9]+\.[0-9]+, contract %s\n" % re.escape(contract), run("--version").stdout)
    assert run("version").stdout == run("--version").stdout
    for command in ("serve", "token", "migrate"):
        shown = run(command, "--help")
        assert shown.returncode == 0 and shown.stdout.startswith("usage: provisord " + command)
        assert len(shown.stdout.splitlines()) < 15, "of this command only"
    for words in ((), ("dance",)):
        assert run(*words).returncode == 2 and "usage: provisord" in run(*words).stderr


def test_a_token_command_without_a_database_names_the_setting():
    result = subprocess.run([str(PROVISORD), "token", "list"], text=True, capture_output=True, timeout=30,
                            env={"PROVISOR_DATABASE_OWNER_URL": "host=127.0.0.1 port=9 connect_timeout=2"})
    assert result.returncode == 1 and "PROVISOR_DATABASE_OWNER_URL_FILE" in result.stderr


def test_workers_yield_to_the_threads_that_accept(make_service):
    service = make_service(PROVISOR_WORKER_NICENESS=7)
    starter = threading.Thread(target=lambda: (os.nice(3), service.start()))  # of this thread alone, on Linux
    starter.start()
    starter.join()
    nice = {}
    for task in pathlib.Path("/proc/%d/task" % service.process.pid).iterdir():
        name, rest = (task / "stat").read_text().split(" (", 1)[1].rsplit(") ", 1)
        nice.setdefault(name, set()).add(int(rest.split()[16]))
    own = nice["provisord"]
    assert len(own) == 1 and min(own) >= 3, "the process has a niceness of its own, to which that of its workers is added"
    assert nice["io"] == nice["compute"] == {min(own), min(min(own) + 7, 19)}, "but the light ones; 19 is the most there is"


def test_open_files_are_raised_to_what_the_connections_need(make_service):
    """Once, by one sum: clients, those of the second listener, the database, and some for the rest."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    service = make_service(PROVISOR_CONNECTIONS_MAX=2000, PROVISOR_DATABASE_CONNECTIONS=20)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
    try:
        service.start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    limits = pathlib.Path("/proc/%d/limits" % service.process.pid).read_text()
    assert re.search(r"^Max open files +(\d+)", limits, re.M)[1] == str(2000 + 64 + 20 + 256)


def test_a_free_port_is_logged(make_service):
    service = make_service()
    service.port = 0
    service.start(wait=False)
    def bound():
        return [line["port"] for line in lines(service) if line["event"] == "http.listening"]
    wait_for(bound, PATIENCE, "no port in the log")
    service.port = bound()[0]
    assert service.port != 0
    service.wait_ready()


def test_settings_come_from_a_file(make_service, tmp_path):
    service = make_service()
    file = tmp_path / "provisor.conf"
    file.write_text("# small pages\npage_default = 1\npage_max = 1\n")
    token = service.token("alpha")
    service.start(PROVISOR_CONFIG=file)
    service.client(token).refuse("GET", "/v1/tokens?limit=2", 422, parameter="limit")


def test_migrations_are_applied_at_start(contract):
    from conftest import Service
    # Of its own: PostgreSQL's user must get in, and pytest closes its folders to others when another run begins.
    root = pathlib.Path(tempfile.mkdtemp(prefix="provisor-api-"))
    root.chmod(0o755)
    service = Service(root, contract)  # no `provisord migrate`
    try:
        service.start()
        migrated = [line for line in lines(service) if line["event"] == "migrations.applied"]
        assert migrated and migrated[0]["count"] >= 1
        # An empty database is no fault: nobody asks for tables before they are there.
        assert [line for line in lines(service) if line["level"] == "error"] == []
    finally:
        status = service.close()
        shutil.rmtree(root, ignore_errors=True)
    assert status == 0


class Slow:
    """A request whose body arrives late: it is being served while the signal comes."""

    def __init__(self, service, token, body):
        self.body = body
        self.socket = socket.create_connection(("127.0.0.1", service.port), timeout=30)
        head = ("POST /v1/applications HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
                "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (token, len(body)))
        self.socket.sendall(head.encode() + body[:1])

    def finish(self):
        self.socket.sendall(self.body[1:])
        return self.reply()

    def reply(self):
        data = b""
        while b"\r\n\r\n" not in data:
            piece = self.socket.recv(65536)
            if not piece:
                break
            data += piece
        return int(data.split(b" ")[1]) if data else None


def test_sigterm_drains(make_service):
    service = make_service()
    token = service.token("alpha")
    service.start()
    slow = Slow(service, token, b'{"name": "late"}')
    time.sleep(0.3)
    service.process.send_signal(signal.SIGTERM)
    wait_for(lambda: "service.draining" in events(service), PATIENCE, "no word of draining")
    assert service.process.poll() is None, "a request is under way"
    assert slow.finish() == 201
    assert service.process.wait(timeout=PATIENCE) == 0
    assert events(service)[-1] == "service.ended"
    service.process = None
    service.start()
    assert service.client(token).get("/v1/applications/late").json()["name"] == "late"


def test_readiness_goes_first_and_the_listener_a_while_later(make_service):
    service = make_service(PROVISOR_DRAIN_DELAY_MS=3000)
    token = service.token("alpha")
    service.start()
    service.process.send_signal(signal.SIGTERM)
    client = service.client(token)
    wait_for(lambda: client.get("/readyz", (200, 503), token=False).status_code == 503, 2, "still ready")
    client.get("/v1/applications")
    assert service.process.wait(timeout=PATIENCE) == 0
    service.process = None


def test_a_request_that_never_ends_holds_the_end_up_no_longer_than_drain_s(make_service):
    service = make_service(PROVISOR_DRAIN_S=1)
    token = service.token("alpha")
    service.start()
    slow = Slow(service, token, b'{"name": "never"}')
    time.sleep(0.3)
    begun = time.monotonic()
    service.process.send_signal(signal.SIGTERM)
    assert service.process.wait(timeout=PATIENCE) == 0
    assert 0.8 < time.monotonic() - begun < 6 * SLOWDOWN
    service.process = None
    slow.socket.close()


def test_a_second_signal_ends_at_once(make_service):
    service = make_service(PROVISOR_DRAIN_S=60)
    token = service.token("alpha")
    service.start()
    slow = Slow(service, token, b'{"name": "never"}')
    time.sleep(0.3)
    service.process.send_signal(signal.SIGTERM)
    wait_for(lambda: "service.draining" in events(service), PATIENCE, "no word of draining")
    time.sleep(0.2)
    begun = time.monotonic()
    service.process.send_signal(signal.SIGTERM)
    assert service.process.wait(timeout=PATIENCE) == -signal.SIGTERM
    assert time.monotonic() - begun < 1 * SLOWDOWN
    service.process = None
    slow.socket.close()


def test_the_database_may_be_down_at_start_and_may_restart(make_service):
    service = make_service(own_server=True)
    token = service.token("alpha")
    service.stop_database()
    service.start(wait=False)
    wait_for(lambda: "http.listening" in events(service), PATIENCE, "does not listen without its database")
    assert requests.get(service.base_url + "/healthz", timeout=5).status_code == 200
    ready = requests.get(service.base_url + "/readyz", timeout=10)
    assert ready.status_code == 503 and int(ready.headers["Retry-After"]) >= 1
    down = requests.get(service.base_url + "/v1/applications", headers={"Authorization": "Bearer " + token}, timeout=10)
    assert down.status_code == 503 and int(down.headers["Retry-After"]) >= 1

    service.start_database()
    up = time.monotonic()
    service.wait_ready()
    assert time.monotonic() - up < 1 * SLOWDOWN, "ready within a second of PostgreSQL"
    client = service.client(token)
    client.post("/v1/applications", {"name": "kept"}, 201)

    service.kill_database()
    time.sleep(0.2)
    outage = client.request("GET", "/v1/applications", (200, 503))
    assert outage.status_code == 503 and int(outage.headers["Retry-After"]) >= 1
    service.start_database()
    service.wait_ready()
    assert client.get("/v1/applications/kept").json()["name"] == "kept"
    assert service.process.poll() is None, "the same process all along"


def test_roles_take_their_passwords_from_files(make_service, monkeypatch):
    """As docker-compose.yml hands them to PostgreSQL's image; without any, nobody is locked out by an empty one."""
    service = make_service(own_server=True)
    folder = pathlib.Path(service.directory)  # PostgreSQL's user may enter it
    for role in ("owner", "service"):
        path = folder / (role + "_password")
        path.write_text("%s-from-a-file'\n" % role)
        path.chmod(0o444)
        monkeypatch.setenv("PROVISOR_%s_PASSWORD_FILE" % role.upper(), str(path))
    service.database.psql("-qAt", "-f", ROOT / "ops" / "roles.sql")

    def with_new_password(url):
        return re.sub(r"//provisor_(\w+):[^@]*@", r"//provisor_\1:\1-from-a-file%27@", url)

    with pytest.raises(subprocess.CalledProcessError):
        service.token("alpha")
    service.database_url, service.owner_url = with_new_password(service.database_url), with_new_password(service.owner_url)
    service.token("alpha")
    service.start()
    for role in ("OWNER", "SERVICE"):
        monkeypatch.delenv("PROVISOR_%s_PASSWORD_FILE" % role)
        with pytest.raises(RuntimeError, match="PROVISOR_OWNER_PASSWORD_FILE"):
            service.database.psql("-qAt", "-f", ROOT / "ops" / "roles.sql")


def test_sigpipe_is_no_end(service, client):
    """Clients that go away in the middle of a reply."""
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", service.port)) as s:
            s.sendall(b"GET /openapi.yaml HTTP/1.1\r\nHost: x\r\n\r\n" * 20)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    client.get("/v1/applications")


def test_many_threads_at_once(service, client):
    """Requests of several connections are answered side by side, each with its own id."""
    ids, faults = [], []

    def ask():
        session = requests.Session()
        for _ in range(20):
            reply = session.get(service.base_url + "/v1/applications?limit=1",
                                headers={"Authorization": "Bearer " + client.token}, timeout=20)
            ids.append(reply.headers["X-Request-Id"])
            if reply.status_code != 200:
                faults.append(reply.status_code)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == [] and len(set(ids)) == 160


def test_a_connection_string_that_cannot_be_read_is_named_as_such():
    for command in ("serve", "maintain"):
        result = subprocess.run([str(PROVISORD), command, "--listen_port=0", "--database_url=postgresql://[h/x"], text=True,
                                capture_output=True, timeout=30)
        assert result.returncode == 1 and "memory" not in result.stderr and "connection string" in result.stderr, result.stderr


def test_an_unknown_command_gets_the_list_of_commands():
    result = subprocess.run([str(PROVISORD), "dance"], text=True, capture_output=True, timeout=20)
    assert result.returncode == 2 and "there is no such command" in result.stderr and len(result.stderr.splitlines()) < 25


COMMANDS = ("serve", "migrate", "maintain", "import", "token", "quotas", "operations", "sample", "settings", "metrics", "version", "help")


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_shows_its_own_arguments(command):
    """Wherever the word stands, and nothing of the other commands or of the settings."""
    texts = set()
    for words in (["--help"], ["-h"], ["list", "--help"], ["--help", "list"], ["--json", "-h", "x"]):
        result = subprocess.run([str(PROVISORD), command, *words], text=True, capture_output=True, timeout=20)
        assert result.returncode == 0 and result.stderr == "", (words, result.stderr)
        texts.add(result.stdout)
    assert len(texts) == 1
    lines = texts.pop().splitlines()
    forms = lines[:lines.index("")]
    assert len(lines) < 10 and forms[0].startswith("usage: provisord " + command)
    assert all(form.startswith("       provisord %s " % command) for form in forms[1:])
    every = subprocess.run([str(PROVISORD), "help"], text=True, capture_output=True, timeout=20).stdout
    assert "\n  %s" % command in every and lines[len(forms) + 1] in every


@pytest.mark.parametrize("words,setting", [
    (["operations", "list"], "database_owner_url"), (["operations", "cancel", "01a20fec-a905-75cb-91d9-df0f43d395ad"], "database_owner_url"),
    (["token", "list"], "database_owner_url"), (["quotas", "list"], "database_owner_url"), (["migrate"], "database_owner_url"),
    (["maintain"], "database_url"), (["import", "/tmp", "--team", "t"], "database_url")])
def test_a_command_without_its_database_names_the_setting(words, setting):
    nowhere = "host=127.0.0.1 port=9 connect_timeout=2"

    def tell(**env):
        result = subprocess.run([str(PROVISORD), *words], text=True, capture_output=True, timeout=60, env=env)
        assert result.returncode == 1, result.stderr
        return result.stderr
    missing = tell(PROVISOR_DATABASE_URL=nowhere)
    assert setting in missing and "PROVISOR_" + setting.upper() in missing, missing
    assert ("is not set" in missing) == (setting == "database_owner_url"), missing
    given = tell(PROVISOR_DATABASE_URL=nowhere, PROVISOR_DATABASE_OWNER_URL=nowhere)
    assert setting + " names the database that was tried" in given, given


def test_the_first_advice_is_about_the_application_named_and_stores_nothing(service, client, name):
    for application in ("aaa-" + name, name):
        client.post("/v1/applications/%s/runs" % application,
                    {"problem_size": 100, "executors": 4, "cores_per_executor": 4, "duration_s": 50,
                     "stages": [{"id": 0, "tasks": 100, "task_duration_s": 6}]}, 201)
    token = service.directory / "first-advice-token"
    token.write_text(client.token)
    shown = subprocess.run([str(ROOT / "ops" / "first-advice"), service.base_url, str(token), str(BUILD / "clients" / "cli" / "provisor"), name], text=True, capture_output=True,
                           check=True, timeout=60).stdout
    assert "%s, problem size 100" % name in shown and "advise %s --size 100 --deadline 50s" % name in shown
    assert client.get("/v1/advice?application=" + name).json()["items"] == []


@pytest.mark.parametrize("above, shown", [(0, "    ./provisor advise "), (1, "    cli/provisor advise "), (None, "    /")])
def test_the_first_advice_names_the_client_as_short_as_it_can_be_typed(service, client, name, tmp_path, above, shown):
    client.post("/v1/applications/%s/runs" % name, {"problem_size": 100, "executors": 4, "cores_per_executor": 4, "duration_s": 50, "stages": [{"id": 0, "tasks": 100, "task_duration_s": 6}]}, 201)
    program = BUILD / "clients" / "cli" / "provisor"
    (tmp_path / "token").write_text(client.token)
    said = subprocess.run([str(ROOT / "ops" / "first-advice"), service.base_url, str(tmp_path / "token"), str(program), name], text=True, capture_output=True, check=True,
                          timeout=60, cwd=tmp_path if above is None else program.parents[above]).stdout
    assert [line for line in said.splitlines() if line.startswith(shown) and "advise %s" % name in line], said
