"""Reading a model's JSON reply: the object out of the text, checked against its schema.

Small on purpose: the part of JSON Schema that our own schemas use (object, string, integer, boolean, enum,
array, null, anyOf, maxLength, maxItems). A reply is a stranger's text: what does not fit is a
ReplyError whose message the model can act on.
"""

import json
import re
from typing import Any

Schema = dict[str, Any]
_THINK = re.compile(r"<think>.*?(</think>|\Z)", re.DOTALL)
_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)


class ReplyError(Exception):
    """A reply that does not have the form asked for; the message is meant for the model."""


def record(**properties: Schema) -> Schema:
    """Return the schema of an object that has exactly these properties, in this order."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def words(limit: int = 4_000) -> Schema:
    """Return the schema of a text of at most `limit` characters."""
    return {"type": "string", "maxLength": limit}


def maybe(schema: Schema) -> Schema:
    """Return the schema of a value or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def one_of(*options: str) -> Schema:
    """Return the schema of one of these words."""
    return {"type": "string", "enum": list(options)}


def read_object(text: str, schema: Schema) -> dict[str, Any]:
    """Return the JSON object in a reply. Raises: ReplyError (none, or not as the schema says)."""
    value = _find(_THINK.sub("", text))
    _check(value, schema, "the object")
    return dict(value)


def _find(text: str) -> Any:
    """Return the last fenced object, else the object from the first brace on."""
    candidates = [*reversed(_FENCE.findall(text)), text]
    problem = "there is no JSON object in it"
    for candidate in candidates:
        start = candidate.find("{")
        if start < 0:
            continue
        try:
            return json.JSONDecoder().raw_decode(candidate[start:])[0]
        except (ValueError, RecursionError) as error:
            problem = f"the JSON is broken: {error}"
    raise ReplyError(problem)


def _check(value: Any, schema: Schema, where: str) -> None:
    if "anyOf" in schema:
        _check_any(value, schema["anyOf"], where)
    elif schema["type"] == "object":
        _check_object(value, schema, where)
    elif schema["type"] == "array":
        _check_array(value, schema, where)
    elif schema["type"] == "string":
        _check_text(value, schema, where)
    elif schema["type"] == "integer" and type(value) is not int:
        raise ReplyError(f"{where} is {_shown(value)}; expected a whole number")
    elif schema["type"] == "boolean" and not isinstance(value, bool):
        raise ReplyError(f"{where} is {_shown(value)}; expected true or false")
    elif schema["type"] == "null" and value is not None:
        raise ReplyError(f"{where} is {_shown(value)}; expected null")


def _check_any(value: Any, options: list[Schema], where: str) -> None:
    problems = []
    for option in options:
        try:
            return _check(value, option, where)
        except ReplyError as error:
            problems.append(str(error))
    raise ReplyError(problems[0])


def _check_object(value: Any, schema: Schema, where: str) -> None:
    if not isinstance(value, dict):
        raise ReplyError(f"{where} is {_shown(value)}; expected an object")
    properties = schema["properties"]
    if missing := [name for name in schema["required"] if name not in value]:
        raise ReplyError(f"{where} lacks {', '.join(map(repr, missing))}")
    if unknown := [name for name in value if name not in properties]:
        known = ", ".join(properties)
        raise ReplyError(f"{where} has unknown {', '.join(map(repr, unknown))}; known: {known}")
    for name, inner in properties.items():
        _check(value[name], inner, f"{name!r}")


def _check_array(value: Any, schema: Schema, where: str) -> None:
    if not isinstance(value, list):
        raise ReplyError(f"{where} is {_shown(value)}; expected a list")
    if len(value) > schema.get("maxItems", 100):
        raise ReplyError(f"{where} has {len(value)} entries; at most {schema.get('maxItems', 100)}")
    for entry in value:
        _check(entry, schema["items"], f"an entry of {where}")


def _check_text(value: Any, schema: Schema, where: str) -> None:
    if not isinstance(value, str):
        raise ReplyError(f"{where} is {_shown(value)}; expected text")
    if "enum" in schema and value not in schema["enum"]:
        raise ReplyError(f"{where} is {_shown(value)}; expected one of {', '.join(schema['enum'])}")
    if len(value) > schema.get("maxLength", 20_000):
        raise ReplyError(f"{where} has {len(value)} characters; at most {schema['maxLength']}")
    if re.search(r"[\ud800-\udfff]", value):
        raise ReplyError(f"{where} holds half a character (a lone surrogate)")


def _shown(value: Any) -> str:
    return repr(value)[:80]
