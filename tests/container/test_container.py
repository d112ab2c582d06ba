"""The Dockerfile builds without a daemon, on a base made from the machine's own package source, and
its result runs as a user without rights.

The base is what debootstrap makes (minbase), under the tag the Dockerfile names; the image is built by
buildah with chroot isolation and started by chroot. Storage of its own, so images that the machine
holds are neither seen nor touched. The base is kept in build-container/ for the next run.
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))
from ports import free_port  # noqa: E402
WORK = ROOT / "build-container"
TAG = "localhost/debian:12-slim"
USER = 10001


def run(*words, **kwargs):
    result = subprocess.run([str(w) for w in words], text=True, errors="replace", stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, **kwargs)
    assert result.returncode == 0, "%s: %s" % (words, result.stdout[-6000:])
    return result.stdout


def apt_sources():
    """(files to copy, mirror of bookworm, keyring or None), as the machine's apt is configured."""
    files = [p for p in [pathlib.Path("/etc/apt/sources.list"), *pathlib.Path("/etc/apt/sources.list.d").glob("*")]
             if p.is_file() and p.suffix in (".list", ".sources") and "bookworm" in p.read_text()]
    for path in files:
        for stanza in re.split(r"\n\s*\n", path.read_text()):
            fields = dict(re.findall(r"^([A-Za-z-]+):[ \t]*(.*)$", stanza, re.M))
            if "bookworm" in fields.get("Suites", "").split():
                return files, fields["URIs"].split()[0], fields.get("Signed-By")
            line = re.search(r"^deb\s+(?:\[(?P<options>[^]]*)\]\s+)?(?P<uri>\S+)\s+bookworm\s", stanza, re.M)
            if line:
                key = re.search(r"signed-by=(\S+)", line.group("options") or "")
                return files, line.group("uri"), key.group(1) if key else None
    pytest.skip("apt has no source for bookworm")


class Buildah:
    def __init__(self, directory):
        self.words = ["buildah", "--storage-driver", "vfs", "--root", directory / "storage", "--runroot", directory / "run"]

    def __call__(self, *words):
        return run(*self.words, *words, cwd=ROOT)


def make_base(path):
    """A tar of the smallest Debian 12 that apt works in."""
    files, mirror, keyring = apt_sources()
    with tempfile.TemporaryDirectory(dir=WORK) as scratch:
        tree = pathlib.Path(scratch) / "tree"
        options = ["--keyring=" + keyring] if keyring and keyring.startswith("/") else []
        run("debootstrap", "--variant=minbase", *options, "bookworm", tree, mirror)
        (tree / "etc/apt/sources.list").unlink(missing_ok=True)
        for source in files:
            target = tree / source.relative_to("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
        for conf in pathlib.Path("/etc/apt/apt.conf.d").glob("*"):
            if "Acquire::" in conf.read_text(errors="replace"):
                shutil.copy(conf, tree / "etc/apt/apt.conf.d")
        shutil.rmtree(tree / "var/cache/apt/archives", ignore_errors=True)
        part = path.with_suffix(".part")
        run("tar", "-C", tree, "--numeric-owner", "-cf", part, ".")
        part.rename(path)


@pytest.fixture(scope="module")
def image():
    """(inspected configuration, root of the mounted image)"""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    WORK.mkdir(exist_ok=True)
    base = WORK / "base.tar"
    if not base.is_file():
        make_base(base)
    with tempfile.TemporaryDirectory(dir=WORK) as scratch:
        os.chmod(scratch, 0o755)
        buildah = Buildah(pathlib.Path(scratch))
        container = buildah("from", "scratch").strip()
        buildah("add", container, base, "/")
        buildah("commit", container, TAG)
        buildah("rm", container)
        buildah("bud", "--isolation", "chroot", "--format", "docker", "--pull-never", "--build-arg", "BASE=" + TAG,
                "--tag", "localhost/provisor", ROOT)
        configuration = json.loads(buildah("inspect", "--type", "image", "localhost/provisor"))["Docker"]["config"]
        container = buildah("from", "--pull-never", "localhost/provisor").strip()
        yield configuration, pathlib.Path(buildah("mount", container).strip().splitlines()[-1])
        buildah("rm", "--all")


@pytest.fixture(scope="module")
def database():
    """(service URL, owner URL) by TCP: the image sees no socket of ours."""
    with tempfile.TemporaryDirectory(prefix="provisor-container-") as scratch:
        os.chmod(scratch, 0o755)
        port = free_port()
        command = ROOT / "ops" / "private-postgres"
        run(command, "start", "--data-dir", scratch, "--port", port)
        urls = [re.sub(r"@/provisor\?.*", "@127.0.0.1:%d/provisor" % port,
                       (pathlib.Path(scratch) / name).read_text().strip()) for name in ("database_url", "database_owner_url")]
        yield urls
        run(command, "stop", "--data-dir", scratch)


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
    assert listed["libjansson4"]["licenseDeclared"] == "MIT", "copyright files are read"


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
            status = None
            end = time.monotonic() + 30
            while status != 200 and time.monotonic() < end and process.poll() is None:
                try:
                    with urllib.request.urlopen("http://127.0.0.1:%d/readyz" % port, timeout=2) as reply:
                        status = reply.status
                except (urllib.error.URLError, OSError):
                    time.sleep(0.1)
            log.seek(0)
            assert status == 200, log.read()[-3000:]
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


def test_compose_starts_the_service_after_a_healthy_database():
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    assert services["provisord"]["depends_on"] == {"database": {"condition": "service_healthy"}}
    assert all("healthcheck" in s for s in services.values())
    mounts = [v.split(":") for v in services["database"]["volumes"]]
    assert ["database", "/var/lib/postgresql/data"] in mounts
    files = [m[0] for m in mounts if m[0].startswith("./")]
    assert files and all((ROOT / f).is_file() for f in files)
