import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@signsealship/testing/service";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { caFinding } from "../../../src/upkeep/doctor/outside.ts";

const { after, before, describe, test } = testsNeeding("openssl");

const folder = temporaryFolder();
after(folder.remove);

const day = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * day);

function file(name: string, content: string): string {
  const path = join(folder.path, name);
  writeFileSync(path, content);
  return path;
}

/** PEM of an authority's certificate that is valid for this many days. */
function authority(name: string, days: number): string {
  const [key, certificate] = [join(folder.path, `${name}.key`), join(folder.path, `${name}.crt`)];
  const made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-keyout", key, "-out", certificate];
  execFileSync("openssl", ["req", "-x509", ...made, "-subj", `/CN=${name}`, "-days", String(days)], { stdio: "pipe" });
  return readFileSync(certificate, "utf8");
}

let long: string;
let short: string;
before(() => {
  long = authority("Long Lived", 400);
  short = authority("Short Lived", 10);
});

describe("the authorities of WEBHOOK_CA", () => {
  test("are counted", async () => {
    const [one, two] = [file("one.pem", long), file("two.pem", `a remark\n${long}\n${short}`)];
    assert.deepEqual(await caFinding(one, inDays(0)), {
      name: "webhook authorities",
      result: "ok",
      detail: `${one}: 1 certificate`,
    });
    assert.equal((await caFinding(two, inDays(0))).detail, `${two}: 2 certificates`);
  });

  test("are named when one has expired", async () => {
    const { result, detail } = await caFinding(file("both.pem", long + short), inDays(20));
    assert.equal(result, "warning");
    assert.match(detail, /2 certificates; CN=Short Lived expired on \d{4}-\d\d-\d\d$/);
  });

  test("fail when the file is missing, is not a certificate file, or contains an unreadable certificate", async () => {
    const broken = long.replace(/\n(.{20})/, (_all, start: string) => `\n${[...start].reverse().join("")}`);
    for (const path of [
      join(folder.path, "missing.pem"),
      file("none.pem", "no certificate"),
      file("broken.pem", broken),
      file("second-broken.pem", long + broken),
      file("second-cut.pem", long + short.slice(0, 200)),
    ])
      assert.equal((await caFinding(path, inDays(0))).result, "failed", path);
  });

  test("are optional", async () => {
    assert.equal((await caFinding(null, inDays(0))).result, "ok");
  });
});
