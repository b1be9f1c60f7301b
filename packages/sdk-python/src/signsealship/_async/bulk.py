"""Bulk: many orders from one template."""

from __future__ import annotations

from .._parse import given, reads
from .._request import Part, Request, form_text, path
from ..models.bulk import BulkAnswer, BulkProgress, BulkRows
from .transport import AsyncTransport


class AsyncBulk:
    """Many orders from one template and one list of people."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(
        self,
        file: bytes | str,
        *,
        template: str,
        byod_confirmed: bool,
        template_version: int | None = None,
        signer_state: str | None = None,
        fax_to: str | None = None,
        external_reference: str | None = None,
    ) -> BulkAnswer:
        """
        Checks every row of a CSV file, and orders nothing yet. The same file sent again is the same bulk.

        :param file: the content of the file
        :param byod_confirmed: attests that the documents are the clients' own, and completed
        :param template_version: default: the latest
        """
        fields = given(
            {
                "template": template,
                "byod_confirmed": byod_confirmed,
                "template_version": template_version,
                "signer_state": signer_state,
                "fax_to": fax_to,
                "external_reference": external_reference,
            }
        )
        parts: list[Part] = [(name, (None, form_text(value))) for name, value in fields.items()]
        content = file if isinstance(file, bytes) else file.encode()
        parts.append(("file", ("people.csv", content, "text/csv")))
        return await self._transport.send(Request("POST", "/api/partner/bulk", reads(BulkAnswer), parts=parts))

    async def get(self, bulk_id: str) -> BulkProgress:
        """Returns the progress of a bulk."""
        where = path("/api/partner/bulk/{}", bulk_id)
        return await self._transport.send(Request("GET", where, reads(BulkProgress)))

    async def rows(self, bulk_id: str, *, limit: int | None = None, cursor: str | None = None) -> BulkRows:
        """
        One page of rows, in the order of the file.

        :param limit: 1 to 500; default 100
        :param cursor: `next_cursor` of the page before
        """
        where = path("/api/partner/bulk/{}/rows", bulk_id)
        query = given({"limit": limit, "cursor": cursor})
        return await self._transport.send(Request("GET", where, reads(BulkRows), query=query))

    async def place(self, bulk_id: str) -> BulkProgress:
        """Places up to 100 waiting rows; call it again until none is waiting."""
        where = path("/api/partner/bulk/{}/place", bulk_id)
        return await self._transport.send(Request("POST", where, reads(BulkProgress)))

    async def retry(self, bulk_id: str) -> BulkProgress:
        """Puts failed rows back in the queue."""
        where = path("/api/partner/bulk/{}/retry", bulk_id)
        return await self._transport.send(Request("POST", where, reads(BulkProgress)))

    async def cancel(self, bulk_id: str) -> BulkProgress:
        """Cancels the rows that are not placed."""
        where = path("/api/partner/bulk/{}/cancel", bulk_id)
        return await self._transport.send(Request("POST", where, reads(BulkProgress)))
