import { invalid } from "../../kernel/platform/errors.ts";

export const operatorRoles = ["agent", "notary", "shipper", "approver", "admin", "auditor"] as const;

export type OperatorRole = (typeof operatorRoles)[number];

/** The rights in the console. */
export type Permission =
  /** Every order of every firm, with its documents and its history; search. */
  | "orders.read"
  /** Quotes, holds, releases, cancellations, retries, uploads, notes. */
  | "orders.work"
  /** Handing in a document that was signed or notarized elsewhere. A notarized one needs another person's approval. */
  | "documents.take_in"
  /** Signers and their links; envelopes that declined or expired. */
  | "signers.work"
  /** Requesting a refund; another person decides. */
  | "refunds.request"
  /** Deciding on another person's refund request, and on payments that fit no order. */
  | "money.decide"
  /** Acts for claimed orders, and the notary's own journal. */
  | "notary.work"
  /** Labels, packets and faxes: the address and the document of those orders. */
  | "paper.work"
  /** Firms with their tiers, live access, keys, quotas, webhooks and access requests. */
  | "partners.manage"
  /** Firms, read only. */
  | "partners.read"
  /** Operators, their roles and sessions. */
  | "people.manage"
  /** Commissions of notaries. */
  | "notaries.manage"
  /** All records, journals of notaries included, and the state of the service. */
  | "records.read"
  | "health.read";

const granted: Readonly<Record<OperatorRole, readonly Permission[]>> = {
  agent: ["orders.read", "orders.work", "documents.take_in", "signers.work", "refunds.request", "partners.read"],
  notary: ["notary.work"],
  shipper: ["paper.work"],
  approver: ["orders.read", "money.decide", "partners.read"],
  admin: [
    "orders.read",
    "partners.read",
    "partners.manage",
    "people.manage",
    "notaries.manage",
    "records.read",
    "health.read",
  ],
  auditor: ["orders.read", "partners.read", "records.read", "health.read"],
};

/** Money, keys, roles, and documents that the service vouches for without having seen them. These need a passkey. */
const withPasskey: ReadonlySet<Permission> = new Set([
  "documents.take_in",
  "money.decide",
  "partners.manage",
  "people.manage",
  "notaries.manage",
]);

/** Rights to decide on another person's request. A notary's document needs no second person. */
const deciding: readonly Permission[] = ["money.decide", "documents.take_in", "notary.work", "notaries.manage"];

/** Whether the new roles give a right to decide that the old ones lacked. */
export const gainsDecisions = (before: readonly OperatorRole[], after: readonly OperatorRole[]): boolean =>
  deciding.some((each) => rolesPermit(after, each) && !rolesPermit(before, each));

export const needsPasskey = (permission: Permission): boolean => withPasskey.has(permission);

/** Parses role names: unique, in their usual order. @throws ServiceError for an unknown one, and for an empty list */
export function readRoles(names: readonly string[]): OperatorRole[] {
  const unknown = names.find((name) => !operatorRoles.some((role) => role === name));
  if (unknown !== undefined || names.length === 0)
    throw invalid(`roles must be one or more of ${operatorRoles.join(", ")}.`);
  return operatorRoles.filter((role) => names.includes(role));
}

export const rolesPermit = (roles: readonly OperatorRole[], permission: Permission): boolean =>
  roles.some((role) => granted[role].includes(permission));
