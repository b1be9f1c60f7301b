import assert from "node:assert/strict";
import { openAsBlob, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { type ClientOptions, createClient, type SentRequest, type SentResponse } from "@signsealship/sdk";
import { temporaryFolder } from "@signsealship/testing/service";

const folder = temporaryFolder();
after(() => folder.remove());

const client = (fetch: typeof globalThis.fetch, options: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl: "https://sign.example.com", key: "svc_pk_test_x", fetch, ...options });

/** A fake service that has `orders` orders and allows `quota` requests of a key in each second. */
function limited({ quota, orders }: { quota: number; orders: number }) {
  const windows = new Map<number, number>();
  const refused: string[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const url = new URL(String(input));
    const window = Math.floor(Date.now() / 1000);
    const used = (windows.get(window) ?? 0) + 1;
    windows.set(window, used);
    const headers = {
      "RateLimit-Policy": `"partner-write";q=${quota};w=1`,
      RateLimit: `"partner-write";r=${Math.max(0, quota - used)};t=1`,
    };
    if (used > quota) {
      refused.push(`${init?.method} ${url.pathname}`);
      return Response.json(
        { error: "Rate limit exceeded." },
        { status: 429, headers: { ...headers, "Retry-After": "1" } },
      );
    }
    const from = Number(url.searchParams.get("cursor") ?? 0);
    const to = Math.min(orders, from + Number(url.searchParams.get("limit") ?? 20));
    const page = Array.from({ length: to - from }, (_, n) => ({ orderCode: String(from + n) }));
    return Response.json({ orders: page, nextCursor: to < orders ? String(to) : null }, { headers });
  };
  return { fetch, refused, mostInAWindow: () => Math.max(...windows.values()) };
}

test("reads 7,000 orders under a limit, and leaves a quarter of it for other requests", async () => {
  const service = limited({ quota: 40, orders: 7000 });
  const codes = new Set<string>();
  for await (const { orderCode } of client(service.fetch).orders.all()) codes.add(orderCode);
  assert.equal(codes.size, 7000);
  assert.deepEqual(service.refused, []);
  assert.ok(service.mostInAWindow() <= 30, String(service.mostInAWindow()));
});

test("stops waiting for a limit when the caller's signal aborts", async () => {
  const service = limited({ quota: 4, orders: 7000 });
  const controller = new AbortController();
  const read = async () => {
    for await (const { orderCode } of client(service.fetch, { signal: controller.signal }).orders.all())
      if (orderCode === "299") controller.abort(new Error("enough"));
  };
  await assert.rejects(read, /enough/);
});

