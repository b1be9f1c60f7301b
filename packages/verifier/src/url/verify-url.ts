import { isSha256Hex } from "@signsealship/evidence/digest";
import { EvidenceError } from "@signsealship/evidence/errors";
import { manifestBytes, validateManifest } from "@signsealship/evidence/manifest";
import { evidenceNames } from "@signsealship/evidence/records";
import type { ClosingVersion } from "@signsealship/evidence/seal";
import { parseCertificatesPem } from "@signsealship/evidence/x509";
import { readZip } from "@signsealship/evidence/zip";
import type { Context } from "../context.ts";
import { verifyClosingSet } from "../files/closing-set.ts";
import { asTest, recordChecks, recordOf, verifyEvidenceSet } from "../files/evidence-set.ts";
import { type Check, check, failure, type Report, withChecks } from "../files/report.ts";
import { verifySealedPdf } from "../files/sealed-pdf.ts";
import { quoted } from "../files/shell.ts";
import { type Answer, type Fetch, fetchBounded, fetchLimits } from "./fetch-bounded.ts";

/** A verify URL, taken apart: `base` has no trailing slash. */
export type VerifyUrl = { readonly kind: "proof" | "room"; readonly base: string; readonly code: string };

const ROUTES = [
  { kind: "proof", path: /^(.*?)\/(?:api\/passport\/)?verify\/([a-z2-7]{26})\/?$/ },
  { kind: "room", path: /^(.*?)\/(?:api\/verify|v)\/room\/([a-z2-7]{26})\/?$/ },
] as const;

/** The parts of a verify URL or of the page that shows it; null for any other URL. */
export function parseVerifyUrl(text: string): VerifyUrl | null {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return null;
  for (const { kind, path } of ROUTES) {
    const [, prefix, code] = path.exec(url.pathname) ?? [];
    if (prefix !== undefined && code !== undefined) return { kind, base: `${url.origin}${prefix}`, code };
  }
  return null;
}

/** Fetches what the service publishes of a passport and verifies it here. The service's own verdict counts for nothing. */
export async function verifyUrl(target: VerifyUrl, given: Context, fetch: Fetch): Promise<Report> {
  const get = (path: string, maxBytes: number) => fetchBounded(fetch, `${target.base}${path}`, maxBytes);
  const path = target.kind === "proof" ? "/api/passport/verify" : "/api/verify/room";
  const api = `${path}/${target.code}`;
  const record = readJson(await get(api, fetchLimits.jsonBytes), `${target.base}${api}`);
  if (typeof record === "string") return failure("unknown", "not_verified", "service_record", record);
  const { context, source } = await withPublishedTrust(target.base, given, get);
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
type Fetched = { api: string; record: object; context: Context; get: Get; target: VerifyUrl };

function readJson(answer: Answer, url: string): object | string {
  if (!answer.ok) return `There was no answer: ${answer.why}.`;
  if (answer.status === 404) return "The service does not know this code.";
  if (answer.status !== 200) return `${url} answered with status ${answer.status}.`;
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(answer.bytes));
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Told below like any other answer of the wrong shape.
  }
  return `${url} did not answer with a JSON object.`;
}

/**
 * Without `--trust`, whoever names a service's address trusts that service to say which certificate is its own; it is
 * asked only where nobody on the way could answer in its place.
 */
async function withPublishedTrust(
  base: string,
  given: Context,
  get: Get,
): Promise<{ context: Context; source: Check[] }> {
  if (given.trust.sealAnchors.length > 0) return { context: given, source: [] };
  const claim = "seal_certificate_source";
  const { protocol, hostname } = new URL(base);
  const unchecked = (why: string) => ({ context: given, source: [check(claim, "unchecked", why)] });
  if (protocol !== "https:" && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)) {
    return unchecked("Without https anybody on the way could name a certificate: none is trusted. See --trust.");
  }
  const answer = await get("/seal/certificate.pem", fetchLimits.jsonBytes);
  if (!answer.ok || answer.status !== 200) return unchecked("The service publishes no certificate. See --trust.");
  try {
    // The seal's own certificate alone: trusting its issuers would trust whomever they issue to.
    const sealAnchors = parseCertificatesPem(new TextDecoder().decode(answer.bytes)).slice(0, 1);
    const why = `No --trust was given: the certificate that ${base} publishes is trusted.`;
    const command = `curl ${quoted(`${base}/seal/certificate.pem`)} | openssl x509 -noout -subject -fingerprint -sha256`;
    return {
      context: { ...given, trust: { ...given.trust, sealAnchors } },
      source: [check(claim, "holds", why, command)],
    };
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error;
    return unchecked(`What the service publishes is no certificate: ${error.message}.`);
  }
}

async function verifyProofUrl({ api, record, context, get, target }: Fetched): Promise<Report> {
  const stated = recordOf(record);
  if (stated === null || (record as { verifyCode?: unknown }).verifyCode !== target.code) {
    return failure("evidence", "not_verified", "record_readable", "The service's answer is not about this code.");
  }
  const files = await evidenceFiles(get, api);
  if (typeof files === "string") return failure("evidence", "not_verified", "evidence", files);
  const report = await verifyEvidenceSet(files, "", context);
  const path = context.doc?.path ?? evidenceNames.sealed;
  return asTest(
    withChecks(report, files.has(evidenceNames.sealed) || context.doc ? recordChecks(stated, report, path) : []),
    stated,
  );
}

/** The evidence zip's files, or the sealed PDF alone where there is no zip; a sentence when there is neither. */
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
  const stated = roomRecord(record);
  if (typeof stated === "string") return failure("manifest", "not_verified", "record_readable", stated);
  const { version, chainOk } = stated;
  const said = check(
    "service_chain_ok",
    chainOk ? "unchecked" : "fails",
    chainOk
      ? "The service says that the version before is as linked. Give the other versions with --with to see it."
      : "The service itself says that the chain is broken.",
  );
  const pdf = await get(`${api}/pdf`, fetchLimits.fileBytes);
  if (!pdf.ok || pdf.status !== 200) return withChecks(await verifyClosingSet([], context, [version]), [said]);
  const file = { path: `service-closing-passport-v${version.version}.pdf`, bytes: pdf.bytes };
  return withChecks(await verifySealedPdf(file, { closing: version }, context), [said]);
}

/** A room's verify answer as a version to verify; a sentence when it is none. */
export function roomRecord(record: object): { version: ClosingVersion; chainOk: boolean } | string {
  const { manifest, manifestSha256, sealedSha256, version, chainOk } = record as Record<string, unknown>;
  if (!isSha256Hex(manifestSha256) || !isSha256Hex(sealedSha256) || typeof version !== "number") {
    return "The service's answer states no version and hashes.";
  }
  try {
    const bytes = manifestBytes(validateManifest(manifest));
    return { version: { manifest: bytes, version, manifestSha256, sealedSha256 }, chainOk: chainOk === true };
  } catch (error) {
    if (error instanceof EvidenceError) return `The service's answer holds no manifest: ${error.message}.`;
    throw error;
  }
}
