import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { depsTypesOf, mixedObjectsIn, openedIn } from "../../../../testing/bags.ts";
import { sourcesOf } from "../../../../testing/table-owners.ts";

const source = join(import.meta.dirname, "../../../src");

/** The most members that a dependencies type may have. */
const max = 8;

test("types of dependencies have few members", () => {
  const files = sourcesOf(source).map(({ file }) => file);
  const types = depsTypesOf(source, files);
  assert.ok(types.length > 150, "the types were found");
  const larger = types.filter(({ members }) => members.length > max);
  assert.deepEqual(
    larger.map(({ file, name, members }) => `${file} ${name}: ${members.length}`),
    [],
  );
});

test("a function that opens features returns few, except the one that opens all of them", () => {
  const opened = sourcesOf(source).flatMap(({ file, source }) => openedIn(source).map((each) => ({ file, ...each })));
  assert.ok(opened.length > 10, "the functions were found");
  const larger = opened.filter(({ members }) => members.length > max);
  assert.deepEqual(
    larger.map(({ file, name }) => `${file} ${name}`),
    ["features.ts openFeatures"],
  );
});

const wings = sourcesOf(source).flatMap(({ file }) => (/^\w+\/wing\.ts$/.test(file) ? [file] : []));

test("finds the files that open the wings", () => assert.ok(wings.length > 5));

for (const file of ["app.ts", "features.ts", "jobs.ts", "pages/pages.ts", "pages/page-deps.ts", ...wings])
  test(`${file} passes features, and does not spread several into one object`, () => {
    assert.deepEqual(mixedObjectsIn(readFileSync(join(source, file), "utf8"), ["frame", "common"]), []);
  });

const planted: Readonly<Record<string, string>> = {
  "root/base.ts": "export type BaseDeps = { a: string; b: number };\nexport type Named = { c: string };",
  "root/door.ts": 'export { type BaseDeps as Base } from "./base.ts";',
  "root/user.ts": `
    import type { Base } from "./door.ts";
    import type { Named } from "./base.ts";
    import type { Away } from "away";
    export type SumDeps = Base & Named & { d: () => void };
    type PartDeps = Pick<Base, "a"> & Omit<SumDeps, "a" | "b">;
    type AwayDeps = (Away) & { b: number } & Base;`,
};

test("counts the members of an object type that has an opened feature, whatever its name, and of those in dependencies", () => {
  const source = `
    type OrderDeps = { db: string; documents: { of: () => { a: 1; b: 2 }; read: string } };
    export type Desk = { orders: OrderDeps; moves: Pick<MoveDeps, "db">; title: string };
    export function open(deps: { fills: FillDeps; log: string }): { answer: string } {}
    type View = { order: string; title: string };`;
  const types = depsTypesOf("root", ["base.ts"], () => source);
  assert.deepEqual(Object.fromEntries(types.map(({ name, members }) => [name, members.toSorted().join()])), {
    OrderDeps: "db,documents",
    "OrderDeps.documents": "of,read",
    Desk: "moves,orders,title",
    open: "fills,log",
  });
});

test("counts the members of intersections, parts and imported types once", () => {
  const read = (file: string) => planted[file] ?? "";
  const types = depsTypesOf("root", ["base.ts", "user.ts"], read);
  assert.deepEqual(Object.fromEntries(types.map(({ name, members }) => [name, members.toSorted().join()])), {
    BaseDeps: "a,b",
    SumDeps: "a,b,c,d",
    PartDeps: "a,c,d",
    AwayDeps: "Away,a,b",
  });
});

test("finds an object into which two others are spread, and none with only one", () => {
  assert.deepEqual(mixedObjectsIn("f({ ...a, ...b.c, d: { ...e } })", []), ["a and b.c"]);
  assert.deepEqual(mixedObjectsIn("const g = () => ({ ...open(), h, ...i })", []), ["open and i"]);
  assert.deepEqual(mixedObjectsIn("f({ ...frame, ...b, c })", ["frame"]), []);
});

test("counts the members that a function named open... returns without a declared type", () => {
  const source = `
    export function openDesk() { const a = 1; return { a, b: 2, ...{ c: 3 }, ...others, d() {} }; }
    export function openTyped(): Desk { return { a: 1 }; }
    function opener() { return { a: 1 }; }`;
  assert.deepEqual(openedIn(source), [{ name: "openDesk", members: ["a", "b", "c", "others", "d"] }]);
});
