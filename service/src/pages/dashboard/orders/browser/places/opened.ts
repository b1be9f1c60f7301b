import type { PDFDocumentProxy } from "pdfjs-dist";
import type { loadPdfJs } from "../../../../ui/browser/viewer/pdf-js.ts";
import type { Size } from "./field.ts";

/** The chosen document, and the sizes of its pages as shown: in points, after rotation, cropping and scaling. */
export type OpenDocument = {
  readonly pdfJs: Awaited<ReturnType<typeof loadPdfJs>>["pdfJs"];
  readonly document: PDFDocumentProxy;
  readonly pageSize: (page: number) => Size;
  /** Resolves when all sizes are known, or reading them failed. Pages not read yet have the size of the first. */
  readonly sizesRead: Promise<void>;
};

export async function openDocument(
  { pdfJs, options }: Awaited<ReturnType<typeof loadPdfJs>>,
  data: ArrayBuffer,
): Promise<OpenDocument> {
  // All documents share one worker, so the worker is passed explicitly. Otherwise, closing one document would end the
  // worker for the other documents.
  const worker = pdfJs.PDFWorker.create({ port: pdfJs.GlobalWorkerOptions.workerPort ?? undefined });
  const document = await pdfJs.getDocument({ data: new Uint8Array(data), worker, ...options }).promise;
  const sizes: Size[] = [];
  const read = async (page: number) => {
    const { width, height } = (await document.getPage(page)).getViewport({ scale: 1 });
    sizes[page] = { width, height };
  };
  await read(1);
  const readAll = async () => {
    for (let page = 2; page <= document.numPages; page++) await read(page);
  };
  return {
    pdfJs,
    document,
    pageSize: (page) => sizes[page] ?? sizes[1] ?? { width: 612, height: 792 },
    // Reading the sizes fails if the document is closed meanwhile. Then nobody needs them, so the error is ignored.
    sizesRead: readAll().catch(() => {}),
  };
}
