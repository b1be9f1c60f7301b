import { join } from "node:path";
import { type Blobs, openBlobs } from "../service/src/platform/blobs/blobs.ts";
import type { BlobUse } from "../service/src/platform/blobs/cipher.ts";
import { folderBackend } from "../service/src/platform/blobs/folder.ts";
import type { StoredFile } from "../service/src/platform/blobs/stored-file.ts";
import { systemClock } from "../service/src/platform/clock.ts";
import { openSecretsKey } from "../service/src/platform/secrets.ts";

/** The documents of the service that runs on a data folder. */
export const blobsOf = async (dataDir: string): Promise<Blobs> =>
  openBlobs(
    folderBackend(join(dataDir, "blobs")),
    await openSecretsKey(`file:${join(dataDir, "keys/secrets")}`),
    systemClock,
  );

/** All of a stored file. */
export async function wholeFile(file: StoredFile): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of file.stretches()) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** All of a blob; null when there is none. */
export const readBlob = (blobs: Blobs, key: string, use: BlobUse): Promise<Buffer | null> =>
  blobs.withBytes({ key, use, holder: "test" }, async (bytes) => bytes);
