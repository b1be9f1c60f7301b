"""Fills: forms that people fill in online."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from .orders import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class FillTemplate:
    """The template that a form is of."""

    template_id: str
    """Names it in `template` of an order."""
    version: int
    """It never changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FillSummary:
    """A form that somebody fills in, in a list."""

    fill_id: str
    """By which it is known."""
    template: FillTemplate
    """Whose form it is."""
    title: str
    """The template's name."""
    state: Literal["open", "completed", "used", "gone", "canceled", "expired"]
    """`completed`: an order may take the document. `used`: one did. `gone`: none did within seven days."""
    name: str | None
    """Of the person who fills it in."""
    email: str | None
    """Where the link is mailed to."""
    language: Language
    """Of the page and the mail."""
    url: str | None
    """The link to the form: anyone who has it sees and changes the answers. None for a key without the scope `orders`."""
    created_at: datetime
    """UTC."""
    expires_at: datetime
    """Until when the link works. UTC."""
    ended_at: datetime | None
    """When it was completed or canceled. UTC."""
    fill_token: str | None
    """For `fill_token` of one order."""
    usable_until: datetime | None
    """Until when an order may take the document. UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fill(FillSummary):
    """A form that somebody fills in online."""

    request_id: str
    """Of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FillList:
    """A page of fills, newest first."""

    fills: list[FillSummary]
    """Newest first."""
    next_cursor: str | None
    """For `cursor` of the next call; None after the last page."""
    request_id: str
    """Of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FillOption:
    """A choice of a question."""

    value: str
    """As `values` has it."""
    label: str
    """The text that people read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FillQuestion:
    """A field of a form, as a web form asks for it."""

    name: str
    """As `values` and `labels` have it."""
    kind: Literal["text", "checkbox", "radio", "dropdown", "list"]
    """How it is answered."""
    label: str
    """The words of the question."""
    is_guessed: bool
    """The form has no words for it: send your own in `labels`."""
    required: bool
    """Whether the form asks for an answer."""
    page: int
    """From 1."""
    max_length: int | None
    """In characters; None where only the field's room bounds it."""
    options: list[FillOption]
    """The choices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FillQuestions:
    """The questions of a template's form."""

    questions: list[FillQuestion]
    """In reading order."""
    request_id: str
    """Of the request, for support."""
