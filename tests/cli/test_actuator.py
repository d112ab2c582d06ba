"""provisor-actuate: grants of a loop of the real service become quotas of cgroups (folders laid out like them) and limits of
pods (a server that records what it is asked); names that would lead out of the root, what has vanished, loops without samples,
a service that is away, and a process that is killed and starts again."""
import json
import os
import shutil
import signal
import ssl
import subprocess
import time

import pytest

from conftest import BUILD, PATIENCE, Result
from stub import JSON, stub

ACTUATE = BUILD / "clients" / "actuator" / "provisor-actuate"
LOOPS = "/v1/quota-loops/"


class Loop:
    """A loop of team alpha on workers of 4 cores, whose executors are granted what a test says: they ask for all cores, or for none."""

    def __init__(self, client, name, cgroup=True, workers=("w1", "w2")):
        self.client, self.name, self.sequence = client, name, 0
        client.put(LOOPS + name, {"workers": [{"name": w, "cores": 4} for w in workers], "strategy": "edf_pure", "gamma": 0,
                                  "applications": [{"name": a, "release_s": 0, "deadline_s": 100} for a in ("etl", "report")],
                                  **({"cgroup": {}} if cgroup else {})}, 201)

    def sample(self, **cores):
        """Executors by id, with - for what is no letter of a keyword; of worker w1, or of w2 where the id ends so."""
        self.sequence += 1
        executors = [self.executor(id, wanted) for id, wanted in cores.items()]
        reply = self.client.post(LOOPS + self.name + "/samples", {"sequence": self.sequence, "at_s": 1000 + self.sequence, "executors": executors}).json()
        assert {g["id"]: g["cores"] for g in reply["grants"]} == cores
        return reply

    def executor(self, id, cores, application="etl"):
        """core_s: a stage that begins now asks for what its integral begins with, of tasks enough."""
        return {"id": id, "application": application, "worker": "w2" if id.endswith("w2") else "w1", "stage": self.sequence,
                "tasks": 1000, "completed_tasks": 0, "stage_deadline_s": 1e9, "initial_cores": cores}


@pytest.fixture
def loop(client, name):
    return Loop(client, name)


class Actuator:
    def __init__(self, folder, url, token, **configuration):
        self.folder, self.configuration = folder, configuration
        self.environment = {**{k: v for k, v in os.environ.items() if not k.startswith(("PROVISOR_", "KUBERNETES_"))}, "HOME": str(folder), "PROVISOR_URL": url, "PROVISOR_TOKEN": token}
        self.file = folder / "actuate.yaml"
        self.process = None
        self.log = folder / "actuate.log"

    def write(self, **more):
        self.configuration.update(more)
        self.file.write_text(json.dumps({k: v for k, v in self.configuration.items() if v is not None}))

    def once(self, *words, status=0):
        self.write()
        made = subprocess.run([str(ACTUATE), "--once", *words, str(self.file)], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
        result = Result(made.returncode, made.stdout, made.stderr)
        assert "Sanitizer" not in made.stderr and "runtime error:" not in made.stderr, result
        assert made.returncode == status, result
        return result

    def start(self, *words):
        self.write()
        with self.log.open("a") as log:
            self.process = subprocess.Popen([str(ACTUATE), *words, str(self.file)], env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def stop(self, status=0):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=PATIENCE) == status, self.said()
        self.process = None
        return self.said()

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def said(self):
        text = self.log.read_text()
        assert "Sanitizer" not in text and "runtime error:" not in text, text
        return text


@pytest.fixture
def make_actuator(service, tmp_path):
    made = []

    def make(url=service.base_url, token=service.alpha_token, **configuration):
        made.append(Actuator(tmp_path, url, token, **configuration))
        return made[-1]
    yield make
    for actuator in made:
        actuator.kill()


class Tree:
    """Folders laid out like cgroups of version 2."""

    def __init__(self, root):
        self.root = root

    def make(self, *names, cpu_max="max 100000"):
        for name in names:
            (self.root / name).mkdir(parents=True)
            (self.root / name / "cpu.max").write_text(cpu_max + "\n")
        return self

    def __getitem__(self, name):
        return (self.root / name / "cpu.max").read_text().strip()


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "cgroup").mkdir()
    return Tree(tmp_path / "cgroup")


