import type { Config } from "./config/config.ts";
import type { Blobs } from "./platform/blobs/blobs.ts";
import type { Clock } from "./platform/clock.ts";
import type { Database } from "./platform/database/database.ts";
import type { AsOwner } from "./platform/database/migrations.ts";
import type { Log } from "./platform/logs.ts";
import type { Random } from "./platform/random.ts";
import type { RowMac } from "./platform/row-mac.ts";
import type { SecretBytes } from "./platform/secrets.ts";

/**
 * The parts that the service opens at startup: configuration, database, secrets, blobs. A command that works on the
 * service's data opens them, too. See `upkeep/resources.ts`.
 */
export type Resources = {
  config: Config;
  log: Log;
  clock: Clock;
  random: Random;
  db: Database;
  /** The newest database schema that this release supports. */
  schema: number;
  /**
   * Runs work as the owner of the tables. Migrations and key rotation need this, because the service's own role lacks
   * the rights.
   */
  asOwner: AsOwner;
  secrets: SecretBytes;
  rowMac: RowMac;
  blobs: Blobs;
  close: () => Promise<void>;
};
