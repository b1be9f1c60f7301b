export type Environment = "live" | "test";

/** What belongs to a partner firm belongs to one of its environments: neither sees what is the other's. */
export type Owner = { partnerId: string; environment: Environment };

export type Role = "owner" | "member";

/** What a key may be restricted to: `read` is for all that is only read, each other one for the writes of its area. */
export const scopes = ["read", "orders", "rooms", "seal", "webhooks"] as const;

export type Scope = (typeof scopes)[number];

export const isScope = (text: string): text is Scope => scopes.some((scope) => scope === text);

/** What shows that the person of a session is still the one who asks. */
export type Proof = {
  /** When the person signed in, or confirmed it since. */
  confirmedAt: Date;
  /** When a passkey was last shown in the session. */
  passkeyAt: Date | null;
  hasPasskey: boolean;
  /** Whether the firm asks for a passkey before what is live is changed. */
  passkeyForLive: boolean;
};

/** Who calls: a partner firm, by one of its keys in that key's environment, or by a member's session in the chosen one. */
export type Principal = {
  partnerId: string;
  environment: Environment;
  firmName: string;
  tier: string;
  /** Whether the firm has live. */
  liveEnabled: boolean;
  /** Null when the caller came by a session. `scopes` is null for a key without restrictions. */
  key: {
    id: string;
    prefix: string;
    last4: string;
    createdAt: Date;
    scopes: readonly Scope[] | null;
    expiresAt: Date | null;
  } | null;
  /** Null when the caller came by a key. */
  member: { userId: string; email: string; role: Role; liveAccess: boolean; proof: Proof } | null;
};

/** Whether the caller may work in live: the firm has it, and a member has shown a live key or was given live access. */
export const mayUseLive = ({ liveEnabled, key, member }: Principal): boolean =>
  liveEnabled && (member ? member.liveAccess : key !== null);

/** A signed-in person; `principal` is null until the person is linked to a firm. */
export type Session = { id: string; userId: string; email: string; proof: Proof; principal: Principal | null };

/**
 * Finds the principal of a bearer key; null for a missing, malformed, unknown, revoked or expired one, all alike.
 * @param ip whose request it is
 */
export type ResolveKey = (authorization: string | undefined, ip?: string) => Promise<Principal | null>;

/**
 * Finds the session of a `Cookie` header; null when there is none that is valid.
 * @param isUse whether a person asked: a page that refreshes itself does not keep a session from resting
 */
export type ResolveSession = (cookie: string | undefined, isUse?: boolean) => Promise<Session | null>;

/** Who did it, for the audit log. */
export function actorOf({ key, member }: Principal): string {
  return key ? `key:${key.id}` : `member:${member?.userId}`;
}
