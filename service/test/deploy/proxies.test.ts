import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { forTests } from "@signsealship/testing/for-tests";
import { freePort } from "@signsealship/testing/free-port";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { endWithTests } from "@signsealship/testing/reaper";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";
import { needs } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";

const deploy = fileURLToPath(new URL("../../../deploy", import.meta.url));
const folder = temporaryFolder();
const certificate = join(folder.path, "certificate.pem");
const key = join(folder.path, "key.pem");
const host = "sign.example.com";

const subject = ["-subj", `/CN=${host}`, "-addext", `subjectAltName=DNS:${host}`];
const keys = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", certificate];
execFileSync("openssl", ["req", "-x509", "-days", "2", ...keys, ...subject], { stdio: "ignore" });
const env = { TRUST_PROXY: "127.0.0.1", LOG_LEVEL: "info", BASE_URL: `https://${host}` };
const service = await forTests(startService({ DATA_DIR: join(folder.path, "data"), ...env }));
const { headers } = await newPartner(service);

type Answer = { status: number; headers: NodeJS.Dict<string | string[]>; body: string };

/** A request over TLS to the domain's name, from a chosen source address. */
function ask(port: number, path: string, method: string, more: Record<string, string>, body = Buffer.alloc(0)) {
  return new Promise<Answer>((resolve, reject) => {
    const to = { host: "127.0.0.1", port, localAddress: "127.9.9.9", servername: host, ca: readFileSync(certificate) };
    const sent = { host, "content-length": String(body.length), ...more };
    const asked = request({ ...to, path, method, headers: sent }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (data) => {
        text += data;
      });
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }));
    });
    asked.on("error", reject).end(body);
  });
}

async function passesAll(port: number): Promise<void> {
  const ready = () => ask(port, "/healthz", "GET", {}).catch(() => null);
  assert.equal((await until(ready)).status, 200);
  const form = new Response(orderForm({ ...minimal, svc_sign: "false" }, makePdf({ bytes: 25 << 20 })));
  const type = form.headers.get("content-type") ?? "";
  const upload = Buffer.from(await form.arrayBuffer());
  const order = await ask(port, "/api/partner/orders", "POST", { ...headers, "content-type": type }, upload);
  assert.equal(order.status, 201, order.body);
  assert.equal(order.headers["strict-transport-security"], "max-age=31536000");
  // A client that sends a forged address header is still identified by its real address.
  await ask(port, "/api/partner/me", "GET", { "x-forwarded-for": "203.0.113.9", authorization: "Bearer x" });
  const log = () => service.stdout() + service.stderr();
  await until(() => log().includes("127.9.9."));
  assert.ok(!log().includes("203.0.113."));
  // Only programs on the service's own machine may read metrics. A request through the proxy has the machine's address,
  // but is rejected.
  assert.equal((await ask(port, "/metrics", "GET", {})).status, 404);
}

describe("nginx, configured as documented,", needs("nginx", "openssl"), () => {
  test("accepts a large document, passes headers and names the client's own address", async () => {
    const [port, plain] = [await freePort(), await freePort()];
    const site = readFileSync(join(deploy, "nginx.conf"), "utf8")
      .replace(/^\s*listen \[::\].*$/gm, "")
      .replace("listen 80;", `listen 127.0.0.1:${plain};`)
      .replace("listen 443 ssl;", `listen 127.0.0.1:${port} ssl;`)
      .replace(/\/etc\/letsencrypt\S+fullchain.pem/, certificate)
      .replace(/\/etc\/letsencrypt\S+privkey.pem/, key)
      .replace("http://127.0.0.1:8080", service.baseUrl);
    const base = join(folder.path, "nginx");
    mkdirSync(base);
    const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (name) => `${name}_temp_path ${base}/${name};`,
    );
    const whole = `pid ${base}/pid; error_log ${base}/errors; daemon off; events {} http { ${paths.join(" ")} ${site} }`;
    writeFileSync(join(base, "nginx.conf"), whole);
    const args = ["-c", join(base, "nginx.conf"), "-e", join(base, "errors")];
    const tried = spawnSync("nginx", ["-t", ...args], { encoding: "utf8" });
    assert.equal(tried.status, 0, tried.stderr);
    const nginx = spawn("nginx", args, { stdio: "ignore" });
    endWithTests(nginx);
    await passesAll(port);
    const moved = await fetch(`http://127.0.0.1:${plain}/verify`, { redirect: "manual", headers: { host } });
    assert.equal(moved.status, 301);
    nginx.kill("SIGTERM");
    await once(nginx, "exit");
  });
});

describe("Caddy, configured as documented,", needs("caddy", "openssl"), () => {
  test("accepts a large document, passes headers and names the client's own address", async () => {
    const port = await freePort();
    const site = readFileSync(join(deploy, "Caddyfile"), "utf8")
      .replace("{$SITE:localhost} {", `{$SITE:localhost} {\n\ttls ${certificate} ${key}`)
      .replace("admin off", "admin off\n\tauto_https disable_redirects");
    const file = join(folder.path, "Caddyfile");
    writeFileSync(file, site);
    const env = { PATH: process.env["PATH"] ?? "", HOME: folder.path, XDG_DATA_HOME: folder.path };
    const settings = { SITE: `https://${host}:${port}`, UPSTREAM: service.baseUrl.replace("http://", "") };
    const caddy = spawn("caddy", ["run", "--config", file, "--adapter", "caddyfile"], {
      env: { ...env, ...settings },
      stdio: "ignore",
    });
    endWithTests(caddy);
    await passesAll(port);
    caddy.kill("SIGTERM");
    await once(caddy, "exit");
  });
});
