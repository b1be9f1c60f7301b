import type * as PdfJs from "pdfjs-dist";

/**
 * Loads pdf.js from its folder, with the files that it needs to read a document. The worker is loaded at the same time
 * as the part for the page.
 * @param folder the address of the files' folder, with a slash at the end
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
    // The page's policy forbids WebAssembly; pdf.js has the same code as plain script.
    useWasm: false,
  };
  return { pdfJs, options };
}
