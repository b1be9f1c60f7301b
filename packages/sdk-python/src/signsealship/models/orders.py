"""Orders: what they are placed with, and what they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypedDict

SignerAuth = Literal["link", "mail_code", "access_code", "text_code"]
"""How a signer is identified, besides the link that is mailed."""

Language = Literal["en", "es", "fr", "pt", "zh", "vi", "ko", "tl"]
"""Of mails and pages."""

SandboxOutcome = Literal["success", "decline", "cancel", "delayed"]
"""How a payment in the sandbox ends."""

Milestone = Literal["payment.cleared", "signature.completed", "shipment.delivered"]
"""Statuses that the sandbox can walk a test order to."""


class _SignerRequired(TypedDict):
    name: str
    """The signer's whole name."""
    email: str
    """Where the link is mailed to."""


class Signer(_SignerRequired, total=False):
    """A person who signs."""

    phone: str
    """A 10-digit US number, or an international one in `+country` form. Required when `auth` is `text_code`."""
    routing: int
    """1 to 10: signers of one number sign in parallel, after those of lower numbers. Default 1."""
    auth: SignerAuth
    """Default: `signer_auth` of the order."""
    access_code: str
    """For `access_code`: what you tell the signer yourself."""
    language: Language
    """Of mails and pages. Default `en`."""


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
    """0 to 4: shown, and at most typed. Default 2 with a currency, else as many as typed."""
    min: float
    """The least number, with at most 4 decimals."""
    max: float
    """The largest number, with at most 4 decimals."""
    currency: Literal["USD", "CAD", "EUR", "GBP", "MXN"]
    """Shown with the number."""


class _ShowWhenRequired(TypedDict):
    field: str
    """The `id` of another field: of the same signer, of an earlier turn, or `read_only`."""
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
    """The signer's place in `signers`, from 1."""
    page: int
    """From 1."""


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
    """Asks the signer for this."""
    required: bool
    """Default True; of a checkbox False."""
    help: str
    """Shown to the signer with the field."""
    value: str | float | bool
    """Yours, in the document before anybody signs: of a checkbox a bool, else text or the label of an option."""
    read_only: bool
    """Nobody changes the value."""
    format: Literal["iso", "us", "long", "any", "email", "phone_us", "zip_us", "ssn_last4"] | NumberFormat
    """Of a date, a text or a number."""
    options: Sequence[FieldOption]
    """Of a radio, a multiple or a dropdown: 2 to 50."""
    least: int
    """Of a multiple: how many options must be chosen. Default 1, or 0 where `required` is False."""
    most: int
    """Of a multiple: how many options may be chosen. Default all."""
    id: str
    """Unique among the fields: `show_when` and `formula` of other fields name it."""
    show_when: ShowWhen
    """When the field is shown. A field that is not shown is neither required nor drawn."""
    formula: str
    """Of a number: the service calculates it when its signer signs, as `round(rent * 12, 2)`."""


class _RolePersonRequired(TypedDict):
    name: str
    """The signer's whole name."""
    email: str
    """Where the link is mailed to."""


class RolePerson(_RolePersonRequired, total=False):
    """The person who takes a template's role."""

    phone: str
    """A 10-digit US number, or an international one in `+country` form."""
    access_code: str
    """For a role of `access_code`: what you tell the signer yourself."""
    language: Language
    """Of mails and pages. Default: the role's."""


class _OrderFieldsRequired(TypedDict):
    email: str
    """Of the client."""
    byod_confirmed: Literal[True]
    """Attests that the document is the client's own completed one."""


