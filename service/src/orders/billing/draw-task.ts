import {
  body,
  certificateFile,
  createFlow,
  createSheets,
  type Flow,
  fine,
  letterhead,
  pageFeet,
  quiet,
  section,
  tableHead,
  testNotice,
  textWidth,
  titleLook,
} from "@signsealship/certificate";
import { typesetFor } from "../../kernel/pdf/typeset.ts";

type Fact = readonly [label: string, value: string];

/** A document about money with all texts exactly as printed. Equal contents give equal bytes. */
export type DrawnPaper = {
  kind: string;
  title: string;
  /**
   * Names that people search for: the firm's reference for the order, the order's document, or the firm. The PDF's
   * metadata title contains them after `title`.
   */
  about: readonly string[];
  facts: readonly Fact[];
  tables: readonly {
    title: string;
    /** The distance of each column from the left margin, in points. */
    columns: Readonly<Record<string, number>>;
    rows: readonly (readonly string[])[];
    sums: readonly Fact[];
  }[];
  notes: readonly string[];
  foot: string;
  isTest: boolean;
  /**
   * The creation date written into the file. It is the document's own date, so that drawing it again gives the same
   * bytes. A statement of an open month has the present time.
   */
  createdAt: Date;
  /** The document's data for programs, attached to the PDF as JSON. */
  data: { name: string; content: object };
};

/** Draws a document about money as a tagged PDF with its data attached. */
export async function run(_document: Buffer, paper: DrawnPaper): Promise<Uint8Array> {
  const { kind, title, about, facts, tables, notes, foot, isTest, createdAt, data } = paper;
  const texts = [kind, title, foot, ...notes, ...facts.flat()];
  const ofTables = tables.flatMap((table) => [
    table.title,
    ...Object.keys(table.columns),
    ...table.rows.flat(),
    ...table.sums.flat(),
  ]);
  const typeset = await typesetFor([...texts, ...ofTables]);
  const sheets = createSheets();
  const flow = createFlow(sheets, typeset);
  sheets.newPage();
  letterhead(sheets, flow, typeset, kind);
  flow.text(title, titleLook);
  if (isTest) testNotice(sheets, flow);
  flow.skip(12);
  for (const [label, value] of facts) flow.row(label, value, body);
  flow.skip(10);
  for (const table of tables) drawTable(flow, table);
  for (const note of notes) {
    flow.keep(flow.measure(note, textWidth, quiet));
    flow.text(note, quiet);
    flow.skip(3);
  }
  pageFeet(sheets, typeset, foot);
  const attached = {
    name: data.name,
    description: "The same as data",
    bytes: Buffer.from(JSON.stringify(data.content)),
  };
  return certificateFile(sheets, { title: [title, ...about].join(", "), at: createdAt, attached });
}

/** The height of a table's row, in points. */
const rowHeight = 14;

function drawTable(flow: Flow, { title, columns, rows, sums }: DrawnPaper["tables"][number]): void {
  section(flow, title, 90);
  const places = Object.values(columns);
  if (rows.length > 0) tableHead(flow, columns);
  for (const row of rows) {
    const above = flow.y();
    flow.keep(rowHeight);
    // The row began a new page, so the column names are printed again.
    if (flow.y() > above) tableHead(flow, columns);
    flow.cells(
      row.map((cell, index) => [cell, fine, places[index] ?? 0] as const),
      rowHeight,
    );
  }
  flow.skip(8);
  // The amount of a sum is printed at the last column, but at most 400 points from the margin. It can be wider than
  // that column, and its label wider than the first column.
  const sumPlace = Math.min(places.at(-1) ?? 0, 400);
  for (const [label, value] of sums) {
    flow.cells([[label, body, 0] as const, [value, body, sumPlace] as const], rowHeight);
  }
  flow.skip(10);
}
