"""The chain that a firm's events are in."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol


class ChainedEvent(Protocol):
    """The chain members of an event. Events of `events.list` have them; a delivery's body has `type` and `id`."""

    @property
    def position(self) -> int:
        """The event's position, counted from 1 without gaps."""

    @property
    def head(self) -> str:
        """The hash over this event and all earlier ones, in hex."""

    @property
    def type(self) -> str:
        """The topic."""

    @property
    def id(self) -> str:
        """The same value as in the body of a delivery."""


@dataclass(frozen=True, slots=True)
class Place:
    """An event's place among all events of a firm in one environment."""

    position: int
    """From 1; 0 is before the first event."""
    head: str
    """The hash over the event and all earlier ones, in hex."""


@dataclass(frozen=True, slots=True)
class ChainFault:
    """Why a chain does not hold, and where."""

    reason: Literal["gap", "head"]
    """`gap` when a position is missing, `head` when the event at `position` or an earlier one was changed."""
    position: int
    """The position that is missing, or whose head is wrong."""


CHAIN_START = Place(0, "0" * 64)
"""The place before the first event."""


def parse_chain(header: str | None) -> Place | None:
    """
    The value of a delivery's `Service-Chain` header; None when there is none, or it is not `n=<number>; head=<hex>`.
    """
    found = re.fullmatch(r"n=([1-9][0-9]{0,14}); head=([0-9a-f]{64})(?:;.*)?", header or "")
    return Place(int(found[1]), found[2]) if found else None


def chain_head(before: Place, type: str, id: str) -> str:
    """
    The head after an event: SHA-256 over the bytes of the head before it, and `{position}\\n{type}\\n{id}\\n` in UTF-8.
    """
    entry = f"{before.position + 1}\n{type}\n{id}\n".encode()
    return hashlib.sha256(bytes.fromhex(before.head) + entry).hexdigest()


def check_chain(events: Iterable[ChainedEvent], before: Place = CHAIN_START) -> tuple[Place, ChainFault | None]:
    """
    Checks that events follow one another without a gap, and that neither they nor earlier events were changed.

    :param events: in the order of their positions
    :param before: the place of the last event that you have; leave it out when `events` begins with the first event
    :returns: the last place, to keep, and what is wrong, or None
    """
    last = before
    for event in events:
        if event.position != last.position + 1:
            return last, ChainFault("gap", last.position + 1)
        if chain_head(last, event.type, event.id) != event.head:
            return last, ChainFault("head", event.position)
        last = Place(event.position, event.head)
    return last, None
