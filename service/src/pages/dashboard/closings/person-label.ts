/**
 * The label of a box in the grid. Our script updates the label while a name is typed. @param row `client` for the
 * client
 */
export function personLabel(row: string, { name, signs }: { name: string; signs: boolean }): string {
  const called = name.trim() || (row === "client" ? "The client" : `Person ${row}`);
  return signs ? called : `${called} (does not sign)`;
}
