import { invalid } from "../platform/errors.ts";

export const operatorRoles = ["agent", "notary", "shipper", "approver", "admin", "auditor"] as const;

export type OperatorRole = (typeof operatorRoles)[number];

/** What somebody in the console may do. */
export type Permission =
  /** Every order of every firm, with its documents and its history; search. */
  | "orders.read"
  /** Quotes, holds, releases, cancellations, retries, uploads, notes. */
  | "orders.work"
  /** Handing in a document that was signed or notarized elsewhere; of a notarized one another person approves. */
  | "documents.take_in"
  /** Signers and their links; envelopes that declined or expired. */
  | "signers.work"
  /** Asking for a refund; another decides. */
  | "refunds.request"
  /** Deciding on a refund that another asked for, and on payments that fit no order. */
  | "money.decide"
  /** Acts for orders that one has claimed, and one's own journal. */
  | "notary.work"
  /** Labels, packets and faxes: the address and the document of those orders. */
  | "paper.work"
  /** Firms with their tiers, live, keys, quotas, webhooks and access requests. */
  | "partners.manage"
  /** Firms as they are. */
  | "partners.read"
  /** Operators, their roles and sessions. */
  | "people.manage"
  /** Commissions of notaries. */
  | "notaries.manage"
  /** Everything that is on record, journals of notaries too, and the state of the service. */
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

/** Money, keys, roles, and documents that the service vouches for unseen: nobody without a passkey of their own does it. */
const withPasskey: ReadonlySet<Permission> = new Set([
  "documents.take_in",
  "money.decide",
  "partners.manage",
  "people.manage",
  "notaries.manage",
]);

/** Rights by which one person decides on what another asked for; a notary's document needs no second person. */
const deciding: readonly Permission[] = ["money.decide", "documents.take_in", "notary.work"];

/** Whether the roles of after let somebody decide on what those of before did not. */
export const gainsDecisions = (before: readonly OperatorRole[], after: readonly OperatorRole[]): boolean =>
  deciding.some((each) => rolesPermit(after, each) && !rolesPermit(before, each));

export const needsPasskey = (permission: Permission): boolean => withPasskey.has(permission);

/** Roles by their names, each once, in their usual order. @throws ServiceError for an unknown one, and for none */
export function readRoles(names: readonly string[]): OperatorRole[] {
  const unknown = names.find((name) => !operatorRoles.some((role) => role === name));
  if (unknown !== undefined || names.length === 0)
    throw invalid(`roles must be one or more of ${operatorRoles.join(", ")}.`);
  return operatorRoles.filter((role) => names.includes(role));
}

/** Whether one of the roles permits it. */
export const rolesPermit = (roles: readonly OperatorRole[], permission: Permission): boolean =>
  roles.some((role) => granted[role].includes(permission));
