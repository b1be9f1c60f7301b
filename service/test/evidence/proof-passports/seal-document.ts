import assert from "node:assert/strict";

export type SealAnswer = {
  passportId: string;
  verifyCode: string;
  verifyUrl: string;
  docSha256: string;
  sealedSha256: string;
  status: string;
  environment: string;
  timestamps: {
    rfc3161: { authority: string; timestampedAtUtc: string } | null;
    openTimestamps: { calendar: string; submittedAtUtc: string; status: string } | null;
  };
  log: { origin: string; state: string };
};

export type Caller = { baseUrl: string; headers: Record<string, string> };

export function fileForm(bytes: Uint8Array, part = "file"): FormData {
  const form = new FormData();
  form.append(part, new Blob([new Uint8Array(bytes)], { type: "application/pdf" }), "document.pdf");
  return form;
}

export const postSeal = ({ baseUrl, headers }: Caller, body: FormData): Promise<Response> =>
  fetch(`${baseUrl}/api/passport/seal`, { method: "POST", headers, body });

export async function seal(caller: Caller, bytes: Uint8Array): Promise<SealAnswer> {
  const response = await postSeal(caller, fileForm(bytes));
  assert.equal(response.status, 200, await response.clone().text());
  return (await response.json()) as SealAnswer;
}

/** Asserts the status of a refusal. @returns its message */
export async function errorOf(response: Response, status = 400): Promise<string> {
  assert.equal(response.status, status, await response.clone().text());
  const body = (await response.json()) as { error: string };
  assert.deepEqual(Object.keys(body), ["error"]);
  return body.error;
}

export const bytesOf = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer());
