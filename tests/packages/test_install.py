"""What `ninja install` puts where, of the build PROVISOR_BUILD, and that debian/ gives each file of it to one package. Nothing is
built here; test_packages.py builds the packages and installs them."""
import fnmatch
import os
import pathlib
import re
import shutil
import stat
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("PROVISOR_BUILD", ROOT / "build")).resolve()
DEBIAN = ROOT / "debian"
PACKAGES = ("provisord", "provisor", "provisor-doc")
# Of the build's own prefix; debian/rules has Debian's.
DIRECTORIES = {"usr/local/etc/": "etc/", "usr/local/lib/systemd/": "lib/systemd/", "usr/local/": "usr/"}


def run(*words, **kwargs):
    result = subprocess.run([str(w) for w in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **kwargs)
    assert result.returncode == 0, "%s: %s" % (words, result.stdout[-3000:])
    return result.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The root below DESTDIR."""
    root = tmp_path_factory.mktemp("installed")
    run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", root, umask=0o022)
    return root


def name_in_package(path):
    for own, theirs in DIRECTORIES.items():
        if path.startswith(own):
            return theirs + path[len(own):]
    return path


@pytest.fixture(scope="module")
def files(installed):
    """{path as a package has it: file}"""
    return {name_in_package(str(p.relative_to(installed))): p for p in installed.rglob("*") if not p.is_dir()}


def listed(name):
    """Patterns of a file of debian/."""
    return (DEBIAN / name).read_text().split()


def takes(pattern, path):
    return fnmatch.fnmatch(path, pattern) or path.startswith(pattern + "/")


def test_every_file_goes_into_one_package(files):
    """Otherwise dh_missing fails the build of the packages."""
    lists = {name: listed(name + ".install") for name in PACKAGES}
    lists["none"] = listed("not-installed")
    takers = {path: [n for n, patterns in lists.items() if any(takes(p, path) for p in patterns)] for path in files}
    assert {path: t for path, t in takers.items() if len(t) != 1} == {}
    assert [p for patterns in lists.values() for p in patterns if not any(takes(p, path) for path in files)] == [], "nothing is there"


def test_modes_are_those_of_an_installation(files):
    """The settings may hold a password by mistake, so they are no business of others."""
    modes = {path: stat.S_IMODE(file.stat().st_mode) for path, file in files.items()}
    special = {"etc/provisor/environment": 0o640, "usr/sbin/provisord": 0o755, "usr/bin/provisor": 0o755, "usr/bin/provisor-gate": 0o755, "usr/bin/provisor-actuate": 0o755}
    assert {p: oct(m) for p, m in modes.items() if m != special.get(p, 0o644)} == {}
    assert set(special) <= set(modes)


def test_the_installed_programs_are_of_one_version(files):
    version = re.search(r"^  version: '([^']+)'", (ROOT / "meson.build").read_text(), re.M)[1]
    assert run(files["usr/sbin/provisord"], "version").startswith("provisord %s, contract " % version)
    assert version in run(files["usr/bin/provisor"], "--version").split()[1]
    assert 'provisor %s"' % version in files["usr/share/man/man8/provisord.8"].read_text().splitlines()[0]


def test_the_unit_starts_what_was_installed(files):
    unit = files["lib/systemd/system/provisord.service"].read_text()
    assert "\nExecStart=/usr/local/sbin/provisord serve\n" in unit
    assert "@" not in re.sub(r"@(system-service|privileged|resources)", "", unit), "all is filled in"
    actuate = files["lib/systemd/system/provisor-actuate@.service"].read_text()
    assert "\nExecStart=/usr/local/bin/provisor-actuate /usr/local/etc/provisor/actuate/%i.yaml\n" in actuate
    assert "@" not in re.sub(r"@(system-service|privileged|resources|nightly)", "", actuate), "all is filled in"
    user = re.search(r"^User=(\w+)$", unit, re.M)[1]
    assert re.search(r"^u %s " % user, files["usr/lib/sysusers.d/provisor.conf"].read_text(), re.M), "which systemd-sysusers makes"


def test_settings_as_they_are_installed_change_nothing(files):
    """All are comments, which name settings that are, with their defaults."""
    lines = files["etc/provisor/environment"].read_text().splitlines()
    assert all(line == "" or line.startswith("#") for line in lines)
    examples = dict(re.fullmatch(r"#PROVISOR_(\w+)=(.*)", line).groups() for line in lines if line.startswith("#PROVISOR_"))
    defaults = dict(re.findall(r"^\| `(\w+)` \| `([^`]*)`", (ROOT / "docs" / "configuration.md").read_text(), re.M))
    assert examples and {name.lower(): value for name, value in examples.items()}.items() <= defaults.items()


def test_the_manual_page_has_every_command_and_setting(files):
    text = files["usr/share/man/man8/provisord.8"].read_text().replace("\\-", "-")
    settings = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "configuration.md").read_text(), re.M)
    assert len(settings) > 50 and [s for s in settings if "\n.BR %s " % s not in text] == []
    commands = re.findall(r"^  (\S+)", run(files["usr/sbin/provisord"], "help").split("\nSettings")[0], re.M)
    assert len(commands) > 10 and [c for c in commands if not re.search(r"^\.B %s\b" % c, text, re.M)] == []


def test_manual_pages_are_well_formed(files):
    if not shutil.which("groff"):
        pytest.skip("no groff")
    pages = [file for path, file in files.items() if path.startswith("usr/share/man/")]
    assert pages
    for page in pages:
        assert run("groff", "-man", "-Tutf8", "-ww", "-z", page) == ""


def test_links_of_the_pages_lead_to_files(files):
    top = "usr/share/doc/provisor/html/"
    pages = {path: file.read_text() for path, file in files.items() if path.startswith(top) and path.endswith(".html")}
    assert len(pages) > 20
    for path, text in pages.items():
        for target in re.findall(r'\b(?:href|src)="([^"#]+)', text):
            if not re.match(r"[a-z]+:", target):
                assert os.path.normpath(os.path.join(os.path.dirname(path), target)) in files, "%s: %s" % (path, target)


def test_the_packages_are_built_with_what_the_build_needs():
    """Build-Depends has the list of ops/packages, but what every build of Debian has."""
    control = (DEBIAN / "control").read_text()
    wanted = re.search(r"^Build-Depends:\n((?: .*\n)+)", control, re.M)[1].replace(" ", "").replace(",", "").split()
    build = run(ROOT / "ops" / "install-packages", "--list", "build", "site").split()
    assert set(wanted) - {"debhelper-compat(=13)"} == set(build) - {"gcc", "libc6-dev"}


def test_the_package_puts_the_files_where_its_documents_say():
    readme, install = (DEBIAN / "provisord.README.Debian").read_text(), (ROOT / "docs" / "install.md").read_text()
    for name in ("/etc/provisor/database_url", "/etc/provisor/database_owner_url", "PROVISOR_PURGE_DATA=yes", "/etc/provisor/environment"):
        assert name in readme and name in install, name
    assert "PROVISOR_PURGE_DATA:-}\" = yes" in (DEBIAN / "provisord.postrm").read_text()
