"""Closing passports: what a room's orders were when it was sealed."""

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
    """From 1."""
    verify_code: str
    """For `rooms.verify`."""
    verify_url: str
    """Where anybody verifies it."""
    manifest_sha256: str
    """Of the manifest in canonical form, in hex."""
    prev_manifest_sha256: str | None
    """Of the version before; None for the first."""
    sealed_sha256: str
    """Of the certificate PDF, in hex."""
    created_at: datetime
    """UTC."""
    log: LogNote
    """Where its line is, or will be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestCoverage:
    """The claims that a closing passport proves, and those that it does not."""

    covers: list[str]
    """In words."""
    does_not_cover: list[str]
    """In words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestStatus:
    """An order's status when the passport was made."""

    basis: Literal["platform_attestation"]
    """Who says so."""
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
    """Of what came in."""
    sealed_sha256: str | None = None
    """Of what was sealed."""
    envelope_verify_code: str | None = None
    """For `orders.verify_envelope`."""
    custody_cert_sha256: str | None = None
    """Of the certificate of custody."""
    notarized_sha256: str | None = None
    """Of the notarized document."""
    status_at_snapshot: ManifestStatus
    """When the passport was made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestPassport:
    """The room, and this version of its passport."""

    room_code: str
    """The room's code."""
    room_name: str
    """The room's name."""
    reference: str | None
    """The firm's own."""
    version: int
    """From 1."""
    prev_manifest_sha256: str | None
    """Of the version before; None for the first."""
    generated_at_utc: str
    """As text: it is hashed."""


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
    """A closing passport, recomputed from what is stored."""

    manifest: ClosingManifest | None
    """None when the stored text is not JSON any more; `chain_ok` is False then."""
    manifest_sha256: str
    """In hex."""
    sealed_sha256: str
    """Of the certificate PDF, in hex."""
    version: int
    """From 1."""
    prev_manifest_sha256: str | None
    """Of the version before; None for the first."""
    chain_ok: bool
    """All hashes are what they were."""
    branding: Branding | None
    """The firm's look; None when it has none."""
    created_at: datetime
    """UTC."""
    environment: Literal["live", "test"]
    """Tests prove nothing."""
    certificate_deleted_at_utc: datetime | None = None
    """When the retention plan deleted the certificate; None when it did not."""
    download_url: str
    """Of the certificate PDF: a path on the service."""
