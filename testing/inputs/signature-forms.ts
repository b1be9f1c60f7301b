/** A place on a form that somebody signs or fills in: the start of its line, in points from the upper left corner. */
export type ExpectedPlace = { kind: string; x: number; y: number };

/** A form drawn for tests: its PDF, and what a person would fill in. */
export type SignatureForm = { name: string; pdf: Buffer; places: ExpectedPlace[] };

/** Draws onto a page of letter size, in points from its upper left corner. */
class Sheet {
  readonly #operators: string[] = [];
  readonly annotations: string[] = [];
  readonly places: ExpectedPlace[] = [];
  readonly #height: number;

  constructor(height = 792) {
    this.#height = height;
  }

  get content(): string {
    return this.#operators.join("\n");
  }

  /** `font`: 1 Helvetica, 2 Times, 3 Courier. */
  text(x: number, y: number, words: string, { size = 11, font = 1 } = {}): this {
    const shown = words.replace(/[\\()]/g, "\\$&");
    this.#operators.push(`BT /F${font} ${size} Tf ${x} ${this.#height - y} Td (${shown}) Tj ET`);
    return this;
  }

  rule(x: number, y: number, width: number): this {
    this.#operators.push(`0.75 w ${x} ${this.#height - y} m ${x + width} ${this.#height - y} l S`);
    return this;
  }

  /** A rule as some programs draw it: a filled rectangle half a point high. */
  thinRectangle(x: number, y: number, width: number): this {
    this.#operators.push(`${x} ${this.#height - y} ${width} 0.5 re f`);
    return this;
  }

  dashes(x: number, y: number, width: number): this {
    for (let at = 0; at < width; at += 6) this.rule(x + at, y, 3);
    return this;
  }

  box(x: number, y: number, width: number, height: number): this {
    this.#operators.push(`0.75 w ${x} ${this.#height - y - height} ${width} ${height} re S`);
    return this;
  }

  raw(operators: string): this {
    this.#operators.push(operators);
    return this;
  }

  field(type: string, name: string, [x, y, width, height]: [number, number, number, number], more = ""): this {
    const bottom = this.#height - y - height;
    this.annotations.push(
      `<</Type/Annot/Subtype/Widget/FT/${type}/T(${name})/F 4/Rect[${x} ${bottom} ${x + width} ${bottom + height}]${more}>>`,
    );
    return this;
  }

  expect(kind: string, x: number, y: number): this {
    this.places.push({ kind, x, y });
    return this;
  }
}

