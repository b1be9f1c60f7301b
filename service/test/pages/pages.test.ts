import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { HttpError } from "../../src/kernel/http/errors/http-error.ts";
import { ServiceError } from "../../src/kernel/platform/errors.ts";
import { closingCode, closingRecord, proofCode, proofRecord, roomCode, roomRow } from "./ui/samples.ts";
import { code, order, servePages } from "./ui/serve-pages.ts";

const rooms = new Map([[roomCode, roomRow()]]);

let refuse: Error | null = null;

const shown = {
  rooms,
  orders: new Map([[code, order()]]),
  proofs: new Map([[proofCode, proofRecord()]]),
  closings: new Map([[closingCode, await closingRecord(2)]]),
};
const site = await forTests(
  servePages(shown, async () => {
    if (refuse) throw refuse;
  }),
);

const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const get = (path: string, headers: Record<string, string> = browser) => fetch(site.baseUrl + path, { headers });

describe("an order's page", () => {
  test("is not cached or indexed, and sends no referrer", async () => {
    for (const path of [`/orders/${code}`, `/orders/${code}/status`]) {
      const response = await get(path);
      assert.equal(response.status, 200);
      assert.equal(response.headers.get("content-type"), "text/html; charset=utf-8");
      assert.equal(response.headers.get("cache-control"), "no-store");
      assert.match(response.headers.get("x-robots-tag") ?? "", /noindex/);
      assert.equal(response.headers.get("referrer-policy"), "no-referrer");
    }
    const page = await (await get(`/orders/${code}`)).text();
    assert.match(page, /<meta name="robots" content="noindex, nofollow">/);
    assert.match(page, /<meta name="referrer" content="no-referrer">/);
  });

  test("contains the fragment that refreshes it, literally", async () => {
    const [page, fragment] = await Promise.all(
      [`/orders/${code}`, `/orders/${code}/status`].map(async (path) => (await get(path)).text()),
    );
    assert.ok(fragment && page?.includes(fragment));
  });

  test("is the same 404 page for an unknown, another firm's and a malformed code", async () => {
    const answers = await Promise.all(
      ["0".repeat(40), code.toUpperCase(), code.slice(1), "%00", "..%2f", `${code}/status2`.slice(0, 39)].map(
        async (wrong) => {
          const response = await get(`/orders/${wrong}`);
          return `${response.status} ${response.headers.get("cache-control")} ${await response.text()}`;
        },
      ),
    );
    assert.equal(new Set(answers).size, 1);
    assert.match(answers[0] ?? "", /^404 no-store <!doctype html>/);
    assert.equal((await get(`/orders/${"0".repeat(40)}/status`)).status, 404);
  });

  test("answers a caller that accepts no HTML with the API's error", async () => {
    for (const accept of ["application/json", "*/*", "text/html;q=0, */*", "text/html5", "application/text/html"]) {
      const response = await get(`/orders/${"0".repeat(40)}`, { accept });
      assert.equal(response.status, 404, accept);
      assert.deepEqual(await response.json(), { error: "Order not found." }, accept);
    }
  });
});

describe("pages over the wire", () => {
  test("are compressed for clients, who come without cookies, and only on request", async () => {
    for (const path of [`/orders/${code}`, `/orders/${code}/status`, `/rooms/${roomCode}`, "/verify"]) {
      const [plain, gzipped] = await Promise.all([
        get(path, { ...browser, "accept-encoding": "identity" }),
        get(path, { ...browser, "accept-encoding": "gzip" }),
      ]);
      assert.equal(plain.headers.get("content-encoding"), null, path);
      assert.equal(gzipped.headers.get("content-encoding"), "gzip", path);
      for (const { headers } of [plain, gzipped]) assert.match(headers.get("vary") ?? "", /Accept-Encoding/);
      assert.equal(await plain.text(), await gzipped.text());
    }
  });

  test("reveal nothing of a client, a document or a closing to link previews", async () => {
    for (const path of [`/orders/${code}`, `/rooms/${roomCode}`, `/verify/${proofCode}`, `/v/room/${closingCode}`]) {
      const page = await (await get(path)).text();
      const [head = ""] = page.split("</head>");
      assert.match(head, /<meta property="og:title" content="A private page">/, path);
      assert.match(head, /<meta name="robots" content="noindex, nofollow">/, path);
      assert.doesNotMatch(head, /Maple|Acme|Closing 2026|dana|Deed/i, path);
    }
  });

  test("state their purpose in a sentence, if they are the same for everyone", async () => {
    for (const path of ["/", "/verify", "/docs"]) {
      const [head = ""] = (await (await get(path)).text()).split("</head>");
      assert.match(head, /<meta name="description" content="[^"]{20,}">/, path);
      assert.match(head, /<meta property="og:title" content="[^"]+">/, path);
      assert.doesNotMatch(head, /noindex/, path);
    }
  });
});

