/** A lock file's entries, by path (npm, `package-lock.json`, lockfileVersion 3). */
export type LockedPackages = Readonly<
  Record<string, { version?: string; license?: string; dev?: boolean; link?: boolean }>
>;

/** Licenses that allow shipping without permission: their terms do not extend to the code that uses the package. */
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
  // A license for fonts: they may be embedded and redistributed, but not sold alone.
  "OFL-1.1",
  "PostgreSQL",
  "Python-2.0",
  "Unlicense",
  "Zlib",
  // The package htmx.org states its license under this name. It is 0BSD.
  "BSD-0-Clause",
]);

/**
 * Evaluates a simple SPDX expression: names joined by AND or OR, in at most one pair of parentheses around the whole. A
 * missing or more complex expression is refused.
 */
function isAllowed(expression: string | undefined): boolean {
  const bare = expression?.replace(/^\((.*)\)$/, "$1") ?? "";
  if (/[()]/.test(bare)) return false;
  return bare.split(" OR ").some((choice) => choice.split(" AND ").every((name) => allowed.has(name)));
}

/**
 * The packages that are shipped on any platform and whose license is not on the list.
 * @returns lines `name version: license`
 */
export function refusedLicenses(packages: LockedPackages): string[] {
  return shippedPackages(packages)
    .filter(([, { license }]) => !isAllowed(license))
    .map(([name, { version, license }]) => `${name} ${version ?? ""}: ${license ?? "no license is named"}`);
}

/** The names and entries of the shipped packages: those that are neither ours nor development dependencies. */
export const shippedPackages = (packages: LockedPackages) =>
  Object.entries(packages)
    .filter(([path, { dev, link }]) => path.includes("node_modules/") && !dev && !link)
    .map(([path, entry]) => [path.replace(/^.*node_modules\//, ""), entry] as const);
