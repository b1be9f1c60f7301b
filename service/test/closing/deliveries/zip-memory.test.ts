import assert from "node:assert/strict";
import { hash, randomBytes } from "node:crypto";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import { type ZipEntry, zipFile } from "../../../src/evidence/proof-passports/proof-passports.ts";
import { type Blobs, openBlobs } from "../../../src/kernel/platform/blobs/blobs.ts";
import { folderBackend } from "../../../src/kernel/platform/blobs/folder.ts";
import { systemClock } from "../../../src/kernel/platform/clock.ts";
import { openSecretsKey } from "../../../src/kernel/platform/secrets.ts";

setFlagsFromString("--expose_gc");
const collect = runInNewContext("gc") as () => void;

const mebibyte = 1024 * 1024;
/**
 * With `FUZZ=long`, the documents have 1 GiB in all. Otherwise they have an eighth of that, which is enough to detect a
 * zip whose files are held in memory.
 */
const documents = process.env["FUZZ"] === "long" ? 32 : 4;
const documentBytes = 32 * mebibyte;
const maxGrowth = 64 * mebibyte;

/**
 * Opens one stored document once for each of the zip's names. Each opened document is read, decrypted and sent
 * separately.
 */
async function entriesOf(blobs: Blobs): Promise<ZipEntry[]> {
  const plain = randomBytes(documentBytes);
  const use = { kind: "document", owner: "a", sha256: hash("sha256", plain) } as const;
  const key = await blobs.put(plain, use);
  const entries: ZipEntry[] = [];
  for (let n = 1; n <= documents; n++) {
    const file = await blobs.open(key, use, "firm test");
    assert.ok(file);
    entries.push({ name: `Documents/${n}.pdf`, bytes: file });
  }
  return entries;
}

test("streams a zip of large documents without holding them in memory", async (t) => {
  const folder = temporaryFolder();
  t.after(folder.remove);
  const secrets = await openSecretsKey(`file:${folder.path}/secrets`);
  const blobs = openBlobs(folderBackend(`${folder.path}/blobs`), secrets, systemClock);
  const zip = zipFile({ memory: blobs.memory, holder: "firm test" }, await entriesOf(blobs));
  assert.ok(zip.length > documents * documentBytes);
  // Collects garbage first, so that it is not measured as memory of the zip.
  const used = () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = used();
  let [sent, most, looks] = [0, 0, 0];
  for await (const piece of await zip.body()) {
    sent += (piece as Buffer).length;
    if (sent < looks * 8 * mebibyte) continue;
    looks += 1;
    most = Math.max(most, used() - before);
  }
  t.diagnostic(`${Math.round(sent / mebibyte)} MiB sent, at most ${Math.round(most / mebibyte)} MiB above the base`);
  assert.equal(sent, zip.length);
  assert.ok(most <= maxGrowth, `${Math.round(most / mebibyte)} MiB above the base`);
});