describe("refusals of a page", () => {
  test("are in the language of the address, else of the browser, and link to the other one", async () => {
    const es = { ...browser, "accept-language": "es-US,es;q=0.9" };
    const unknown = `/orders/${"0".repeat(40)}`;
    try {
      for (const [why, path, said] of [
        [null, unknown, "Página no encontrada"],
        [null, "/rooms/none", "Página no encontrada"],
        [null, `/verify/${"a".repeat(26)}`, "No conocemos este código"],
        [null, `/v/room/${"a".repeat(26)}`, "¿Tiene usted el certificado?"],
        [new HttpError("rate_limited", "Rate limit exceeded. Try again in 42 seconds."), unknown, "Espere un minuto"],
        [new ServiceError("unavailable", "The database is away."), unknown, "No disponible en este momento"],
        [new Error("secret detail"), unknown, "Es culpa nuestra"],
      ] as const) {
        refuse = why;
        const spanish = await get(path, es);
        assert.equal(spanish.headers.get("content-language"), "es");
        assert.match(spanish.headers.get("vary") ?? "", /Accept-Language/);
        const text = await spanish.text();
        assert.match(text, /<html lang="es">/);
        assert.ok(text.includes(said), text);
        assert.match(text, /href="\?lang=en"/);
        assert.match(await (await get(`${path}?lang=en`, es)).text(), /<html lang="en">/);
        assert.doesNotMatch(await (await get(path)).text(), /lang="es">(?!Español)/);
      }
    } finally {
      refuse = null;
    }
  });

  test("are pages that say what to do", async () => {
    try {
      refuse = new HttpError("rate_limited", "Rate limit exceeded. Try again in 42 seconds.");
      const busy = await get("/");
      assert.equal(busy.status, 429);
      const words = await busy.text();
      assert.match(words, /Too many requests came in a short time\. Wait a minute/);
      assert.doesNotMatch(words, /network/);
      refuse = new Error("secret detail");
      const broken = await get(`/orders/${code}`);
      assert.equal(broken.status, 500);
      assert.equal(broken.headers.get("cache-control"), "no-store");
      const text = await broken.text();
      assert.match(text, /our fault/);
      assert.doesNotMatch(text, /secret detail/);
    } finally {
      refuse = null;
    }
  });
});

describe("rooms and records", () => {
  const addresses = [
    `/rooms/${roomCode}`,
    `/rooms/${roomCode}/status`,
    `/verify/${proofCode}`,
    `/v/room/${closingCode}`,
  ];

  test("are not cached or indexed, and send no referrer", async () => {
    for (const path of addresses) {
      const response = await get(path);
      assert.equal(response.status, 200, path);
      assert.equal(response.headers.get("cache-control"), "no-store");
      assert.match(response.headers.get("x-robots-tag") ?? "", /noindex/);
      assert.equal(response.headers.get("referrer-policy"), "no-referrer");
      assert.match(response.headers.get("content-security-policy") ?? "", /script-src 'self';/);
    }
  });

  test("are one and the same 404 page for every unknown code", async () => {
    for (const [path, code] of [
      ["/rooms/", roomCode],
      ["/verify/", proofCode],
      ["/v/room/", closingCode],
    ] as const) {
      const wrong = [`${code.slice(0, -1)}7`, code.toUpperCase(), code.slice(1), "%00", "..%2f", "x".repeat(200)];
      const answers = await Promise.all(
        wrong.map(async (each) => {
          const response = await get(path + each);
          return `${response.status} ${response.headers.get("cache-control")} ${await response.text()}`;
        }),
      );
      assert.equal(new Set(answers).size, 1, path);
      assert.match(answers[0] ?? "", /^404 no-store <!doctype html>/);
    }
  });

  test("allow a firm's logo only by its origin, and only from https", async () => {
    const policyWith = async (logoUrl: string) => {
      rooms.set(roomCode, roomRow({ logoUrl }));
      const response = await get(`/rooms/${roomCode}`);
      const page = await response.text();
      return {
        policy: response.headers.get("content-security-policy") ?? "",
        shown: page.includes('<img src="https:'),
      };
    };
    const good = await policyWith("https://cdn.example.com/a/logo.png;b?c,d");
    assert.match(good.policy, /img-src 'self' data: https:\/\/cdn\.example\.com;/);
    assert.ok(good.shown);
    for (const wrong of ["http://cdn.example.com/logo.png", "javascript:alert(1)", "logo.png", "https://[::1]/x", ""]) {
      const { policy, shown } = await policyWith(wrong);
      assert.match(policy, /img-src 'self' data:;/, wrong);
      assert.equal(shown, false, wrong);
    }
    rooms.set(roomCode, roomRow());
  });

  test("contain the script's data in a form that cannot end its element", async () => {
    const page = await (await get(`/v/room/${closingCode}`)).text();
    const [, json = ""] = /<script type="application\/json" id="verify-config">([^<]*)<\/script>/.exec(page) ?? [];
    const config = JSON.parse(json) as { closing: { versions: { manifest: string }[] } };
    assert.equal(config.closing.versions.length, 2);
    assert.match(config.closing.versions[0]?.manifest ?? "", /<b>S/);
  });
});

