import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Database, openDatabase } from "../service/src/kernel/platform/database/database.ts";
import { type Connection, connectionOf, type Role } from "../service/src/kernel/platform/postgres/access.ts";
import { openEmbeddedPostgres } from "../service/src/kernel/platform/postgres/embedded.ts";
import { openSealedTexts } from "../service/src/kernel/platform/sealed-text.ts";
import { openSecretsKey, secretBytes } from "../service/src/kernel/platform/secrets.ts";
import { prepareDatabase } from "./data-template.ts";
import { testRowMacOf } from "./row-mac.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** The connection of a role to the server of a running service. */
export const connectionTo = (dataDir: string, role: Role = "service"): Connection =>
  connectionOf(join(dataDir, "postgres"), join(dataDir, "postgres/run"), role);

/**
 * The database of the service that runs on a data folder; usable while that service runs. Connects as the service's
 * role. If the data folder has a secrets key, the connection finds rows by their codes. It has no key for MACs.
 */
export function databaseOfRunning(dataDir: string): Database {
  const db = openDatabase(connectionTo(dataDir), () => {}, { poolSize: 1 });
  const path = join(dataDir, "keys/secrets");
  const key = existsSync(path) ? Buffer.from(readFileSync(path, "utf8").trim(), "hex") : randomBytes(32);
  db.useSealedTexts(openSealedTexts(secretBytes(key)));
  return db;
}

/** The secrets key of the service that uses a data folder, or a new random key if the folder has none yet. */
async function secretsOf(dataDir: string) {
  const path = join(dataDir, "keys/secrets");
  return existsSync(path) ? openSecretsKey(`file:${path}`) : secretBytes(randomBytes(32));
}

/**
 * The database of a data folder, with or without a running service. A process may open it only once. It connects as the
 * owner of the tables, so that a test may do more than the service may. `name` is the name of its connections, which
 * distinguishes them from the service's connections.
 */
export async function databaseOf(dataDir: string, { poolSize = 4, name = "test" } = {}): Promise<Database> {
  const server = await openEmbeddedPostgres(dataDir);
  const db = openDatabase({ ...server.owner, application_name: name }, () => {}, { poolSize });
  db.useSealedTexts(openSealedTexts(await secretsOf(dataDir)));
  db.useRowMac(await testRowMacOf(dataDir));
  return {
    ...db,
    close: async () => {
      await db.close();
      await server.release();
    },
  };
}

/** A migrated database in its own folder, without a service. */
export async function newDatabase(): Promise<Database> {
  const folder = temporaryFolder();
  await prepareDatabase(folder.path);
  const db = await databaseOf(folder.path, { poolSize: 20 });
  return {
    ...db,
    close: async () => {
      await db.close();
      folder.remove();
    },
  };
}
