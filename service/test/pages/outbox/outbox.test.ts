import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { freePort } from "@signsealship/testing/free-port";
import { type Service, startService } from "@signsealship/testing/service";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import { until } from "@signsealship/testing/until";
import { welcome } from "../../../src/cli/welcome.ts";
import { readConfig } from "../../../src/kernel/config/config.ts";

const folder = temporaryFolder();
let service: Service;
let outbox: string;

const post = (email: string) =>
  fetch(`${service.baseUrl}/sign-in`, { method: "POST", body: new URLSearchParams({ email }) });

before(async () => {
  service = await startService({ DATA_DIR: folder.path, RATE_LIMITS: "off" });
  [outbox = ""] = /http:\/\/localhost:\d+\/outbox\/[0-9a-f]{32}\//.exec(service.stdout()) ?? [];
});
after(async () => {
  await service.stop();
  folder.remove();
});

const page = async (url: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(url, { headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};

test("each start prints the addresses of the dashboard, the API, the console and the mails, and the data folder", async () => {
  for (const words of ["Dashboard", "API", "Console", "Mails", `Data       ${folder.path}`])
    assert.ok(service.stdout().includes(words), words);
  assert.match(
    service.stdout(),
    new RegExp(`Console {4}DATA_DIR=${folder.path} PORT=\\d+ /.*bin/signsealship operator link\n`),
  );
  const before = service.stdout();
  assert.equal(await service.stop(), 0);
  service = await service.restart();
  assert.match(service.stdout(), /Dashboard {2}http:\/\/localhost:\d+\/sign-in\n/);
  assert.notEqual(service.stdout().match(/outbox\/\w+/)?.[0], before.match(/outbox\/\w+/)?.[0]);
  [outbox = ""] = /http:\/\/localhost:\d+\/outbox\/[0-9a-f]{32}\//.exec(service.stdout()) ?? [];
  assert.match((await page(outbox)).text, /No mails yet/);
});

test("the printed commands work in any folder, also where the service runs with the default data folder", () => {
  const { dataDir } = readConfig({}, "/srv/its own", "/srv/its own");
  const config = { baseUrl: "http://localhost:8080", dataDir, smtpUrl: null };
  const text = welcome({ config, outboxPath: null, demoKey: "key", env: {} });
  const command = /Console {4}(.+) operator link\n/.exec(text)?.[1] ?? assert.fail(text);
  const document = /-F document=@(\S+)/.exec(text)?.[1] ?? assert.fail(text);
  const script = `test -r ${document} && ${command} operator --help && ${command.replace(/ \S+$/, "")} printenv DATA_DIR`;
  const said = execFileSync("sh", ["-c", script], { cwd: tmpdir(), encoding: "utf8" });
  assert.match(said, /operator link/);
  assert.ok(said.endsWith("/srv/its own/var\n"), said);
});

test("the printed command needs the database and the keys of the service, and shows no password", () => {
  const { dataDir } = readConfig({}, "/srv/own", "/srv/own");
  const config = { baseUrl: "http://localhost:8080", dataDir, smtpUrl: null };
  const env = { DATABASE_URL: "postgres://app:hunter2@db/own", SECRETS_KEY: "file:/run/secrets key" };
  const text = welcome({ config, outboxPath: null, demoKey: null, env });
  assert.doesNotMatch(text, /hunter2/);
  assert.match(text, /first set DATABASE_URL, SECRETS_KEY in that shell, as for the service/);
  const command = /Console {4}(.+) operator link\n/.exec(text)?.[1] ?? assert.fail(text);
  const script = `${command.replace(/ \S+$/, "")} printenv DATABASE_URL SECRETS_KEY`;
  const run = (set: Record<string, string>) =>
    spawnSync("sh", ["-c", script], { env: { PATH: process.env["PATH"], ...set }, encoding: "utf8" });
  assert.equal(run(env).stdout, `${env.DATABASE_URL}\n${env.SECRETS_KEY}\n`);
  for (const missing of ["DATABASE_URL", "SECRETS_KEY"]) {
    const { status, stdout, stderr } = run({ ...env, [missing]: "" });
    assert.notEqual(status, 0);
    assert.equal(stdout, "");
    assert.match(stderr, new RegExp(missing));
  }
  assert.doesNotMatch(welcome({ config, outboxPath: null, demoKey: null, env: {} }), /DATABASE_URL|first set/);
});

test("a sign-in link is printed unbroken, and the outbox shows the same mail with the link", async () => {
  const told = await post("jane@acme-title.example");
  assert.match(await told.text(), /printed in the terminal/);
  const link = await until(() => /Mail to jane@acme-title\.example: .+\n {2}(http\S+)\n/.exec(service.stdout())?.[1]);
  const list = await page(outbox);
  const [, name = ""] = /<li><a href="([\w-]+)">/.exec(list.text) ?? [];
  const mail = await page(`${outbox}${name}`);
  assert.ok(mail.text.includes(`<a href="${link}">`), mail.text);
  assert.equal(mail.headers.get("referrer-policy"), "no-referrer");
  const asSent = await page(`${outbox}${name}/html`);
  assert.match(asSent.headers.get("content-security-policy") ?? "", /^sandbox; default-src 'none'/);
});

test("a mail's words are text: its markup has no effect on the page, and no name leads out of the folder", async () => {
  const name = "2026-01-01-00112233445566ff";
  writeFileSync(
    join(folder.path, "outbox", `${name}.eml`),
    "To: x@example.com\r\nSubject: <b>bold</b>\r\nContent-Type: text/plain\r\n\r\n<script>alert(1)</script>\r\n",
  );
  const { text } = await page(`${outbox}${name}`);
  assert.ok(text.includes("&lt;script&gt;alert(1)") && !text.includes("<script>alert"), text);
  assert.ok(!(await page(outbox)).text.includes("<b>bold"));
  for (const path of ["..%2F..%2Fkeys%2Fsecrets", "..%2Fkeys", `${name}.eml`, "2026-01-01-0011223344556677"])
    assert.equal((await page(`${outbox}${path}`)).status, 404, path);
});

test("the outbox opens only on this machine and by its address", async () => {
  const other = outbox.replace(/[0-9a-f]{32}/, "0".repeat(32));
  assert.equal((await page(other)).status, 404);
  assert.equal((await page(`${service.baseUrl}/outbox/short/`)).status, 404);
  assert.equal((await page(outbox, { "X-Forwarded-For": "203.0.113.7" })).status, 404);
  assert.equal((await page(outbox)).status, 200);
});

test("there is no outbox when mails are sent, or when others can reach the service", async () => {
  const data = temporaryFolder();
  const port = String(await freePort());
  for (const env of [{ SMTP_URL: `smtp://127.0.0.1:${port}` }, { BASE_URL: "https://sign.example.com" }]) {
    const shared = await startService({ DATA_DIR: data.path, ...env });
    assert.doesNotMatch(shared.stdout(), /outbox\/[0-9a-f]{32}/);
    await shared.stop();
  }
  data.remove();
});
