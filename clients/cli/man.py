#!/usr/bin/python3
"""The manual pages of the client, as it prints them: provisor.1, and one of each command that the first one names.

    man.py PROVISOR OUTPUT_DIRECTORY
"""
import pathlib
import re
import shutil
import subprocess
import sys


def main():
    program, out = sys.argv[1], pathlib.Path(sys.argv[2])

    def page(*command):
        return subprocess.run([program, "man", *command], check=True, text=True, stdout=subprocess.PIPE).stdout

    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    first = page()
    (out / "provisor.1").write_text(first)
    names = re.findall(r"^\.BR provisor\\-(\S+) \(1\)$", first, re.M)
    for name in names:
        name = name.replace("\\-", "-")
        (out / ("provisor-%s.1" % name)).write_text(page(name))
    if not names:
        sys.exit("the manual page of provisor names no command")


if __name__ == "__main__":
    main()
