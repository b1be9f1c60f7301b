"""Lists that come in pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Protocol, TypeVar


class _Page(Protocol):
    @property
    def next_cursor(self) -> str | None: ...


P = TypeVar("P", bound=_Page)


async def all_pages(page: Callable[[str | None], Awaitable[P]]) -> AsyncIterator[P]:
    """Page after page, as they are wanted."""
    cursor: str | None = None
    while True:
        read = await page(cursor)
        yield read
        cursor = read.next_cursor
        if cursor is None:
            return
