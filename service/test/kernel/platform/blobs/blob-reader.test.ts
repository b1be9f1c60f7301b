import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { after, describe, test } from "node:test";
import { wholeFile } from "@signsealship/testing/blobs";
import {
  type BlobBackend,
  type Blobs,
  openBlobs,
  orDiscard,
  usualBlobTimes,
} from "../../../../src/kernel/platform/blobs/blobs.ts";
import type { BlobUse } from "../../../../src/kernel/platform/blobs/cipher.ts";
import { folderBackend } from "../../../../src/kernel/platform/blobs/folder.ts";
import { storedFile } from "../../../../src/kernel/platform/blobs/stored-file.ts";
import { createMemoryBudget, type MemoryBudget } from "../../../../src/kernel/platform/bounds/memory-budget.ts";
import { systemClock } from "../../../../src/kernel/platform/clock.ts";
import { reaching } from "../../../../src/kernel/platform/database/sql-errors.ts";
import { ServiceError } from "../../../../src/kernel/platform/errors.ts";
import { openSecretsKey } from "../../../../src/kernel/platform/secrets.ts";

const folder = mkdtempSync(join(tmpdir(), "blob-reader-"));
after(() => rmSync(folder, { recursive: true }));
const master = await openSecretsKey(`file:${join(folder, "secrets")}`);

const chunk = 64 * 1024;
const useOf = (plain: Uint8Array): BlobUse => ({
  kind: "document",
  owner: "",
  sha256: createHash("sha256").update(plain).digest("hex"),
});

/** A store that counts the bytes read from it. */
function counted() {
  const backend = folderBackend(join(folder, "blobs"));
  const read = { bytes: 0, parts: 0 };
  const readPart: BlobBackend["readPart"] = async (...asked) => {
    const part = await backend.readPart(...asked);
    read.bytes += part?.bytes.length ?? 0;
    read.parts += 1;
    return part;
  };
  return { read, blobs: openBlobs({ ...backend, readPart }, master, systemClock) };
}

const all = async (body: Readable): Promise<Buffer> => Buffer.concat(await body.toArray());

async function stored(blobs: Blobs, plain: Buffer) {
  const use = useOf(plain);
  return { use, key: await blobs.put(plain, use) };
}

async function opened(blobs: Blobs, plain: Buffer) {
  const { use, key } = await stored(blobs, plain);
  return { use, key, file: (await blobs.open(key, use, "firm test")) ?? assert.fail("it is gone") };
}