def eventually(holds, what=""):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            if holds():
                return
        except (OSError, ValueError):
            pass
        time.sleep(0.02)
    raise AssertionError(what() if callable(what) else what)


# --- cgroups --------------------------------------------------------------------------------------------


def test_grants_become_quotas_and_only_what_differs_is_written(loop, tree, make_actuator):
    tree.make("etl/a", "etl/b", "etl/c-w2")
    actuator = make_actuator(loop=loop.name, cgroup={"root": str(tree.root), "place": "{application}/{executor}"})
    actuator.once()  # before the first sample there is nothing to apply
    assert tree["etl/a"] == "max 100000"
    loop.sample(**{"a": 1.5, "b": 0, "c-w2": 0.05})
    assert "etl/a: max 100000 -> 150000 100000" in actuator.once("--dry-run").out.replace("a etl/a", "etl/a")
    assert tree["etl/a"] == "max 100000"
    actuator.once()
    assert (tree["etl/a"], tree["etl/b"], tree["etl/c-w2"]) == ("150000 100000", "1000 100000", "5000 100000")
    before = {n: (tree.root / "etl" / n / "cpu.max").stat().st_mtime_ns for n in ("a", "b", "c-w2")}
    loop.sample(**{"a": 1.5, "b": 0.5, "c-w2": 0.05})
    actuator.once()
    changed = {n for n in before if (tree.root / "etl" / n / "cpu.max").stat().st_mtime_ns != before[n]}
    assert changed == {"b"} and tree["etl/b"] == "50000 100000"


def test_a_pipe_in_place_of_a_quota_holds_up_nobody(loop, tree, make_actuator):
    tree.make("b")
    (tree.root / "a").mkdir()
    os.mkfifo(tree.root / "a" / "cpu.max")
    loop.sample(a=1, b=2)
    make_actuator(loop=loop.name, cgroup={"root": str(tree.root)}).once(status=1)
    assert tree["b"] == "200000 100000"


def test_the_files_of_version_1(loop, tree, make_actuator):
    folder = tree.root / "a"
    folder.mkdir()
    (folder / "cpu.cfs_quota_us").write_text("-1\n")
    (folder / "cpu.cfs_period_us").write_text("50000\n")
    loop.sample(a=0.3)
    actuator = make_actuator(loop=loop.name, on_exit="restore", poll_s=0.05, cgroup={"root": str(tree.root)})
    actuator.start()
    eventually(lambda: (folder / "cpu.cfs_quota_us").read_text() == "30000\n", actuator.said)
    assert (folder / "cpu.cfs_period_us").read_text() == "100000\n"
    actuator.stop()
    assert ((folder / "cpu.cfs_quota_us").read_text(), (folder / "cpu.cfs_period_us").read_text()) == ("-1\n", "50000\n")


def test_a_loop_without_cgroup_and_workers_of_ones_own(client, name, tree, make_actuator):
    loop = Loop(client, name, cgroup=False)
    tree.make("a", "x/b-w2")
    loop.sample(**{"a": 2, "b-w2": 1})
    make_actuator(loop=name, workers=["w2"], cgroup={"root": str(tree.root), "period_us": 50000, "executors": {"b-w2": "x/b-w2"}}).once()
    assert (tree["a"], tree["x/b-w2"]) == ("max 100000", "50000 50000")


