"""Dependencies point inwards only, and the core computes and does nothing else."""
import os
import pathlib
import subprocess

import pytest

import house

BUILD = pathlib.Path(os.environ.get("PROVISOR_BUILD", house.ROOT / "build")).resolve()


def archive(room):
    path = BUILD / "service" / room / ("lib%s.a" % room)
    assert path.is_file(), "%s is not built; ./check builds it" % path
    return path


def test_no_include_points_outwards():
    assert house.include_faults() == []


def test_no_include_of_the_client_points_outwards():
    assert house.client_include_faults() == []


def test_an_include_of_the_client_that_points_outwards_is_found(tmp_path, monkeypatch):
    (tmp_path / "cli" / "terminal").mkdir(parents=True)
    (tmp_path / "cli" / "terminal" / "bad.c").write_text('#include "cli/remote/remote.h"\n#include <curl/curl.h>\n#include "store/store.h"\n')
    monkeypatch.setattr(house, "CLIENTS", tmp_path)
    assert house.client_include_faults() == ["cli/terminal/bad.c includes " + what
                                             for what in ("cli/remote/remote.h", "curl/curl.h", "store/store.h")]


def test_every_room_of_the_table_exists():
    """A row that no longer names a folder would guard nothing."""
    assert [r for r in house.ROOMS if not (house.SERVICE / r).is_dir()] == []


@pytest.mark.parametrize("room, line", [
    ("core", '#include "store/history/run.h"'), ("core", "#include <time.h>"), ("core", "#include <jansson.h>"),
    ("base", '#include "core/run.h"'), ("codec", '#include "http/run.h"'), ("store", '#include "codec/history/run.h"'),
    ("http", '#include "store/history/run.h"'), ("http", "#include <libpq-fe.h>"), ("compression", '#include "core/run.h"'),
    ("api", "#include <libpq-fe.h>"), ("cellar", "#include <math.h>")])
def test_an_include_that_points_outwards_is_found(tmp_path, room, line):
    for name in ("core", "core/history", "core/advice", "core/scaling/laws", "store", "http", "codec", room):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
        (tmp_path / name / "run.h").write_text("")
    (tmp_path / room / "bad.c").write_text("#include <string.h>\n  %s\n" % line)
    faults = house.include_faults(tmp_path)
    assert any("bad.c" in f for f in faults), faults


def test_no_modules_include_each_other():
    assert house.include_cycles() == []
    assert house.include_cycles(house.CLIENTS) == []


@pytest.mark.parametrize("files, cycles", [
    ({"a.h": "b.h", "b.h": "a.h"}, [("a", "b")]),
    ({"a.c": "b.h", "b.c": "c.h", "c.h": "a.h", "a.h": "", "b.h": "", "d.c": "a.h"}, [("a", "b", "c")]),
    ({"a.c": "a_internal.h", "a_internal.h": "a.h", "a.h": "b.h", "b.h": "", "c.c": "a.h"}, []),
    ({"a.c": "b.h", "b.h": "", "b.c": "c.h", "c.h": "", "d.c": "e.h", "e.h": "", "e.c": "d.h", "d.h": ""}, [("d", "e")])])
def test_a_cycle_is_found(tmp_path, files, cycles):
    for name, other in files.items():
        (tmp_path / name).write_text('#include "%s"\n' % other if other else "")
    assert house.include_cycles(tmp_path) == cycles


def test_core_archive_needs_only_libc_libm_and_gsl():
    assert house.core_symbol_faults(archive("core"), archive("base")) == []


@pytest.mark.parametrize("call, symbol", [
    ("time(0)", "reaches for time"), ('getenv("X")', "reaches for getenv"), ('printf("%d", n)', "reaches for printf"),
    ("rand()", "reaches for rand"), ("json_object()", "needs json_object"),
    ("pthread_detach(0)", "reaches for pthread_detach")])
def test_a_symbol_out_of_place_is_found(tmp_path, call, symbol):
    source = "#include <pthread.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\n" \
        "void *json_object(void);\nint f(int n);\nint f(int n) { (void)%s; return n; }\n" % call
    (tmp_path / "f.c").write_text(source)
    (tmp_path / "g.c").write_text("int g(void);\nint g(void) { return 1; }\n")
    for name in ("f", "g"):
        subprocess.run(["gcc", "-O0", "-fno-builtin", "-c", name + ".c"], cwd=tmp_path, check=True)
        subprocess.run(["ar", "rc", "lib%s.a" % name, name + ".o"], cwd=tmp_path, check=True)
    faults = house.core_symbol_faults(tmp_path / "libf.a", tmp_path / "libg.a")
    assert faults == ["libf.a " + symbol]


def test_no_symbol_is_defined_twice():
    rooms = {room.split("/")[0] for room in house.ROOMS if room}
    archives = [archive(room) for room in sorted(rooms) if (house.SERVICE / room / "meson.build").is_file()]
    assert house.doubled_symbols(archives) == []


def test_a_doubled_symbol_is_found(tmp_path):
    for name in ("f", "g"):
        (tmp_path / (name + ".c")).write_text("int same(void);\nint same(void) { return 1; }\n")
        subprocess.run(["gcc", "-c", name + ".c"], cwd=tmp_path, check=True)
    subprocess.run(["ar", "rc", "lib.a", "f.o", "g.o"], cwd=tmp_path, check=True)
    assert house.doubled_symbols([tmp_path / "lib.a"]) == ["same is defined in lib.a and lib.a"]
