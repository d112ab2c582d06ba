"""The Dockerfile builds without a daemon, on a base made from the machine's own package source, and
its result runs as a user without rights.

The base (tests/throwaway_root.py) has the tag that the Dockerfile names; the image is built by buildah with chroot
isolation and started by chroot. Storage of its own, so images that the machine holds are neither seen nor touched.
"""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.request

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))
from ports import free_port  # noqa: E402
from throwaway_root import WORK, base_tar, run, tcp_database, wait_ready  # noqa: E402
TAG = "localhost/debian:12-slim"
USER = 10001


class Buildah:
    def __init__(self, directory):
        self.words = ["buildah", "--storage-driver", "vfs", "--root", directory / "storage", "--runroot", directory / "run"]

    def __call__(self, *words):
        return run(*self.words, *words, cwd=ROOT)


@pytest.fixture(scope="module")
def built():
    """built(tag, words of `buildah bud`): (inspected configuration, root of the mounted image)"""
    missing = [name for name in ("buildah", "debootstrap") if shutil.which(name) is None]
    if missing:
        pytest.skip("no image is built: install %s" % " and ".join(missing))
    base = base_tar()
    with tempfile.TemporaryDirectory(dir=WORK) as scratch:
        os.chmod(scratch, 0o755)
        buildah = Buildah(pathlib.Path(scratch))
        container = buildah("from", "scratch").strip()
        buildah("add", container, base, "/")
        buildah("commit", container, TAG)
        buildah("rm", container)

        def build(tag, *words):
            buildah("bud", "--isolation", "chroot", "--format", "docker", "--pull-never", "--layers", "--build-arg", "BASE=" + TAG,
                    "--tag", tag, *words, ROOT)
            configuration = json.loads(buildah("inspect", "--type", "image", tag))["Docker"]["config"]
            container = buildah("from", "--pull-never", tag).strip()
            return configuration, pathlib.Path(buildah("mount", container).strip().splitlines()[-1])
        yield build
        buildah("rm", "--all")


@pytest.fixture(scope="module")
def image(built):
    return built("localhost/provisor")


@pytest.fixture(scope="module")
def client_image(built):
    """Of the target for jobs of a pipeline."""
    return built("localhost/provisor-client", "--target", "client")


@pytest.fixture(scope="module")
def database():
    with tcp_database() as urls:
        yield urls


def in_image(tree, *words):
    return ["chroot", "--userspec=%d:%d" % (USER, USER), str(tree), *words]


def test_runs_as_a_user_without_rights_and_has_a_health_check(image):
    configuration, _ = image
    assert configuration["User"] == "%d:%d" % (USER, USER)
    assert configuration["Healthcheck"]["Test"] == ["CMD", "provisord-health", "/healthz"]
    assert configuration["Entrypoint"] == ["provisord"] and configuration["Cmd"] == ["serve"]


def test_ships_the_program_and_not_what_built_it(image):
    _, tree = image
    run(*in_image(tree, "ldd", "/usr/local/bin/provisord"))
    assert "not found" not in run(*in_image(tree, "ldd", "/usr/local/bin/provisord"))
    left = [n for n in ("gcc", "meson", "ninja", "apt-get.log") if (tree / "usr/bin" / n).exists()]
    assert left == [] and not (tree / "src").exists()


def test_lists_what_is_in_it(image):
    """Every package of the image, and the program as it lies there."""
    _, tree = image
    document = json.loads((tree / "usr/share/doc/provisor/sbom.spdx.json").read_text())
    listed = {p["name"]: p for p in document["packages"]}
    installed = run("dpkg-query", "--admindir", tree / "var/lib/dpkg", "-W", "-f", "${Package} ${Version}\n").splitlines()
    assert [line for line in installed if listed[line.split()[0]]["versionInfo"] != line.split()[1]] == [] and len(installed) > 50
    digest = hashlib.sha256((tree / "usr/local/bin/provisord").read_bytes()).hexdigest()
    assert listed["provisord"]["checksums"] == [{"algorithm": "SHA256", "checksumValue": digest}]
    assert listed["libbrotli1"]["licenseDeclared"] == "MIT", "copyright files are read"


def test_adds_little_to_its_base(image):
    """Program and libraries; the base itself is Debian's."""
    _, tree = image
    base = (WORK / "base.tar").stat().st_size
    size = int(run("du", "-sxB1", "--apparent-size", tree).split()[0])
    assert size - base < 40e6, "%.0f MB on a base of %.0f MB" % (size / 1e6, base / 1e6)


def test_starts_and_answers(image, database):
    configuration, tree = image
    port = free_port()
    env = dict(e.split("=", 1) for e in configuration["Env"])
    env.update(PROVISOR_LISTEN_ADDRESS="127.0.0.1", PROVISOR_LISTEN_PORT=str(port),
               PROVISOR_HEALTH_ADDRESS="127.0.0.1", PROVISOR_HEALTH_PORT=str(free_port()),
               PROVISOR_DATABASE_URL=database[0], PROVISOR_DATABASE_OWNER_URL=database[1])
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(in_image(tree, *configuration["Entrypoint"], *configuration["Cmd"]), env=env,
                                   stdout=log, stderr=log)
        try:
            wait_ready("http://127.0.0.1:%d" % port, process, log)
            health = configuration["Healthcheck"]["Test"][1:]
            with urllib.request.urlopen("http://127.0.0.1:%d/docs/" % port, timeout=5) as reply:
                assert b"provisor" in reply.read()
            # The image's own check, run inside it, sees the service; and sees that it is gone.
            run(*in_image(tree, *health), env=env)
        finally:
            process.terminate()
            process.wait(timeout=40)
        assert process.returncode == 0
        assert subprocess.run(in_image(tree, *health), env=env, stderr=subprocess.DEVNULL).returncode != 0


def test_the_client_image_runs_the_gate(client_image):
    """As a runner of GitLab does: a shell, without an entry point. The gate has its client, its libraries and certificates."""
    configuration, tree = client_image
    assert not configuration.get("Entrypoint") and configuration["User"] == "%d:%d" % (USER, USER)
    assert "not found" not in run(*in_image(tree, "ldd", "/usr/local/bin/provisor"))
    assert run(*in_image(tree, "provisor", "--version")).startswith("provisor ")
    gate = subprocess.run(in_image(tree, "sh", "-c", "cd && provisor-gate; status=$?; cat provisor-gate/gate.env; exit $status"), text=True, capture_output=True,
                          env={"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/bin", "HOME": "/tmp", "PROVISOR_GATE_APPLICATION": "nightly-etl", "PROVISOR_TOKEN": "x"})
    assert gate.returncode == 2 and "neither a deadline nor a limit" in gate.stderr and gate.stdout == "PROVISOR_GATE=error\n"
    assert (tree / "etc/ssl/certs/ca-certificates.crt").is_file()
    assert not [n for n in ("usr/bin/gcc", "usr/bin/meson", "usr/local/bin/provisord", "src") if (tree / n).exists()]


def test_compose_starts_the_service_after_a_healthy_database():
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    assert services["provisord"]["depends_on"] == {"database": {"condition": "service_healthy"}}
    assert all("healthcheck" in s for s in services.values())
    mounts = [v.split(":") for v in services["database"]["volumes"]]
    assert ["database", "/var/lib/postgresql/data"] in mounts
    files = [m[0] for m in mounts if m[0].startswith("./")]
    assert files and all((ROOT / f).is_file() for f in files)
