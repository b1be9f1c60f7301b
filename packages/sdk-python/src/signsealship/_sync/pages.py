# Written from _async by tools/python-sync.ts.
"""Lists that come in pages."""

from __future__ import annotations

from collections.abc import Iterator, Callable
from typing import Protocol, TypeVar


class _Page(Protocol):
    @property
    def next_cursor(self) -> str | None: ...


P = TypeVar("P", bound=_Page)


def all_pages(page: Callable[[str | None], P]) -> Iterator[P]:
    """Page after page, as they are wanted."""
    cursor: str | None = None
    while True:
        read = page(cursor)
        yield read
        cursor = read.next_cursor
        if cursor is None:
            return
