import { sql } from "../../kernel/platform/database/sql.ts";
import type { MacTable } from "../../kernel/platform/protected-data.ts";
import { type InvitationFacts, invitationColumns, invitationMembers } from "./invitations/store.ts";
import {
  type PasskeyFacts,
  passkeyColumns,
  passkeyMembers,
  type RecoveryCodeFacts,
  recoveryCodeMembers,
} from "./passkeys/store.ts";
import { type SessionFacts, sessionColumns, sessionMembers } from "./sessions/facts.ts";
import { type LinkFacts, linkColumns, linkMembers } from "./sign-in/store.ts";
import { type MemberFacts, memberColumns, memberMembers } from "./store.ts";

const memberRows: MacTable<MemberFacts> = {
  table: sql`members`,
  key: sql`user_id`,
  keyInRows: sql`m.user_id`,
  mac: sql`m.row_mac`,
  rows: sql`SELECT m.user_id AS key, ${memberColumns} FROM members m JOIN users u ON u.id = m.user_id`,
  members: memberMembers,
};

const sessionRows: MacTable<SessionFacts> = {
  table: sql`sessions`,
  key: sql`id`,
  mac: sql`row_mac`,
  rows: sql`SELECT id AS key, ${sessionColumns} FROM sessions s`,
  members: sessionMembers,
};

const linkRows: MacTable<LinkFacts> = {
  table: sql`sign_in_links`,
  key: sql`id`,
  mac: sql`row_mac`,
  rows: sql`SELECT id AS key, ${linkColumns} FROM sign_in_links`,
  members: linkMembers,
};

const passkeyRows: MacTable<PasskeyFacts> = {
  table: sql`passkeys`,
  key: sql`id`,
  mac: sql`row_mac`,
  rows: sql`SELECT id AS key, ${passkeyColumns} FROM passkeys`,
  members: passkeyMembers,
};

/** Each code has 120 random bits, so its hash alone identifies it. */
const recoveryCodeRows: MacTable<RecoveryCodeFacts> = {
  table: sql`recovery_codes`,
  key: sql`code_sha256`,
  mac: sql`row_mac`,
  rows: sql`
SELECT code_sha256 AS key, user_id AS "userId", code_sha256 AS "codeSha256", row_mac AS mac FROM recovery_codes`,
  members: recoveryCodeMembers,
};

const invitationRows: MacTable<InvitationFacts> = {
  table: sql`invitations`,
  key: sql`id`,
  mac: sql`row_mac`,
  rows: sql`SELECT id AS key, ${invitationColumns} FROM invitations i`,
  members: invitationMembers,
};

/** The rows that decide who may sign in, and to which firm. */
export const protectedTables = [memberRows, sessionRows, linkRows, passkeyRows, recoveryCodeRows, invitationRows].map(
  (table: MacTable) => ({ ...table, backfill: { set: "people" } }),
);
