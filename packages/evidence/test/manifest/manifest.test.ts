import assert from "node:assert/strict";
import { test } from "node:test";
import { fuzzRuns } from "@signsealship/testing/inputs/fuzz";
import { EvidenceError } from "../../src/errors.ts";
import { buildManifest, type ManifestInput, manifestBytes, manifestSha256 } from "../../src/manifest/build.ts";
import { coverage, statusNote } from "../../src/manifest/schema.ts";
import { parseManifest, validateManifest } from "../../src/manifest/validate.ts";
import { mutate, randomFrom } from "../mutate.ts";
import { hash, snapshot } from "./manifests.ts";

type Members = Record<string, unknown>;
type Loose = {
  readonly passport: Members;
  readonly documents: (Members & { readonly statusAtSnapshot: Members })[];
  readonly coverage: { readonly covers: string[]; readonly doesNotCover: string[] };
};

test("a manifest has its documents sorted, its instant cut to the second, and absent artifacts left out", () => {
  const manifest = buildManifest(snapshot());
  assert.deepEqual(
    manifest.documents.map((document) => document.orderCode[0]),
    ["a", "b"],
  );
  assert.equal(manifest.passport.generatedAtUtc, "2026-01-31T23:59:59Z");
  assert.deepEqual(Object.keys(manifest.documents[1] ?? {}), [
    "orderCode",
    "label",
    "statusAtSnapshot",
    "originalSha256",
  ]);
  assert.deepEqual(manifest.documents[1]?.statusAtSnapshot, {
    basis: "platform_attestation",
    note: statusNote,
    value: "QuoteReady",
  });
  assert.deepEqual(manifest.coverage, coverage);
});

test("equal snapshots give the same bytes and hash, whatever the order of their orders", async () => {
  const one = buildManifest(snapshot());
  const other = buildManifest(snapshot({ documents: snapshot().documents.toReversed() }));
  assert.deepEqual(manifestBytes(one), manifestBytes(other));
  assert.equal(await manifestSha256(one), await manifestSha256(other));
  assert.match(await manifestSha256(one), /^[0-9a-f]{64}$/);
});

test("a manifest with a duplicated member is refused, even if both values are equal", () => {
  const text = new TextDecoder().decode(manifestBytes(buildManifest(snapshot())));
  const twice = text.replace('"version":1', '"version":1,"version":1');
  assert.throws(() => parseManifest(new TextEncoder().encode(twice)), EvidenceError);
});

test("a manifest is read back from its canonical bytes", () => {
  const manifest = buildManifest(snapshot());
  assert.deepEqual(manifestBytes(parseManifest(manifestBytes(manifest))), manifestBytes(manifest));
});

test("a room without orders, with texts of 200 characters, has a manifest", () => {
  buildManifest(snapshot({ documents: [], roomName: "😀".repeat(200), reference: "é".repeat(200) }));
});

test("a snapshot that breaks a rule gives no manifest", () => {
  const [document] = snapshot().documents;
  assert.ok(document);
  const broken: Partial<ManifestInput>[] = [
    { roomCode: "A".repeat(40) },
    { roomName: "" },
    { roomName: "😀".repeat(201) },
    { roomName: "\ud800" },
    { reference: "x".repeat(201) },
    { version: 0 },
    { version: 1.5 },
    { version: 21, prevManifestSha256: hash("a") },
    { version: 2 },
    { prevManifestSha256: hash("a") },
    { generatedAt: new Date(Number.NaN) },
    { generatedAt: new Date(8.64e15) },
    { documents: [document, document] },
    { documents: Array.from({ length: 51 }, (_, i) => ({ ...document, orderCode: i.toString(16).padStart(40, "0") })) },
    { documents: [{ ...document, orderCode: "b".repeat(39) }] },
    { documents: [{ ...document, status: "not a status" }] },
    { documents: [{ ...document, label: "x".repeat(201) }] },
    { documents: [{ ...document, originalSha256: hash("A") }] },
    { documents: [{ ...document, envelopeVerifyCode: "a".repeat(25) }] },
  ];
  for (const changes of broken) {
    assert.throws(() => buildManifest(snapshot(changes)), { name: "EvidenceError", code: "manifest" });
  }
});

