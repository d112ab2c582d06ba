"""What the contract says of members that the clients read: openapi/schemas, from which the document is put together."""
import pathlib

import yaml

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "openapi" / "schemas"


def load():
    """Schemas of components by their names."""
    found = {}
    for path in sorted(FOLDER.glob("*.yaml")):
        found.update(yaml.safe_load(path.read_text()))
    return found


def resolved(schema, schemas):
    while "$ref" in schema:
        schema = schemas[schema["$ref"].rsplit("/", 1)[1]]
    return schema


def member(schema, path, schemas, required=True):
    """The schema of a member at a path of names, or None where there is none, or none that every body has."""
    for name in path:
        schema = resolved(schema, schemas)
        # An object that may be null.
        choices = [resolved(choice, schemas) for choice in schema.get("oneOf", [])]
        schema = next((choice for choice in choices if choice.get("type") != "null"), schema)
        if name not in (schema.get("required", []) if required else schema.get("properties", {})):
            return None
        schema = schema["properties"][name]
    return resolved(schema, schemas)
