import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, runCli, startService, temporaryFolder } from "@signsealship/testing/service";
import { needs } from "@signsealship/testing/tools/tools";

test(
  "a document that does not fit on the disk gets a 503 and leaves no data, and a smaller one is accepted",
  needs("root"),
  async () => {
    const folder = temporaryFolder();
    const blobs = join(folder.path, "blobs");
    mkdirSync(blobs);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", blobs]);
    const service = await startService({ DATA_DIR: folder.path, RATE_LIMITS: "off" });
    try {
      const { headers } = await newPartner(service);
      const large = makePdf({ pages: 1, bytes: 2 << 20 });
      const file = new FormData();
      file.append("file", new Blob([Uint8Array.from(large)]), "large.pdf");
      const send = (path: string, body: FormData) => fetch(service.baseUrl + path, { method: "POST", headers, body });
      for (const answer of [
        await send("/api/partner/orders", orderForm(minimal, large)),
        await send("/api/passport/seal", file),
      ]) {
        assert.equal(answer.status, 503);
        assert.ok(answer.headers.has("retry-after"));
        assert.deepEqual(await answer.json(), { error: "Documents can't be stored now. Try again later." });
      }
      const files = readdirSync(blobs, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      assert.deepEqual(files, []);
      assert.match(service.stderr(), /ENOSPC/);
      assert.equal((await send("/api/partner/orders", orderForm(minimal, makePdf()))).status, 201);
    } finally {
      await service.stop();
      execFileSync("umount", [blobs]);
      folder.remove();
    }
  },
);

test("a command that fails because a disk is full names the folder", needs("root"), async () => {
  const folder = temporaryFolder();
  const small = join(folder.path, "small");
  mkdirSync(small);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", small]);
  const service = await startService({ DATA_DIR: join(folder.path, "var"), RATE_LIMITS: "off" });
  try {
    const { code, stderr } = await runCli({ DATA_DIR: join(folder.path, "var") }, "backup", join(small, "copy"));
    assert.equal(code, 1);
    assert.match(stderr, /^signsealship: the disk of \S+\/small\/copy\.partial\S* is full \(ENOSPC\)$/m);
    assert.doesNotMatch(stderr, /^ +at /m);
  } finally {
    await service.stop();
    execFileSync("umount", [small]);
    folder.remove();
  }
});
