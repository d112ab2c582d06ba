"""The Debian packages: built from the files of this checkout, looked at by lintian, and installed, run, upgraded from the version
before, removed and purged in a throw-away Debian 12.

The version before is made of the same tree: an older number, another default among the settings, and one file less. What is
built lies in build-packages/, always at the same path, so that ccache finds what it has compiled before.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))
from ports import free_port  # noqa: E402
from throwaway_root import base_tar, run, tcp_database, wait_ready  # noqa: E402

WORK = ROOT / "build-packages"
BEFORE = "0.1.9"
NOW = re.search(r"^  version: '([^']+)'", (ROOT / "meson.build").read_text(), re.M)[1]
SETTINGS = "etc/provisor/environment"
EXAMPLE = "usr/share/doc/provisord/examples/haproxy.cfg"
PACKAGES = ("provisord", "provisor", "provisor-doc")
ENVIRONMENT = dict(
    {k: v for k, v in os.environ.items() if not k.startswith(("PROVISOR_", "DEB_")) and k not in ("CC", "CFLAGS", "LDFLAGS")},
    PATH="/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin", DEB_BUILD_OPTIONS="parallel=%d noautodbgsym" % (os.cpu_count() or 1))

if shutil.which("ccache"):
    # dh gives the build a home of its own.
    ENVIRONMENT.setdefault("CCACHE_DIR", run("ccache", "-k", "cache_dir").strip())


# --- building -------------------------------------------------------------------------------------------


def copy_tree(folder):
    """The files of the checkout, as they are now."""
    for name in run("git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


def change(path, pattern, text):
    before = path.read_text()
    after, n = re.subn(pattern, text, before, count=1, flags=re.M)
    assert n == 1, "%s has no %s" % (path, pattern)
    path.write_text(after)


def make_older(tree):
    change(tree / "meson.build", r"^  version: '[^']+'", "  version: '%s'" % BEFORE)
    change(tree / "debian/changelog", r"^provisor \([^)]+\)", "provisor (%s)" % BEFORE)
    change(tree / "ops/environment", r"^#PROVISOR_LOG_LEVEL=info$", "#PROVISOR_LOG_LEVEL=warn")
    change(tree / "ops/meson.build", r"^install_data\('haproxy.cfg'.*\n", "")
    change(tree / "debian/provisord.install", r"^.*/haproxy.cfg\n", "")


def build(version, alter=None):
    """The folder with the packages of a version."""
    tree, out = WORK / "tree" / "provisor", WORK / version
    shutil.rmtree(tree.parent, ignore_errors=True)
    shutil.rmtree(out, ignore_errors=True)
    copy_tree(tree)
    if alter:
        alter(tree)
    run("dpkg-buildpackage", "-b", "-us", "-uc", cwd=tree, env=ENVIRONMENT)
    out.mkdir()
    for path in [p for p in tree.parent.iterdir() if p.is_file()]:
        path.rename(out / path.name)
    return out


@pytest.fixture(scope="module")
def packages():
    """{version: folder with its packages}"""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    if not shutil.which("dpkg-buildpackage"):
        pytest.skip("no dpkg-buildpackage")
    WORK.mkdir(exist_ok=True)
    return {BEFORE: build(BEFORE, make_older), NOW: build(NOW)}


def package(folder, name):
    found, = folder.glob(name + "_*.deb")
    return found


def contents(path):
    """{path: mode} of the files of a package."""
    rows = [line.split(None, 5) for line in run("dpkg-deb", "--contents", path).splitlines()]
    assert {row[1] for row in rows} == {"root/root"}
    return {row[5].split(" -> ")[0][2:]: row[0] for row in rows if not row[0].startswith("d")}


def test_lintian_finds_nothing(packages):
    """Not even warnings; what is overridden says why in debian/*.lintian-overrides."""
    changes, = packages[NOW].glob("*.changes")
    result = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", str(changes)], text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, env=ENVIRONMENT)
    assert result.returncode == 0 and not re.search(r"^[EW]: ", result.stdout, re.M), result.stdout


def test_the_service_s_package_has_its_files(packages):
    files = contents(package(packages[NOW], "provisord"))
    plain = "-rw-r--r--"
    expected = {SETTINGS: "-rw-r-----", "lib/systemd/system/provisord.service": plain, "usr/lib/sysusers.d/provisor.conf": plain,
                "usr/sbin/provisord": "-rwxr-xr-x", "usr/share/man/man8/provisord.8.gz": plain, "usr/share/provisor/roles.sql": plain,
                EXAMPLE: plain}
    documents = {n for n in files if n.startswith(("usr/share/doc/provisord/", "usr/share/lintian/"))} - {EXAMPLE}
    assert {n: m for n, m in files.items() if n not in documents} == expected
    assert {"README.Debian", "changelog.gz", "changelog.Debian.gz", "copyright"} <= {n.rsplit("/", 1)[1] for n in documents}
    assert EXAMPLE not in contents(package(packages[BEFORE], "provisord")), "the version before has one file less"
    assert run("dpkg-deb", "--info", package(packages[NOW], "provisord"), "conffiles").split() == ["/" + SETTINGS]


def test_the_client_s_package_has_its_files(packages):
    files = contents(package(packages[NOW], "provisor"))
    unit = "lib/systemd/system/provisor-actuate@.service"
    assert files["usr/bin/provisor"] == files["usr/bin/provisor-gate"] == files["usr/bin/provisor-actuate"] == "-rwxr-xr-x" and files[unit] == "-rw-r--r--"
    for name in ("bash-completion/completions/provisor.bash", "zsh/vendor-completions/_provisor", "fish/vendor_completions.d/provisor.fish",
                 "man/man1/provisor.1.gz", "man/man1/provisor-gate.1.gz", "man/man1/provisor-actuate.1.gz"):
        assert files["usr/share/" + name] == "-rw-r--r--"
    assert [n for n in files if not n.startswith(("usr/bin/provisor", "usr/share/"))] == [unit]


def test_the_documentation_needs_no_server(packages):
    files = contents(package(packages[NOW], "provisor-doc"))
    pages = "usr/share/doc/provisor/html/"
    assert {pages + "index.html", pages + "operations/index.html", pages + "reference/advice/index.html", pages + "openapi.yaml",
            pages + "openapi.json"} <= set(files)
    assert set(files.values()) == {"-rw-r--r--"}


def test_the_packages_come_from_one_version(packages):
    for version, folder in packages.items():
        for name in PACKAGES:
            assert run("dpkg-deb", "--field", package(folder, name), "Version").strip() == version


# --- installing ---------------------------------------------------------------------------------------------


class Root:
    """A Debian 12 of its own in a directory, in which packages are installed by apt."""

    def __init__(self, tree):
        self.tree = tree
        (tree / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
        (tree / "usr/sbin/policy-rc.d").chmod(0o755)
        for name in ("resolv.conf", "hosts"):
            if pathlib.Path("/etc", name).is_file():
                shutil.copy(pathlib.Path("/etc", name), tree / "etc" / name)
        self("apt-get", "update")

    def __call__(self, *words, **env):
        return run("chroot", self.tree, *words, env=self.environment(**env))

    def environment(self, **env):
        return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive", **env}

    def path(self, name):
        return self.tree / name.lstrip("/")

    def apt(self, *words, **env):
        return self("apt-get", "-y", "--no-install-recommends", "-o", "APT::Sandbox::User=root", "-o", "Dpkg::Options::=--force-confold", *words, **env)

    def install(self, folder, names=PACKAGES):
        """As an administrator would: apt-get install ./provisord_..."""
        self.path("packages").mkdir(exist_ok=True)
        copies = [shutil.copy(package(folder, name), self.path("packages")) for name in names]
        return self.apt("install", *("/packages/" + pathlib.Path(c).name for c in copies))

    def status(self, name):
        result = subprocess.run(["chroot", str(self.tree), "dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", name], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return result.stdout or "not-installed"


@pytest.fixture(scope="module")
def root(packages):
    try:
        base = base_tar()
    except AssertionError as e:
        pytest.skip("debootstrap cannot make a Debian here: %s" % str(e)[-300:])
    with tempfile.TemporaryDirectory(dir=WORK) as scratch:
        os.chmod(scratch, 0o755)
        tree = pathlib.Path(scratch) / "root"
        tree.mkdir()
        run("tar", "-C", tree, "-xpf", base)
        yield Root(tree)


@pytest.fixture(scope="module")
def database():
    with tcp_database() as urls:
        yield urls


class Service:
    """The installed provisord as its unit starts it: the unit's user, environment and credentials, and nothing of ours."""

    def __init__(self, root, urls):
        self.root, self.urls = root, urls
        unit = root.path("/lib/systemd/system/provisord.service").read_text()
        self.command = re.search(r"^ExecStart=(.*)$", unit, re.M)[1].split()
        self.user = re.search(r"^User=(\w+)$", unit, re.M)[1]
        credentials = root.path("/run/credentials")
        shutil.rmtree(credentials, ignore_errors=True)
        credentials.mkdir()
        for name, source in re.findall(r"^LoadCredential=(\w+):(\S+)$", unit, re.M):
            shutil.copy(root.path(source), credentials / name)
            shutil.chown(credentials / name, int(root("id", "-u", self.user)))
        words = " ".join(re.findall(r"^Environment=(.*)$", unit, re.M)).replace("%d", "/run/credentials").split()
        words += [line for line in root.path(SETTINGS).read_text().splitlines() if line and not line.startswith("#")]
        self.variables = dict(word.split("=", 1) for word in words)

    def __enter__(self):
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(["chroot", "--userspec=%s:%s" % (self.user, self.user), str(self.root.tree), *self.command],
                                        env=self.root.environment(**self.variables), stdout=self.log, stderr=self.log)
        try:
            self.base_url = "http://127.0.0.1:" + self.variables["PROVISOR_LISTEN_PORT"]
            wait_ready(self.base_url, self.process, self.log)
        except BaseException:
            self.__exit__()
            raise
        return self

    def get(self, path, token=None):
        request = urllib.request.Request(self.base_url + path, headers={"Authorization": "Bearer " + token} if token else {})
        with urllib.request.urlopen(request, timeout=10) as reply:
            return json.loads(reply.read())

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=40)
        self.log.close()


def configure(root, urls):
    """What README.Debian tells the administrator to do, and settings of this machine."""
    for name, url in zip(("database_url", "database_owner_url"), urls):
        path = root.path("/etc/provisor/" + name)
        path.write_text(url + "\n")
        path.chmod(0o600)
    with open(root.path(SETTINGS), "a") as settings:
        settings.write("PROVISOR_LISTEN_PORT=%d\nPROVISOR_HEALTH_PORT=%d\nPROVISOR_LOG_LEVEL=debug\n" % (free_port(), free_port()))


def test_life_of_an_installation(packages, root, database):
    """Installed, configured, started, upgraded under an administrator's changes, removed, and purged without loss."""
    said = root.install(packages[BEFORE])
    assert "provisord starts once /etc/provisor/database_url names its database" in said
    assert root("id", "-un", "provisor").strip() == "provisor"
    assert root("systemctl", "is-enabled", "provisord").strip() == "enabled"
    assert (root.path(SETTINGS).stat().st_mode & 0o777, root.path(SETTINGS).stat().st_uid) == (0o640, 0)
    assert root("provisord", "version").startswith("provisord %s," % BEFORE)
    configure(root, database)
    root("provisord", "migrate", PROVISOR_DATABASE_OWNER_URL=database[1])
    said = root("provisord", "token", "create", "--team", "t", "--name", "n", "--scopes", "read", PROVISOR_DATABASE_OWNER_URL=database[1])
    token = re.search(r"^prv_\S+$", said, re.M)[0]
    with Service(root, database) as service:
        assert service.get("/healthz") and service.get("/v1/applications", token) is not None

    edited = root.path(SETTINGS).read_text()
    said = root.install(packages[NOW])
    assert root.path(SETTINGS).read_text() == edited, "the administrator's settings survive"
    assert "#PROVISOR_LOG_LEVEL=info" in root.path(SETTINGS + ".dpkg-dist").read_text(), "the new ones lie beside them"
    assert root.path(EXAMPLE).is_file()
    assert "starts once" not in said, "it has a database"
    assert root("provisord", "version").startswith("provisord %s," % NOW)
    assert root("provisor", "--version").startswith("provisor %s" % NOW)
    with Service(root, database) as service:
        assert service.get("/healthz") and service.get("/readyz")
        assert service.get("/v1/applications", token) is not None, "tokens of before are good"
        asked = root("provisor", "apps", "--output", "json", PROVISOR_URL=service.base_url, PROVISOR_TOKEN=token)
        assert json.loads(asked) is not None, "the installed client asks the installed service"

    root.apt("remove", "provisord")
    assert root.status("provisord").startswith("config-files")
    assert not root.path("/usr/sbin/provisord").exists() and not root.path("/lib/systemd/system/provisord.service").exists()
    assert root.path(SETTINGS).read_text() == edited

    root.path("/var/lib/provisor").mkdir()
    said = root.apt("purge", "provisord")
    assert root.status("provisord") == "not-installed" and not root.path(SETTINGS).exists()
    assert "are kept" in said and root.path("/var/lib/provisor").is_dir()
    assert [root.path("/etc/provisor/" + n).read_text().strip() for n in ("database_url", "database_owner_url")] == list(database)


def test_what_nobody_changed_is_replaced_and_all_is_purged_on_request(packages, root):
    root.install(packages[BEFORE], ["provisord"])
    root.install(packages[NOW], ["provisord"])
    assert "#PROVISOR_LOG_LEVEL=info" in root.path(SETTINGS).read_text()
    root.path("/etc/provisor/database_url").write_text("x\n")
    root.path("/var/lib/provisor").mkdir(exist_ok=True)
    root.apt("purge", "provisord", PROVISOR_PURGE_DATA="yes")
    assert not root.path("/etc/provisor").exists() and not root.path("/var/lib/provisor").exists()


def test_the_unit_is_understood_where_it_is_installed(packages, root):
    root.install(packages[NOW], ["provisord"])
    result = root("systemd-analyze", "verify", "--man=no", "/lib/systemd/system/provisord.service")
    assert "provisord" not in result, result
    exposure = root("systemd-analyze", "security", "--offline=yes", "/lib/systemd/system/provisord.service").splitlines()[-1]
    assert float(re.search(r": (\d+\.\d)", exposure)[1]) < 2, exposure
