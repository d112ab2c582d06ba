"""The methods of provisor.Client that are made from the contract by the rows of methods.py."""
from __future__ import annotations

import re
from typing import Any

from contract import Contract, attribute, camel, description, docstring, name_of
from methods import COMPUTES_ONLY, HEADER_NAMES, METHODS, PATH_NAMES, Method
from shapes import Records, Requests, literal

PAGE_PARAMETERS = [
    ("limit", "Optional[int] = None", "how many items in all; None: all that there are"),
    ("cursor", "Optional[str] = None", "where to go on: `next_cursor` of pages read before"),
    ("page_size", "Optional[int] = None", "how many items to fetch at once"),
]


class Signature:
    """The parameters of a method on their way from the contract into Python, and the arguments of the call behind it."""

    def __init__(self) -> None:
        self.positional: list[str] = []
        self.required: list[str] = []
        self.named: list[str] = []
        self.about: list[tuple[str, str]] = []
        self.arguments: list[str] = []

    def parameters(self) -> list[str]:
        named = self.required + self.named
        found = ["self", *self.positional, *(["*"] if named else []), *named]
        names = [text.split(":")[0] for text in found]
        if len(set(names)) != len(names):
            raise SystemExit("two parameters of one name: %s" % ", ".join(names))
        return found


