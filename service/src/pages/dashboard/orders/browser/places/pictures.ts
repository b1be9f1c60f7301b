import { make, setNumbers } from "../../../../ui/browser/parts.ts";
import { boxesOf, type Field } from "./field.ts";
import type { OpenDocument } from "./opened.ts";

/** Of these pages the form has small pictures. */
const mostPictures = 8;
/** In CSS pixels, as the style sheet has it. */
const pictureWidth = 96;

/** Small pictures of the first pages, with the places of the fields on them. */
export function openPictures(host: HTMLElement) {
  let fields: readonly Field[] = [];

  function mark(picture: Element, page: number): void {
    for (const old of picture.querySelectorAll(".places-mark")) old.remove();
    const boxes = fields.filter((field) => field.page === page).flatMap(boxesOf);
    for (const { field, rect } of boxes) {
      const place = make("span", { className: `places-mark of-${field.row}` });
      setNumbers(place, { left: rect.x, top: rect.y, width: rect.width, height: rect.height });
      picture.append(place);
    }
  }

  return {
    clear: () => host.replaceChildren(),
    mark(of: readonly Field[]): void {
      fields = of;
      for (const [index, picture] of [...host.children].entries()) mark(picture, index + 1);
    },
    async draw({ document: pdf }: OpenDocument): Promise<void> {
      const pictures = Array.from({ length: Math.min(pdf.numPages, mostPictures) }, () =>
        make("span", { className: "places-picture" }),
      );
      host.replaceChildren(...pictures);
      for (const [index, picture] of pictures.entries()) {
        if (!picture.isConnected) return;
        const proxy = await pdf.getPage(index + 1);
        const scale = pictureWidth / proxy.getViewport({ scale: 1 }).width;
        const viewport = proxy.getViewport({ scale: scale * Math.min(devicePixelRatio, 2) });
        const canvas = make("canvas", { width: Math.floor(viewport.width), height: Math.floor(viewport.height) });
        setNumbers(picture, { scale });
        picture.prepend(canvas);
        mark(picture, index + 1);
        await proxy.render({ canvas, viewport }).promise;
      }
    },
  };
}