def test_less_comes_before_more_and_more_waits_where_less_fails(loop, tree, make_actuator):
    """b grows only after a has shrunk; while a cannot shrink, b does not grow, and others' workers are not affected."""
    tree.make("a", "b", "c-w2")
    loop.sample(**{"b": 1, "a": 3, "c-w2": 1})
    actuator = make_actuator(loop=loop.name, cgroup={"root": str(tree.root)})
    words = actuator.once().err
    loop.sample(**{"b": 3, "a": 1, "c-w2": 2})
    lines = [line for line in actuator.once().err.splitlines() if " -> " in line]
    assert lines[0].startswith("provisor-actuate: a at a: 300000 100000 -> 100000"), (lines, words)
    loop.sample(**{"b": 3.5, "a": 0.5, "c-w2": 3})
    (tree.root / "a" / "cpu.max").unlink()
    (tree.root / "a" / "cpu.max").mkdir()
    assert "a: its quota cannot be read" in actuator.once(status=1).err
    assert (tree["b"], tree["c-w2"]) == ("300000 100000", "300000 100000")
    (tree.root / "a" / "cpu.max").rmdir()
    (tree.root / "a" / "cpu.max").write_text("100000 100000\n")
    actuator.once()
    assert (tree["a"], tree["b"]) == ("50000 100000", "350000 100000")


def test_a_file_that_is_a_link_is_not_written(loop, tree, make_actuator):
    (tree.root / "a").mkdir()
    (tree.root / "a" / "cpu.max").symlink_to(tree.root / "elsewhere")
    (tree.root / "elsewhere").write_text("max 100000\n")
    loop.sample(a=1)
    assert "a link or something that is no folder" in make_actuator(loop=loop.name, cgroup={"root": str(tree.root)}).once(status=1).err
    assert (tree.root / "elsewhere").read_text() == "max 100000\n"


def test_what_has_vanished_is_said_once_and_the_others_go_on(loop, tree, make_actuator):
    tree.make("a", "b")
    loop.sample(a=1, b=1)
    actuator = make_actuator(loop=loop.name, poll_s=0.05, cgroup={"root": str(tree.root)}).start()
    eventually(lambda: tree["b"] == "100000 100000", actuator.said)
    shutil.rmtree(tree.root / "a")
    for cores in (2, 2.5, 3):
        loop.sample(a=1, b=cores)
        eventually(lambda: tree["b"] == "%d 100000" % (cores * 100000), actuator.said)
    assert actuator.said().count("there is no cgroup") == 1
    tree.make("a", cpu_max="70000 100000")  # another one of its name
    eventually(lambda: tree["a"] == "100000 100000", actuator.said)
    actuator.stop()


@pytest.mark.parametrize("id", ["..", ".", "../outside", "/etc", "a/../../outside", "nul\u0001"])
def test_no_name_leads_out_of_the_root(client, name, tree, tmp_path, make_actuator, id):
    if id.startswith("nul"):
        with stub((200, {**JSON, "ETag": '"1"'}, json.dumps({"sequence": 1, "executors": [{"id": id, "application": "etl", "worker": "w1", "cores": 1}]}))) as server:
            assert "cannot be part of a place" in make_actuator(url=server.url, loop=name, cgroup={"root": str(tree.root)}).once(status=1).err
        return
    Tree(tmp_path).make("outside")
    (tmp_path / "cpu.max").write_text("max 100000\n")
    (tree.root / "cpu.max").write_text("max 100000\n")
    tree.make("good")
    Loop(client, name).sample(**{id: 1, "good": 1})
    for place in ("{executor}", "x{executor}", "good/{executor}"):
        result = make_actuator(loop=name, cgroup={"root": str(tree.root), "place": place, "executors": {"good": "good"}}).once(status=1)
        assert "cannot be part of a place" in result.err or "." not in place, result
    assert (tmp_path / "cpu.max").read_text() == (tree.root / "cpu.max").read_text() == "max 100000\n"
    assert Tree(tmp_path)["outside"] == "max 100000" and tree["good"] == "100000 100000"