describe("a stored file", () => {
  test("returns the whole and each range as stored, around the ends of chunks and stretches", async () => {
    const { blobs } = counted();
    for (const length of [0, 1, chunk - 1, chunk, chunk + 1, 4 * chunk, 4 * chunk + 1, 40 * chunk + 5]) {
      const plain = randomBytes(length);
      const { file } = await opened(blobs, plain);
      assert.equal(file.length, length);
      assert.ok((await all(await file.body())).equals(plain), `${length}`);
      assert.ok((await wholeFile(file)).equals(plain));
      const ends = [0, 1, chunk - 1, chunk, 4 * chunk - 1, 4 * chunk, length - 1].filter(
        (at) => at >= 0 && at < length,
      );
      for (const first of ends)
        for (const last of ends.filter((at) => at >= first))
          assert.ok((await all(await file.body({ first, last }))).equals(plain.subarray(first, last + 1)));
    }
  });

  test("joins blobs to one document, compares its hash, and returns ranges across their ends", async () => {
    const { blobs } = counted();
    const plains = [randomBytes(5 * chunk), randomBytes(3), randomBytes(2 * chunk)];
    const parts = await Promise.all(plains.map((plain) => stored(blobs, plain)));
    const plain = Buffer.concat(plains);
    const joined = await blobs.openJoined(parts, useOf(plain).sha256, "firm test");
    assert.ok(joined);
    assert.deepEqual(joined.lengths, [5 * chunk, 3, 2 * chunk]);
    assert.ok((await all(await joined.file.body())).equals(plain));
    const range = { first: 5 * chunk - 2, last: 5 * chunk + 9 };
    assert.ok((await all(await joined.file.body(range))).equals(plain.subarray(range.first, range.last + 1)));
    await assert.rejects(blobs.openJoined(parts, useOf(randomBytes(1)).sha256, "firm test"), /hash is another/);
    assert.equal(
      await blobs.openJoined([...parts, { key: "2026-01-01/gone", use: useOf(plain) }], null, "firm test"),
      null,
    );
  });

  test("reads at most one stretch for ten bytes, once all of it was compared", async () => {
    const { blobs, read } = counted();
    const plain = randomBytes(100 * chunk);
    const { key, use } = await opened(blobs, plain);
    read.bytes = 0;
    const file = await blobs.open(key, use, "firm test");
    assert.ok((await all((await file?.body({ first: 0, last: 9 })) ?? assert.fail())).equals(plain.subarray(0, 10)));
    assert.ok(read.bytes < 6 * chunk, `${read.bytes} bytes were read`);
  });

  test("is compared once for all concurrent readers, which share the reading of a stretch", async () => {
    const { blobs, read } = counted();
    const plain = randomBytes(64 * chunk);
    const { key, use } = await stored(blobs, plain);
    const files = await Promise.all(Array.from({ length: 50 }, () => blobs.open(key, use, "firm test")));
    // Each of the 50 readers reads the beginning, but only one reader reads the whole document.
    assert.ok(read.bytes < 50 * 2 * chunk + 66 * chunk, `${read.bytes} bytes were read`);
    read.parts = 0;
    const bodies = await Promise.all(
      files.map(async (file) => all((await file?.body({ first: 7, last: 9 })) ?? assert.fail())),
    );
    for (const body of bodies) assert.ok(body.equals(plain.subarray(7, 10)));
    assert.equal(read.parts, 1);
  });

  test("is not opened when it has another hash, and is compared again on request", async () => {
    const { blobs } = counted();
    const plain = randomBytes(3 * chunk);
    const wrong = { ...useOf(plain), sha256: "0".repeat(64) };
    await assert.rejects(blobs.open(await blobs.put(plain, wrong), wrong, "firm test"), /hash is another/);
    const { key, use } = await opened(blobs, plain);
    alter(key, (bytes) => bytes.writeUInt8(bytes.readUInt8(bytes.length - 20) ^ 1, bytes.length - 20));
    assert.ok(await blobs.open(key, use, "firm test"), "its beginning is as it was");
    await assert.rejects(blobs.open(key, use, "firm test", "again"));
  });

  test("ends with an error when a chunk was altered since, before any byte of that chunk", async () => {
    const { blobs } = counted();
    const plain = randomBytes(12 * chunk);
    const { key, use, file } = await opened(blobs, plain);
    const at = 90 + 9 * (chunk + 16);
    alter(key, (bytes) => bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at));
    const seen: Buffer[] = [];
    await assert.rejects(async () => {
      for await (const piece of await file.body()) seen.push(piece);
    });
    assert.ok(Buffer.concat(seen).equals(plain.subarray(0, 8 * chunk)));
    await assert.rejects(file.body({ first: 9 * chunk, last: 9 * chunk + 5 }), "before anything is sent");
    assert.ok((await all(await file.body({ first: 0, last: 5 }))).equals(plain.subarray(0, 6)));
    // A rotation of SECRETS_KEY also changes the length, so this read fails only as unavailable. The next opening
    // detects that the blob was cut.
    alter(key, (bytes) => bytes.subarray(0, -1));
    await assert.rejects(file.body({ first: 0, last: 5 }), {
      code: "unavailable",
      cause: new Error("a blob has another length than when it was opened"),
    });
    await assert.rejects(blobs.open(key, use, "firm test"), (error) => !(error instanceof ServiceError));
  });

  test("is null when it does not exist, and unavailable when it disappears during reading", async () => {
    const { blobs } = counted();
    const plain = randomBytes(12 * chunk);
    assert.equal(await blobs.open("2026-01-01/none", useOf(plain), "firm test"), null);
    const { key, file } = await opened(blobs, plain);
    await blobs.remove(key);
    // The cause says that the blob is gone, and not that its bytes were altered.
    await assert.rejects(file.body(), { code: "unavailable", cause: new Error(`the store no longer has blob ${key}`) });
  });
});

/** A budget that reports how many bytes are reserved. */
function watched(): { memory: MemoryBudget; held: () => number } {
  let held = 0;
  const memory: MemoryBudget = {
    async reserve(_holder, bytes) {
      held += bytes;
      return () => {
        held -= bytes;
      };
    },
    within: (_holder, _bytes, work) => work(),
  };
  return { memory, held: () => held };
}

async function* endless(): AsyncGenerator<Buffer> {
  for (;;) yield Buffer.alloc(chunk);
}

