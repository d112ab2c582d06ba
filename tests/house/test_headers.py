"""Every header is complete by itself."""
import shutil
import subprocess

import pytest

import house

FLAGS = ["-std=c17", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
         "-I", str(house.SERVICE)]
# Where libraries keep their headers outside /usr/include.
FLAGS += subprocess.run(["pkg-config", "--cflags", "libpq", "jansson", "libmicrohttpd", "gsl"], check=True, text=True,
                        stdout=subprocess.PIPE).stdout.split()
HEADERS = [p for p in house.sources() if p.suffix == ".h"]


def compile_text(compiler, text):
    return subprocess.run([compiler, *FLAGS, "-x", "c", "-"], input=text, text=True, stderr=subprocess.PIPE)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("header", HEADERS, ids=lambda p: str(p.relative_to(house.SERVICE)))
def test_header_compiles_alone_and_twice(header, compiler):
    """First in a file, with nothing before it, and again: the guard holds."""
    if not shutil.which(compiler):
        pytest.skip("no " + compiler)
    line = '#include "%s"\n' % header.relative_to(house.SERVICE)
    # A translation unit may not be empty.
    result = compile_text(compiler, line + line + "extern int not_empty;\n")
    assert result.returncode == 0, result.stderr


def test_an_incomplete_header_is_found(tmp_path):
    (tmp_path / "x.h").write_text("size_t f(void);\n")
    assert compile_text("gcc", '#include "%s"\n' % (tmp_path / "x.h")).returncode != 0


def test_guards_name_the_path():
    assert house.guard_faults() == []


def test_a_wrong_guard_is_found(tmp_path):
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "x.h").write_text("#ifndef X_H\n#define X_H\n#endif\n")
    assert house.guard_faults(tmp_path) == ["base/x.h: wants the guard BASE_X_H"]


def test_sources_include_their_own_header_first():
    assert house.own_header_faults() == []


def test_an_own_header_that_is_not_first_is_found(tmp_path):
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "x.h").write_text("")
    (tmp_path / "base" / "x.c").write_text('#include <math.h>\n#include "base/x.h"\n')
    assert house.own_header_faults(tmp_path) != []
