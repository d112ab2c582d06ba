#!/usr/bin/python3
"""What ?fields= may name: the members of the replies of each call that has the parameter, as C.

    reply_members.py OUTPUT_C [DEPFILE]

Each object of the contract becomes a table (service/http/reply_members.h); alternatives (oneOf, anyOf, allOf) are
one object with the members of all of them. So a name is legal exactly where the contract has it.
"""
import pathlib
import sys

import bundle

PARAMETER = "#/components/parameters/Fields"
METHODS = ("get", "post", "put", "patch", "delete")


class Members:
    """Members by name, those of their values within; of a map those of its values."""

    def __init__(self):
        self.by_name = {}
        self.is_map = False
        self.values = None

    def key(self):
        return (tuple((name, of and of.key()) for name, of in self.by_name.items()), self.is_map, self.values and self.values.key())


def resolve(document, node):
    while "$ref" in node:
        found = document
        for key in node["$ref"].removeprefix("#/").split("/"):
            found = found[key]
        node = found
    return node


def merge(a, b):
    """Both in one; None has no members."""
    if a is None or b is None:
        return a or b
    both = Members()
    for name in [*a.by_name, *(name for name in b.by_name if name not in a.by_name)]:
        both.by_name[name] = merge(a.by_name.get(name), b.by_name.get(name))
    both.is_map = a.is_map or b.is_map
    both.values = merge(a.values, b.values)
    return both


def members_of(document, schema):
    """Of the object, or of the items of the array, that the schema allows; None: there are none."""
    schema = resolve(document, schema)
    found = None
    for word in ("oneOf", "anyOf", "allOf"):
        for part in schema.get(word, []):
            found = merge(found, members_of(document, part))
    for item in [schema.get("items"), *schema.get("prefixItems", [])]:
        if isinstance(item, dict):
            found = merge(found, members_of(document, item))
    types = schema.get("type", [])
    if "properties" not in schema and "object" not in ([types] if isinstance(types, str) else types):
        return found
    own = Members()
    for name, value in schema.get("properties", {}).items():
        own.by_name[name] = members_of(document, value)
    rest = schema.get("additionalProperties", True)
    own.is_map = rest is not False
    own.values = members_of(document, rest) if isinstance(rest, dict) else None
    return merge(found, own)


def reply_schemas(document, operation):
    for status, response in operation["responses"].items():
        content = resolve(document, response).get("content", {}) if status.startswith("2") else {}
        if "application/json" in content:
            yield content["application/json"]["schema"]


def calls(document):
    """(method, template, is it a page, members) of each call with the parameter."""
    for template, item in document["paths"].items():
        for method in METHODS:
            operation = item.get(method)
            if operation is None or {"$ref": PARAMETER} not in operation.get("parameters", []):
                continue
            members = None
            for schema in reply_schemas(document, operation):
                members = merge(members, members_of(document, schema))
            is_page = {"items", "next_cursor"} <= set(members.by_name)
            yield method.upper(), template, is_page, members.by_name["items"] if is_page else members


def write(document):
    """The table as C; equal objects are written once."""
    lines, names = ['#include "api/api.h"', "", "/* Made from openapi/ by openapi/reply_members.py. */"], {}

    def table(members):
        if members is None:
            return "NULL"
        key = members.key()
        if key not in names:
            within = [(name, table(of)) for name, of in members.by_name.items()]
            values = table(members.values)
            names[key] = "of_%d" % len(names)
            row = names[key]
            if within:
                lines.append("static const struct http_member %s_members[] = {%s};" % (
                    row, ", ".join('{"%s", %s}' % pair for pair in within)))
            lines.append("static const struct http_members %s = {.members = %s, .n = %d, .is_map = %s, .values = %s};" % (
                row, row + "_members" if within else "NULL", len(within), str(members.is_map).lower(), values))
        return "&" + names[key]

    rows = ['    {"%s", HTTP_%s, %s, %s},' % (template, method, str(is_page).lower(), table(members))
            for method, template, is_page, members in calls(document)]
    lines += ["const struct http_reply_members api_reply_members[] = {", *rows, "    {.template = NULL},", "};", ""]
    return "\n".join(lines)


def main():
    output = pathlib.Path(sys.argv[1])
    output.write_text(write(bundle.load()))
    if len(sys.argv) > 2:
        pathlib.Path(sys.argv[2]).write_text("%s: %s\n" % (output, " ".join(map(str, [bundle.ROOT] + bundle.parts()))))


if __name__ == "__main__":
    main()
