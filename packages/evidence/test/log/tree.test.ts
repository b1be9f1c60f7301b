import assert from "node:assert/strict";
import { test } from "node:test";
import { fuzzRuns } from "@signsealship/testing/inputs/fuzz";
import fc from "fast-check";
import { toHex } from "../../src/bytes.ts";
import {
  appendToEdge,
  type EdgeNode,
  foldNodes,
  perfectNodes,
  verifyConsistency,
  verifyInclusion,
} from "../../src/log/log.ts";
import { consistencyOf, hashOfLeaf, hashOfNode, inclusionOf, rootOf } from "./sample-tree.ts";

const leavesOf = (size: number): Uint8Array[] =>
  Array.from({ length: size }, (_, i) => hashOfLeaf(Buffer.from(`leaf ${i}`)));

/**
 * Each row is a leaf and the root of the tree that ends with this leaf. From the test suites of RFC 6962
 * implementations.
 */
const reference = [
  ["", "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"],
  ["00", "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"],
  ["10", "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"],
  ["2021", "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"],
  ["3031", "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4"],
  ["40414243", "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef"],
  ["5051525354555657", "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c"],
  ["606162636465666768696a6b6c6d6e6f", "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"],
] as const;

test("grows to the roots of the reference leaves of RFC 6962", () => {
  const edge: EdgeNode[] = [];
  for (const [leaf, root] of reference) {
    appendToEdge(edge, hashOfLeaf(Buffer.from(leaf, "hex")), hashOfNode);
    const hashes = edge.map(({ hash }) => hash);
    assert.equal(toHex(foldNodes(hashes, hashOfNode) ?? new Uint8Array(0)), root);
  }
});

test("proves each leaf of each tree of up to 70 leaves, at its own place only", async () => {
  for (let size = 1; size <= 70; size++) {
    const leaves = leavesOf(size);
    const root = rootOf(leaves);
    for (const [index, leafHash] of leaves.entries()) {
      const proof = inclusionOf(leaves, index);
      assert.ok(await verifyInclusion({ leafHash, index, size, root, proof }), `${index} of ${size}`);
      const elsewhere = (index + 1) % size;
      const wrong = [
        { leafHash, index: elsewhere, size, root, proof },
        { leafHash, index, size: size + 1, root, proof: [...proof, root] },
        { leafHash, index, size, root, proof: [...proof, root] },
        { leafHash: root, index, size, root, proof },
      ];
      for (const each of size === 1 ? wrong.slice(1, 3) : wrong) assert.equal(await verifyInclusion(each), false);
    }
  }
});

test("proves that a tree begins with each older tree of up to 70 leaves, and with no other", async () => {
  for (let size = 1; size <= 70; size++) {
    const leaves = leavesOf(size);
    const root = rootOf(leaves);
    for (let oldSize = 0; oldSize <= size; oldSize++) {
      const oldRoot = rootOf(leaves.slice(0, oldSize));
      const proof = consistencyOf(leaves, oldSize);
      assert.ok(await verifyConsistency({ oldSize, oldRoot, size, root, proof }), `${oldSize} of ${size}`);
      const forked = rootOf(leaves.with(0, rootOf([])).slice(0, oldSize));
      if (oldSize > 0) assert.equal(await verifyConsistency({ oldSize, oldRoot: forked, size, root, proof }), false);
      if (oldSize > 1) {
        const shorter = { oldSize: oldSize - 1, oldRoot, size, root, proof };
        assert.equal(await verifyConsistency(shorter), false);
      }
      assert.equal(await verifyConsistency({ oldSize, oldRoot, size, root, proof: [...proof, root] }), false);
    }
  }
});

test("refuses sizes that are not whole numbers below 2^53, and an older tree that is larger", async () => {
  const [leafHash = new Uint8Array(32)] = leavesOf(1);
  for (const size of [0, -1, 1.5, 2 ** 53, Number.NaN]) {
    assert.equal(await verifyInclusion({ leafHash, index: 0, size, root: leafHash, proof: [] }), false);
  }
  const shrunk = { oldSize: 2, oldRoot: leafHash, size: 1, root: leafHash, proof: [] };
  assert.equal(await verifyConsistency(shrunk), false);
  const reset = { oldSize: 0, oldRoot: leafHash, size: 1, root: leafHash, proof: [] };
  assert.equal(await verifyConsistency(reset), false);
});

test("refuses a tree with reordered leaves, and one that claims another leaf under its old root", async () => {
  for (let size = 2; size <= 70; size++) {
    const leaves = leavesOf(size + 1);
    const older = leaves.slice(0, size);
    const oldRoot = rootOf(older);
    const proof = consistencyOf(leaves, size);
    const reordered = rootOf([...older.toReversed(), ...leaves.slice(size)]);
    const states = { oldSize: size, oldRoot, size: size + 1 };
    assert.ok(await verifyConsistency({ ...states, root: rootOf(leaves), proof }));
    for (const root of [oldRoot, reordered]) {
      assert.equal(await verifyConsistency({ ...states, root, proof }), false);
      assert.equal(await verifyConsistency({ ...states, root, proof: [] }), false);
    }
    assert.equal(
      await verifyConsistency({ oldSize: size, oldRoot, size, root: rootOf(older.toReversed()), proof: [] }),
      false,
    );
  }
});

test("refuses a proof with any hash changed, removed, or moved", async () => {
  const size = fc.integer({ min: 2, max: 300 });
  const property = fc.asyncProperty(size, fc.nat(), fc.nat(), fc.nat(), async (count, pick, place, how) => {
    const leaves = leavesOf(count);
    const root = rootOf(leaves);
    const index = pick % count;
    const leafHash = leaves[index] ?? root;
    const proof = inclusionOf(leaves, index);
    const at = place % proof.length;
    const changed = proof[at]?.map((byte, i) => (i === how % 32 ? byte ^ 1 : byte)) ?? root;
    for (const wrong of [proof.with(at, changed), proof.toSpliced(at, 1), proof.toSpliced(at, 0, changed)]) {
      assert.equal(await verifyInclusion({ leafHash, index, size: count, root, proof: wrong }), false);
    }
  });
  await fc.assert(property, { numRuns: fuzzRuns(500), seed: 39 });
});

test("splits each range of a proof into whole subtrees", () => {
  const leaves = leavesOf(300);
  for (const size of [1, 2, 3, 7, 255, 256, 257, 300]) {
    const nodes = perfectNodes({ start: 0, end: size });
    const hashes = nodes.map(({ level, index }) => rootOf(leaves.slice(index * 2 ** level, (index + 1) * 2 ** level)));
    assert.deepEqual(foldNodes(hashes, hashOfNode), rootOf(leaves.slice(0, size)));
  }
});
