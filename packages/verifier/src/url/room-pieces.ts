import { UsageError } from "../errors.ts";
import type { ClosingPiece } from "../files/closing-set.ts";
import { type Fetch, fetchBounded, fetchLimits } from "./fetch-bounded.ts";
import { roomRecord, type VerifyUrl } from "./verify-url.ts";

/**
 * What a service publishes of one version of a Closing Passport: its manifest, and its certificate where it is kept.
 *
 * @throws UsageError when the URL is that of a proof passport, or nothing usable is answered
 */
export async function roomPieces({ kind, base, code }: VerifyUrl, fetch: Fetch): Promise<ClosingPiece[]> {
  const url = `${base}/api/verify/room/${code}`;
  if (kind !== "room") throw new UsageError(`${url}: --with goes with the verify URLs of one room`);
  const answer = await fetchBounded(fetch, url, fetchLimits.jsonBytes);
  if (!answer.ok || answer.status !== 200)
    throw new UsageError(answer.ok ? `${url} answered ${answer.status}` : answer.why);
  const record = roomRecord(parsed(answer.bytes, url));
  if (typeof record === "string") throw new UsageError(`${url}: ${record}`);
  const { manifest } = record.version;
  const pdf = await fetchBounded(fetch, `${url}/pdf`, fetchLimits.fileBytes);
  return [
    ...(manifest === undefined ? [] : [{ path: url, manifest }]),
    ...(pdf.ok && pdf.status === 200 ? [{ path: `${url}/pdf`, certificate: pdf.bytes }] : []),
  ];
}

function parsed(bytes: Uint8Array, url: string): object {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Told below like any other answer of the wrong shape.
  }
  throw new UsageError(`${url} did not answer with a JSON object`);
}
