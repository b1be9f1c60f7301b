import { hash } from "node:crypto";
import type { ColumnCipher } from "../../kernel/platform/column-cipher.ts";

export const exchangeColumn = "webhook_deliveries.exchange";

/**
 * An endpoint's response, with limits on its size. `body` contains the first bytes of the body; `isCut` is true if
 * there were more.
 */
export type Answer = { headers: Record<string, string>; body: Buffer; isCut: boolean };

/** The HTTP exchange of one delivery. Only the hash of the sent body is stored (contract, Webhook management). */
export type Exchange = { requestHeaders: Record<string, string>; bodySha256: Buffer; answer: Answer | null };

export const bodyHash = (body: Uint8Array): Buffer => hash("sha256", body, "buffer");

export const sealExchange = (cipher: ColumnCipher, seq: number, { requestHeaders, bodySha256, answer }: Exchange) =>
  cipher.encrypt(
    Buffer.from(
      JSON.stringify({
        requestHeaders,
        bodySha256: bodySha256.toString("hex"),
        answer: answer && { ...answer, body: answer.body.toString("base64") },
      }),
    ),
    String(seq),
  );

type Stored = {
  requestHeaders: Record<string, string>;
  bodySha256: string;
  answer: { headers: Record<string, string>; body: string; isCut: boolean } | null;
};

export function openExchange(cipher: ColumnCipher, seq: number, sealed: Buffer): Exchange {
  const { requestHeaders, bodySha256, answer } = JSON.parse(cipher.decrypt(sealed, String(seq)).toString()) as Stored;
  return {
    requestHeaders,
    bodySha256: Buffer.from(bodySha256, "hex"),
    answer: answer && { ...answer, body: Buffer.from(answer.body, "base64") },
  };
}
