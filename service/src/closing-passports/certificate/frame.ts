import {
  type Flow,
  type Look,
  margin,
  markOperators,
  muted,
  pageSize,
  type Sheets,
  type Typeset,
  textWidth,
} from "@signsealship/certificate";
import type { CertificateContent } from "./content.ts";
import { body } from "./looks.ts";

const titleLook: Look = { size: 20, weight: "semibold", leading: 1.25 };
const footSize = 7.5;

/** What stands at the top of the first page: whose certificate it is, of what, and whether of a test. */
export function title(sheets: Sheets, flow: Flow, typeset: Typeset, content: CertificateContent): void {
  const { passport } = content.manifest;
  letterhead(sheets, flow, typeset);
  flow.text(passport.roomName, titleLook);
  flow.skip(3);
  flow.text(`Version ${passport.version} of the room’s Closing Passport. Made for ${content.partnerName}.`, {
    size: 10.5,
    colour: muted,
  });
  if (content.environment === "test") testNotice(sheets, flow);
  flow.skip(14);
}

function letterhead(sheets: Sheets, flow: Flow, typeset: Typeset): void {
  const top = flow.y();
  sheets.drawing(margin.side, top - 26, 26 / 64, markOperators);
  flow.skip(5.5);
  flow.text("SignSealShip", { size: 13, weight: "semibold", colour: "#1f3d6d" }, { x: margin.side + 35 });
  const kind = "Closing Passport certificate";
  const width = ((typeset(kind, 1e9).lines[0]?.width ?? 0) * body.size) / 1000;
  flow.moveTo(top - 8);
  flow.text(kind, { ...body, colour: muted }, { x: margin.side + textWidth - width });
  flow.moveTo(top - 36);
  flow.rule();
  flow.skip(14);
}

function testNotice(sheets: Sheets, flow: Flow): void {
  flow.skip(8);
  sheets.rectangle(margin.side, flow.y() - 23, textWidth, 23, "#fdf1d6");
  sheets.rectangle(margin.side, flow.y() - 23, 3, 23, "#b3720a");
  flow.skip(6.5);
  const look: Look = { size: 9.5, weight: "semibold", colour: "#6b4304" };
  flow.text("Test environment: made with a test key, it stands for nothing outside of a test.", look, {
    x: margin.side + 12,
  });
  flow.skip(4);
}

/** What stands at the foot of each page, once all of them are there. */
export function pageFeet(sheets: Sheets, typeset: Typeset, { verifyCode, manifest }: CertificateContent): void {
  const lineOf = (text: string) => typeset(text, 1e9).lines[0];
  const left = lineOf(`Closing Passport, version ${manifest.passport.version}. Verify code ${verifyCode}`);
  for (let page = 0; page < sheets.pageCount(); page++) {
    const right = lineOf(`Page ${page + 1} of ${sheets.pageCount()}`);
    if (!left || !right) continue;
    sheets.turnTo(page);
    sheets.text(left, margin.side, 36, footSize, muted);
    sheets.text(right, pageSize.width - margin.side - (right.width * footSize) / 1000, 36, footSize, muted);
  }
}
