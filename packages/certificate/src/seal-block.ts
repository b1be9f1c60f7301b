import type { Canvas, Color } from "./canvas.ts";
import { type Flow, ink, type Look, margin, muted, textWidth } from "./flow.ts";
import { drawQr } from "./frame.ts";
import { markOperators } from "./mark.ts";
import type { Sheets } from "./sheet.ts";
import type { Typeset } from "./typeset.ts";

/** The text of the visible seal. */
export type SealWords = {
  /** The firm that the certificate was made for; absent on public pages and notary journals. */
  holder?: string;
  at: string;
  /** The absolute URL of the verify page; null when there is no such page. */
  url: string | null;
  /** An optional line about the seal's certificate. */
  certificate?: string;
  color?: Color;
};

const side = 100;
const gap = 14;
const padding = 16;
const markSide = 40;
const sealColor: Color = "#1f3d6d";

/**
 * Draws the visible seal next to a QR code of the verify page. The seal is drawn as the appearance of an empty
 * signature field, and states the sealer and the time.
 */
export function sealBlock(sheets: Sheets, flow: Flow, typeset: Typeset, words: SealWords): void {
  flow.keep(side + 14);
  const y = flow.y() - side;
  const x = margin.side + (words.url === null ? 0 : side + gap);
  if (words.url !== null) drawQr(sheets, { x: margin.side, y, width: side, height: side }, words.url);
  const place = { x, y, width: margin.side + textWidth - x, height: side };
  const description = `Seal of SignSealShip, ${words.at}`;
  sheets.tagged("Form", () => {
    sheets.seal(place, description, (canvas) => drawSeal(canvas, typeset, words, place.width));
  });
  flow.moveTo(y - 14);
}

function drawSeal(canvas: Canvas, typeset: Typeset, words: SealWords, width: number): void {
  canvas.rectangle(0, 0, width, side, "#f4f6f9");
  canvas.rectangle(0, 0, 4, side, words.color ?? sealColor);
  canvas.drawing(width - markSide - padding, side - markSide - padding, markSide / 64, markOperators);
  let y = side - padding;
  const write = (text: string, look: Look, room = width - 2 * padding - 4) => {
    const [line] = typeset(text, 1e9, look).lines;
    if (!line) return;
    const size = Math.min(look.size, (1000 * room) / Math.max(line.width, 1));
    canvas.text(line, padding + 4, y - look.size, Math.round(size * 100) / 100, look.color ?? ink);
    y -= look.size * 1.5;
  };
  const widthNextToMark = width - 3 * padding - markSide - 4;
  write("Sealed by SignSealShip", { size: 13, weight: "semibold", color: sealColor }, widthNextToMark);
  if (words.holder !== undefined) write(`on behalf of ${words.holder}`, { size: 9.5 }, widthNextToMark);
  write(words.at, { size: 9.5 }, widthNextToMark);
  if (words.certificate !== undefined) write(words.certificate, { size: 8, color: muted });
  if (words.url !== null) write(`Verify at ${words.url}`, { size: 8, color: muted });
}
