"""Fills: forms that people fill in online."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence

from .._parse import given, reads
from .._request import Request, new_idempotency_key, path
from ..models.fills import Fill, FillList, FillQuestions, FillSummary
from ..models.orders import Language
from .pages import all_pages
from .transport import AsyncTransport


def _page(limit: int | None, cursor: str | None) -> Request[FillList]:
    query = given({"limit": limit, "cursor": cursor})
    return Request("GET", "/api/partner/fills", reads(FillList), query=query)


class AsyncFills:
    """Forms that clients fill in online. A completed form is a document for an order."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(
        self,
        template: str | None = None,
        *,
        doc_slug: str | None = None,
        template_version: int | None = None,
        name: str | None = None,
        email: str | None = None,
        language: Language | None = None,
        days: int | None = None,
        return_url: str | None = None,
        values: Mapping[str, str | bool | Sequence[str]] | None = None,
        labels: Mapping[str, str] | None = None,
        send: bool | None = None,
        complete: bool | None = None,
        idempotency_key: str | None = None,
    ) -> Fill:
        """
        Makes a web form of the form fields of a template or a catalog document, under a link for one person.

        :param template: the id of one of your templates; this or `doc_slug`
        :param doc_slug: a document of the catalog: your newest template for it, or else the service's form
        :param template_version: default: the latest
        :param name: of the person who fills it in
        :param days: how long the link works: 1 to 90, default 30
        :param return_url: an https address that the page leads to after the end
        :param values: answers by the names of fields: a text, a boolean for a checkbox, a list of texts for a list
        :param labels: your own words for questions, by the names of fields
        :param send: mails the link to `email`
        :param complete: fills the form in at once with `values`
        :param idempotency_key: as in `orders.create`
        """
        fields = {
            "template": template,
            "docSlug": doc_slug,
            "templateVersion": template_version,
            "name": name,
            "email": email,
            "language": language,
            "days": days,
            "returnUrl": return_url,
            "values": values,
            "labels": labels,
            "send": send,
            "complete": complete,
        }
        return await self._transport.send(
            Request(
                "POST",
                "/api/partner/fills",
                reads(Fill),
                json=given(fields),
                idempotency_key=idempotency_key or new_idempotency_key(),
            )
        )

    async def list(self, *, limit: int | None = None, cursor: str | None = None) -> FillList:
        """
        One page, newest first.

        :param limit: 1 to 100; default 50
        :param cursor: `next_cursor` of the page before
        """
        return await self._transport.send(_page(limit, cursor))

    async def all(self) -> AsyncIterator[FillSummary]:
        """Iterates over all fills, newest first; pages are fetched on demand."""
        async for page in all_pages(self._transport, lambda cursor: _page(100, cursor)):
            for fill in page.fills:
                yield fill

    async def get(self, fill_id: str) -> Fill:
        """Returns the state of a fill, and its `fill_token` once it is completed."""
        where = path("/api/partner/fills/{}", fill_id)
        return await self._transport.send(Request("GET", where, reads(Fill)))

    async def cancel(self, fill_id: str) -> Fill:
        """Cancels a fill: its link no longer works, and the typed answers are deleted."""
        where = path("/api/partner/fills/{}/cancel", fill_id)
        return await self._transport.send(Request("POST", where, reads(Fill)))

    async def send(self, fill_id: str) -> Fill:
        """Mails the link to the fill's address, at most five times."""
        where = path("/api/partner/fills/{}/send", fill_id)
        return await self._transport.send(Request("POST", where, reads(Fill)))

    async def questions(self, template_id: str) -> FillQuestions:
        """The questions of a template's latest version."""
        where = path("/api/partner/templates/{}/questions", template_id)
        return await self._transport.send(Request("GET", where, reads(FillQuestions)))

    async def document_questions(self, doc_slug: str) -> FillQuestions:
        """The questions of a catalog document's form: that of your newest template for it, or else the service's."""
        where = path("/api/partner/catalog/{}/questions", doc_slug)
        return await self._transport.send(Request("GET", where, reads(FillQuestions)))
