# Written from _async by tools/python-sync.ts.
"""The feed of events."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from time import monotonic

from .._errors import APIConnectionError, APIError
from .._parse import given, reads
from .._request import Request
from ..models.events import EventFeed, FeedEvent
from .transport import Transport

_LONGEST_WAIT = 25
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 30.0


class Events:
    """The firm's events in the key's environment; no webhook is needed."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        topics: Sequence[str] | None = None,
        wait: int | None = None,
    ) -> EventFeed:
        """
        One page, oldest first.

        :param cursor: `cursor` of the answer before; `latest` for what comes from now on. Default: from the first event
        :param limit: 1 to 100; default 50
        :param topics: default: all
        :param wait: seconds to wait for an event when there is none, at most 25; default 0
        """
        joined = None if topics is None else ",".join(topics)
        query = given({"cursor": cursor, "limit": limit, "topics": joined, "wait": wait})
        return self._transport.send(Request("GET", "/api/partner/events", reads(EventFeed), query=query))

    def follow(
        self, *, cursor: str | None = None, topics: Sequence[str] | None = None
    ) -> Iterator[FeedEvent]:
        """
        Every event as it comes, without end. The service may be away for a while: it goes on where it was. Keep the
        `position` of what you have worked on: as `cursor` it is where a new start goes on.

        :param cursor: as of `list`
        :raises APIError: for a key or a query that is refused
        """
        # The answer must come before the client gives up waiting for it.
        longest = int(max(0, min(_LONGEST_WAIT, self._transport.options.timeout - 5)))
        pause = _FIRST_PAUSE
        while True:
            started = monotonic()
            try:
                # Where the first wait begins is settled before it: what comes between two calls is not missed.
                wait = 0 if cursor == "latest" else longest
                feed = self.list(cursor=cursor, topics=topics, limit=100, wait=wait)
            except (APIConnectionError, APIError) as error:
                if isinstance(error, APIError) and error.status != 429 and error.status < 500:
                    raise
                time.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)
                continue
            for event in feed.events:
                yield event
            # A service that did not wait, as too many do already, is not asked again at once.
            if not feed.events and cursor != "latest" and monotonic() - started < _FIRST_PAUSE:
                time.sleep(_FIRST_PAUSE)
            pause = _FIRST_PAUSE
            cursor = feed.cursor
