"""Receipts, credit notes and statements."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

BillingKind = Literal["receipt", "credit_note", "credit_reversal", "loss", "loss_reversal"]
"""A loss is a payment that the bank took back; a reversal takes a credit note or a loss back."""

LineKind = Literal[
    "receipt",
    "credit_note",
    "credit_reversal",
    "loss",
    "loss_reversal",
    "loss_payment",
    "loss_payment_reversal",
]
"""A loss payment is money that the firm paid outside the processor, for a payment that a bank took back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderReceipt:
    """A receipt or a credit note of an order."""

    number: str
    """Without gaps for the firm, environment and calendar year: `R-2026-00017`, `CN-2026-00002`."""
    kind: BillingKind
    """The list can grow."""
    receipt_number: str
    """On a credit note, the receipt whose money went back; on a receipt, its own number."""
    amount_cents: int
    """The amount paid or returned, in the smallest unit."""
    currency: str
    """ISO 4217, lowercase."""
    issued_at: datetime
    """UTC."""
    paid_by: Literal["client", "firm"]
    """The payer."""
    method: str | None
    """The firm's card or bank account, such as `Visa •••• 4242`; None for the payment page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderReceipts:
    """The receipts and credit notes of an order."""

    receipts: list[OrderReceipt]
    """Oldest first."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BillingStatement:
    """The sums of a month, in US cents, computed from payments and refunds."""

    month: str
    """`2026-11`, in the time zone of the statement."""
    status: Literal["open", "closed"]
    """A closed month never changes."""
    starts_at: datetime
    """UTC."""
    ends_at: datetime | None
    """UTC; None while the month lasts."""
    time_zone: str
    """The time zone of its months and dates."""
    opening_cents: int
    """Held for the firm before: money that paid for no order."""
    payments_cents: int
    """Received in the month."""
    refunds_cents: int
    """Returned in the month."""
    losses_cents: int
    """Payments that banks took back."""
    charges_cents: int
    """Paid for orders."""
    credits_cents: int
    """Charges that were returned."""
    closing_cents: int
    """`opening + corrections + payments - refunds - losses - (charges - credits)`."""
    corrections_cents: int
    """The error in the closing balances of earlier closed months; 0 in nearly all months."""
    held_cents: int
    """`closing + owed`: held for the firm at the end of the month."""
    owed_cents: int
    """Owed by the firm, because banks took payments of orders back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BillingStatements:
    """The firm's monthly statements."""

    statements: list[BillingStatement]
    """Newest first."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedPayment:
    """Money that the firm paid outside the processor for a payment that a bank took back."""

    way: Literal["check", "wire", "transfer"]
    """How the firm paid. The list can grow."""
    reference: str
    """The number of the check, or the bank's reference."""
    received_on: str
    """The day on which the money arrived: `2026-11-29`."""
    paid_at: datetime
    """When the lost payment was made. UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementLine:
    """A receipt, a credit note or a loss payment in a statement."""

    number: str
    """The number of the receipt, the credit note or the line."""
    kind: LineKind
    """Money that came, went back, or was lost. The list can grow."""
    at: datetime
    """When it was booked. UTC."""
    order_code: str
    """The order's code."""
    file_number: str | None
    """The order's external reference."""
    services: str
    """The services of the order."""
    document: str | None
    """The name of the order's document, as long as the service keeps it."""
    discount_cents: int
    """The discount in a receipt's price, in US cents; 0 on other documents."""
    amount_cents: int
    """In the smallest unit."""
    currency: str
    """Only `usd` counts in the sums."""
    applied: bool
    """False for money that came too late or twice, and paid for no order, and for a payment in place of a lost one."""
    paid_by: Literal["client", "firm"]
    """The payer."""
    method: str | None
    """The firm's card or bank account, such as `Visa •••• 4242`; None for the payment page."""
    received: ReceivedPayment | None = None
    """None on other lines than loss payments and their reversals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BillingStatementDetail(BillingStatement):
    """A month with its lines."""

    lines: list[StatementLine]
    """Sorted by file number, then by the time of booking."""
    request_id: str
    """The id of the request, for support."""
