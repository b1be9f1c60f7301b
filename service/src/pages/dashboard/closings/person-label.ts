export const mostPeople = 6;

/** The people of the form by the names of their rows: `client`, and the numbers of the others. */
export const everybody: readonly string[] = [
  "client",
  ...Array.from({ length: mostPeople }, (_, index) => String(index + 1)),
];

/**
 * The label of a box in the grid. Our script updates the label while a name is typed.
 * @param row `client` for the client
 */
export function personLabel(row: string, { name, signs }: { name: string; signs: boolean }): string {
  const called = name.trim() || (row === "client" ? "The client" : `Person ${row}`);
  return signs ? called : `${called} (does not sign)`;
}

/**
 * A number for each person of the form, by which placed fields name their signer: 1 is the client, person 1 has number
 * 2.
 */
export const personNumber = (row: string): number => (row === "client" ? 1 : Number(row) + 1);
