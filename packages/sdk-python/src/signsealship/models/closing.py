"""Closing passports: the state of a room's orders at the time of the seal."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from .passports import LogNote
from .rooms import Branding


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosingPassport:
    """A version of a room's closing passport."""

    version: int
    """Counted from 1."""
    verify_code: str
    """The code for `rooms.verify`."""
    verify_url: str
    """The address of the public verify page."""
    manifest_sha256: str
    """The SHA-256 of the manifest in canonical form, in hex."""
    prev_manifest_sha256: str | None
    """The manifest hash of the previous version; None for the first."""
    sealed_sha256: str
    """The SHA-256 of the certificate PDF, in hex."""
    created_at: datetime
    """UTC."""
    log: LogNote
    """The transparency log that contains its line, or will contain it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestCoverage:
    """The claims that a closing passport proves, and those that it does not."""

    covers: list[str]
    """The claims that it proves, in words."""
    does_not_cover: list[str]
    """The claims that it does not prove, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestStatus:
    """The status of an order at the time of the seal."""

    basis: Literal["platform_attestation"]
    """The source of the statement."""
    note: str
    """The weight of that statement."""
    value: str
    """The status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestDocument:
    """An order of the room. Hashes are in hex, and None for what did not exist."""

    order_code: str
    """The order's code."""
    label: str | None
    """The order's name in the room."""
    original_sha256: str | None = None
    """The SHA-256 of the original document."""
    sealed_sha256: str | None = None
    """The SHA-256 of the sealed document."""
    envelope_verify_code: str | None = None
    """The code for `orders.verify_envelope`."""
    custody_cert_sha256: str | None = None
    """The SHA-256 of the custody certificate."""
    notarized_sha256: str | None = None
    """The SHA-256 of the notarized document."""
    status_at_snapshot: ManifestStatus
    """The order's status when the passport was made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestPassport:
    """The room, and this version of its passport."""

    room_code: str
    """The room's code."""
    room_name: str
    """The room's name."""
    reference: str | None
    """The firm's own reference."""
    version: int
    """Counted from 1."""
    prev_manifest_sha256: str | None
    """The manifest hash of the previous version; None for the first."""
    generated_at_utc: str
    """A text, because it is part of the hashed bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosingManifest:
    """The statements of one version of a closing passport; their canonical form was hashed."""

    coverage: ManifestCoverage
    """The claims that it proves."""
    documents: list[ManifestDocument]
    """One for each order attached, ordered by its code."""
    passport: ManifestPassport
    """The room and the version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosingVerification:
    """A closing passport, recomputed from the stored data."""

    manifest: ClosingManifest | None
    """None when the stored text is no longer JSON; `chain_ok` is False then."""
    manifest_sha256: str
    """The SHA-256 of the manifest, in hex."""
    sealed_sha256: str
    """The SHA-256 of the certificate PDF, in hex."""
    version: int
    """Counted from 1."""
    prev_manifest_sha256: str | None
    """The manifest hash of the previous version; None for the first."""
    chain_ok: bool
    """True if all hashes match."""
    branding: Branding | None
    """The firm's branding; None when it has none."""
    created_at: datetime
    """UTC."""
    environment: Literal["live", "test"]
    """The environment; a document in `test` proves nothing."""
    certificate_deleted_at_utc: datetime | None = None
    """The time at which the retention plan deleted the certificate; None while it is stored."""
    download_url: str
    """The path of the certificate PDF on the service."""
