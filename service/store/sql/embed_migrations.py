#!/usr/bin/env python3
"""embed_migrations.py OUT.c OUT.d FOLDER...: the migrations of a folder as a C table, in the order of their numbers.

A file is called NNNN_what_it_does.sql; the numbers run from 0001 without a gap. Those of a further folder, which tests
have, begin at 0001 again and follow the ones before. OUT.d says for make or ninja what OUT.c is made from, the folders
themselves included. Lines of a file that begin with "-- provisor:" say how it is applied (CONTRIBUTING.md, "A migration"):

    -- provisor: oldest program NNNN    programs whose newest migration is older than NNNN no longer work
    -- provisor: no transaction         the file is one CREATE INDEX CONCURRENTLY
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


ONLINE_INDEX = re.compile(
    r"CREATE (UNIQUE )?INDEX CONCURRENTLY IF NOT EXISTS ([a-z0-9_]+) ON provisor\.([a-z0-9_]+)\s+([^;]+);"
)
DEFINITION_MAX = 2000  # what service/store/sql/online_index.c has room for


def c_text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def online_index(name: str, text: str) -> str:
    """The members of a struct online_index."""
    statement = re.sub(r"(?m)--.*$", "", text).strip()
    match = ONLINE_INDEX.fullmatch(statement)
    if match is None:
        sys.exit(f"{name}: without a transaction a migration is one CREATE INDEX CONCURRENTLY IF NOT EXISTS ... ON provisor. ...;")
    definition = " ".join(match[4].split())
    if len(definition) > DEFINITION_MAX:
        sys.exit(f"{name}: the definition of the index has more than {DEFINITION_MAX} characters")
    unique = "true" if match[1] else "false"
    return f"{c_text(match[2])}, {c_text(match[3])},\n    {c_text(definition)}, {unique}"


def directives(name: str, text: str) -> tuple[int, bool]:
    """The oldest program that works with the schema from here on (0: any that did), and whether the file is an online index."""
    oldest, online = 0, False
    for words in re.findall(r"(?m)^-- provisor: *(.*?) *$", text):
        program = re.fullmatch(r"oldest program (\d{4})", words)
        if program:
            oldest = int(program[1])
        elif words == "no transaction":
            online = True
        else:
            sys.exit(f'{name}: there is no "-- provisor: {words}"')
    return oldest, online


def sources(folders: list[str]) -> list[tuple[str, pathlib.Path]]:
    """What each migration does, and its file."""
    found = []
    for folder in folders:
        for number, path in enumerate(sorted(pathlib.Path(folder).iterdir(), key=lambda p: p.name), start=1):
            match = re.fullmatch(r"(\d{4})_([a-z0-9_]+)\.sql", path.name)
            if match is None or int(match[1]) != number:
                sys.exit(f"{path.name}: expected a name that begins with {number:04d}_")
            found.append((match[2], path))
    return found


def main(out: str, depfile: str, *folders: str) -> None:
    files = sources(list(folders))
    body, rows = [], []
    for number, (what, path) in enumerate(files, start=1):
        data = path.read_bytes()
        if b"\0" in data:
            sys.exit(f"{path.name}: holds a NUL byte")
        oldest, online = directives(path.name, data.decode())
        if oldest > number:
            sys.exit(f"{path.name}: no program that lacks this migration could have applied it")
        body.append(f"static const char sql_{number}[] = {{\n    {c_bytes(data)}}};\n")
        index = "NULL"
        if online:
            index = f"&index_{number}"
            body.append(f"static const struct online_index index_{number} = {{\n    {online_index(path.name, data.decode())}}};\n")
        digest = hashlib.sha256(data).hexdigest()
        rows.append(f'    {{{number}, "{what}",\n     "{digest}", sql_{number}, {oldest}, {index}}},\n')
    text = (
        '#include "store/sql/migrations.h"\n\n'
        + "\n".join(body)
        + "\nconst struct migration migrations[] = {\n"
        + "".join(rows)
        + "};\nconst size_t n_migrations = sizeof migrations / sizeof migrations[0];\n"
    )
    pathlib.Path(out).write_text(text, encoding="ascii")
    made_from = " ".join(str(path).replace(" ", "\\ ") for path in [*folders, *(path for _, path in files)])
    pathlib.Path(depfile).write_text(f"{out}: {made_from}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
