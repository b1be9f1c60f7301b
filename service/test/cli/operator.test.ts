import assert from "node:assert/strict";
import { after, test } from "node:test";
import { runCli, startService, temporaryFolder } from "@signsealship/testing/service";
import { cookieIn, postForm } from "../firms/members/signed-in-member.ts";

const folder = temporaryFolder();
after(() => folder.remove());
const env = { DATA_DIR: folder.path };

let lastUrl = "";

test("a link is created with and without a running service, for the public address, and opens the operator's page", async () => {
  const early = await runCli({ ...env, BASE_URL: "https://sign.example" }, "operator", "link", "--json");
  assert.equal(early.code, 0, early.stderr);
  const made = JSON.parse(early.stdout) as Record<string, string>;
  assert.deepEqual(Object.keys(made), ["url", "expiresAt"]);
  const { origin, pathname } = new URL(made["url"] ?? "");
  assert.equal(origin, "https://sign.example");
  assert.match(pathname, /^\/operator\/sign-in\/[0-9a-f]{40}$/);
  const minutes = (Date.parse(made["expiresAt"] ?? "") - Date.now()) / 60_000;
  assert.ok(minutes > 5 && minutes <= 10, `${minutes} minutes`);

  const service = await startService(env);
  lastUrl = service.baseUrl;
  try {
    const beside = await service.cli("operator", "link");
    for (const path of [pathname, new URL(beside["url"] ?? "").pathname]) {
      const answer = await postForm(service.baseUrl + path, {});
      assert.deepEqual([answer.status, answer.headers.get("location")], [303, "/operator"]);
      const cookie = cookieIn(answer, "__Host-operator");
      const page = await fetch(`${service.baseUrl}/operator`, { headers: { cookie } });
      assert.equal(page.status, 200);
      assert.equal(page.headers.get("ratelimit-policy"), '"page";q=240;w=60');
      assert.equal((await postForm(service.baseUrl + path, {})).status, 404);
    }
  } finally {
    await service.stop();
  }
});

test("for a person the link is on a line of its own, with the address at which the service last ran", async () => {
  const { stdout } = await runCli(env, "operator", "link");
  assert.match(stdout, /^url: http:\/\/localhost:\d+\/operator\/sign-in\/[0-9a-f]{40}\nexpiresAt: \S+Z\n$/);
  assert.equal(new URL(stdout.slice("url: ".length).split("\n")[0] ?? "").port, new URL(lastUrl).port);
  const chosen = await runCli({ ...env, PORT: "9000" }, "operator", "link");
  assert.match(chosen.stdout, /^url: http:\/\/localhost:9000\/operator/);
});

test("arguments and unknown options are refused as wrong usage", async () => {
  for (const args of [["x"], ["--for", "me"]]) assert.equal((await runCli(env, "operator", "link", ...args)).code, 2);
});
