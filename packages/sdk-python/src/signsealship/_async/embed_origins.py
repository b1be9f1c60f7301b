"""Sites of a firm that may show the signing page in a frame."""

from __future__ import annotations

from .._parse import reads
from .._request import Request, path
from ..models.signing import EmbedOriginList
from .transport import AsyncTransport


class AsyncEmbedOrigins:
    """Your sites that may show the signing page in a frame."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self) -> EmbedOriginList:
        """Lists the sites in the order in which they were registered."""
        return await self._transport.send(Request("GET", "/api/partner/embed-origins", reads(EmbedOriginList)))

    async def add(self, origin: str) -> EmbedOriginList:
        """
        Registers a site. A site that is already registered stays registered.

        :param origin: scheme, host and port, as `https://app.example.com`
        """
        where = "/api/partner/embed-origins"
        return await self._transport.send(Request("POST", where, reads(EmbedOriginList), json={"origin": origin}))

    async def remove(self, origin_id: str) -> EmbedOriginList:
        """Removes a site, which then gets no more signing pages."""
        where = path("/api/partner/embed-origins/{}", origin_id)
        return await self._transport.send(Request("DELETE", where, reads(EmbedOriginList)))
