/** Counts fields for people, for example: `1 signature, 1 date, and 2 other fields on pages 1 and 3`. */
export function fieldWords(fields: readonly { readonly kind: string; readonly page: number }[]): string {
  const count = (kind: string) => fields.filter((field) => field.kind === kind).length;
  const [signatures, dates] = [count("signature"), count("date")];
  const others = fields.length - signatures - dates;
  const pages = [...new Set(fields.map(({ page }) => page))].sort((a, b) => a - b);
  const parts = [
    ...(signatures > 0 ? [counted(signatures, "signature")] : []),
    ...(dates > 0 ? [counted(dates, "date")] : []),
    ...(others > 0 ? [counted(others, signatures + dates > 0 ? "other field" : "field")] : []),
  ];
  return `${listed(parts)} on ${pages.length === 1 ? "page" : "pages"} ${listed(pages.map(String))}`;
}

export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

const list = new Intl.ListFormat("en-US");
export const listed = (words: readonly string[]): string => list.format(words);
