"""Python types for schemas of the contract, and the classes that these need.

A type names classes by a mark, «Name» of a reply and ‹Name› of a request, because a class is written differently
in its own module and in others (see generate.py).
"""
from __future__ import annotations

import pathlib
import re
from typing import Any, NamedTuple

from contract import Contract, attribute, camel, docstring, name_of, name_of_part, singular

RESULTS = pathlib.Path(__file__).resolve().parents[1] / "src" / "provisor" / "results"


class Shape(NamedTuple):
    type: str  # without None
    convert: str | None  # the converter of record.py, where the JSON is not the value already
    null: bool

    @property
    def or_none(self) -> str:
        return "Optional[%s]" % self.type if self.null and self.type != "Any" else self.type


class Made(NamedTuple):
    topic: str
    schema: dict[str, Any]


def literal(values: list[Any]) -> str:
    texts = [v for v in values if v is not None]
    if all(isinstance(v, str) for v in texts):
        return "Literal[%s]" % ", ".join('"%s"' % v for v in texts)
    return type(texts[0]).__name__


def hand_written() -> dict[str, str]:
    """{class: module} of the classes in src/provisor/results."""
    return {name: path.stem for path in sorted(RESULTS.glob("*.py")) for name in re.findall(r"^class (\w+)\(", path.read_text(), re.M)}


class Types:
    """What an object becomes is left to Records (of replies) and Requests."""

    sequence, mapping, instant = "List", "Dict", "datetime.datetime"

    def __init__(self, contract: Contract) -> None:
        self.contract = contract
        self.made: dict[str, Made] = {}
        self.texts: dict[str, str] = {}

    def mark(self, name: str) -> str:
        raise NotImplementedError

    def text(self, name: str, schema: dict[str, Any], topic: str) -> str:
        raise NotImplementedError

    def of(self, node: dict[str, Any], name: str, topic: str) -> Shape:
        """name, topic: of an object that has none of its own."""
        own, part = name_of(node), name_of_part(node)
        schema = self.contract.resolve(node)
        if own:
            name, topic, schema = own, self.contract.topics[own], self.contract.schemas[own]
        elif part:
            name, topic = part, self.contract.topics[node["$ref"].split("/")[3]]
        branches = schema.get("oneOf") or schema.get("anyOf")
        if branches and "properties" not in schema and "type" not in schema:
            return self.union(branches, name, topic)
        kinds = schema.get("type", [])
        kinds = kinds if isinstance(kinds, list) else [kinds]
        null = "null" in kinds or None in schema.get("enum", [])
        kind = next((k for k in kinds if k != "null"), None)
        if "const" in schema:
            return Shape(literal([schema["const"]]), None, null)
        if "enum" in schema:
            return Shape(literal(schema["enum"]), None, null)
        if kind == "object" or "properties" in schema:
            return self.object(schema, name, topic, null)
        if kind == "array":
            inner = self.of(schema.get("items", {}), singular(name), topic)
            return Shape("%s[%s]" % (self.sequence, inner.or_none), inner.convert and "many(%s)" % inner.convert, null)
        if kind == "string" and schema.get("format") == "date-time":
            return Shape(self.instant, "instant", null)
        return Shape({"string": "str", "integer": "int", "number": "float", "boolean": "bool", None: "Any"}[kind], None, null)

    def object(self, schema: dict[str, Any], name: str, topic: str, null: bool) -> Shape:
        if "properties" in schema:
            if self.contract.schemas.get(name, schema) is not schema:
                name += "Entry"  # the contract has that name for something else
            found = self.made.get(name)
            if found is None:
                self.made[name] = Made(topic, schema)
                self.texts[name] = self.text(name, schema, topic)
            elif found.schema != schema:
                raise SystemExit("two objects of the contract would be named %s" % name)
            return Shape(self.mark(name), 'one("%s")' % name, null)
        more = schema.get("additionalProperties")
        if not isinstance(more, dict):
            return Shape("%s[str, Any]" % self.mapping, None, null)
        inner = self.of(more, singular(name), topic)
        return Shape("%s[str, %s]" % (self.mapping, inner.or_none), inner.convert and "mapped(%s)" % inner.convert, null)

    def union(self, branches: list[dict[str, Any]], name: str, topic: str) -> Shape:
        null = {"type": "null"} in branches
        shapes = [self.of(branch, name, topic) for branch in branches if branch != {"type": "null"}]
        converters = [shape.convert for shape in shapes if shape.convert]
        convert = converters[0] if converters else None
        if len(converters) > 1:
            names = [re.fullmatch(r'one\((".*")\)', c) for c in converters]
            if not all(names):
                raise SystemExit("%s: a union that is not understood" % name)
            convert = "any_of(%s)" % ", ".join(n[1] for n in names if n)
        shape = self.one_of(shapes)
        return shape._replace(convert=convert, null=null or shape.null)

    @staticmethod
    def one_of(shapes: list[Shape]) -> Shape:
        """The type of a value of one of these shapes, without a converter."""
        types = list(dict.fromkeys(shape.type for shape in shapes))
        return Shape("Union[%s]" % ", ".join(types) if len(types) > 1 else types[0], None, any(s.null for s in shapes))


