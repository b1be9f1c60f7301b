# Written from _async by tools/python-sync.ts.
"""Lists that come in pages."""

from __future__ import annotations

import time
from collections.abc import Iterator, Callable
from time import monotonic
from typing import Protocol, TypeVar

from .._request import Request, wait_for_window
from .transport import Transport


class _Page(Protocol):
    @property
    def next_cursor(self) -> str | None: ...


P = TypeVar("P", bound=_Page)


def all_pages(transport: Transport, page: Callable[[str | None], Request[P]]) -> Iterator[P]:
    """
    Page after page, as they are wanted. A quarter of what the limit allows is left for other requests: until the limit's window
    ends, no further page is fetched.
    """
    cursor: str | None = None
    while True:
        read, response = transport.answered(page(cursor))
        resume = monotonic() + wait_for_window(response.headers)
        yield read
        cursor = read.next_cursor
        if cursor is None:
            return
        wait = resume - monotonic()
        if wait > 0:
            time.sleep(wait)