def test_no_place_leads_out_of_the_root_either(client, name, tree, tmp_path, make_actuator):
    """Of a pattern that makes ".." of a harmless name, and in the configuration's own map."""
    (tmp_path / "cpu.max").write_text("max 100000\n")
    (tree.root / "a").mkdir()
    Loop(client, name).sample(**{"x": 1})
    for places in ({"place": "..//{executor}"}, {"place": "../{executor}/.."}, {"executors": {"x": "../cgroup"}}, {"executors": {"x": "a/../.."}}, {"executors": {"x": "/etc"}}, {"executors": {"x": "a//b"}}):
        result = make_actuator(loop=name, cgroup={"root": str(tree.root), **places}).once(status=1)
        assert "would lead out of the root" in result.err, result
    assert (tmp_path / "cpu.max").read_text() == "max 100000\n"


def test_no_link_is_followed(client, name, tree, tmp_path, make_actuator):
    Tree(tmp_path).make("outside", "other/deep")
    (tree.root / "a").symlink_to(tmp_path / "outside")
    (tree.root / "etl").symlink_to(tmp_path / "other")
    Loop(client, name).sample(a=1, deep=1)
    result = make_actuator(loop=name, cgroup={"root": str(tree.root), "executors": {"deep": "etl/deep"}}).once(status=1)
    assert result.err.count("a link or something that is no folder") == 2, result
    assert Tree(tmp_path)["outside"] == Tree(tmp_path)["other/deep"] == "max 100000"


def test_who_leaves_the_loop_gets_back_what_it_had(loop, tree, make_actuator):
    tree.make("a", "b", cpu_max="250000 100000")
    loop.sample(a=1, b=1)
    actuator = make_actuator(loop=loop.name, poll_s=0.05, cgroup={"root": str(tree.root)}).start()
    eventually(lambda: tree["a"] == tree["b"] == "100000 100000", actuator.said)
    loop.sample(b=2)
    eventually(lambda: tree["a"] == "250000 100000" and tree["b"] == "200000 100000", actuator.said)
    actuator.stop()
    assert tree["b"] == "200000 100000"  # on_exit: keep


def test_what_others_write_is_put_right(loop, tree, make_actuator):
    tree.make("a")
    loop.sample(a=1)
    actuator = make_actuator(loop=loop.name, poll_s=0.05, cgroup={"root": str(tree.root)}).start()
    eventually(lambda: tree["a"] == "100000 100000", actuator.said)
    (tree.root / "a" / "cpu.max").write_text("max 100000\n")
    eventually(lambda: tree["a"] == "100000 100000", actuator.said)
    actuator.stop()


# --- no samples, no service, no process ----------------------------------------------------------------


@pytest.mark.parametrize("on_stale,quotas", [("keep", ("200000 100000", "1000 100000")), ("release", ("max 100000", "max 100000")), ("floor", ("200000 100000", "40000 100000"))])
def test_without_samples(loop, tree, make_actuator, on_stale, quotas):
    tree.make("a", "b")
    loop.sample(a=2, b=0)
    actuator = make_actuator(loop=loop.name, poll_s=0.05, stale_after_s=0.5, on_stale=on_stale, floor_cores=0.4, cgroup={"root": str(tree.root)}).start()
    eventually(lambda: "no sample of the loop" in actuator.said() and (tree["a"], tree["b"]) == quotas, actuator.said)
    loop.sample(a=1, b=0)
    eventually(lambda: "has samples again" in actuator.said() and (tree["a"], tree["b"]) == ("100000 100000", "1000 100000"), actuator.said)
    actuator.stop()


