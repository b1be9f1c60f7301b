import qrcode from "qrcode";

/** A run of dark modules in one row of a QR code. */
type Run = { row: number; column: number; length: number };

/** The dark modules of a QR code, row by row, and how many modules a side has. */
function darkRuns(text: string): { size: number; runs: Run[] } {
  const { modules } = qrcode.create(text, { errorCorrectionLevel: "M" });
  const { size } = modules;
  const runs: Run[] = [];
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      if (!modules.get(row, column)) continue;
      let end = column + 1;
      while (end < size && modules.get(row, end)) end++;
      runs.push({ row, column, length: end - column });
      column = end;
    }
  }
  return { size, runs };
}

/** A QR code as path operators in a square of the given side. */
export function qrOperators(text: string, side: number): string {
  const { size, runs } = darkRuns(text);
  const module = side / size;
  const rectangles = runs.map(({ row, column, length }) =>
    [column * module, side - (row + 1) * module, length * module, module].map((value) => value.toFixed(3)).join(" "),
  );
  return `${rectangles.map((each) => `${each} re`).join(" ")} f`;
}

/** A QR code as the data of an SVG path, in a square whose side is `size`. */
export function qrPath(text: string): { size: number; path: string } {
  const { size, runs } = darkRuns(text);
  return { size, path: runs.map(({ row, column, length }) => `M${column} ${row}h${length}v1h-${length}z`).join("") };
}
