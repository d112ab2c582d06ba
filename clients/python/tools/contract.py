"""The contract as the generator reads it, and how its names read in Python."""
from __future__ import annotations

import importlib.util
import keyword
import pathlib
import re
import textwrap
from typing import Any, Iterator

OPENAPI = pathlib.Path(__file__).resolve().parents[3] / "openapi"
WIDTH = 112


def camel(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", name))


def singular(name: str) -> str:
    for end, start in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ss", "ss"), ("s", "")):
        if name.endswith(end):
            return name[: -len(end)] + start
    return name


def attribute(member: str) -> str:
    name = re.sub(r"\W", "_", member)
    return name + "_" if keyword.iskeyword(name) else name


def docstring(text: str, indent: int) -> str:
    """A docstring with its lines wrapped; lists and empty lines stay."""
    pad, lines = " " * indent, []
    for line in text.strip().splitlines():
        hang = "  " if re.match(r"\s*- ", line) else ""
        lines += textwrap.wrap(line, WIDTH - indent, subsequent_indent=hang) or [""]
    body = ("\n" + pad).join(lines).replace("\\", "\\\\").replace('"""', "'''").replace("\n" + pad + "\n", "\n\n")
    if body.endswith('"'):
        body += " "
    return '%s"""%s%s"""\n' % (pad, body, "\n" + pad if len(lines) > 1 else "")


class Contract:
    """The joined document, and in which file of openapi/schemas each schema is."""

    def __init__(self) -> None:
        spec = importlib.util.spec_from_file_location("bundle", OPENAPI / "bundle.py")
        assert spec and spec.loader
        bundle = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(bundle)
        self.document = bundle.load()
        self.schemas: dict[str, Any] = self.document["components"]["schemas"]
        self.topics = {}
        for path in sorted((OPENAPI / "schemas").glob("*.yaml")):
            for name in re.findall(r"^(\w+):", path.read_text(), re.M):
                self.topics[name] = path.stem

    def resolve(self, node: dict[str, Any]) -> dict[str, Any]:
        """What a reference refers to; what stands beside the reference comes first."""
        while "$ref" in node:
            found: Any = self.document
            for part in node["$ref"][2:].split("/"):
                found = found[part.replace("~1", "/")]
            node = {**found, **{k: v for k, v in node.items() if k != "$ref"}}
        return node

    def operations(self) -> Iterator[tuple[str, str, dict[str, Any], list[dict[str, Any]]]]:
        """(path, method, operation, parameters) of every call, in the order of the contract."""
        for path, item in self.document["paths"].items():
            for method, operation in item.items():
                if method != "parameters":
                    yield path, method.upper(), operation, item.get("parameters", []) + operation.get("parameters", [])


def name_of(node: dict[str, Any]) -> str | None:
    """The schema that a reference names, or None; a reference into one has the name of the way there."""
    reference = node.get("$ref", "")
    match = re.fullmatch(r"#/components/schemas/(\w+)", reference)
    return match[1] if match else None


def name_of_part(node: dict[str, Any]) -> str | None:
    """As name_of, for a reference to a member of a schema."""
    match = re.fullmatch(r"#/components/schemas/(\w+/.*)", node.get("$ref", ""))
    return camel(re.sub(r"/(properties|oneOf/\d+|anyOf/\d+)(?=/|$)", "", match[1])) if match else None


def description(text: str) -> str:
    """The first paragraph's first sentence or two, on one line."""
    lines = text.strip().splitlines()
    return " ".join(lines[0].split()) if lines else ""
