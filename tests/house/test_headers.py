"""Every header is complete by itself."""
import os
import pathlib

import pytest

import headers
import house

BUILD = pathlib.Path(os.environ.get("PROVISOR_BUILD", house.ROOT / "build")).resolve()


@pytest.fixture(scope="module")
def faults():
    return headers.faults(house.SERVICE, BUILD / "headers-alone")


@pytest.mark.parametrize("header", [str(p.relative_to(house.SERVICE)) for p in headers.headers(house.SERVICE)])
def test_header_compiles_alone_and_twice(header, faults):
    assert header not in faults, faults[header]


def test_an_incomplete_header_is_found_until_it_is_mended(tmp_path):
    folder, scratch = tmp_path / "service", tmp_path / "scratch"
    folder.mkdir()
    (folder / "x.h").write_text("#ifndef X_H\n#define X_H\n#include \"y.h\"\nsize_t f(void);\n#endif\n")
    (folder / "y.h").write_text("")
    for _ in range(2):
        assert "size_t" in headers.faults(folder, scratch)["x.h"]
    (folder / "y.h").write_text("#ifndef Y_H\n#define Y_H\n#include <stddef.h>\n#endif\n")
    assert headers.faults(folder, scratch) == {}
    (folder / "y.h").write_text("struct y { int i; };\n")
    assert set(headers.faults(folder, scratch)) == {"x.h", "y.h"}


def test_guards_name_the_path():
    assert house.guard_faults() == []
    assert house.guard_faults(house.CLIENTS) == []


def test_a_wrong_guard_is_found(tmp_path):
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "x.h").write_text("#ifndef X_H\n#define X_H\n#endif\n")
    assert house.guard_faults(tmp_path) == ["base/x.h: wants the guard BASE_X_H"]


def test_sources_include_their_own_header_first():
    assert house.own_header_faults() == []
    assert house.own_header_faults(house.CLIENTS) == []


def test_an_own_header_that_is_not_first_is_found(tmp_path):
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "x.h").write_text("")
    (tmp_path / "base" / "x.c").write_text('#include <math.h>\n#include "base/x.h"\n')
    assert house.own_header_faults(tmp_path) != []
