"""Requests to the service, as values. Both clients send these; this module sends nothing."""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, BinaryIO, Generic, Literal, TypeVar, Union
from urllib.parse import quote

import httpx

from ._errors import APIConnectionError, APIError, APITimeoutError, SignSealShipError
from ._version import VERSION

T = TypeVar("T")

Pdf = Union[bytes, str, "os.PathLike[str]", BinaryIO]
"""A PDF: its bytes, the path of its file (a text or a Path), or a seekable binary file. Files are read as they are sent."""

Part = tuple[str, Union[tuple[None, str], tuple[str, Union[bytes, Path, BinaryIO], str]]]
SentPart = tuple[str, Union[tuple[None, str], tuple[str, Union[bytes, BinaryIO], str]]]

FIRST_WAIT = 0.5
# A little more than the longest window of a key's rate limits.
LONGEST_WAIT = 65.0
# Answers of a service that restarts, and of a proxy in front of it. An installation without payments does not change by
# waiting.
PASSING = frozenset({429, 502, 503, 504})


@dataclass(frozen=True)
class Request(Generic[T]):
    """One request, and how its answer is read."""

    method: Literal["GET", "POST", "DELETE"]
    path: str
    read: Callable[[bytes], T]
    query: Mapping[str, str | int] = field(default_factory=dict)
    json: Mapping[str, Any] | None = None
    form: Mapping[str, str] | None = None
    """Fields that are sent urlencoded."""
    parts: Sequence[Part] | None = None
    """Parts that are sent as multipart/form-data."""
    idempotency_key: str | None = None


@dataclass(frozen=True)
class Options:
    """The options of a client."""

    base_url: str
    key: str | None = field(repr=False)
    timeout: float
    max_retries: int

    def __post_init__(self) -> None:
        if not self.base_url.startswith(("http://", "https://")) or self.base_url.endswith("//"):
            raise ValueError("base_url must be an http(s) URL.")
        if self.key is not None and not self.key.strip():
            raise ValueError("key must be a partner key, svc_pk_...; leave it out for the public routes.")


def path(template: str, *parts: str | int) -> str:
    """A path with its parts escaped: `path("/api/rooms/{}", room_code)`."""
    # Servers would resolve a path segment of a single dot, so it is escaped.
    return template.format(*(quote(str(part), safe="").replace(".", "%2E") for part in parts))


def instant(time: datetime) -> str:
    """A time in the form of the interface. A time without a zone is in this machine's zone."""
    return time.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def new_idempotency_key() -> str:
    """A key for a write that may be sent again."""
    return f"sdk-{uuid.uuid4()}"


def pdf_part(pdf: Pdf, file_name: str | None) -> tuple[str, bytes | Path | BinaryIO, str]:
    """A PDF and the name of its file, as a form takes it."""
    if isinstance(pdf, (str, os.PathLike)):
        return (file_name or Path(pdf).name, Path(pdf), "application/pdf")
    return (file_name or "document.pdf", pdf, "application/pdf")


@contextmanager
def opened(parts: Sequence[Part] | None) -> Iterator[list[SentPart] | None]:
    """The parts for one attempt, with their files open at the first byte."""
    if parts is None:
        yield None
        return
    with ExitStack() as stack:
        sent: list[SentPart] = []
        for name, part in parts:
            if part[0] is None:
                sent.append((name, part))
                continue
            file_name, source, kind = part
            if isinstance(source, Path):
                sent.append((name, (file_name, stack.enter_context(source.open("rb")), kind)))
                continue
            if not isinstance(source, bytes):
                source.seek(0)
            sent.append((name, (file_name, source, kind)))
        yield sent


def form_text(value: object) -> str:
    """A value as a field of a form: `true`, a number, a text, or JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def form_parts(fields: Mapping[str, Any], document: Pdf | None, file_name: str | None) -> list[Part]:
    """The parts of an order's form; None and False are not sent."""
    texts = {name: form_text(value) for name, value in fields.items() if value is not None and value is not False}
    # A part without a file name is a field, not a file.
    parts: list[Part] = [(name, (None, text)) for name, text in texts.items()]
    if document is not None:
        parts.append(("document", pdf_part(document, file_name)))
    return parts


def http_arguments(options: Options, request: Request[Any], parts: list[SentPart] | None) -> dict[str, Any]:
    """The request as httpx takes it."""
    headers = {
        "Accept": "application/problem+json, application/json;q=0.9",
        "User-Agent": f"signsealship-python/{VERSION}",
    }
    if options.key is not None:
        headers["Authorization"] = f"Bearer {options.key}"
    if request.idempotency_key is not None:
        headers["Idempotency-Key"] = request.idempotency_key
    return {
        "method": request.method,
        "url": options.base_url.rstrip("/") + request.path,
        "params": request.query or None,
        "json": request.json,
        "data": request.form,
        "files": parts,
        "headers": headers,
        "timeout": options.timeout,
        "follow_redirects": False,
    }


def connection_error(options: Options, error: httpx.RequestError) -> APIConnectionError:
    """The exception for a request without an answer; it names the address."""
    kind = APITimeoutError if isinstance(error, httpx.TimeoutException) else APIConnectionError
    return kind(f"No answer from {options.base_url} ({str(error) or type(error).__name__}).")


def wait_before_retry(
    request: Request[Any], error: SignSealShipError, attempt: int, max_retries: int, chance: float
) -> float | None:
    """
    Seconds after which the request is sent again; None when it is not.

    :param attempt: counted from 0
    :param chance: 0 to 1, so that many clients do not return at the same time
    """
    may_repeat = request.method == "GET" or request.idempotency_key is not None
    if not may_repeat or attempt >= max_retries:
        return None
    wait = FIRST_WAIT * 2.0**attempt * (0.5 + chance / 2)
    if isinstance(error, APIConnectionError):
        return wait
    if not isinstance(error, APIError):
        return None
    passes = error.status in PASSING and error.code != "payments_not_configured"
    # The service may still be working on the first attempt of a request that was cut off.
    if not passes and error.code != "idempotency_in_flight":
        return None
    asked = wait if error.retry_after is None else error.retry_after
    return asked if asked <= LONGEST_WAIT else None


def wait_for_window(headers: Mapping[str, str]) -> float:
    """
    Seconds to wait before the next page of a list, so that a quarter of what the limit allows is left for other
    requests of the same key; 0 when there is nothing to wait for (draft-ietf-httpapi-ratelimit-headers).
    """

    def number(header: str, name: str) -> int | None:
        found = re.search(rf";\s*{name}=(\d+)", headers.get(header, ""))
        return int(found[1]) if found else None

    remaining, reset = number("RateLimit", "r"), number("RateLimit", "t")
    quota = number("RateLimit-Policy", "q")
    if remaining is None or reset is None or quota is None or remaining > quota / 4:
        return 0.0
    return float(reset)
