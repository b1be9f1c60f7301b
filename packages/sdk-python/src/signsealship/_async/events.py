"""The feed of events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from time import monotonic

from .._errors import APIConnectionError, APIError
from .._parse import given, reads
from .._request import Request
from ..models.events import EventFeed, FeedEvent
from .transport import AsyncTransport

_LONGEST_WAIT = 25
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 30.0


class AsyncEvents:
    """The firm's events in the key's environment; no webhook is needed."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        topics: Sequence[str] | None = None,
        wait: int | None = None,
    ) -> EventFeed:
        """
        Returns one page of events, oldest first.

        :param cursor: `cursor` of the previous answer; `latest` for new events only. Default: from the first event
        :param limit: 1 to 100; default 50
        :param topics: default: all
        :param wait: seconds to wait for an event when there is none, at most 25; default 0
        """
        joined = None if topics is None else ",".join(topics)
        query = given({"cursor": cursor, "limit": limit, "topics": joined, "wait": wait})
        return await self._transport.send(Request("GET", "/api/partner/events", reads(EventFeed), query=query))

    async def follow(
        self, *, cursor: str | None = None, topics: Sequence[str] | None = None
    ) -> AsyncIterator[FeedEvent]:
        """
        Streams every event as it arrives, without end. It resumes where it was after an outage of the service.
        Store the `position` of the last event that you processed: pass it as `cursor` to resume after a restart.

        :param cursor: as in `list`
        :raises APIError: for a key or a query that is refused
        """
        # The answer must arrive before the client's own timeout.
        longest = int(max(0, min(_LONGEST_WAIT, self._transport.options.timeout - 5)))
        pause = _FIRST_PAUSE
        while True:
            started = monotonic()
            try:
                # Fixes the starting position before the first wait, so that events between two calls are not missed.
                wait = 0 if cursor == "latest" else longest
                feed = await self.list(cursor=cursor, topics=topics, limit=100, wait=wait)
            except (APIConnectionError, APIError) as error:
                if isinstance(error, APIError) and error.status != 429 and error.status < 500:
                    raise
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)
                continue
            for event in feed.events:
                yield event
            # The service answers at once when too many callers already wait, so the client pauses before it asks again.
            if not feed.events and cursor != "latest" and monotonic() - started < _FIRST_PAUSE:
                await asyncio.sleep(_FIRST_PAUSE)
            pause = _FIRST_PAUSE
            cursor = feed.cursor
