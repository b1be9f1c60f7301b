import type * as PdfJs from "pdfjs-dist";

/**
 * pdf.js from its folder, with what it needs of it to read a document. Its worker is fetched and read while the page's side is.
 * @param folder the address that its files lie under, with a slash at the end
 */
export async function loadPdfJs(folder: string) {
  const worker = new Worker(`${folder}build/pdf.worker.min.mjs`, { type: "module" });
  const pdfJs = (await import(`${folder}build/pdf.min.mjs`)) as typeof PdfJs;
  pdfJs.GlobalWorkerOptions.workerPort = worker;
  const options = {
    cMapUrl: `${folder}cmaps/`,
    cMapPacked: true,
    standardFontDataUrl: `${folder}standard_fonts/`,
    wasmUrl: `${folder}wasm/`,
    iccUrl: `${folder}iccs/`,
    // The page's policy makes no code of bytes: pdf.js has the same in plain script.
    useWasm: false,
  };
  return { pdfJs, options };
}
