import { checkFiles } from "./check.ts";
import type { ReadersTrust, VerifyConfig } from "./config.ts";
import type { NamedBytes } from "./files.ts";
import type { Outcome } from "./outcome.ts";

const maxFiles = 64;
const maxTotalBytes = 256 * 1024 * 1024;
const reportEveryBytes = 1024 * 1024;

/** The worker's part of the script: reads the files from disk and verifies them. Nothing leaves the browser. */
export function startWorker(): void {
  const send = (report: CheckReport) => globalThis.postMessage(report);
  globalThis.addEventListener("message", ({ data }: MessageEvent<CheckRequest>) => {
    check(data, send).catch((error) => send({ kind: "broken", why: String(error) }));
  });
}

async function check({ files, ...rest }: CheckRequest, send: (report: CheckReport) => void): Promise<void> {
  const total = files.reduce((sum, { size }) => sum + size, 0);
  if (files.length > maxFiles || total > maxTotalBytes) {
    const why = `More than ${maxFiles} files or ${maxTotalBytes >> 20} MB at once. Choose the documents’ zip without unpacking it, or fewer files.`;
    send({ kind: "broken", why });
    return;
  }
  let read = 0;
  let reported = 0;
  const named: NamedBytes[] = [];
  for (const file of files) {
    const bytes = await bytesOf(file, (length) => {
      read += length;
      if (read - reported < reportEveryBytes && read < total) return;
      reported = read;
      send({ kind: "reading", read, total });
    });
    named.push({ name: file.name, bytes });
  }
  send({ kind: "checking" });
  send({ kind: "done", outcomes: await checkFiles({ ...rest, files: named, subtle: crypto.subtle }) });
}

async function bytesOf(file: File, onChunk: (length: number) => void): Promise<Uint8Array> {
  const bytes = new Uint8Array(file.size);
  const reader = file.stream().getReader();
  let at = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    bytes.set(part.value, at);
    at += part.value.length;
    onChunk(part.value.length);
  }
  return bytes;
}

/** The page's request to its worker. */
export type CheckRequest = {
  readonly files: readonly File[];
  readonly config: VerifyConfig;
  readonly trust: ReadersTrust;
  /** The time of the verification, in epoch ms. */
  readonly at: number;
};

/** The worker's reports: progress in bytes, then the outcomes or an error. */
export type CheckReport =
  | { readonly kind: "reading"; readonly read: number; readonly total: number }
  | { readonly kind: "checking" }
  | { readonly kind: "done"; readonly outcomes: readonly Outcome[] }
  | { readonly kind: "broken"; readonly why: string };
