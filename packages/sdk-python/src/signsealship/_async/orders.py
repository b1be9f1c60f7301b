"""Orders, their documents and their signers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Literal

from .._parse import given, reads, reads_bytes
from .._request import Pdf, Request, form_parts, new_idempotency_key, path
from ..models.billing import OrderReceipts
from ..models.orders import (
    Checkout,
    CorrectionFields,
    CreatedOrder,
    OrderCorrections,
    OrderDetail,
    OrderFields,
    OrderList,
    OrderSummary,
    PriceEstimate,
    SignatureField,
)
from ..models.signing import (
    CopyLinks,
    EmbeddedSigner,
    EnvelopeVerification,
    InPersonAnswer,
    OrderDocuments,
    OrderInPerson,
    OrderSigners,
    SignerReplacement,
)
from .pages import all_pages
from .transport import AsyncTransport

if TYPE_CHECKING:
    from typing_extensions import Unpack


def _page(
    limit: int | None, status: str | None, external_reference: str | None, cursor: str | None
) -> Request[OrderList]:
    query = {"limit": limit, "status": status, "external_reference": external_reference, "cursor": cursor}
    return Request("GET", "/api/partner/orders", reads(OrderList), query=given(query))


class AsyncOrders:
    """Orders, their documents and their signers."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(
        self,
        document: Pdf | None = None,
        *,
        file_name: str | None = None,
        idempotency_key: str | None = None,
        **fields: Unpack[OrderFields],
    ) -> CreatedOrder:
        """
        Places an order.

        :param document: the completed PDF, of at most 35 MB: its bytes or its path; None when `fill_token` is sent
        :param file_name: of the document. Default: the path's
        :param idempotency_key: 8 to 255 characters: what is sent again under the same key happens once. Default: a new
            one, for retries of this call
        :param fields: see OrderFields
        """
        return await self._transport.send(
            Request(
                "POST",
                "/api/partner/orders",
                reads(CreatedOrder),
                parts=form_parts(fields, document, file_name),
                idempotency_key=idempotency_key or new_idempotency_key(),
            )
        )

    async def estimate(
        self,
        *,
        pages: int,
        doc_slug: str | None = None,
        svc_sign: bool = False,
        svc_notary: bool = False,
        svc_ship: bool = False,
        svc_fax: bool = False,
        fax_to: str | None = None,
        ship_method: Literal["label", "print_mail"] | None = None,
        ship_state: str | None = None,
        ship_postal: str | None = None,
    ) -> PriceEstimate:
        """
        The price of a document before it is uploaded. A carrier's own rate can change the postage of an order.

        :param pages: the pages of the document
        :param fax_to: the fax number, as an order has it: the price then includes the fax
        :param ship_state: needed for shipping, as is `ship_postal`
        """
        flags = {"svc_sign": svc_sign, "svc_notary": svc_notary, "svc_ship": svc_ship, "svc_fax": svc_fax}
        query = {
            "pages": pages,
            "doc_slug": doc_slug,
            **{name: "true" for name, is_on in flags.items() if is_on},
            "fax_to": fax_to,
            "ship_method": ship_method,
            "ship_state": ship_state,
            "ship_postal": ship_postal,
        }
        where = "/api/partner/prices/estimate"
        return await self._transport.send(Request("GET", where, reads(PriceEstimate), query=given(query)))

    async def list(
        self,
        *,
        limit: int | None = None,
        status: str | None = None,
        external_reference: str | None = None,
        cursor: str | None = None,
    ) -> OrderList:
        """
        One page, newest first.

        :param limit: 1 to 100; default 20
        :param cursor: `next_cursor` of the page before
        """
        return await self._transport.send(_page(limit, status, external_reference, cursor))

    async def all(
        self,
        *,
        limit: int | None = None,
        status: str | None = None,
        external_reference: str | None = None,
    ) -> AsyncIterator[OrderSummary]:
        """
        Iterates over all orders, newest first; pages are fetched on demand, with pauses when the rate limit
        requires them.

        :param limit: of one page; default 100
        """
        async for page in all_pages(
            self._transport, lambda cursor: _page(limit or 100, status, external_reference, cursor)
        ):
            for order in page.orders:
                yield order

    async def get(self, order_code: str) -> OrderDetail:
        """Returns an order in its current state."""
        return await self._transport.send(
            Request("GET", path("/api/partner/orders/{}", order_code), reads(OrderDetail))
        )

    async def checkout(self, order_code: str, *, idempotency_key: str | None = None) -> Checkout:
        """
        Opens the hosted checkout; an open one is returned again.

        :param idempotency_key: as in `create`
        """
        return await self._transport.send(
            Request(
                "POST",
                path("/api/partner/orders/{}/checkout", order_code),
                reads(Checkout),
                idempotency_key=idempotency_key or new_idempotency_key(),
            )
        )

    async def documents(self, order_code: str) -> OrderDocuments:
        """Lists the documents of an order, oldest first."""
        where = path("/api/partner/orders/{}/documents", order_code)
        return await self._transport.send(Request("GET", where, reads(OrderDocuments)))

    async def document(self, order_code: str, document_id: str) -> bytes:
        """Returns the bytes of one document."""
        where = path("/api/partner/orders/{}/documents/{}", order_code, document_id)
        return await self._transport.send(Request("GET", where, reads_bytes))

    async def document_log_proof(self, order_code: str, document_id: str) -> bytes:
        """
        The proof that the transparency log contains a document that was sealed here; refused with status 503 in the
        first seconds.
        """
        where = path("/api/partner/orders/{}/documents/{}/tlog-proof", order_code, document_id)
        return await self._transport.send(Request("GET", where, reads_bytes))

    async def document_root_ots(self, order_code: str, document_id: str) -> bytes:
        """
        The `.ots` proof of the log's hourly root, which covers this document; refused with status 409 until the
        calendars have that root.
        """
        where = path("/api/partner/orders/{}/documents/{}/ots", order_code, document_id)
        return await self._transport.send(Request("GET", where, reads_bytes))

    async def receipts(self, order_code: str) -> OrderReceipts:
        """The receipts and credit notes of an order, oldest first."""
        where = path("/api/partner/orders/{}/receipts", order_code)
        return await self._transport.send(Request("GET", where, reads(OrderReceipts)))

    async def receipt(self, order_code: str, number: str) -> bytes:
        """Returns a receipt or a credit note as a PDF. The bytes change only with the name of its document."""
        where = path("/api/partner/orders/{}/receipts/{}", order_code, number)
        return await self._transport.send(Request("GET", where, reads_bytes))

    async def signers(self, order_code: str) -> OrderSigners:
        """Returns the signers and their progress."""
        where = path("/api/partner/orders/{}/signers", order_code)
        return await self._transport.send(Request("GET", where, reads(OrderSigners)))

    async def remind_signer(self, order_code: str, n: int) -> OrderSigners:
        """Mails a signer their link again, at most once an hour."""
        where = path("/api/partner/orders/{}/signers/{}/remind", order_code, n)
        return await self._transport.send(Request("POST", where, reads(OrderSigners)))

    async def replace_signer(self, order_code: str, n: int, **signer: Unpack[SignerReplacement]) -> OrderSigners:
        """
        Replaces a signer by another person; the previous signer's link stops working at once.

        :param signer: see SignerReplacement
        """
        where = path("/api/partner/orders/{}/signers/{}/replace", order_code, n)
        return await self._transport.send(Request("POST", where, reads(OrderSigners), json=given(signer)))

    async def unlock_signer(self, order_code: str, n: int) -> OrderSigners:
        """Unlocks a signer after too many wrong codes; the signer gets a new link."""
        where = path("/api/partner/orders/{}/signers/{}/unlock", order_code, n)
        return await self._transport.send(Request("POST", where, reads(OrderSigners)))

    async def copy_links(self, order_code: str) -> CopyLinks:
        """Lists the links through which signers download the finished documents; empty while people sign."""
        where = path("/api/partner/orders/{}/copy-links", order_code)
        return await self._transport.send(Request("GET", where, reads(CopyLinks)))

    async def end_copy_link(self, order_code: str, link_id: str) -> CopyLinks:
        """Ends a link to the copies at once, for example after it was mailed to a wrong address.

        A link that opens several documents of a closing ends for all of them.
        """
        where = path("/api/partner/orders/{}/copy-links/{}", order_code, link_id)
        return await self._transport.send(Request("DELETE", where, reads(CopyLinks)))

    async def in_person(self, order_code: str) -> OrderInPerson:
        """A notary's request to do the act in person, in ink on paper, although online notarization was bought."""
        where = path("/api/partner/orders/{}/in-person", order_code)
        return await self._transport.send(Request("GET", where, reads(OrderInPerson)))

    async def answer_in_person(self, order_code: str, *, agrees: bool) -> InPersonAnswer:
        """Answers the notary's request; possible once. An agreement requests a refund of the technology fee."""
        where = path("/api/partner/orders/{}/in-person", order_code)
        return await self._transport.send(Request("POST", where, reads(InPersonAnswer), json={"agrees": agrees}))

    async def corrections(self, order_code: str) -> OrderCorrections:
        """The corrections of the order, and those that are possible now."""
        where = path("/api/partner/orders/{}/corrections", order_code)
        return await self._transport.send(Request("GET", where, reads(OrderCorrections)))

    async def correct(self, order_code: str, **fields: Unpack[CorrectionFields]) -> OrderCorrections:
        """
        Corrects the addresses for mails, parcel and fax of a paid order.

        :param fields: see CorrectionFields
        """
        where = path("/api/partner/orders/{}/corrections", order_code)
        return await self._transport.send(Request("POST", where, reads(OrderCorrections), json=given(fields)))

    async def replace_document(
        self,
        order_code: str,
        document: Pdf,
        *,
        file_name: str | None = None,
        fields: Sequence[SignatureField] | None = None,
        find_places: bool = False,
    ) -> OrderCorrections:
        """
        Replaces the document, until it is signed or notarized. Everybody signs again.

        :param fields: the places where people sign; None keeps the previous places
        :param find_places: takes the places from the document itself
        """
        where = path("/api/partner/orders/{}/document", order_code)
        parts = form_parts({"fields": fields, "find_places": find_places}, document, file_name)
        return await self._transport.send(Request("POST", where, reads(OrderCorrections), parts=parts))

    async def send_again(self, order_code: str) -> OrderCorrections:
        """Starts the failed service again: signatures, notarization, parcel or fax."""
        where = path("/api/partner/orders/{}/send-again", order_code)
        return await self._transport.send(Request("POST", where, reads(OrderCorrections)))

    async def ask_refund(
        self, order_code: str, *, reason: str, amount_cents: int | None = None
    ) -> OrderCorrections:
        """
        Asks the operator to refund the payment, or a part of it. No money moves before two of the operator's people
        agree.

        :param amount_cents: None for the whole payment
        """
        where = path("/api/partner/orders/{}/refund-request", order_code)
        body = given({"reason": reason, "amountCents": amount_cents})
        return await self._transport.send(Request("POST", where, reads(OrderCorrections), json=body))

    async def embed_signer(self, order_code: str, n: int, origin: str) -> EmbeddedSigner:
        """
        Opens the signing page for a signer in one of your registered sites.

        :param origin: scheme, host and port of the page that shows the frame
        """
        where = path("/api/partner/orders/{}/signers/{}/embed", order_code, n)
        return await self._transport.send(Request("POST", where, reads(EmbeddedSigner), json={"origin": origin}))

    async def verify_envelope(self, verify_code: str) -> EnvelopeVerification:
        """
        Returns how a document was signed. Needs no key: anyone who has the envelope's verify code may call this.
        """
        where = path("/api/verify/envelope/{}", verify_code)
        return await self._transport.send(Request("GET", where, reads(EnvelopeVerification)))

    async def envelope_log_proof(self, verify_code: str) -> bytes:
        """
        The proof that the transparency log contains the sealed document; refused with status 503 in the first
        seconds.
        """
        where = path("/api/verify/envelope/{}/tlog-proof", verify_code)
        return await self._transport.send(Request("GET", where, reads_bytes))

    async def custody_log_proof(self, verify_code: str) -> bytes:
        """
        The proof that the transparency log contains the custody certificate; refused with status 503 in the first
        seconds.
        """
        where = path("/api/verify/envelope/{}/custody/tlog-proof", verify_code)
        return await self._transport.send(Request("GET", where, reads_bytes))

    async def envelope_root_ots(self, verify_code: str) -> bytes:
        """
        The `.ots` proof of the log's hourly root, which covers this entry; refused with status 409 until the
        calendars have that root.
        """
        where = path("/api/verify/envelope/{}/ots", verify_code)
        return await self._transport.send(Request("GET", where, reads_bytes))

    async def custody_root_ots(self, verify_code: str) -> bytes:
        """
        The `.ots` proof of the log's hourly root, which covers this entry; refused with status 409 until the
        calendars have that root.
        """
        where = path("/api/verify/envelope/{}/custody/ots", verify_code)
        return await self._transport.send(Request("GET", where, reads_bytes))
