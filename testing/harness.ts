import type { Database } from "../service/src/kernel/platform/database/database.ts";
import type { RowMac } from "../service/src/kernel/platform/row-mac.ts";
import { databaseOf } from "./database.ts";
import { rowMacOf } from "./row-mac.ts";
import { type Service, startService } from "./service.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** A real service on its own data folder, with its database. */
export type Harness = {
  /** The running service. A test that restarts it assigns the new service here. */
  service: Service;
  db: Database;
  /** Computes row MACs with the service's key, for rows that a test writes itself. */
  rowMac: RowMac;
  /** Stops the service and its database, and removes the folder. */
  close: () => Promise<void>;
};

/** @param env settings of the service; rate limits are off unless set */
export async function openHarness(env: Record<string, string> = {}): Promise<Harness> {
  const folder = temporaryFolder();
  const service = await startService({ DATA_DIR: folder.path, RATE_LIMITS: "off", ...env });
  const db = await databaseOf(folder.path);
  const harness: Harness = {
    service,
    db,
    rowMac: await rowMacOf(folder.path),
    async close() {
      await db.close();
      await harness.service.stop();
      folder.remove();
    },
  };
  return harness;
}
