/** The kinds of tasks for people, in the console's order, with the names of their queues. */
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
  delivery_trouble: "Letters, parcels and faxes to look after",
  fax_send: "Faxes to send",
  fax_exception: "Failed faxes",
  provider_unclear: "Provider calls that nobody knows about",
  refund_approval: "Refunds to approve",
  technology_fee: "Technology fees to give back",
  taking_in_approval: "Notarized documents to approve",
  payment_unapplied: "Payments that fit no order",
  access_request: "Access requests",
  playbook_gate: "Playbook approvals",
  notary_rules: "Rules of states to confirm",
  key_expiry: "Keys and certificates that expire",
  job_dead: "Jobs that failed for good",
} as const;

export type TaskKind = keyof typeof taskKinds;

/** The instruction of a task of each kind. */
export const taskWords: Readonly<Record<TaskKind, string>> = {
  quote: "Price the order",
  order_on_hold: "Look at the hold",
  envelope_stuck: "Signing declined or expired",
  signer_locked: "Unlock the signer",
  notarize: "Notarize",
  notarization_exception: "Notarization failed",
  label_print: "Print the label",
  postage_dearer: "Decide on the postage",
  packet_print: "Print the packet",
  shipping_exception: "Shipping failed",
  delivery_trouble: "Look after the delivery",
  fax_send: "Send the fax",
  fax_exception: "Fax failed",
  provider_unclear: "Find out what the provider did",
  refund_approval: "Approve the refund",
  technology_fee: "Give back the technology fee",
  taking_in_approval: "Approve the document that was notarized elsewhere",
  payment_unapplied: "Payment fits no order",
  access_request: "Decide on access",
  playbook_gate: "Approve the playbook",
  notary_rules: "Confirm the rules of a state",
  key_expiry: "Key or certificate expires",
  job_dead: "Job failed for good",
};

export const isTaskKind = (text: string): text is TaskKind => Object.hasOwn(taskKinds, text);