describe("the start page", () => {
  test("links to the usual destinations", async () => {
    const page = await (await get("/")).text();
    for (const href of ["/request-access", "/docs", "/verify", "/sign-in"])
      assert.ok(page.includes(`href="${href}"`), href);
    assert.doesNotMatch(page, /noindex/);
  });

  test("tells other sites what a link preview should show, with a picture at an absolute address", async () => {
    const page = await (await get("/")).text();
    const content = (name: string) =>
      new RegExp(`<meta (?:name|property)="${name}" content="([^"]+)">`).exec(page)?.[1];
    assert.match(content("description") ?? "", /title, escrow, and law firms/);
    assert.equal(content("og:description"), content("description"));
    assert.equal(content("og:url"), "http://localhost/");
    const picture = new URL(content("og:image") ?? "");
    assert.equal(picture.origin, "http://localhost");
    const touchIcon = /<link rel="apple-touch-icon" href="([^"]+)">/.exec(page)?.[1] ?? "";
    for (const [path, width, height] of [
      [picture.pathname, 1200, 630],
      [touchIcon, 180, 180],
    ] as const) {
      const response = await get(path);
      assert.equal(response.headers.get("content-type"), "image/png");
      const png = Buffer.from(await response.arrayBuffer());
      assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [width, height]);
    }
  });

  test("and other public pages are open to robots; no address that could be a credential is", async () => {
    const response = await get("/robots.txt");
    assert.equal(response.headers.get("content-type"), "text/plain; charset=utf-8");
    const rules = (await response.text()).split("\n").slice(1, -1);
    assert.equal(rules.at(-1), "Disallow: /");
    const allowed = rules.slice(0, -1).map((rule) => new RegExp(`^${rule.replace("Allow: ", "")}`));
    const isAllowed = (path: string) => allowed.some((rule) => rule.test(path));
    for (const path of ["/", "/docs", "/docs/quickstart", "/verify", "/assets/site.css"])
      assert.ok(isAllowed(path), path);
    for (const path of [`/orders/${code}`, `/rooms/${roomCode}`, `/verify/${proofCode}`, "/dashboard", "/sign/x"])
      assert.ok(!isAllowed(path), path);
  });

  test("shows members and developers their links in the footer; clients of a firm have their own", async () => {
    const foot = async (path: string) => (await (await get(path)).text()).split("<footer")[1] ?? "";
    const [home, order] = await Promise.all([foot("/"), foot(`/orders/${code}`)]);
    for (const href of ["/verify", "/docs", "/request-access", "/sign-in"])
      assert.ok(home.includes(`href="${href}"`), href);
    assert.match(order, /href="\/verify"/);
    assert.doesNotMatch(order, /\/docs|\/sign-in/);
  });
});

