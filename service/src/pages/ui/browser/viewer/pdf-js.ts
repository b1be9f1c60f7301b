import type * as PdfJs from "pdfjs-dist";

/**
 * Loads pdf.js from its folder. Returns it with the options that contain the URLs of its other files. The browser loads
 * the worker script and the main script at the same time.
 * @param folder the URL of the folder, with a slash at the end
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
    // The page's content security policy forbids WebAssembly, so pdf.js uses its plain JavaScript instead.
    useWasm: false,
  };
  return { pdfJs, options };
}
