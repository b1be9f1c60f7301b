"""Bulk: many orders from one template."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkError:
    """A refusal of a row."""

    row: int
    """From 1; the line of columns does not count."""
    message: str
    """The field that is refused, and the rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkAnswer:
    """The outcome of a file."""

    bulk_id: str | None
    """None where a row was refused. Then nothing was stored."""
    rows: int
    """Of the file."""
    total_cents: int | None
    """US cents; None where a row was refused, or a person has to price one."""
    errors: list[BulkError]
    """The first 200 refusals."""
    request_id: str
    """Of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkProgress:
    """A bulk, and how far it is."""

    bulk_id: str
    """By which it is known."""
    template_id: str
    """Its template."""
    version: int
    """The template's version, for all rows."""
    created_at: datetime
    """UTC."""
    rows: int
    """Of the file."""
    waiting: int
    """Not placed yet."""
    placed: int
    """Orders that were placed."""
    failed: int
    """Refused when they were placed."""
    canceled: int
    """Not to be placed any more."""
    request_id: str
    """Of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkRow:
    """A row of a bulk."""

    row: int
    """From 1."""
    state: Literal["waiting", "placed", "failed", "canceled"]
    """Where it stands."""
    order_code: str | None
    """Its order; None until it is placed."""
    reason: str | None
    """Why it failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkRows:
    """A page of rows."""

    rows: list[BulkRow]
    """In the order of the file."""
    next_cursor: str | None
    """For `cursor` of the next call; None after the last page."""
    request_id: str
    """Of the request, for support."""
