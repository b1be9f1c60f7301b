import qrcode from "qrcode";

/** A QR code as path operators in a square of the given side: its dark modules, row by row. */
export function qrOperators(text: string, side: number): string {
  const { modules } = qrcode.create(text, { errorCorrectionLevel: "M" });
  const module = side / modules.size;
  const out: string[] = [];
  for (let row = 0; row < modules.size; row++) {
    for (let column = 0; column < modules.size; column++) {
      if (!modules.get(row, column)) continue;
      let end = column + 1;
      while (end < modules.size && modules.get(row, end)) end++;
      const [x, y, width] = [column * module, side - (row + 1) * module, (end - column) * module];
      out.push(`${[x, y, width, module].map((value) => value.toFixed(3)).join(" ")} re`);
      column = end;
    }
  }
  return `${out.join(" ")} f`;
}
