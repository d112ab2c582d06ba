#!/usr/bin/env python3
"""list_shapes.py OUT.c OUT.d SERVICE: a C list of the shapes that headers of SERVICE/codec declare, for print_tables.
OUT.d says what it is made from, folders included."""
import pathlib
import re
import sys

out, depfile, service = (pathlib.Path(word) for word in sys.argv[1:])
headers = sorted((service / "codec").rglob("*.h"))
folders = [service / "codec", *(p for p in (service / "codec").rglob("*") if p.is_dir())]
declared = {h: re.findall(r"^extern const struct shape (\w+);", h.read_text(), re.M) for h in headers}
lines = ['#include "%s"' % header.relative_to(service) for header, names in declared.items() if names]
lines += ["", "extern const struct shape *const shapes[];", "const struct shape *const shapes[] = {"]
lines += ["    &%s," % name for names in declared.values() for name in names]
out.write_text("\n".join(lines + ["    NULL};", ""]))
depfile.write_text("%s: %s\n" % (out, " ".join(str(p).replace(" ", "\\ ") for p in folders + headers)))
