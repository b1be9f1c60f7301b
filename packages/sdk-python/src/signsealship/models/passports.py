"""Proof passports: sealed PDFs that anybody can verify."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class _Passport:
    passport_id: str
    """For `passports.get`."""
    verify_code: str
    """By which anybody verifies it."""
    verify_url: str
    """Where anybody verifies it."""
    doc_sha256: str
    """Of what came in, in hex."""
    sealed_sha256: str
    """Of the sealed PDF, in hex."""
    status: Literal["sealed"]
    """Always `sealed`."""
    environment: Literal["live", "test"]
    """Tests prove nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rfc3161Timestamp:
    """A time-stamp by an authority."""

    authority: str
    """Who stamped."""
    timestamped_at_utc: datetime
    """The statements of the token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTimestampsProof:
    """A time-stamp that ends in the Bitcoin chain."""

    calendar: str
    """Who took it."""
    submitted_at_utc: datetime
    """When it was sent."""
    status: Literal["pending", "confirmed"]
    """`confirmed` once a block holds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassportTimestamps:
    """When the seal existed, by others' word."""

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
    """When the seal existed, by others' word."""
    log: LogNote
    """Where its line is, or will be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passport(_Passport):
    """A passport of your firm."""

    created_at: datetime
    """UTC."""
    request_id: str
    """Of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SealRetirement:
    """That the certificate of a seal is not used any more."""

    retired_at_utc: datetime
    """Since when."""
    reason: str
    """Why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retraction:
    """The operator retracted a seal in the transparency log."""

    reason: Literal["superseded", "wrong-document", "key-compromise", "court-order", "withdrawn"]
    """Why."""
    retracted_at_utc: datetime
    """When."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassportVerification:
    """The service's record of a verify code."""

    verdict: Literal["verified", "verified_test"]
    """`verified_test` proves nothing."""
    verify_code: str
    """The code that was asked for."""
    sealed_sha256: str
    """Of the sealed PDF, in hex."""
    doc_sha256: str
    """Of what came in, in hex."""
    sealed_at_utc: datetime
    """When it was sealed."""
    source: Literal["proof_passport_api"]
    """The interface that made the seal."""
    certificate_available: bool
    """Whether the sealed PDF can be fetched."""
    certificate_deleted_at_utc: datetime | None = None
    """When the retention plan deleted the sealed PDF; None when it did not."""
    environment: Literal["live", "test"]
    """Tests prove nothing."""
    seal_retirement: SealRetirement | None = None
    """Only when the certificate of the seal was retired."""
    retraction: Retraction | None = None
    """Only when the operator retracted this seal: do not rely on the document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassportWebhook:
    """A subscription to `passport.sealed`."""

    webhook_id: str
    """For `passports.unsubscribe`."""
    url: str
    """Where deliveries go."""
    signing_secret: str
    """Shown this once."""
    signature_header: str
    """The header that bears the signature."""
    standard_webhooks_secret: str
    """The same secret as libraries of Standard Webhooks take it; shown this once."""
    verification: str
    """How to check it, in words."""