class Calls:
    """describe[operationId]: what the call is; methods[topic]: the text of the methods."""

    def __init__(self, contract: Contract) -> None:
        self.contract, self.records, self.requests = contract, Records(contract), Requests(contract)
        self.described: dict[str, str] = {}
        self.methods: dict[str, list[str]] = {}
        rows: dict[str, list[Method]] = {}
        for method in METHODS:
            rows.setdefault(method.operation, []).append(method)
        for path, verb, operation, parameters in contract.operations():
            name = operation["operationId"]
            if name not in rows:
                raise SystemExit("methods.py has no method for %s" % name)
            self.described[name] = self.describe(path, verb, operation, parameters)
            for method in rows.pop(name):
                if method.kind != "written":
                    self.methods.setdefault(operation["tags"][0], []).append(self.method(method, operation, parameters))
        if rows:
            raise SystemExit("the contract has no %s" % ", ".join(rows))
        # What lines, events, problems and methods written by hand are made of.
        for name in ("Problem", "RunRecord", "OperationEvent", "ImportOutcome", "Run", "PriceBook", "SlotLogReplyLine",
                     "SpeculationLogReplyLine"):
            self.records.of({"$ref": "#/components/schemas/" + name}, name, "")
        for name in ("RunRecord", "FreshState", "OmoState", "EsplashState", "LateState"):
            self.requests.of({"$ref": "#/components/schemas/" + name}, name, "")

    def describe(self, path: str, verb: str, operation: dict[str, Any], parameters: list[dict[str, Any]]) -> str:
        name = operation["operationId"]
        keyed = any(self.contract.resolve(p)["name"] == "Idempotency-Key" for p in parameters)
        repeat = "key" if keyed else "always" if verb in ("GET", "PUT", "DELETE") or name in COMPUTES_ONLY else "never"
        return 'Call("%s", "%s", "%s", "%s", %r)' % (name, verb, path, repeat, operation.get("security") != [])

    # --- one method ---

    def method(self, method: Method, operation: dict[str, Any], parameters: list[dict[str, Any]]) -> str:
        signature = Signature()
        returned, arguments = self.result(method, operation)
        signature.arguments += arguments
        self.take_parameters(method, operation, parameters, signature)
        self.take_body(method, operation, signature)
        if method.kind == "pages":
            for name, rest, about in PAGE_PARAMETERS:
                signature.named.append("%s: %s" % (name, rest))
                signature.about.append((name, about))
                signature.arguments.append("%s=%s" % (name, name))
        text = "    def %s(\n        %s,\n    ) -> %s:\n" % (method.name, ",\n        ".join(signature.parameters()), returned)
        text += docstring(self.about(operation, signature.about), 8)
        # What was made of JSON is Any to a type checker until it has a name.
        begin, end = ("        found: %s = " % returned, "        return found\n") if method.kind == "one" else ("        return ", "")
        text += '%sself._%s(\n            CALLS["%s"],\n' % (begin, method.kind, method.operation)
        return text + "".join("            %s,\n" % argument for argument in signature.arguments) + "        )\n" + end

    def take_parameters(self, method: Method, operation: dict[str, Any], parameters: list[dict[str, Any]],
                        signature: Signature) -> None:
        members = self.body_members(operation)
        paths: list[str] = []
        query = ['"%s": "%s"' % pair for pair in method.fixed.items()]
        repeated: list[str] = []
        for node in parameters:
            parameter = self.contract.resolve(node)
            name, place = parameter["name"], parameter["in"]
            spelled = attribute(HEADER_NAMES.get(name, name))
            if place == "path":
                better = PATH_NAMES.get(node.get("$ref", "").rsplit("/", 1)[-1], spelled)
                spelled = spelled if better in members else better
                signature.positional.append("%s: str" % spelled)
                paths.append(spelled)
            elif place == "header":
                signature.named.append("%s: Optional[%s] = None" % (spelled, "float" if spelled == "wait_s" else "str"))
                signature.arguments.append("%s=%s" % (spelled, spelled))
            elif self.has(method, name):
                made = self.parameter_type(method, parameter)
                if name in method.first:
                    signature.positional.insert(method.first.index(name), "%s: %s" % (spelled, made))
                else:
                    signature.named.append("%s: Optional[%s] = None" % (spelled, made))
                exploded = parameter.get("explode", True) and parameter["schema"].get("type") == "array"
                (repeated if exploded else query).append('"%s": %s' % (name, spelled))
            else:
                continue
            about = "members of the reply to come with; the others are left out"
            signature.about.append((spelled, about if spelled == "fields" else parameter.get("description", "")))
        if paths:
            signature.arguments.append("path=(%s,)" % ", ".join(paths))
        if query:
            signature.arguments.append("query={%s}" % ", ".join(query))
        if repeated:
            signature.arguments.append("repeated={%s}" % ", ".join(repeated))

    @staticmethod
    def has(method: Method, name: str) -> bool:
        """Whether the method has this query parameter; pages see to theirs."""
        if method.kind == "pages" and name in ("limit", "cursor"):
            return False
        return method.query is None or name in method.query

    def parameter_type(self, method: Method, parameter: dict[str, Any]) -> str:
        schema, name = parameter["schema"], parameter["name"]
        if name == "fields":
            return "Union[str, Iterable[str]]"
        if name == "label":
            return "Union[str, Mapping[str, str], Iterable[str]]"
        if name == "format" and method.choice:
            return literal(list(method.choice))
        if "," in schema.get("pattern", ""):  # numbers, separated by commas
            return "Union[float, str, Iterable[float]]"
        made = self.requests.of(schema, camel(name), "").type
        return made.replace("Sequence[", "Iterable[", 1) if made.startswith("Sequence[") else made

    def body_members(self, operation: dict[str, Any]) -> set[str]:
        content = self.contract.resolve(operation.get("requestBody", {})).get("content", {})
        bodies = self.bodies(content.get("application/json", {}).get("schema", {}))
        return {member for _, schema in bodies for member in schema.get("properties", {})}

    def bodies(self, node: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        """(name, schema) of what a body may be: one object, or one of several."""
        schema = self.contract.resolve(node)
        if "properties" not in schema and "oneOf" in schema:
            return [body for branch in schema["oneOf"] for body in self.bodies(branch)]
        return [(name_of(node) or "", schema)]

    @staticmethod
    def members(bodies: list[tuple[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
        """The members of all bodies, as the first one that has them describes them."""
        found: dict[str, dict[str, Any]] = {}
        for _, schema in bodies:
            for member, inner in schema["properties"].items():
                found.setdefault(member, inner)
        return found

    def take_body(self, method: Method, operation: dict[str, Any], signature: Signature) -> None:
        """The members of the body become parameters: those that it must have without a default."""
        body = self.contract.resolve(operation.get("requestBody", {}))
        form = body.get("content", {}).get("application/json")
        if form is None:
            return
        bodies = self.bodies(form["schema"])
        if any(schema.get("additionalProperties") is not False for _, schema in bodies):
            # what others define has members that nobody here knows
            signature.positional.append("body: Mapping[str, Any]")
            signature.arguments.append("body=body")
            return
        plain: list[str] = []
        nullable: list[str] = []
        named: list[str] = []
        positional: list[tuple[int, str]] = []
        for member, inner in self.members(bodies).items():
            shape = self.requests.one_of(
                [self.requests.of(schema["properties"][member], own + camel(member), self.contract.topics[own])
                 for own, schema in bodies if member in schema["properties"]])
            spelled = attribute(member)
            must = all(member in schema.get("required", []) for _, schema in bodies)
            if shape.null:
                text = "%s: %s" % (spelled, shape.or_none if must else "Union[%s, Unset] = UNSET" % shape.or_none)
            else:
                text = "%s: %s" % (spelled, shape.type if must else "Optional[%s] = None" % shape.type)
            if member in method.first:
                positional.append((method.first.index(member), text))
            else:
                (signature.required if must else named).append(text)
            (nullable if shape.null else plain).append('"%s": %s' % (member, spelled))
            signature.about.append((spelled, self.contract.resolve(inner).get("description", "")))
        signature.positional += [text for _, text in sorted(positional)]
        signature.named = named + signature.named
        absent = "" if body.get("required") else " or None"
        signature.arguments.append("body=given({%s}, {%s})%s" % (", ".join(plain), ", ".join(nullable), absent))

    def result(self, method: Method, operation: dict[str, Any]) -> tuple[str, list[str]]:
        """The type that comes back, and the class by which the caller makes it."""
        if method.kind in ("none", "text"):
            return {"none": "None", "text": "str"}[method.kind], []
        schema = self.success(operation)
        topic = operation["tags"][0]
        if method.kind == "pages":
            schema, name = self.contract.resolve(schema)["properties"]["items"]["items"], (name_of(schema) or "") + "Item"
            shape = self.records.of(schema, name, topic)
            return "Pages[%s]" % shape.type, ['"%s"' % shape.type.strip("«»")]
        shape = self.records.of(schema, "", topic)
        return shape.type, ['"%s"' % "|".join(re.findall("«(.*?)»", shape.type)) if shape.convert else "None"]

    def success(self, operation: dict[str, Any]) -> dict[str, Any]:
        """The schema of the JSON that comes with success."""
        for status, response in operation["responses"].items():
            content = self.contract.resolve(response).get("content", {})
            if str(status).startswith("2") and "application/json" in content:
                return dict(content["application/json"]["schema"])
        raise SystemExit("%s answers no JSON" % operation["operationId"])

    @staticmethod
    def about(operation: dict[str, Any], parameters: list[tuple[str, str]]) -> str:
        text: str = operation["summary"].rstrip(".") + "."
        if operation.get("description"):
            text += "\n\n" + operation["description"].strip()
        rows = ["- %s: %s" % (name, description(about)) for name, about in parameters if about]
        return text + ("\n\nParameters:\n" + "\n".join(rows) if rows else "")
