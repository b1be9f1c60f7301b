import { type Flow, type Look, margin, muted, textWidth } from "./flow.ts";
import { body, code, fine, quiet, section } from "./looks.ts";
import { markOperators } from "./mark.ts";
import { type Place, pageSize } from "./pages.ts";
import { readLogo } from "./picture.ts";
import { qrOperators } from "./qr.ts";
import type { Sheets } from "./sheet.ts";
import type { Typeset } from "./typeset.ts";

const footSize = 7.5;

/**
 * Draws the header of the first page.
 * @param kind the kind of certificate
 */
export function letterhead(sheets: Sheets, flow: Flow, typeset: Typeset, kind: string): void {
  const top = flow.y();
  sheets.drawing(margin.side, top - 26, 26 / 64, markOperators);
  flow.skip(5.5);
  flow.text("SignSealShip", { size: 13, weight: "semibold", color: "#1f3d6d" }, { x: margin.side + 35 });
  const width = ((typeset(kind, 1e9).lines[0]?.width ?? 0) * body.size) / 1000;
  flow.moveTo(top - 8);
  flow.text(kind, { ...body, color: muted }, { x: margin.side + textWidth - width });
  flow.moveTo(top - 36);
  flow.rule();
  flow.skip(14);
}

const logoBox = { width: 160, height: 34 };
// A pixel of a logo is drawn at most this large, in points. So a small logo is not enlarged.
const maxPixel = 0.75;

/**
 * Draws the firm's name and, at the right margin, its logo if one is stored.
 * @param logo a PNG that this service encoded
 * @returns the width left for text next to the logo
 */
export function firmHead(
  sheets: Sheets,
  flow: Flow,
  { name, logo }: { name: string; logo: Uint8Array | null },
): { width: number } {
  const picture = logo && readLogo(logo);
  const top = flow.y();
  const drawName = (width: number) => {
    flow.text(name, { size: 10.5, weight: "semibold" }, { width });
    return { width };
  };
  if (!picture) return drawName(textWidth);
  const scale = Math.min(logoBox.width / picture.width, logoBox.height / picture.height, maxPixel);
  const [width, height] = [picture.width * scale, picture.height * scale];
  const place = { x: margin.side + textWidth - width, y: top - height, width, height };
  sheets.tagged("Figure", () => sheets.picture(place, picture), { alt: `Logo of ${name}` });
  return drawName(textWidth - width - 16);
}

export function testNotice(sheets: Sheets, flow: Flow): void {
  flow.skip(8);
  sheets.rectangle(margin.side, flow.y() - 23, textWidth, 23, "#fdf1d6");
  sheets.rectangle(margin.side, flow.y() - 23, 3, 23, "#b3720a");
  flow.skip(6.5);
  const look: Look = { size: 9.5, weight: "semibold", color: "#6b4304" };
  flow.text("Test environment: made with a test key. This document has no legal effect.", look, {
    x: margin.side + 12,
  });
  flow.skip(4);
}

const qrSide = 100;

/** Draws a QR code of a URL, as a link to it. */
export function drawQr(sheets: Sheets, place: Place, url: string): void {
  sheets.tagged("Link", () => {
    const draw = () => sheets.drawing(place.x, place.y, 1, `0 0 0 rg ${qrOperators(url, place.width)}`);
    sheets.tagged("Figure", draw, { alt: `QR code of ${url}` });
    sheets.link(place, url);
  });
}

/**
 * Draws a QR code of a URL at the right margin.
 * @returns the width left for rows next to the code, and the position of the code's lower edge
 */
export function qrAtRight(sheets: Sheets, flow: Flow, url: string): { width: number; bottom: number } {
  const bottom = flow.y() - qrSide;
  drawQr(sheets, { x: pageSize.width - margin.side - qrSide, y: bottom, width: qrSide, height: qrSide }, url);
  return { width: textWidth - qrSide - 24, bottom };
}

/** Draws an item of a list. */
export function bullet(
  flow: Flow,
  text: string,
  { x = margin.side, width = textWidth }: { x?: number; width?: number } = {},
): void {
  flow.keep(flow.measure(text, width - 12, fine));
  const y = flow.y();
  flow.tagged("LI", () => {
    flow.text("•", { ...fine, tag: "Lbl" }, { x: x + 2 });
    flow.moveTo(y);
    flow.text(text, { ...fine, tag: "LBody" }, { x: x + 12, width: width - 12 });
  });
}

/** Draws the list of what a certificate proves and what it does not prove. */
export function limitsSection(flow: Flow, points: readonly string[]): void {
  section(flow, "What this document proves, and what it does not", 110);
  for (const text of points) bullet(flow, text);
  flow.skip(8);
}

const escapedNote = (attached: string) =>
  "Characters that are invisible, or that no font here contains, are printed as \\u{…} with their code points. " +
  `The attached ${attached} contains the exact texts.`;

/** Notes for readers without a command line. They also explain why the tool pdfsig warns about the issuer. */
const withoutCommands = (verifyUrl: string) =>
  `Without these commands, choose the file at ${new URL("/verify", verifyUrl).href}. Your browser checks it and sends it ` +
  "nowhere. The commands do not need this service. pdfsig says that the issuer “isn’t trusted” if your computer was not told to " +
  "trust the certificate. Compare it with that of an older file, or with " +
  `${new URL("/seal/certificate.pem", verifyUrl).href}.`;

/**
 * Draws the commands that verify the certificate without this service, and explains each.
 * @param attached the name of the attachment, which has the exact texts if some characters could not be drawn
 * @param verifyUrl the page that verifies the certificate
 */
export function manualChecks(
  flow: Flow,
  steps: readonly (readonly [string, string])[],
  { attached, verifyUrl }: { attached: string; verifyUrl?: string },
): void {
  section(flow, "Check it yourself", 82);
  for (const [command, outcome] of steps) {
    flow.keep(flow.measure(outcome, textWidth - 270, fine));
    flow.tagged("LI", () => {
      flow.text(command, { ...code, tag: "Lbl" });
      flow.moveTo(flow.y() + code.size * (code.leading ?? 1));
      flow.text(outcome, { ...fine, color: muted, tag: "LBody" }, { x: margin.side + 270, width: textWidth - 270 });
    });
    flow.skip(2);
  }
  if (verifyUrl !== undefined) note(flow, withoutCommands(verifyUrl));
  if (flow.escaped()) note(flow, escapedNote(attached));
}

function note(flow: Flow, text: string): void {
  flow.skip(6);
  flow.keep(flow.measure(text, textWidth, quiet));
  flow.text(text, quiet);
}

/** Draws the footer of each page. Call it after all pages exist, because each footer states the number of pages. */
export function pageFeet(sheets: Sheets, typeset: Typeset, text: string): void {
  const lineOf = (line: string) => typeset(line, 1e9).lines[0];
  const left = lineOf(text);
  for (let page = 0; page < sheets.pageCount(); page++) {
    const right = lineOf(`Page ${page + 1} of ${sheets.pageCount()}`);
    if (!left || !right) continue;
    sheets.turnTo(page);
    sheets.text(left, margin.side, 36, footSize, muted);
    sheets.text(right, pageSize.width - margin.side - (right.width * footSize) / 1000, 36, footSize, muted);
  }
}
