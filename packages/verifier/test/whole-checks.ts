import assert from "node:assert/strict";
import { readTrust, verifyProof } from "@signsealship/evidence/seal";
import type { VectorCheck } from "../../evidence/test/vector-cases.ts";
import {
  assertClaims,
  filesOf,
  type Outcome,
  type WholeCase,
  wholeCases,
  wholeFile,
} from "../../evidence/test/whole-cases.ts";
import type { Context } from "../src/context.ts";
import { roomRecordPiece, verifyClosingSet } from "../src/files/closing-set.ts";
import type { Report } from "../src/files/report.ts";
import { isClosingCertificate, verifyRoomDocuments } from "../src/files/room-documents.ts";
import { verifySealedPdf } from "../src/files/sealed-pdf.ts";
import { verifyFile } from "../src/files/verify-file.ts";
import { createNodeCrypto } from "../src/node-crypto.ts";
import { verifyUrl } from "../src/url/verify-url.ts";

const crypto = createNodeCrypto();

function contextOf({ trust, tsaTrust, headers, at }: WholeCase): Context {
  const listsOf = (files: readonly string[]) =>
    files.map((file) => readTrust(new TextDecoder().decode(wholeFile(file))));
  const [seals, stampers] = [listsOf(trust), listsOf(tsaTrust)];
  const blockHeaders = new Map(
    Object.entries(headers ?? {}).map(([height, hex]) => [Number(height), Uint8Array.from(Buffer.from(hex, "hex"))]),
  );
  return {
    trust: {
      sealAnchors: seals.flatMap(({ sealAnchors }) => sealAnchors),
      signerAnchors: seals.flatMap(({ signerAnchors }) => signerAnchors),
      retired: seals.flatMap((list) => list.retired),
      tsaAnchors: stampers.flatMap(({ sealAnchors }) => sealAnchors),
      blockHeaders,
      logs: seals.flatMap(({ logs }) => logs),
    },
    at: Date.parse(at),
    crypto,
    doc: null,
    trustPath: null,
    tsaTrustPath: null,
  };
}

function oneFile(one: WholeCase, role: string) {
  const [file] = filesOf(one, role);
  if (file === undefined) throw new Error(`no file for ${role}`);
  return file;
}

async function sealedPdf(one: WholeCase): Promise<Outcome> {
  const context = contextOf(one);
  const file = oneFile(one, "sealed");
  if (one.expected !== undefined) {
    const { verdict, claims } = await verifyProof(file.bytes, context.trust, context.at, {
      crypto,
      detached: one.expected,
    });
    return { verdict, claims: claims.map(({ name, state }) => ({ claim: name, state })) };
  }
  return outcomeOf(await verifyFile(file, context));
}

const outcomeOf = ({ verdict, checks }: Report): Outcome => ({
  verdict,
  claims: checks.map(({ claim, result }) => ({ claim, state: result })),
});

const evidenceZip = async (one: WholeCase) => outcomeOf(await verifyFile(oneFile(one, "zip"), contextOf(one)));

/** A service that publishes these files under its routes. */
function serviceOf(routes: Readonly<Record<string, Uint8Array | null>>) {
  return async (url: string): Promise<Response> => {
    const bytes = routes[new URL(url).pathname];
    return bytes == null ? new Response("", { status: 404 }) : new Response(Buffer.from(bytes));
  };
}

async function proofRecord(one: WholeCase): Promise<Outcome> {
  const code = one.code ?? "";
  const api = `/api/passport/verify/${code}`;
  const routes = { [api]: oneFile(one, "record").bytes, [`${api}/document`]: oneFile(one, "sealed").bytes };
  return outcomeOf(
    await verifyUrl({ kind: "proof", base: "http://seal.example", code }, contextOf(one), serviceOf(routes)),
  );
}

async function roomRecord(one: WholeCase): Promise<Outcome> {
  const code = one.code ?? "";
  const api = `/api/verify/room/${code}`;
  const pdf = filesOf(one, "certificate")[0]?.bytes ?? null;
  const routes = { [api]: oneFile(one, "record").bytes, [`${api}/pdf`]: pdf };
  return outcomeOf(
    await verifyUrl({ kind: "room", base: "http://seal.example", code }, contextOf(one), serviceOf(routes)),
  );
}

async function closingSet(one: WholeCase): Promise<Outcome> {
  const pieces = [
    ...filesOf(one, "records").map(roomRecordPiece),
    ...filesOf(one, "manifests").map(({ path, bytes }) => ({ path, manifest: bytes })),
    ...filesOf(one, "certificates").map(({ path, bytes }) => ({ path, certificate: bytes })),
  ];
  return outcomeOf(await verifyClosingSet(pieces, contextOf(one)));
}

async function roomDocument(one: WholeCase): Promise<Outcome> {
  const { path, bytes } = oneFile(one, "certificate");
  assert.ok(await isClosingCertificate(bytes));
  assert.ok(!(await isClosingCertificate(oneFile(one, "document").bytes)));
  return outcomeOf(await verifyRoomDocuments([{ path, certificate: bytes }], filesOf(one, "document"), contextOf(one)));
}

async function custodySet(one: WholeCase): Promise<Outcome> {
  const [document] = filesOf(one, "document");
  const files = document === undefined ? {} : { document };
  const report = await verifySealedPdf(oneFile(one, "certificate"), files, contextOf(one));
  assert.equal(report.isOfAnotherFile, one.anotherFile ?? false);
  return outcomeOf(report);
}

const runners: Readonly<Record<string, (one: WholeCase) => Promise<Outcome>>> = {
  sealed_pdf: sealedPdf,
  evidence_zip: evidenceZip,
  proof_record: proofRecord,
  room_record: roomRecord,
  closing_set: closingSet,
  room_document: roomDocument,
  custody_set: custodySet,
};

async function run(one: WholeCase): Promise<void> {
  const runner = runners[one.kind];
  assert.ok(runner, one.kind);
  const outcome = await runner(one);
  assertClaims(outcome, one);
  assert.equal(outcome.verdict, one.verdict, JSON.stringify(outcome.claims));
}

/** Test vectors of whole files, verified as the command line does it. */
export const wholeChecks = (): VectorCheck[] =>
  wholeCases.map((one) => {
    const [file] = Object.values(one.files).flat();
    return { name: `${one.kind} ${file}: ${one.name}: ${one.verdict}`, run: () => run(one) };
  });
