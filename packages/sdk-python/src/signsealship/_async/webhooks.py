"""Webhooks and their deliveries."""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import AsyncIterator, Sequence
from datetime import datetime

from .._errors import ConflictError
from .._parse import given, reads, reads_member, reads_nothing
from .._request import Request, instant, path
from ..models.webhooks import (
    CreatedWebhook,
    Delivery,
    DeliveryExchange,
    DeliveryList,
    DeliveryState,
    ReplayedDelivery,
    ReplayedFailures,
    RotatedSecret,
    SignatureExample,
    Topic,
    Webhook,
    WebhookPublicKey,
    WebhookTestDelivery,
)
from .pages import all_pages
from .transport import AsyncTransport


_BUSY_PAUSE = 5.0
_MOST_BUSY_WAITS = 120


def _filters(
    topic: str | None,
    order: str | None,
    external_reference: str | None,
    status: DeliveryState | None,
    webhook: str | None,
    since: datetime | None,
) -> dict[str, str | None]:
    return {
        "topic": topic,
        "order": order,
        "external_reference": external_reference,
        "status": status,
        "webhook": webhook,
        "since": instant(since) if since else None,
    }


def _page(filters: dict[str, str | None], limit: int | None, cursor: str | None) -> Request[DeliveryList]:
    query = given({**filters, "limit": limit, "cursor": cursor})
    return Request("GET", "/api/partner/webhooks/deliveries", reads(DeliveryList), query=query)


class AsyncWebhooks:
    """Webhooks and their deliveries."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self) -> builtins.list[Webhook]:
        """Lists the webhooks, newest first."""
        return await self._transport.send(Request("GET", "/api/partner/webhooks", reads(builtins.list[Webhook])))

    async def create(self, url: str, topics: Sequence[Topic]) -> CreatedWebhook:
        """Creates a webhook; only this answer contains the secret."""
        body = {"url": url, "topics": [*topics]}
        return await self._transport.send(Request("POST", "/api/partner/webhooks", reads(CreatedWebhook), json=body))

    async def remove(self, webhook_id: str) -> None:
        """Deletes a webhook."""
        where = path("/api/partner/webhooks/{}", webhook_id)
        return await self._transport.send(Request("DELETE", where, reads_nothing))

    async def rotate(self, webhook_id: str) -> RotatedSecret:
        """Rotates the secret; the old one also signs for 24 hours."""
        where = path("/api/partner/webhooks/{}/rotate", webhook_id)
        return await self._transport.send(Request("POST", where, reads(RotatedSecret)))

    async def feed(self, webhook_id: str) -> builtins.list[Delivery]:
        """The latest 100 deliveries of one webhook."""
        where = path("/api/partner/webhooks/{}/deliveries", webhook_id)
        read = reads_member(builtins.list[Delivery], "deliveries")
        return await self._transport.send(Request("GET", where, read))

    async def deliveries(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        topic: str | None = None,
        order: str | None = None,
        external_reference: str | None = None,
        status: DeliveryState | None = None,
        webhook: str | None = None,
        since: datetime | None = None,
    ) -> DeliveryList:
        """
        One page of the deliveries of all webhooks, newest first.

        :param limit: 1 to 100; default 20
        :param cursor: `next_cursor` of the page before
        :param order: an order's code
        :param webhook: a webhook's id
        :param since: only deliveries created since then
        """
        filters = _filters(topic, order, external_reference, status, webhook, since)
        return await self._transport.send(_page(filters, limit, cursor))

    async def all_deliveries(
        self,
        *,
        limit: int | None = None,
        topic: str | None = None,
        order: str | None = None,
        external_reference: str | None = None,
        status: DeliveryState | None = None,
        webhook: str | None = None,
        since: datetime | None = None,
    ) -> AsyncIterator[Delivery]:
        """
        Iterates over all deliveries, newest first; pages are fetched on demand.

        :param limit: of one page; default 100
        :param order: an order's code
        :param webhook: a webhook's id
        :param since: only deliveries created since then
        """
        filters = _filters(topic, order, external_reference, status, webhook, since)
        async for page in all_pages(self._transport, lambda cursor: _page(filters, limit or 100, cursor)):
            for delivery in page.deliveries:
                yield delivery

    async def delivery(self, delivery_id: str) -> Delivery:
        """Returns one delivery."""
        where = path("/api/partner/webhooks/deliveries/{}", delivery_id)
        return await self._transport.send(Request("GET", where, reads(Delivery)))

    async def replay(self, delivery_id: str) -> ReplayedDelivery:
        """Sends the same event again, with a body built from the present records."""
        where = path("/api/partner/webhooks/deliveries/{}/replay", delivery_id)
        return await self._transport.send(Request("POST", where, reads(ReplayedDelivery)))

    async def exchange(self, delivery_id: str) -> DeliveryExchange:
        """The request that was sent, and your endpoint's answer."""
        where = path("/api/partner/webhooks/deliveries/{}/exchange", delivery_id)
        return await self._transport.send(Request("GET", where, reads(DeliveryExchange)))

    async def replay_failed(
        self, webhook_id: str, since: datetime, until: datetime | None = None
    ) -> ReplayedFailures:
        """
        Replays deliveries to a webhook that were first sent since then and never arrived; at most 200 per call.
        While `left` is above zero, call again with the answer's `until`: each event is replayed once per period.

        :param until: default: now
        :raises ConflictError: while more than 200 deliveries of the webhook are pending
        """
        where = path("/api/partner/webhooks/{}/replay-failed", webhook_id)
        body = given({"since": instant(since), "until": until and instant(until)})
        return await self._transport.send(Request("POST", where, reads(ReplayedFailures), json=body))

    async def replay_all_failed(self, webhook_id: str, since: datetime) -> int:
        """
        Replays everything that was first sent to a webhook since then and never arrived. Each event is replayed
        once; the call pauses while many are pending. Returns how many events.

        :raises ConflictError: when too many stay pending for ten minutes
        """
        until: datetime | None = None
        replayed = waits = 0
        while True:
            try:
                answer = await self.replay_failed(webhook_id, since, until)
            except ConflictError:
                waits += 1
                if waits > _MOST_BUSY_WAITS:
                    raise
                await asyncio.sleep(_BUSY_PAUSE)
                continue
            replayed += answer.replayed
            if answer.left == 0 or answer.replayed == 0:
                return replayed
            until, waits = answer.until, 0

    async def test(self, webhook_id: str) -> WebhookTestDelivery:
        """Sends a `webhook.test` event."""
        where = path("/api/partner/webhooks/{}/test", webhook_id)
        return await self._transport.send(Request("POST", where, reads(WebhookTestDelivery)))

    async def public_key(self) -> WebhookPublicKey:
        """Returns the public key of your deliveries, if one exists."""
        return await self._transport.send(Request("GET", "/api/partner/webhooks/public-key", reads(WebhookPublicKey)))

    async def make_public_key(self) -> WebhookPublicKey:
        """Creates the public key of your deliveries, unless it exists; deliveries then have a `v1a` signature, too."""
        return await self._transport.send(Request("POST", "/api/partner/webhooks/public-key", reads(WebhookPublicKey)))

    async def signature_example(self) -> SignatureExample:
        """A worked example of a signature; needs no key."""
        return await self._transport.send(
            Request("GET", "/api/partner/webhooks/signature-example", reads(SignatureExample))
        )
