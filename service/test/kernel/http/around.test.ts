import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { connect } from "node:net";
import { describe, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { freePort } from "@signsealship/testing/free-port";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner, type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import { needs } from "@signsealship/testing/tools/tools";

const folder = temporaryFolder();

const service = await forTests(startService({ DATA_DIR: folder.path, LOG_LEVEL: "info", TRUST_PROXY: "127.0.0.1" }));

describe("errors of the HTTP layer", () => {
  test("are problem details (RFC 9457) for a caller that requests them", async () => {
    const response = await fetch(`${service.baseUrl}/api/partner/orders`, {
      headers: { Accept: "application/problem+json" },
    });
    assert.match(response.headers.get("content-type") ?? "", /^application\/problem\+json/);
    assert.deepEqual(await response.json(), {
      type: "urn:signsealship:problem:unauthenticated",
      title: "Unauthorized",
      status: 401,
      detail: "A valid partner API key is required.",
      code: "unauthenticated",
      requestId: response.headers.get("request-id"),
    });
  });

  test("are plain for a caller that refuses problem details or names a similar type", async () => {
    for (const accept of ["application/problem+json;q=0", "application/problem+jsonld", "*/*"]) {
      const response = await fetch(`${service.baseUrl}/api/partner/orders`, { headers: { Accept: accept } });
      assert.deepEqual(await response.json(), { error: "A valid partner API key is required." }, accept);
    }
  });

  test("of unknown paths, other methods and broken URLs have the same shape", async () => {
    const cases = [
      ["GET", "/api/nothing/here", 404, "Not found."],
      ["PUT", "/api/partner/orders", 405, "Method not allowed."],
      ["DELETE", `/api/partner/orders/${"0".repeat(40)}`, 405, "Method not allowed."],
    ] as const;
    for (const [method, path, status, error] of cases) {
      const response = await fetch(service.baseUrl + path, { method });
      assert.deepEqual([response.status, await response.json()], [status, { error }]);
    }
    const broken = await fetch(`${service.baseUrl}/api/nothing/%zz`);
    assert.deepEqual([broken.status, await broken.json()], [404, { error: "Not found." }]);
    assert.match(broken.headers.get("request-id") ?? "", /^[0-9a-f-]{36}$/);
  });

  test("with 405 list the allowed methods", async () => {
    const response = await fetch(`${service.baseUrl}/api/partner/orders`, { method: "PATCH" });
    assert.equal(response.headers.get("allow"), "GET, HEAD, POST");
    const code = "0".repeat(40);
    for (const [path, allow] of [
      ["/api/partner/orders", "GET, HEAD, POST"],
      [`/api/partner/orders/${code}/checkout`, "POST"],
      ["/healthz", "GET, HEAD"],
    ] as const) {
      const options = await fetch(service.baseUrl + path, { method: "OPTIONS" });
      assert.deepEqual(
        [options.status, options.headers.get("allow"), await options.json()],
        [405, allow, { error: "Method not allowed." }],
      );
      // RFC 10008 defines QUERY as a method with a body. This request has no body and no content type, and is refused
      // by its method alone.
      const query = await fetch(service.baseUrl + path, { method: "QUERY" });
      assert.deepEqual([query.status, query.headers.get("allow")], [405, allow]);
    }
  });
});

describe("every answer", () => {
  test("has its own Request-Id and the security headers", async () => {
    const answers = await Promise.all(
      ["/healthz", "/api/nothing", "/openapi.json"].map((path) => fetch(service.baseUrl + path)),
    );
    for (const { headers } of answers) {
      assert.match(headers.get("request-id") ?? "", /^[0-9a-f-]{36}$/);
      assert.equal(headers.get("x-content-type-options"), "nosniff");
      assert.equal(headers.get("referrer-policy"), "no-referrer");
      assert.match(headers.get("content-security-policy") ?? "", /default-src 'none'/);
    }
    assert.equal(new Set(answers.map(({ headers }) => headers.get("request-id"))).size, answers.length);
  });
});

describe("answers of the interface", () => {
  test("are not cached, whether successful or refused", async () => {
    const { headers } = await newPartner(service);
    const placed = await fetch(`${service.baseUrl}/api/partner/orders`, {
      method: "POST",
      headers,
      body: orderForm(minimal),
    });
    const { orderCode } = (await placed.json()) as { orderCode: string };
    const answers = await Promise.all([
      placed,
      ...["orders", `orders/${orderCode}`, "me", "launchpad", "webhooks", "analytics", "nothing"].map((path) =>
        fetch(`${service.baseUrl}/api/partner/${path}`, { headers }),
      ),
      fetch(`${service.baseUrl}/api/rooms`, { headers }),
      fetch(`${service.baseUrl}/api/partner/orders`),
      fetch(`${service.baseUrl}/api/partner/orders`, { method: "PATCH" }),
    ]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [201, 200, 200, 200, 200, 200, 200, 404, 200, 401, 405],
    );
    for (const { url, headers: sent } of answers) assert.equal(sent.get("cache-control"), "no-store", url);
  });
});

describe("logs", () => {
  test("contain no code, key, email address or client address in full", async () => {
    const { headers, key } = await newPartner(service);
    const order = await fetch(`${service.baseUrl}/api/partner/orders`, {
      method: "POST",
      headers,
      body: orderForm(minimal),
    });
    const { orderCode } = (await order.json()) as { orderCode: string };
    await fetch(`${service.baseUrl}/api/partner/orders/${orderCode}?external_reference=secret-reference`, { headers });
    await fetch(`${service.baseUrl}/orders/${orderCode}`);
    const encoded = [...orderCode].map((each) => `%${each.charCodeAt(0).toString(16)}`).join("");
    await fetch(`${service.baseUrl}/orders/${encoded}`);
    await fetch(`${service.baseUrl}/api/partner/orders`, { headers: { Authorization: "Bearer nothing" } });
    for (let wait = 0; wait < 50 && !service.stderr().includes(orderCode.slice(0, 6)); wait++)
      await new Promise((resolve) => setTimeout(resolve, 20));
    const log = service.stderr();
    assert.match(log, new RegExp(`${orderCode.slice(0, 6)}…`));
    assert.match(log, /"status":401.*"source":"127\.0\.0\.0\/24"/);
    for (const secret of [orderCode, encoded, key, minimal.email, "secret-reference", '127.0.0.1"', "::1"])
      assert.equal(log.includes(secret), false, secret);
  });
});

describe("operators' routes", () => {
  test("show health, readiness, metrics and version", async () => {
    assert.deepEqual(await (await fetch(`${service.baseUrl}/healthz`)).json(), { status: "ok" });
    const ready = (await (await fetch(`${service.baseUrl}/readyz`)).json()) as {
      status: string;
      checks: Record<string, string>;
    };
    assert.equal(ready.status, "ok");
    assert.equal(ready.checks["database"], "ok");
    assert.match(
      await (await fetch(`${service.baseUrl}/metrics`)).text(),
      /http_request_duration_seconds_bucket\{.*route="\/readyz"/,
    );
    assert.deepEqual(Object.keys((await (await fetch(`${service.baseUrl}/api/version`)).json()) as object), [
      "version",
      "interface",
    ]);
  });
});

describe("rate limits", () => {
  const spend = async (at: Service, headers: Record<string, string>, times: number, path = "/api/partner/orders") => {
    const answers = await Promise.all(Array.from({ length: times }, () => fetch(at.baseUrl + path, { headers })));
    return answers.filter(({ status }) => status === 429).length;
  };

  test("allow 60 writes of one key in a minute, over all its routes, and tell others when to retry", async () => {
    const { headers } = await newPartner(service);
    assert.equal(await spend(service, headers, 40), 0);
    assert.equal(await spend(service, headers, 30, `/api/partner/orders/${"0".repeat(40)}`), 10);
    const response = await fetch(`${service.baseUrl}/api/partner/orders`, { headers });
    assert.equal(response.status, 429);
    const seconds = Number(response.headers.get("retry-after"));
    assert.ok(seconds >= 1 && seconds <= 60);
    assert.deepEqual(await response.json(), { error: `Rate limit exceeded. Try again in ${seconds} seconds.` });
    assert.equal(response.headers.get("ratelimit-policy"), '"partner-write";q=60;w=60');
    assert.equal(response.headers.get("ratelimit"), `"partner-write";r=0;t=${seconds}`);
  });

  test("count each key separately, and state the remaining number on success", async () => {
    const { headers } = await newPartner(service);
    const response = await fetch(`${service.baseUrl}/api/partner/orders`, { headers });
    assert.equal(response.status, 200);
    assert.match(response.headers.get("ratelimit") ?? "", /^"partner-write";r=59;t=\d+$/);
  });

  test("count the portal by address, and accept X-Forwarded-For only from a trusted proxy", async () => {
    const { headers } = await newPartner(service);
    const from = (address: string) => ({ ...headers, "X-Forwarded-For": address });
    assert.equal(await spend(service, from("192.0.2.1"), 125, "/api/partner/me"), 5);
    assert.equal(await spend(service, from("192.0.2.2"), 1, "/api/partner/me"), 0);
    const untrusting = await startService({ DATA_DIR: folder.path });
    const spread = Array.from({ length: 125 }, (_, n) =>
      fetch(`${untrusting.baseUrl}/api/partner/me`, { headers: from(`192.0.2.${n}`) }),
    );
    assert.equal((await Promise.all(spread)).filter(({ status }) => status === 429).length, 5);
    await untrusting.stop();
  });

  test(
    "are shared by two services over Redis, and each counts separately when Redis is unreachable",
    needs("redis"),
    async () => {
      const port = await freePort();
      const redis = spawn("redis-server", ["--port", String(port), "--save", "", "--appendonly", "no"], {
        stdio: "ignore",
      });
      const settings = { DATA_DIR: folder.path, REDIS_URL: `redis://127.0.0.1:${port}` };
      const [one, two] = await Promise.all([startService(settings), startService(settings)]);
      const { headers } = await newPartner(one);
      for (let wait = 0; wait < 100; wait++) {
        const { status } = await fetch(`${one.baseUrl}/readyz`);
        if (status === 200) break;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const refused = (await spend(one, headers, 40)) + (await spend(two, headers, 40));
      assert.equal(refused, 20);
      redis.kill("SIGKILL");
      await new Promise((resolve) => redis.once("exit", resolve));
      const other = await newPartner(one);
      assert.equal(await spend(one, other.headers, 65), 5);
      await Promise.all([one.stop(), two.stop()]);
    },
  );
});

describe("unusual requests", () => {
  test("with no Host or two get our 400; HTTP/1.0 need not name one", async () => {
    const ask = async (head: string) => {
      const socket = connect(Number(new URL(service.baseUrl).port), "127.0.0.1");
      socket.write(`${head}\r\nConnection: close\r\n\r\n`);
      let answer = "";
      for await (const chunk of socket) answer += chunk;
      return answer;
    };
    for (const head of ["GET /api/version HTTP/1.1", "GET /api/version HTTP/1.1\r\nHost: a\r\nhost: b"])
      assert.match(await ask(head), /^HTTP\/1\.1 400 .*\{"error":"A request must have exactly one Host header\."\}/s);
    for (const head of ["GET /api/version HTTP/1.1\r\nHost: a", "GET /api/version HTTP/1.0"])
      assert.match(await ask(head), /^HTTP\/1\.1 200 /);
  });

  test("with broken percent-encoding or a very long code get the route's answer for an invalid code", async () => {
    for (const code of ["%E0%A4%A", "%zz", "a".repeat(5000)]) {
      const room = await fetch(`${service.baseUrl}/api/rooms/${code}`);
      assert.deepEqual([room.status, await room.text(), room.headers.get("cache-control")], [404, "", "no-store"]);
      const passport = await fetch(`${service.baseUrl}/api/passport/verify/${code}`);
      assert.deepEqual([passport.status, await passport.json()], [404, { verdict: "unknown" }]);
      const closing = await fetch(`${service.baseUrl}/api/verify/room/${code}/pdf`);
      assert.deepEqual([closing.status, await closing.json()], [404, { verdict: "unknown" }]);
    }
  });

  test("with a text body instead of JSON get a 415, not an error about a field", async () => {
    const { headers } = await newPartner(service);
    const response = await fetch(`${service.baseUrl}/api/rooms`, { method: "POST", headers, body: '{"name":"x"}' });
    assert.deepEqual([response.status, await response.json()], [415, { error: "Send the body as application/json." }]);
  });

  test("with a body of another type instead of a form get an error about the form", async () => {
    const { headers } = await newPartner(service);
    for (const type of [
      "application/json",
      "text/plain",
      "application/xml",
      "application/x-www-form-urlencoded",
      "x",
    ]) {
      const request = { method: "POST", headers: { ...headers, "Content-Type": type }, body: "{" };
      const response = await fetch(`${service.baseUrl}/api/partner/orders`, request);
      assert.equal(response.status, 400, type);
      assert.match(((await response.json()) as { error: string }).error, /send the order as multipart\/form-data/);
    }
  });
});
