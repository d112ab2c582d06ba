"""The contract, openapi/provisor.yaml with its parts, as a judge of real replies."""
import json
import math
import pathlib
import re
import sys
import urllib.parse

import jsonschema

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "openapi"))
import bundle  # noqa: E402

METHODS = ("get", "put", "post", "delete", "patch")


PLAIN = {"type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "description"}


def items(validator, schema, instance, whole):
    """The keyword of that name. Long arrays of numbers are judged in one pass, and item by item only if one is at fault."""
    if isinstance(schema, dict) and schema.get("type") == "number" and not schema.keys() - PLAIN and "prefixItems" not in whole \
            and isinstance(instance, list) and instance and all(type(x) in (int, float) for x in instance):
        least, most = min(instance), max(instance)
        if schema.get("minimum", least) <= least and most <= schema.get("maximum", most) \
                and not least <= schema.get("exclusiveMinimum", -math.inf) and not most >= schema.get("exclusiveMaximum", math.inf):
            return
    yield from jsonschema.Draft202012Validator.VALIDATORS["items"](validator, schema, instance, whole)


Validator = jsonschema.validators.extend(jsonschema.Draft202012Validator, {"items": items})
# ?fields= leaves out what it does not name.
PartValidator = jsonschema.validators.extend(Validator, {"required": lambda *whatever: iter(()), "oneOf": Validator.VALIDATORS["anyOf"]})


class Contract:
    def __init__(self):
        self.document = bundle.load()
        self.resolver = jsonschema.RefResolver("", self.document)
        self.templates = []
        for template in self.document["paths"]:
            # {path} is the rest of a path, its slashes included.
            pattern = re.sub(r"\{[^}]+\}", "[^/]+", template.replace("{path}", ".*"))
            self.templates.append((template.count("{"), re.compile("^%s$" % pattern), template))
        self.templates.sort(key=lambda t: t[0])
        self.seen = set()

    def resolve(self, node):
        while isinstance(node, dict) and "$ref" in node:
            node = self.resolver.resolve(node["$ref"])[1]
        return node

    def operations(self):
        """(METHOD, template, operation)"""
        for template, item in self.document["paths"].items():
            for method in METHODS:
                if method in item:
                    yield method.upper(), template, item[method]

    def operation(self, method, path):
        for _, pattern, template in self.templates:
            if pattern.match(path):
                item = self.document["paths"][template]
                found = item.get("get" if method == "HEAD" else method.lower())
                if found is not None:
                    return template, found
        return None, None

    def validator(self, schema, part=False):
        return (PartValidator if part else Validator)(
            schema, resolver=self.resolver, format_checker=jsonschema.FormatChecker())

    def check_instance(self, schema, instance, what, part=False):
        errors = sorted(self.validator(schema, part).iter_errors(instance), key=lambda e: list(e.path))
        assert not errors, "%s breaks the contract at /%s: %s" % (
            what, "/".join(str(p) for p in errors[0].absolute_path), errors[0].message)

    def check_reply(self, method, path, reply):
        path = urllib.parse.urlsplit(path).path
        part = "fields=" in urllib.parse.urlsplit(reply.url).query and reply.status_code < 300
        template, operation = self.operation(method, path)
        what = "%s %s -> %d" % (method, path, reply.status_code)
        if operation is None:
            # Nothing is promised for unknown calls but a problem.
            assert reply.status_code in (400, 401, 404, 405, 501) or method == "OPTIONS", what + " is not in the contract"
            return
        responses = operation["responses"]
        response = self.resolve(responses.get(str(reply.status_code)) or responses.get("default"))
        assert response is not None, what + ": the status is not in the contract"
        self.seen.add((operation["operationId"], reply.status_code))
        for name, header in response.get("headers", {}).items():
            header = self.resolve(header)
            assert name in reply.headers or not header.get("required"), "%s lacks the header %s" % (what, name)
        if method == "HEAD":
            return
        content = response.get("content")
        if not content:
            assert reply.content == b"", what + " has a body that the contract does not know"
            return
        kind = reply.headers.get("Content-Type", "").split(";")[0]
        assert kind in content, "%s: media type %r is not in the contract" % (what, kind)
        schema = content[kind].get("schema")
        if schema is not None and kind.endswith("ndjson"):
            for line in reply.content.splitlines():
                self.check_instance(schema["contentSchema"], json.loads(line), what)
        elif schema is not None and kind.endswith("json"):
            self.check_instance(schema, reply.json(), what, part)

    def check_request(self, method, path, body):
        """For examples: is this body one that the contract allows?"""
        _, operation = self.operation(method, path)
        content = self.resolve(operation["requestBody"])["content"]["application/json"]
        self.check_instance(content["schema"], body, "%s %s request" % (method, path))
