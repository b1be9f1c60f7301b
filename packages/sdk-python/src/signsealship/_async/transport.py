"""Sends requests, and retries them."""

from __future__ import annotations

import asyncio
from random import random
from typing import TypeVar

import httpx

from .._errors import SignSealShipError, api_error
from .._request import Options, Request, connection_error, http_arguments, opened, wait_before_retry

T = TypeVar("T")


class AsyncTransport:
    """Sends the requests of resources."""

    def __init__(self, options: Options, http: httpx.AsyncClient) -> None:
        self.options = options
        self.http = http
        self.last_response: httpx.Response | None = None

    async def send(self, request: Request[T]) -> T:
        """
        Returns the answer of a successful request.

        :raises SignSealShipError: for anything else
        """
        answer, _response = await self.answered(request)
        return answer

    async def answered(self, request: Request[T]) -> tuple[T, httpx.Response]:
        """Returns the answer of a successful request, together with the response."""
        attempt = 0
        while True:
            failure: SignSealShipError
            cause: Exception | None = None
            try:
                with opened(request.parts) as parts:
                    response = await self.http.request(**http_arguments(self.options, request, parts))
                self.last_response = response
                if response.is_success:
                    return request.read(response.content), response
                failure = api_error(response.status_code, response.headers, response.content)
            except httpx.RequestError as error:
                failure, cause = connection_error(self.options, error), error
            wait = wait_before_retry(request, failure, attempt, self.options.max_retries, random())
            if wait is None:
                raise failure from cause
            await asyncio.sleep(wait)
            attempt += 1
