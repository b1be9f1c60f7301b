import { invalid } from "../../kernel/platform/errors.ts";

export const operatorRoles = ["agent", "notary", "shipper", "approver", "admin", "auditor"] as const;

export type OperatorRole = (typeof operatorRoles)[number];

/** The rights in the console. */
export type Permission =
  /** Read every order of every firm, with its documents and history; search. */
  | "orders.read"
  /** Quote, hold, release, cancel and retry orders; upload files; write notes. */
  | "orders.work"
  /**
   * Hand in a document that was signed or notarized elsewhere. A notarized document needs another person's approval.
   */
  | "documents.take_in"
  /** Work on signers and their links, and on envelopes that were declined or expired. */
  | "signers.work"
  /** Request a refund, which another person decides. */
  | "refunds.request"
  /** Decide on another person's refund request, and on payments that match no order. */
  | "money.decide"
  /** Perform notarial acts for claimed orders, and use the notary's own journal. */
  | "notary.work"
  /** Work on labels, packets and faxes. Includes reading the addresses and documents of the orders concerned. */
  | "paper.work"
  /** Manage firms: their tiers, live access, keys, quotas, webhooks and access requests. */
  | "partners.manage"
  /** Read firms. */
  | "partners.read"
  /** Manage the fillable forms of catalog documents, which every firm can use. */
  | "catalog.manage"
  /** Manage operators, their roles and sessions. */
  | "people.manage"
  /** Manage commissions of notaries. */
  | "notaries.manage"
  /** Read all records, including journals of notaries. `health.read`: see the state of the service. */
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
    "catalog.manage",
    "people.manage",
    "notaries.manage",
    "records.read",
    "health.read",
  ],
  auditor: ["orders.read", "partners.read", "records.read", "health.read"],
};

/**
 * The rights that an operator can use only with a passkey; a link from the command line needs none. They concern money,
 * keys, roles, notaries, forms that every firm's clients sign, and documents whose signing the service hasn't seen.
 */
const withPasskey: ReadonlySet<Permission> = new Set([
  "documents.take_in",
  "money.decide",
  "partners.manage",
  "catalog.manage",
  "people.manage",
  "notaries.manage",
]);

/**
 * Rights to decide on another person's request. `notary.work` counts as one: a notary signs without the approval of a
 * second person.
 */
const deciding: readonly Permission[] = ["money.decide", "documents.take_in", "notary.work", "notaries.manage"];

/** True if the new roles include a right to decide that the old roles lacked. */
export const gainsDecisions = (before: readonly OperatorRole[], after: readonly OperatorRole[]): boolean =>
  deciding.some((each) => rolesPermit(after, each) && !rolesPermit(before, each));

/** The subjects of the rights in `withPasskey`, for messages and pages. */
export const passkeySubjects =
  "money, keys, roles, notaries’ commissions, forms of the catalog and documents from elsewhere";

export const passkeyPermissions: readonly Permission[] = [...withPasskey];

export const needsPasskey = (permission: Permission): boolean => withPasskey.has(permission);

/**
 * Parses role names. The result has no duplicates and is in the order of `operatorRoles`. @throws ServiceError for an
 * unknown role, and for an empty list
 */
export function readRoles(names: readonly string[]): OperatorRole[] {
  const unknown = names.find((name) => !operatorRoles.some((role) => role === name));
  if (unknown !== undefined || names.length === 0)
    throw invalid(`roles must be one or more of ${operatorRoles.join(", ")}.`);
  return operatorRoles.filter((role) => names.includes(role));
}

export const rolesPermit = (roles: readonly OperatorRole[], permission: Permission): boolean =>
  roles.some((role) => granted[role].includes(permission));
