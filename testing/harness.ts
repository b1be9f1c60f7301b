import type { Database } from "../service/src/platform/database/database.ts";
import type { RowMac } from "../service/src/platform/row-mac.ts";
import { databaseOf } from "./database.ts";
import { rowMacOf } from "./row-mac.ts";
import { type Service, startService } from "./service.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** A real service on a data folder of its own, and the database that it runs on. */
export type Harness = {
  /** A test that restarts it puts the new one here. */
  service: Service;
  db: Database;
  /** The service's own, for rows that a test writes in its place. */
  rowMac: RowMac;
  /** Ends both and removes the folder. */
  close: () => Promise<void>;
};

/** @param env settings of the service; there are no rate limits unless it sets them */
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
