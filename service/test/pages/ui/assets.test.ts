import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";
import { gunzipSync } from "node:zlib";
import { until } from "@signsealship/testing/until";
import { buildAssets } from "../../../src/pages/ui/assets/assets.ts";
import { unusedInPico } from "../../../src/pages/ui/assets/pico.ts";

const pages = fileURLToPath(new URL("../../../src/pages/", import.meta.url));

const assets = await buildAssets();
const gzippedSize = (name: Parameters<typeof assets.url>[0]) =>
  assets.find(assets.url(name).slice("/assets/".length))?.gzipped.length ?? Number.POSITIVE_INFINITY;

describe("the bundles", () => {
  test("are small: the files that a first visit loads, compressed", () => {
    assert.ok(gzippedSize("verify.js") < 96_000, `verify.js ${gzippedSize("verify.js")}`);
    assert.ok(gzippedSize("seal.js") < 2_000, `seal.js ${gzippedSize("seal.js")}`);
    assert.ok(gzippedSize("site.css") < 14_000, `site.css ${gzippedSize("site.css")}`);
    assert.ok(gzippedSize("sign.js") < 14_000, `sign.js ${gzippedSize("sign.js")}`);
    assert.ok(gzippedSize("act-check.js") < 27_500, `act-check.js ${gzippedSize("act-check.js")}`);
  });

  test("leave out only rules of Pico about things that no page has", async () => {
    const sources = await Promise.all(
      (await readdir(pages, { recursive: true }))
        .filter((name) => name.endsWith(".ts") && !name.endsWith("assets/pico.ts"))
        .map((name) => readFile(`${pages}${name}`, "utf8")),
    );
    const markup = sources.join("\n");
    /** A pattern that finds markup to which the last part of a selector may apply. */
    const inMarkup = (part: string): RegExp => {
      const [, state = ""] = /^\[.*\]:(\w+)$/.exec(part) ?? [];
      if (state !== "") return new RegExp(`\\.${state} = `);
      const [, name = "", value = ""] = /^\[([\w-]+)=?(.*?)\]?$/.exec(part) ?? [];
      if (name !== "") return new RegExp(value === "" ? `\\b${name}\\b` : `\\b${name}(?:="|", ")${value}"`);
      const [, outer = "", inner = ""] = /^(\w+)>(\w+)$/.exec(part) ?? [];
      if (outer !== "") return new RegExp(`<${outer}[^>]*>\\s*<${inner}\\b|make\\("${inner}"`);
      const [, element = "", own = ""] = /^(\w*)\.([\w-]+)$/.exec(part) ?? [];
      if (element !== "") return new RegExp(`<${element}[^>]*class="[^"]*${own}`);
      return new RegExp(own !== "" ? `class(?:Name: |=)"[^"]*(?<![\\w-])${own}` : `<${part}\\b`);
    };
    const css = assets.bytes("site.css").toString();
    const isUsed = (part: string): boolean => {
      if (part === ":host") return markup.includes("attachShadow");
      // Only Internet Explorer and Edge before version 79 have pseudo-elements with this prefix.
      if (part === "::-ms-") return false;
      if (part.startsWith("@keyframes ")) return new RegExp(`animation(-name)?:[^;}]*${part.slice(11)}`).test(css);
      // A pseudo-class without an element could match any element, so it counts as used.
      return part.startsWith(":") || inMarkup(part).test(markup);
    };
    assert.deepEqual(unusedInPico.filter(isUsed), []);
    assert.doesNotMatch(css, /details\.dropdown|\[data-tooltip\]|hgroup/);
    assert.match(css, /\[type=range\]/);
  });

  test("have Pico's rules behind an escaped backslash, and its license", () => {
    const css = assets.bytes("site.css").toString();
    for (const rule of [
      "progress[value]::-webkit-progress-value{",
      "progress:indeterminate{",
      "[disabled]{cursor:not-allowed}",
      "@media(prefers-reduced-motion:reduce){:not([aria-busy=true])",
    ])
      assert.ok(css.includes(rule), rule);
    assert.match(css, /\/\*![^/]*Pico CSS[^/]*\(https:\/\/picocss\.com\)[^/]*Licensed under MIT/);
  });

  test("are the same bytes in every build", async () => {
    const again = await buildAssets();
    for (const name of ["verify.js", "seal.js", "site.css"] as const)
      assert.equal(again.url(name), assets.url(name), name);
  });

  test("obey the page's policy: nothing turns text into code or loads more code", () => {
    for (const name of ["verify.js", "seal.js", "copy.js", "recaptcha.js"] as const)
      assert.doesNotMatch(assets.bytes(name).toString(), /\beval\(|new Function\b|\bimport\(|\brequire\(/, name);
  });

  test("the signing page's script imports one module, which is pdf.js", () => {
    const script = assets.bytes("sign.js").toString();
    assert.doesNotMatch(script, /\beval\(|new Function\b|\brequire\(/);
    assert.equal(script.match(/\bimport\(/g)?.length, 1);
  });

  test("run without leaving global names", () => {
    const document = { addEventListener() {} };
    const scope = { document };
    runInNewContext(assets.bytes("copy.js").toString(), scope);
    assert.deepEqual(Object.keys(scope), ["document"]);
  });
});

describe("pdf.js", () => {
  const { folder, find } = assets.pdfJs;

  test("is served as its makers built it, under an address with its version, with the files that documents may need", async () => {
    assert.match(folder, /^\/assets\/pdfjs-\d+\.\d+\.\d+\/$/);
    for (const [path, mediaType] of [
      ["build/pdf.min.mjs", "text/javascript; charset=utf-8"],
      ["build/pdf.worker.min.mjs", "text/javascript; charset=utf-8"],
      ["cmaps/UniGB-UCS2-H.bcmap", "application/octet-stream"],
      ["standard_fonts/FoxitSerif.pfb", "application/octet-stream"],
      ["wasm/openjpeg_nowasm_fallback.js", "text/javascript; charset=utf-8"],
    ] as const) {
      const asset = await find(path);
      assert.equal(asset?.mediaType, mediaType, path);
      assert.ok(gunzipSync(asset.gzipped).equals(asset.bytes), path);
      assert.equal(await find(path), asset);
    }
  });

  test("serves nothing else of its folder, and nothing next to it", async () => {
    for (const path of [
      "package.json",
      "build/pdf.worker.mjs.map",
      "build/pdf.sandbox.min.mjs",
      "cmaps/../package.json",
      "cmaps/none.bcmap",
      "../pg/package.json",
    ])
      assert.equal(await find(path), undefined, path);
  });
});

test("building the bundles leaves no process behind", async () => {
  await buildAssets();
  const children = () =>
    execFileSync("ps", ["-o", "args=", "--ppid", String(process.pid)], { encoding: "utf8" }).includes("esbuild");
  await until(() => !children());
});
