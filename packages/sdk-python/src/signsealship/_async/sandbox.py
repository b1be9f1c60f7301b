"""The sandbox."""

from __future__ import annotations

from datetime import datetime

from .._parse import given, reads
from .._request import Request, instant, path
from ..models.orders import Milestone, SandboxCheckout, SandboxOutcome, SandboxStep, TestClock
from .transport import AsyncTransport

_CLOCK = "/api/partner/sandbox/clock"


class AsyncClock:
    """The test clock of the firm."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def get(self) -> TestClock:
        """The time that the clock shows."""
        return await self._transport.send(Request("GET", _CLOCK, reads(TestClock)))

    async def advance(self, *, seconds: int | None = None, to: datetime | None = None) -> TestClock:
        """
        What comes due of the firm's test objects happens as if so much time had gone by. Ask with `get` until the clock is `ready`.

        :param seconds: by how many; send either this or `to`
        :param to: a test time that is later than the clock's own
        """
        body = given({"advanceSeconds": seconds, "to": to and instant(to)})
        return await self._transport.send(Request("POST", _CLOCK, reads(TestClock), json=body))

    async def reset(self) -> TestClock:
        """Back to real time. What happened has happened, and what came nearer stays there."""
        return await self._transport.send(Request("DELETE", _CLOCK, reads(TestClock)))


class AsyncSandbox:
    """For test keys and test orders."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport
        self.clock = AsyncClock(transport)
        """A clock of tests: one call does the work of days."""

    async def checkout(self, order_code: str, outcome: SandboxOutcome = "success") -> SandboxCheckout:
        """Pays, or fails to, as a client would."""
        where = path("/api/partner/sandbox/orders/{}/checkout", order_code)
        return await self._transport.send(Request("POST", where, reads(SandboxCheckout), json={"outcome": outcome}))

    async def advance(self, order_code: str, event: Milestone | None = None) -> SandboxStep:
        """Walks on to the milestone, or to the next one."""
        where = path("/api/partner/sandbox/orders/{}/advance", order_code)
        return await self._transport.send(Request("POST", where, reads(SandboxStep), json={"event": event}))
