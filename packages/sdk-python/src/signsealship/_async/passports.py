"""Proof passports."""

from __future__ import annotations

from .._parse import reads, reads_bytes, reads_nothing
from .._request import Pdf, Request, new_idempotency_key, path, pdf_part
from ..models.passports import Passport, PassportVerification, PassportWebhook, SealedPassport
from .transport import AsyncTransport


class AsyncPassports:
    """Sealed PDFs that anybody can verify."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def seal(
        self, document: Pdf, *, file_name: str | None = None, idempotency_key: str | None = None
    ) -> SealedPassport:
        """
        Seals one executed PDF.

        :param document: its bytes, its path, or an open file
        :param file_name: default: the path's
        :param idempotency_key: as in `orders.create`
        """
        return await self._transport.send(
            Request(
                "POST",
                "/api/passport/seal",
                reads(SealedPassport),
                parts=[("file", pdf_part(document, file_name))],
                idempotency_key=idempotency_key or new_idempotency_key(),
            )
        )

    async def get(self, passport_id: str) -> Passport:
        """A passport of your firm."""
        return await self._transport.send(Request("GET", path("/api/passport/{}", passport_id), reads(Passport)))

    async def verify(self, verify_code: str) -> PassportVerification:
        """
        Returns the public record. Needs no key, like all calls by verify code.

        :raises NotFoundError: for an unknown code
        """
        where = path("/api/passport/verify/{}", verify_code)
        return await self._transport.send(Request("GET", where, reads(PassportVerification)))

    async def document(self, verify_code: str) -> bytes:
        """The sealed PDF."""
        where = path("/api/passport/verify/{}/document", verify_code)
        return await self._transport.send(Request("GET", where, reads_bytes))

    async def evidence(self, verify_code: str) -> bytes:
        """A zip of all evidence."""
        where = path("/api/passport/verify/{}/evidence", verify_code)
        return await self._transport.send(Request("GET", where, reads_bytes))

    async def log_proof(self, verify_code: str) -> bytes:
        """The proof that the transparency log contains the seal; refused with status 503 in the first seconds."""
        where = path("/api/passport/verify/{}/tlog-proof", verify_code)
        return await self._transport.send(Request("GET", where, reads_bytes))

    async def root_ots(self, verify_code: str) -> bytes:
        """
        The `.ots` proof of the log's hourly root, which covers this entry; refused with status 409 until the
        calendars have that root.
        """
        where = path("/api/passport/verify/{}/ots", verify_code)
        return await self._transport.send(Request("GET", where, reads_bytes))

    async def certificate(self, verify_code: str) -> bytes:
        """A sealed page that states what was sealed; it never names the firm."""
        where = path("/api/passport/verify/{}/certificate", verify_code)
        return await self._transport.send(Request("GET", where, reads_bytes))

    async def own_certificate(self, passport_id: str) -> bytes:
        """Returns the same page with the firm's name, for one of your own passports."""
        where = path("/api/passport/{}/certificate", passport_id)
        return await self._transport.send(Request("GET", where, reads_bytes))

    async def certificate_log_proof(self, verify_code: str) -> bytes:
        """The proof that the transparency log contains the public certificate; status 503 at first."""
        where = path("/api/passport/verify/{}/certificate/tlog-proof", verify_code)
        return await self._transport.send(Request("GET", where, reads_bytes))

    async def certificate_root_ots(self, verify_code: str) -> bytes:
        """The `.ots` proof of the log's hourly root for the public certificate; refused with 409 until it exists."""
        where = path("/api/passport/verify/{}/certificate/ots", verify_code)
        return await self._transport.send(Request("GET", where, reads_bytes))

    async def own_certificate_log_proof(self, passport_id: str) -> bytes:
        """Like `certificate_log_proof`, for the certificate with the firm's name."""
        where = path("/api/passport/{}/certificate/tlog-proof", passport_id)
        return await self._transport.send(Request("GET", where, reads_bytes))

    async def own_certificate_root_ots(self, passport_id: str) -> bytes:
        """Like `certificate_root_ots`, for the certificate with the firm's name."""
        where = path("/api/passport/{}/certificate/ots", passport_id)
        return await self._transport.send(Request("GET", where, reads_bytes))

    async def subscribe(self, url: str) -> PassportWebhook:
        """Subscribes a URL to `passport.sealed`. Only this answer contains the secret."""
        return await self._transport.send(
            Request("POST", "/api/passport/webhooks", reads(PassportWebhook), json={"url": url})
        )

    async def unsubscribe(self, webhook_id: str) -> None:
        """Ends a subscription."""
        where = path("/api/passport/webhooks/{}", webhook_id)
        return await self._transport.send(Request("DELETE", where, reads_nothing))
