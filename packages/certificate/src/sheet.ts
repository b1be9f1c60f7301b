import { addResources, type Canvas, createCanvas } from "./canvas.ts";
import { createGlyphFonts } from "./glyph-fonts.ts";
import type { ObjectWriter } from "./pdf-file.ts";

/** US Letter in points; the origin is the lower left corner. */
export const pageSize = { width: 612, height: 792 } as const;

/** Pages that are drawn on. */
export type Sheets = Omit<Canvas, "operators"> & {
  /** Begins a page; what is drawn from now on is on it. */
  newPage: () => void;
  /** To an earlier page again, counted from 0. */
  turnTo: (page: number) => void;
  pageCount: () => number;
  /** A link to a URL. */
  link: (x: number, y: number, width: number, height: number, url: string) => void;
  /** Adds the pages to a file. @param parent the reference of the tree that theirs is to be a part of @returns the reference of their tree */
  addTo: (file: ObjectWriter, parent?: string) => string;
};

type Page = { canvas: Canvas; links: string[] };

export function createSheets(): Sheets {
  const glyphs = createGlyphFonts();
  const emptyPage = (): Page => ({ canvas: createCanvas(glyphs), links: [] });
  const pages: Page[] = [];
  let page = emptyPage();

  return {
    newPage() {
      page = emptyPage();
      pages.push(page);
    },
    turnTo(number) {
      page = pages[number] ?? page;
    },
    pageCount: () => pages.length,
    text: (...given) => page.canvas.text(...given),
    rectangle: (...given) => page.canvas.rectangle(...given),
    drawing: (...given) => page.canvas.drawing(...given),
    link(x, y, width, height, url) {
      const rect = [x, y, x + width, y + height].map((value) => Math.round(value * 100) / 100).join(" ");
      const uri = encodeURI(decodeURI(url)).replace(/[\\()]/g, "\\$&");
      page.links.push(
        `<</Type/Annot/Subtype/Link/F 4/Border[0 0 0]/Rect[${rect}]/A<</Type/Action/S/URI/URI(${uri})>>>>`,
      );
    },
    addTo(file, parent) {
      const tree = file.reserve();
      const resources = addResources(file, glyphs);
      const kids = pages.map(({ canvas, links }) => {
        const content = file.stream("", canvas.operators());
        const annotations = links.length > 0 ? `/Annots[${links.map(file.add).join(" ")}]` : "";
        return file.add(`<</Type/Page/Parent ${tree.ref}/Contents ${content}${annotations}>>`);
      });
      tree.fill(
        `<</Type/Pages${parent === undefined ? "" : `/Parent ${parent}`}/Count ${kids.length}/Kids[${kids.join(" ")}]/Resources ${resources}` +
          `/MediaBox[0 0 ${pageSize.width} ${pageSize.height}]>>`,
      );
      return tree.ref;
    },
  };
}
