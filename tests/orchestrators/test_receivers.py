"""clients/receivers: each takes what is signed and nothing else, in every language that is at hand; held against the
reference library of Standard Webhooks (webhook_reference), which speaks for v1."""
import base64
import hashlib
import hmac
import http.client
import itertools
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import threading
import time

import pytest

from patience import PATIENCE

HERE = pathlib.Path(__file__).resolve().parent
RECEIVERS = HERE.parents[1] / "clients" / "receivers"
REFERENCE = HERE / "webhook_reference"

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
NEXT_SECRET = "whsec_" + base64.b64encode(bytes(range(100, 164))).decode()
OTHER_SECRET = "whsec_" + base64.b64encode(b"x" * 24).decode()
BODY = '{"type": "deadline.missed", "timestamp": "2026-11-25T08:00:00.123456Z", "data": {"severity": "critical", "application": "läufe é"}}'.encode()
ids = ("evt_01a1fe22-0f10-77d6-90cd-%012d" % n for n in itertools.count(1))


def signature_v1(secret, webhook_id, timestamp, body):
    key = base64.b64decode(secret[len("whsec_"):])
    content = b"%s.%s.%s" % (webhook_id.encode(), str(timestamp).encode(), body)
    return "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()


def delivery(*secrets, body=BODY, webhook_id=None, age=0, sign=signature_v1):
    """(headers, body) as the service sends it: a signature by each live secret."""
    webhook_id, timestamp = webhook_id or next(ids), str(int(time.time()) - age)
    signatures = " ".join(sign(secret, webhook_id, timestamp, body) for secret in secrets)
    return {"webhook-id": webhook_id, "webhook-timestamp": timestamp, "webhook-signature": signatures}, body


