export type Environment = "live" | "test";

/** The partner firm and environment that own data. Data of one environment are invisible in the other environment. */
export type Owner = { partnerId: string; environment: Environment };

export type Role = "owner" | "member";

/** The scopes that restrict a key. `read` allows all reads; each of the others allows the writes of its area. */
export const scopes = ["read", "orders", "rooms", "seal", "webhooks", "spend"] as const;

export type Scope = (typeof scopes)[number];

export const isScope = (text: string): text is Scope => scopes.some((scope) => scope === text);

/** The evidence that a session is still used by the person who started it. */
export type Proof = {
  /** When the person last signed in or confirmed the sign-in. */
  confirmedAt: Date;
  /** When the session last used a passkey; null if it never did. */
  passkeyAt: Date | null;
  hasPasskey: boolean;
  /** Whether the firm requires a passkey for changes to live data. */
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
  /** Whether the firm has live access. */
  liveEnabled: boolean;
  /** The key; null for a caller with a session. `scopes` is null for a key without restrictions. */
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
    /** Whether an owner has permitted the member to see billing. Owners themselves don't need this right. */
    seesBilling: boolean;
    proof: Proof;
  } | null;
};

/** Whether the caller may see what the firm pays: its card, charges, receipts and statements. */
export const maySeeBilling = ({ member }: Principal): boolean =>
  member === null || member.role === "owner" || member.seesBilling;

/**
 * Whether the caller may work in live: the firm has live access, and the caller uses a live key or is a member with
 * live access.
 */
export const mayUseLive = ({ environment, liveEnabled, key, member }: Principal): boolean =>
  liveEnabled && (member ? member.liveAccess : key !== null && environment === "live");

/** A signed-in person; `principal` is null until the person is linked to a firm. */
export type Session = { id: string; userId: string; email: string; proof: Proof; principal: Principal | null };

/**
 * Finds the principal of a bearer key; null for a missing, malformed, unknown, revoked or expired key.
 * @param ip the caller's address
 */
export type ResolveKey = (authorization: string | undefined, ip?: string) => Promise<Principal | null>;

/**
 * Finds the session of a `Cookie` header; null without a valid one.
 * @param isUse whether a person made the request: a page's automatic refresh must not extend a session
 */
export type ResolveSession = (cookie: string | undefined, isUse?: boolean) => Promise<Session | null>;

/** The actor in the audit log. */
export function actorOf({ key, member }: Principal): string {
  return key ? `key:${key.id}` : `member:${member?.userId}`;
}
