// Draws the forms of offices as PDFs, each with the places where a careful preparer would put fields. The forms are
// written in a notation (`a.txt`, `b.txt`) that `README.md` explains.
import { readFileSync } from "node:fs";
import { PROSE, WIDTHS } from "./office-forms-texts.ts";

export interface Place {
  page: number;
  type: "signature" | "initials" | "date" | "name" | "text";
  role: string;
  /** The place on the page as it is displayed, in points from the top left corner. */
  rect: { x: number; y: number; width: number; height: number };
}

export interface OfficeForm {
  name: string;
  places: Place[];
  pdf: Buffer;
}

const TYPES: Record<string, Place["type"]> = { S: "signature", I: "initials", D: "date", N: "name", T: "text" };

class Drawing {
  readonly pages: string[][] = [[]];
  readonly places: Place[] = [];
  rotate = 0;
  width = 612;
  height = 792;
  font = "H";
  size = 11;
  lead = 16;
  left = 60;
  unit = 1;
  runs: "line" | "words" | "letters" = "line";
  y = 60;
  language: "en" | "es" = "en";
  #prose = 0;

  #emit(operators: string): void {
    this.pages.at(-1)?.push(operators);
  }
  #n(value: number): string {
    return (value / this.unit).toFixed(3);
  }
  /** Converts a distance from the top of the page to a distance from the bottom, because PDF counts from the bottom. */
  #up(y: number): number {
    return this.height - y;
  }

  widthOf(text: string): number {
    let units = 0;
    for (const letter of text.normalize("NFD").replace(/\p{M}/gu, "")) {
      units += WIDTHS[this.font]?.[letter.charCodeAt(0) - 32] ?? 556;
    }
    return (units * this.size) / 1000;
  }

  text(x: number, y: number, text: string, font = this.font): void {
    const pieces =
      this.runs === "letters" ? [...text] : this.runs === "words" ? (text.match(/\S+\s*|\s+/g) ?? []) : [text];
    let at = x;
    for (const piece of pieces) {
      const bytes = Buffer.from(piece, "latin1").toString("hex");
      if (piece.trim())
        this.#emit(`BT /${font} ${this.#n(this.size)} Tf ${this.#n(at)} ${this.#n(this.#up(y))} Td <${bytes}> Tj ET`);
      at += this.widthOf(piece);
    }
  }

  rule(x: number, y: number, width: number, style = "r"): void {
    const [from, to, at] = [this.#n(x), this.#n(x + width), this.#n(this.#up(y))];
    if (style === "b") this.#emit(`${from} ${at} ${this.#n(width)} ${this.#n(0.6)} re f`);
    else if (style === "u") {
      this.rule(x, y, width);
      this.rule(x, y + 2, width);
    } else {
      const dash = { h: `[${this.#n(3)} ${this.#n(2)}]`, d: `[${this.#n(0.8)} ${this.#n(1.6)}]` }[style] ?? "[]";
      this.#emit(`q ${this.#n(0.7)} w ${dash} 0 d ${from} ${at} m ${to} ${at} l S Q`);
    }
  }

  box(x: number, top: number, width: number, height: number): void {
    this.#emit(
      `${this.#n(0.7)} w ${this.#n(x)} ${this.#n(this.#up(top + height))} ${this.#n(width)} ${this.#n(height)} re S`,
    );
  }

  /** Draws one blank in the current row; returns where the next text begins. */
  blank(x: number, kind: string, role: string, spec: string): number {
    const [, count, style, tall] = /^(\d+)([-._:srbhdunx]?)(\d*)$/.exec(spec) ?? [];
    if (!count) throw new Error(`A blank of "${spec}" is not one.`);
    let width = Number(count);
    let rect = { x, y: this.y - 16, width, height: 18 };
    if (tall) {
      rect = { x, y: this.y - this.size, width, height: Number(tall) };
      if (style === "x") this.box(x, rect.y, width, rect.height);
    } else if ("rbhdu".includes(style || "_") || style === "n") {
      if (style !== "n") this.rule(x, this.y + 2, width, style);
    } else {
      const filler = ({ ":": " .", s: "_ " }[style ?? ""] ?? (style || "_")).repeat(width);
      width = this.widthOf(filler);
      rect = { ...rect, width };
      this.text(x, this.y, filler);
    }
    const type = TYPES[kind];
    if (type) this.places.push({ page: this.pages.length, type, role, rect });
    return x + width;
  }

  row(markup: string): void {
    let x = this.left;
    for (const part of markup.split(/(\{[^}]*\})/)) {
      if (part.startsWith("{>")) x = Number(part.slice(2, -1));
      else if (part.startsWith("{")) {
        const [kind = "", role = "", spec = ""] = part.slice(1, -1).split("/");
        x = this.blank(x, kind, role, spec);
      } else if (part) {
        this.text(x, this.y, part);
        x += this.widthOf(part);
      }
    }
    this.y += this.lead;
  }

  heading(text: string, underlined: boolean): void {
    const [size, width] = [this.size, this.widthOf(text)];
    const x = (this.width - width) / 2;
    this.text(x, this.y, text, "B");
    if (underlined) this.rule(x, this.y + 2, width * 1.05);
    this.size = size;
    this.y += this.lead * 1.5;
  }

  prose(lines: number): void {
    let words: string[] = [];
    for (let line = 0; line < lines; line++) {
      let text = "";
      for (;;) {
        if (words.length === 0)
          words = PROSE[this.language][this.#prose++ % PROSE[this.language].length]?.split(" ") ?? [];
        if (this.widthOf(`${text} ${words[0]}`) > this.width - 2 * this.left) break;
        text += `${text && " "}${words.shift()}`;
      }
      this.text(this.left, this.y, text);
      this.y += this.lead;
    }
    this.y += this.lead / 2;
  }

  directive(word: string, value: string): void {
    const number = Number(value);
    if (word === "landscape") [this.width, this.height] = [792, 612];
    else if (word === "rotate") this.rotate = number;
    else if (word === "font") this.font = value;
    else if (word === "runs") this.runs = value as "words";
    else if (word === "lang") this.language = value as "es";
    else if (word === "size" || word === "lead" || word === "left" || word === "unit") this[word] = number;
    else if (word === "down") this.y += number;
    else if (word === "at") this.y = number;
    else if (word === "prose") this.prose(number);
    else if (word === "rule") {
      const [x = 0, width = 0] = value.split(" ").map(Number);
      this.rule(x, this.y - this.size - 2, width);
    } else if (word === "grid") {
      // The directive's value lists the edges of the columns, the number of rows, and the height of one row. The grid
      // is drawn downward from the current row's top.
      const [edges = "", rows, high] = value.split(" ");
      const xs = edges.split(",").map(Number);
      const [first = 0] = xs;
      const top = this.y - this.size - 2;
      const tall = Number(rows) * Number(high);
      for (let row = 0; row <= Number(rows); row++)
        this.rule(first, top + row * Number(high), (xs.at(-1) ?? 0) - first);
      for (const x of xs)
        this.#emit(
          `${this.#n(0.7)} w ${this.#n(x)} ${this.#n(this.#up(top))} m ${this.#n(x)} ${this.#n(this.#up(top + tall))} l S`,
        );
    } else if (word === "box") {
      const [x = 0, width = 0, height = 0] = value.split(" ").map(Number);
      this.box(x, this.y - this.size - 2, width, height);
    } else if (word === "page") {
      this.pages.push([]);
      this.y = 60;
    } else throw new Error(`@${word} is not a directive.`);
  }

  pdf(): Buffer {
    const { width, height, rotate } = this;
    // Rotates the drawing in the direction opposite to /Rotate, so that it is upright once a viewer rotates the page.
    const turned = rotate % 180 !== 0;
    const matrix = {
      0: "1 0 0 1 0 0",
      90: `0 1 -1 0 ${height} 0`,
      180: `-1 0 0 -1 ${width} ${height}`,
      270: `0 -1 1 0 0 ${width}`,
    }[rotate];
    const media = turned ? `${height} ${width}` : `${width} ${height}`;
    const fonts = ["Helvetica", "Times-Roman", this.font === "T" ? "Times-Bold" : "Helvetica-Bold"];
    const objects = [
      "<< /Type /Catalog /Pages 2 0 R >>",
      `<< /Type /Pages /Count ${this.pages.length} /Kids [${this.pages.map((_, at) => `${6 + 2 * at} 0 R`).join(" ")}] >>`,
      ...fonts.map((font) => `<< /Type /Font /Subtype /Type1 /BaseFont /${font} /Encoding /WinAnsiEncoding >>`),
    ];
    this.pages.forEach((operators, at) => {
      const content = `q ${matrix} cm ${this.unit} 0 0 ${this.unit} 0 0 cm\n${operators.join("\n")}\nQ`;
      objects.push(
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${media}] /Rotate ${rotate} /Contents ${7 + 2 * at} 0 R` +
          " /Resources << /Font << /H 3 0 R /T 4 0 R /B 5 0 R >> >> >>",
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      );
    });
    let file = "%PDF-1.7\n";
    const offsets = objects.map((object, at) => {
      const offset = file.length;
      file += `${at + 1} 0 obj\n${object}\nendobj\n`;
      return offset;
    });
    const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
    file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`;
    return Buffer.from(file, "latin1");
  }
}

function draw(source: string): OfficeForm {
  const [name = "", ...rows] = source.trimEnd().split("\n");
  const drawing = new Drawing();
  for (const row of rows) {
    if (row.startsWith("@")) {
      const [word = "", ...value] = row.slice(1).split(" ");
      drawing.directive(word, value.join(" "));
    } else if (row.startsWith("# ")) drawing.heading(row.slice(2), false);
    else if (row.startsWith("#_ ")) drawing.heading(row.slice(3), true);
    else drawing.row(row);
  }
  return { name: name.trim(), places: drawing.places, pdf: drawing.pdf() };
}

/** Draws the forms of one set. @param file the set's notation */
export function officeForms(file: string | URL): OfficeForm[] {
  return readFileSync(file, "utf8")
    .split(/^=== /m)
    .slice(1)
    .map((source) => draw(source));
}
