import type { PDFPageProxy, RenderTask, TextLayer as TextLayerOf } from "pdfjs-dist";
import { fieldValues } from "../../../../kernel/pdf/field-values.ts";
import { make, setNumbers } from "../parts.ts";

// The most pixels of one drawing: sharp on a phone at 400 % zoom, and small enough for its memory.
const maxPixels = 6_000_000;

export type Page = {
  readonly n: number;
  readonly box: HTMLElement;
  drawing: Drawing | null;
  /** The time when the page was drawn, by the clock of `performance.now()`. Infinity until then. */
  drawnAt: number;
};

type Drawing = {
  /** The scale of the drawing. It is set when the drawing begins. */
  readonly scale: number;
  readonly canvas: HTMLCanvasElement;
  text: HTMLElement | null;
  task: RenderTask | null;
};

export type PageSource = {
  readonly TextLayer: typeof TextLayerOf;
  readonly page: (n: number) => Promise<PDFPageProxy>;
};

/** Draws a page, with its text layer on top. A drawing of another size stays visible until the new one is ready. */
export async function drawPage(source: PageSource, page: Page, scale: number): Promise<void> {
  const proxy = await source.page(page.n);
  measure(page.box, proxy);
  const { width, height } = proxy.getViewport({ scale });
  const density = Math.min(devicePixelRatio, Math.sqrt(maxPixels / (width * height)));
  const viewport = proxy.getViewport({ scale: scale * density });
  const canvas = make("canvas", { width: Math.floor(viewport.width), height: Math.floor(viewport.height) });
  canvas.setAttribute("aria-hidden", "true");
  const before = page.drawing;
  const task = proxy.render({ canvas, viewport });
  const drawing: Drawing = { scale, canvas, text: before?.text ?? null, task };
  page.drawing = drawing;
  try {
    await task.promise;
  } catch {
    // The drawing was canceled, because the reader scrolled away from the page.
  } finally {
    before?.canvas.remove();
    drawing.task = null;
  }
  if (page.drawing !== drawing) return;
  page.box.prepend(canvas);
  page.drawnAt = Math.min(page.drawnAt, performance.now());
  drawing.text ??= await addText(source, proxy, drawing);
}

async function addText(
  { TextLayer }: PageSource,
  proxy: PDFPageProxy,
  { canvas, scale }: Drawing,
): Promise<HTMLElement> {
  const container = make("div", { className: "viewer-text" });
  const viewport = proxy.getViewport({ scale });
  const textContentSource = proxy.streamTextContent({ includeMarkedContent: true });
  const layer = new TextLayer({ textContentSource, container, viewport });
  await layer.render().catch(() => {});
  await addValues(proxy, layer.textDivs, container).catch(() => {});
  canvas.after(container);
  return container;
}

/**
 * Adds the values of form fields to the text layer for screen readers. Without that, the values exist only as pixels.
 */
async function addValues(proxy: PDFPageProxy, runs: readonly HTMLElement[], container: HTMLElement): Promise<void> {
  const annotations = await proxy.getAnnotations();
  if (annotations.length === 0) return;
  const { items } = await proxy.getTextContent();
  const viewport = proxy.getViewport({ scale: 1 });
  for (const { text, run, side } of fieldValues(items, annotations, (x, y) => viewport.convertToViewportPoint(x, y))) {
    const value = make("span", { className: "visually-hidden", textContent: ` ${text} ` });
    const next = run === null ? undefined : runs[run];
    if (next) next[side](value);
    else container.append(value);
  }
}

/** Releases the memory of the page. */
export function clear(page: Page): void {
  const { canvas, text, task } = page.drawing ?? {};
  page.drawing = null;
  page.drawnAt = Number.POSITIVE_INFINITY;
  task?.cancel();
  text?.remove();
  canvas?.remove();
  // Safari releases the memory of a canvas only when its size is 0.
  if (canvas) canvas.width = canvas.height = 0;
}

/** Makes the container of a page as large as the page. */
export function measure(box: HTMLElement, proxy: PDFPageProxy): void {
  const { width, height } = proxy.getViewport({ scale: 1 });
  setNumbers(box, { "page-width": width, "page-height": height, "user-unit": proxy.userUnit });
}