test("another program's manifest that breaks a rule is refused by the member's name", () => {
  const broken: [string, (manifest: Loose) => unknown][] = [
    ["manifest", () => []],
    ["manifest", () => null],
    ["manifest.coverage", (m) => Reflect.deleteProperty(m, "coverage")],
    ["manifest (unknown member)", (m) => Object.assign(m, { extra: 1 })],
    ["passport.reference", (m) => Reflect.deleteProperty(m.passport, "reference")],
    ["passport (unknown member)", (m) => Object.assign(m.passport, { note: "x" })],
    ["passport.roomCode", (m) => Object.assign(m.passport, { roomCode: 7 })],
    ["passport.roomName", (m) => Object.assign(m.passport, { roomName: null })],
    ["passport.version", (m) => Object.assign(m.passport, { version: "1" })],
    ["passport.prevManifestSha256", (m) => Object.assign(m.passport, { prevManifestSha256: "" })],
    ...[
      "2026-01-31T23:59:59.000Z",
      "2026-02-30T00:00:00Z",
      "2026-01-31T24:00:00Z",
      "2026-01-31T23:59:59+00:00",
      "0000-01-01T00:00:00Z",
      0,
    ].map((generatedAtUtc): [string, (m: Loose) => unknown] => [
      "passport.generatedAtUtc",
      (m) => Object.assign(m.passport, { generatedAtUtc }),
    ]),
    ["documents", (m) => Object.assign(m, { documents: {} })],
    ["documents[1].orderCode", (m) => m.documents.reverse()],
    ["documents[0].label", (m) => Reflect.deleteProperty(m.documents[0] ?? {}, "label")],
    ["documents[1].sealedSha256", (m) => Object.assign(m.documents[1] ?? {}, { sealedSha256: null })],
    ["documents[1] (unknown member)", (m) => Object.assign(m.documents[1] ?? {}, { md5: "x" })],
    [
      "documents[0].envelopeVerifyCode",
      (m) => Object.assign(m.documents[0] ?? {}, { envelopeVerifyCode: "1".repeat(26) }),
    ],
    ["documents[0].statusAtSnapshot", (m) => Object.assign(m.documents[0] ?? {}, { statusAtSnapshot: "Paid" })],
    [
      "documents[0].statusAtSnapshot.basis",
      (m) => Object.assign(m.documents[0]?.statusAtSnapshot ?? {}, { basis: "evidence" }),
    ],
    [
      "documents[0].statusAtSnapshot.note",
      (m) => Object.assign(m.documents[0]?.statusAtSnapshot ?? {}, { note: "evidence" }),
    ],
    [
      "documents[0].statusAtSnapshot.value",
      (m) => Object.assign(m.documents[0]?.statusAtSnapshot ?? {}, { value: null }),
    ],
    ["coverage.covers", (m) => m.coverage.covers.push("payment")],
    ["coverage.doesNotCover", (m) => m.coverage.doesNotCover.pop()],
    ["coverage.doesNotCover", (m) => Object.assign(m.coverage, { doesNotCover: "nothing" })],
  ];
  for (const [member, damage] of broken) {
    const manifest: Loose = JSON.parse(new TextDecoder().decode(manifestBytes(buildManifest(snapshot()))));
    const outcome = damage(manifest);
    const value = member === "manifest" ? outcome : manifest;
    assert.throws(
      () => validateManifest(value),
      { code: "manifest", message: `not a closing manifest: ${member}` },
      member,
    );
  }
});

test("bytes that are not JSON in UTF-8 are refused, and a manifest beyond 256 KiB is not read", () => {
  for (const bytes of [[], [0x7b], [0xff], [0xef, 0xbb, 0xbf, 0x7b, 0x7d], [0x22, 0xc0, 0x80, 0x22]]) {
    assert.throws(() => parseManifest(Uint8Array.from(bytes)), { name: "EvidenceError", code: "json" });
  }
  assert.throws(() => parseManifest(new Uint8Array(262_145).fill(0x20)), { name: "EvidenceError", code: "limit" });
  const deep = new TextEncoder().encode("[".repeat(100_000));
  assert.throws(() => parseManifest(deep), { name: "EvidenceError", code: "json" });
});

const mutations = fuzzRuns(100_000);
test(`${mutations.toLocaleString("en")} mutations of a manifest give a manifest that can be hashed, or an EvidenceError`, () => {
  const random = randomFrom(20_262);
  const source = manifestBytes(buildManifest(snapshot()));
  let read = 0;
  for (let i = 0; i < mutations; i++) {
    const bytes = mutate(source, random);
    try {
      const manifest = parseManifest(bytes);
      read += 1;
      assert.equal(parseManifest(manifestBytes(manifest)).passport.version, 1);
    } catch (error) {
      assert.ok(error instanceof EvidenceError, String(error));
    }
  }
  assert.ok(read > mutations / 1000, `${read} were read`);
});
