import { createHash } from "node:crypto";
import { toHex } from "@signsealship/evidence/bytes";
import type { Claim } from "@signsealship/evidence/claim";
import { EvidenceError } from "@signsealship/evidence/errors";
import {
  parseTimeStampResp,
  parseTimeStampToken,
  type TimeStampToken,
  type TimeStampVerification,
  verifyTimeStampToken,
} from "@signsealship/evidence/rfc3161";
import { verifyProof } from "@signsealship/evidence/seal";
import type { Context, NamedBytes } from "../context.ts";
import { checksOf, failure, type Report, type Verdict } from "./report.ts";
import { partsCommands, signatureCommand, tokenCommand } from "./seal-commands.ts";
import { sealPartsOf } from "./seal-parts.ts";

type Read = { readonly token: TimeStampToken; readonly status?: number; readonly bare: boolean };

/** Verifies a time-stamp token or response, alone or with the file or sealed PDF that it covers (`--doc`). */
export async function verifyTokenFile({ path, bytes }: NamedBytes, context: Context): Promise<Report> {
  let read: Read;
  try {
    read = readToken(bytes);
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error;
    return failure("time_stamp", "not_verified", "token_readable", `The time stamp cannot be read: ${error.message}.`);
  }
  const { verification, data } = await verifyAgainst(read, context);
  const claims =
    context.doc === null
      ? verification.claims.map((one) => (one.name === "messageImprint" ? withoutDocument(one, read.token) : one))
      : verification.claims;
  const stamp = { token: path, data: "", genTime: verification.genTime, response: !read.bare };
  const commands = new Map<string, string>(claims.map(({ name }) => [name, tokenCommand(stamp, null)]));
  if (data !== null && context.tsaTrustPath !== null) {
    const verify = tokenCommand({ ...stamp, data: data.path }, context.tsaTrustPath);
    commands.set("chain", [...data.commands, verify].join("\n"));
  }
  return {
    verdict: verdictOf(claims),
    kind: "time_stamp",
    checks: checksOf(claims, commands),
    facts: {
      ...(verification.genTime !== null && { genTime: new Date(verification.genTime).toISOString() }),
      ...(read.token.tstInfo !== null && { messageImprint: toHex(read.token.tstInfo.hashedMessage) }),
    },
  };
}

function readToken(bytes: Uint8Array): Read {
  try {
    return { token: parseTimeStampToken(bytes), bare: true };
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error;
    const response = tryResponse(bytes);
    if (response === null) throw error;
    if (response.token === null)
      throw new EvidenceError("rfc3161", `a response of status ${response.status} without a token`);
    return { token: parseTimeStampToken(response.token), status: response.status, bare: false };
  }
}

function tryResponse(bytes: Uint8Array): ReturnType<typeof parseTimeStampResp> | null {
  try {
    return parseTimeStampResp(bytes);
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

/**
 * The file that a token covers, under the name that the printed commands use. If the file does not exist yet,
 * `commands` create it.
 */
type Stamped = { readonly path: string; readonly commands: readonly string[] };

async function verifyAgainst(
  { token, status }: Read,
  context: Context,
): Promise<{ verification: TimeStampVerification; data: Stamped | null }> {
  const { at, crypto, doc, trust } = context;
  const common = { token, anchors: trust.tsaAnchors, at, crypto, ...(status !== undefined && { status }) };
  if (doc === null) {
    return {
      verification: await verifyTimeStampToken({ ...common, stamped: { sha256: ownImprint(token) } }),
      data: null,
    };
  }
  const overFile = await verifyTimeStampToken({ ...common, stamped: { message: doc.bytes } });
  const signature = (await holdsSeal(doc, context)) ? await signatureValueOf(doc) : null;
  if (signature === null || overFile.claims.some(({ name, state }) => name === "messageImprint" && state === "holds")) {
    return { verification: overFile, data: { path: doc.path, commands: [] } };
  }
  const verification = await verifyTimeStampToken({ ...common, stamped: { message: signature.value } });
  return { verification, data: signature.stamped };
}

function ownImprint({ tstInfo }: TimeStampToken): Uint8Array {
  return tstInfo?.hashedMessage ?? createHash("sha256").digest();
}

const ABOUT_TRUST: readonly string[] = ["seal_certificate_trusted", "seal_certificate_valid_at_time", "seal_purpose"];

/**
 * True if the seal in the file signs this file. A signature value can be copied into any file, so it proves nothing
 * alone. Does not check who made the seal.
 */
async function holdsSeal({ bytes }: NamedBytes, { at, crypto }: Context): Promise<boolean> {
  const { claims, seal } = await verifyProof(bytes, { sealAnchors: [], tsaAnchors: [] }, at, { crypto });
  return seal !== null && !claims.some(({ name, state }) => state === "fails" && !ABOUT_TRUST.includes(name));
}

/** The signature value of a sealed PDF, which the seal's time stamp covers; null for a file without one. */
async function signatureValueOf({ path, bytes }: NamedBytes): Promise<{ value: Uint8Array; stamped: Stamped } | null> {
  const parts = await sealPartsOf(bytes);
  const command = parts && signatureCommand(parts);
  if (parts?.signature == null || command === null) return null;
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    .subarray(parts.gapStart + 1, parts.gapStart + 1 + 2 * parts.cmsLength)
    .toString("latin1");
  const { start, length } = parts.signature;
  return {
    value: Uint8Array.from(Buffer.from(hex, "hex").subarray(start, start + length)),
    stamped: { path: "signature.bin", commands: [partsCommands(path, parts), command] },
  };
}

function withoutDocument(one: Claim, { tstInfo }: TimeStampToken): Claim {
  if (tstInfo === null || one.state === "unchecked" || tstInfo.hashAlgorithm === "SHA-1") return one;
  const why = `It is over the ${tstInfo.hashOid === "2.16.840.1.101.3.4.2.1" ? "SHA-256" : "hash"} ${toHex(tstInfo.hashedMessage)}; what has this hash was not given (--doc FILE).`;
  return { ...one, state: "unchecked", why };
}

function verdictOf(claims: readonly Claim[]): Verdict {
  if (claims.some(({ state }) => state === "fails")) return "not_verified";
  const holds = (name: string) => claims.some((one) => one.name === name && one.state === "holds");
  if (!holds("messageImprint")) return "unchecked";
  return holds("chain") ? "verified" : "intact";
}
