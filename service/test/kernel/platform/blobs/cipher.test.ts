import assert from "node:assert/strict";
import { createCipheriv, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import fc from "fast-check";
import {
  type BlobUse,
  blobHeaderLength,
  decryptBlob,
  encryptBlob,
  encryptedLength,
} from "../../../../src/kernel/platform/blobs/cipher.ts";
import { ServiceError } from "../../../../src/kernel/platform/errors.ts";
import { deriveSalted, openSecretsKey } from "../../../../src/kernel/platform/secrets.ts";

const folder = mkdtempSync(join(tmpdir(), "cipher-"));
after(() => rmSync(folder, { recursive: true }));
const master = await openSecretsKey(`file:${join(folder, "secrets")}`);

const chunk = 64 * 1024;
const use = { kind: "document", owner: "", sha256: "a".repeat(64) } as const;
const sealedOf = (plain: Uint8Array): Buffer => Buffer.concat([...encryptBlob(master, plain, use)]);

describe("an encrypted blob", () => {
  test("is decrypted to the original, at every length around its chunks", async () => {
    for (const length of [0, 1, chunk - 1, chunk, chunk + 1, 2 * chunk, 3 * chunk + 17]) {
      const plain = randomBytes(length);
      const sealed = sealedOf(plain);
      assert.equal(sealed.length, encryptedLength(length));
      assert.deepEqual(await decryptBlob(master, sealed, use), plain, String(length));
    }
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2_000 }), async (plain) => {
        assert.deepEqual(await decryptBlob(master, sealedOf(plain), use), Buffer.from(plain));
      }),
    );
  });

  test("is decrypted in its own memory: a large document is held once", async () => {
    const sealed = sealedOf(randomBytes(3 * chunk));
    assert.equal((await decryptBlob(master, sealed, use)).buffer, sealed.buffer);
  });

  test("is refused when a byte was altered, cut off or added, chunks were swapped, or the key is another", async () => {
    const plain = randomBytes(2 * chunk + 100);
    const sealed = sealedOf(plain);
    const [head, body] = [blobHeaderLength, chunk + 16];
    const swapped = Buffer.concat([
      sealed.subarray(0, head),
      sealed.subarray(head + body, head + 2 * body),
      sealed.subarray(head, head + body),
      sealed.subarray(head + 2 * body),
    ]);
    const altered = [
      sealed.subarray(0, -1),
      sealed.subarray(0, head + body),
      sealed.subarray(0, head + 2 * body),
      sealed.subarray(0, head),
      Buffer.alloc(0),
      Buffer.concat([sealed, Buffer.alloc(1)]),
      Buffer.concat([sealed, sealed.subarray(head)]),
      swapped,
    ];
    for (const at of [
      0,
      4,
      5,
      9,
      20,
      21,
      36,
      head - 1,
      head,
      head + chunk,
      head + body,
      head + 2 * body,
      sealed.length - 1,
    ]) {
      const flipped = Buffer.from(sealed);
      flipped[at] = (flipped[at] ?? 0) ^ 1;
      altered.push(flipped);
    }
    for (const [index, bytes] of altered.entries())
      await assert.rejects(decryptBlob(master, Buffer.from(bytes), use), Error, String(index));
    const other = await openSecretsKey(`file:${join(folder, "other")}`);
    await assert.rejects(decryptBlob(other, Buffer.from(sealed), use));
    assert.deepEqual(await decryptBlob(master, sealed, use), plain);
  });

  test("is refused when it is read as another blob, or as one of the release before", async () => {
    const plain = randomBytes(chunk + 100);
    const sealed = sealedOf(plain);
    const others: BlobUse[] = [
      { ...use, kind: "closing passport" },
      { ...use, kind: "proof passport" },
      { ...use, owner: "another" },
      { ...use, sha256: "b".repeat(64) },
    ];
    for (const other of others) await assert.rejects(decryptBlob(master, Buffer.from(sealed), other));
    const unbound = Buffer.from(sealed);
    unbound[4] = 1;
    await assert.rejects(decryptBlob(master, unbound, use));
    assert.deepEqual(await decryptBlob(master, sealed, use), plain);
  });

  test("of the release before, which did not contain its identity, is still read", async () => {
    const salt = randomBytes(32);
    const nonce = Buffer.from("000000000000000000000001", "hex");
    const cipher = createCipheriv("aes-256-gcm", deriveSalted(master, "blob", salt), nonce);
    const body = Buffer.concat([cipher.update("a document"), cipher.final(), cipher.getAuthTag()]);
    const sealed = () => Buffer.concat([Buffer.from("SSSB\x01"), salt, body]);
    assert.equal((await decryptBlob(master, sealed(), use)).toString(), "a document");
    const bound = sealed();
    bound[4] = 2;
    await assert.rejects(decryptBlob(master, bound, use));
  });

  test("of a release before key ids counts as altered under one key or several, and no key as missing", async () => {
    const plain = randomBytes(chunk + 100);
    const salt = randomBytes(32);
    const chunks = [plain.subarray(0, chunk), plain.subarray(chunk)].flatMap((part, index) => {
      const nonce = Buffer.alloc(12);
      nonce.writeUInt8(index, 10);
      nonce.writeUInt8(index, 11);
      const cipher = createCipheriv("aes-256-gcm", deriveSalted(master, "blob", salt), nonce);
      return [cipher.update(part), cipher.final(), cipher.getAuthTag()];
    });
    const salted = Buffer.concat([Buffer.from("SSSB\x01"), salt, ...chunks]);
    const old = `file:${join(folder, "secrets")}`;
    for (const keys of [master, await openSecretsKey(`file:${join(folder, "newer")}`, [old])]) {
      assert.deepEqual(await decryptBlob(keys, Buffer.from(salted), use), plain);
      // In the version, the salt, the first chunk and the last one.
      for (const at of [4, 5, 37, 37 + chunk, salted.length - 1]) {
        const altered = Buffer.from(salted);
        altered.writeUInt8(altered.readUInt8(at) ^ 3, at);
        await assert.rejects(decryptBlob(keys, altered, use), (error) => !(error instanceof ServiceError), `${at}`);
      }
      const current = sealedOf(plain);
      current.writeUInt8(2, 4);
      await assert.rejects(decryptBlob(keys, current, use), (error) => !(error instanceof ServiceError));
    }
  });
});
