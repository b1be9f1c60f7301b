"""Playbooks."""

from __future__ import annotations

from .._parse import reads
from .._request import Request, form_text, path
from ..models.firm import PlaybookList, StartedPlaybook
from .transport import AsyncTransport


class AsyncPlaybooks:
    """Playbooks, which the service runs on demand."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self) -> PlaybookList:
        """The playbooks that can be run."""
        return await self._transport.send(Request("GET", "/api/partner/playbooks", reads(PlaybookList)))

    async def run(self, key: str, **arguments: str | int | bool) -> StartedPlaybook:
        """Starts a playbook, with the arguments that its `param_schema` names."""
        form = {name: form_text(value) for name, value in arguments.items()}
        return await self._transport.send(
            Request("POST", path("/api/partner/playbooks/{}/run", key), reads(StartedPlaybook), form=form)
        )
