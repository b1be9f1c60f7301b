import { EvidenceError } from "@signsealship/evidence/errors";
import {
  evidenceNames,
  jsonKindOf,
  parseProofRecord,
  parseRoomRecord,
  serviceChainClaim,
} from "@signsealship/evidence/records";
import { parseTrustList, type TrustList, trustListPath } from "@signsealship/evidence/seal";
import { parseCertificatesPem } from "@signsealship/evidence/x509";
import { readZip } from "@signsealship/evidence/zip";
import type { Context } from "../context.ts";
import { verifyClosingSet } from "../files/closing-set.ts";
import { asTest, recordChecks, unreadableRecord, verifyEvidenceSet } from "../files/evidence-set.ts";
import { type Check, check, checksOf, failure, type Report, withChecks } from "../files/report.ts";
import { verifySealedPdf } from "../files/sealed-pdf.ts";
import { quoted } from "../files/shell.ts";
import { type Answer, type Fetch, fetchBounded, fetchLimits } from "./fetch-bounded.ts";

/** The parts of a verify URL; `base` has no trailing slash. */
export type VerifyUrl = { readonly kind: "proof" | "room"; readonly base: string; readonly code: string };

const ROUTES = [
  { kind: "proof", path: /^(.*?)\/(?:api\/passport\/)?verify\/([a-z2-7]{26})\/?$/ },
  { kind: "room", path: /^(.*?)\/(?:api\/verify|v)\/room\/([a-z2-7]{26})\/?$/ },
] as const;

/** Parses a verify URL of the API, or the URL of the web page for the same code; null for any other URL. */
export function parseVerifyUrl(text: string): VerifyUrl | null {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return null;
  for (const { kind, path } of ROUTES) {
    const [, prefix, code] = path.exec(url.pathname) ?? [];
    if (prefix !== undefined && code !== undefined) return { kind, base: `${url.origin}${prefix}`, code };
  }
  return null;
}

/**
 * Downloads the published files of a proof or a room, and verifies them locally. The service's own verdict can only
 * lower the result.
 */
export async function verifyUrl(target: VerifyUrl, callerContext: Context, fetch: Fetch): Promise<Report> {
  const get = (path: string, maxBytes: number) => fetchBounded(fetch, `${target.base}${path}`, maxBytes);
  const path = target.kind === "proof" ? "/api/passport/verify" : "/api/verify/room";
  const api = `${path}/${target.code}`;
  const record = jsonIn(await get(api, fetchLimits.jsonBytes), `${target.base}${api}`);
  if (typeof record === "string") return failure("unknown", "not_verified", "service_record", record);
  const { context, source } = await withPublishedTrust(target.base, callerContext, get);
  const report = await (target.kind === "proof" ? verifyProofUrl : verifyRoomUrl)({
    api,
    record,
    context,
    get,
    target,
  });
  const fetched = check("service_record", "holds", "The service knows this code.", `curl ${quoted(target.base + api)}`);
  return { ...report, checks: [fetched, ...source, ...report.checks] };
}

type Get = (path: string, maxBytes: number) => Promise<Answer>;
type Fetched = { api: string; record: Uint8Array; context: Context; get: Get; target: VerifyUrl };

/** The response's bytes if they are a JSON object; otherwise a sentence with the reason. */
function jsonIn(answer: Answer, url: string): Uint8Array | string {
  if (!answer.ok) return `There was no answer: ${answer.why}.`;
  if (answer.status === 404) return "The service does not know this code.";
  if (answer.status !== 200) return `${url} answered with status ${answer.status}.`;
  return jsonKindOf(answer.bytes) === "broken" ? `${url} did not answer with a JSON object.` : answer.bytes;
}

/**
 * Adds the certificates that the service publishes, if `--trust` is not given. The user then trusts the service at this
 * URL to name its own certificate. The certificates are downloaded only over a connection on which nobody else can
 * respond: HTTPS, or the local machine.
 */
async function withPublishedTrust(
  base: string,
  callerContext: Context,
  get: Get,
): Promise<{ context: Context; source: Check[] }> {
  if (callerContext.trust.sealAnchors.length > 0) return { context: callerContext, source: [] };
  const claim = "seal_certificate_source";
  const { protocol, hostname } = new URL(base);
  const unchecked = (why: string) => ({ context: callerContext, source: [check(claim, "unchecked", why)] });
  if (protocol !== "https:" && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)) {
    return unchecked("Without https anybody on the way could name a certificate: none is trusted. See --trust.");
  }
  const published = await publishedTrust(base, get);
  if (typeof published === "string") return unchecked(published);
  const { list, path, command } = published;
  const tsaAnchors = callerContext.trust.tsaAnchors.length > 0 ? callerContext.trust.tsaAnchors : list.tsaAnchors;
  const why = `No --trust was given: what ${base}${path} publishes is trusted.`;
  return {
    context: { ...callerContext, trust: { ...callerContext.trust, ...list, tsaAnchors } },
    source: [check(claim, "holds", why, command)],
  };
}

