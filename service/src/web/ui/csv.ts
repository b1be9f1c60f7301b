/** A text that begins with one of these is a formula to spreadsheets; some read the full-width forms as the narrow ones. */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;

const cell = (value: string): string => {
  const text = formula.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Rows as CSV (RFC 4180), in UTF-8 with a mark that says so; no cell is a formula. */
export const csv = (rows: readonly (readonly string[])[]): string =>
  `\uFEFF${rows.map((cells) => `${cells.map(cell).join(",")}\r\n`).join("")}`;
