"""The strict YAML reader: the dataclass is the schema, and every mistake names its file and line.

    @dataclass(frozen=True)
    class Dataset:
        id: str
        tables: int
        note: str = ""

    datasets = read(Path("registry/datasets.yaml"), Datasets)

Refused: an unknown, missing or repeated key, a wrong type, two entries of a list with the same
`id`, and whatever a dataclass's own `__post_init__` raises as ValueError. A field without a default
must be there. Types: str, int, float, bool, date, None, Literal, X | Y, tuple[T, ...], dict[str, T],
dataclasses, Any.
"""

import dataclasses
import json
import types
import typing
from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

import yaml

T = TypeVar("T")
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class FormatError(Exception):
    """A file that does not say what it should: `file:line: what was found; what would be right`."""

    def __init__(self, path: Path | str, line: int | None, problem: str) -> None:
        self.path, self.line, self.problem = Path(path), line, problem
        super().__init__(f"{path}:{line}: {problem}" if line else f"{path}: {problem}")


def not_json(error: ValueError) -> tuple[int | None, str]:
    """Return line and problem of a text that is no JSON, for a FormatError."""
    if isinstance(error, json.JSONDecodeError):
        return error.lineno, f"not JSON: {error.msg.lower()} at column {error.colno}"
    return None, "not JSON: it is not UTF-8" if isinstance(error, UnicodeError) else str(error)


def read(path: Path, shape: type[T]) -> T:
    """Return the file's content as an instance of a dataclass.

    Raises: FormatError (broken YAML, or not of that shape), OSError (no such file).
    """
    return read_text(path.read_bytes(), shape, path)


def read_text(text: str | bytes, shape: type[T], path: Path) -> T:
    """Return YAML text as an instance of a dataclass; `path` only names it in errors."""
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "broken YAML"
        raise FormatError(path, mark.line + 1 if mark else None, f"not YAML: {problem}") from None
    except UnicodeDecodeError as error:
        raise FormatError(path, None, f"not UTF-8: {error.reason}") from None
    if node is None:
        raise FormatError(path, 1, f"empty file; expected {_name(shape)}")
    return typing.cast(T, _Reading(path).value(node, shape, "the file"))


class _Reading:
    """One file being turned into values; knows its path for the errors."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.scalars = yaml.SafeLoader("")

    def fail(self, node: yaml.Node, problem: str) -> typing.NoReturn:
        raise FormatError(self.path, node.start_mark.line + 1, problem)

    def value(self, node: yaml.Node, shape: Any, where: str) -> Any:
        origin = typing.get_origin(shape)
        if shape is Any:
            return self.plain(node)
        if origin in (typing.Union, types.UnionType):
            return self.union(node, shape, where)
        if dataclasses.is_dataclass(shape):
            return self.record(node, typing.cast(type, shape), where)
        if origin is tuple:
            return self.sequence(node, typing.get_args(shape)[0], where)
        if origin is dict:
            item = typing.get_args(shape)[1]
            return {k: self.value(v, item, f"{where}.{k}") for k, v in self.pairs(node, where)}
        return self.scalar(node, shape, where)

    def union(self, node: yaml.Node, shape: Any, where: str) -> Any:
        options = [option for option in typing.get_args(shape) if option is not type(None)]
        if len(options) < len(typing.get_args(shape)) and self.is_null(node):
            return None
        if len(options) == 1:
            return self.value(node, options[0], where)
        for option in options:
            try:
                return self.value(node, option, where)
            except FormatError:
                continue
        self.fail(node, f"{where} is {self.shown(node)}; expected {_name(shape)}")

    def record(self, node: yaml.Node, shape: type, where: str) -> Any:
        hints, fields = _fields(shape)
        found: dict[str, Any] = {}
        for key, child in self.pairs(node, where):
            if key not in hints:
                self.fail(child, f"unknown key {key!r} in {where}; known: {', '.join(hints)}")
            found[key] = self.value(child, hints[key], key)
        missing = [f.name for f in fields if required(f) and f.name not in found]
        if missing:
            self.fail(node, f"missing key {', '.join(map(repr, missing))} in {where}")
        try:
            return shape(**found)
        except ValueError as error:
            self.fail(node, str(error))

    def sequence(self, node: yaml.Node, item: Any, where: str) -> tuple[Any, ...]:
        if not isinstance(node, yaml.SequenceNode):
            self.fail(node, f"{where} is {self.shown(node)}; expected a list")
        values = tuple(self.value(child, item, f"an entry of {where}") for child in node.value)
        seen: set[str] = set()
        for child, value in zip(node.value, values, strict=True):
            name = getattr(value, "id", None)
            if name is not None and name in seen:
                self.fail(child, f"duplicate id {name!r} in {where}; every id stands once")
            if name is not None:
                seen.add(name)
        return values

    def pairs(self, node: yaml.Node, where: str) -> list[tuple[str, yaml.Node]]:
        if not isinstance(node, yaml.MappingNode):
            self.fail(node, f"{where} is {self.shown(node)}; expected keys and values")
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.fail(key, f"a key of {where} is {self.shown(key)}; expected text")
            if key.value in seen:
                self.fail(key, f"repeated key {key.value!r} in {where}")
            seen.add(key.value)
        return [(str(key.value), child) for key, child in node.value]

    def scalar(self, node: yaml.Node, shape: Any, where: str) -> Any:
        value = self.plain(node)
        if typing.get_origin(shape) is Literal:
            right = any(value == option and type(value) is type(option) for option in _args(shape))
        elif shape is float:
            right = type(value) in (int, float)
            value = float(value) if right else value
        else:
            right = type(value) is shape
        if not right:
            self.fail(node, f"{where} is {self.shown(node)}; expected {_name(shape)}")
        return value

    def plain(self, node: yaml.Node) -> Any:
        if isinstance(node, yaml.MappingNode):
            return {key: self.plain(child) for key, child in self.pairs(node, "a mapping")}
        if isinstance(node, yaml.SequenceNode):
            return tuple(self.plain(child) for child in node.value)
        try:
            return self.scalars.construct_object(node)
        except (yaml.YAMLError, ValueError) as error:
            self.fail(node, f"{self.shown(node)} cannot be read: {error}")

    def is_null(self, node: yaml.Node) -> bool:
        return node.tag == "tag:yaml.org,2002:null"

    def shown(self, node: yaml.Node) -> str:
        if isinstance(node, yaml.ScalarNode):
            return repr(node.value[:80])
        return "a list" if isinstance(node, yaml.SequenceNode) else "a mapping"


@cache
def _fields(shape: type) -> tuple[dict[str, Any], tuple[dataclasses.Field[Any], ...]]:
    fields = tuple(f for f in dataclasses.fields(shape) if f.init)
    hints = typing.get_type_hints(shape)
    return {f.name: hints[f.name] for f in fields}, fields


def required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _args(shape: Any) -> tuple[Any, ...]:
    return typing.get_args(shape)


def _name(shape: Any) -> str:
    names = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
    names |= {date: "a date (YYYY-MM-DD)", datetime: "a date and time"}
    if typing.get_origin(shape) is Literal:
        return "one of " + ", ".join(map(str, _args(shape)))
    if typing.get_origin(shape) in (typing.Union, types.UnionType):
        return " or ".join(_name(option) for option in _args(shape))
    if shape is type(None):
        return "null"
    if dataclasses.is_dataclass(shape):
        return "the keys " + ", ".join(_fields(typing.cast(type, shape))[0])
    return names.get(shape, str(getattr(shape, "__name__", shape)))
