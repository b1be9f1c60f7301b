# Written from _async by tools/python-sync.ts.
"""Sends requests, and sends them again."""

from __future__ import annotations

import time
from random import random
from typing import TypeVar

import httpx

from .._errors import SignSealShipError, api_error
from .._request import Options, Request, connection_error, http_arguments, wait_before_retry

T = TypeVar("T")


class Transport:
    """What resources send their requests by."""

    def __init__(self, options: Options, http: httpx.Client) -> None:
        self.options = options
        self.http = http

    def send(self, request: Request[T]) -> T:
        """The answer of a success. :raises SignSealShipError: for anything else"""
        attempt = 0
        while True:
            failure: SignSealShipError
            cause: Exception | None = None
            try:
                response = self.http.request(**http_arguments(self.options, request))
                if response.is_success:
                    return request.read(response.content)
                failure = api_error(response.status_code, response.headers, response.content)
            except httpx.RequestError as error:
                failure, cause = connection_error(self.options, error), error
            wait = wait_before_retry(request, failure, attempt, self.options.max_retries, random())
            if wait is None:
                raise failure from cause
            time.sleep(wait)
            attempt += 1
