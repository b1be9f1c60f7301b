"""Schemas of the published description, compared with this package's types, and answers made from them."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from signsealship._parse import wire_name

Schema = Mapping[str, Any]

SAYS_ONLY_DONE = {"ok", "deleted"}
"""Members that are always true; the package leaves them out."""

EVENT = {"type": "order.later", "id": "1", "data": {}}

SCALARS = {"string": str, "integer": int, "number": float, "boolean": bool}


class Shapes:
    """The schemas of one description."""

    def __init__(self, description: Mapping[str, Any]) -> None:
        self.named: Mapping[str, Schema] = description["components"]["schemas"]

    def resolved(self, schema: Schema) -> Schema:
        return self.named[schema["$ref"].rsplit("/", 1)[-1]] if "$ref" in schema else schema

    def example(self, schema: Schema, *, full: bool) -> Any:
        """A value of the schema: with all of its members, or with as few as may be."""
        schema = self.resolved(schema)
        if "const" in schema or "enum" in schema:
            return schema.get("const", schema.get("enum", [None])[0])
        if "anyOf" in schema:
            has_null = {"type": "null"} in schema["anyOf"]
            return None if has_null and not full else self.example(schema["anyOf"][0], full=full)
        if schema.get("type") == "array":
            return [self.example(schema["items"], full=full)] if full else []
        if schema.get("type") == "object":
            names = schema.get("properties", {}) if full else schema.get("required", [])
            members = {name: self.example(schema["properties"][name], full=full) for name in names}
            # A body that is described as any object is an event.
            return {name: EVENT if name == "payload" and value == {} else value for name, value in members.items()}
        if schema.get("format") == "date-time":
            return "2026-03-04T05:06:07.089Z"
        return {"string": "x", "integer": 1, "number": 1.5, "boolean": True}.get(schema.get("type", ""))

    def faults(self, kind: Any, schema: Schema, where: str) -> Iterator[str]:
        """Where a type and a schema differ."""
        schema = self.resolved(schema)
        origin, arguments = get_origin(kind), get_args(kind)
        if origin in (Union, types.UnionType) and type(None) not in arguments:
            published = [self.resolved(each) for each in schema.get("anyOf", [])]
            others = [each for each in arguments if all(any(self.faults(each, one, where)) for one in published)]
            if others or len(published) != len(arguments):
                yield f"{where} is {schema}, not {kind}"
        elif origin in (Union, types.UnionType):
            rest = [self.resolved(each) for each in schema.get("anyOf", []) if each != {"type": "null"}]
            if len(arguments) > 2 and len(rest) == 1 and rest[0].get("type") == "object":
                return  # Events are compared with the description one by one.
            if len(rest) != 1 or len(rest) == len(schema["anyOf"]):
                yield f"{where} can't be None"
            else:
                (of,) = (each for each in arguments if each is not type(None))
                yield from self.faults(of, rest[0], where)
        elif "anyOf" in schema:
            yield f"{where} can be null"
        elif origin is Literal:
            if sorted(arguments) != sorted(schema.get("enum", [schema.get("const")])):
                yield f"{where} is {schema}"
        elif origin in (list, Sequence.__class__) or origin is not None and issubclass(origin, Sequence):
            yield from self.faults(arguments[0], schema.get("items", {}), f"{where}[]")
        elif dataclasses.is_dataclass(kind):
            hints = get_type_hints(kind)
            fields = dataclasses.fields(kind)
            required = {wire_name(each.name) for each in fields if each.default is dataclasses.MISSING}
            yield from self._members(
                {wire_name(each.name): hints[each.name] for each in fields}, required, schema, where
            )
        elif is_typeddict(kind):
            yield from self._members(get_type_hints(kind), set(kind.__required_keys__), schema, where)
        elif kind is datetime or schema.get("format") == "date-time":
            if kind is not datetime or schema.get("format") != "date-time":
                yield f"{where} is a time on one side alone"
        elif origin is dict:
            if schema.get("type") != "object":
                yield f"{where} is no object"
        elif "enum" in schema or SCALARS.get(schema.get("type", "")) is not kind:
            yield f"{where} is {schema}, not {kind}"

    def _members(self, ours: Mapping[str, Any], required: set[str], schema: Schema, where: str) -> Iterator[str]:
        published = {name: each for name, each in schema.get("properties", {}).items() if name not in SAYS_ONLY_DONE}
        for name in sorted(ours.keys() ^ published.keys()):
            yield f"{where}.{name} is {'not ours' if name in published else 'not published'}"
        for name in sorted(ours.keys() & published.keys()):
            kind = ours[name]
            if (name in required) != (name in schema.get("required", [])):
                yield f"{where}.{name} is optional on one side alone"
            elif name not in required and type(None) in get_args(kind):
                # None stands for a missing member.
                (kind,) = (each for each in get_args(kind) if each is not type(None))
            yield from self.faults(kind, published[name], f"{where}.{name}")