class OrderFields(_OrderFieldsRequired, total=False):
    """The fields of a new order, besides its document."""

    fill_token: str
    """40 hex digits, in place of a document."""
    name: str
    """Of the client."""
    doc_slug: str
    """A document of the catalog, which then decides on signing and notarization."""
    svc_sign: bool
    """Have the document signed."""
    svc_notary: bool
    """Have it notarized online."""
    svc_ship: bool
    """Have it shipped; send the `ship` fields with it."""
    signer_state: str
    """Where the signer is: two letters."""
    dest_state: str
    """Where the document goes: two letters."""
    external_reference: str
    """Your file number, up to 120 characters; it comes back in lists and webhooks."""
    ship_name: str
    """Who gets the shipment."""
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
    """The return address; with it go the other `from` fields."""
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
    """Who pays. Default `client`; with `firm`, no mail and no page tells the client about money."""
    create_checkout: bool
    """Answers the hosted checkout, too."""
    signers: Sequence[Signer]
    """Who signs. Default: the client, alone."""
    fields: Sequence[SignatureField]
    """Where they sign. Default: the document's own signature fields, its tags, or a page that is added."""
    signer_auth: SignerAuth
    """How signers are identified who say nothing else. Default `link`."""
    template: str
    """The id of one of your templates, which decides the services, the signers' roles and the fields."""
    template_version: int
    """Default: the latest."""
    roles: Mapping[str, RolePerson]
    """Of the template: the person of each role, by its name."""
    values: Mapping[str, str | float | bool]
    """Of the template: values of its fields, by their labels."""
    other_document: bool
    """Use the template's places although the document is another form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderLine:
    """A line of a quote."""

    type: str
    """For programs: `WorkflowFee`, `NotaryFee`, ... The list can grow."""
    label: str
    """For people."""
    amount_cents: int
    """US cents; negative for discounts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentNotice:
    """Something in a document that is signed which people may not see as it is sealed. Each signer is told it, too."""

    code: str
    """`text_below_place`, `active_content`, `hidden_text`, ... The list can grow."""
    page: int | None
    """From 1; None for the whole document."""
    text: str | None
    """The words of the document there, or the thing that it names; None where nothing is quoted, and always in the answer to create."""
    message: str
    """For people, in English."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateUse:
    """The version of a template that an order was placed from."""

    template_id: str
    """The template's id."""
    version: int
    """It never changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    request_id: str
    """Of the request, for support."""
    order_code: str
    """By which the order is known; who has it sees the client's page."""
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
    """Your firm pays; None when the client does."""
    manual_quote_reason: str | None = None
    """Why a person prices the order; None unless its status is `ManualQuoteRequired`."""
    document_notices: list[DocumentNotice] | None = None
    """Notices about the document that signers see; None when there are none."""
    template: TemplateUse | None = None
    """The template that the order was placed from; None without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedOrder(_Order):
    """An order that was placed, with its quote."""

    checkout_url: str | None
    """Where the client pays; None unless `create_checkout` was sent and the order can be paid."""
    warnings: list[str] | None = None
    """Of test orders: what may be a mistake, as a misspelt field; None when there is nothing to say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notarization:
    """Where the notarization of an order is: without names, links and addresses."""

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
class OrderDetail(_Order):
    """An order as it is now."""

    services: str
    """Flags joined by a comma and a space: `Sign, Notarize, Ship, Fax`."""
    envelope_status: str | None
    """Of the signatures: `Sent`, `Viewed`, `PartiallySigned`, `Completed`, ...; None when none are wanted."""
    customer_email: str
    """Of the client."""
    created_at: datetime
    """UTC."""
    notarization: Notarization | None = None
    """None for an order without notarization."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderSummary:
    """An order in a list."""

    order_code: str
    """By which the order is known; who has it sees the client's page."""
    status: str
    """`QuoteReady`, `Paid`, `EsignPending`, ... `Completed`. The list can grow."""
    services: str
    """Flags joined by a comma and a space: `Sign, Notarize, Ship, Fax`."""
    total_cents: int
    """US cents."""
    external_reference: str | None
    """The `external_reference` that was sent."""
    customer_email: str
    """Of the client."""
    created_at: datetime
    """UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderList:
    """A page of orders, newest first."""

    orders: list[OrderSummary]
    """Newest first."""
    next_cursor: str | None
    """For `cursor` of the next call; None after the last page."""
    request_id: str
    """Of the request, for support."""


class CorrectionFields(TypedDict, total=False):
    """Corrected facts of a paid order. An address is sent whole."""

    email: str
    """Of the client."""
    fax_to: str
    """As in the order form."""
    ship_name: str
    """Who receives the parcel."""
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
    """Why each act is refused now; None when it is allowed."""

    document: str | None
    """Another document."""
    email: str | None
    """Another address of the client."""
    address: str | None
    """Another address of the parcel."""
    fax: str | None
    """Another fax number."""
    again: str | None
    """A further try."""
    refund: str | None
    """A request for a refund."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderCorrection:
    """Something that was corrected or asked for."""

    kind: Literal["document", "email", "address", "fax", "signer", "again", "refund"]
    """The list can grow."""
    before: dict[str, Any]
    """The facts before it."""
    after: dict[str, Any]
    """The facts since."""
    at: datetime
    """When."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderCorrections:
    """The corrections of an order, and those that are possible now."""

    order_code: str
    """By which the order is known."""
    status: str
    """Its status now."""
    refusals: CorrectionRefusals
    """Refusals now."""
    corrections: list[OrderCorrection]
    """Everything that was corrected, oldest first."""
    request_id: str
    """Of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """The hosted checkout of an order."""

    checkout_url: str
    """Where the client pays."""
    request_id: str
    """Of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxStep:
    """A test order after a step."""

    order_code: str
    """The order's code."""
    status: str
    """The order's status after the step."""
    fired_events: list[str]
    """The milestones that were reached, as webhooks name them."""
    request_id: str
    """Of the request, for support."""
    warnings: list[str] | None = None
    """Of test orders: what may be a mistake, as a misspelt field; None when there is nothing to say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxCheckout(SandboxStep):
    """A test order after a payment, or after one that failed."""

    outcome: SandboxOutcome
    """The services that were ordered."""
    checkout_url: str
    """Where a client of a live order would pay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestClock:
    """The test clock of the firm."""

    status: Literal["ready", "advancing"]
    """`advancing`: what came due is happening."""
    test_time: datetime
    """The time of the clock; it goes on from there."""
    real_time: datetime
    """The time that new objects, evidence and webhooks get."""
    advanced_seconds: int
    """How far the clock is ahead of real time."""
    request_id: str
    """Of the request, for support."""
    warnings: list[str] | None = None
    """Possible mistakes, such as a misspelt field; None when there are none."""
