import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "@signsealship/testing/service";

const setup = fileURLToPath(new URL("../bin/setup", import.meta.url));

test("dependencies are installed when the lock file has another content, not when it only has another time", () => {
  const folder = temporaryFolder();
  const at = (...parts: string[]) => join(folder.path, ...parts);
  for (const name of ["bin", "node_modules/.bin"]) mkdirSync(at(name), { recursive: true });
  symlinkSync(process.execPath, at("node_modules/.bin/node"));
  writeFileSync(at("bin/npm"), "#!/bin/sh\necho $1 >> installs; echo {} > node_modules/.package-lock.json\n", {
    mode: 0o755,
  });
  writeFileSync(at("installs"), "");
  const lock = (content: string, seconds: number) => {
    writeFileSync(at("package-lock.json"), content);
    utimesSync(at("package-lock.json"), seconds, seconds);
  };
  const installs = (): string => {
    const env = { ROOT: folder.path, PATH: `${at("bin")}:${process.env["PATH"]}` };
    execFileSync("sh", ["-c", `. ${setup}`], { env, stdio: ["ignore", "ignore", "pipe"] });
    return readFileSync(at("installs"), "utf8").trim().replaceAll("\n", " ");
  };
  const now = Date.now() / 1_000;
  lock("one", now - 100);
  assert.equal(installs(), "ci", "nothing is installed yet");
  assert.equal(installs(), "ci", "the lock file is older than the install");
  lock("one", now + 100);
  assert.equal(installs(), "ci", "a checkout wrote the same lock file again");
  lock("two", now + 100);
  assert.equal(installs(), "ci ci", "the lock file has changed");
  lock("two", now + 300);
  utimesSync(at("node_modules/.package-lock.json"), now + 200, now + 200);
  assert.equal(installs(), "ci ci ci", "npm has installed something else since");
  folder.remove();
});
