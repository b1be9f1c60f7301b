import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, test } from "node:test";
import { runInNewContext } from "node:vm";
import { until } from "@signsealship/testing/until";
import { buildAssets } from "../../../src/web/ui/assets.ts";

const assets = await buildAssets();
const gzippedSize = (name: Parameters<typeof assets.url>[0]) =>
  assets.find(assets.url(name).slice("/assets/".length))?.gzipped.length ?? Number.POSITIVE_INFINITY;

describe("the bundles", () => {
  test("are small: what a first visit loads, compressed", () => {
    assert.ok(gzippedSize("verify.js") < 66_000, `verify.js ${gzippedSize("verify.js")}`);
    assert.ok(gzippedSize("seal.js") < 2_000, `seal.js ${gzippedSize("seal.js")}`);
    assert.ok(gzippedSize("site.css") < 20_000, `site.css ${gzippedSize("site.css")}`);
  });

  test("are the same bytes whenever they are made", async () => {
    const again = await buildAssets();
    for (const name of ["verify.js", "seal.js", "site.css"] as const)
      assert.equal(again.url(name), assets.url(name), name);
  });

  test("keep to the page's policy: nothing makes code of text or loads more code", () => {
    for (const name of ["verify.js", "seal.js", "copy.js", "recaptcha.js"] as const)
      assert.doesNotMatch(assets.bytes(name).toString(), /\beval\(|new Function\b|\bimport\(|\brequire\(/, name);
  });

  test("run without leaving names behind", () => {
    const document = { addEventListener() {} };
    const scope = { document };
    runInNewContext(assets.bytes("copy.js").toString(), scope);
    assert.deepEqual(Object.keys(scope), ["document"]);
  });
});

test("making the bundles leaves no process behind", async () => {
  await buildAssets();
  const children = () =>
    execFileSync("ps", ["-o", "args=", "--ppid", String(process.pid)], { encoding: "utf8" }).includes("esbuild");
  await until(() => !children());
});