describe("assets", () => {
  test("give a browser that requests an icon by itself the mark", async () => {
    const response = await get("/favicon.ico");
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "image/svg+xml");
    assert.match(await response.text(), /^<svg/);
  });

  test("in bundles have one address, and a stale one is gone", async () => {
    const page = await (await get("/verify")).text();
    const [address = ""] = page.match(/\/assets\/verify\.[^"]+/) ?? [];
    assert.equal((await get(address)).status, 200);
    assert.equal((await get(address.replace(/[0-9a-f]{12}/, "000000000000"))).status, 404);
  });

  async function addresses(): Promise<string[]> {
    const page = await (await get(`/orders/${code}`)).text();
    return [...new Set(page.match(/\/assets\/[^"]+/g))];
  }

  test("may be cached forever, because their address changes with their content", async () => {
    const all = await addresses();
    assert.deepEqual(
      all.map((address) => address.replace(/^\/assets\/|\.[0-9a-f]{12}/g, "")),
      [
        "serif.woff2",
        "sans.woff2",
        "page.js",
        "fonts.css",
        "site.css",
        "more.css",
        "mark.svg",
        "touch-icon.png",
        "htmx.js",
        "copy.js",
      ],
    );
    for (const address of all) {
      assert.match(address, /^\/assets\/[a-z-]+\.[0-9a-f]{12}\.(css|js|svg|png|woff2)$/);
      const response = await get(address);
      assert.equal(response.status, 200);
      assert.equal(response.headers.get("cache-control"), "public, max-age=31536000, immutable");
      assert.equal(response.headers.get("x-content-type-options"), "nosniff");
      assert.ok((await response.text()).length > 0);
    }
  });

  test("for a first visit to an order, with its page and its fonts, are less than 84 KB", async (t) => {
    const sent = async (path: string) => {
      const response = await get(path, { ...browser, "accept-encoding": "gzip, br" });
      const unpacked = (await response.arrayBuffer()).byteLength;
      return Number(response.headers.get("content-length") ?? unpacked);
    };
    // The sum leaves out the icon, which a phone loads only when the page is added to its home screen.
    const loaded = (await addresses()).filter((address) => !address.includes("touch-icon"));
    const sizes = await Promise.all([`/orders/${code}`, ...loaded].map(sent));
    const total = sizes.reduce((sum, size) => sum + size);
    t.diagnostic(`${total} bytes`);
    assert.ok(total < 84 * 1024, `${total} bytes: ${sizes}`);
  });

  test("are fonts that style sheets name by existing addresses, and that are not compressed again", async () => {
    const [styles = ""] = (await addresses()).filter((address) => address.includes("fonts."));
    const fonts = (await (await get(styles)).text()).match(/\/assets\/[^")]+/g) ?? [];
    assert.equal(fonts.length, 6);
    for (const font of fonts) {
      const response = await get(font, { "accept-encoding": "gzip" });
      assert.equal(response.status, 200);
      assert.equal(response.headers.get("content-type"), "font/woff2");
      assert.equal(response.headers.get("content-encoding"), null);
      assert.equal(Buffer.from(await response.arrayBuffer()).toString("latin1", 0, 4), "wOF2");
    }
  });

  test("are the same bytes compressed and not, with different tags", async () => {
    for (const address of (await addresses()).filter((one) => /\.(css|js|svg)$/.test(one))) {
      const plain = await get(address, { "accept-encoding": "identity" });
      const gzipped = await get(address, { "accept-encoding": "br;q=0, gzip;q=0.8" });
      const brotli = await get(address, { "accept-encoding": "gzip, br" });
      const refused = await get(address, { "accept-encoding": "gzip;q=0, br;q=0, identity" });
      assert.equal(plain.headers.get("content-encoding"), null);
      assert.equal(gzipped.headers.get("content-encoding"), "gzip");
      assert.equal(brotli.headers.get("content-encoding"), "br");
      assert.equal(refused.headers.get("content-encoding"), null);
      assert.equal(new Set([plain, gzipped, brotli].map((one) => one.headers.get("etag"))).size, 3);
      assert.equal(plain.headers.get("vary"), "Accept-Encoding");
      const text = await plain.text();
      assert.equal(text, await gzipped.text());
      assert.equal(text, await brotli.text());
    }
  });

  test("are not sent again to browsers that have them", async () => {
    const [address = ""] = await addresses();
    const etag = (await get(address)).headers.get("etag") ?? "";
    for (const tags of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      assert.equal((await get(address, { "if-none-match": tags })).status, 304, tags);
    }
    assert.equal((await get(address, { "if-none-match": '"other"' })).status, 200);
  });

  test("are only existing files: no path leads elsewhere", async () => {
    for (const path of ["nothing.css", "..%2fpages.ts", "%2e%2e/assets.ts", "site.css"]) {
      assert.equal((await get(`/assets/${path}`)).status, 404, path);
    }
  });
});
