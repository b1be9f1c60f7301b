"""The firm: its data, its progress, and its figures."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class MyKey:
    """The key of the request."""

    prefix: str
    """`svc_pk_`, or `svc_pk_test_` for a test key."""
    last4: str
    """Its last four characters."""
    created_at: datetime
    """UTC."""
    name: str | None
    """None for a key without a name."""
    scopes: list[Literal["read", "orders", "rooms", "seal", "webhooks", "spend"]] | None
    """The scopes of the key; None for everything."""
    expires_at: datetime | None
    """UTC; None for a key without an end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    """The limits of the firm."""

    open_rooms: int | None
    """None when unlimited."""
    open_rooms_used: int
    """The number of open rooms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Me:
    """The firm of the key."""

    firm_name: str
    """Its name."""
    tier: str
    """Its plan."""
    live_enabled: bool
    """True if the firm may have live keys."""
    environment: Literal["live", "test"]
    """The environment of the key."""
    key: MyKey | None
    """The key of the request."""
    quotas: Quotas
    """The limits of the firm."""
    role: Literal["owner", "member"] | None = None
    """The role of a signed-in member; None with a key."""
    linked: bool
    """True if people of the firm have signed in."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchpadPartner:
    """The firm."""

    id: str
    """The id of this record."""
    name: str
    """Its name."""
    tier: str
    """Its plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchpadItem:
    """Something to do before live."""

    key: str
    """For programs."""
    label: str
    """A text for people."""
    done: bool
    """True if the item is done."""
    action: str
    """The action, in words."""
    deep_link: str
    """The path on the service where it is done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchpadStep:
    """A step on the way to live."""

    step: str
    """The name of the step."""
    reached: bool
    """True if the firm reached the step."""
    at: datetime | None
    """The time at which it was reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launchpad:
    """How far the firm has come on its way to live."""

    partner: LaunchpadPartner
    """The firm."""
    ready_for_live: bool
    """True if all items except `live` are done."""
    completed: int
    """Items that are done."""
    total: int
    """All items."""
    checklist: list[LaunchpadItem]
    """The items."""
    funnel: list[LaunchpadStep]
    """The steps on the way, reached or not."""
    hours_to_first_live_order: float | None
    """Hours from joining to the first live order, with two decimals; None before it."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthVolume:
    """The orders of a month."""

    month: str
    """`YYYY-MM` in UTC."""
    created_count: int
    """Orders created in it."""
    completed_count: int
    """Orders created in the month that are completed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderFunnel:
    """Each order is counted in one of the five; they sum to all orders of the window."""

    created: int
    """Not paid."""
    paid: int
    """Paid orders that are not further."""
    in_progress: int
    """Being worked on."""
    completed: int
    """Done."""
    problem: int
    """Orders that need attention."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turnaround:
    """Hours from the payment to the completion; 0 when there is no sample."""

    median: float
    """The median of the hours."""
    p90: float
    """The 90th percentile of the hours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceMix:
    """Counts of orders with each service; not exclusive."""

    sign: int
    """Orders with signatures."""
    notarize: int
    """Orders with notarization."""
    ship: int
    """Orders with shipping."""
    fax: int
    """Orders with a fax."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceCounts:
    """Counts of records, not of orders."""

    total_completed: int
    """Completed."""
    sealed_document_count: int
    """Sealed documents."""
    delivered_with_proof_count: int
    """Deliveries with proof."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Analytics:
    """The orders created in the window, as they are now, in the environment of the key."""

    window_days: int
    """The length of the window, in days."""
    volume_by_month: list[MonthVolume]
    """Oldest first; months without orders are left out."""
    funnel: OrderFunnel
    """The current states of the orders."""
    turnaround_hours: Turnaround
    """From the payment to the completion."""
    service_mix: ServiceMix
    """The services of the orders."""
    evidence: EvidenceCounts
    """The evidence of the orders."""
    revenue_cents: int
    """US cents: the total of paid, in-progress and completed orders."""
    generated_at: datetime
    """UTC."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaybookParam:
    """An argument of a playbook."""

    name: str
    """Its name."""
    type: Literal["string", "int", "bool"]
    """The type of its value."""
    required: bool
    """True if it must be given."""
    max_length: int | None
    """The maximum length of a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Playbook:
    """A playbook that the service offers, and what it is run with."""

    key: str
    """The key for `playbooks.run`."""
    name: str
    """A text for people."""
    description: str
    """The playbook's purpose."""
    param_schema: list[PlaybookParam]
    """Its arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaybookList:
    """The playbooks that the service offers."""

    playbooks: list[Playbook]
    """All of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedPlaybook:
    """A playbook that runs."""

    execution_name: str
    """The name by which support finds the execution."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessAnswer:
    """The outcome of a request for access."""

    status: Literal["issued", "pending"]
    """`issued`: a trial key was mailed once to the address; `pending`: a person looks at the request."""
    message: str
    """A text for people."""
