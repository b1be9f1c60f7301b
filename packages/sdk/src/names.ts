/** Spells `svcSign` as the interface's forms and queries do: `svc_sign`. */
export const wireName = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Copies a value. In the copy, the names of all properties, at every level, are spelled like `svc_sign`. */
export function wireValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(wireValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [wireName(name), wireValue(each)]));
}
