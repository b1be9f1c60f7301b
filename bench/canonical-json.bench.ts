import { randomBytes } from "node:crypto";
import { buildManifest, canonicalJson, type JsonObject } from "@signsealship/evidence/manifest";
import canonicalize from "canonicalize";
import { atLeast, type Result } from "./result.ts";

const rounds = 9;
const sliceMs = 300;

const hash = () => randomBytes(32).toString("hex");

const documents = Array.from({ length: 50 }, (_, n) => ({
  orderCode: randomBytes(20).toString("hex"),
  label: `Deed ${n}`,
  status: "Completed",
  originalSha256: hash(),
  sealedSha256: hash(),
}));

/** Calls per second. */
function rate(work: () => unknown): number {
  const started = performance.now();
  let done = 0;
  for (; performance.now() - started < sliceMs; done++) work();
  return done / ((performance.now() - started) / 1000);
}

/** The manifest of a room with 50 orders in canonical form, against the npm package `canonicalize` (RFC 8785). */
export async function run(): Promise<Result[]> {
  const manifest = buildManifest({
    roomCode: randomBytes(20).toString("hex"),
    roomName: "12 Elm Street",
    reference: "FILE-2207",
    version: 1,
    prevManifestSha256: null,
    generatedAt: new Date("2026-01-31T23:59:59Z"),
    documents,
  }) as unknown as JsonObject;
  // For pure ASCII, our form and the npm package's form are the same bytes.
  if (canonicalJson(manifest) !== canonicalize(manifest)) throw new Error("the two forms differ");
  const rates = { ours: [] as number[], other: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    rates.ours.push(rate(() => canonicalJson(manifest)));
    rates.other.push(rate(() => canonicalize(manifest)));
  }
  return [atLeast("canonical JSON, manifest of 50 orders", rates.ours, rates.other, "manifests/s", 1)];
}
