import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { serviceRole } from "../database/service-role.ts";
import { writeFileDurably } from "../durable-file.ts";
import { StartupError } from "../errors.ts";
import { timeLimit } from "../stopwatch.ts";

export const port = 5432;
const database = "postgres";

/**
 * The two database roles. `owner` owns the tables and is a superuser; `service` is the role that the service normally
 * uses.
 */
const users = { owner: "signsealship", service: serviceRole } as const;
export type Role = keyof typeof users;
export const ownerName = users.owner;

type Passwords = Readonly<Record<Role, string>>;

/** The connection settings of a role. */
export type Connection = { host: string; port: number; database: string; user: string; password: string };

/** The path of the file with the passwords of both roles, in the format of PostgreSQL's `PGPASSFILE`. */
const passwordFile = (folder: string): string => join(folder, "pgpass");

/** Reads the passwords in the folder of the cluster; null when the file is missing or lacks one of them. */
function readPasswords(folder: string): Passwords | null {
  let text: string;
  try {
    text = readFileSync(passwordFile(folder), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  const of = (role: Role) => new RegExp(`^[*]:[*]:[*]:${users[role]}:([0-9a-f]{64})$`, "m").exec(text)?.[1];
  const [owner, service] = [of("owner"), of("service")];
  return owner !== undefined && service !== undefined ? { owner, service } : null;
}

async function makePasswords(folder: string): Promise<Passwords> {
  const passwords = { owner: randomBytes(32).toString("hex"), service: randomBytes(32).toString("hex") };
  const line = (role: Role) => `*:*:*:${users[role]}:${passwords[role]}\n`;
  await writeFileDurably(passwordFile(folder), line("owner") + line("service"), { mode: 0o600 });
  return passwords;
}

/**
 * The settings to connect as a role. Before passwords exist, the settings contain a dummy password. Without a password,
 * the driver would take one from the environment.
 */
export const connectionOf = (folder: string, host: string, role: Role): Connection => ({
  host,
  port,
  database,
  user: users[role],
  password: readPasswords(folder)?.[role] ?? "none",
});

const hbaFile = (folder: string): string => join(folder, "cluster", "pg_hba.conf");
const byPassword = `# Written by SignSealShip: nobody but its two roles, by their passwords.\n${Object.values(users)
  .map((user) => `local ${database} ${user} scram-sha-256\n`)
  .join("")}`;
const withoutPassword = `local ${database} ${users.owner} trust\n`;

/** Writes the text into the existing pg_hba.conf and doesn't replace the file, so that the file keeps its owner. */
const writeHba = (folder: string, text: string): void => writeFileSync(hbaFile(folder), text, { flush: true });

const isClosed = (folder: string): boolean =>
  readPasswords(folder) !== null && readFileSync(hbaFile(folder), "utf8") === byPassword;

/**
 * Lets the owner of the tables connect without a password, so that `closeAccess` can set passwords. Call this before
 * the server starts. Does nothing if `closeAccess` has succeeded and its file of passwords still exists.
 */
export function openAccess(folder: string): void {
  if (!isClosed(folder)) writeHba(folder, withoutPassword);
}

/**
 * Sets passwords for both roles, and then requires a password for every connection. Does nothing if both were done
 * before. Does both again after the file of passwords was removed, and does them for clusters of earlier releases.
 */
export async function closeAccess(folder: string, host: string): Promise<void> {
  if (isClosed(folder)) return;
  const client = new pg.Client(connectionOf(folder, host, "owner"));
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query(setUpRoles(readPasswords(folder) ?? (await makePasswords(folder))));
    // pg_hba.conf is written last, because it then requires the passwords. If anything fails earlier, the next start
    // repeats all steps.
    writeHba(folder, byPassword);
    await client.query("SELECT pg_reload_conf()");
    await untilRefused(host);
  } finally {
    await client.end();
  }
}

/**
 * The SQL that sets up both roles; it can be run again. PUBLIC loses the right to create objects, because such objects
 * could shadow the service's own.
 *
 * Passwords are hashed with one iteration. More iterations would protect weak passwords. But these passwords have 256
 * random bits, and more iterations would slow down each connection.
 */
const setUpRoles = ({ owner, service }: Passwords): string => `
BEGIN;
SET LOCAL scram_iterations = 1;
ALTER ROLE ${users.owner} PASSWORD '${owner}';
DO $$ BEGIN
  IF to_regrole('${users.service}') IS NULL THEN CREATE ROLE ${users.service}; END IF;
END $$;
ALTER ROLE ${users.service} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD '${service}';
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
REVOKE TEMPORARY ON DATABASE ${database} FROM PUBLIC;
COMMIT;`;

/**
 * Waits until the server refuses access without a password. The server applies new settings only a moment after the
 * request to reload them.
 */
async function untilRefused(host: string): Promise<void> {
  const isLate = timeLimit(10_000);
  while (await letsIn({ host, port, database, user: users.owner, password: "none" })) {
    if (isLate()) throw new StartupError("the database server still accepts connections without a password");
    await sleep(5);
  }
}

async function letsIn(connection: Connection): Promise<boolean> {
  try {
    await tryToConnect(connection);
    return true;
  } catch {
    return false;
  }
}

async function tryToConnect(connection: Connection): Promise<void> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 2_000 });
  client.on("error", () => {});
  try {
    await client.connect();
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * True if the server accepts its owner's connection.
 * @throws StartupError when the server refuses the owner's password or role. Other errors give false.
 */
export async function answers(folder: string, host: string): Promise<boolean> {
  try {
    await tryToConnect(connectionOf(folder, host, "owner"));
    return true;
  } catch (error) {
    // Class 28: invalid_authorization_specification, invalid_password.
    if (!(error instanceof pg.DatabaseError && /^28/.test(error.code ?? ""))) return false;
    throw new StartupError(
      `the database server does not know the passwords of ${passwordFile(folder)}: stop all processes that use this folder, including the server, remove that file, and start again`,
    );
  }
}
