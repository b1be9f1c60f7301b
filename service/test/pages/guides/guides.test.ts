import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { withTables } from "../../../../tools/guide-tables.ts";
import { guideNames } from "../../../src/pages/guides/guides.ts";
import { servePages } from "../ui/serve-pages.ts";

const site = await forTests(servePages({}));

const textOf = async (path: string) => (await fetch(site.baseUrl + path)).text();
const paths = () => ["/docs", ...guideNames.map((name) => `/docs/${name}`)];

test("the docs list every guide, the reference and the description for machines", async () => {
  const index = await textOf("/docs");
  for (const href of [...paths().slice(1), "/docs/reference", "/openapi.json", "/docs/collection.json"])
    assert.ok(index.includes(`href="${href}"`), href);
});

test("every guide is a page without scripts of its own, and its samples name this service", async () => {
  for (const path of paths()) {
    const response = await fetch(site.baseUrl + path);
    assert.equal(response.status, 200, path);
    const page = await response.text();
    assert.match(page, /<h1[ >]/, path);
    assert.doesNotMatch(page, /<script>|<style>| style="| on\w+="|sign\.example\.com/, path);
    assert.doesNotMatch(page, /src="https?:|<link[^>]+https?:/, path);
  }
  assert.match(await textOf("/docs/quickstart"), /curl -sS http:\/\/localhost\/api\/partner\/me/);
});

test("every link of a guide to this site leads to an existing page and heading", async () => {
  const pages = new Map(await Promise.all(paths().map(async (path) => [path, await textOf(path)] as const)));
  for (const [path, page] of pages)
    for (const [, href = ""] of page.matchAll(/href="(\/docs[^"]*)"/g)) {
      const [to = "", heading] = href.split("#");
      if (["/docs/reference", "/docs/collection.json"].includes(to)) continue;
      assert.ok(pages.has(to), `${path}: ${href}`);
      if (heading) assert.ok(pages.get(to)?.includes(`id="${heading}"`), `${path}: ${href}`);
    }
});

test("an unknown guide gets a 404, and so does a file next to the guides", async () => {
  for (const path of ["/docs/none", "/docs/quickstart.md", "/docs/..%2fpackage.json"])
    assert.equal((await fetch(site.baseUrl + path)).status, 404, path);
});

test("the tables of errors and limits agree with the code; tools/guide-tables.ts writes them", () => {
  for (const name of guideNames) {
    const markdown = readFileSync(new URL(`../../../guides/${name}.md`, import.meta.url), "utf8");
    assert.equal(markdown, withTables(markdown), name);
  }
});

test("a sample is shown literally: nothing in it is read as HTML", async () => {
  const page = await textOf("/docs/webhooks");
  assert.ok(page.includes("&lt;?php"));
  assert.ok(page.includes("t=&lt;unix seconds&gt;,v1=&lt;hex&gt;"));
});
