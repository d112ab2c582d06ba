#!/usr/bin/python3
"""Join the parts of the contract into one OpenAPI document.

    bundle.py ROOT_YAML OUTPUT_YAML [DEPFILE]

The root document and its parts are text with one addition to YAML: a line `$parts: [a.yaml, b.yaml]` is
replaced by the contents of these files (paths relative to the root document) at the line's indentation.
Every response with the header X-Request-Id has the header Provisor-Token-Expires as well, which is added here.
Comments and order stay, and every `$ref` is written as it reads in the result (`#/components/...`).
The result is refused when it gives a key twice: YAML would keep the last one without a word.
"""
import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().with_name("provisor.yaml")
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
HEADER = "%s: {$ref: '#/components/headers/%s'}"
OF_EVERY_RESPONSE, ADDED = (HEADER % (name, name) for name in ("X-Request-Id", "Provisor-Token-Expires"))
PARTS = re.compile(r"^( *)\$parts: \[([^\]]*)\]$")


def parts(root=ROOT):
    """The files that the root document names, in their order."""
    found = [PARTS.match(line) for line in root.read_text().splitlines()]
    return [root.parent / name.strip() for match in found if match for name in match[2].split(",")]


def bundle(root=ROOT):
    """The whole document as text."""
    lines = []
    for line in root.read_text().splitlines():
        match = PARTS.match(line)
        if not match:
            lines.append(line)
            continue
        for name in match[2].split(","):
            part = (root.parent / name.strip()).read_text()
            lines += [(match[1] + inner).rstrip() for inner in part.splitlines()]
    return "".join(with_added_header(line) + "\n" for line in lines)


def with_added_header(line):
    """A line that holds one header of a response, or all of them in one mapping."""
    if line.strip() == OF_EVERY_RESPONSE:
        return line + "\n" + line.replace(OF_EVERY_RESPONSE, ADDED)
    return line.replace(OF_EVERY_RESPONSE, OF_EVERY_RESPONSE + ", " + ADDED)


def repeated_keys(node, path=""):
    """Where a mapping gives a key twice."""
    if isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            here = "%s/%s" % (path, key.value)
            if key.value in seen:
                yield here
            seen.add(key.value)
            yield from repeated_keys(value, here)
    elif isinstance(node, yaml.SequenceNode):
        for i, value in enumerate(node.value):
            yield from repeated_keys(value, "%s/%d" % (path, i))


def load(root=ROOT):
    """The whole document as Python values."""
    return yaml.load(bundle(root), LOADER)


def main():
    root, output = map(pathlib.Path, sys.argv[1:3])
    text = bundle(root)
    repeated = list(repeated_keys(yaml.compose(text, LOADER)))
    if repeated:
        sys.exit("the contract gives a key twice: " + ", ".join(repeated))
    output.write_text(text)
    if len(sys.argv) > 3:
        pathlib.Path(sys.argv[3]).write_text("%s: %s\n" % (output, " ".join(map(str, [root] + parts(root)))))


if __name__ == "__main__":
    main()
