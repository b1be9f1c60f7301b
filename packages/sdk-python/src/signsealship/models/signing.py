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
    """The email address to which the new link is mailed."""


class SignerReplacement(_SignerReplacementRequired, total=False):
    """The person who signs instead. Language and identification stay unless given."""

    language: Language
    """The language of mails and pages."""
    auth: SignerAuth
    """How the new signer is identified."""
    phone: str
    """Required when `auth` is `text_code`."""
    access_code: str
    """The code for `access_code`, which you tell the signer yourself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderDocument:
    """A document of an order: an upload, or a document made from it."""

    document_id: str
    """The id for `orders.document`."""
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
    """The SHA-256 of the bytes, in hex."""
    bytes: int
    """The length in bytes."""
    created_at: datetime
    """UTC."""
    deleted_at: datetime | None = None
    """The time at which the retention plan deleted the file; None while it is stored."""
    origin: Literal["operator"] | None = None
    """An operator recorded a document that was signed or notarized elsewhere; None otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderDocuments:
    """The documents of an order."""

    documents: list[OrderDocument]
    """The oldest comes first."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignerProposal:
    """The person who, according to the signer, should sign."""

    name: str
    """The name that the signer gave."""
    email: str
    """The email address that the signer gave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderSignerState:
    """A signer of an order, and the signer's progress."""

    n: int
    """The signer's position in `signers`, counted from 1."""
    name: str
    """The signer's name."""
    email: str
    """The email address to which links are mailed."""
    language: Language
    """The language of mails and pages."""
    routing: int
    """Signers of one number sign in parallel, after those of lower numbers."""
    auth: SignerAuth
    """How the signer is identified."""
    status: Literal["pending", "sent", "viewed", "signed", "declined", "locked"]
    """`pending` until it is their turn; `locked` after too many wrong codes."""
    issued_at: datetime | None
    """The time at which the link was mailed."""
    opened_at: datetime | None
    """The time at which it was opened."""
    signed_at: datetime | None
    """The time of signing."""
    proposal: SignerProposal | None
    """The person who, according to the signer, should sign."""
    signing_url: str | None
    """For test orders: open it and sign as your client would. None in live, and once the link no longer opens a document."""
    taken_in: Literal[True] | None = None
    """An operator recorded a document that was signed elsewhere instead of here. None otherwise."""
    wants_paper: Literal[True] | None = None
    """This person ended the signing to sign on paper; `status` is then `declined`. None otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderEnvelope:
    """The document that an order's signers sign."""

    verify_code: str
    """The code for `orders.verify_envelope`."""
    expires_at: datetime
    """The time until which it can be signed."""
    outcome: Literal["Completed", "Declined", "Expired", "Voided"] | None
    """None while the envelope is open."""
    ended_at: datetime | None
    """None while the envelope is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderSigners:
    """The signers of an order, and their progress."""

    signers: list[OrderSignerState]
    """In the order in which they were given."""
    envelope: OrderEnvelope | None
    """None until the order waits for signatures."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyLink:
    """A link through which a signer downloads the finished documents of an order. It never has the address itself."""

    link_id: str
    """The id of the link in its order."""
    n: int
    """The signer's number, counted from 1."""
    name: str
    """The signer's name."""
    email: str
    """The email address to which the link was mailed."""
    issued_at: datetime
    """When the link was made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyLinks:
    """The links to the copies of an order's documents."""

    links: list[CopyLink]
    """The links that work, by signer; empty while people sign."""
    request_id: str
    """The id of the request, for support."""


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
    """The technology fee in US cents, which is refunded when the firm agrees."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderInPerson:
    """
    A notary's request to notarize an order in person, in ink, although online notarization was bought. Also contains
    your answer.
    """

    in_person: InPersonRequest | None
    """The latest request; None when the firm was not asked."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InPersonAnswer:
    """The firm's answer to a request for an act in person, in ink."""

    state: Literal["agreed", "declined"]
    """The recorded answer."""
    refund_cents: int | None
    """The refund that was requested, in US cents; None when none was."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeSigner:
    """A signer in the public view: names and addresses are masked."""

    n: int
    """The signer's position, counted from 1."""
    name: str
    """The masked name."""
    email: str
    """The masked email address."""
    routing_order: int
    """Signers of one number sign in parallel."""
    signed_at: datetime | None
    """The time of signing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeDocument:
    """The document that was signed."""

    original_sha256: str
    """The SHA-256 of the original document, in hex."""
    sealed_sha256: str
    """The SHA-256 of the sealed document, in hex."""
    bytes: int
    """The length of the sealed document in bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeRevision:
    """A state of the file; each is the beginning of the next."""

    number: int
    """Counted from 1."""
    kind: Literal["original", "prepared", "signed", "sealed"]
    """The step that made it."""
    signer: int | None
    """The signer whose signature it contains."""
    bytes: int
    """The length of the file in bytes."""
    sha256: str
    """The SHA-256 of those bytes, in hex."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeTrail:
    """The chained record of what happened."""

    records: int
    """The number of records."""
    last_sha256: str | None
    """The SHA-256 of the last record, in hex."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeClaim:
    """Something that was recomputed from the stored evidence."""

    name: str
    """The claim, in words."""
    state: Literal["holds", "fails", "unchecked"]
    """The result of the claim. `unchecked`: it could not be decided."""
    why: str
    """The reason, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeVerification:
    """How a document was signed, recomputed from the stored evidence. Names and addresses are masked."""

    verify_code: str
    """The code of the request."""
    environment: Literal["live", "test"]
    """The environment; a document in `test` proves nothing."""
    status: Literal["Open", "Completed", "Declined", "Expired", "Voided"]
    """The state of the envelope."""
    partner_name: str
    """The firm that requested the signatures."""
    created_at: datetime
    """UTC."""
    ended_at: datetime | None
    """None while the envelope is open."""
    signers: list[EnvelopeSigner]
    """The signers."""
    document: EnvelopeDocument | None
    """None until the envelope is completed."""
    revisions: list[EnvelopeRevision]
    """The states of the file; empty until the envelope is completed."""
    custody_cert_sha256: str | None
    """The SHA-256 of the custody certificate, in hex."""
    certificate_deleted_at_utc: datetime | None = None
    """The time at which the retention plan deleted the certificate; None while it is stored."""
    trail: EnvelopeTrail
    """The chained record of what happened."""
    claims: list[EnvelopeClaim]
    """The results that were recomputed."""
    chain_ok: bool
    """True if no claim fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedOrigin:
    """One of your sites that may show the signing page in a frame."""

    origin_id: str
    """The id, for removing the site."""
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
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedSigner:
    """A signing page for a frame."""

    url: str
    """Opens the page once, within five minutes."""
    expires_at: datetime
    """The time until which it must be opened, in UTC."""
    request_id: str
    """The id of the request, for support."""
