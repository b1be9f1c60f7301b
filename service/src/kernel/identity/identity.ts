export type Environment = "live" | "test";

/** The partner firm and environment that own data. Data of one environment are invisible in the other environment. */
export type Owner = { partnerId: string; environment: Environment };

export type Role = "owner" | "member";

/** The scopes that restrict a key. `read` allows all reads; each of the others allows the writes of its area. */
export const scopes = ["read", "orders", "rooms", "seal", "webhooks", "spend"] as const;

export type Scope = (typeof scopes)[number];

export const isScope = (text: string): text is Scope => scopes.some((scope) => scope === text);

/** When a session's person last proved their identity, and by which means. */
export type Proof = {
  /** The last time at which the person signed in or confirmed the sign-in. */
  confirmedAt: Date;
  /** When the session last used a passkey; null if it never did. */
  passkeyAt: Date | null;
  hasPasskey: boolean;
  /** True if the firm requires a passkey for changes to live data. */
  passkeyForLive: boolean;
};

/**
 * The caller: a firm, authenticated by one of its API keys or by a member's session. A key has a fixed environment; a
 * member chooses one.
 */
export type Principal = {
  partnerId: string;
  environment: Environment;
  firmName: string;
  tier: string;
  /** True if the operator has given the firm live access. */
  liveEnabled: boolean;
  /** The API key; null for a caller with a session. `scopes` is null for a key without restrictions. */
  key: {
    id: string;
    prefix: string;
    last4: string;
    createdAt: Date;
    scopes: readonly Scope[] | null;
    expiresAt: Date | null;
  } | null;
  /** The member; null for a caller with a key. */
  member: {
    userId: string;
    email: string;
    role: Role;
    liveAccess: boolean;
    /** True if one of the firm's owners has permitted the member to see billing. Owners may see it in any case. */
    seesBilling: boolean;
    proof: Proof;
  } | null;
};

/** True if the caller may see the firm's payments: its card, charges, receipts and statements. */
export const maySeeBilling = ({ member }: Principal): boolean =>
  member === null || member.role === "owner" || member.seesBilling;

/**
 * True if the caller may work in the live environment. The firm must have live access, and the caller must use a live
 * key or be a member with live access.
 */
export const mayUseLive = ({ environment, liveEnabled, key, member }: Principal): boolean =>
  liveEnabled && (member ? member.liveAccess : key !== null && environment === "live");

/** A signed-in person; `principal` is null until the person is linked to a firm. */
export type Session = { id: string; userId: string; email: string; proof: Proof; principal: Principal | null };

/**
 * Finds the firm and environment of a bearer key; null for a missing, malformed, unknown, revoked or expired key.
 * @param ip the caller's IP address
 */
export type ResolveKey = (authorization: string | undefined, ip?: string) => Promise<Principal | null>;

/**
 * Finds the session of a `Cookie` header; null without a valid one.
 * @param isUse true if a person made the request. False for a page's automatic refresh, which must not extend the
 * session
 */
export type ResolveSession = (cookie: string | undefined, isUse?: boolean) => Promise<Session | null>;

/** The caller's name as an actor in the audit log: `key:ID` or `member:ID`. */
export function actorOf({ key, member }: Principal): string {
  return key ? `key:${key.id}` : `member:${member?.userId}`;
}
