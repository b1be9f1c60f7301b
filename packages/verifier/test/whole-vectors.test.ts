import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { verifyProof } from "@signsealship/evidence/seal";
import { parseCertificatesPem } from "@signsealship/evidence/x509";
import cases from "../../evidence/vectors/whole/index.json" with { type: "json" };
import type { Context } from "../src/context.ts";
import { roomRecordPiece, verifyClosingSet } from "../src/files/closing-set.ts";
import type { Report } from "../src/files/report.ts";
import { verifyFile } from "../src/files/verify-file.ts";
import { createNodeCrypto } from "../src/node-crypto.ts";
import { verifyUrl } from "../src/url/verify-url.ts";

type Claim = { readonly claim: string; readonly state: string };
type Case = {
  readonly name: string;
  readonly kind: string;
  readonly files: Readonly<Record<string, string | readonly string[]>>;
  readonly trust: readonly string[];
  readonly tsaTrust: readonly string[];
  readonly at: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly expected?: { readonly sealedSha256?: string; readonly docSha256?: string };
  readonly code?: string;
  readonly verdict: string;
  readonly claims: readonly Claim[];
};
type Outcome = { readonly verdict: string; readonly claims: readonly Claim[] };

const folder = new URL("../../evidence/vectors/whole/", import.meta.url);
const bytesOf = (name: string): Uint8Array => Uint8Array.from(readFileSync(new URL(name, folder)));
const text = (name: string): string => readFileSync(new URL(name, folder), "utf8");
const crypto = createNodeCrypto();

function contextOf({ trust, tsaTrust, headers, at }: Case): Context {
  const anchors = (files: readonly string[]) => files.flatMap((file) => parseCertificatesPem(text(file)));
  const blockHeaders = new Map(
    Object.entries(headers ?? {}).map(([height, hex]) => [Number(height), Uint8Array.from(Buffer.from(hex, "hex"))]),
  );
  return {
    trust: { sealAnchors: anchors(trust), tsaAnchors: anchors(tsaTrust), blockHeaders },
    at: Date.parse(at),
    crypto,
    doc: null,
    trustPath: null,
    tsaTrustPath: null,
  };
}

const oneFile = ({ files }: Case, role: string) => {
  const path = files[role];
  if (typeof path !== "string") throw new Error(`no file for ${role}`);
  return { path, bytes: bytesOf(path) };
};

async function sealedPdf(one: Case): Promise<Outcome> {
  const context = contextOf(one);
  const file = oneFile(one, "sealed");
  if (one.expected !== undefined) {
    const { verdict, claims } = await verifyProof(file.bytes, context.trust, context.at, {
      crypto,
      beside: one.expected,
    });
    return { verdict, claims: claims.map(({ name, state }) => ({ claim: name, state })) };
  }
  return outcomeOf(await verifyFile(file, context));
}

const outcomeOf = ({ verdict, checks }: Report): Outcome => ({
  verdict,
  claims: checks.map(({ claim, result }) => ({ claim, state: result })),
});

const evidenceZip = async (one: Case) => outcomeOf(await verifyFile(oneFile(one, "zip"), contextOf(one)));

/** A service that publishes these files under its routes. */
function serviceOf(routes: Readonly<Record<string, Uint8Array | null>>) {
  return async (url: string): Promise<Response> => {
    const bytes = routes[new URL(url).pathname];
    return bytes == null ? new Response("", { status: 404 }) : new Response(Buffer.from(bytes));
  };
}

async function proofRecord(one: Case): Promise<Outcome> {
  const code = one.code ?? "";
  const api = `/api/passport/verify/${code}`;
  const routes = { [api]: oneFile(one, "record").bytes, [`${api}/document`]: oneFile(one, "sealed").bytes };
  return outcomeOf(
    await verifyUrl({ kind: "proof", base: "http://seal.example", code }, contextOf(one), serviceOf(routes)),
  );
}

async function roomRecord(one: Case): Promise<Outcome> {
  const code = one.code ?? "";
  const api = `/api/verify/room/${code}`;
  const pdf = one.files["certificate"] === undefined ? null : oneFile(one, "certificate").bytes;
  const routes = { [api]: oneFile(one, "record").bytes, [`${api}/pdf`]: pdf };
  return outcomeOf(
    await verifyUrl({ kind: "room", base: "http://seal.example", code }, contextOf(one), serviceOf(routes)),
  );
}

async function closingSet(one: Case): Promise<Outcome> {
  const list = (role: string) => [one.files[role] ?? []].flat().map((path) => ({ path, bytes: bytesOf(path) }));
  const pieces = [
    ...list("records").map(roomRecordPiece),
    ...list("manifests").map(({ path, bytes }) => ({ path, manifest: bytes })),
    ...list("certificates").map(({ path, bytes }) => ({ path, certificate: bytes })),
  ];
  return outcomeOf(await verifyClosingSet(pieces, contextOf(one)));
}

const runners: Readonly<Record<string, (one: Case) => Promise<Outcome>>> = {
  sealed_pdf: sealedPdf,
  evidence_zip: evidenceZip,
  proof_record: proofRecord,
  room_record: roomRecord,
  closing_set: closingSet,
};

/** Of each claim that the case names, the states, in the order in which they were made. */
function statesOf(claims: readonly Claim[], names: ReadonlySet<string>): string[] {
  const named = claims.filter(({ claim }) => names.has(claim)).map(({ claim, state }) => `${claim}: ${state}`);
  return named.toSorted();
}

for (const one of cases as readonly Case[]) {
  const [file] = Object.values(one.files).flat();
  test(`${one.kind} ${file}: ${one.name}: ${one.verdict}`, async () => {
    const runner = runners[one.kind];
    assert.ok(runner, one.kind);
    const outcome = await runner(one);
    const names = new Set(one.claims.map(({ claim }) => claim));
    assert.deepEqual(statesOf(outcome.claims, names), statesOf(one.claims, names));
    assert.equal(outcome.verdict, one.verdict, JSON.stringify(outcome.claims));
  });
}

test("the index names every file of the folder and no other", () => {
  const there = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(folder.pathname.length).replace(/^\//, ""));
  const named = (cases as readonly Case[]).flatMap(({ files, trust, tsaTrust }) => [
    ...Object.values(files).flat(),
    ...trust,
    ...tsaTrust,
  ]);
  assert.deepEqual(new Set(there), new Set([...named, "index.json"]));
});
