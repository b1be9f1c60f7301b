"""Templates: a firm's document types."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._parse import given, reads
from .._request import Part, Pdf, Request, form_text, new_idempotency_key, path, pdf_part
from ..models.templates import (
    NewTemplateRole,
    ProposedFields,
    SavedTemplate,
    Template,
    TemplateFields,
    TemplateList,
    TemplateMatches,
    TemplateSummary,
    TemplateVersionFields,
)
from .pages import all_pages
from .transport import AsyncTransport

if TYPE_CHECKING:
    from typing_extensions import Unpack


def _page(archived: bool | None, limit: int | None, cursor: str | None) -> Request[TemplateList]:
    text = None if archived is None else form_text(archived)
    query = given({"archived": text, "limit": limit, "cursor": cursor})
    return Request("GET", "/api/partner/templates", reads(TemplateList), query=query)


def _parts(fields: Mapping[str, Any], document: Pdf | None, file_name: str | None) -> list[Part]:
    parts: list[Part] = [(name, (None, form_text(value))) for name, value in fields.items() if value is not None]
    if document is not None:
        parts.append(("document", pdf_part(document, file_name)))
    return parts


class AsyncTemplates:
    """A firm's document types, from which orders are placed."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(
        self,
        document: Pdf | None = None,
        *,
        file_name: str | None = None,
        idempotency_key: str | None = None,
        **fields: Unpack[TemplateFields],
    ) -> SavedTemplate:
        """
        Makes a template.

        :param document: the form as a PDF: its bytes or its path; None when `order` is sent
        :param file_name: of the document. Default: the path's
        :param idempotency_key: as in `orders.create`
        :param fields: see TemplateFields; `name` is required
        """
        return await self._transport.send(
            Request(
                "POST",
                "/api/partner/templates",
                reads(SavedTemplate),
                parts=_parts(fields, document, file_name),
                idempotency_key=idempotency_key or new_idempotency_key(),
            )
        )

    async def add_version(
        self,
        template_id: str,
        document: Pdf | None = None,
        *,
        file_name: str | None = None,
        idempotency_key: str | None = None,
        **fields: Unpack[TemplateVersionFields],
    ) -> SavedTemplate:
        """
        Adds a version; orders that were placed keep theirs.

        :param document: None keeps the document of the previous version
        :param file_name: of the document. Default: the path's
        :param idempotency_key: as in `orders.create`
        :param fields: see TemplateVersionFields; omitted fields keep their values
        """
        return await self._transport.send(
            Request(
                "POST",
                path("/api/partner/templates/{}/versions", template_id),
                reads(SavedTemplate),
                parts=_parts(fields, document, file_name),
                idempotency_key=idempotency_key or new_idempotency_key(),
            )
        )

    async def list(
        self, *, archived: bool | None = None, limit: int | None = None, cursor: str | None = None
    ) -> TemplateList:
        """
        One page of the latest versions, newest template first.

        :param archived: True: the archived ones
        :param limit: 1 to 100; default 50
        :param cursor: `next_cursor` of the page before
        """
        return await self._transport.send(_page(archived, limit, cursor))

    async def all(self) -> AsyncIterator[TemplateSummary]:
        """Iterates over all templates that place orders, newest first; pages are fetched on demand."""
        async for page in all_pages(self._transport, lambda cursor: _page(None, 100, cursor)):
            for template in page.templates:
                yield template

    async def get(self, template_id: str) -> Template:
        """The latest version."""
        where = path("/api/partner/templates/{}", template_id)
        return await self._transport.send(Request("GET", where, reads(Template)))

    async def version(self, template_id: str, version: int) -> Template:
        """Returns one version, unchanged since orders used it."""
        where = path("/api/partner/templates/{}/versions/{}", template_id, version)
        return await self._transport.send(Request("GET", where, reads(Template)))

    async def archive(self, template_id: str) -> Template:
        """Archives the template: it places no more orders."""
        where = path("/api/partner/templates/{}/archive", template_id)
        return await self._transport.send(Request("POST", where, reads(Template)))

    async def restore(self, template_id: str) -> Template:
        """Restores an archived template, which then places orders again."""
        where = path("/api/partner/templates/{}/restore", template_id)
        return await self._transport.send(Request("POST", where, reads(Template)))

    async def match(self, document: Pdf, *, file_name: str | None = None) -> TemplateMatches:
        """
        Finds the templates that a document is the form of; nothing is stored.

        :param file_name: of the document. Default: the path's
        """
        where = "/api/partner/templates/match"
        return await self._transport.send(
            Request("POST", where, reads(TemplateMatches), parts=_parts({}, document, file_name))
        )

    async def propose_fields(
        self, document: Pdf, *, roles: Sequence[NewTemplateRole] | None = None, file_name: str | None = None
    ) -> ProposedFields:
        """
        Finds the lines and boxes that ask for a signature, initials, a date or a name; nothing is stored.

        :param roles: who signs; the fields then name their signers
        :param file_name: of the document. Default: the path's
        """
        where = "/api/partner/fields/propose"
        fields = {"roles": roles}
        return await self._transport.send(
            Request("POST", where, reads(ProposedFields), parts=_parts(fields, document, file_name))
        )
