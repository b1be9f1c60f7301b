import type { StreamedBody } from "./transport.ts";

/**
 * Bytes of a PDF: in memory, as a Blob (Node's `openAsBlob` streams the file), or as a function that opens a new stream
 * for each attempt.
 */
export type Pdf = Uint8Array | Blob | (() => AsyncIterable<Uint8Array>);

/** A PDF and its file name. */
export type NamedPdf = { pdf: Pdf; fileName: string };

/**
 * Builds a multipart form with the file last, as the service requires.
 * @throws TypeError if the document is neither bytes, nor a Blob, nor a function that opens a stream
 */
export function formWith(
  fields: readonly [string, string][],
  file: [name: string, given: Pdf | NamedPdf] | null,
): FormData | StreamedBody {
  const [name, document] = file ?? [];
  const { pdf, fileName } = isNamed(document) ? document : { pdf: document, fileName: "document.pdf" };
  if (name !== undefined && typeof pdf === "function") return streamed(fields, { name, pdf, fileName });
  const form = new FormData();
  for (const field of fields) form.append(...field);
  if (name !== undefined) form.append(name, pdfBlob(pdf), fileName);
  return form;
}

const isNamed = (document: unknown): document is NamedPdf =>
  typeof document === "object" && document !== null && "fileName" in document;

function pdfBlob(pdf: unknown): Blob {
  if (pdf instanceof Blob) return pdf;
  // Without this check, the string of a path would be uploaded as the document.
  if (!(pdf instanceof Uint8Array))
    throw new TypeError(
      "The document must be the bytes of a PDF: a Uint8Array, a Blob, or a function that opens a stream.",
    );
  return new Blob([new Uint8Array(pdf)], { type: "application/pdf" });
}

type StreamedFile = { name: string; pdf: () => AsyncIterable<Uint8Array>; fileName: string };

/** Writes the multipart form itself (RFC 7578), because `FormData` can't hold a stream of unknown length. */
function streamed(fields: readonly [string, string][], { name, pdf, fileName }: StreamedFile): StreamedBody {
  const boundary = `sdk-${crypto.randomUUID()}`;
  const part = (disposition: string, more = "") =>
    `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n${more}\r\n`;
  const head = [
    ...fields.map(([field, value]) => `${part(`name="${quoted(field)}"`)}${value}\r\n`),
    part(`name="${quoted(name)}"; filename="${quoted(fileName)}"`, "Content-Type: application/pdf\r\n"),
  ].join("");
  const text = new TextEncoder();
  async function* chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    yield text.encode(head);
    yield* pdf();
    yield text.encode(`\r\n--${boundary}--\r\n`);
  }
  return { contentType: `multipart/form-data; boundary=${boundary}`, open: () => streamOf(chunks()) };
}

const quoted = (value: string): string =>
  value.replace(/[\r\n"]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);

const streamOf = (chunks: AsyncGenerator<Uint8Array, void, undefined>): ReadableStream<Uint8Array> =>
  new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => {
      await chunks.return();
    },
  });
