import { join } from "node:path";
import { openRowMac, type RowMac } from "../service/src/platform/row-mac.ts";
import { openSecretsKey } from "../service/src/platform/secrets.ts";

/** The MACs of the service that runs on a data folder, for rows that a test writes in its place. */
export const rowMacOf = async (dataDir: string): Promise<RowMac> =>
  openRowMac(await openSecretsKey(`file:${join(dataDir, "keys/secrets")}`));
