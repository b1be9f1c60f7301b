import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Database, openDatabase } from "../service/src/platform/database/database.ts";
import { type Connection, connectionOf, type Role } from "../service/src/platform/postgres/access.ts";
import { openEmbeddedPostgres } from "../service/src/platform/postgres/embedded.ts";
import { openSealedTexts } from "../service/src/platform/sealed-text.ts";
import { openSecretsKey, secretBytes } from "../service/src/platform/secrets.ts";
import { prepareDatabase } from "./data-template.ts";
import { testRowMacOf } from "./row-mac.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** How a role connects to the server of a running service. */
export const connectionTo = (dataDir: string, role: Role = "service"): Connection =>
  connectionOf(join(dataDir, "postgres"), join(dataDir, "postgres/run"), role);

/** The database of a data folder on which a service runs, for as long as that runs. */
export const databaseOfRunning = (dataDir: string): Database =>
  openDatabase(connectionTo(dataDir), () => {}, { poolSize: 1 });

/** The keys of the service of a data folder, or others where there was none yet. */
async function secretsOf(dataDir: string) {
  const path = join(dataDir, "keys/secrets");
  return existsSync(path) ? openSecretsKey(`file:${path}`) : secretBytes(randomBytes(32));
}

/**
 * The database of a data folder, beside the service that runs on it or without one; once a process. It is opened as the owner
 * of the tables, so that a test can do what the service can't. `name` tells its connections from the service's.
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

/** A migrated database in a folder of its own, without a service. */
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
