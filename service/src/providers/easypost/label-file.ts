import { type Fetch, requestBounded } from "../../platform/bounds/bounded-request.ts";

const bounds = { timeoutMs: 15_000, maxBytes: 4 * 1024 * 1024 };
const header = Buffer.from("%PDF-");

/**
 * Fetches the PDF of a label. It lies at a store of EasyPost's choice, without a key.
 * @param apiBase of the account: another address than one below it must be https
 * @throws Error saying why it can't be had now
 */
export async function fetchLabelFile(fetch: Fetch, apiBase: string, labelUrl: string): Promise<Buffer> {
  const url = URL.parse(labelUrl);
  if (url?.protocol !== "https:" && url?.origin !== new URL(apiBase).origin)
    throw new Error("the label's address is not https");
  const answer = await requestBounded(fetch, labelUrl, { method: "GET" }, bounds);
  if (!answer.ok) throw new Error(`the label can’t be fetched: ${answer.why}`);
  const file = Buffer.from(answer.body);
  if (answer.status !== 200 || !file.subarray(0, header.length).equals(header))
    throw new Error(`the label can’t be fetched: status ${answer.status}, no PDF`);
  return file;
}
