/** A page that is printed for an order, in the words that stand on it. */
export type SheetContent = {
  /** What kind of page it is: at the top, beside the mark. */
  kind: string;
  title: string;
  isTest: boolean;
  /** Large lines: where it goes. */
  address: readonly string[];
  /** Labels and values below. */
  rows: readonly (readonly [label: string, value: string])[];
  /** Sentences below the rows. */
  notes: readonly string[];
  /** An address as a QR code, beside the rows; null for none. */
  url: string | null;
};

/** All texts of sheets that people wrote. */
export const writtenTexts = (sheets: readonly SheetContent[]): string[] =>
  sheets.flatMap(({ title, address, rows, notes }) => [title, ...address, ...rows.map(([, value]) => value), ...notes]);
