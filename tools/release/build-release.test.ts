import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner, startService } from "@signsealship/testing/service";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import { buildRelease, sizeOf } from "./build-release.ts";

const folder = await forTests(temporaryFolder());
const release = join(folder.path, "release");
const main = join(release, "service/src/cli/main.ts");
// Builds in another process: the build creates millions of promises, and the test runner tracks every promise of its
// own process.
await promisify(execFile)(process.execPath, [join(import.meta.dirname, "build-release.ts"), release]);
const data = await forTests(temporaryFolder());
const service = await forTests(startService({ DATA_DIR: data.path }, { program: main }));

const get = (path: string) => fetch(`${service.baseUrl}${path}`);

test("a release is smaller than 250 MB with Node and PostgreSQL, and contains no development package", () => {
  assert.ok(sizeOf(release) < 250e6, `${sizeOf(release)} bytes`);
  for (const name of ["typescript", "@biomejs/biome", "playwright-core", "@vercel/nft"])
    assert.equal(existsSync(join(release, "node_modules", name)), false, name);
});

test("a release replaces only a release: data, a checkout and other files stay", async () => {
  for (const name of ["var", ".git", "notes.txt"]) {
    const kept = join(release, name);
    mkdirSync(kept);
    await assert.rejects(buildRelease(release), new RegExp(`holds what is of no release: ${name.replace(".", "\\.")}`));
    assert.ok(existsSync(kept) && existsSync(main));
    rmdirSync(kept);
  }
  const other = join(folder.path, "other");
  mkdirSync(join(other, "service"), { recursive: true });
  await assert.rejects(buildRelease(other), /is not empty and holds no release/);
  assert.ok(existsSync(join(other, "service")));
});

test("its own Node runs its command line on a machine with neither Node nor npm", async () => {
  const env = { PATH: "/usr/bin:/bin", HOME: folder.path };
  const { stdout } = await promisify(execFile)(join(release, "bin/signsealship"), ["--version"], { env });
  const { version } = JSON.parse(readFileSync(join(release, "package.json"), "utf8"));
  assert.equal(stdout.trim(), version);
});

test("its service accepts an order, seals a document and serves the certificate, each by worker threads", async () => {
  const { headers } = await newPartner(service);
  const order = await fetch(`${service.baseUrl}/api/partner/orders`, {
    method: "POST",
    headers,
    body: orderForm({ ...minimal, svc_sign: "true" }),
  });
  assert.equal(order.status, 201, await order.text());
  const body = new FormData();
  body.set("file", new Blob([readFileSync(join(release, "examples/lien-release.pdf"))]), "lien-release.pdf");
  const sealed = await fetch(`${service.baseUrl}/api/passport/seal`, { method: "POST", headers, body });
  assert.equal(sealed.status, 200, "the seal");
});

test("its pages load each script and style that they name, and pdf.js", async () => {
  for (const path of ["/verify", "/sign-in", "/docs"]) {
    const html = await (await get(path)).text();
    const named = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, asset]) => asset as string);
    assert.ok(named.length > 0);
    for (const asset of named) assert.equal((await get(asset)).status, 200, asset);
  }
});

test("it finds every package that it needs: doctor reports nothing about the installation", async () => {
  const { checks } = await service.cli<{ checks: { name: string; result: string; detail: string }[] }>("doctor");
  assert.deepEqual(
    checks.filter(({ result }) => result === "failed"),
    [],
  );
});
