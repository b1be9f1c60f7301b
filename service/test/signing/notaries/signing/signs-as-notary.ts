import assert from "node:assert/strict";
import { until } from "@signsealship/testing/until";
import { openPkcs12 } from "../../../../src/pages/operator/browser/pkcs12.ts";
import { password } from "../certificate-files.ts";

/** The functions with which a test requests the notary's pages. */
type Asking = {
  get: (path: string) => Promise<Response>;
  post: (path: string, fields: Record<string, string>) => Promise<Response>;
};

const desk = (code: string, rest = "") => `/operator/notary/orders/${code}${rest}`;
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

/** The error that a page shows for a rejected form. */
export const alertIn = async (answer: Response) =>
  /role="alert"[^>]*>.*?<p>(.*?)<\/p>/s.exec(await answer.text())?.[1] ?? "";

/** Notes an act by the form that the page has filled in. */
export async function notesAct({ get, post }: Asking, code: string, more: Record<string, string> = {}): Promise<void> {
  const page = await (await get(desk(code))).text();
  const form = /action="[^"]*\/act"(.*?)<\/form>/s.exec(page)?.[1] ?? "";
  const typed: Record<string, string> = {};
  for (const [, name = "", value = ""] of form.matchAll(/<input[^>]*?name="([^"]*)"[^>]*?value="([^"]*)"/g))
    typed[name] = value;
  for (const [, name = "", options = ""] of form.matchAll(/<select[^>]*?name="([^"]*)"[^>]*>(.*?)<\/select>/gs))
    typed[name] = /value="([^"]*)"[^>]* selected/.exec(options)?.[1] ?? "";
  for (const [, name = "", text = ""] of form.matchAll(/<textarea[^>]*?name="([^"]*)"[^>]*>(.*?)<\/textarea>/gs))
    typed[name] = text;
  const saved = await post(desk(code, "/act"), { ...typed, document: "Deed", fee: "5.00", ...more });
  assert.equal(saved.status, 303, await alertIn(saved));
}

type Prepared = { signedAttrs: string; lines: string[]; hasSeal: boolean; refused?: string; isVisible: boolean };

/** Signs on the page as the notary, with a certificate file, and confirms the report. */
export async function signsAsNotary({ get, post }: Asking, code: string, p12: Uint8Array): Promise<Prepared> {
  const key = await openPkcs12(p12, password);
  const certificate = base64(key.certificate.der);
  const prepared = (await (await post(desk(code, "/sign/prepare"), { certificate })).json()) as Prepared;
  assert.equal(prepared.refused, undefined);
  assert.equal(prepared.isVisible, true);
  const signature = await key.sign(Buffer.from(prepared.signedAttrs, "base64"));
  const complete = await post(desk(code, "/sign/complete"), { signature: base64(signature) });
  assert.deepEqual(await complete.json(), { next: desk(code, "/signed") });
  const report = await (await get(desk(code, "/signed"))).text();
  const rows = [...report.matchAll(/<tr role="row">(.*?)<\/tr>/gs)].map(([, row = ""]) =>
    row.replaceAll(/<[^>]*>/g, " "),
  );
  assert.deepEqual(
    rows.filter((row) => row.includes("Fails")),
    [],
  );
  const value = (name: string) => new RegExp(`name="${name}"[^>]*? value="([^"]*)"`).exec(report)?.[1] ?? "";
  const confirmed = { sha256: value("sha256"), actSha256: value("actSha256"), warnings: value("warnings") };
  // On a busy machine, a person of a session may be absent for a moment, in which nothing is accepted.
  let refusal = "";
  await until(async () => {
    const ended = await post(desk(code, "/signed"), confirmed);
    if (ended.status === 303) return true;
    refusal = await alertIn(ended);
    assert.equal(ended.status, 409, refusal);
    return false;
  }).catch((error: Error) => Promise.reject(new Error(`${error.message}: ${refusal}`)));
  return prepared;
}
