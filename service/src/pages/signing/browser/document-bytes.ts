import type { PDFDataRangeTransport } from "pdfjs-dist";
import { part } from "../../ui/browser/parts.ts";
import { hashOf, tellHash } from "../../ui/browser/viewer/room.ts";
import type { SigningConfig } from "./config.ts";

/**
 * The size of the chunks that pdf.js requests. The first and the last chunks are fetched before pdf.js asks for them.
 */
export const partBytes = 1 << 16;

export type DocumentBytes = {
  /** Answers the range requests of pdf.js. */
  serve: (transport: PDFDataRangeTransport) => void;
  /** Never resolves. Rejects when a range can't be fetched, because pdf.js itself would wait forever. */
  failed: Promise<never>;
};

/** Fetches a document in ranges. A PDF reader first reads the end, then the beginning, so both are prefetched. */
export function fetchDocument(url: string, length: number): DocumentBytes {
  const lastPart = Math.floor((length - 1) / partBytes);
  // The last chunk may have only a few bytes, so the one before it is fetched as well.
  const tail = Math.max(lastPart - 1, 0) * partBytes;
  const ahead = [...new Set([0, tail])].map((begin) => {
    const end = begin === tail ? length : partBytes;
    return { begin, end, bytes: fetchRange(url, begin, end) };
  });
  const failure = Promise.withResolvers<never>();
  for (const { bytes } of ahead) bytes.catch(failure.reject);
  // Avoids an unhandled rejection if a range fails when nobody waits for `failed` any more.
  failure.promise.catch(() => {});

  function read(begin: number, end: number): Promise<ArrayBuffer> {
    const prefetched = ahead.find((part) => part.begin <= begin && end <= part.end);
    return prefetched
      ? prefetched.bytes.then((bytes) => bytes.slice(begin - prefetched.begin, end - prefetched.begin))
      : fetchRange(url, begin, end);
  }

  return {
    failed: failure.promise,
    serve(transport) {
      transport.requestDataRange = (begin: number, end: number) => {
        read(begin, end).then((bytes) => transport.onDataRange(begin, new Uint8Array(bytes)), failure.reject);
      };
    },
  };
}

/** Without this limit, a silently broken connection would block the signer forever. */
const silenceMs = 60_000;

/**
 * Fetches a range of the document, however slowly its bytes arrive.
 * @throws Error when the request fails, when no byte has arrived for a minute, or when the response is not the range
 */
async function fetchRange(url: string, begin: number, end: number): Promise<ArrayBuffer> {
  const silence = new AbortController();
  const wait = () => setTimeout(() => silence.abort(), silenceMs);
  let timer = wait();
  try {
    const headers = { Range: `bytes=${begin}-${end - 1}` };
    const { status, body } = await fetch(url, { headers, signal: silence.signal });
    const bytes = new Uint8Array(end - begin);
    const reader = status === 206 ? body?.getReader() : undefined;
    let at = 0;
    for (let piece = await reader?.read(); piece?.value; piece = await reader?.read()) {
      clearTimeout(timer);
      timer = wait();
      // Throws if the response has more bytes than the range.
      bytes.set(piece.value, at);
      at += piece.value.length;
    }
    if (at !== bytes.length) throw new Error(`the document was not sent: ${status}`);
    return bytes.buffer;
  } finally {
    clearTimeout(timer);
  }
}

/** Disables the Sign button. `checkBytes` enables it again, unless the hashes differ. */
export function holdSigning({ words }: Pick<SigningConfig, "words">): void {
  part<HTMLButtonElement>("sign-button").disabled = true;
  part("sign-check").textContent = words.checking;
}

/**
 * Compares the hash of the displayed bytes with the hash to be signed, and shows the result. If the hashes differ,
 * signing stays disabled. If they can't be compared, because of a failed load or a missing `crypto.subtle`, the signer
 * can still sign.
 * @param bytes loads the whole displayed file
 * @param onEqual called when the hashes are equal, before the button is enabled
 */
export async function checkBytes(
  { sha256, words }: SigningConfig,
  bytes: () => Promise<Uint8Array>,
  onEqual: (bytes: Uint8Array) => void,
): Promise<void> {
  const [message, button] = [part("sign-check"), part<HTMLButtonElement>("sign-button")];
  const equal = await sameHash(bytes, sha256, onEqual).catch(() => null);
  message.textContent = equal === null ? words.unchecked : equal ? words.checked : words.altered;
  message.classList.toggle("field-error", equal === false);
  button.disabled = equal === false;
}

/**
 * True if the displayed bytes have the hash to be signed; `onEqual` is then called. Null without `crypto.subtle`, which
 * browsers offer only on https pages.
 */
async function sameHash(
  bytes: () => Promise<Uint8Array>,
  sha256: string,
  onEqual: (bytes: Uint8Array) => void,
): Promise<boolean | null> {
  if (!globalThis.crypto?.subtle) return null;
  const whole = await bytes();
  const found = await hashOf(whole);
  if (found === null) return null;
  tellHash(found);
  const isEqual = found === sha256;
  if (isEqual) onEqual(whole);
  return isEqual;
}
