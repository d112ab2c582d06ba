#!/usr/bin/env python3
"""embed_migrations.py OUT.c OUT.d FOLDER: the migrations of a folder as a C table, in the order of their numbers.

A file is called NNNN_what_it_does.sql; the numbers run from 0001 without a gap. OUT.d says for make or ninja what OUT.c
is made from, the folder itself included.
"""

import hashlib
import pathlib
import re
import sys


def c_bytes(data: bytes) -> str:
    """An initialiser of characters: string literals have a length that compilers must take (4095)."""
    lines = []
    for at in range(0, len(data), 24):
        lines.append(", ".join(str(b if b < 128 else b - 256) for b in data[at : at + 24]))
    return ",\n    ".join(lines + ["0"])


def main(out: str, depfile: str, folder: str) -> None:
    files = sorted(pathlib.Path(folder).iterdir(), key=lambda p: p.name)
    body, rows = [], []
    for number, path in enumerate(files, start=1):
        match = re.fullmatch(r"(\d{4})_([a-z0-9_]+)\.sql", path.name)
        if match is None or int(match[1]) != number:
            sys.exit(f"{path.name}: expected a name that begins with {number:04d}_")
        data = path.read_bytes()
        if b"\0" in data:
            sys.exit(f"{path.name}: holds a NUL byte")
        body.append(f"static const char sql_{number}[] = {{\n    {c_bytes(data)}}};\n")
        digest = hashlib.sha256(data).hexdigest()
        rows.append(f'    {{{number}, "{match[2]}",\n     "{digest}", sql_{number}}},\n')
    text = (
        '#include "store/sql/migrations.h"\n\n'
        + "\n".join(body)
        + "\nconst struct migration migrations[] = {\n"
        + "".join(rows)
        + "};\nconst size_t n_migrations = sizeof migrations / sizeof migrations[0];\n"
    )
    pathlib.Path(out).write_text(text, encoding="ascii")
    made_from = " ".join(str(path).replace(" ", "\\ ") for path in [pathlib.Path(folder), *files])
    pathlib.Path(depfile).write_text(f"{out}: {made_from}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