describe("a body", () => {
  test("holds its share of the budget until it ends, in any way", async () => {
    const { memory, held } = watched();
    const three = storedFile({ memory, holder: "firm test" }, 3, {
      pieces: async function* () {
        yield Buffer.from("abc");
      },
    });
    const body = await three.body();
    assert.ok(held() > 0);
    assert.equal((await all(body)).toString(), "abc");
    assert.equal(held(), 0);
    const left = await storedFile({ memory, holder: "firm test" }, 3, { pieces: endless }).body();
    assert.ok(held() > 0);
    left.destroy();
    assert.equal(held(), 0);
    const broken = storedFile({ memory, holder: "firm test" }, 3, {
      // biome-ignore lint/correctness/useYield: it fails before its first piece.
      async *pieces() {
        throw new Error("broken");
      },
    });
    await assert.rejects(broken.body(), /broken/);
    assert.equal(held(), 0);
  });

  test("reads no piece before its reader needs it, and fails if the reader reads nothing for the time limit", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const { memory, held } = watched();
    let made = 0;
    async function* pieces() {
      for await (const piece of endless()) {
        made += 1;
        yield piece;
      }
    }
    const body = await storedFile({ memory, holder: "firm test", stallMs: 1_000 }, 1e9, { pieces }).body();
    const taken: Buffer[] = [];
    let max = 3;
    const error = new Promise<Error>((resolve) => body.on("error", resolve));
    body.on("data", (piece) => {
      taken.push(piece);
      if (taken.length >= max) body.pause();
    });
    while (taken.length < 3) await new Promise(setImmediate);
    await new Promise(setImmediate);
    assert.ok(made <= 4, `${made} pieces were made`);
    t.mock.timers.tick(999);
    assert.equal(body.destroyed, false);
    max = 4;
    body.resume();
    while (taken.length < 4) await new Promise(setImmediate);
    await new Promise(setImmediate);
    t.mock.timers.tick(999);
    assert.equal(body.destroyed, false, "its time begins with each piece");
    t.mock.timers.tick(2);
    assert.match((await error).message, /took nothing for 1000 ms/);
    assert.equal(held(), 0);
  });

  test("waits for its turn in the budget, and is refused as unavailable after too long a wait", async () => {
    const memory = createMemoryBudget({
      bytes: 1024 * 1024,
      bytesEach: 512 * 1024,
      waiting: 9,
      waitingEach: 9,
      waitMs: 50,
    });
    const file = (holder: string) => storedFile({ memory, holder: `${holder} test` }, 1e9, { pieces: endless });
    const first = await file("a").body();
    await assert.rejects(file("a").body(), { code: "unavailable" });
    await (await file("b").body()).destroy();
    const next = file("a").body();
    first.destroy();
    (await next).destroy();
  });
});

describe("work on the bytes of a blob", () => {
  test("holds as much memory as it states, and gets null for a deleted blob", async () => {
    const asked: [string, number][] = [];
    const memory: MemoryBudget = {
      reserve: () => assert.fail("none is sent"),
      async within(holder, bytes, work) {
        asked.push([holder, bytes]);
        return work();
      },
    };
    const blobs = openBlobs(folderBackend(join(folder, "blobs")), master, systemClock, usualBlobTimes, memory);
    const plain = randomBytes(40 * chunk + 1);
    const at = await stored(blobs, plain);
    assert.ok(await blobs.withBytes({ ...at, holder: "firm test", times: 2 }, async (bytes) => bytes?.equals(plain)));
    assert.deepEqual(asked, [["firm test", 2 * plain.length]]);
    assert.equal(
      await blobs.withBytes({ ...at, key: "2026-01-01/none", holder: "firm test" }, async (bytes) => bytes),
      null,
    );
  });
});

test("a blob is discarded if no row refers to it, but not if the commit's outcome is unknown", async () => {
  const { blobs } = counted();
  const isStored = async (write: () => Promise<unknown>) => {
    const { use, key } = await stored(blobs, randomBytes(100));
    await orDiscard(blobs, key, write).catch(() => {});
    return (await blobs.open(key, use, "firm test")) !== null;
  };
  const lost = () => reaching(Promise.reject(new Error("Connection terminated unexpectedly")));
  assert.ok(await isStored(async () => true));
  assert.ok(await isStored(async () => {}));
  assert.ok(await isStored(lost));
  assert.ok(!(await isStored(async () => false)));
  assert.ok(!(await isStored(() => Promise.reject(new ServiceError("conflict", "Stored already.")))));
});

function alter(key: string, change: (bytes: Buffer) => unknown): void {
  const path = join(folder, "blobs", key);
  const bytes = readFileSync(path);
  const changed = change(bytes);
  writeFileSync(path, Buffer.isBuffer(changed) ? changed : bytes);
}
