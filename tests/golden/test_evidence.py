"""The tables of docs/scheduling-evidence.md are what the simulations come to, and what the page says of them holds.

Usage: test_evidence.py [--write] PROGRAM [ARGUMENT ...]. PROGRAM is one of evidence: it prints tables between the marks of the page, a line for everything
that holds or does not, and its status says whether all does (77: it lacks the shared data). --write: its tables replace those of the page.
"""
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "scheduling-evidence.md"
MARKED = re.compile(r"<!-- computed: ([^\n]*) -->\n.*?<!-- end -->", re.S)


def tables(text):
    return {m.group(1): m.group(0) for m in MARKED.finditer(text)}


def main():
    write = sys.argv[1] == "--write"
    ran = subprocess.run(sys.argv[2 if write else 1:], text=True, stdout=subprocess.PIPE, check=False)
    print(ran.stdout, end="")
    if ran.returncode != 0:
        return ran.returncode
    computed, text = tables(ran.stdout), PAGE.read_text()
    if write:
        PAGE.write_text(MARKED.sub(lambda m: computed.get(m.group(1), m.group(0)), text))
        return 0
    printed = tables(text)
    stale = [name for name, table in computed.items() if printed.get(name) != table]
    for name in stale:
        print("docs/scheduling-evidence.md: the table %r is another one; --write replaces it" % name)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
