"""The firm's monthly statements."""

from __future__ import annotations

from .._parse import reads
from .._request import Request, path
from ..models.billing import BillingStatementDetail, BillingStatements
from .transport import AsyncTransport


class AsyncBilling:
    """The firm's monthly statements."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def statements(self) -> BillingStatements:
        """The firm's months, newest first."""
        return await self._transport.send(Request("GET", "/api/partner/billing/statements", reads(BillingStatements)))

    async def statement(self, month: str) -> BillingStatementDetail:
        """
        One month with its lines.

        :param month: such as `2026-11`
        """
        where = path("/api/partner/billing/statements/{}", month)
        return await self._transport.send(Request("GET", where, reads(BillingStatementDetail)))
