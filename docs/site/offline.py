#!/usr/bin/python3
"""The documentation site as files that a browser opens without a server.

    offline.py WORK OPENAPI_YAML OUTPUT

WORK is that of build.py, which made WORK/site. Links to folders name their index.html here, the contract lies beside the pages,
and there is no search: browsers do not let a page read its index from a file.
"""
import os
import pathlib
import posixpath
import re
import shutil
import sys

import yaml

from build import LOADER, UNUSED, documents

NO_SEARCH = "\n/* Without a server there is no search. */\n.md-search, [for='__search'] { display: none !important; }\n"
REFERENCE = re.compile(r'\b(href|src)="([^"]*)"')


def adapt(text, name, files):
    """A page with links that hold between files; name is its path in the site."""
    folder = posixpath.dirname(name)

    def link(match):
        attribute, target = match.groups()
        path, mark, fragment = target.partition("#")
        if not path or re.match(r"[a-z]+:", path):
            return match[0]
        if path in ("/openapi.yaml", "/openapi.json"):
            path = posixpath.relpath(path[1:], folder or ".")
        else:
            if path.startswith("/docs/"):
                path = posixpath.relpath(path[len("/docs/"):] or ".", folder or ".")
            if posixpath.normpath(posixpath.join(folder, path, "index.html")) in files:
                path = posixpath.join(path, "index.html")
            elif posixpath.normpath(posixpath.join(folder, path)) not in files:
                sys.exit("%s: nothing is at %s" % (name, target))
        return '%s="%s%s%s"' % (attribute, path, mark, fragment)

    return REFERENCE.sub(link, text)


def main():
    site, contract, out = pathlib.Path(sys.argv[1]) / "site", pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    shutil.rmtree(out, ignore_errors=True)
    files = {str(p.relative_to(site)) for p in site.rglob("*") if p.is_file()}
    files = {n for n in files if not UNUSED.search(n) and not n.startswith(("search/", "assets/javascripts/workers/"))}
    for name in sorted(files):
        target = out / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".html"):
            target.write_text(adapt((site / name).read_text(), name, files))
        else:
            shutil.copyfile(site / name, target)
    with open(out / "assets" / "reference.css", "a") as css:
        css.write(NO_SEARCH)
    for name, _, content in documents(None, contract, yaml.load(contract.read_text(), LOADER)):
        (out / name).write_bytes(content)
    os.utime(out)  # ninja asks for its time


if __name__ == "__main__":
    main()
