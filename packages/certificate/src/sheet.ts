import { createGlyphFonts, type GlyphFont, toUnicodeMap } from "./glyph-fonts.ts";
import type { PdfFile } from "./pdf-file.ts";
import type { Line } from "./typeset.ts";

/** Red, green and blue as `#rrggbb`. */
export type Colour = `#${string}`;

/** US Letter in points; the origin is the lower left corner. */
export const pageSize = { width: 612, height: 792 } as const;

/** Pages that are drawn on. */
export type Sheets = {
  /** Begins a page; what is drawn from now on is on it. */
  newPage: () => void;
  /** To an earlier page again, counted from 0. */
  turnTo: (page: number) => void;
  pageCount: () => number;
  text: (line: Line, x: number, baseline: number, size: number, colour: Colour) => void;
  rectangle: (x: number, y: number, width: number, height: number, colour: Colour) => void;
  /** Path operators in a coordinate system of its own, with its origin at x, y. */
  drawing: (x: number, y: number, scale: number, operators: string) => void;
  /** A link to a URL. */
  link: (x: number, y: number, width: number, height: number, url: string) => void;
  /** Adds the pages to a file. @returns the reference of their tree */
  addTo: (file: PdfFile) => string;
};

type Page = { operators: string[]; links: string[] };

const short = (value: number): string => String(Math.round(value * 100) / 100);

export function colourOperands(colour: Colour): string {
  const part = (at: number) => short(Number.parseInt(colour.slice(at, at + 2), 16) / 255);
  return `${part(1)} ${part(3)} ${part(5)}`;
}

export function createSheets(): Sheets {
  const glyphs = createGlyphFonts();
  const pages: Page[] = [];
  let page: Page = { operators: [], links: [] };
  const put = (operators: string) => page.operators.push(operators);

  return {
    newPage() {
      page = { operators: [], links: [] };
      pages.push(page);
    },
    turnTo(number) {
      page = pages[number] ?? page;
    },
    pageCount: () => pages.length,
    text(line, x, baseline, size, colour) {
      put(`BT ${colourOperands(colour)} rg 1 0 0 1 ${short(x)} ${short(baseline)} Tm\n${showing(line)} ET`);

      function showing({ clusters }: Line): string {
        const out: string[] = [];
        let font = -1;
        let ahead = 0;
        let shown = "";
        const flush = () => {
          if (shown !== "") out.push(`[${shown}]TJ`);
          shown = "";
        };
        for (const cluster of clusters) {
          const code = glyphs.codeOf(cluster);
          if (code.font !== font) {
            flush();
            out.push(`/F${code.font} ${size} Tf`);
            font = code.font;
          }
          const back = Math.round(ahead);
          if (back !== 0) shown += back;
          shown += `<${code.code.toString(16).padStart(2, "0")}>`;
          ahead += code.width - cluster.advance - back;
        }
        flush();
        return out.join(" ");
      }
    },
    rectangle(x, y, width, height, colour) {
      put(`${colourOperands(colour)} rg ${short(x)} ${short(y)} ${short(width)} ${short(height)} re f`);
    },
    drawing(x, y, scale, operators) {
      put(`q ${short(scale)} 0 0 ${short(scale)} ${short(x)} ${short(y)} cm ${operators} Q`);
    },
    link(x, y, width, height, url) {
      const rect = [x, y, x + width, y + height].map(short).join(" ");
      const uri = encodeURI(decodeURI(url)).replace(/[\\()]/g, "\\$&");
      page.links.push(
        `<</Type/Annot/Subtype/Link/F 4/Border[0 0 0]/Rect[${rect}]/A<</Type/Action/S/URI/URI(${uri})>>>>`,
      );
    },
    addTo(file) {
      const tree = file.reserve();
      const fonts = glyphs.fonts.map((font, index) => `/F${index} ${addFont(file, font)}`).join("");
      const resources = file.add(`<</Font<<${fonts}>>>>`);
      const kids = pages.map(({ operators, links }) => {
        const content = file.stream("", operators.join("\n"));
        const annotations = links.length > 0 ? `/Annots[${links.map(file.add).join(" ")}]` : "";
        return file.add(`<</Type/Page/Parent ${tree.ref}/Contents ${content}${annotations}>>`);
      });
      tree.fill(
        `<</Type/Pages/Count ${kids.length}/Kids[${kids.join(" ")}]/Resources ${resources}` +
          `/MediaBox[0 0 ${pageSize.width} ${pageSize.height}]>>`,
      );
      return tree.ref;
    },
  };
}

function addFont(file: PdfFile, font: GlyphFont): string {
  const names = font.procedures.map((_, code) => `/g${code}`).join("");
  const procedures = font.procedures.map((procedure, code) => `/g${code} ${file.stream("", procedure)}`).join("");
  const map = file.stream("", toUnicodeMap(font));
  return file.add(
    `<</Type/Font/Subtype/Type3/FontBBox[0 0 0 0]/FontMatrix[.001 0 0 .001 0 0]/FirstChar 0` +
      `/LastChar ${font.widths.length - 1}/Widths[${font.widths.join(" ")}]/CharProcs<<${procedures}>>` +
      `/Encoding<</Type/Encoding/Differences[0${names}]>>/Resources<<>>/ToUnicode ${map}>>`,
  );
}
