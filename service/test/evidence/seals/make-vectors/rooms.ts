import { deflateSync } from "node:zlib";
import { buildManifest, type ManifestInput, manifestBytes } from "@signsealship/evidence/manifest";
import { sealReasons } from "@signsealship/evidence/seal";
import { chainOf, snapshot } from "../../../../../packages/evidence/test/manifest/manifests.ts";
import { type Attachment, withAttachment } from "../../../../../packages/evidence/test/seal/closing-pdf.ts";
import { latin1 } from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import type { Expectation, State, Verdict } from "./case.ts";
import { asJson, hexOf } from "./evidence.ts";
import { sealed } from "./sealing.ts";

export type Claims = Record<string, State | null>;
export const text = (value: string): Uint8Array => Uint8Array.from(Buffer.from(value));
export const manifest = (changes: Partial<ManifestInput>): Uint8Array =>
  manifestBytes(buildManifest(snapshot(changes)));
const certificate = (of: Uint8Array, reason: string = sealReasons.closing.live, attachment: Attachment = {}) =>
  sealed(withAttachment(of, attachment), { reason });
export const withLabel = (bytes: Uint8Array): Uint8Array =>
  text(Buffer.from(bytes).toString().replace('"reference":null', '"reference":"x"'));

const chain = await chainOf(3);
const manifestOf = (version: number): Uint8Array => Uint8Array.from(chain[version - 1]?.bytes ?? []);
/** The manifests of a room's first three versions, and their certificates. */
export const [v1, v2, v3] = [manifestOf(1), manifestOf(2), manifestOf(3)];
export const [c1, c2, c3] = [await certificate(v1), await certificate(v2), await certificate(v3)];
const otherRoom = { roomCode: "f".repeat(40) };
const firstOfOther = manifest(otherRoom);
export const foreign = { ...otherRoom, version: 2, prevManifestSha256: hexOf(v1) };

/** The claims about one good version (docs/evidence-format.md, sections 10.3 and 10.4). */
export function version(
  n: number,
  given: { readonly sealed: boolean; readonly stated?: boolean },
  changes: Claims = {},
) {
  const certified: Claims = given.sealed
    ? { seal: "holds", trusted: "holds", purpose: "holds", manifest: "holds", ...(given.stated && { hash: "holds" }) }
    : { seal: "unchecked" };
  const own: Claims = {
    schema: "holds",
    canonical: "holds",
    hash: given.stated ? "holds" : "unchecked",
    version: "holds",
    room: "holds",
    link: "holds",
  };
  const named = (prefix: string, claims: Claims): Claims =>
    Object.fromEntries(Object.entries(claims).map(([name, state]) => [`${prefix}.v${n}.${name}`, state]));
  return { ...named("certificate", certified), ...named("manifest", own), ...changes };
}

export function expectation(verdict: Verdict, ...claims: readonly Claims[]): Expectation {
  const all = Object.entries(Object.assign({}, ...claims) as Claims);
  return { verdict, claims: Object.fromEntries(all.filter((one): one is [string, State] => one[1] !== null)) };
}

export const sealedOne = { sealed: true } as const;
export const unsealed = { sealed: false } as const;
/** The claim that the versions from 1 on have no gap. */
export const fromOne: Claims = { "chain.versions": "holds" };

export const answer = (
  of: Uint8Array,
  sealedPdf: Uint8Array,
  changes: Readonly<Record<string, unknown>> = {},
): Uint8Array => {
  const parsed = JSON.parse(Buffer.from(of).toString());
  return asJson({
    manifest: parsed,
    manifestSha256: hexOf(of),
    sealedSha256: hexOf(sealedPdf),
    version: parsed.passport.version,
    prevManifestSha256: parsed.passport.prevManifestSha256,
    chainOk: true,
    branding: null,
    createdAt: "2026-01-15T12:00:00.000Z",
    downloadUrl: `/api/verify/room/${CODE}/pdf`,
    ...changes,
  });
};
export const CODE = "abcdefghijklmnopqrstuvwxyz";

const tree = (specification: number): string => `<< /Names [(manifest.json) ${specification} 0 R] >>`;
const bareAttachment = { names: "<< >>" };
export const documents = {
  foreign: await certificate(manifest(foreign)),
  proof: await certificate(v1, sealReasons.proof.live),
  signed: await certificate(v1, sealReasons.signed.live),
  bare: await certificate(v1, sealReasons.closing.live, bareAttachment),
  twice: await certificate(v1, sealReasons.closing.live, {
    names: "<< /EmbeddedFiles << /Names [(manifest.json) 101 0 R (manifest.json) 101 0 R] >> >>",
  }),
  treeTwice: await certificate(v1, sealReasons.closing.live, {
    names: `<< /EmbeddedFiles ${tree(101)} /EmbeddedFiles << /Names [] >> >>`,
  }),
  apart: await certificate(v1, sealReasons.closing.live, {
    names: `<< /EmbeddedFiles ${tree(103)} >>`,
    objects: [
      [102, "<< /Type /EmbeddedFile /Length 2 >>\nstream\n{}\nendstream"],
      [103, "<< /Type /Filespec /F (manifest.json) /UF (manifest.json) /EF << /F 100 0 R /UF 102 0 R >> >>"],
    ],
  }),
  deflated: await certificate(v1, sealReasons.closing.live, { file: deflated(v1) }),
  test: await certificate(v1, sealReasons.closing.test),
  firstOfOther: await certificate(firstOfOther),
};

function deflated(bytes: Uint8Array): string {
  const data = latin1(deflateSync(bytes));
  return `<< /Type /EmbeddedFile /Filter /FlateDecode /Length ${data.length} >>\nstream\n${data}\nendstream`;
}
