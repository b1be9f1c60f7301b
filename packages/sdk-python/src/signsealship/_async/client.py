"""The client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import TypeVar

import httpx

from .._parse import given, reads
from .._request import Options, Request
from ..models.firm import AccessAnswer, Analytics, Launchpad, Me
from .billing import AsyncBilling
from .embed_origins import AsyncEmbedOrigins
from .bulk import AsyncBulk
from .fills import AsyncFills
from .events import AsyncEvents
from .orders import AsyncOrders
from .passports import AsyncPassports
from .playbooks import AsyncPlaybooks
from .rooms import AsyncRooms
from .sandbox import AsyncSandbox
from .templates import AsyncTemplates
from .transport import AsyncTransport
from .webhooks import AsyncWebhooks


T = TypeVar("T")


class AsyncSignSealShip:
    """
    The whole partner interface. A call that fails raises a SignSealShipError; when the service refuses, this is an
    APIError. Reads, and writes with an idempotency key, are sent again after some failures: see `max_retries`.
    """

    def __init__(
        self,
        base_url: str,
        key: str | None = None,
        *,
        timeout: float = 60.0,
        max_retries: int = 2,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        """
        :param base_url: the service's base address, `https://...`
        :param key: a partner key, `svc_pk_...`. Without one only the public routes answer
        :param timeout: seconds without any progress after which a request fails: while it connects, sends, or waits
            for bytes
        :param max_retries: how often a request is sent again when it got no answer, or 429, 502, 503 or 504:
            applies to reads, and to writes with an idempotency key. When an answer asks for more than 65 seconds,
            the client does not wait
        :param http_client: the httpx client that sends requests, for proxies and tests; its owner must close it
        """
        self._owns_http = http_client is None
        self._transport = AsyncTransport(
            Options(base_url, key, timeout, max_retries), http_client or httpx.AsyncClient()
        )
        self.orders = AsyncOrders(self._transport)
        """Orders, their documents and their signers."""
        self.templates = AsyncTemplates(self._transport)
        """The firm's document types, from which orders are placed."""
        self.embed_origins = AsyncEmbedOrigins(self._transport)
        """Your sites that may show the signing page in a frame."""
        self.bulk = AsyncBulk(self._transport)
        """Many orders from one template and one list of people."""
        self.fills = AsyncFills(self._transport)
        """Forms that clients fill in online, and that then are documents to order."""
        self.billing = AsyncBilling(self._transport)
        """The firm's monthly statements."""
        self.sandbox = AsyncSandbox(self._transport)
        """For test keys and test orders."""
        self.rooms = AsyncRooms(self._transport)
        """The orders of one closing, and the passport that seals them."""
        self.passports = AsyncPassports(self._transport)
        """Sealed PDFs that anybody can verify."""
        self.webhooks = AsyncWebhooks(self._transport)
        """Webhooks and their deliveries."""
        self.events = AsyncEvents(self._transport)
        """The firm's events, without a webhook."""
        self.playbooks = AsyncPlaybooks(self._transport)
        """Runs playbooks on demand."""

    def with_options(self, *, timeout: float | None = None, max_retries: int | None = None) -> AsyncSignSealShip:
        """
        Returns the same client, on the same connections, with other options: `client.with_options(timeout=5)`.
        """
        options = self._transport.options
        return AsyncSignSealShip(
            options.base_url,
            options.key,
            timeout=options.timeout if timeout is None else timeout,
            max_retries=options.max_retries if max_retries is None else max_retries,
            http_client=self._transport.http,
        )

    async def with_response(
        self, work: Callable[[AsyncSignSealShip], Awaitable[T]]
    ) -> tuple[T, httpx.Response]:
        """
        Returns the result of `work`, and the last response with its status and headers:
        `order, response = await client.with_response(lambda c: c.orders.get(code))`.

        :raises ValueError: when `work` sends no request
        """
        client = self.with_options()
        result = await work(client)
        response = client._transport.last_response
        if response is None:
            raise ValueError("with_response was given work that sends no request.")
        return result, response

    async def aclose(self) -> None:
        """Closes the connections."""
        if self._owns_http:
            await self._transport.http.aclose()

    async def __aenter__(self) -> AsyncSignSealShip:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def me(self) -> Me:
        """The firm of the key."""
        return await self._transport.send(Request("GET", "/api/partner/me", reads(Me)))

    async def launchpad(self) -> Launchpad:
        """Returns the steps toward going live, done and missing."""
        return await self._transport.send(Request("GET", "/api/partner/launchpad", reads(Launchpad)))

    async def analytics(self, *, days: int | None = None) -> Analytics:
        """
        The orders of a window.

        :param days: 1 to 366, clamped; default 90
        """
        query = given({"days": days})
        return await self._transport.send(Request("GET", "/api/partner/analytics", reads(Analytics), query=query))

    async def request_access(
        self,
        *,
        firm_name: str,
        contact_name: str,
        work_email: str,
        role: str | None = None,
        expected_volume: str | None = None,
        use_case: str | None = None,
        recaptcha_token: str | None = None,
    ) -> AccessAnswer:
        """
        Asks for a key; needs none.

        :param role: what the contact does at the firm
        :param expected_volume: documents a month, in words
        :param use_case: what the firm wants to do, in some sentences
        """
        body = {
            "firmName": firm_name,
            "contactName": contact_name,
            "workEmail": work_email,
            "role": role,
            "expectedVolume": expected_volume,
            "useCase": use_case,
            "recaptchaToken": recaptcha_token,
        }
        return await self._transport.send(
            Request("POST", "/api/partner/request", reads(AccessAnswer), json=given(body))
        )
