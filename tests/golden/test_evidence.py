"""The tables of docs/scheduling-evidence.md and docs/slots-evidence.md are what simulations come to, and what the pages say of them holds.

Usage: test_evidence.py [--write] PROGRAM [ARGUMENT ...]. PROGRAM is one of evidence: it prints tables between the marks of a page, a line for
everything that holds or does not, and its status says whether all does (77: it lacks the shared data). --write: its tables replace those of the pages.
"""
import pathlib
import re
import subprocess
import sys

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PAGES = [DOCS / "scheduling-evidence.md", DOCS / "slots-evidence.md"]
MARKED = re.compile(r"<!-- computed: ([^\n]*) -->\n.*?<!-- end -->", re.S)


def tables(text):
    return {m.group(1): m.group(0) for m in MARKED.finditer(text)}


def main():
    write = sys.argv[1] == "--write"
    ran = subprocess.run(sys.argv[2 if write else 1:], text=True, stdout=subprocess.PIPE, check=False)
    print(ran.stdout, end="")
    if ran.returncode != 0:
        return ran.returncode
    computed = tables(ran.stdout)
    if write:
        for page in PAGES:
            page.write_text(MARKED.sub(lambda m: computed.get(m.group(1), m.group(0)), page.read_text()))
        return 0
    printed = {name: table for page in PAGES for name, table in tables(page.read_text()).items()}
    stale = [name for name, table in computed.items() if printed.get(name) != table]
    for name in stale:
        print("docs: the table %r is another one; --write replaces it" % name)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
