import { sql } from "../../../kernel/platform/database/sql.ts";
import type { Members, RowMac } from "../../../kernel/platform/row-mac.ts";

export const sessionTable = "sessions";

/** The fields of a session that its MAC covers: its rights and its end, but not its last use or device. */
export type SessionFacts = {
  sessionId: string;
  tokenSha256: Buffer;
  userId: string | null;
  createdAt: Date;
  expiresAt: Date;
  confirmedAt: Date;
  passkeyAt: Date | null;
  factorDue: boolean;
};

export const sessionMembers = (facts: SessionFacts): Members => ({
  sessionId: facts.sessionId,
  userId: facts.userId,
  token: facts.tokenSha256.toString("hex"),
  createdAt: facts.createdAt,
  expiresAt: facts.expiresAt,
  confirmedAt: facts.confirmedAt,
  passkeyAt: facts.passkeyAt,
  factorDue: facts.factorDue,
});

export const sessionColumns = sql`s.id AS "sessionId", s.token_sha256 AS "tokenSha256", s.user_id AS "userId",
  s.created_at AS "createdAt", s.expires_at AS "expiresAt", s.confirmed_at AS "confirmedAt", s.passkey_at AS "passkeyAt",
  s.factor_due AS "factorDue", s.row_mac AS mac`;

export type WithMac = SessionFacts & { mac: Buffer | null };

export const vouchesFor = (rowMac: RowMac, row: WithMac): boolean =>
  rowMac.holds(sessionTable, sessionMembers(row), row.mac);
