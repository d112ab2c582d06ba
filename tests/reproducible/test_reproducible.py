"""The same source gives the same provisord, byte for byte, wherever it is built.

PROVISOR_BUILD is one build of this checkout (./check: the release build); here the files of the checkout are copied elsewhere
and built again, with the build directory in another place beside them and without objects that were compiled before.
"""
import hashlib
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("PROVISOR_BUILD", ROOT / "build")).resolve()
ENVIRONMENT = dict(os.environ, CC="gcc", CCACHE_DISABLE="1")


def run(*words, **kwargs):
    result = subprocess.run([str(w) for w in words], text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            stdin=subprocess.DEVNULL, env=ENVIRONMENT, **kwargs)
    assert result.returncode == 0, "%s: %s" % (words, result.stdout[-6000:])
    return result.stdout


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """A copy of the checkout, at a path of another length and depth."""
    folder = tmp_path_factory.mktemp("elsewhere") / "a" / "longer" / "name"
    for name in run("git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_program_is_the_same_elsewhere(elsewhere):
    run("ninja", "-C", BUILD, "service/provisord")
    build = elsewhere.parents[1] / "build"
    run("meson", "setup", "-Dbuildtype=release", "-Dtests=false", build, elsewhere)
    run("ninja", "-C", build, "service/provisord")
    assert digest(build / "service" / "provisord") == digest(BUILD / "service" / "provisord")


def test_debug_information_is_the_same_elsewhere(elsewhere):
    """Of one room and of generated code, in a build beside the source and one inside it."""
    objects = ["service/base/libbase.a.p/arena.c.o", "service/store/libstore.a.p/meson-generated_.._migrations.c.o"]
    builds = [elsewhere / "build", elsewhere.parents[2] / "debug"]
    for build in builds:
        run("meson", "setup", "-Dbuildtype=debugoptimized", "-Dtests=false", "-Dsite=disabled", build, elsewhere)
        run("ninja", "-C", build, *objects)
    for name in objects:
        assert digest(builds[0] / name) == digest(builds[1] / name), name
