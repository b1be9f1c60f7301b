import { UsageError } from "../errors.ts";
import { type ClosingPiece, roomRecordPiece } from "../files/closing-set.ts";
import { type Fetch, fetchBounded, fetchLimits } from "./fetch-bounded.ts";
import type { VerifyUrl } from "./verify-url.ts";

/**
 * Fetches the published pieces of one Closing Passport version: its manifest, and its certificate if it is stored.
 *
 * @throws UsageError when the URL is that of a proof passport, or there is no answer; EvidenceError for a refused
 * record
 */
export async function roomPieces({ kind, base, code }: VerifyUrl, fetch: Fetch): Promise<ClosingPiece[]> {
  const url = `${base}/api/verify/room/${code}`;
  if (kind !== "room") throw new UsageError(`${url}: --with goes with the verify URLs of one room`);
  const answer = await fetchBounded(fetch, url, fetchLimits.jsonBytes);
  if (!answer.ok || answer.status !== 200)
    throw new UsageError(answer.ok ? `${url} answered ${answer.status}` : answer.why);
  const pdf = await fetchBounded(fetch, `${url}/pdf`, fetchLimits.fileBytes);
  return [
    roomRecordPiece({ path: url, bytes: answer.bytes }),
    ...(pdf.ok && pdf.status === 200 ? [{ path: `${url}/pdf`, certificate: pdf.bytes }] : []),
  ];
}
