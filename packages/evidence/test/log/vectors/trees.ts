import { bundledEntry } from "../../../src/log/log.ts";
import type { LogVector } from "../log-vectors.ts";
import { consistencyOf, hashOfLeaf, rootOf } from "../sample-tree.ts";
import { entry, hex, leaves, root } from "./sample.ts";

/** Test vectors of consistency proofs between two sizes of a tree, and of the paths of tiles and bundles. */
export const treeVectors: LogVector[] = [];

// Adds a vector for a consistency proof between two sizes of a tree.
const treeCase = (
  name: string,
  more: Omit<NonNullable<LogVector["tree"]>, "proof"> & { proof?: readonly Uint8Array[] },
  expect: LogVector["expect"],
) => {
  const { proof: hashes = [], ...rest } = more;
  treeVectors.push({ name: `tree: ${name}`, kind: "tree", tree: { ...rest, proof: hashes.map(hex) }, expect });
};
const olderRoot = (size: number): string => hex(rootOf(leaves.slice(0, size)));
for (const oldSize of [1, 4, 6, 8, 10]) {
  const more = { oldSize, oldRoot: olderRoot(oldSize), size: 11, root: hex(root) };
  const whole = consistencyOf(leaves, oldSize);
  treeCase(`begins with ${oldSize} entries`, { ...more, proof: whole }, "accepted");
  treeCase(
    `begins with ${oldSize} other entries`,
    { ...more, oldRoot: olderRoot(oldSize - 1), proof: whole },
    "refused",
  );
  treeCase(
    `begins with ${oldSize} entries and ends in others`,
    { ...more, root: olderRoot(9), proof: whole },
    "refused",
  );
  treeCase(`begins with ${oldSize} entries, and has a hash more`, { ...more, proof: [...whole, root] }, "refused");
  treeCase(`begins with ${oldSize} entries, and has a hash less`, { ...more, proof: whole.slice(0, -1) }, "refused");
  treeCase(
    `begins with ${oldSize} entries, and has a longer hash`,
    { ...more, proof: whole.with(-1, Buffer.concat([whole.at(-1) ?? root, Buffer.of(0)])) },
    "refused",
  );
}
const none = hex(rootOf([]));
treeCase("begins with none", { oldSize: 0, oldRoot: none, size: 11, root: hex(root) }, "accepted");
treeCase("begins with none of another root", { oldSize: 0, oldRoot: hex(root), size: 11, root: hex(root) }, "refused");
treeCase(
  "begins with none, and has a hash",
  { oldSize: 0, oldRoot: none, size: 11, root: hex(root), proof: [root] },
  "refused",
);
treeCase("is the older one", { oldSize: 11, oldRoot: hex(root), size: 11, root: hex(root) }, "accepted");
treeCase(
  "has the size of the older one and another root",
  { oldSize: 11, oldRoot: olderRoot(10), size: 11, root: hex(root) },
  "refused",
);
treeCase(
  "is the older one, and has a hash",
  { oldSize: 11, oldRoot: hex(root), size: 11, root: hex(root), proof: [root] },
  "refused",
);
treeCase(
  "is smaller than the older one",
  { oldSize: 11, oldRoot: hex(root), size: 8, root: olderRoot(8), proof: [] },
  "refused",
);
treeCase("is smaller, with one root", { oldSize: 11, oldRoot: hex(root), size: 8, root: hex(root) }, "refused");
const twelve = [...leaves, hashOfLeaf(Buffer.from(entry))];
const half = {
  oldSize: 11,
  oldRoot: hex(root),
  size: 11.5,
  root: hex(rootOf(twelve)),
  proof: consistencyOf(twelve, 11),
};
treeCase("has half an entry more", half, "refused");
treeCase("has a size below zero", { oldSize: -1, oldRoot: none, size: 11, root: hex(root) }, "refused");
treeCase("has half an entry", { oldSize: 0.5, oldRoot: none, size: 0.5, root: none }, "refused");

// Adds a vector for the path of a tile.
const pathCase = (text: string, expect: LogVector["expect"]) =>
  treeVectors.push({ name: `path: ${text}`, kind: "path", text, expect });
for (const path of [
  "tile/0/000",
  "tile/0/x001/x234/067",
  "tile/1/999.p/5",
  "tile/entries/x001/000.p/255",
  "tile/63/000",
])
  pathCase(path, "accepted");
for (const path of [
  "tile/0/0",
  "tile/00/000",
  "tile/0/x000/001",
  "tile/0/000.p/0",
  "tile/0/000.p/256",
  "tile/0/000.p/300",
  "tile/0/000.p/01",
  "tile/64/000",
  "tile/entries/../000",
  "tile/0/000/",
  "/tile/0/000",
  "",
])
  pathCase(path, "refused");
const bundleCase = (name: string, bytes: string, expect: LogVector["expect"], again?: LogVector["again"]) =>
  treeVectors.push({ name: `bundle: ${name}`, kind: "bundle", hex: bytes, ...(again && { again }), expect });
const bundled = hex(bundledEntry(Buffer.from(entry)));
bundleCase("of no entry", "", "accepted");
bundleCase("of one entry", bundled, "accepted");
bundleCase("of 256 entries", bundled, "accepted", { at: 0, times: 255, of: bundled });
bundleCase("of 257 entries", bundled, "refused", { at: 0, times: 256, of: bundled });
bundleCase("that ends in an entry", bundled.slice(0, -2), "refused");
bundleCase("that ends in a length", `${bundled}00`, "refused");
