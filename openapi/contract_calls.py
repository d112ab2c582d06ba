#!/usr/bin/python3
"""The calls of the contract as a table of C, for `provisor call`.

    contract_calls.py OUTPUT_C [DEPFILE]
"""
import pathlib
import sys

import bundle

METHODS = ("get", "post", "put", "patch", "delete")


def resolve(document, node):
    while "$ref" in node:
        found = document
        for key in node["$ref"].removeprefix("#/").split("/"):
            found = found[key.replace("~1", "/")]
        node = found
    return node


def text(value):
    return '"%s"' % value.replace("\\", "\\\\").replace('"', '\\"')


def types(contents):
    return sorted({kind for content in contents for kind in content})


def row(document, path, item, method, call):
    """A row of the table, and the name of the call."""
    parameters = [resolve(document, p) for p in item.get("parameters", []) + call.get("parameters", [])]
    body = resolve(document, call["requestBody"])["content"] if "requestBody" in call else {}
    replies = [resolve(document, reply).get("content", {}) for status, reply in call["responses"].items() if str(status)[0] == "2"]
    cells = [call["operationId"], method.upper(), path, " ".join("%s:%s" % (p["name"], p["in"]) for p in parameters), " ".join(body),
             ", ".join(types(replies)), call.get("summary", "")]
    return cells[0], "    {%s}," % ", ".join(map(text, cells))


def main():
    output = pathlib.Path(sys.argv[1])
    document = bundle.load()
    rows = [row(document, path, item, method, item[method]) for path, item in document["paths"].items() for method in METHODS if method in item]
    rows.sort()
    lines = ['#include "cli/commands/contract_calls.h"', "", "#include <stddef.h>", "", "const struct contract_call contract_calls[] = {",
             *(line for _, line in rows), "    {NULL, NULL, NULL, NULL, NULL, NULL, NULL}};", "",
             "const char contract_call_words[] =", *('    "%s%s"' % ("|" if i else "", name) for i, (name, _) in enumerate(rows))]
    output.write_text("\n".join(lines) + ";\n")
    if len(sys.argv) > 2:
        pathlib.Path(sys.argv[2]).write_text("%s: %s\n" % (output, " ".join(map(str, [bundle.ROOT] + bundle.parts()))))


if __name__ == "__main__":
    main()
