import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openHarness } from "@signsealship/testing/harness";
import { temporaryFolder } from "@signsealship/testing/service";
import { needs } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { sql } from "../../src/kernel/platform/database/sql.ts";
import { liveWords } from "../../src/pages/ui/live/words/languages.ts";
import { type ChainLine, emptyChain, followChain } from "../../src/providers/media/chain.ts";
import { openSpool, readSpool, recordKey, spoolFiles } from "../../src/providers/media/spool.ts";
import { postForm } from "../firms/members/signed-in-member.ts";
import { liveSettings } from "../signing/notaries/sessions/live-rules.ts";
import { connectAll, liveWorld } from "../signing/notaries/sessions/live-world.ts";

const mount = (size: string, path: string) =>
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size},mode=700`, "tmpfs", path]);
const resize = (size: string, path: string) => execFileSync("mount", ["-o", `remount,size=${size}`, path]);

test(
  "a session is warned when the disk of its recording is nearly full, and ends without an act when it is full; nothing recorded is lost",
  needs("root"),
  async () => {
    const folder = temporaryFolder();
    const running = await openHarness(liveSettings(folder.path));
    const [node = ""] = readdirSync(join(running.service.dataDir, "recordings"));
    const disk = join(running.service.dataDir, "recordings", node);
    // A session begins only if this disk has at least 100 MB free. The disk also needs space for two hours of recording
    // of all people of the session.
    mount("4g", disk);
    const peers: Awaited<ReturnType<typeof connectAll>> = [];
    try {
      const world = await liveWorld(running, folder.path);
      const session = await world.begin("disk@example.com");
      const [notary, signer] = session.pages;
      assert.ok(notary && signer);
      const show = async ({ path, cookie }: typeof notary, rest = "") =>
        (await fetch(running.service.baseUrl + path + rest, { headers: { cookie } })).text();
      const { room, ended } = liveWords.en;
      peers.push(...(await connectAll(running.service.baseUrl, session)));
      await world.recordedSince(0, session);
      assert.doesNotMatch(await show(notary, "/part"), /nearly full/);

      resize("60m", disk);
      await until(async () => /room to record for about \d+ more minutes/.test(await show(notary, "/part")));
      assert.match(await show(signer), new RegExp(room.diskLow));
      await assert.rejects(
        world.begin("another@example.com"),
        /too little room for another recording: 0\.\d GB are free, and \d\.\d GB are needed/,
      );

      resize("9m", disk);
      await until(async () => (await show(signer)).includes(ended.unrecorded));
      await until(async () => /The recording could not go on/.test(await show(notary, "/part")));
      const marked = await postForm(
        `${running.service.baseUrl}${notary.path}/mark`,
        { step: "open" },
        { cookie: notary.cookie },
      );
      assert.equal(marked.status, 409);
      const { manifest, lines } = await world.recordOf(session);
      assert.deepEqual(followChain(emptyChain, lines), {
        seq: manifest.chain.lines,
        sha256: manifest.chain.headSha256,
      });
      assert.ok(lines.length > 0);
      assert.ok((manifest as unknown as { marks: { kind: string }[] }).marks.some(({ kind }) => kind === "disk_low"));
      const told = await running.db.query<{ topic: string; cause: string | null }>(sql`
        SELECT e.topic, e.cause FROM recording_events e JOIN recordings r ON r.id = e.recording_id
        WHERE r.session = ${session.id} ORDER BY e.event_row`);
      assert.deepEqual(
        told.map(({ topic, cause }) => [topic, cause]),
        [
          ["recording.started", null],
          ["recording.interrupted", "disk_full"],
          ["recording.completed", null],
        ],
      );
      assert.equal((await fetch(`${running.service.baseUrl}/healthz`)).status, 200);
      const metrics = await (await fetch(`${running.service.baseUrl}/metrics`)).text();
      assert.match(metrics, /recording_disk_free_bytes \d+/);
      assert.match(metrics, /recording_disk_least_bytes 100000000/);
      assert.match(metrics, /recording_stored_bytes [1-9]/);
      assert.match(metrics, /^live_sessions\{state="live"\} 0$/m);

      resize("4g", disk);
      await world.begin("later@example.com");
      const later = await (await fetch(`${running.service.baseUrl}/metrics`)).text();
      assert.match(later, /^live_sessions\{state="(?:live|held)"\} 1$/m);
    } finally {
      await Promise.all(peers.map((peer) => peer.close()));
      await running.close().catch(() => {});
      execFileSync("umount", ["-l", disk]);
      folder.remove();
    }
  },
);

test("a disk that fills up in the middle of a chunk loses none of the chunks before it", needs("root"), async () => {
  const folder = temporaryFolder();
  mount("1m", folder.path);
  try {
    const lines: ChainLine[] = [];
    const failures: string[] = [];
    const spool = openSpool({
      folder: join(folder.path, "session"),
      key: recordKey(randomBytes(32)),
      head: emptyChain,
      now: Date.now,
      onChunk: (line) => void lines.push(line),
      onPart: () => {},
      onFailure: ({ message }) => void failures.push(message),
    });
    for (let n = 0; n < 20; n++)
      spool.add({ take: 0, n, person: "notary", from: n, to: n + 1, isKey: true, bytes: randomBytes(99_991) });
    await spool.close();
    assert.equal(failures.length, 1);
    assert.match(failures[0] ?? "", /ENOSPC/);
    assert.ok(lines.length > 0 && lines.length < 20);
    const read = await Promise.all((await spoolFiles(join(folder.path, "session"))).map((file) => readSpool(file)));
    assert.deepEqual(
      read.flatMap(({ chunks }) => chunks.map(({ line }) => line)),
      lines,
    );
    assert.ok(!("brokenAt" in followChain(emptyChain, lines)));
  } finally {
    execFileSync("umount", [folder.path]);
    folder.remove();
  }
});
