"""What ?fields= may name, as openapi/reply_members.py reads it from the contract."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "openapi"))
import bundle  # noqa: E402
import reply_members  # noqa: E402

DOCUMENT = bundle.load()


def names_of(members, depth=1):
    """The members as nested dicts; {} for one without, "*" for keys of any name."""
    if members is None or depth == 0:
        return {}
    found = {name: names_of(of, depth - 1) for name, of in members.by_name.items()}
    return {**found, "*": names_of(members.values, depth - 1)} if members.is_map else found


def reply_of(schema):
    return {"200": {"content": {"application/json": {"schema": schema}}}}


def call(schema):
    operation = {"parameters": [{"$ref": reply_members.PARAMETER}], "responses": reply_of(schema)}
    document = {"paths": {"/x": {"get": operation}}, "components": {"schemas": {"Y": {"type": "object", "additionalProperties": False, "properties": {"y": {}}}}}}
    ((_, _, is_page, members),) = reply_members.calls(document)
    return is_page, names_of(members, 9)


def test_every_get_of_the_api_that_answers_json_has_the_parameter():
    """And of all other calls those that answer advice."""
    for template, item in DOCUMENT["paths"].items():
        for method, operation in item.items():
            if method not in reply_members.METHODS:
                continue
            wanted = (template.startswith("/v1/") and method == "get" and any(reply_members.reply_schemas(DOCUMENT, operation))) or \
                any(schema == {"$ref": "#/components/schemas/Advice"} for schema in reply_members.reply_schemas(DOCUMENT, operation))
            assert ({"$ref": reply_members.PARAMETER} in operation.get("parameters", [])) == wanted, (method, template)


def test_members_of_advice():
    found = {(method, template): (is_page, members) for method, template, is_page, members in reply_members.calls(DOCUMENT)}
    one, many = found["GET", "/v1/advice/{id}"], found["GET", "/v1/advice"]
    assert (one[0], many[0]) == (False, True) and one[1].key() == many[1].key() == found["POST", "/v1/advice"][1].key()
    assert set(one[1].by_name) == set(DOCUMENT["components"]["schemas"]["Advice"]["properties"])
    advice = names_of(one[1], 3)
    assert set(advice["recommendation"]) == set(DOCUMENT["components"]["schemas"]["Recommendation"]["properties"])
    assert advice["spark"]["properties"] == {"*": {}} and advice["alternatives"]["executors"] == {} and "tasks" in advice["copy_plan"]


def test_alternatives_lists_and_maps():
    y = {"$ref": "#/components/schemas/Y"}
    whole = {"type": "object", "additionalProperties": False}
    assert call({**whole, "properties": {"a": {"oneOf": [y, {"type": "null"}]}, "b": {"type": "array", "items": {"type": "array", "items": y}}}}) == \
        (False, {"a": {"y": {}}, "b": {"y": {}}})
    assert call({"allOf": [y, {**whole, "properties": {"z": {"type": ["object", "null"], "additionalProperties": {"type": "string"}}}}]}) == \
        (False, {"y": {}, "z": {"*": {}}})
    assert call({"type": "object", "additionalProperties": y}) == (False, {"*": {"y": {}}})
    assert call({**whole, "properties": {"items": {"type": "array", "items": y}, "next_cursor": {}}}) == (True, {"y": {}})


def test_the_table_writes_equal_objects_once():
    text = reply_members.write(DOCUMENT)
    rows = [line for line in text.splitlines() if line.startswith('    {"/v1/')]
    assert len(rows) == len(list(reply_members.calls(DOCUMENT))) and len(set(rows)) == len(rows)
    tables = [line.split(" = ", 1)[1] for line in text.splitlines() if line.startswith("static const struct http_member ")]
    assert len(set(tables)) == len(tables)
