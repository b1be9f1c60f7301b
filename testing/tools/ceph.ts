import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../free-port.ts";
import { endWithTests } from "../reaper.ts";
import { until } from "../until.ts";

const accessKey = "TESTACCESS";
const secretKey = "TESTSECRET";

/** The configuration of one monitor and one store in memory, without replicas and without passwords between them. */
const configuration = (folder: string, ports: { monitor: number; gateway: number }, id: string): string => `[global]
fsid = ${id}
mon initial members = a
mon host = v1:127.0.0.1:${ports.monitor}
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind msgr2 = false
auth cluster required = none
auth service required = none
auth client required = none
mon data = ${folder}/mon
mon allow pool size one = true
mon max pg per osd = 1000
osd data = ${folder}/osd
osd objectstore = memstore
memstore device bytes = 1073741824
osd crush chooseleaf type = 0
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
run dir = ${folder}/run
admin socket = ${folder}/run/$name.$pid.asok
pid file = ${folder}/run/$name.pid
log file = ${folder}/log/$name.log
[client.rgw]
rgw data = ${folder}/run
rgw frontends = beast endpoint=127.0.0.1:${ports.gateway}
`;

export type S3Store = {
  readonly endpoint: string;
  /** Credentials in the form that S3 clients read. */
  readonly env: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
};

/** Ceph's S3 gateway on loopback, with an empty store. */
export async function startS3(folder: string): Promise<S3Store> {
  for (const name of ["mon", "osd", "run", "log"]) mkdirSync(join(folder, name), { recursive: true });
  const ports = { monitor: await freePort(), gateway: await freePort() };
  const id = randomUUID();
  const env = { ...process.env, CEPH_CONF: join(folder, "ceph.conf") };
  writeFileSync(env.CEPH_CONF, configuration(folder, ports, id));
  const run = async (program: string, ...args: string[]) =>
    (await promisify(execFile)(program, args, { env, timeout: 60_000 })).stdout;
  const daemons: ChildProcess[] = [];
  const start = (program: string, ...args: string[]) => {
    const child = spawn(program, [...args, "-f"], { env, stdio: "ignore" });
    endWithTests(child);
    daemons.push(child);
    return child;
  };
  const endpoint = `http://127.0.0.1:${ports.gateway}`;

  const map = join(folder, "monitors");
  await run("monmaptool", "--create", "--addv", "a", `[v1:127.0.0.1:${ports.monitor}]`, "--fsid", id, map);
  await run("ceph-mon", "--mkfs", "-i", "a", "--monmap", map);
  start("ceph-mon", "-i", "a");
  const store = randomUUID();
  // A monitor that has just started may refuse the first commands.
  await until(() => run("ceph", "osd", "new", store, "0").catch(() => null));
  await run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", store);
  let osd = start("ceph-osd", "-i", "0");
  await until(async () => {
    // The store's process ends if the monitor does not know the store yet. In that case, starts it again.
    if (osd.exitCode !== null) osd = start("ceph-osd", "-i", "0");
    return / 1 up/.test(await run("ceph", "osd", "stat").catch(() => ""));
  });
  start("radosgw", "-n", "client.rgw");
  await until(() => fetch(endpoint).catch(() => null));
  const user = ["--uid", "test", "--display-name", "test", "--access-key", accessKey, "--secret-key", secretKey];
  await run("radosgw-admin", "user", "create", ...user);
  return {
    endpoint,
    env: { AWS_ACCESS_KEY_ID: accessKey, AWS_SECRET_ACCESS_KEY: secretKey, AWS_DEFAULT_REGION: "us-east-1" },
    async stop() {
      for (const daemon of daemons.toReversed()) {
        if (daemon.exitCode !== null || daemon.signalCode !== null) continue;
        const ended = once(daemon, "exit");
        daemon.kill("SIGKILL");
        await ended;
      }
    },
  };
}
