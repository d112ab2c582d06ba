"""An example value of a schema, made from it: what the contract gives as example or default, else a plausible value."""

INSTANT = "2026-01-05T10:00:00Z"
ID = "0190d4a0-0000-7000-8000-000000000000"
WORDS = {"name": "nightly-etl", "application": "nightly-etl", "cluster": "eu-1", "currency": "EUR", "machine_type": "m5.xlarge",
         "code": "deadline_met", "message": "6 executors finish within 90 s with a probability of 97.3 %.", "spark_version": "3.5.1",
         "next_cursor": "AQEB", "request_id": "4f2c9d", "traceparent": "", "label": "branch:main"}
DEPTH_MAX = 6


def number(schema, name, whole):
    low = schema.get("minimum", schema.get("exclusiveMinimum", 0))
    high = schema.get("maximum", schema.get("exclusiveMaximum", float("inf")))
    if name.endswith("bytes"):
        value = 134217728
    elif high <= 1:
        value = 0.95
    elif name.endswith("percent"):
        value = 4.4
    elif name.endswith("_s"):
        value = 75.5
    elif "executors" in name:
        value = 6
    else:
        value = 4 if whole else 4.5
    value = int(value) if whole else value
    inside = low <= value <= high and value != schema.get("exclusiveMinimum") and value != schema.get("exclusiveMaximum")
    if inside:
        return value
    if value < low or value == low:
        return low + 1 if "exclusiveMinimum" in schema else low
    return high if "exclusiveMaximum" not in schema else (low + high) / 2


def text(schema, name):
    if schema.get("format") == "date-time":
        return INSTANT
    if schema.get("format") == "uuid" or name == "id" or name.endswith("_id"):
        return ID
    if schema.get("format") == "uri-reference":
        return "/v1/operations/" + ID
    value = WORDS.get(name, name.replace("_", "-") or "text")
    return value[:schema.get("maxLength", len(value))].ljust(schema.get("minLength", 0), "x")


def sample(reference, schema, name="", depth=0):
    schema, _ = reference.resolve(schema)
    for key in ("example", "const", "default"):
        if key in schema and schema[key] is not None:
            return schema[key]
    if "examples" in schema and isinstance(schema["examples"], list):
        return schema["examples"][0]
    if "enum" in schema:
        return schema["enum"][0]
    options = schema.get("oneOf") or schema.get("anyOf")
    if options and "properties" not in schema:
        best = next((o for o in options if reference.resolve(o)[0].get("type") != "null"), options[0])
        return sample(reference, best, name, depth)
    types = schema.get("type", "object" if "properties" in schema else "null")
    kind = types if isinstance(types, str) else next((t for t in types if t != "null"), "null")
    nullable = not isinstance(types, str) and "null" in types
    if kind in ("array", "object") and depth > DEPTH_MAX and nullable:
        return None
    if kind == "object":
        return members(reference, schema, name, depth)
    if kind == "array":
        return items(reference, schema, name, depth)
    if kind == "boolean":
        return True
    if kind in ("integer", "number"):
        return number(schema, name, kind == "integer")
    return text(schema, name) if kind == "string" else None


def excluded(schema):
    """Members that a choice "one of these is required" leaves out when its first option is taken."""
    options = [o.get("required", ()) for o in schema.get("oneOf", ()) if "properties" not in o]
    return {member for option in options[1:] for member in option} - set(options[0] if options else ())


def members(reference, schema, name, depth):
    required = schema.get("required", ())
    left_out = excluded(schema)
    value = {key: sample(reference, inner, key, depth + 1) for key, inner in schema.get("properties", {}).items()
             if key not in left_out and (key in required or depth < DEPTH_MAX)}
    more = schema.get("additionalProperties")
    if isinstance(more, dict) and not value:
        value["branch" if name == "labels" else "key"] = sample(reference, more, "main", depth + 1)
    return value


def items(reference, schema, name, depth):
    if "prefixItems" in schema:
        return [sample(reference, inner, name, depth + 1) for inner in schema["prefixItems"]]
    if not isinstance(schema.get("items"), dict) or (depth > DEPTH_MAX and not schema.get("minItems")):
        return []
    one = sample(reference, schema["items"], name.rstrip("s"), depth + 1)
    n = max(1, schema.get("minItems", 1))
    if n == 2 and isinstance(one, (int, float)) and not isinstance(one, bool):
        return [one, one + type(one)(14.7)] if not schema["items"].get("maximum") else [one, one]
    return [one] * n