function formPdf(sheet: Sheet, entries = "/MediaBox[0 0 612 792]"): Buffer {
  const fonts = ["Helvetica", "Times-Roman", "Courier"]
    .map((name, index) => `/F${index + 1}<</Type/Font/Subtype/Type1/BaseFont/${name}>>`)
    .join("");
  const refs = sheet.annotations.map((_, index) => `${5 + index} 0 R`).join(" ");
  const form = sheet.annotations.length === 0 ? "" : `/AcroForm<</Fields[${refs}]>>`;
  const annots = sheet.annotations.length === 0 ? "" : `/Annots[${refs}]`;
  const stream = Buffer.from(sheet.content, "latin1");
  const objects = [
    `<</Type/Catalog/Pages 2 0 R${form}>>`,
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    `<</Type/Page/Parent 2 0 R${entries}/Resources<</Font<<${fonts}>>>>/Contents 4 0 R${annots}>>`,
    `<</Length ${stream.length}>>\nstream\n${stream.toString("latin1")}\nendstream`,
    ...sheet.annotations,
  ];
  let text = "%PDF-1.7\n";
  const offsets = objects.map((object, index) => {
    const at = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const start = text.length;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`;
  for (const at of offsets) text += `${String(at).padStart(10, "0")} 00000 n \n`;
  text += `trailer\n<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(text, "latin1");
}

const blank = (count: number): string => "_".repeat(count);
const clause = "The parties agree that this agreement is governed by the laws of the State of Ohio, and";
const witness = "IN WITNESS WHEREOF, the parties have executed this agreement on the dates below.";

/**
 * Each form has a name and a drawing. If the page is not an upright letter page, its PDF entries and its height follow.
 */
const drawings: [name: string, draw: (sheet: Sheet) => Sheet, entries?: string, height?: number][] = [
  [
    "underscores with date",
    (s) =>
      s
        .text(72, 500, `Signature: ${blank(30)}`)
        .text(350, 500, `Date: ${blank(15)}`)
        .expect("signature", 130, 500)
        .expect("date", 380, 500),
  ],
  [
    "underscores, signature and date in one run",
    (s) =>
      s
        .text(72, 500, `Signature: ${blank(28)}   Date: ${blank(14)}`, { font: 3, size: 10 })
        .expect("signature", 140, 500)
        .expect("date", 370, 500),
  ],
  [
    "by, name, title and date under each other",
    (s) =>
      s
        .text(72, 420, witness)
        .text(72, 460, "ACME HOLDINGS, INC.")
        .text(72, 500, `By: ${blank(32)}`)
        .text(72, 524, `Name: ${blank(30)}`)
        .text(72, 548, `Title: ${blank(30)}`)
        .text(72, 572, `Date: ${blank(30)}`)
        .expect("signature", 95, 500)
        .expect("name", 110, 524)
        .expect("date", 105, 572),
  ],
  [
    "drawn rules with captions below",
    (s) =>
      s
        .rule(72, 520, 220)
        .text(72, 532, "Signature of Buyer", { size: 9 })
        .rule(340, 520, 120)
        .text(340, 532, "Date", { size: 9 })
        .expect("signature", 74, 520)
        .expect("date", 342, 520),
  ],
  [
    "two columns of parties",
    (s) =>
      s
        .text(72, 420, witness)
        .text(72, 460, "SELLER:")
        .text(330, 460, "BUYER:")
        .text(72, 500, "By:")
        .rule(95, 502, 180)
        .text(330, 500, "By:")
        .rule(352, 502, 180)
        .text(72, 526, "Date:")
        .rule(105, 528, 120)
        .text(330, 526, "Date:")
        .rule(362, 528, 120)
        .expect("signature", 97, 502)
        .expect("signature", 354, 502)
        .expect("date", 107, 528)
        .expect("date", 364, 528),
  ],
  [
    "table of signers",
    (s) => {
      const columns = [72, 212, 372, 482, 540];
      const heads = ["Printed name", "Signature", "Date signed", "Initials"];
      for (const [index, head] of heads.entries()) s.text((columns[index] ?? 0) + 4, 414, head, { size: 9 });
      s.box(72, 400, 468, 20);
      for (const y of [420, 450])
        for (const [index, x] of columns.slice(0, 4).entries()) {
          s.box(x, y, (columns[index + 1] ?? 0) - x, 30);
          s.expect(["name", "signature", "date", "initials"][index] ?? "", x + 4, y + 27);
        }
      return s;
    },
  ],
  [
    "table with labels in the left cells",
    (s) => {
      for (const [index, label] of ["Signature", "Printed name", "Date"].entries()) {
        const y = 400 + 36 * index;
        s.box(72, y, 140, 36)
          .box(212, y, 260, 36)
          .text(78, y + 22, label, { size: 10 });
      }
      return s.expect("signature", 216, 433).expect("name", 216, 469).expect("date", 216, 505);
    },
  ],
  [
    "boxes with small labels inside",
    (s) =>
      s
        .box(72, 500, 250, 44)
        .text(76, 510, "Borrower signature", { size: 7 })
        .box(322, 500, 150, 44)
        .text(326, 510, "Date", { size: 7 })
        .expect("signature", 76, 541)
        .expect("date", 326, 541),
  ],
  [
    "thin rectangles in Times",
    (s) =>
      s
        .text(72, 300, clause, { font: 2 })
        .thinRectangle(72, 500, 200)
        .text(72, 512, "Landlord's signature", { font: 2 })
        .thinRectangle(72, 560, 200)
        .text(72, 572, "Tenant's signature", { font: 2 })
        .expect("signature", 74, 500)
        .expect("signature", 74, 560),
  ],
  [
    "dashes and the name of a person below",
    (s) =>
      s
        .text(72, 420, "IN WITNESS WHEREOF, the undersigned has set her hand.")
        .dashes(72, 500, 216)
        .text(72, 513, "Jane Q. Public")
        .expect("signature", 74, 500),
  ],
  [
    "rows of dots",
    (s) =>
      s
        .text(72, 500, `Signed: ${".".repeat(60)}`)
        .text(330, 500, `Dated: ${".".repeat(40)}`)
        .expect("signature", 120, 500)
        .expect("date", 368, 500),
  ],
  [
    "an X before the line",
    (s) =>
      s
        .text(72, 420, witness)
        .text(72, 500, `X ${blank(34)}`)
        .text(82, 513, "Applicant", { size: 9 })
        .expect("signature", 84, 500),
  ],
  [
    "seal behind the line",
    (s) =>
      s
        .text(72, 420, witness)
        .rule(300, 500, 200)
        .text(503, 500, "(L.S.)")
        .text(300, 513, "John Roe")
        .expect("signature", 302, 500),
  ],
  [
    "one rule above two captions",
    (s) =>
      s
        .rule(72, 500, 430)
        .text(72, 512, "Signature of Grantor", { size: 9 })
        .text(380, 512, "Date", { size: 9 })
        .expect("signature", 74, 500)
        .expect("date", 384, 500),
  ],
  [
    "initials at the foot of a page",
    (s) => {
      for (let y = 100; y < 600; y += 14) s.text(72, y, clause, { size: 10 });
      return s
        .text(72, 750, `Buyer's initials ${blank(6)} ${blank(6)}`, { size: 9 })
        .text(330, 750, `Seller's Initials: ${blank(8)}`, { size: 9 })
        .expect("initials", 142, 750)
        .expect("initials", 174, 750)
        .expect("initials", 405, 750);
    },
  ],
  [
    "a ledger with empty cells",
    (s) => {
      for (const [column, heading] of ["Date", "Item", "Amount"].entries()) {
        s.text(78 + 120 * column, 316, heading, { size: 10 });
        for (let row = 0; row < 4; row++) s.box(72 + 120 * column, 300 + 24 * row, 120, 24);
      }
      return s;
    },
  ],
  [
    "labels without lines",
    (s) =>
      s
        .text(72, 420, witness)
        .text(72, 500, "Signature:")
        .text(72, 530, "Printed name:")
        .text(72, 560, "Date:")
        .expect("signature", 130, 502)
        .expect("name", 150, 532)
        .expect("date", 110, 562),
  ],
  [
    "label above its rule",
    (s) =>
      s
        .text(72, 484, "Signature", { size: 9 })
        .rule(72, 506, 230)
        .text(330, 484, "Date", { size: 9 })
        .rule(330, 506, 120)
        .expect("signature", 74, 506)
        .expect("date", 332, 506),
  ],
  [
    "affidavit with a jurat",
    (s) =>
      s
        .text(72, 300, "The affiant states that the facts above are true.")
        .rule(320, 400, 220)
        .text(320, 412, "Signature of Affiant", { size: 10 })
        .text(72, 470, `Subscribed and sworn to before me on ${blank(14)} by ${blank(20)}`)
        .rule(320, 540, 220)
        .text(320, 552, "Notary Public")
        .text(320, 566, "My commission expires: ____________")
        .expect("signature", 322, 400),
  ],
  [
    "acknowledgment alone",
    (s) =>
      s
        .text(72, 300, "STATE OF OHIO")
        .text(72, 316, `COUNTY OF ${blank(20)}`)
        .text(72, 350, `Acknowledged before me on ${blank(12)} by ${blank(20)}`)
        .rule(72, 420, 200)
        .text(72, 432, "Signature of Notary"),
  ],
  [
    "blanks of a lease that nobody signs",
    (s) =>
      s
        .text(72, 300, `The monthly rent is $${blank(10)} and is due on the ${blank(5)} day of each month.`)
        .text(72, 320, `Property address: ${blank(40)}`)
        .text(72, 340, `Parcel number: ${blank(20)}  County: ${blank(20)}`)
        .text(72, 360, `Phone: ${blank(20)}  Email: ${blank(20)}`),
  ],
  [
    "underlined headings and a chart",
    (s) => {
      s.text(72, 100, "SIGNATURES", { size: 14 })
        .rule(72, 103, 90)
        .text(72, 140, "Date of birth: 5 January 1970")
        .rule(140, 143, 110);
      for (let y = 200; y < 400; y += 20) s.rule(72, y, 460);
      for (let x = 72; x < 540; x += 46) s.box(x, 450, 46, 20);
      return s.rule(36, 760, 540);
    },
  ],
  [
    "rotated page",
    (s) =>
      s
        .raw("q 0 1 -1 0 612 0 cm")
        .text(72, 300, `Signature: ${blank(30)}`)
        .raw("Q")
        .expect("signature", 130, 300),
    "/MediaBox[0 0 612 792]/Rotate 90",
    612,
  ],
  [
    "cropped page",
    (s) => s.text(122, 500, "Signature:").rule(180, 502, 180).expect("signature", 132, 442),
    "/MediaBox[0 0 612 792]/CropBox[50 50 560 732]",
  ],
  [
    "Spanish",
    (s) =>
      s
        .text(72, 500, `Firma: ${blank(30)}`)
        .text(330, 500, `Fecha: ${blank(15)}`)
        .expect("signature", 112, 500)
        .expect("date", 370, 500),
  ],
  [
    "five signers in two columns with rules",
    (s) => {
      s.text(72, 300, witness);
      for (let n = 0; n < 5; n++) {
        const [x, y] = [72 + 260 * (n % 2), 380 + 60 * Math.floor(n / 2)];
        s.rule(x, y, 210)
          .text(x, y + 11, ["Trustor", "Trustee", "Settlor", "Guarantor", "Spouse"][n] ?? "", { size: 9 })
          .expect("signature", x + 2, y);
      }
      return s;
    },
  ],
  [
    "the form's own fields",
    (s) =>
      s
        .text(72, 500, "Signature")
        .field("Sig", "signer1", [140, 480, 200, 28])
        .text(72, 540, "Date")
        .field("Tx", "DateSigned", [140, 524, 120, 20])
        .text(72, 580, "Parcel")
        .field("Tx", "Parcel", [140, 564, 120, 20])
        .field("Tx", "Filled", [300, 564, 120, 20], "/V(done)")
        .field("Sig", "NotarySignature", [140, 620, 200, 28])
        .expect("signature", 142, 508)
        .expect("date", 142, 544)
        .expect("text", 142, 584),
  ],
  [
    "own text fields without names, read by the words next to them",
    (s) =>
      s
        .text(72, 500, "Signature:")
        .field("Tx", "Text12", [140, 484, 200, 20])
        .text(72, 540, "Date:")
        .field("Tx", "Text13", [140, 524, 120, 20])
        .field("Tx", "Seller", [140, 564, 120, 20])
        .expect("signature", 142, 504)
        .expect("date", 142, 544)
        .expect("text", 142, 584),
  ],
  [
    "rules at the lower edge of the line",
    (s) =>
      s
        .text(72, 500, "Parent/Guardian signature")
        .rule(210, 507, 195)
        .text(420, 500, "Date")
        .rule(448, 507, 83)
        .expect("signature", 212, 507)
        .expect("date", 450, 507),
  ],
  [
    "borders that are boxes clipped to one edge, and dots that are squares",
    (s) => {
      s.text(72, 500, "Signed by the Tenant").text(72, 540, "Date");
      s.raw("q 190 285 200 1 re W n 190 285 200 24 re f Q");
      for (let x = 110; x < 230; x += 1.5) s.raw(`${x} 251 0.75 0.75 re f`);
      return s.expect("signature", 192, 507).expect("date", 112, 541);
    },
  ],
  [
    "a label that wraps before its line",
    (s) =>
      s
        .text(72, 480, "Signature of")
        .text(72, 494, "authorized")
        .text(72, 508, "representative")
        .rule(170, 512, 240)
        .text(72, 536, "Name and title of")
        .text(72, 550, "representative")
        .rule(170, 554, 240)
        .expect("signature", 172, 512),
  ],
  [
    "labels above the lines of a column",
    (s) => {
      for (const [index, label] of ["Employee name (please print)", "Employee signature", "Date"].entries())
        s.text(72, 400 + 44 * index, label, { size: 10 }).rule(72, 432 + 44 * index, 260);
      return s.expect("name", 74, 432).expect("signature", 74, 476).expect("date", 74, 520);
    },
  ],
  [
    "labels behind the lines",
    (s) =>
      s
        .text(72, 470, witness)
        .text(72, 500, `${blank(34)} Contractor`)
        .text(350, 500, `${blank(16)} Date`)
        .expect("signature", 74, 500)
        .expect("date", 352, 500),
  ],
  [
    "one run of captions below two lines",
    (s) =>
      s
        .rule(72, 500, 200)
        .rule(281, 500, 112)
        .text(72, 512, "Signature of Patient or Representative Date", { font: 3, size: 9 })
        .expect("signature", 74, 500)
        .expect("date", 283, 500),
  ],
  [
    "the block of a signer whose line has no words",
    (s) =>
      s
        .text(72, 420, witness)
        .text(72, 460, "GUARANTOR:")
        .rule(72, 500, 210)
        .text(72, 514, "Print Name:")
        .rule(134, 516, 148)
        .text(72, 536, "Date:")
        .rule(104, 538, 90)
        .expect("signature", 74, 500)
        .expect("name", 136, 516)
        .expect("date", 106, 538),
  ],
  [
    "a day, a month and a year in one date",
    (s) =>
      s
        .text(72, 500, `Signature: ${blank(30)}`)
        .text(330, 500, "Date: ___/___/_____")
        .expect("signature", 130, 500)
        .expect("date", 358, 500),
  ],
  [
    "lines and dates of witnesses and offices",
    (s) =>
      s
        .text(72, 420, witness)
        .text(72, 460, `Witness: ${blank(28)}`)
        .text(350, 460, `Date: ${blank(14)}`)
        .text(72, 500, `Recording requested by: ${blank(20)}`)
        .text(72, 540, "FOR PAYROLL USE ONLY")
        .text(72, 560, `Approved by: ${blank(20)}`)
        .text(300, 560, `Date: ${blank(14)}`),
  ],
  [
    "a table whose first column names the parties and a witness",
    (s) => {
      const columns = ["Party", "Printed name", "Signature", "Date"];
      for (const [row, words] of [columns, ["Buyer"], ["Seller"], ["Witness"]].entries())
        for (const [column, x] of [72, 192, 312, 472].entries()) {
          s.box(x, 400 + 26 * row, [120, 120, 160, 68][column] ?? 0, 26);
          const word = words[column];
          if (word) s.text(x + 4, 417 + 26 * row, word, { size: 9 });
        }
      s.text(72, 380, witness);
      for (const y of [449, 475]) s.expect("signature", 314, y).expect("date", 474, y);
      return s;
    },
  ],
  [
    "a ledger with a date and initials on each row",
    (s) => {
      for (const [row, words] of [["Date", "Work", "Hours", "Initials"], [], [], []].entries())
        for (const [column, x] of [72, 172, 312, 412].entries()) {
          s.box(x, 300 + 24 * row, [100, 140, 100, 80][column] ?? 0, 24);
          const word = words[column];
          if (word) s.text(x + 4, 316 + 24 * row, word, { size: 9 });
        }
      for (const y of [345, 369, 393]) s.expect("initials", 414, y);
      return s
        .text(72, 460, `Employee signature: ${blank(25)}`)
        .text(350, 460, `Date: ${blank(14)}`)
        .expect("signature", 180, 460)
        .expect("date", 380, 460);
    },
  ],
  [
    "headings over the lines of a witness and of a signer",
    (s) =>
      s
        .text(72, 400, "SIGNED by the Testator in our joint presence:")
        .rule(320, 402, 170)
        .expect("signature", 322, 402)
        .text(72, 440, "First witness")
        .text(320, 440, "Testator's spouse")
        .text(72, 470, `Signature: ${blank(20)}`)
        .text(320, 470, `Signature: ${blank(20)}`)
        .text(72, 494, `Date: ${blank(20)}`)
        .text(320, 494, `Date: ${blank(20)}`)
        .expect("signature", 375, 470)
        .expect("date", 348, 494)
        .text(72, 560, "Signed by the Testator in the presence of:")
        .rule(320, 562, 170),
  ],
  [
    "things that belong to a party, and people who do",
    (s) =>
      s
        .text(72, 300, witness)
        .text(72, 340, `Guarantor's driver license no.: ${blank(16)}`)
        .text(72, 370, `Relationship to patient: ${blank(24)}`)
        .text(72, 400, `Employee ID: ${blank(24)}`)
        .text(72, 430, `Signed at: ${blank(24)}`)
        .text(72, 460, `First name and middle initial: ${blank(24)}`)
        .text(72, 490, `Owner (print): ${blank(24)}`)
        .expect("name", 145, 490)
        .text(72, 530, `Buyer's agent: ${blank(24)}`)
        .expect("signature", 145, 530)
        .text(72, 570, `Buyer's acceptance: ${blank(24)}`)
        .expect("signature", 175, 570),
  ],
  [
    "a date of the text, and the name of the person whom the form is about",
    (s) =>
      s
        .text(72, 300, `Date: ${blank(16)}`)
        .text(72, 330, witness)
        .text(72, 370, `Parent signature: ${blank(24)}`)
        .text(350, 370, `Date: ${blank(14)}`)
        .expect("signature", 162, 370)
        .expect("date", 380, 370)
        .text(72, 410, `Student: ${blank(24)}`),
  ],
  [
    "crosses on the lines of a column of text",
    (s) =>
      s
        .text(40, 500, clause.slice(0, 52))
        .text(320, 502, "X")
        .rule(334, 502, 180)
        .text(334, 511, "Renter", { size: 7 })
        .expect("signature", 336, 502)
        .text(320, 542, "X")
        .rule(334, 542, 60)
        .text(334, 551, "Initial to decline the waiver", { size: 7 })
        .expect("initials", 336, 542),
  ],
];

export const signatureForms = (): SignatureForm[] =>
  drawings.map(([name, draw, entries, height]) => {
    const sheet = draw(new Sheet(height));
    return { name, pdf: formPdf(sheet, entries), places: sheet.places };
  });
