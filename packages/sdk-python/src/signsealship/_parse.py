"""JSON of the interface as dataclasses: camelCase becomes snake_case, unknown members are left out."""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from ._errors import UnexpectedAnswerError

T = TypeVar("T")


def wire_name(name: str) -> str:
    """`order_code` as answers and JSON bodies spell it: `orderCode`."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


@lru_cache(maxsize=None)
def _fields(kind: Any) -> list[tuple[str, str, Any, bool]]:
    """For each field: its name, its name in the interface, its type, and whether it may be missing."""
    hints = get_type_hints(kind)
    return [
        (field.name, wire_name(field.name), hints[field.name], field.default is not dataclasses.MISSING)
        for field in dataclasses.fields(kind)
    ]


def _object(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise UnexpectedAnswerError(f"{where} is not an object.")
    given = {}
    for name, wire, of, optional in _fields(kind):
        if wire in value:
            given[name] = parse(of, value[wire], f"{where}.{wire}")
        elif not optional:
            raise UnexpectedAnswerError(f"{where} has no {wire}.")
    return kind(**given)


def _tagged(kinds: list[Any], value: Any, where: str) -> Any:
    """
    Parses one of several types by its `type`. The last one accepts every other type, and values that do not match a
    known type.
    """
    *known, other = kinds
    of_any_type = _object(other, value, where)
    for kind in known:
        if of_any_type.type in get_args(get_type_hints(kind)["type"]):
            try:
                return _object(kind, value, where)
            except UnexpectedAnswerError:
                break
    return of_any_type


def _time(value: Any, where: str) -> datetime:
    try:
        # Python 3.10 does not know the Z.
        return datetime.fromisoformat(value.replace("Z", "+00:00"))
    except (AttributeError, ValueError):
        raise UnexpectedAnswerError(f"{where} is not a time.") from None


def parse(kind: Any, value: Any, where: str = "The answer") -> Any:
    """
    A JSON value as a type of this package's dataclasses. Texts of a closed list may be others: the lists can grow.

    :raises UnexpectedAnswerError: naming the member that is missing or of another type
    """
    origin = get_origin(kind)
    if kind is Any or origin is Literal:
        return value
    if origin in (Union, types.UnionType):
        kinds = [each for each in get_args(kind) if each is not type(None)]
        if value is None and len(kinds) < len(get_args(kind)):
            return None
        return parse(kinds[0], value, where) if len(kinds) == 1 else _tagged(kinds, value, where)
    if origin is list and isinstance(value, list):
        (of,) = get_args(kind)
        return [parse(of, each, f"{where}[{n}]") for n, each in enumerate(value)]
    if origin is dict and isinstance(value, dict):
        _, of = get_args(kind)
        return {name: parse(of, each, f"{where}.{name}") for name, each in value.items()}
    if kind is datetime:
        return _time(value, where)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _object(kind, value, where)
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise UnexpectedAnswerError(f"{where} is no {getattr(origin or kind, '__name__', kind)}.")
    return value


def reads(kind: type[T]) -> Callable[[bytes], T]:
    """Returns a function that parses an answer's body as the type."""

    def read(content: bytes) -> T:
        try:
            value = json.loads(content)
        except ValueError:
            raise UnexpectedAnswerError("The answer is not JSON.") from None
        parsed: T = parse(kind, value)
        return parsed

    return read


def reads_member(kind: type[T], name: str) -> Callable[[bytes], T]:
    """Like `reads`, for an answer that wraps the value in one member."""
    whole = reads(dict[str, Any])
    return lambda content: parse(kind, whole(content).get(name), f"The answer.{name}")


def reads_nothing(content: bytes) -> None:
    """For an answer that only says that the call succeeded."""


def reads_bytes(content: bytes) -> bytes:
    """For an answer that is a file."""
    return content


def given(members: Mapping[str, Any]) -> dict[str, Any]:
    """The members that are not None, as a JSON body or a query."""
    return {name: value for name, value in members.items() if value is not None}
