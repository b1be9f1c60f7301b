"""The sandbox."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from .._parse import given, reads
from .._request import Request, instant, path
from ..models.orders import (
    Milestone,
    SandboxCheckout,
    SandboxOutcome,
    SandboxRoomCheckout,
    SandboxStep,
    TestClock,
    TestMethod,
    TestPaymentMethod,
)
from .transport import AsyncTransport

_CLOCK = "/api/partner/sandbox/clock"


class AsyncClock:
    """The test clock of the firm."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def get(self) -> TestClock:
        """Returns the time that the clock shows."""
        return await self._transport.send(Request("GET", _CLOCK, reads(TestClock)))

    async def advance(self, *, seconds: int | None = None, to: datetime | None = None) -> TestClock:
        """
        Advances the test clock. Everything that falls due for the firm's test objects happens. Call `get` until the
        clock is `ready`.

        :param seconds: how far to advance; send either this or `to`
        :param to: a test time that is later than the clock's own
        """
        body = given({"advanceSeconds": seconds, "to": to and instant(to)})
        return await self._transport.send(Request("POST", _CLOCK, reads(TestClock), json=body))

    async def reset(self) -> TestClock:
        """Returns to real time. Everything that happened stays done, and dates that moved closer stay moved."""
        return await self._transport.send(Request("DELETE", _CLOCK, reads(TestClock)))


class AsyncSandbox:
    """Controls test orders: one call does the work of days. Needs a test key."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport
        self.clock = AsyncClock(transport)
        """The test clock of the firm."""

    async def payment_method(
        self,
        method: TestMethod = "card",
        *,
        per_order_cents: int | None = None,
        per_month_cents: int | None = None,
    ) -> TestPaymentMethod:
        """
        Puts a test card or a test bank account on file, which pays test orders with `pay_by="firm"`.

        :param per_order_cents: what this key may spend on one order; send both limits or neither
        :param per_month_cents: what this key may spend in a month
        """
        body = given({"method": method, "perOrderCents": per_order_cents, "perMonthCents": per_month_cents})
        where = "/api/partner/sandbox/billing/method"
        return await self._transport.send(Request("POST", where, reads(TestPaymentMethod), json=body))

    async def checkout(self, order_code: str, outcome: SandboxOutcome = "success") -> SandboxCheckout:
        """Simulates a payment by the client, or a failed one."""
        where = path("/api/partner/sandbox/orders/{}/checkout", order_code)
        return await self._transport.send(Request("POST", where, reads(SandboxCheckout), json={"outcome": outcome}))

    async def room_checkout(
        self,
        room_code: str,
        outcome: SandboxOutcome = "success",
        *,
        pay_by: Literal["client", "firm"] | None = None,
    ) -> SandboxRoomCheckout:
        """
        Simulates the one payment for all payable orders of a room that one payer pays, or a failed one.

        :param pay_by: whose orders it pays. Default: the client's, or your firm's if the room has none of a client
        """
        where = path("/api/partner/sandbox/rooms/{}/checkout", room_code)
        body = given({"outcome": outcome, "pay_by": pay_by})
        return await self._transport.send(Request("POST", where, reads(SandboxRoomCheckout), json=body))

    async def advance(self, order_code: str, event: Milestone | None = None) -> SandboxStep:
        """Advances the order to the named milestone, or to the next one."""
        where = path("/api/partner/sandbox/orders/{}/advance", order_code)
        return await self._transport.send(Request("POST", where, reads(SandboxStep), json={"event": event}))
