import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { prepareDatabase } from "@signsealship/testing/data-template";
import { freePort } from "@signsealship/testing/free-port";
import { endWithTests } from "@signsealship/testing/reaper";
import { prepareSealKey } from "@signsealship/testing/seal-keys";
import { ownProcess, runCli, startService, temporaryFolder } from "@signsealship/testing/service";
import { needs } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { sql } from "../../src/kernel/platform/database/sql.ts";
import { openLog } from "../../src/kernel/platform/logs.ts";
import { createWorkerPool } from "../../src/kernel/platform/workers/pool.ts";
import { serve } from "../../src/main.ts";

const folders: (() => void)[] = [];
function folder(): string {
  const { path, remove } = temporaryFolder();
  folders.push(remove);
  return join(path, "var");
}
after(() => {
  for (const remove of folders) remove();
});

const postmasterPid = (dataDir: string): number =>
  Number(readFileSync(join(dataDir, "postgres/cluster/postmaster.pid"), "utf8").split("\n")[0]);
const alive = (pid: number): boolean => existsSync(`/proc/${pid}`);
const status = async (url: string): Promise<number> => (await fetch(url)).status;

test("the first start prints the demo partner's test key once, and the key works", async () => {
  const service = await startService({ DATA_DIR: folder() }, { firstStart: true });
  const [key] = /svc_pk_test_[a-z2-7]{52}/.exec(service.stdout()) ?? [];
  assert.ok(key);
  const me = await fetch(`${service.baseUrl}/api/partner/me`, { headers: { Authorization: `Bearer ${key}` } });
  assert.equal(me.status, 200);
  await service.stop();
  const again = await service.restart();
  assert.doesNotMatch(again.stdout(), /svc_pk_/);
  await again.stop();
});

test("SIGTERM ends the service with 0 and leaves no database server behind", async () => {
  const dataDir = folder();
  const service = await startService({ DATA_DIR: dataDir, ...ownProcess });
  const server = postmasterPid(dataDir);
  assert.ok(alive(server));
  assert.equal(await service.stop(), 0);
  assert.equal(alive(server), false);
});

test("after kill -9 the next start joins the surviving database server, and stops it at its own end", async () => {
  const dataDir = folder();
  const service = await startService({ DATA_DIR: dataDir, ...ownProcess });
  const server = postmasterPid(dataDir);
  await service.kill();
  assert.ok(alive(server));
  const again = await service.restart();
  assert.equal(postmasterPid(dataDir), server);
  assert.equal(await status(`${again.baseUrl}/readyz`), 200);
  await again.stop();
  assert.equal(alive(server), false);
});

test("after kill -9 of service and database server the next start recovers", async () => {
  const dataDir = folder();
  const service = await startService({ DATA_DIR: dataDir, ...ownProcess });
  await service.kill();
  process.kill(postmasterPid(dataDir), "SIGKILL");
  const again = await service.restart();
  assert.equal(await status(`${again.baseUrl}/readyz`), 200);
  await again.stop();
});

test("two services on one folder share one database server, and the last one stops it", async () => {
  const dataDir = folder();
  const first = await startService({ DATA_DIR: dataDir, ...ownProcess });
  const second = await startService({ DATA_DIR: dataDir, ...ownProcess });
  const server = postmasterPid(dataDir);
  await first.stop();
  assert.equal(await status(`${second.baseUrl}/readyz`), 200);
  await second.stop();
  assert.equal(alive(server), false);
});

const workerFault = new Error("a worker thread does not end");

/** Serves in this process, and stops at once. The pool of workers reports that it can't be closed. */
async function serveWithStuckWorkers(dataDir: string, port: number): Promise<{ error: unknown; log: string }> {
  await prepareDatabase(dataDir);
  prepareSealKey(dataDir);
  const lines: string[] = [];
  const env = { DATA_DIR: dataDir, PORT: String(port), TSA_URLS: "off", OTS_CALENDARS: "off", LOG_LEVEL: "error" };
  const error = await serve(env, {
    print: () => {},
    openLog: (level) => openLog(level, { write: (text) => void lines.push(text) }),
    openWorkers() {
      const pool = createWorkerPool({ size: 1, heapMb: 512, processMb: 16_384 });
      return { ...pool, close: () => pool.close().then(() => Promise.reject(workerFault)) };
    },
    stopped: Promise.resolve("the test's end"),
  }).catch((thrown: unknown) => thrown);
  return { error, log: lines.join("") };
}

