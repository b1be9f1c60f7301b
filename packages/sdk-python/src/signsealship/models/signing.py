"""Signers, the documents of an order, and how a document was signed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypedDict

from .orders import Language, SignerAuth


class _SignerReplacementRequired(TypedDict):
    name: str
    """The new signer's whole name."""
    email: str
    """Where the new link is mailed to."""


class SignerReplacement(_SignerReplacementRequired, total=False):
    """Who signs in another's place; language and way of identifying stay as they were unless they are given."""

    language: Language
    """Of mails and pages."""
    auth: SignerAuth
    """How the new signer is identified."""
    phone: str
    """Required when `auth` is `text_code`."""
    access_code: str
    """For `access_code`: what you tell the signer yourself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderDocument:
    """A document of an order: what came in, or what was made of it."""

    document_id: str
    """For `orders.document`."""
    kind: Literal[
        "original",
        "original_replaced",
        "sealed",
        "notarized",
        "custody_certificate",
        "fax_report",
        "delivery_receipt",
        "mail_receipt",
        "fax_certificate",
    ]
    """The kind of the document. The list can grow."""
    sha256: str
    """Of the bytes, in hex."""
    bytes: int
    """How long it is."""
    created_at: datetime
    """UTC."""
    deleted_at: datetime | None = None
    """When the retention plan deleted the file; None while it is there."""
    origin: Literal["operator"] | None = None
    """It was signed or notarized elsewhere, and an operator took it in; None otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderDocuments:
    """The documents of an order."""

    documents: list[OrderDocument]
    """Oldest first."""
    request_id: str
    """Of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignerProposal:
    """Whom a signer says should sign."""

    name: str
    """As the signer gave it."""
    email: str
    """As the signer gave it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderSignerState:
    """A signer of an order, and how far they are."""

    n: int
    """The signer's place in `signers`, from 1."""
    name: str
    """The signer's name."""
    email: str
    """Where links are mailed to."""
    language: Language
    """Of mails and pages."""
    routing: int
    """Signers of one number sign in parallel, after those of lower numbers."""
    auth: SignerAuth
    """How the signer is identified."""
    status: Literal["pending", "sent", "viewed", "signed", "declined", "locked"]
    """`pending` until it is their turn; `locked` after too many codes."""
    issued_at: datetime | None
    """When the link was mailed."""
    opened_at: datetime | None
    """When it was opened."""
    signed_at: datetime | None
    """When they signed."""
    proposal: SignerProposal | None
    """Whom the signer says should sign."""
    signing_url: str | None
    """Of test orders alone: open it and sign as your client would."""
    taken_in: Literal[True] | None = None
    """This person did not sign here: a document that was signed elsewhere was taken in. None otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderEnvelope:
    """The document that an order's signers sign."""

    verify_code: str
    """For `orders.verify_envelope`."""
    expires_at: datetime
    """Until when it can be signed."""
    outcome: Literal["Completed", "Declined", "Expired", "Voided"] | None
    """None while it is open."""
    ended_at: datetime | None
    """None while it is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderSigners:
    """Who signs an order, and how far they are."""

    signers: list[OrderSignerState]
    """In the order in which they were given."""
    envelope: OrderEnvelope | None
    """None before the order waits for signatures."""
    request_id: str
    """Of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InPersonRequest:
    """A notary's request for an act in person, in ink."""

    state: Literal["requested", "agreed", "declined"]
    """`requested` until the firm answers."""
    reason: str
    """The notary's reason."""
    requested_at: datetime
    """When the firm was asked."""
    decided_at: datetime | None
    """When the firm answered; None before."""
    technology_fee_cents: int
    """The technology fee in US cents, which goes back when the firm agrees."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderInPerson:
    """Whether an order's notarization may be done in person, in ink, although online notarization was bought."""

    in_person: InPersonRequest | None
    """The latest request; None when the firm was not asked."""
    request_id: str
    """Of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InPersonAnswer:
    """The firm's answer to a request for an act in person, in ink."""

    state: Literal["agreed", "declined"]
    """The answer on record."""
    refund_cents: int | None
    """The refund that was requested, in US cents; None when none was."""
    request_id: str
    """Of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeSigner:
    """A signer as strangers see them: names and addresses are masked."""

    n: int
    """The signer's place, from 1."""
    name: str
    """Masked."""
    email: str
    """Masked."""
    routing_order: int
    """Signers of one number sign in parallel."""
    signed_at: datetime | None
    """When they signed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeDocument:
    """The document that was signed."""

    original_sha256: str
    """Of what came in, in hex."""
    sealed_sha256: str
    """Of the sealed document, in hex."""
    bytes: int
    """How long the sealed document is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeRevision:
    """A state of the file; each is the beginning of the next."""

    number: int
    """From 1."""
    kind: Literal["original", "prepared", "signed", "sealed"]
    """The step that made it."""
    signer: int | None
    """Whose signature it holds."""
    bytes: int
    """How long the file was."""
    sha256: str
    """Of those bytes, in hex."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeTrail:
    """The chained record of what happened."""

    records: int
    """How many."""
    last_sha256: str | None
    """Of the last one, in hex."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeClaim:
    """Something that was recomputed from what is stored."""

    name: str
    """The claim, in words."""
    state: Literal["holds", "fails", "unchecked"]
    """Whether it holds."""
    why: str
    """In words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeVerification:
    """How a document was signed, recomputed from what is stored. Names and addresses are masked."""

    verify_code: str
    """The code that was asked for."""
    environment: Literal["live", "test"]
    """Tests prove nothing."""
    status: Literal["Open", "Completed", "Declined", "Expired", "Voided"]
    """How it ended."""
    partner_name: str
    """The firm that had it signed."""
    created_at: datetime
    """UTC."""
    ended_at: datetime | None
    """None while it is open."""
    signers: list[EnvelopeSigner]
    """Who signs."""
    document: EnvelopeDocument | None
    """None until it is completed."""
    revisions: list[EnvelopeRevision]
    """The states of the file; empty until the envelope is completed."""
    custody_cert_sha256: str | None
    """Of the certificate of custody, in hex."""
    certificate_deleted_at_utc: datetime | None = None
    """When the retention plan deleted the certificate; None when it did not."""
    trail: EnvelopeTrail
    """The chained record of what happened."""
    claims: list[EnvelopeClaim]
    """The results that were recomputed."""
    chain_ok: bool
    """No claim fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedOrigin:
    """A site of yours that may show the signing page in a frame."""

    origin_id: str
    """To remove it."""
    origin: str
    """Scheme, host and port."""
    created_at: datetime
    """UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedOriginList:
    """Your sites that may show the signing page."""

    origins: list[EmbedOrigin]
    """In the order in which they were registered."""
    request_id: str
    """Of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedSigner:
    """A signing page for a frame."""

    url: str
    """Opens the page once, within five minutes."""
    expires_at: datetime
    """Until when it must be opened. UTC."""
    request_id: str
    """Of the request, for support."""
