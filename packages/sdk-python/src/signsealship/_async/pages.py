"""Lists that come in pages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from time import monotonic
from typing import Protocol, TypeVar

from .._request import Request, wait_for_window
from .transport import AsyncTransport


class _Page(Protocol):
    @property
    def next_cursor(self) -> str | None: ...


P = TypeVar("P", bound=_Page)


async def all_pages(transport: AsyncTransport, page: Callable[[str | None], Request[P]]) -> AsyncIterator[P]:
    """
    Iterates over pages and fetches them on demand. It leaves a quarter of the rate limit for other requests; when
    only that is left, it waits until the limit's window ends.
    """
    cursor: str | None = None
    while True:
        read, response = await transport.answered(page(cursor))
        resume = monotonic() + wait_for_window(response.headers)
        yield read
        cursor = read.next_cursor
        if cursor is None:
            return
        wait = resume - monotonic()
        if wait > 0:
            await asyncio.sleep(wait)
