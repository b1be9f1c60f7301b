"""Orders: the fields to place them with, and the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypedDict

SignerAuth = Literal["link", "mail_code", "access_code", "text_code"]
"""How a signer is identified, besides the link that is mailed."""

Language = Literal["en", "es", "fr", "pt", "zh", "vi", "ko", "tl"]
"""The language of mails and pages."""

TestMethod = Literal[
    "card",
    "card_declined",
    "card_needs_authentication",
    "card_dispute_won",
    "card_dispute_lost",
    "bank",
    "bank_insufficient_funds",
    "bank_returned",
    "bank_no_answer",
]
"""A test card or a test bank account. Its name says what happens when it is charged."""

SandboxOutcome = Literal["success", "decline", "cancel", "delayed"]
"""How a payment in the sandbox ends."""

Milestone = Literal["payment.cleared", "signature.completed", "shipment.delivered"]
"""Statuses that the sandbox can walk a test order to."""


class _SignerRequired(TypedDict):
    name: str
    """The signer's whole name."""
    email: str
    """The email address to which the link is mailed."""


class Signer(_SignerRequired, total=False):
    """A person who signs."""

    phone: str
    """A 10-digit US number, or an international one in `+country` form. Required when `auth` is `text_code`."""
    routing: int
    """1 to 10: signers of one number sign in parallel, after those of lower numbers. Default 1."""
    auth: SignerAuth
    """Default: `signer_auth` of the order."""
    access_code: str
    """The code for `access_code`, which you tell the signer yourself."""
    language: Language
    """The language of mails and pages. Default `en`."""


class _FieldOptionRequired(TypedDict):
    label: str
    """Unique among the options."""


class FieldOption(_FieldOptionRequired, total=False):
    """A choice of a radio, a multiple or a dropdown. A radio and a multiple show each at a place of its own."""

    x: float
    """Points from the left edge."""
    y: float
    """Points from the upper edge."""
    width: float
    """Points: 6 to 36."""
    height: float
    """Points: 6 to 36."""


class NumberFormat(TypedDict, total=False):
    """Which numbers a field takes, and how they are shown."""

    decimals: int
    """
    The number of decimals shown, and the most that may be typed: 0 to 4. Default 2 with a currency, otherwise as
    many as typed.
    """
    min: float
    """The least number, with at most 4 decimals."""
    max: float
    """The largest number, with at most 4 decimals."""
    currency: Literal["USD", "CAD", "EUR", "GBP", "MXN"]
    """The currency that is shown with the number."""


class _ShowWhenRequired(TypedDict):
    field: str
    """The `id` of another field, which belongs to the same signer or an earlier turn, or is `read_only`."""
    operator: Literal["checked", "unchecked", "filled", "empty", "equals", "not_equals", "greater_than", "less_than"]
    """The value that the other field must hold."""


class ShowWhen(_ShowWhenRequired, total=False):
    """A condition on another field."""

    value: str | float
    """A text, a number, or the label of an option; not with the first four operators."""


class _SignatureFieldRequired(TypedDict):
    kind: Literal["signature", "initials", "date", "name", "text", "number", "checkbox", "radio", "multiple", "dropdown"]
    """The kind of field."""
    signer: int
    """The signer's position in `signers`, counted from 1."""
    page: int
    """Counted from 1."""


class SignatureField(_SignatureFieldRequired, total=False):
    """A place on a page as a reader shows it, in points (1/72 inch) from its upper left corner."""

    x: float
    """Points from the left edge. Required for all but a radio and a multiple, whose options have places."""
    y: float
    """Points from the upper edge."""
    width: float
    """Points."""
    height: float
    """Points."""
    label: str
    """The label by which the signer is asked for the value."""
    required: bool
    """True if the field must be filled in. Default True; for a checkbox False."""
    help: str
    """Shown to the signer with the field."""
    value: str | float | bool
    """
    Your own value, which is in the document before anybody signs: for a checkbox a bool, otherwise a text or the
    label of an option.
    """
    read_only: bool
    """True if nobody may change the value."""
    format: Literal["iso", "us", "long", "any", "email", "phone_us", "zip_us", "ssn_last4"] | NumberFormat
    """The format of a date, a text or a number."""
    options: Sequence[FieldOption]
    """The options of a radio, a multiple or a dropdown: 2 to 50."""
    least: int
    """The smallest number of options of a multiple. Default 1, or 0 when `required` is False."""
    most: int
    """The largest number of options of a multiple. Default: all."""
    id: str
    """Unique among the fields: `show_when` and `formula` of other fields name it."""
    show_when: ShowWhen
    """The condition for showing the field. A field that is not shown is neither required nor drawn."""
    formula: str
    """
    The formula of a number: the service calculates it when its signer signs, for example `round(rent * 12, 2)`.
    """


