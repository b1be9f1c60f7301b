import { join } from "node:path";
import { type Blobs, openBlobs } from "../service/src/platform/blobs/blobs.ts";
import { folderBackend } from "../service/src/platform/blobs/folder.ts";
import { systemClock } from "../service/src/platform/clock.ts";
import { openSecretsKey } from "../service/src/platform/secrets.ts";

/** The documents of the service that runs on a data folder. */
export const blobsOf = async (dataDir: string): Promise<Blobs> =>
  openBlobs(
    folderBackend(join(dataDir, "blobs")),
    await openSecretsKey(`file:${join(dataDir, "keys/secrets")}`),
    systemClock,
  );
