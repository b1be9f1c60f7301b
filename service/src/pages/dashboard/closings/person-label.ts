/** The label of a box in the grid; our script writes the same while names are typed. @param row `client` for the client */
export function personLabel(row: string, { name, signs }: { name: string; signs: boolean }): string {
  const called = name.trim() || (row === "client" ? "The client" : `Person ${row}`);
  return signs ? called : `${called} (does not sign)`;
}
