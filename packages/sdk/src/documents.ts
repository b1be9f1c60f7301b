/** Bytes of a PDF, in whatever a form takes. */
export type Pdf = Uint8Array | Blob;

function pdfBlob(pdf: Pdf): Blob {
  if (pdf instanceof Blob) return pdf;
  // Of a path in its place its letters would be sent, or nothing.
  if (!ArrayBuffer.isView(pdf)) throw new TypeError("The document must be the bytes of a PDF: a Uint8Array or a Blob.");
  return new Blob([new Uint8Array(pdf)], { type: "application/pdf" });
}

/** A PDF, and the name of its file. */
export type NamedPdf = { pdf: Pdf; fileName: string };

export const formFile = (given: Pdf | NamedPdf): [Blob, string] =>
  typeof given === "object" && "fileName" in given
    ? [pdfBlob(given.pdf), given.fileName]
    : [pdfBlob(given), "document.pdf"];