class HttpReceiver:
    """A receiver that listens: what it answers, and what it printed."""

    def __init__(self, words, secrets):
        env = {**os.environ, "WEBHOOK_SECRET": " ".join(secrets), "PORT": "0"}
        self.process = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.errors = []
        self.reader = threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True)
        self.reader.start()
        line = self.process.stdout.readline()
        assert line.startswith("listening on "), line + "".join(self.errors)
        self.port = int(line.split()[-1])

    def deliver(self, headers, body, method="POST"):
        """(status, what it printed of it)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request(method, "/hooks/provisor", body, headers)
        reply = connection.getresponse()
        reply.read()
        connection.close()
        return reply.status

    def printed(self, lines):
        return [self.process.stdout.readline().strip() for _ in range(lines)]

    def close(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdout.close()


class ShellReceiver:
    """The script, once a delivery; as it has no status of HTTP, what its exit status stands for."""

    STATUS = {0: 204, 3: 204, 1: 401, 2: 500}

    def __init__(self, words, secrets, folder, **environment):
        self.words, self.lines = words, []
        (folder / "seen").mkdir()
        self.env = {**os.environ, "WEBHOOK_SECRET": " ".join(secrets), "WEBHOOK_SEEN": str(folder / "seen"), "TMPDIR": str(folder), **environment}
        self.folder = folder

    def run(self, headers, body, **environment):
        named = {name.upper().replace("-", "_"): value for name, value in headers.items()}
        result = subprocess.run(self.words, input=body, env={**self.env, **named, **environment}, capture_output=True, timeout=PATIENCE)
        assert [path.name for path in self.folder.iterdir()] == ["seen"], "nothing is left behind"
        return result

    def deliver(self, headers, body):
        result = self.run(headers, body)
        if result.returncode in (0, 3):
            assert result.stdout == (body if result.returncode == 0 else b""), result.stderr
            self.lines.append("handled %s %s" % (headers["webhook-id"], json.loads(body)["type"]) if result.returncode == 0 else "again " + headers["webhook-id"])
        else:
            assert result.stdout == b"" and result.stderr, result
        return self.STATUS[result.returncode]

    def printed(self, lines):
        made, self.lines = self.lines[:lines], self.lines[lines:]
        return made

    def close(self):
        pass


@pytest.fixture(scope="session")
def go_program(tmp_path_factory):
    program = tmp_path_factory.mktemp("go") / "receiver"
    env = {**os.environ, "GOCACHE": str(program.parent / "cache"), "GOFLAGS": "-mod=mod", "GO111MODULE": "off", "CGO_ENABLED": "0"}
    subprocess.run(["go", "vet", str(RECEIVERS / "go" / "receiver.go")], env=env, check=True)
    subprocess.run(["go", "build", "-o", str(program), str(RECEIVERS / "go" / "receiver.go")], env=env, check=True)
    return program


PROGRAMS = {"python": sys.executable, "node": "node", "go": "go", "shell": "openssl"}
LANGUAGES = [language for language, program in PROGRAMS.items() if shutil.which(program)]
LISTENING = [language for language in LANGUAGES if language != "shell"]


@pytest.fixture(params=LANGUAGES)
def start(request, tmp_path):
    """start(secret, ...): a receiver of one of the languages."""
    language, made = request.param, []
    words = {"python": lambda: [sys.executable, "-B", str(RECEIVERS / "python" / "receiver.py")],
             "node": lambda: ["node", str(RECEIVERS / "node" / "receiver.mjs")],
             "go": lambda: [str(request.getfixturevalue("go_program"))],
             "shell": lambda: [shutil.which("dash") or "sh", str(RECEIVERS / "shell" / "verify-webhook")]}[language]()

    def begin(*secrets, **environment):
        made.append(ShellReceiver(words, secrets, tmp_path, **environment) if language == "shell" else HttpReceiver(words, secrets))
        return made[-1]
    begin.words, begin.language = words, language
    yield begin
    for receiver in made:
        receiver.close()


def altered(headers, **changes):
    return {**headers, **{name.replace("_", "-"): value for name, value in changes.items()}}


@pytest.mark.parametrize("language", sorted(set(PROGRAMS) - set(LANGUAGES)) or ["none"])
def test_languages_that_are_not_at_hand(language):
    """Go is in no list of packages: its compiler and library are half a gigabyte, for one receiver of them all."""
    if language != "none":
        pytest.skip("no %s on this machine: the receiver in %s is not tried" % (PROGRAMS[language], language))


# --- v1 ------------------------------------------------------------------------------------------------------


def test_a_delivery_is_handled_once(start):
    receiver = start(SECRET)
    headers, body = delivery(SECRET)
    assert receiver.deliver(headers, body) == 204
    assert receiver.printed(1) == ["handled %s deadline.missed" % headers["webhook-id"]]
    assert receiver.deliver(headers, body) == 204, "a replay"
    again, _ = delivery(SECRET, webhook_id=headers["webhook-id"], age=-1)
    assert receiver.deliver(again, body) == 204, "the next attempt at the same event"
    assert receiver.printed(2) == ["again " + headers["webhook-id"]] * 2
    assert receiver.deliver(*delivery(SECRET)) == 204
    assert receiver.printed(1)[0].startswith("handled evt_")


def test_what_was_altered_is_refused(start):
    receiver = start(SECRET)
    headers, body = delivery(SECRET)
    refused = [
        (headers, body.replace(b"critical", b"info")), (headers, body + b"\n"), (headers, body[:-1]), (headers, b""),
        (altered(headers, webhook_id=next(ids)), body), (altered(headers, webhook_id=headers["webhook-id"] + "0"), body),
        (altered(headers, webhook_timestamp=str(int(headers["webhook-timestamp"]) + 1)), body),
        (delivery(OTHER_SECRET)), (delivery(SECRET, age=400)), (delivery(SECRET, age=-400)),
        (delivery(SECRET, sign=lambda *words: signature_v1(*words).replace("v1,", "v1a,"))),
        (delivery(SECRET, sign=lambda *words: signature_v1(*words).replace("v1,", "v2,"))),
        (delivery(SECRET, sign=lambda *words: signature_v1(*words)[len("v1,"):])),
        (delivery(SECRET, sign=lambda *words: signature_v1(*words)[:-5])),
        (delivery(SECRET, sign=lambda *words: "v1,")), (delivery(SECRET, sign=lambda *words: "v1,!!!!")), (delivery()),
    ]
    for case in refused:
        assert receiver.deliver(*case) == 401, case
    for name in headers:
        assert receiver.deliver({k: v for k, v in headers.items() if k != name}, body) == 401, "without " + name
    # None of these has used the id up.
    assert receiver.deliver(headers, body) == 204 and receiver.printed(1)[0].startswith("handled")


def test_ids_and_timestamps_that_are_none(start):
    """Signed all the same: what is signed is joined by dots, so that an id with one could take bytes from the time or the body."""
    receiver = start(SECRET)
    now = int(time.time())
    for webhook_id, timestamp in [("evt.1", now), ("../evt", now), ("evt 1", now), ("e" * 257, now), ("evt_1", "%d " % now), ("evt_1", "+%d" % now), ("evt_1", "0%d" % now),
                                  ("evt_1", "%d.0" % now), ("evt_1", "1e9"), ("evt_1", "-1"), ("evt_1", "9" * 30), ("evt_1", "now")]:
        headers = {"webhook-id": webhook_id, "webhook-timestamp": str(timestamp), "webhook-signature": signature_v1(SECRET, webhook_id, timestamp, BODY)}
        if str(timestamp).endswith(" ") and start.language != "shell":
            continue  # HTTP takes spaces at the end of a value away
        assert receiver.deliver(headers, BODY) == 401, headers
    first, rest = BODY[:1], BODY[1:]
    headers, _ = delivery(SECRET, body=b"1." + rest)
    assert receiver.deliver(altered(headers, webhook_timestamp=headers["webhook-timestamp"] + ".1"), rest) == 401 and first == b"{"


def test_the_tolerance_is_five_minutes(start):
    receiver = start(SECRET)
    assert [receiver.deliver(*delivery(SECRET, age=age)) for age in (280, -280, 320, -320)] == [204, 204, 401, 401]


def test_a_rotation(start):
    """The service signs with the old and the new secret for a while, and so may a receiver know both."""
    receiver = start(NEXT_SECRET, OTHER_SECRET)
    assert receiver.deliver(*delivery(SECRET, NEXT_SECRET)) == 204
    assert receiver.deliver(*delivery(NEXT_SECRET, SECRET)) == 204
    assert receiver.deliver(*delivery(OTHER_SECRET)) == 204
    assert receiver.deliver(*delivery(SECRET)) == 401
    assert receiver.deliver(*delivery(SECRET, SECRET, SECRET)) == 401
    unknown = "v9,%s v1a,AAAA nonsense " % base64.b64encode(b"x" * 64).decode()
    headers, body = delivery(NEXT_SECRET)
    assert receiver.deliver(altered(headers, webhook_signature=unknown + headers["webhook-signature"]), body) == 204, "schemes of tomorrow are passed over"


PUBLIC_KEY = "whpk_" + base64.b64encode(bytes(range(32))).decode()
WRONG_SECRETS = [None, "", "   ", "secret", "whsec_", "whsec_!!!!", "whsec_" + base64.b64encode(b"short").decode(), "whpk_AAAA", PUBLIC_KEY[:-4], PUBLIC_KEY + "AAAA",
                 "whsec_hush" + base64.b64encode(b"x" * 24).decode()[1:], "whsk_" + base64.b64encode(b"x" * 64).decode(), SECRET + " whsec_AAAA"]


def started(start, **environment):
    """What becomes of a receiver that is started so: one of None is not set."""
    env = {**os.environ, "WEBHOOK_SECRET": SECRET, "PORT": "0", **environment}
    return subprocess.run(start.words, env={k: v for k, v in env.items() if v is not None}, input="", capture_output=True, text=True, timeout=PATIENCE)


@pytest.mark.parametrize("secret", WRONG_SECRETS)
def test_without_a_secret_nothing_begins(start, secret):
    """One line says what is wrong, not a stack trace, and not what the variable holds."""
    result = started(start, WEBHOOK_SECRET=secret)
    assert (result.returncode, result.stdout) == (2, ""), result.stderr
    assert re.fullmatch(r"[\w.-]+: WEBHOOK_SECRET: [^\n]+\n", result.stderr), result.stderr
    for word in (secret or "").split():
        held = word.partition("_")[2]
        assert len(held) < 4 or held not in result.stderr


@pytest.mark.parametrize("start", LISTENING, indirect=True)
@pytest.mark.parametrize("port", ["http", "-1", "65536", "80 80"])
def test_a_port_that_is_none(start, port):
    result = started(start, PORT=port)
    assert (result.returncode, result.stdout) == (2, "") and re.fullmatch(r"[\w.-]+: PORT: [^\n]+\n", result.stderr), result.stderr


@pytest.mark.parametrize("start", ["python"], indirect=True)
def test_public_keys_without_their_package(start, tmp_path):
    (tmp_path / "cryptography.py").write_text("raise ImportError('there is none')")
    result = started(start, WEBHOOK_SECRET=PUBLIC_KEY, PYTHONPATH=str(tmp_path))
    assert (result.returncode, result.stderr) == (2, "receiver.py: WEBHOOK_SECRET: public keys need the package cryptography\n")


@pytest.mark.parametrize("start", LISTENING, indirect=True)
def test_what_could_not_be_handled_comes_again(start):
    receiver = start(SECRET)
    headers, body = delivery(SECRET, body=b"not JSON")
    assert [receiver.deliver(headers, body) for _ in range(2)] == [500, 500], "it is not taken for handled"


@pytest.mark.parametrize("start", LISTENING, indirect=True)
def test_limits_of_http(start):
    receiver = start(SECRET)
    assert receiver.deliver(*delivery(SECRET, body=b'"' + b"x" * 60000 + b'"')) in (204, 500)
    try:
        assert receiver.deliver(*delivery(SECRET, body=b"x" * 70000)) in (413, 401)
    except (BrokenPipeError, ConnectionResetError):
        pass  # it need not read to the end
    assert receiver.deliver({}, None, method="GET") in (405, 501)
    with socket.create_connection(("127.0.0.1", receiver.port)) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: nonsense\r\n\r\n")
        assert re.match(rb"HTTP/1.1 4\d\d", connection.recv(100))
    assert receiver.deliver(*delivery(SECRET)) == 204


# --- v1a -----------------------------------------------------------------------------------------------------


class Pair:
    """Keys of ed25519, as `whsk_` and `whpk_`."""

    def __init__(self):
        ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
        serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")
        self.private = ed25519.Ed25519PrivateKey.generate()
        raw = self.private.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        self.public = "whpk_" + base64.b64encode(raw).decode()

    def sign(self, _, webhook_id, timestamp, body):
        return "v1a," + base64.b64encode(self.private.sign(b"%s.%s.%s" % (webhook_id.encode(), timestamp.encode(), body))).decode()


def test_public_keys(start):
    pair, old = Pair(), Pair()
    receiver = start(old.public, pair.public, SECRET)
    headers, body = delivery(None, sign=pair.sign)
    assert receiver.deliver(headers, body) == 204 and receiver.printed(1)[0].startswith("handled")
    assert receiver.deliver(headers, body) == 204 and receiver.printed(1)[0].startswith("again")
    assert receiver.deliver(*delivery(None, sign=old.sign)) == 204 and receiver.deliver(*delivery(SECRET)) == 204
    assert receiver.deliver(headers, body.replace(b"critical", b"info")) == 401
    assert receiver.deliver(altered(headers, webhook_id=next(ids)), body) == 401
    assert receiver.deliver(*delivery(None, sign=Pair().sign)) == 401
    assert receiver.deliver(*delivery(None, sign=lambda *words: pair.sign(*words)[:-8])) == 401
    # A public key is known to all: as a secret of HMAC it proves nothing.
    as_secret = "whsec_" + pair.public[len("whpk_"):]
    assert receiver.deliver(*delivery(as_secret)) == 401


# --- the script ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", ["shell"], indirect=True)
def test_the_script_as_a_cgi_program(start):
    receiver = start(SECRET)
    headers, body = delivery(SECRET)

    def answer(headers, body, **more):
        named = {"HTTP_" + name.upper().replace("-", "_"): value for name, value in headers.items()}
        result = receiver.run({}, body + b"of the next request", GATEWAY_INTERFACE="CGI/1.1", CONTENT_LENGTH=str(len(body)), **named, **more)
        assert result.returncode == 0
        return result.stdout.split(b"\r\n")[0]
    assert answer(headers, body) == b"Status: 204 No Content"
    assert answer(headers, body) == b"Status: 204 No Content"
    assert answer(headers, body + b" ") == b"Status: 401 Unauthorized"
    assert answer(headers, body, WEBHOOK_SECRET="") == b"Status: 500 Internal Server Error"


@pytest.mark.parametrize("start", ["shell"], indirect=True)
def test_the_example_of_the_readme_keeps_what_was_verified(start, tmp_path):
    """Also when the same delivery arrives once more, or one that is rejected."""
    (example,) = [block for block in re.findall(r"^```sh\n(.*?)^```$", (RECEIVERS / "README.md").read_text(), re.M | re.S) if "verify-webhook" in block]
    example = re.sub(r"^export .*\n", "", example, flags=re.M)
    shutil.copy(RECEIVERS / "shell" / "verify-webhook", tmp_path)
    (tmp_path / "seen").mkdir()
    headers, body = delivery(SECRET)
    other, _ = delivery(OTHER_SECRET, body=b"forged")
    for case, sent in ((headers, body), (headers, body), (other, b"forged")):
        (tmp_path / "body").write_bytes(sent)
        named = {name.upper().replace("-", "_"): value for name, value in case.items()}
        subprocess.run(["sh", "-eu", "-c", example], cwd=tmp_path, env={**os.environ, "WEBHOOK_SECRET": SECRET, "WEBHOOK_SEEN": str(tmp_path / "seen"), **named}, check=True, timeout=PATIENCE)
        assert (tmp_path / "verified").read_bytes() == body
        assert sorted(path.name for path in tmp_path.iterdir()) == ["body", "seen", "verified", "verify-webhook"]


@pytest.mark.parametrize("start", ["shell"], indirect=True)
def test_the_script_takes_binary_bodies_of_every_length(start):
    receiver = start(SECRET, NEXT_SECRET)
    for body in (b"", b"\0", bytes(range(256)), b"\n\n", os.urandom(20000), b"x" * 65536):
        headers, _ = delivery(NEXT_SECRET, body=body)
        result = receiver.run(headers, body)
        assert (result.returncode, result.stdout) == (0, body), result.stderr
    headers, body = delivery(SECRET, body=b"x" * 65537)
    assert receiver.run(headers, body).returncode == 1


@pytest.mark.parametrize("start", ["shell"], indirect=True)
def test_no_process_gets_the_secret_as_an_argument(start, tmp_path):
    """Every tool that the script calls notes how it was called."""
    tools = tmp_path.parent / (tmp_path.name + "-tools")
    tools.mkdir()
    for name in ("openssl", "od", "tr", "head", "wc", "cat", "date", "mktemp", "rm", "mkdir"):
        (tools / name).write_text("#!/bin/sh\nprintf '%%s ' '%s' \"$@\" >>'%s/called'\nexec '%s' \"$@\"\n" % (name, tools, shutil.which(name)))
        (tools / name).chmod(0o755)
    receiver = start(SECRET, PATH="%s:%s" % (tools, os.environ["PATH"]))
    assert receiver.deliver(*delivery(SECRET)) == 204
    called = (tools / "called").read_text()
    raw = base64.b64decode(SECRET[len("whsec_"):])
    assert "dgst" in called
    for form in (SECRET[len("whsec_"):], raw.hex(), bytes(b ^ 0x36 for b in raw).hex(), bytes(b ^ 0x5C for b in raw).hex()):
        assert form not in called


# --- the reference library -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """reference(call, ...): its answer."""
    if not shutil.which("npm"):
        pytest.skip("no npm on this machine: nothing is held against the reference library")
    folder = tmp_path_factory.mktemp("reference")
    for path in REFERENCE.iterdir():
        if path.is_file():
            shutil.copy(path, folder / path.name)
    installed = subprocess.run(["npm", "ci", "--ignore-scripts"], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert installed.returncode == 0, installed.stdout[-3000:]
    process = subprocess.Popen(["node", "reference.mjs"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(call, body, **question):
        process.stdin.write(json.dumps({"call": call, "body": base64.b64encode(body).decode(), **question}) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())
    yield ask
    process.kill()
    process.communicate()


def test_the_lock_file_names_no_host():
    assert "resolved" not in (REFERENCE / "package-lock.json").read_text()


def test_what_the_reference_signs_is_taken(start, reference):
    receiver = start(SECRET, NEXT_SECRET)

    def by_reference(secret, webhook_id, timestamp, body):
        return reference("sign", body, secret=secret, id=webhook_id, timestamp=int(timestamp))
    for secret in (SECRET, NEXT_SECRET):
        assert receiver.deliver(*delivery(secret, sign=by_reference)) == 204
    assert receiver.deliver(*delivery(OTHER_SECRET, sign=by_reference)) == 401
    headers, body = delivery(SECRET, sign=by_reference)
    assert headers["webhook-signature"] == signature_v1(SECRET, headers["webhook-id"], headers["webhook-timestamp"], body)


def test_receiver_and_reference_are_of_one_mind(start, reference):
    """On what both are given: nobody takes what the other refuses."""
    receiver = start(SECRET)
    headers, body = delivery(SECRET)
    cases = [delivery(SECRET), delivery(OTHER_SECRET, SECRET), delivery(SECRET, age=200), delivery(SECRET, age=-200), delivery(OTHER_SECRET), delivery(SECRET, age=400),
             delivery(SECRET, age=-400), (altered(headers, webhook_id=next(ids)), body), (headers, body.replace(b"critical", b"warning")),
             (altered(headers, webhook_timestamp=str(int(headers["webhook-timestamp"]) - 1)), body), (altered(headers, webhook_signature="v2," + headers["webhook-signature"][3:]), body),
             (altered(headers, webhook_signature=""), body)]
    said = [(receiver.deliver(*case) == 204, reference("verify", case[1], secret=SECRET, headers=case[0])) for case in cases]
    assert all(ours == theirs for ours, theirs in said), said
    assert {ours for ours, _ in said} == {True, False}


def test_the_readme_names_every_receiver():
    readme = (RECEIVERS / "README.md").read_text()
    for path in RECEIVERS.rglob("*"):
        if path.is_file() and path.name != "README.md":
            assert "`%s`" % path.relative_to(RECEIVERS) in readme, path
