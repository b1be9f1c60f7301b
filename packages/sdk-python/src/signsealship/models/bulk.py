"""Bulk: many orders from one template."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkError:
    """A refusal of a row."""

    row: int
    """The number of the row, counted from 1 without the header line."""
    message: str
    """The field that is refused, and the rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkAnswer:
    """The outcome of a file."""

    bulk_id: str | None
    """None when a row was refused. Then nothing was stored."""
    rows: int
    """The number of rows in the file."""
    total_cents: int | None
    """US cents; None when a row was refused, or when a person has to price one."""
    errors: list[BulkError]
    """The first 200 refusals."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkProgress:
    """A bulk order, and its progress."""

    bulk_id: str
    """The id of this record."""
    template_id: str
    """The id of its template."""
    version: int
    """The template's version, for all rows."""
    created_at: datetime
    """UTC."""
    rows: int
    """The number of rows in the file."""
    waiting: int
    """Rows that are not placed yet."""
    placed: int
    """Orders that were placed."""
    failed: int
    """Rows that were refused when they were placed."""
    canceled: int
    """Rows that will not be placed."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkRow:
    """A row of a bulk."""

    row: int
    """Counted from 1."""
    state: Literal["waiting", "placed", "failed", "canceled"]
    """The state of the row."""
    order_code: str | None
    """Its order; None until it is placed."""
    reason: str | None
    """The reason of the failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkRows:
    """A page of rows."""

    rows: list[BulkRow]
    """In the order of the rows in the file."""
    next_cursor: str | None
    """Pass it as `cursor` to the next call; None after the last page."""
    request_id: str
    """The id of the request, for support."""
