import { make, part } from "./parts.ts";
import { showPages } from "./viewer/pages.ts";
import { loadPdfJs } from "./viewer/pdf-js.ts";
import { followRoom, hashOf, tellHash, tellPage } from "./viewer/room.ts";
import { frameOf, placeOf, type ViewerWords } from "./viewer/tools.ts";

/** Data for the script of a page with a preview. The page contains it as JSON. */
export type PreviewConfig = {
  readonly document: string;
  /** The URL of the folder with pdf.js. */
  readonly pdfjs: string;
  readonly words: ViewerWords & Readonly<Record<"loading" | "failed", string>>;
};

const config = document.getElementById("preview-config");
if (config) void preview(JSON.parse(config.textContent ?? ""));

/**
 * Shows a document in the page. If that fails, the reader can still download the document. In a frame of a notary's
 * room, notifies the room of the displayed document and page.
 */
async function preview({ document: url, pdfjs, words }: PreviewConfig): Promise<void> {
  const host = part("preview");
  const status = make("p", { className: "quiet-text", textContent: words.loading });
  status.setAttribute("role", "status");
  host.append(status);
  try {
    const [{ pdfJs, options }, data] = await Promise.all([loadPdfJs(pdfjs), bytesOf(url)]);
    // pdf.js transfers the bytes to its worker, so the hash is computed first.
    const sha256 = await hashOf(data);
    const pdf = await pdfJs.getDocument({ data, ...options }).promise;
    const { place, onPage } = placeOf(words, pdf.numPages);
    const inRoom = (page: number) => {
      onPage(page);
      tellPage(page, pdf.numPages);
    };
    const pages = await showPages(pdfJs, pdf, { pageWords: words.page, onPage: inRoom });
    const { viewer, start } = frameOf(words, place, pages);
    host.append(viewer);
    await start();
    status.remove();
    followRoom(pages.pageOf);
    if (sha256 !== null) tellHash(sha256);
  } catch {
    status.textContent = words.failed;
  }
}

async function bytesOf(url: string): Promise<Uint8Array> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`the document was not sent: ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}
