"""Proof passports: sealed PDFs that anybody can verify."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class _Passport:
    passport_id: str
    """The id for `passports.get`."""
    verify_code: str
    """The public verify code."""
    verify_url: str
    """The address of the public verify page."""
    doc_sha256: str
    """The SHA-256 of the original document, in hex."""
    sealed_sha256: str
    """The SHA-256 of the sealed PDF, in hex."""
    status: Literal["sealed"]
    """Always `sealed`."""
    environment: Literal["live", "test"]
    """The environment; a document in `test` proves nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rfc3161Timestamp:
    """A time-stamp by an authority."""

    authority: str
    """The authority that stamped."""
    timestamped_at_utc: datetime
    """The time that the token states."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTimestampsProof:
    """A time-stamp that ends in the Bitcoin chain."""

    calendar: str
    """The calendar that accepted the hash."""
    submitted_at_utc: datetime
    """The time at which it was sent."""
    status: Literal["pending", "confirmed"]
    """`confirmed` once a Bitcoin block contains it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassportTimestamps:
    """Statements of others about when the seal existed."""

    rfc3161: Rfc3161Timestamp | None
    """None when the authority could not be reached."""
    open_timestamps: OpenTimestampsProof | None
    """None when no calendar could be reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogNote:
    """The transparency log that a new seal enters within seconds."""

    origin: str
    """Its name."""
    state: Literal["queued", "logged", "witnessed", "anchored"]
    """`queued`, unless the request waited for the log (`Prefer: wait=N`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedPassport(_Passport):
    """A PDF that was sealed."""

    timestamps: PassportTimestamps
    """Statements of others about when the seal existed."""
    log: LogNote
    """The transparency log that contains its line, or will contain it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passport(_Passport):
    """A passport of your firm."""

    created_at: datetime
    """UTC."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SealRetirement:
    """The certificate of a seal was retired."""

    retired_at_utc: datetime
    """The time since which it is retired."""
    reason: str
    """The reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retraction:
    """The operator retracted a seal in the transparency log."""

    reason: Literal["superseded", "wrong-document", "key-compromise", "court-order", "withdrawn"]
    """The reason."""
    retracted_at_utc: datetime
    """The time of the retraction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassportVerification:
    """The service's record of a verify code."""

    verdict: Literal["verified", "verified_test"]
    """The verdict; `verified_test` proves nothing."""
    verify_code: str
    """The code of the request."""
    sealed_sha256: str
    """The SHA-256 of the sealed PDF, in hex."""
    doc_sha256: str
    """The SHA-256 of the original document, in hex."""
    sealed_at_utc: datetime
    """When it was sealed."""
    source: Literal["proof_passport_api"]
    """The interface through which the seal was made."""
    certificate_available: bool
    """True if the sealed PDF can be fetched."""
    certificate_deleted_at_utc: datetime | None = None
    """The time at which the retention plan deleted the sealed PDF; None while it is stored."""
    environment: Literal["live", "test"]
    """The environment; a document in `test` proves nothing."""
    seal_retirement: SealRetirement | None = None
    """Present only when the certificate of the seal was retired."""
    retraction: Retraction | None = None
    """Present only when the operator retracted this seal: do not rely on the document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassportWebhook:
    """A subscription to `passport.sealed`."""

    webhook_id: str
    """The id for `passports.unsubscribe`."""
    url: str
    """The URL to which deliveries are sent."""
    signing_secret: str
    """The secret; shown only once."""
    signature_header: str
    """The name of the header with the signature."""
    standard_webhooks_secret: str
    """The same secret in the form of Standard Webhooks libraries; shown only once."""
    verification: str
    """How to check the signature, in words."""