def test_a_loop_with_few_samples(client, name, tree, make_actuator):
    """It is read more often than it has samples, so that their end and new terms are noticed."""
    path, reads = LOOPS + name, []
    client.put(path, {"workers": [{"name": "w1", "cores": 4}], "strategy": "edf_pure", "gamma": 0, "controller": {"sample_s": 1e9},
                      "applications": [{"name": "etl", "release_s": 0, "deadline_s": 100}]}, 201)
    document = client.get(path).json()

    def answer(handler):
        reads.append(time.monotonic())
        text = json.dumps(document).encode()
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text)
    with stub(answer) as server:
        actuator = make_actuator(url=server.url, loop=name, stale_after_s=0.5, on_stale="release", cgroup={"root": str(tree.root)}).start()
        eventually(lambda: len(reads) > 3 and "for 0.5 s: quotas become" in actuator.said(), actuator.said)
        actuator.stop()


def test_a_service_that_goes_and_comes(make_service, tmp_path, tree):
    service = make_service()
    token = service.token("alpha")
    service.start()
    loop = Loop(service.client(token), "nightly")
    tree.make("a")
    loop.sample(a=1)
    actuator = Actuator(tmp_path, service.base_url, token, loop="nightly", poll_s=0.05, stale_after_s=0.3, on_stale="release", cgroup={"root": str(tree.root)}).start()
    try:
        eventually(lambda: tree["a"] == "100000 100000", actuator.said)
        service.stop()
        eventually(lambda: tree["a"] == "max 100000", actuator.said)
        service.start()
        loop.sample(a=2)
        eventually(lambda: tree["a"] == "200000 100000", actuator.said)
        assert "is read again" in actuator.said()
        assert actuator.said().count("no reply from") == 1
        actuator.stop()
    finally:
        actuator.kill()


def test_not_modified_is_no_answer_to_the_first_question(tree, make_actuator):
    tree.make("a")
    with stub((304, {}, "")) as server:
        result = make_actuator(url=server.url, loop="x", cgroup={"root": str(tree.root)}).once(status=1)
    assert "is no quota loop" in result.err


def test_two_with_one_state_file(loop, tree, tmp_path, make_actuator):
    """The second would take quotas of the first for what was there before."""
    tree.make("a")
    loop.sample(a=1)
    state = tmp_path / "state.json"
    first = make_actuator(loop=loop.name, poll_s=0.05, state_file=str(state), cgroup={"root": str(tree.root)}).start()
    eventually(lambda: tree["a"] == "100000 100000", first.said)
    second = make_actuator(loop=loop.name, state_file=str(state), cgroup={"root": str(tree.root)})
    assert "another provisor-actuate that runs has the state_file" in second.once(status=1).err
    second.once("--dry-run")
    first.kill()
    second.once()
    assert json.loads(state.read_text())["a"]["quota"] == "max 100000"


def test_killed_and_started_again(loop, tree, tmp_path, make_actuator):
    """The state file knows what was there before the first process; the second puts it back, also of an executor that left meanwhile."""
    tree.make("a", "b", cpu_max="300000 100000")
    loop.sample(a=1, b=1)
    state = tmp_path / "state.json"
    actuator = make_actuator(loop=loop.name, poll_s=0.05, on_exit="restore", state_file=str(state), cgroup={"root": str(tree.root)}).start()
    eventually(lambda: tree["a"] == tree["b"] == "100000 100000", actuator.said)
    actuator.kill()
    assert json.loads(state.read_text())["a"]["quota"] == "300000 100000"
    loop.sample(a=2)
    actuator.start()
    eventually(lambda: tree["a"] == "200000 100000" and tree["b"] == "300000 100000", actuator.said)
    actuator.stop()
    assert tree["a"] == "300000 100000" and json.loads(state.read_text()) == {}


def test_a_state_file_of_somebody_else_is_refused(loop, tree, tmp_path, make_actuator):
    (tmp_path / "state.json").write_text("[1]")
    actuator = make_actuator(loop=loop.name, state_file=str(tmp_path / "state.json"), cgroup={"root": str(tree.root)})
    assert "is not what this program writes" in actuator.once(status=1).err
    assert (tmp_path / "state.json").read_text() == "[1]"


