import type { PDFDataRangeTransport } from "pdfjs-dist";

/** What pdf.js asks for at once; a document's first and last parts are asked for before it says so. */
export const partBytes = 1 << 16;

export type DocumentBytes = {
  /** Gives pdf.js what it asks for. */
  serve: (transport: PDFDataRangeTransport) => void;
  /** Rejects when a part cannot be had: pdf.js would wait for ever. */
  failed: Promise<never>;
};

/** Fetches a document part by part. A reader begins at its end, and then goes to the beginning: both are under way at once. */
export function fetchDocument(url: string, length: number): DocumentBytes {
  const lastPart = Math.floor((length - 1) / partBytes);
  // The last part alone may be a few bytes.
  const tail = Math.max(lastPart - 1, 0) * partBytes;
  const ahead = [...new Set([0, tail])].map((begin) => {
    const end = begin === tail ? length : partBytes;
    return { begin, end, bytes: fetchRange(url, begin, end) };
  });
  const failure = Promise.withResolvers<never>();
  for (const { bytes } of ahead) bytes.catch(failure.reject);
  // Whoever reads nothing any more is told nothing.
  failure.promise.catch(() => {});

  function read(begin: number, end: number): Promise<ArrayBuffer> {
    const held = ahead.find((part) => part.begin <= begin && end <= part.end);
    return held
      ? held.bytes.then((bytes) => bytes.slice(begin - held.begin, end - held.begin))
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

async function fetchRange(url: string, begin: number, end: number): Promise<ArrayBuffer> {
  const answer = await fetch(url, { headers: { Range: `bytes=${begin}-${end - 1}` } });
  const bytes = answer.status === 206 ? await answer.arrayBuffer() : null;
  if (bytes?.byteLength !== end - begin) throw new Error(`the document was not sent: ${answer.status}`);
  return bytes;
}
