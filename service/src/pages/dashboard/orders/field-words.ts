/** Counts fields for people, for example: `1 signature, initials once, and 2 other fields on pages 1 and 3`. */
export function fieldWords(fields: readonly { readonly kind: string; readonly page: number }[]): string {
  const count = (kind: string) => fields.filter((field) => field.kind === kind).length;
  const [signatures, initials, dates] = [count("signature"), count("initials"), count("date")];
  const others = fields.length - signatures - initials - dates;
  const pages = [...new Set(fields.map(({ page }) => page))].sort((a, b) => a - b);
  const parts = [
    ...(signatures > 0 ? [counted(signatures, "signature")] : []),
    ...(initials > 0 ? [initials === 1 ? "initials once" : `initials ${initials} times`] : []),
    ...(dates > 0 ? [counted(dates, "date")] : []),
    ...(others > 0 ? [counted(others, signatures + initials + dates > 0 ? "other field" : "field")] : []),
  ];
  return `${listed(parts)} on ${pages.length === 1 ? "page" : "pages"} ${listed(pages.map(String))}`;
}

export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

const list = new Intl.ListFormat("en-US");
export const listed = (words: readonly string[]): string => list.format(words);
