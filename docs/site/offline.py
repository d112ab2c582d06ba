#!/usr/bin/python3
"""The documentation site as files that a browser opens without a server.

    offline.py WORK OPENAPI_YAML OUTPUT

WORK is that of build.py, which made WORK/site. Links to folders name their index.html here, and the contract lies next to the pages.
Browsers do not let a page read a file or start a worker from one, so the search and its index are a script of each page.
"""
import json
import os
import pathlib
import posixpath
import re
import shutil
import sys

import yaml

from build import HERE, LOADER, UNUSED, documents
from search import THEME_SCRIPT, compact

SEARCH = "search/search.js"
# What the theme's script finds instead of a worker.
IN_PAGE = """
self.Worker = class extends EventTarget {
  postMessage(message) {
    provisorSearch(message).then(replies => replies.forEach(data => this.dispatchEvent(new MessageEvent("message", {data}))));
  }
};
"""
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

    text = REFERENCE.sub(link, text)
    return THEME_SCRIPT.sub(lambda found: '<script src="%s%s"></script>%s' % (found[1], SEARCH, found[0]), text)


def write_search(site, out):
    (out / SEARCH).parent.mkdir()
    index = json.loads((site / "search" / "search_index.json").read_text())
    for section in index["docs"]["sections"]:
        folder, mark, anchor = section[0].partition("#")
        section[0] = "%sindex.html%s%s" % (folder, mark, anchor)
    (out / SEARCH).write_text("self.provisorIndex = %s;\n%s%s" % (compact(index), (HERE / "search.js").read_text(), IN_PAGE))


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
    write_search(site, out)
    for name, _, content in documents(None, contract, yaml.load(contract.read_text(), LOADER)):
        (out / name).write_bytes(content)
    os.utime(out)  # ninja asks for its time


if __name__ == "__main__":
    main()
