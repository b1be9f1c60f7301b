import { randomUUID } from "node:crypto";
import type { Harness } from "@signsealship/testing/harness";
import { asService } from "@signsealship/testing/row-mac";
import { newToken } from "../../../src/firms/members/members.ts";
import type { OperatorRole } from "../../../src/firms/operators/operators.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { tokenSha256 } from "../../../src/kernel/platform/secrets.ts";

type Made = {
  email?: string;
  name?: string;
  roles: readonly OperatorRole[];
  /** True (the default) if the person has a passkey and has just used it. */
  passkey?: boolean;
  environment?: "live" | "test";
  /** True (the default) if the person is an operator. */
  listed?: boolean;
};

let made = 0;

/** A person with a new session in the console. Unless `passkey` is false, the person signed in with a passkey too. */
export async function newOperator({ db, rowMac }: Pick<Harness, "db" | "rowMac">, options: Made) {
  const { email = `operator-${++made}@desk.example`, name = `Person ${made}`, roles } = options;
  const { passkey = true, environment = "live", listed = true } = options;
  const [id, at] = [randomUUID(), new Date()];
  await db.query(sql`INSERT INTO users (id, email, created_at) VALUES (${id}, ${email}, ${at})`);
  if (listed)
    await db.query(
      sql`INSERT INTO operators (user_id, name, roles, added_at) VALUES (${id}, ${name}, ${roles}, ${at})`,
    );
  if (passkey)
    await db.query(sql`
      INSERT INTO passkeys (id, user_id, credential_id, public_key, counter, backup_eligible, transports, name, created_at)
      VALUES (${randomUUID()}, ${id}, ${id}, '\\x00', 0, false, '{}', 'Key', ${at})`);
  const session = await newSession({ db, rowMac }, id, { at, environment, passkey });
  return { id, email, name, ...session };
}

type Begun = { at?: Date; environment?: "live" | "test"; passkey?: boolean };

/** A session of a person, with this sign-in time. */
export async function newSession(
  { db, rowMac }: Pick<Harness, "db" | "rowMac">,
  userId: string,
  { at = new Date(), environment = "live", passkey = true }: Begun = {},
) {
  const [sessionId, token] = [randomUUID(), newToken()];
  const insert = sql`
    INSERT INTO sessions (id, token_sha256, user_id, environment, console_environment, device, created_at, last_seen_at,
      confirmed_at, expires_at, passkey_at)
    VALUES (${sessionId}, ${tokenSha256(token)}, ${userId}, 'test', ${environment}, 'Firefox', ${at}, ${at}, ${at},
      ${new Date(at.getTime() + 8 * 3_600_000)}, ${passkey ? at : null})`;
  await asService({ db, rowMac }, insert);
  return { sessionId, cookie: `__Host-session=${token}` };
}