const hasServer = (dataDir: string): boolean => existsSync(join(dataDir, "postgres/cluster/postmaster.pid"));

test("serve fails with the error of a part that can't be closed, and closes the parts after it", async () => {
  const dataDir = folder();
  const { error } = await serveWithStuckWorkers(dataDir, await freePort());
  assert.equal(error, workerFault);
  assert.equal(hasServer(dataDir), false);
});

test("serve fails with the error of its start, and logs a part that can't be closed", async () => {
  const blocker = createServer().listen(0, "127.0.0.1");
  await once(blocker, "listening");
  const address = blocker.address();
  const dataDir = folder();
  const { error, log } = await serveWithStuckWorkers(
    dataDir,
    typeof address === "object" && address ? address.port : 0,
  );
  blocker.close();
  assert.match(String(error), /PORT \d+ is taken/);
  assert.match(log, /a worker thread does not end/);
  assert.equal(hasServer(dataDir), false);
});

test("a start that fails after Redis was opened ends the process", async () => {
  const { code, stderr } = await runCli(
    { ...ownProcess, DATA_DIR: folder(), REDIS_URL: "redis://127.0.0.1:1", TERMS_TEXT: join(folder(), "missing.txt") },
    "serve",
  );
  assert.equal(code, 1, stderr);
  assert.match(stderr, /TERMS_TEXT/);
});

async function refusedStart(env: Record<string, string>): Promise<string> {
  const { code, stderr } = await runCli(env, "serve");
  assert.equal(code, 1, stderr);
  assert.equal(stderr.trim().split("\n").length, 1, stderr);
  return stderr;
}

test("a bad setting gives one line that names the variable and its allowed values", async () => {
  assert.match(
    await refusedStart({ DATA_DIR: folder(), PORT: "eighty" }),
    /PORT must be a port number from 1 to 65535/,
  );
  assert.match(await refusedStart({ DATA_DIR: folder(), RATE_LIMITS: "maybe" }), /RATE_LIMITS must be on or off/);
  assert.match(
    await refusedStart({ DATA_DIR: folder(), STRIPE_SECRET_KEY: "sk_test_x" }),
    /STRIPE_WEBHOOK_SECRET must be set/,
  );
  assert.match(
    await refusedStart({ DATA_DIR: folder(), STRIPE_SECRET_KEY: "sk_test_x", STRIPE_WEBHOOK_SECRET: "whsec_x, " }),
    /STRIPE_WEBHOOK_SECRET must be one secret, or several secrets with commas between them/,
  );
  assert.match(
    await refusedStart({ DATA_DIR: folder(), DATABASE_URL: "mysql://x" }),
    /DATABASE_URL must be a postgres:\/\/ URL/,
  );
  for (const name of ["DATABASE_URL", "SMTP_URL", "REDIS_URL"]) {
    const told = await refusedStart({ DATA_DIR: folder(), [name]: "https://user:open-sesame@mail.example" });
    assert.match(told, new RegExp(`${name} must be an? `));
    assert.equal(told.includes("sesame"), false);
  }
});

test("a taken port gives one line", async () => {
  const blocker = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => blocker.once("listening", resolve));
  const address = blocker.address();
  const port = typeof address === "object" && address ? address.port : 0;
  assert.match(
    await refusedStart({ DATA_DIR: folder(), PORT: String(port) }),
    new RegExp(`PORT ${port} is taken .*: choose another, for example PORT=`),
  );
  blocker.close();
});

const lowPorts = "/proc/sys/net/ipv4/ip_unprivileged_port_start";
const isEveryPortOpen = !existsSync(lowPorts) || Number(readFileSync(lowPorts, "utf8")) <= 80;

test(
  "a port that needs a right gives one line that names the ports without it",
  isEveryPortOpen ? { skip: "needs ports that are not open to everybody" } : needs("root"),
  () => {
    const program = join(import.meta.dirname, "../../src/cli/main.ts");
    const withoutRight = ["--bounding-set=-net_bind_service", process.execPath, program, "serve"];
    const env = { ...process.env, DATA_DIR: folder(), PORT: "80" };
    const { status: code, stderr } = spawnSync("setpriv", withoutRight, { env, encoding: "utf8" });
    assert.equal(code, 1, stderr);
    assert.match(stderr, /^[^\n]*PORT 80 is not open to this user: choose one from 1024 to 65535[^\n]*\n$/);
  },
);

