export const maxPeople = 6;

/** The people of the form, by their rows: `client` for the client, and "1", "2", ... for the others. */
export const everybody: readonly string[] = [
  "client",
  ...Array.from({ length: maxPeople }, (_, index) => String(index + 1)),
];

/**
 * The label of a person's checkbox in the table of documents and signers. Our script updates it while a name is typed.
 * @param row `client`, or the number of the person's row
 */
export function personLabel(row: string, { name, signs }: { name: string; signs: boolean }): string {
  const called = name.trim() || (row === "client" ? "The client" : `Person ${row}`);
  return signs ? called : `${called} (does not sign)`;
}

/** The number that placed fields use for a person of the form. The client is 1, person 1 is 2, and so on. */
export const personNumber = (row: string): number => (row === "client" ? 1 : Number(row) + 1);