class _RolePersonRequired(TypedDict):
    name: str
    """The signer's whole name."""
    email: str
    """The email address to which the link is mailed."""


class RolePerson(_RolePersonRequired, total=False):
    """The person who takes a template's role."""

    phone: str
    """A 10-digit US number, or an international one in `+country` form."""
    access_code: str
    """The code for a role with `access_code`, which you tell the signer yourself."""
    language: Language
    """The language of mails and pages. Default: the role's."""


class _OrderFieldsRequired(TypedDict):
    email: str
    """The client's email address."""
    byod_confirmed: Literal[True]
    """Attests that the document is the client's own completed one."""


class OrderFields(_OrderFieldsRequired, total=False):
    """The fields of a new order, besides its document."""

    fill_token: str
    """40 hex digits, in place of a document."""
    name: str
    """The client's name."""
    doc_slug: str
    """A document type of the catalog, which then decides on signing and notarization."""
    svc_sign: bool
    """True to have the document signed."""
    svc_notary: bool
    """True to have it notarized online."""
    svc_ship: bool
    """True to have it shipped; send the `ship` fields with it."""
    signer_state: str
    """The state in which the signer is: two letters."""
    dest_state: str
    """The state to which the document goes: two letters."""
    external_reference: str
    """Your file number, up to 120 characters; lists and webhooks return it."""
    ship_name: str
    """The recipient of the shipment."""
    ship_line1: str
    """Street and number."""
    ship_line2: str
    """Suite, floor, unit."""
    ship_city: str
    """City."""
    ship_state: str
    """Two letters."""
    ship_postal: str
    """ZIP or ZIP+4."""
    ship_method: Literal["label", "print_mail"]
    """`label` (default): a prepaid carrier label; `print_mail`: the service prints and mails it."""
    from_name: str
    """The name in the return address. It needs the other `from` fields."""
    from_line1: str
    """Street and number."""
    from_line2: str
    """Suite, floor, unit."""
    from_city: str
    """City."""
    from_state: str
    """Two letters."""
    from_postal: str
    """ZIP or ZIP+4."""
    fax_to: str
    """Adds a fax: a 10-digit US number, or an international one in `+country` form."""
    pay_by: Literal["client", "firm"]
    """The payer. Default `client`; with `firm`, mails and pages do not mention money to the client."""
    create_checkout: bool
    """True if the answer also includes the hosted checkout."""
    signers: Sequence[Signer]
    """The signers. Default: only the client."""
    fields: Sequence[SignatureField]
    """The places where they sign. Default: the document's own signature fields, its tags, or an added page."""
    signer_auth: SignerAuth
    """How signers without their own setting are identified. Default `link`."""
    template: str
    """The id of one of your templates, which decides the services, the signers' roles and the fields."""
    template_version: int
    """Default: the latest."""
    roles: Mapping[str, RolePerson]
    """The person for each of the template's roles, by the role's name."""
    values: Mapping[str, str | float | bool]
    """The values of the template's fields, by their labels."""
    other_document: bool
    """Uses the template's fields although the document is another form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderLine:
    """A line of a quote."""

    type: str
    """For programs: `WorkflowFee`, `NotaryFee`, ... The list can grow."""
    label: str
    """A text for people."""
    amount_cents: int
    """US cents; negative for discounts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentNotice:
    """
    Something in a document to be signed that readers may not see as it will be sealed. Each signer is warned, too.
    """

    code: str
    """`text_below_place`, `active_content`, `hidden_text`, ... The list can grow."""
    page: int | None
    """From 1; None for the whole document."""
    text: str | None
    """The text or name in the document; None when nothing is quoted, and always in the answer to create."""
    message: str
    """For people, in English."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateUse:
    """The version of a template that an order was placed from."""

    template_id: str
    """The template's id."""
    version: int
    """The number of the version. A version never changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    request_id: str
    """The id of the request, for support."""
    order_code: str
    """The order's code. Anyone who has it can open the client's page."""
    order_url: str
    """The client's page: a path on the service."""
    status: str
    """`QuoteReady`, `Paid`, `EsignPending`, ... `Completed`. The list can grow."""
    external_reference: str | None
    """The `external_reference` that was sent."""
    fax_to_number: str | None
    """E.164; None without a fax."""
    subtotal_cents: int
    """US cents, before the discount of the firm's tier."""
    discount_cents: int
    """US cents."""
    total_cents: int
    """US cents: what a checkout charges."""
    lines: list[OrderLine]
    """The quote, line by line."""
    pay_by: Literal["firm"] | None = None
    """`firm` when your firm pays; None when the client does."""
    manual_quote_reason: str | None = None
    """The reason why a person prices the order; None unless its status is `ManualQuoteRequired`."""
    document_notices: list[DocumentNotice] | None = None
    """Notices about the document that signers see; None when there are none."""
    template: TemplateUse | None = None
    """The template that the order was placed from; None without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceEstimate:
    """The price of a document for the firm. Nothing was ordered."""

    is_complete: bool
    """False when a person prices the postage after the order is placed. The sums don't include it then."""
    subtotal_cents: int
    """The sum of the lines, in US cents."""
    discount_cents: int
    """The discount of the firm's tier, in US cents."""
    total_cents: int
    """In US cents."""
    lines: list[OrderLine]
    """The price, line by line."""
    request_id: str
    """The id of the request, for support."""
    warnings: list[str] | None = None
    """Possible mistakes, such as a misspelt parameter; None when there are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedOrder(_Order):
    """An order that was placed, with its quote."""

    checkout_url: str | None
    """The address at which the client pays; None unless `create_checkout` was sent and the order can be paid."""
    warnings: list[str] | None = None
    """For test orders: possible mistakes, such as a misspelt field; None when there are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notarization:
    """The state of an order's notarization, without names, links and addresses."""

    state: str
    """`not_due`, `waiting`, `claimed`, `completed`, `failed`, `identity_locked` or `ended`. The list can grow."""
    method: str | None
    """`ron`, `ipen`, `ink` or `rin`; None while it is not known."""
    jurisdiction: str | None
    """The state of the venue, as two letters; None before a notary has the order."""
    appointment_utc: datetime | None
    """UTC; None without an appointment."""
    session: str | None
    """`scheduled`, `queued`, `called`, `waiting_room`, `live`, `held`, `signed` or `ended`; None without a meeting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderCharge:
    """The latest charge of an order's total to your firm's own card or bank account."""

    charge_id: str
    """The charge's id."""
    state: Literal["asked", "processing", "succeeded", "failed", "refused"]
    """After `failed` and `refused` the order can be charged again."""
    amount_cents: int
    """US cents."""
    asked_at: datetime
    """UTC."""
    reason: str | None
    """Why it failed or was refused, such as `insufficient_funds`; None otherwise. The list may grow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderDetail(_Order):
    """An order as it is now."""

    services: str
    """Flags joined by a comma and a space: `Sign, Notarize, Ship, Fax`."""
    envelope_status: str | None
    """
    The state of the signatures: `Sent`, `Viewed`, `PartiallySigned`, `Completed`, ...; None for an order without
    signatures.
    """
    customer_email: str
    """The client's email address."""
    created_at: datetime
    """UTC."""
    notarization: Notarization | None = None
    """None for an order without notarization."""
    charge: OrderCharge | None = None
    """None for an order that was never charged to your firm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderSummary:
    """An order in a list."""

    order_code: str
    """The order's code. Anyone who has it can open the client's page."""
    status: str
    """`QuoteReady`, `Paid`, `EsignPending`, ... `Completed`. The list can grow."""
    services: str
    """Flags joined by a comma and a space: `Sign, Notarize, Ship, Fax`."""
    total_cents: int
    """US cents."""
    external_reference: str | None
    """The `external_reference` that was sent."""
    customer_email: str
    """The client's email address."""
    created_at: datetime
    """UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderList:
    """A page of orders, newest first."""

    orders: list[OrderSummary]
    """The newest comes first."""
    next_cursor: str | None
    """Pass it as `cursor` to the next call; None after the last page."""
    request_id: str
    """The id of the request, for support."""


class CorrectionFields(TypedDict, total=False):
    """Corrected facts of a paid order. Send a complete postal address."""

    email: str
    """The client's email address."""
    fax_to: str
    """The fax number, as in the order form."""
    ship_name: str
    """The recipient of the parcel."""
    ship_line1: str
    """The first line of the address."""
    ship_line2: str
    """The second one, where there is one."""
    ship_city: str
    """The city."""
    ship_state: str
    """The state, 2 characters."""
    ship_postal: str
    """The ZIP code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionRefusals:
    """For each act, the reason why it is refused now; None when it is allowed."""

    document: str | None
    """For replacing the document."""
    email: str | None
    """For correcting the client's email address."""
    address: str | None
    """For correcting the address of the parcel."""
    fax: str | None
    """For correcting the fax number."""
    again: str | None
    """For starting a failed service again."""
    refund: str | None
    """For requesting a refund."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderCorrection:
    """Something that was corrected or requested."""

    kind: Literal["document", "email", "address", "fax", "signer", "again", "refund"]
    """The list can grow."""
    before: dict[str, Any]
    """The facts before the change."""
    after: dict[str, Any]
    """The facts after the change."""
    at: datetime
    """The time of the change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderSupplement:
    """An amount that a correction costs on top of the order's total."""

    amount_cents: int
    """The amount in US cents."""
    label: str
    """The reason, as the receipt prints it."""
    state: Literal["asked", "paid", "withdrawn"]
    """While it is `asked`, the order's checkout pays it."""
    at: datetime
    """The time when it was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderCorrections:
    """The corrections of an order, and those that are possible now."""

    order_code: str
    """The order's code."""
    status: str
    """Its status now."""
    refusals: CorrectionRefusals
    """The reasons why acts are refused now."""
    corrections: list[OrderCorrection]
    """Everything that was corrected, oldest first."""
    supplements: list[OrderSupplement]
    """The amounts that corrections cost on top of the order's total, oldest first."""
    request_id: str
    """The id of the request, for support."""
    also_corrected: list[str] | None = None
    """The firm's other orders in the same rooms whose email address it replaced; None without such a correction."""
    not_corrected: list[str] | None = None
    """The orders that it left out, because their record was altered; None without such a correction."""
    links_not_mailed: bool | None = None
    """True if some new links were not mailed, because a room mails at most 25 a day; None without such a correction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """The hosted checkout of an order."""

    checkout_url: str
    """The address at which the client pays."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxStep:
    """A test order after a step."""

    order_code: str
    """The order's code."""
    status: str
    """The order's status after the step."""
    fired_events: list[str]
    """The milestones that were reached, by the names that webhooks use."""
    request_id: str
    """The id of the request, for support."""
    warnings: list[str] | None = None
    """For test orders: possible mistakes, such as a misspelt field; None when there are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxCheckout(SandboxStep):
    """A test order after a payment, or after one that failed."""

    outcome: SandboxOutcome
    """How the payment ended."""
    checkout_url: str
    """The address at which the client of a live order would pay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxPaidOrder:
    """A test order of a room's payment."""

    order_code: str
    """The order's code."""
    total_cents: int
    """US cents."""
    status: str
    """The order's status after the payment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxRoomCheckout:
    """The test orders of a room after one payment, or after one that failed."""

    room_code: str
    """The room's code."""
    outcome: SandboxOutcome
    """How the payment ended."""
    checkout_url: str
    """The address at which live orders would be paid."""
    pay_by: Literal["client", "firm"]
    """Whose orders it pays: the client's, or your firm's."""
    orders: list[SandboxPaidOrder]
    """The orders of the payment, as the room lists them."""
    total_cents: int
    """The sum of these orders in US cents."""
    fired_events: list[str]
    """The milestones that were reached, by the names that webhooks use."""
    request_id: str
    """The id of the request, for support."""
    warnings: list[str] | None = None
    """For test orders: possible mistakes, such as a misspelt field; None when there are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestPaymentMethod:
    """The test method that the firm's test orders are charged to."""

    method_id: str
    """The id of the method."""
    method: TestMethod
    """The test card or test bank account."""
    kind: Literal["card", "bank"]
    """A debit of a bank account takes days to settle."""
    last4: str | None
    """The last four digits, as pages and receipts show them."""
    behavior: str
    """The effect of a charge, in words."""
    request_id: str
    """The id of the request, for support."""
    warnings: list[str] | None = None
    """Possible mistakes, such as a misspelt field; None when there are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestClock:
    """The test clock of the firm."""

    status: Literal["ready", "advancing"]
    """`advancing` while due work is running."""
    test_time: datetime
    """The time of the clock; it continues from there."""
    real_time: datetime
    """The time with which new objects, evidence and webhooks are dated."""
    advanced_seconds: int
    """How far the clock is ahead of real time."""
    request_id: str
    """The id of the request, for support."""
    warnings: list[str] | None = None
    """Possible mistakes, such as a misspelt field; None when there are none."""
