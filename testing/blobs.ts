import { join } from "node:path";
import { type Blobs, openBlobs } from "../service/src/kernel/platform/blobs/blobs.ts";
import type { BlobUse } from "../service/src/kernel/platform/blobs/cipher.ts";
import { folderBackend } from "../service/src/kernel/platform/blobs/folder.ts";
import type { StoredFile } from "../service/src/kernel/platform/blobs/stored-file.ts";
import { systemClock } from "../service/src/kernel/platform/clock.ts";
import { openSecretsKey } from "../service/src/kernel/platform/secrets.ts";

/** The stored documents of a service, by its data folder. */
export const blobsOf = async (dataDir: string): Promise<Blobs> =>
  openBlobs(
    folderBackend(join(dataDir, "blobs")),
    await openSecretsKey(`file:${join(dataDir, "keys/secrets")}`),
    systemClock,
  );

export async function wholeFile(file: StoredFile): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of file.stretches()) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Reads a blob whole; null when it does not exist. */
export const readBlob = (blobs: Blobs, key: string, use: BlobUse): Promise<Buffer | null> =>
  blobs.withBytes({ key, use, holder: "firm test" }, async (bytes) => bytes);
