/** What a person may have to do, in the order in which the console lists it, and what the queue of it is called. */
export const taskKinds = {
  quote: "Orders to price",
  order_on_hold: "Orders on hold",
  envelope_stuck: "Signing declined or expired",
  signer_locked: "Locked signers",
  notarize: "Notarizations",
  notarization_exception: "Failed notarizations",
  label_print: "Labels to print",
  postage_dearer: "Postage dearer than quoted",
  packet_print: "Packets to print",
  shipping_exception: "Shipping exceptions",
  delivery_trouble: "Letters and parcels to look after",
  fax_send: "Faxes to send",
  fax_exception: "Failed faxes",
  provider_unclear: "Provider calls that nobody knows about",
  refund_approval: "Refunds to approve",
  payment_unapplied: "Payments that fit no order",
  access_request: "Access requests",
  playbook_gate: "Playbook approvals",
  key_expiry: "Keys and certificates that expire",
  job_dead: "Jobs that failed for good",
} as const;

export type TaskKind = keyof typeof taskKinds;

export const isTaskKind = (text: string): text is TaskKind => Object.hasOwn(taskKinds, text);