def test_an_unchanged_loop_is_answered_without_a_body(client, name, tree, make_actuator):
    body = json.dumps({"sequence": 1, "at_s": 1, "executors": [{"id": "a", "application": "etl", "worker": "w1", "cores": 0.5}], "controller": {"sample_s": 1}})
    tree.make("a")
    with stub((200, {**JSON, "ETag": '"one"'}, body), (304, {"ETag": '"one"'}, "")) as server:
        actuator = make_actuator(url=server.url, loop=name, poll_s=0.05, cgroup={"root": str(tree.root)}).start()
        eventually(lambda: len(server.requests) >= 4 and tree["a"] == "50000 100000", actuator.said)
        actuator.stop()
    assert [r[2].get("If-None-Match") for r in server.requests[:3]] == [None, '"one"', '"one"']


def test_what_is_no_loop_changes_nothing(name, tree, make_actuator):
    tree.make("a")
    for text in ("{}", '{"executors": [{"id": "a", "cores": 1}]}', '{"executors": [{"id": "a", "application": "x", "worker": "w", "cores": -1}]}', "[]"):
        with stub((200, JSON, text)) as server:
            make_actuator(url=server.url, loop=name, cgroup={"root": str(tree.root)}).once(status=1)
    assert tree["a"] == "max 100000"


def test_no_loop_of_that_name(tree, make_actuator):
    assert "there is no quota loop of that name" in make_actuator(loop="none", cgroup={"root": str(tree.root)}).once(status=1).err


@pytest.mark.parametrize("configuration,words", [
    ({}, "loop is required"), ({"loop": "x"}, "either cgroup or kubernetes is required"), ({"loop": "x", "cgroup": {}}, "cgroup.root must be"),
    ({"loop": "x", "cgroup": {"root": "/tmp", "path": "y"}}, "cgroup.path is no setting"), ({"loop": "x", "on_stale": "panic", "cgroup": {"root": "/tmp"}}, "on_stale must be keep, release or floor"),
    ({"loop": "x", "stale_after_s": 0, "cgroup": {"root": "/tmp"}}, "stale_after_s must be a number from 0.1"), ({"loop": "x", "cgroup": {"root": "/tmp", "place": "{pod}"}}, "may hold {executor}"),
    ({"loop": "x", "cgroup": {"root": "/tmp"}, "kubernetes": {}}, "either cgroup or kubernetes"), ({"loop": "x", "kubernetes": {}}, "kubernetes.api is required"),
    ({"loop": "x", "kubernetes": {"api": "http://127.0.0.1:1"}}, "kubernetes.namespace is required"), ({"loop": "x", "workers": [], "cgroup": {"root": "/tmp"}}, "workers must be a list")])
def test_what_is_wrong_in_the_configuration_is_named(make_actuator, configuration, words):
    result = make_actuator(**configuration).once(status=2)
    assert words in result.err, result


# --- Kubernetes ------------------------------------------------------------------------------------------


class Cluster:
    """Pods of one container each, and what a server of their API is asked."""

    def __init__(self, answers=()):
        self.answers, self.patches, self.gets, self.tokens = list(answers), [], [], []

    def __call__(self, handler):
        method, path, headers, body = handler.server.requests[-1]
        self.tokens.append(headers.get("Authorization"))
        status, reply = 200, {"kind": "Pod", "spec": {"containers": [{"name": "sidecar"}, {"name": "main", "resources": {"limits": {"cpu": "2"}, "requests": {"cpu": "500m"}}}]}}
        if method == "PATCH":
            self.patches.append((path, headers["Content-Type"], json.loads(body)))
            if self.answers:
                status, reply = self.answers.pop(0)
        else:
            self.gets.append(path)
        if "gone" in path:
            status, reply = 404, {"kind": "Status", "message": 'pods "gone" not found'}
        text = json.dumps(reply).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text)

    def cores(self):
        return [(p.split("/")[-2], c["resources"]["limits"]["cpu"]) for p, _, body in self.patches for c in body["spec"]["containers"]]


