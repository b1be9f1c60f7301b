/** A lock file's entries, by path (npm, `package-lock.json`, lockfileVersion 3). */
export type LockedPackages = Readonly<
  Record<string, { version?: string; license?: string; dev?: boolean; link?: boolean }>
>;

/** What may be shipped without asking anybody: nothing here reaches into the code that uses it. */
const allowed: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  // Fonts: they may be embedded and handed on, not sold alone.
  "OFL-1.1",
  "PostgreSQL",
  "Python-2.0",
  "Unlicense",
  "Zlib",
  // What htmx.org calls 0BSD.
  "BSD-0-Clause",
]);

/** A simple SPDX expression: names joined by AND or OR, without nesting. Nothing, and what is written otherwise, is not allowed. */
function isAllowed(expression: string | undefined): boolean {
  const bare = expression?.replace(/^\((.*)\)$/, "$1") ?? "";
  return bare.split(" OR ").some((choice) => choice.split(" AND ").every((name) => allowed.has(name)));
}

/**
 * The packages that a shipped dependency tree of any platform holds and whose license is not on the list.
 * @returns lines `name version: license`
 */
export function refusedLicenses(packages: LockedPackages): string[] {
  return shippedPackages(packages)
    .filter(([, { license }]) => !isAllowed(license))
    .map(([name, { version, license }]) => `${name} ${version ?? ""}: ${license ?? "no license is named"}`);
}

/** Name and entry of each package that is neither ours nor for development alone. */
export const shippedPackages = (packages: LockedPackages) =>
  Object.entries(packages)
    .filter(([path, { dev, link }]) => path.includes("node_modules/") && !dev && !link)
    .map(([path, entry]) => [path.replace(/^.*node_modules\//, ""), entry] as const);