test("a folder that is not writable gives one line", async () => {
  const path = join(folder(), "..", "file");
  writeFileSync(path, "");
  assert.match(
    await refusedStart({ DATA_DIR: join(path, "var"), PORT: String(await freePort()) }),
    /DATA_DIR .* cannot be written \(ENOTDIR\)/,
  );
});

test("a full disk gives one line", needs("root"), async () => {
  const path = temporaryFolder();
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", path.path]);
  try {
    assert.match(
      await refusedStart({ DATA_DIR: path.path, PORT: String(await freePort()) }),
      /DATA_DIR .* has \d MB free/,
    );
  } finally {
    execFileSync("umount", [path.path]);
    path.remove();
  }
});

test("a schema of a newer release gives one line", async () => {
  const dataDir = folder();
  const service = await startService({ DATA_DIR: dataDir, ...ownProcess });
  const { openEmbeddedPostgres } = await import("../../src/kernel/platform/postgres/embedded.ts");
  const { openDatabase } = await import("../../src/kernel/platform/database/database.ts");
  const server = await openEmbeddedPostgres(dataDir);
  const db = openDatabase(server.owner, () => {});
  await db.query(sql`INSERT INTO schema_migrations (version, name, sha256) VALUES (9999, 'future', 'x')`);
  await db.query(sql`UPDATE schema_fence SET minimum = 9999`);
  await db.close();
  await service.stop();
  await server.release();
  assert.match(
    await refusedStart({ DATA_DIR: dataDir, PORT: String(await freePort()) }),
    /database is of a newer release \(it needs schema 9999/,
  );
});

test("DATABASE_URL makes the service use another server, which it does not stop", async () => {
  const other = folder();
  const { openEmbeddedPostgres } = await import("../../src/kernel/platform/postgres/embedded.ts");
  const server = await openEmbeddedPostgres(other);
  const { host, user, password, database } = server.owner;
  const dataDir = folder();
  const service = await startService({
    DATA_DIR: dataDir,
    DATABASE_URL: `postgres://${user}:${password}@/${database}?host=${encodeURIComponent(host)}`,
  });
  assert.equal(await status(`${service.baseUrl}/readyz`), 200);
  assert.equal(existsSync(join(dataDir, "postgres")), false);
  await service.stop();
  assert.ok(alive(postmasterPid(other)));
  await server.release();
});

test("an unreachable database gives one line", async () => {
  const url = `postgres://nobody@127.0.0.1:${await freePort()}/none`;
  assert.match(
    await refusedStart({ DATA_DIR: folder(), DATABASE_URL: url, PORT: String(await freePort()) }),
    /DATABASE_URL does not answer/,
  );
});

test("SIGUSR1 opens no inspector and ends nothing, with bin/signsealship, the unit and the image", async () => {
  const root = join(import.meta.dirname, "../../..");
  assert.match(
    readFileSync(join(root, "deploy/signsealship.service"), "utf8"),
    /^ExecStart=\S+\/bin\/signsealship serve$/m,
  );
  assert.match(
    readFileSync(join(root, "deploy/Containerfile"), "utf8"),
    /^ENTRYPOINT \["\/app\/bin\/signsealship"\]$/m,
  );
  const [dataDir, port] = [folder(), await freePort()];
  await prepareDatabase(dataDir);
  const child = spawn(join(root, "bin/signsealship"), ["serve"], {
    env: { ...process.env, DATA_DIR: dataDir, PORT: String(port), TSA_URLS: "off", OTS_CALENDARS: "off" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  endWithTests(child);
  const ended = once(child, "exit");
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (data) => {
      printed += data;
    });
  await until(() => printed.includes("listens on"));
  child.kill("SIGUSR1");
  for (let n = 0; n < 5; n++) assert.equal(await status(`http://127.0.0.1:${port}/healthz`), 200);
  child.kill("SIGTERM");
  assert.deepEqual(await ended, [0, null]);
  assert.doesNotMatch(printed, /Debugger listening/);
});