describe("hooks", () => {
  const answers = (...statuses: number[]): typeof globalThis.fetch => {
    let calls = 0;
    return async () => {
      const status = statuses[calls++] ?? 200;
      if (status === 0) throw new TypeError("cut off");
      const headers = { "Request-Id": `r${calls}`, "Retry-After": "0" };
      return Response.json(status === 200 ? { orderCode: "a" } : { error: "Later." }, { status, headers });
    };
  };

  test("report every attempt: its address, status, headers and failure", async () => {
    const requests: SentRequest[] = [];
    const responses: SentResponse[] = [];
    const own = client(answers(503, 0, 200), {
      onRequest: (each) => requests.push(each),
      onResponse: (each) => responses.push(each),
    });
    await own.orders.get("a");
    const url = "https://sign.example.com/api/partner/orders/a";
    assert.deepEqual(
      requests,
      [1, 2, 3].map((attempt) => ({ method: "GET", url, attempt })),
    );
    assert.deepEqual(
      responses.map(({ attempt, status, headers, error }) => [
        attempt,
        status,
        headers?.get("Request-Id") ?? null,
        error instanceof Error ? error.message : error,
      ]),
      [
        [1, 503, "r1", null],
        [2, null, null, "cut off"],
        [3, 200, "r3", null],
      ],
    );
  });

  test("may add headers to each attempt, without effect on the next", async () => {
    const traced: (string | null)[][] = [];
    const answer = answers(503, 200);
    const send: typeof globalThis.fetch = (url, init) => {
      const headers = new Headers(init?.headers);
      traced.push([headers.get("traceparent"), headers.get("Authorization")]);
      return answer(url, init);
    };
    const onRequest = ({ attempt }: SentRequest, headers: Headers) => {
      if (attempt === 1) headers.set("traceparent", "00-1-1-01");
    };
    await client(send, { onRequest }).orders.get("a");
    assert.deepEqual(traced, [
      ["00-1-1-01", "Bearer svc_pk_test_x"],
      [null, "Bearer svc_pk_test_x"],
    ]);
  });

  test("end the call with their own error when they throw", async () => {
    const stop = () => {
      throw new RangeError("no more");
    };
    await assert.rejects(client(answers(200), { onRequest: stop }).me(), RangeError);
    await assert.rejects(client(answers(200), { onResponse: stop }).me(), RangeError);
  });

  test("withResponse returns the last answer with the result, and calls the caller's hook too", async () => {
    const seen: (number | null)[] = [];
    const own = client(answers(503, 200), { onResponse: ({ status }) => seen.push(status) });
    const { data, response } = await own.withResponse((each) => each.orders.get("a"));
    assert.deepEqual([data.orderCode, response.status, response.headers?.get("Request-Id")], ["a", 200, "r2"]);
    assert.deepEqual(seen, [503, 200]);
    await assert.rejects(
      own.withResponse(async () => "nothing"),
      /sends no request/,
    );
  });
});

test("names the SDK and its version in each request", async () => {
  const agents: (string | null)[] = [];
  const own = client(async (_url, init) => {
    agents.push(new Headers(init?.headers).get("User-Agent"));
    return Response.json({});
  });
  await own.me();
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  assert.deepEqual(agents, [`signsealship-typescript/${version}`]);
});

describe("a document is sent", () => {
  const file = join(folder.path, "deed.pdf");
  writeFileSync(file, "%PDF-1.7 deed");
  const fields = { email: "a@example.com", byodConfirmed: true, svcSign: true } as const;
  /** A fake server: it reads the sent forms, and answers the first attempt with a 503. */
  function receiver() {
    const forms: (readonly [string, string | readonly [string, string, string]])[][] = [];
    const fetch: typeof globalThis.fetch = async (url, init) => {
      const form = await new Request(url, init).formData();
      const entries = [...form].map(async ([name, value]) =>
        typeof value === "string"
          ? ([name, value] as const)
          : ([name, [value.name, value.type, await value.text()]] as const),
      );
      forms.push(await Promise.all(entries));
      return forms.length === 1
        ? Response.json({ error: "Later." }, { status: 503, headers: { "Retry-After": "0" } })
        : Response.json({ orderCode: "a" });
    };
    return { forms, fetch };
  }
  async function* chunks() {
    yield new TextEncoder().encode("%PDF-1.7 ");
    yield new TextEncoder().encode("deed");
  }

  test("as bytes, as a file that is read during sending, and as a stream, each again for a second attempt", async () => {
    for (const [pdf, type] of [
      [readFileSync(file), "application/pdf"],
      [await openAsBlob(file, { type: "application/pdf" }), "application/pdf"],
      [chunks, "application/pdf"],
    ] as const) {
      const { forms, fetch } = receiver();
      await client(fetch).orders.create({ ...fields, externalReference: "Ä\r\nB" }, { pdf, fileName: 'a "deed".pdf' });
      assert.equal(forms.length, 2);
      for (const form of forms) assert.deepEqual(form.at(-1), ["document", ['a "deed".pdf', type, "%PDF-1.7 deed"]]);
      assert.deepEqual(forms[0], forms[1]);
      assert.deepEqual(Object.fromEntries(forms[0] ?? [])["external_reference"], "Ä\r\nB");
    }
  });

  test("never from a path", async () => {
    const { fetch } = receiver();
    await assert.rejects(client(fetch).passports.seal(file as never), /must be the bytes of a PDF/);
  });
});