class Records(Types):
    """Dataclasses for the objects of replies."""

    def mark(self, name: str) -> str:
        return "«%s»" % name

    def text(self, name: str, schema: dict[str, Any], topic: str) -> str:
        required = schema.get("required", [])
        fields, converters, names, constants = "", "", "", ""
        for member, inner in schema["properties"].items():
            shape = self.of(inner, name + camel(member), topic)
            spelled = attribute(member)
            if spelled in ("extra", "reply", "to_dict", "from_json"):
                raise SystemExit("%s.%s is the name of something else of a Record" % (name, member))
            about = self.contract.resolve(inner).get("description", "")
            fields += "    %s: %s\n" % (spelled, shape._replace(null=shape.null or member not in required).or_none)
            fields += docstring(about, 4) if about else ""
            names += '        "%s": "%s",\n' % (spelled, member)
            if "const" in self.contract.resolve(inner):
                constants += '        "%s": %r,\n' % (member, self.contract.resolve(inner)["const"])
            if shape.convert:
                converters += '        "%s": %s,\n' % (spelled, shape.convert)
        text = "@dataclasses.dataclass(init=False, repr=False, eq=False)\nclass %s(Record):\n" % name
        text += docstring(schema.get("description") or "%s of the contract." % name, 4) + "\n" + fields
        text += "\n    _names: ClassVar[Mapping[str, str]] = {\n%s    }\n" % names
        text += "    _required: ClassVar[FrozenSet[str]] = frozenset((%s))\n" % "".join('"%s", ' % r for r in required)
        text += "    _constants: ClassVar[Mapping[str, Any]] = {\n%s    }\n" % constants if constants else ""
        return text + ("    _converters: ClassVar[Mapping[str, Convert]] = {\n%s    }\n" % converters if converters else "")


class Requests(Types):
    """TypedDicts for the objects of requests; what came with a reply may be sent back as it is."""

    sequence, mapping, instant = "Sequence", "Mapping", "Union[datetime.datetime, str]"

    def mark(self, name: str) -> str:
        return "Union[‹%s›, Record]" % name

    def text(self, name: str, schema: dict[str, Any], topic: str) -> str:
        required = schema.get("required", [])
        must: dict[str, str] = {}
        may: dict[str, str] = {}
        for member, inner in schema["properties"].items():
            (must if member in required else may)[member] = self.of(inner, name + camel(member), topic).or_none
        about = docstring(schema.get("description") or "%s of the contract." % name, 4)
        if any(attribute(member) != member for member in schema["properties"]):  # words of Python cannot be attributes
            pairs = "".join('    "%s": "%s",\n' % (member, made.replace('"', "'")) for member, made in {**must, **may}.items())
            return '%s = TypedDict("%s", {\n%s}, total=False)\n' % (name, name, pairs)
        if not must or not may:
            total = "" if must else ", total=False"
            return "class %s(TypedDict%s):\n%s\n" % (name, total, about) + self.members({**must, **may})
        text = "class _%sRequired(TypedDict):\n%s\n\n" % (name, self.members(must))
        return text + "class %s(_%sRequired, total=False):\n%s\n" % (name, name, about) + self.members(may)

    @staticmethod
    def members(types: dict[str, str]) -> str:
        return "".join("    %s: %s\n" % pair for pair in types.items())
