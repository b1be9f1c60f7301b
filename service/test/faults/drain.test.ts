import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { after, test } from "node:test";
import { freePort } from "@signsealship/testing/free-port";
import { endWithTests } from "@signsealship/testing/reaper";
import { ownProcess, startService, temporaryFolder } from "@signsealship/testing/service";
import { needs } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { readConfig } from "../../src/kernel/config/config.ts";

const folder = temporaryFolder();
after(() => folder.remove());

const statusOf = (url: string): Promise<number | string> =>
  new Promise((resolve) => {
    const asked = get(url, (answer) => {
      const by = answer.headers["request-id"] ? "node" : "balancer";
      const status = answer.statusCode ?? 0;
      answer.resume().on("end", () => resolve(status === 200 ? status : `${status} of the ${by}`));
    });
    asked.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });

test("a draining node is not ready, and answers until it stops", async () => {
  const service = await startService({ DATA_DIR: join(folder.path, "one"), DRAIN_SECONDS: "6", ...ownProcess });
  const ready = () => fetch(`${service.baseUrl}/readyz`);
  assert.equal((await ready()).status, 200);
  const ended = service.stop();
  const draining = await until(async () => {
    const answer = await ready();
    return answer.status === 503 ? answer : null;
  });
  assert.equal(((await draining.json()) as { status: string }).status, "draining");
  assert.equal(await statusOf(`${service.baseUrl}/healthz`), 200);
  assert.equal(await ended, 0);
  assert.equal(await statusOf(`${service.baseUrl}/healthz`), "ECONNREFUSED");
});

test("a load balancer that calls /readyz loses no request when one of two nodes stops", needs("caddy"), async () => {
  const settings = { DATA_DIR: join(folder.path, "two"), DRAIN_SECONDS: "8", ...ownProcess };
  const nodes = [await startService(settings), await startService(settings)] as const;
  const port = await freePort();
  // The policy is not round_robin: Caddy 2.6 counts without a lock, so every attempt of one request could go to the
  // stopped node.
  const backends = nodes.map(({ baseUrl }) => new URL(baseUrl).host).join(" ");
  writeFileSync(
    join(folder.path, "Caddyfile"),
    `{
      admin off
      auto_https off
    }
    http://127.0.0.1:${port} {
      reverse_proxy ${backends} {
        lb_policy random
        health_uri /readyz
        health_interval 500ms
        health_timeout 10s
      }
    }`,
  );
  const home = { HOME: folder.path, XDG_DATA_HOME: folder.path, XDG_CONFIG_HOME: folder.path };
  const caddy = spawn("caddy", ["run", "--adapter", "caddyfile", "--config", join(folder.path, "Caddyfile")], {
    env: { ...process.env, ...home },
    stdio: "ignore",
  });
  endWithTests(caddy);
  const url = `http://127.0.0.1:${port}/healthz`;
  let inARow = 0;
  await until(async () => {
    inARow = (await statusOf(url)) === 200 ? inARow + 1 : 0;
    return inARow === 50;
  });
  const statuses = new Map<number | string, number>();
  let isGoing = true;
  const caller = async () => {
    while (isGoing) {
      const status = await statusOf(url);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const callers = [caller(), caller(), caller(), caller()];
  await until(() => (statuses.get(200) ?? 0) > 100);
  assert.equal(await nodes[0].stop(), 0);
  const before = statuses.get(200) ?? 0;
  await until(() => (statuses.get(200) ?? 0) > before + 100);
  isGoing = false;
  await Promise.all(callers);
  caddy.kill();
  await once(caddy, "exit");
  await nodes[1].stop();
  assert.deepEqual([...statuses.keys()], [200]);
});

test("refuses a drain time that is not a number of seconds up to five minutes", () => {
  for (const wrong of ["-1", "301", "1.5", "soon"])
    assert.throws(
      () => readConfig({ DRAIN_SECONDS: wrong }, "/", "/"),
      /DRAIN_SECONDS must be a whole number of seconds/,
    );
  assert.equal(readConfig({}, "/", "/").drainSeconds, 0);
});