def pods(server, folder, **more):
    (folder / "token").write_text("t" * 1500 + "\n")  # as long as those of service accounts are
    return {"api": server.url + "/", "namespace": "spark", "container": "main", "token_file": str(folder / "token"), **more}


def test_pods_are_resized(loop, tmp_path, make_actuator):
    cluster = Cluster()
    loop.sample(**{"a": 1.35, "b": 0})
    with stub(cluster) as server:
        make_actuator(loop=loop.name, kubernetes=pods(server, tmp_path)).once()
    assert sorted(cluster.gets) == ["/api/v1/namespaces/spark/pods/a", "/api/v1/namespaces/spark/pods/b"]
    assert sorted(cluster.patches, key=lambda p: p[0]) == [
        ("/api/v1/namespaces/spark/pods/%s/resize" % pod, "application/strategic-merge-patch+json",
         {"spec": {"containers": [{"name": "main", "resources": {"limits": {"cpu": cores}, "requests": {"cpu": cores}}}]}}) for pod, cores in (("a", "1350m"), ("b", "1m"))]
    assert set(cluster.tokens) == {"Bearer " + "t" * 1500}


def test_requests_can_be_left_as_they_are_and_milli_cores_are_rounded_down(name, tmp_path, make_actuator):
    """0.35 is a little less than 350 thousandths as a double, but is meant to be; 0.0999 are 99."""
    cluster = Cluster()
    executors = [{"id": id, "application": "etl", "worker": "w1", "cores": cores} for id, cores in (("a", 0.35), ("b", 0.0999), ("c", 1.9999), ("d", 0.0001))]
    with stub((200, JSON, json.dumps({"sequence": 1, "executors": executors}))) as service, stub(cluster) as server:
        make_actuator(url=service.url, loop=name, kubernetes=pods(server, tmp_path, pod="spark-{executor}", requests="keep")).once()
    assert dict(cluster.cores()) == {"spark-a": "350m", "spark-b": "99m", "spark-c": "1999m", "spark-d": "1m"}
    assert all("requests" not in c["resources"] for _, _, body in cluster.patches for c in body["spec"]["containers"])


@pytest.mark.parametrize("status", [409, 429, 500, 503])
def test_what_passes_is_repeated(loop, tmp_path, make_actuator, status):
    cluster = Cluster([(status, {"kind": "Status", "message": "later"})])
    loop.sample(a=1)
    with stub(cluster) as server:
        make_actuator(loop=loop.name, kubernetes=pods(server, tmp_path)).once()
    assert cluster.cores() == [("a", "1000m")] * 2


@pytest.mark.parametrize("status,words", [(422, "does not take these cores: too much"), (403, "patch of pods/resize")])
def test_what_is_refused_is_said(loop, tmp_path, make_actuator, status, words):
    cluster = Cluster([(status, {"kind": "Status", "message": "too much"})])
    loop.sample(a=1)
    with stub(cluster) as server:
        result = make_actuator(loop=loop.name, kubernetes=pods(server, tmp_path)).once(status=1)
    assert words in result.err and len(cluster.patches) == 1, result


def test_what_the_node_cannot_give_is_said(loop, tmp_path, make_actuator):
    infeasible = {"kind": "Pod", "status": {"conditions": [{"type": "PodResizePending", "reason": "Infeasible", "message": "Node has 4 cores"}]}}
    cluster = Cluster([(200, infeasible)])
    loop.sample(a=1)
    with stub(cluster) as server:
        assert "Node has 4 cores" in make_actuator(loop=loop.name, kubernetes=pods(server, tmp_path)).once().err


