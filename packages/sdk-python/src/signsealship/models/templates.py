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
    """A part that an order gives to a person."""

    routing: int
    """1 to 10: roles of one number sign in parallel, after those of lower numbers. Default 1."""
    auth: SignerAuth
    """How the signer is identified besides the link. Default `link`."""
    language: Language
    """Of mails and pages. Default `en`."""


class TemplateVersionFields(TypedDict, total=False):
    """The parts of a version. A part that is left out stays as in the version before."""

    name: str
    """At most 120 characters."""
    roles: Sequence[NewTemplateRole]
    """Who signs."""
    fields: Sequence[SignatureField]
    """Where they sign: `signer` is the role's place. Default: the document's own signature fields, else its tags."""
    message: str
    """Your words to the signers, at most 500 characters without addresses."""
    doc_slug: str
    """A document of the catalog, which then decides on signing and notarization."""
    svc_sign: bool
    """Orders are signed."""
    svc_notary: bool
    """Orders are notarized online."""
    svc_ship: bool
    """Orders are shipped."""
    ship_method: Literal["label", "print_mail"]
    """Where the order names none."""


class TemplateFields(TemplateVersionFields, total=False):
    """The parts of a new template."""

    order: str
    """In place of a document: one of your orders, whose document, fields and services are taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateRole:
    """A part that an order gives to a person."""

    name: str
    """Unique among the roles."""
    routing: int
    """The turn of its signer, from 1."""
    auth: SignerAuth
    """How the signer is identified besides the link."""
    language: Language
    """Of mails and pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateSummary:
    """A template in a list."""

    template_id: str
    """Names it in `template` of an order."""
    name: str
    """For people."""
    version: int
    """It never changes."""
    roles: list[TemplateRole]
    """`signer` of a field is the role's place, from 1."""
    services: str
    """Flags joined by a comma and a space: `Sign, Notarize, Ship`."""
    pages: int
    """Of the document."""
    created_at: datetime
    """Of this version. UTC."""
    archived_at: datetime | None
    """None while it places orders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template(TemplateSummary):
    """A version of a template."""

    document_sha256: str
    """Lowercase hex."""
    document_bytes: int
    """The size of the document."""
    doc_slug: str | None
    """The document of the catalog; None for another."""
    ship_method: str | None
    """None where the order decides."""
    message: str | None
    """The firm's words to the signers."""
    fields: list[dict[str, Any]] | None
    """As they were sent; None where the document's own fields or tags decide."""
    request_id: str
    """Of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateList:
    """A page of templates, newest first."""

    templates: list[TemplateSummary]
    """Newest first."""
    next_cursor: str | None
    """For `cursor` of the next call; None after the last page."""
    request_id: str
    """Of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedTemplate:
    """The version that was made."""

    template_id: str
    """Names it in `template` of an order."""
    version: int
    """From 1."""
    request_id: str
    """Of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateMatch:
    """A template that a document is the form of."""

    template_id: str
    """Names it in `template` of an order."""
    name: str
    """For people."""
    version: int
    """The latest."""
    likeness: Literal["same_file", "same_form"]
    """Byte for byte, or the same words with other entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateMatches:
    """The templates that a document is the form of."""

    matches: list[TemplateMatch]
    """The same file first."""
    request_id: str
    """Of the request, for support."""
