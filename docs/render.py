#!/usr/bin/python3
"""Render the contract and the problem types as one page that needs neither network nor script.

    render.py OPENAPI_YAML PROBLEMS_YAML TEMPLATE OUTPUT_HTML
"""
import json
import re
import sys

import jinja2
import yaml
from markupsafe import Markup, escape

METHODS = ("get", "put", "post", "delete", "patch")


def prose(text):
    """Paragraphs, **strong** and `code`: all the markup that the contract's descriptions use."""
    if not text:
        return Markup("")
    out = []
    for paragraph in re.split(r"\n\s*\n", str(text).strip()):
        safe = str(escape(" ".join(paragraph.split())))
        safe = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", safe)
        safe = re.sub(r"`([^`]+)`", r"<code>\1</code>", safe)
        out.append("<p>%s</p>" % safe)
    return Markup("\n".join(out))


def bounds(schema):
    words = []
    for key, word in (("minimum", "≥ %s"), ("exclusiveMinimum", "> %s"), ("maximum", "≤ %s"),
                      ("exclusiveMaximum", "< %s"), ("minLength", "at least %s characters"),
                      ("maxLength", "at most %s characters"), ("minItems", "at least %s items"),
                      ("maxItems", "at most %s items"), ("format", "%s"), ("default", "default %s")):
        if key in schema:
            value = schema[key]
            words.append(word % (str(value).lower() if isinstance(value, bool) else value))
    if "enum" in schema:
        words.append("one of " + ", ".join(json.dumps(v) for v in schema["enum"]))
    if "const" in schema:
        words.append("always " + json.dumps(schema["const"]))
    return words


def kind(schema):
    """A schema in a few words, with a link where it is one of the named shapes."""
    if not schema:
        return Markup("")
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return Markup('<a href="#schema-%s">%s</a>') % (name, name)
    types = schema.get("type", "object" if "properties" in schema else "")
    text = escape(" or ".join(types) if isinstance(types, list) else types)
    if "items" in schema:
        text += Markup(" of ") + kind(schema["items"])
    if isinstance(schema.get("additionalProperties"), dict):
        text += Markup(" of ") + kind(schema["additionalProperties"])
    if "contentSchema" in schema:
        text = Markup("lines of ") + kind(schema["contentSchema"])
    words = bounds(schema)
    if words:
        text += escape((", " if text else "") + ", ".join(words))
    return text


def members(schema, prefix=""):
    """Rows of an object's members, those of inner objects indented by their path."""
    for name, inner in schema.get("properties", {}).items():
        yield {"name": prefix + name, "schema": inner, "required": name in schema.get("required", ())}
        items = inner.get("items", inner) if isinstance(inner, dict) else {}
        if "properties" in items:
            yield from members(items, prefix + name + ("[]." if "items" in inner else "."))


def calls(document):
    def resolve(node):
        while "$ref" in node:
            target = document
            for part in node["$ref"][2:].split("/"):
                target = target[part]
            node = target
        return node

    def schema_of(holder):
        for media in holder.get("content", {}).values():
            return media.get("schema", {})
        return {}

    for path, item in document["paths"].items():
        for method in METHODS:
            if method not in item:
                continue
            operation = item[method]
            scopes = [s for need in operation["security"] for s in need["bearer"]]
            body = None
            if "requestBody" in operation:
                media, content = next(iter(operation["requestBody"]["content"].items()))
                body = {"kind": media, "schema": content["schema"],
                        "examples": {k: v["value"] for k, v in content.get("examples", {}).items()}}
            yield {
                "method": method.upper(), "path": path, "operationId": operation["operationId"],
                "tag": operation["tags"][0], "summary": operation["summary"],
                "description": operation.get("description"), "scope": " ".join(scopes), "body": body,
                "parameters": [resolve(p) for p in item.get("parameters", []) + operation.get("parameters", [])],
                "replies": {status: {"description": resolve(r)["description"], "schema": schema_of(resolve(r))}
                            for status, r in operation["responses"].items()},
            }


def main():
    contract, problems, template, output = sys.argv[1:]
    with open(contract) as f:
        document = yaml.safe_load(f)
    with open(problems) as f:
        problem_types = yaml.safe_load(f)
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.ChainableUndefined)
    environment.filters.update(prose=prose, kind=kind, members=members,
                               json=lambda value: json.dumps(value, indent=2))
    with open(template) as f:
        page = environment.from_string(f.read())
    with open(output, "w") as f:
        f.write(page.render(info=document["info"], tags=document["tags"], calls=list(calls(document)),
                            schemas=document["components"]["schemas"],
                            problems={k: v for k, v in problem_types.items() if not v["meaning"].startswith("Not a problem")}))


if __name__ == "__main__":
    main()