def test_a_pod_that_is_gone_and_a_name_that_is_none(client, name, tmp_path, make_actuator):
    cluster = Cluster()
    Loop(client, name).sample(**{"gone": 1, "../secrets/x": 1, "Upper": 1, "a": 1})
    with stub(cluster) as server:
        result = make_actuator(loop=name, kubernetes=pods(server, tmp_path)).once(status=1)
    assert cluster.cores() == [("a", "1000m")] and "there is no such pod" in result.err, result
    assert "cannot be part of a place" in result.err and "'Upper' is no name of a pod" in result.err
    assert not any("secret" in path or "Upper" in path for _, path, _, _ in server.requests)


def test_in_a_cluster_the_api_is_found_and_its_certificate_is_checked(loop, tmp_path, make_actuator):
    """By the environment of every pod; the certificate is of an authority of its own."""
    authority = tmp_path / "ca.crt"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=kubernetes", "-days", "2",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(tmp_path / "key"), "-out", str(authority)], check=True, stderr=subprocess.DEVNULL)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority, tmp_path / "key")
    cluster = Cluster()
    loop.sample(a=1)
    with stub(cluster) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        actuator = make_actuator(loop=loop.name, kubernetes=pods(server, tmp_path, api=None, ca_file=str(authority)))
        del actuator.configuration["kubernetes"]["api"]
        actuator.environment.update(KUBERNETES_SERVICE_HOST="127.0.0.1", KUBERNETES_SERVICE_PORT_HTTPS=str(server.server_address[1]))
        actuator.once()
        assert cluster.cores() == [("a", "1000m")]
        actuator.configuration["kubernetes"]["ca_file"] = "/etc/ssl/certs/ca-certificates.crt"
        assert "no reply from https://127.0.0.1" in actuator.once(status=1).err
    assert len(cluster.patches) == 1


def test_an_api_that_is_away_is_asked_for_one_pod_a_round(loop, tmp_path, make_actuator):
    loop.sample(**{"p%d" % i: 0.05 for i in range(50)})
    with stub(Cluster()) as server:
        actuator = make_actuator(loop=loop.name, poll_s=0.05, kubernetes=pods(server, tmp_path))
    actuator.start()  # nobody listens there any more
    eventually(lambda: "no reply from" in actuator.said(), actuator.said)
    assert len([line for line in actuator.stop().splitlines() if "no reply from" in line]) == 1


def test_pods_get_back_what_they_had_and_the_token_is_read_again(loop, tmp_path, make_actuator):
    cluster = Cluster()
    loop.sample(**{"a": 1})
    with stub(cluster) as server:
        actuator = make_actuator(loop=loop.name, poll_s=0.05, on_exit="restore", kubernetes=pods(server, tmp_path)).start()
        eventually(lambda: len(cluster.patches) == 1, actuator.said)
        (tmp_path / "token").write_text("next")
        loop.sample(**{"a": 3})
        eventually(lambda: len(cluster.patches) == 2, actuator.said)
        time.sleep(0.3)
        actuator.stop()
    assert cluster.cores() == [("a", "1000m"), ("a", "3000m"), ("a", "2")] and cluster.tokens[-1] == "Bearer next"
    assert cluster.patches[-1][2]["spec"]["containers"][0]["resources"] == {"limits": {"cpu": "2"}, "requests": {"cpu": "500m"}}


# --- words ------------------------------------------------------------------------------------------------


def test_help_version_and_manual():
    def ask(*words, status=0):
        made = subprocess.run([str(ACTUATE), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert made.returncode == status, made
        return made.stdout or made.stderr
    assert ask("--help").startswith("Usage: provisor-actuate FILE [OPTION...]\n") and "--dry-run" in ask("--help")
    assert ask("--version").startswith("provisor-actuate ")
    assert ask("--man").startswith(".TH PROVISOR\\-ACTUATE 1 ")
    assert "needs FILE" in ask(status=2) and "--onec" in ask("--onec", "x", status=2)
