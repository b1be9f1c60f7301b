import assert from "node:assert/strict";
import { test } from "node:test";
import { sha256Hex } from "../../src/digest.ts";
import { buildManifest, manifestBytes } from "../../src/manifest/build.ts";
import { verifyChain } from "../../src/manifest/chain.ts";
import { chainOf, hash, roomCode, snapshot } from "./manifests.ts";

type Given = Parameters<typeof verifyChain>[0];

/** Every claim that does not hold, as `name state`. */
async function notHolding(input: Given): Promise<string[]> {
  const claims = await verifyChain(input);
  return claims.filter(({ state }) => state !== "holds").map(({ name, state }) => `${name} ${state}`);
}

test("a whole chain holds in every claim, in any order of input", async () => {
  const versions = await chainOf(20);
  const claims = await verifyChain({ versions: versions.toReversed(), roomCode });
  assert.deepEqual(
    claims.filter(({ state }) => state !== "holds"),
    [],
  );
  assert.deepEqual(
    claims.slice(0, 8).map(({ name }) => name),
    [
      "chain.versions",
      ...["schema", "canonical", "hash", "version", "room", "link"].map((check) => `manifest.v1.${check}`),
      "manifest.v2.schema",
    ],
  );
  assert.equal(claims.length, 1 + 20 * 6);
});

test("a hash that was not stated is unchecked; a wrong or malformed one fails", async () => {
  const [first] = await chainOf(1);
  assert.ok(first);
  const { version, bytes } = first;
  assert.deepEqual(await notHolding({ versions: [{ version, bytes }] }), ["manifest.v1.hash unchecked"]);
  for (const manifestSha256 of [hash("0"), first.manifestSha256.toUpperCase(), ""]) {
    assert.deepEqual(await notHolding({ versions: [{ version, bytes, manifestSha256 }] }), ["manifest.v1.hash fails"]);
  }
});

test("an earlier version that was changed breaks the link of the next", async () => {
  const versions = await chainOf(3);
  const bytes = manifestBytes(buildManifest(snapshot({ roomName: "Another name" })));
  const changed = [{ version: 1, bytes, manifestSha256: await sha256Hex(bytes) }, ...versions.slice(1)];
  assert.deepEqual(await notHolding({ versions: changed }), ["manifest.v2.link fails"]);
});

test("a gap fails, and the link over it is unchecked", async () => {
  const [first, , third] = await chainOf(3);
  assert.ok(first && third);
  assert.deepEqual(await notHolding({ versions: [first, third] }), [
    "chain.versions fails",
    "manifest.v3.link unchecked",
  ]);
});

test("versions without the first are unchecked where they begin", async () => {
  const versions = (await chainOf(3)).slice(1);
  assert.deepEqual(await notHolding({ versions }), ["chain.versions unchecked", "manifest.v2.link unchecked"]);
});

test("a version given twice fails, and when the two differ so does the next link", async () => {
  const versions = await chainOf(2);
  const [first] = versions;
  assert.ok(first);
  assert.deepEqual(await notHolding({ versions: [...versions, first] }), ["chain.versions fails"]);
  const bytes = manifestBytes(buildManifest(snapshot({ reference: "other" })));
  assert.deepEqual(await notHolding({ versions: [...versions, { version: 1, bytes }] }), [
    "chain.versions fails",
    "manifest.v1.hash unchecked",
    "manifest.v2.link fails",
  ]);
});

test("a manifest of another room fails, whether a room was named or not", async () => {
  const versions = await chainOf(1);
  assert.deepEqual(await notHolding({ versions, roomCode: "f".repeat(40) }), ["manifest.v1.room fails"]);
  const bytes = manifestBytes(
    buildManifest(
      snapshot({ roomCode: "f".repeat(40), version: 2, prevManifestSha256: versions[0]?.manifestSha256 ?? null }),
    ),
  );
  const foreign = { version: 2, bytes, manifestSha256: await sha256Hex(bytes) };
  assert.deepEqual(await notHolding({ versions: [...versions, foreign] }), ["manifest.v2.room fails"]);
});

test("a manifest that names another version than its record fails", async () => {
  const [, second] = await chainOf(2);
  assert.ok(second);
  assert.deepEqual(await notHolding({ versions: [{ ...second, version: 1 }] }), [
    "manifest.v1.version fails",
    "manifest.v1.link fails",
  ]);
  const [first] = await chainOf(1);
  assert.ok(first);
  assert.deepEqual(await notHolding({ versions: [{ ...first, version: 2 }] }), [
    "chain.versions unchecked",
    "manifest.v2.version fails",
    "manifest.v2.link fails",
  ]);
});

test("bytes that parse to the manifest but are not its canonical bytes fail, also with a duplicated member", async () => {
  const [first] = await chainOf(1);
  assert.ok(first);
  const text = new TextDecoder().decode(first.bytes);
  for (const [other, claim] of [
    [`${text}\n`, "canonical"],
    [text.replace("{", '{"documents":[],'), "schema"],
    [text.replace('"version":1', '"version":1.0'), "canonical"],
  ] as const) {
    const bytes = new TextEncoder().encode(other);
    const given = { version: 1, bytes, manifestSha256: await sha256Hex(bytes) };
    assert.deepEqual(await notHolding({ versions: [given] }), [`manifest.v1.${claim} fails`]);
  }
});

test("a manifest that cannot be read fails its schema and claims nothing more", async () => {
  const versions = [{ version: 1, bytes: new Uint8Array(3) }];
  const claims = await verifyChain({ versions });
  assert.deepEqual(
    claims.map(({ name, state }) => `${name} ${state}`),
    ["chain.versions holds", "manifest.v1.schema fails"],
  );
});

test("an empty list, too many versions, and versions out of range fail", async () => {
  assert.deepEqual(await notHolding({ versions: [] }), ["chain.versions fails"]);
  const [first] = await chainOf(1);
  assert.ok(first);
  assert.deepEqual(await verifyChain({ versions: Array.from({ length: 41 }, () => first) }), [
    { name: "chain.versions", state: "fails", why: "More than 40 versions were given." },
  ]);
  const [claim] = await verifyChain({ versions: Array.from({ length: 40 }, () => first) });
  assert.equal(claim?.why, "Version 1 was given more than once.");
  for (const version of [0, 21, 1.5, Number.NaN]) {
    assert.equal((await notHolding({ versions: [{ ...first, version }] }))[0], "chain.versions fails");
  }
});
