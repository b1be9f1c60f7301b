"""Templates: a firm's document types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypedDict

from .orders import Language, SignatureField, SignerAuth


class _NewTemplateRoleRequired(TypedDict):
    name: str
    """Unique among the roles."""


class NewTemplateRole(_NewTemplateRoleRequired, total=False):
    """A role of a template, which an order gives to a person."""

    routing: int
    """1 to 10: roles of one number sign in parallel, after those of lower numbers. Default 1."""
    auth: SignerAuth
    """How the signer is identified besides the link. Default `link`."""
    language: Language
    """The language of mails and pages. Default `en`."""


class TemplateVersionFields(TypedDict, total=False):
    """The parts of a version. A part that is left out stays as in the version before."""

    name: str
    """At most 120 characters."""
    roles: Sequence[NewTemplateRole]
    """The signers."""
    fields: Sequence[SignatureField]
    """
    The places where they sign; `signer` is the position of the role. Default: the document's own signature fields,
    otherwise its tags.
    """
    message: str
    """Your words to the signers, at most 500 characters without addresses."""
    doc_slug: str
    """A document type of the catalog, which then decides on signing and notarization."""
    svc_sign: bool
    """True if orders are signed."""
    svc_notary: bool
    """True if orders are notarized online."""
    svc_ship: bool
    """True if orders are shipped."""
    ship_method: Literal["label", "print_mail"]
    """The method for orders that name none."""


class TemplateFields(TemplateVersionFields, total=False):
    """The parts of a new template."""

    order: str
    """One of your orders, instead of a document: its document, fields and services are copied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateRole:
    """A role of a template, which an order gives to a person."""

    name: str
    """Unique among the roles."""
    routing: int
    """The turn of its signer, counted from 1."""
    auth: SignerAuth
    """How the signer is identified besides the link."""
    language: Language
    """The language of mails and pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateSummary:
    """A template in a list."""

    template_id: str
    """The template's id, for `template` of an order."""
    name: str
    """A text for people."""
    version: int
    """The number of the version. A version never changes."""
    roles: list[TemplateRole]
    """The roles. `signer` of a field is the position of the role, counted from 1."""
    services: str
    """Flags joined by a comma and a space: `Sign, Notarize, Ship`."""
    pages: int
    """The number of pages of the document."""
    created_at: datetime
    """The time at which this version was made, in UTC."""
    archived_at: datetime | None
    """None while the template places orders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template(TemplateSummary):
    """A version of a template."""

    document_sha256: str
    """The SHA-256, in lowercase hex."""
    document_bytes: int
    """The size of the document."""
    doc_slug: str | None
    """The document type of the catalog; None for another one."""
    ship_method: str | None
    """None when the order decides."""
    message: str | None
    """The firm's words to the signers."""
    fields: list[dict[str, Any]] | None
    """The fields as they were sent; None when the document's own fields or tags decide."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateList:
    """A page of templates, newest first."""

    templates: list[TemplateSummary]
    """The newest comes first."""
    next_cursor: str | None
    """Pass it as `cursor` to the next call; None after the last page."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedTemplate:
    """The version that was made."""

    template_id: str
    """The template's id, for `template` of an order."""
    version: int
    """Counted from 1."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateMatch:
    """A template with the same form as the document."""

    template_id: str
    """The template's id, for `template` of an order."""
    name: str
    """A text for people."""
    version: int
    """The latest version."""
    likeness: Literal["same_file", "same_form"]
    """`same_file`: the file is the same byte for byte. `same_form`: it has the same words with other entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateMatches:
    """The templates with the same form as the document."""

    matches: list[TemplateMatch]
    """A template with the same file comes first."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedOption:
    """An option of a choice that the document contains. Of a radio, each option has its own place."""

    label: str
    """The words of the option."""
    x: float | None = None
    """In points, from the left edge of the page as shown."""
    y: float | None = None
    """In points, from the upper edge of the page as shown."""
    width: float | None = None
    """In points."""
    height: float | None = None
    """In points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedField:
    """A place of a document that asks to be signed or filled in."""

    kind: Literal["signature", "initials", "date", "name", "text", "checkbox", "dropdown", "radio"]
    """As in an order's `fields`."""
    signer: int | None
    """The position in `roles` of the one that the words name, from 1; None where they name none or several."""
    page: int
    """Counted from 1."""
    x: float
    """In points, from the left edge of the page as shown."""
    y: float
    """In points, from the upper edge of the page as shown."""
    width: float
    """In points."""
    height: float
    """In points."""
    label: str
    """For texts, checkboxes, dropdowns and radios; empty for other kinds."""
    words: str
    """The words of the page that ask for the field."""
    role: str | None
    """The party that the words nearby name."""
    reason: Literal[
        "own_field",
        "label_in_box",
        "label_left",
        "label_below",
        "label_right",
        "label_above",
        "column_heading",
        "initials_list",
        "signer_block",
        "like_others",
        "label_alone",
    ]
    """Where the words are, or another reason to propose the field."""
    confidence: Literal["high", "medium", "low"]
    """`low`: only the shape or the place of the line says so."""
    options: list[ProposedOption] | None = None
    """Of dropdowns and radios alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedFields:
    """The places found in a document."""

    fields: list[ProposedField]
    """From the first page to the last."""
    state: Literal["read", "partly", "picture"]
    """`partly`: the limits ended the search. `picture`: the pages have no words."""
    pages: int
    """Of the document."""
    request_id: str
    """The id of the request, for support."""
