"""What lies in the tree: licence, sizes, nothing of one machine, scripts that are sound."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import house

BUILD = pathlib.Path(os.environ.get("PROVISOR_BUILD", house.ROOT / "build")).resolve()
TEXT = [p for p in house.tracked() if p.name != "LICENSE" and "corpus" not in p.parts]


def grep(pattern, paths):
    """relative/path:line for every match"""
    found = []
    for path in paths:
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if re.search(pattern, line):
                found.append("%s:%d: %s" % (path.relative_to(house.ROOT), number, line.strip()[:100]))
    return found


def test_licence_is_gpl_3_or_later():
    assert "GNU GENERAL PUBLIC LICENSE\n                       Version 3" in (house.ROOT / "LICENSE").read_text()
    assert "license: 'GPL-3.0-or-later'" in (house.ROOT / "meson.build").read_text()


def test_no_binaries():
    assert [str(p) for p in TEXT if b"\0" in p.read_bytes()] == []


def test_no_notes_for_later():
    assert grep(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b", TEXT) == []


def test_no_paths_of_one_machine():
    assert grep(r"(?<![\w.$}*])/(wo" r"rk|ho" r"me|ro" r"ot|Us" r"ers)/\w", TEXT) == []


def test_no_package_registries():
    """Registries and mirrors are the machine's configuration, not the project's."""
    assert grep(r"(registry\.npm" r"js|deb\.deb" r"ian\.org|snapshot\.deb" r"ian|pypi\.o" r"rg|pythonho" r"sted|yarnp" r"kg\.com)",
                TEXT) == []


def test_timed_waits_follow_the_monotonic_clock():
    """Through threads/cond.h: a wait by the wall clock outlasts a step back of that clock."""
    waits = r"pthread_(cond_(timedwait|clockwait|init)|(timed|clock)join_np|(mutex|rwlock)_(timed|clock)\w*lock)|sem_(timed|clock)wait|mtx_timedlock|cnd_timedwait"
    paths = [p for p in house.sources() if p.relative_to(house.ROOT).parts[0] == "service" and p.stem != "cond"]
    assert grep(waits, paths) == []


def test_the_wall_clock_is_read_in_one_place():
    """threads/clock.h; the log, which that may use, reads its own. What lasts a while is measured by the other clock."""
    clock = r"CLOCK_REALTIME|\b(gettimeofday|timespec_get|ftime)\s*\(|[^_\w]time\s*\(\s*(NULL|&|0)"
    allowed = {house.SERVICE / "threads" / "clock.c", house.SERVICE / "log" / "log.c"}
    paths = [p for p in house.sources() if p.relative_to(house.ROOT).parts[0] == "service" and p not in allowed]
    assert grep(clock, paths) == []


def test_long_sources_are_reported(capsys, tmp_path):
    """Length is no fault, but a file far longer than the others may hold several ideas."""
    (tmp_path / "long.c").write_text("\n" * 601)
    (tmp_path / "short.c").write_text("\n" * 600)
    assert house.long_files(tmp_path) == ["601 lines: long.c"]
    with capsys.disabled():
        for line in house.long_files():
            print("\nlong source: %s" % line, end="")


def scripts():
    return [p for p in TEXT if p.suffix in ("", ".sh") and p.is_file()
            and (p.suffix == ".sh" or p.read_bytes().startswith((b"#!/bin/bash", b"#!/bin/sh")))]


def test_shell_scripts_are_sound():
    if not shutil.which("shellcheck"):
        pytest.skip("no shellcheck")
    result = subprocess.run(["shellcheck", "-x", *map(str, scripts())], text=True, cwd=house.ROOT,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert result.returncode == 0, result.stdout


def test_python_files_compile():
    for path in TEXT:
        if path.suffix == ".py":
            compile(path.read_text(), str(path), "exec")


@pytest.mark.parametrize("name", ["run", "check", ".ci/run"])
def test_commands_are_executable(name):
    assert (house.ROOT / name).stat().st_mode & 0o111 == 0o111


def test_benchmarks_can_be_run_as_documents_name_them():
    programs = [p for p in (house.ROOT / "tests" / "bench").iterdir() if p.is_file() and p.read_bytes()[:2] == b"#!"]
    assert programs and [p.name for p in programs if p.stat().st_mode & 0o111 != 0o111] == []


def test_package_list_covers_the_build():
    """Every dependency() that meson asks for comes from a -dev package of the build section."""
    dev = {"gsl": "libgsl-dev", "jansson": "libjansson-dev", "libpq": "libpq-dev", "libmicrohttpd": "libmicrohttpd-dev",
           "zlib": "zlib1g-dev", "libzstd": "libzstd-dev", "liblz4": "liblz4-dev", "snappy": "libsnappy-dev",
           "libxxhash": "libxxhash-dev",
           "libsodium": "libsodium-dev", "libarchive": "libarchive-dev",
           "libzip": "libzip-dev", "threads": "libc6-dev",
           "libcurl": "libcurl4-openssl-dev", "expat": "libexpat1-dev", "yaml-0.1": "libyaml-dev", "inih": "libinih-dev"}
    listed = subprocess.run([house.ROOT / "ops" / "install-packages", "--list", "build"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout.split()
    asked = [name for path in ("meson.build", "clients/meson.build")
             for name in re.findall(r"^\w+ = dependency\('([^']+)'", (house.ROOT / path).read_text(), re.M)]
    assert {"gsl", "libcurl"} <= set(asked)
    assert [d for d in asked if dev.get(d) not in listed] == []


def test_image_is_built_with_every_source_of_the_site():
    """.dockerignore lets in by name what stands at the top of the tree."""
    sys.path.insert(0, str(house.ROOT / "docs" / "site"))
    import build
    kept = {line[1:] for line in (house.ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    tops = {path.relative_to(house.ROOT).parts[0] for path in build.sources(house.ROOT).values()}
    assert {"README.md", "CONTRIBUTING.md", "docs"} <= tops <= kept
    assert {path.relative_to(house.ROOT).parent.as_posix() for path in build.notebooks(house.ROOT)} <= kept


def test_image_is_built_with_every_folder_of_the_build():
    """And with what its client image is built from: the folders below clients that are C, and the script of the gate."""
    kept = {line[1:] for line in (house.ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    folders = re.findall(r"^subdir\('(\w+)'\)", (house.ROOT / "meson.build").read_text(), re.M)
    assert {"service", "ops"} <= set(folders)
    assert [f for f in folders if f not in kept and f + "/meson.build" not in kept] == []
    outside = {name for path in house.ROOT.glob("*/meson.build") for name in re.findall(r"'\.\./([A-Z]+)'", path.read_text())}
    assert "LICENSE" in outside and outside <= kept
    assert {"clients/cli", "clients/actuator", "clients/ci/shell"} <= kept
    dockerfile = (house.ROOT / "Dockerfile").read_text()
    assert "-Dcli=disabled" in dockerfile and "-Dcli=enabled" in dockerfile
    stages = re.findall(r"^FROM \S+(?: AS (\S+))?$", dockerfile, re.M)
    assert "client" in stages and stages[-1] == "", "the service is built unless a target is named"


@pytest.mark.parametrize("name, section", [("service/provisord", "service"), ("clients/cli/provisor", "client")])
def test_package_list_covers_the_finished_program(name, section):
    """Every library that the program asks for comes from a package of its section, or with libc."""
    if not shutil.which("dpkg-query"):
        pytest.skip("no dpkg to ask which package a library is from")
    program = BUILD / name
    dynamic = subprocess.run(["readelf", "-d", program], check=True, text=True, stdout=subprocess.PIPE).stdout
    # The run-time library of a sanitizer comes with the compiler and is never shipped.
    needed = [n for n in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic) if not re.match(r"lib(a|ub)san\.", n)]
    assert "libc.so.6" in needed
    owners = subprocess.run(["dpkg-query", "-S", *("*/" + n for n in needed)], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    owned = [(line.rsplit("/", 1)[1], line.split(":")[0]) for line in owners.splitlines()]
    listed = subprocess.run([house.ROOT / "ops" / "install-packages", "--list", section], check=True, text=True,
                            stdout=subprocess.PIPE).stdout.split()
    assert [n for n in needed if not any((n, package) in owned for package in listed + ["libc6"])] == []
