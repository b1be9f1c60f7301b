import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "../../../..");
const entries = readdirSync(join(root, "service/src"), { withFileTypes: true });
const wings = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);

test("the service has twelve wings, and four files that start and run them", () => {
  const loose = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  assert.deepEqual(loose.toSorted(), ["app.ts", "features.ts", "jobs.ts", "main.ts"]);
  assert.equal(wings.length, 12);
});

test("every wing except the last has an import rule, which refuses the wings above it", () => {
  const rules = createRequire(import.meta.url)(join(root, ".dependency-cruiser.cjs")) as {
    forbidden: { name: string }[];
  };
  const ruled = rules.forbidden.flatMap(({ name }) => /^imports-of-(\w+)$/.exec(name)?.[1] ?? []);
  assert.deepEqual(
    wings.filter((wing) => !ruled.includes(wing)),
    ["cli"],
  );
});

test("every folder of a feature with floors is one of its floors", () => {
  const { forbidden } = createRequire(import.meta.url)(join(root, ".dependency-cruiser.cjs")) as {
    forbidden: { name: string }[];
  };
  for (const feature of ["orders/payments", "signing/envelopes", "signing/notaries"]) {
    const folders = readdirSync(join(root, "service/src", feature), { withFileTypes: true });
    const pattern = new RegExp(`^imports-of-${feature.replace("/", "-")}-(.+)$`);
    const ruled = forbidden.flatMap(({ name }) => pattern.exec(name)?.[1] ?? []);
    assert.deepEqual(
      ruled.toSorted(),
      folders
        .filter((each) => each.isDirectory())
        .map(({ name }) => name)
        .toSorted(),
    );
  }
});

test("every wing has a page, which the picture of the architecture links", () => {
  const picture = readFileSync(join(root, "docs/architecture.md"), "utf8");
  for (const wing of wings) {
    assert.ok(picture.includes(`[${wing}](architecture/${wing}.md)`), wing);
    const page = readFileSync(join(root, `docs/architecture/${wing}.md`), "utf8");
    for (const part of ["feature", "table", "law"]) assert.match(page, new RegExp(part, "i"), `${wing}: ${part}`);
  }
});

const pageOf = (wing: string): string => readFileSync(join(root, `docs/architecture/${wing}.md`), "utf8");

test("the page of a wing names its folders, its tables, and only tests that exist", () => {
  const { tables } = JSON.parse(readFileSync(join(root, "service/migrations/owners.json"), "utf8")) as {
    tables: Record<string, { owner: string }>;
  };
  const unnamed = Object.entries(tables).filter(
    ([table, { owner }]) => !pageOf(owner.split("/")[0] ?? "").includes(`\`${table}\``),
  );
  assert.deepEqual(unnamed, []);
  for (const wing of wings) {
    const page = pageOf(wing);
    const folders = readdirSync(join(root, "service/src", wing), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    for (const { name } of folders)
      assert.ok(page.includes(`${name}/`) || page.includes(`\`${name}\``), `${wing}/${name}`);
    for (const [, test = ""] of page.matchAll(/`(test\/[^`*]+\.ts)`/g))
      assert.ok(existsSync(join(root, "service", test)), `${wing}: ${test}`);
  }
});

test("the map of the contract names only files and folders that exist", () => {
  const map = readFileSync(join(root, "docs/contract-map.md"), "utf8");
  const paths = [...map.replaceAll(/^[^|].*$/gm, "").matchAll(/`([a-z-]+\/[^` ]+)`/g)];
  assert.ok(paths.length > 100, "the paths were found");
  const missing = paths.flatMap(([, path = ""]) => {
    const source = path.startsWith("packages/") ? "." : "service/src";
    const place = join(root, path.endsWith(".test.ts") ? "service/test" : source, path);
    return existsSync(place) ? [] : [path];
  });
  assert.deepEqual(missing, []);
});
