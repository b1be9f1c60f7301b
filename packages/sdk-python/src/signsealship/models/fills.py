"""Fills: forms that people fill in online."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from .orders import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class FillTemplate:
    """The template to which a form belongs."""

    template_id: str | None
    """The template's id, for `template` of an order. None for the service's form of a catalog document."""
    version: int
    """The number of the version. A version never changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FillSummary:
    """A form that somebody fills in, in a list."""

    fill_id: str
    """The id of this record."""
    template: FillTemplate
    """The template of the form."""
    doc_slug: str | None
    """The document of the catalog: an order with `fill_token` is for it. None for any other document."""
    title: str
    """The template's name."""
    state: Literal["open", "completed", "used", "gone", "canceled", "expired"]
    """
    The state. `completed`: an order may use the document. `used`: an order used it. `gone`: no order used it within
    seven days.
    """
    name: str | None
    """The name of the person who fills it in."""
    email: str | None
    """The email address to which the link is mailed."""
    language: Language
    """The language of the page and the mail."""
    url: str | None
    """The link to the form: anyone who has it sees and changes the answers. None for a key without the scope `orders`."""
    created_at: datetime
    """UTC."""
    expires_at: datetime
    """The end of the link's validity, in UTC."""
    ended_at: datetime | None
    """When it was completed or canceled. UTC."""
    fill_token: str | None
    """The token for `fill_token` of one order."""
    usable_until: datetime | None
    """The time until which an order may use the document, in UTC."""
    order_code: str | None
    """The order that used the document; None before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fill(FillSummary):
    """A form that somebody fills in online."""

    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FillList:
    """A page of fills, newest first."""

    fills: list[FillSummary]
    """The newest comes first."""
    next_cursor: str | None
    """Pass it as `cursor` to the next call; None after the last page."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FillOption:
    """A choice of a question."""

    value: str
    """The value that `values` uses."""
    label: str
    """The text that people read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FillQuestion:
    """A field of a form, as a web form asks for it."""

    name: str
    """The name that `values` and `labels` use."""
    kind: Literal["text", "checkbox", "radio", "dropdown", "list"]
    """The kind of answer."""
    label: str
    """The words of the question."""
    is_guessed: bool
    """The form contains no words for this question: send your own in `labels`."""
    required: bool
    """True if the form asks for an answer."""
    page: int
    """Counted from 1."""
    max_length: int | None
    """The most characters; None when only the field's size limits them."""
    options: list[FillOption]
    """The choices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FillQuestions:
    """The questions of a form."""

    questions: list[FillQuestion]
    """In reading order."""
    request_id: str
    """The id of the request, for support."""