type Published = { readonly list: TrustList; readonly path: string; readonly command: string };

/**
 * Downloads the trust list of a service, or its present seal certificate if it has no list. Returns a sentence with the
 * reason if it has neither, or if the download is unreadable.
 */
async function publishedTrust(base: string, get: Get): Promise<Published | string> {
  const show = "openssl x509 -noout -subject -fingerprint -sha256";
  try {
    const list = await get(trustListPath, fetchLimits.jsonBytes);
    if (list.ok && list.status === 200) {
      const command = `curl ${quoted(base + trustListPath)}`;
      return { list: parseTrustList(list.bytes), path: trustListPath, command };
    }
    const path = "/seal/certificate.pem";
    const pem = await get(path, fetchLimits.jsonBytes);
    if (!pem.ok || pem.status !== 200) return "The service publishes no certificate. See --trust.";
    // Trusts only the seal's own certificate. Trust in the issuers above it would extend to every certificate that they
    // issue.
    const sealAnchors = parseCertificatesPem(new TextDecoder().decode(pem.bytes)).slice(0, 1);
    const command = `curl ${quoted(base + path)} | ${show}`;
    return { list: { sealAnchors, signerAnchors: [], retired: [], tsaAnchors: [], logs: [] }, path, command };
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error;
    return `The service does not publish a list of certificates that can be read: ${error.message}.`;
  }
}

async function verifyProofUrl({ api, record, context, get, target }: Fetched): Promise<Report> {
  const stated = readOr(() => parseProofRecord(record));
  if (stated instanceof EvidenceError) return unreadableRecord("evidence", stated);
  const files = await evidenceFiles(get, api);
  if (typeof files === "string") return failure("evidence", "not_verified", "evidence", files);
  const report = await verifyEvidenceSet(files, "", context, target.code);
  const path = context.doc?.path ?? evidenceNames.sealed;
  const hashes = files.has(evidenceNames.sealed) || context.doc !== null ? report : { ...report, facts: {} };
  return asTest(withChecks(report, recordChecks(stated, hashes, path, target.code)), stated);
}

function readOr<T>(read: () => T): T | EvidenceError {
  try {
    return read();
  } catch (error) {
    if (error instanceof EvidenceError) return error;
    throw error;
  }
}

/**
 * Downloads the evidence zip and returns its files. Without a zip, returns the sealed PDF alone. Without either, or if
 * the zip is unreadable, returns a sentence with the reason.
 */
async function evidenceFiles(get: Get, api: string): Promise<ReadonlyMap<string, Uint8Array> | string> {
  const zip = await get(`${api}/evidence`, fetchLimits.fileBytes);
  if (zip.ok && zip.status === 200) {
    try {
      return readZip(zip.bytes);
    } catch (error) {
      if (error instanceof EvidenceError) return `The evidence cannot be read: ${error.message}.`;
      throw error;
    }
  }
  const document = await get(`${api}/document`, fetchLimits.fileBytes);
  if (document.ok && document.status === 200) return new Map([[evidenceNames.sealed, document.bytes]]);
  return zip.ok
    ? "The service has neither evidence nor a sealed PDF for this code."
    : `There was no answer: ${zip.why}.`;
}

async function verifyRoomUrl({ api, record, context, get }: Fetched): Promise<Report> {
  const stated = readOr(() => parseRoomRecord(record));
  if (stated instanceof EvidenceError) return unreadableRecord("room_record", stated);
  const { chainOk: _, ...version } = stated;
  const serviceChecks = checksOf([serviceChainClaim(stated)]);
  const pdf = await get(`${api}/pdf`, fetchLimits.fileBytes);
  if (!pdf.ok || pdf.status !== 200) return withChecks(await verifyClosingSet([], context, [version]), serviceChecks);
  const file = { path: `service-closing-passport-v${version.version}.pdf`, bytes: pdf.bytes };
  return withChecks(await verifySealedPdf(file, { closing: version }, context), serviceChecks);
}
