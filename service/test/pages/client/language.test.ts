import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { roomCode, roomRow } from "../ui/samples.ts";
import { code, order, servePages } from "../ui/serve-pages.ts";

const site = await forTests(
  servePages({
    orders: new Map([[code, order({ status: "QuoteReady" })]]),
    rooms: new Map([[roomCode, roomRow()]]),
  }),
);

const get = (path: string, language = "en") =>
  fetch(site.baseUrl + path, { headers: { accept: "text/html", "accept-language": language }, redirect: "manual" });
const textOf = async (path: string, language?: string) => (await get(path, language)).text();

const pages = [`/orders/${code}`, `/rooms/${roomCode}`, `/orders/${code}/checkout/cancelled`];

describe("pages for clients", () => {
  test("use the language that the browser prefers, and declare it", async () => {
    for (const path of pages)
      for (const [header, language] of [
        ["es", "es"],
        ["es-MX,es;q=0.9,en;q=0.8", "es"],
        ["en-US,en;q=0.9,es;q=0.8", "en"],
        ["de, es;q=0.5", "es"],
        ["es;q=0.2, EN;q=0.3", "en"],
        ["es;q=0", "en"],
        ["fr", "fr"],
        ["de, fr-CA;q=0.5", "fr"],
        ["pt", "pt-BR"],
        ["zh-CN", "zh-Hans"],
        ["vi", "vi"],
        ["ko-KR", "ko"],
        ["fil-PH, en;q=0.5", "tl"],
        ["tl", "tl"],
        ["de", "en"],
        ["*", "en"],
        ["español; <script>", "en"],
      ] as const) {
        const response = await get(path, header);
        assert.equal(response.headers.get("content-language"), language, header);
        assert.match(response.headers.get("vary") ?? "", /Accept-Language/);
        assert.match(await response.text(), new RegExp(`<html lang="${language}">`), header);
      }
  });

  test("use the language of the address, whatever the browser prefers", async () => {
    for (const path of pages) {
      assert.match(await textOf(`${path}?lang=es`, "en"), /<html lang="es">/);
      assert.match(await textOf(`${path}?lang=en`, "es"), /<html lang="en">/);
    }
  });

  test("keep the chosen language on later pages, and no unsupported language", async () => {
    for (const path of pages) {
      const [cookie = ""] = (await get(`${path}?lang=es`)).headers.getSetCookie();
      assert.match(cookie, /^__Host-language=es; .*HttpOnly; Secure; SameSite=Lax$/);
      const later = await fetch(site.baseUrl + path, {
        headers: { accept: "text/html", "accept-language": "en", cookie: cookie.split(";")[0] ?? "" },
      });
      assert.match(await later.text(), /<html lang="es">/);
      const odd = await fetch(site.baseUrl + path, {
        headers: { accept: "text/html", "accept-language": "fr", cookie: "__Host-language=%3Cscript%3E" },
      });
      assert.match(await odd.text(), /<html lang="fr">/);
      assert.deepEqual((await get(path)).headers.getSetCookie(), []);
    }
  });

  test("are in English for an unsupported language, and repeat nothing of it", async () => {
    for (const lang of [
      "de",
      "fil",
      "ES",
      "",
      "es%00",
      "__proto__",
      "constructor",
      '"><script>alert(7)</script>',
      "x".repeat(5000),
    ])
      for (const path of pages) {
        const page = await textOf(`${path}?lang=${encodeURIComponent(lang)}`, "es");
        assert.match(page, /<html lang="en">/, lang);
        assert.ok(lang.length < 3 || !page.includes(`lang=${encodeURIComponent(lang)}`), lang);
        assert.doesNotMatch(page, /alert\(7\)/);
      }
  });

  test("link to themselves in the other language", async () => {
    for (const path of pages) {
      assert.match(await textOf(path, "en"), /<a href="\?lang=es" lang="es" hreflang="es">Español<\/a>/);
      assert.match(await textOf(path, "es"), /<a href="\?lang=en" lang="en" hreflang="en">English<\/a>/);
    }
    assert.match(await textOf(`/rooms/${roomCode}?activity=all`), /<a href="\?activity=all&amp;lang=es"/);
  });

  test("keep the language of the address in their own links and in the refreshed part, and add none that was not requested", async () => {
    const own = (page: string) =>
      [...page.matchAll(/(?:href|hx-get)="(\/(?:orders|rooms)\/[^"]*)"/g)].map(([, path = ""]) => path);
    for (const path of [...pages, `/rooms/${roomCode}?activity=all`]) {
      const asked = own(await textOf(`${path}${path.includes("?") ? "&" : "?"}lang=es`));
      assert.ok(asked.length > 0);
      for (const link of asked) assert.match(link, /[?;]lang=es$/);
      for (const link of own(await textOf(path, "es"))) assert.doesNotMatch(link, /lang=/);
    }
  });

  test("contain the part that refreshes them, literally, in the same language", async () => {
    for (const path of [`/orders/${code}`, `/rooms/${roomCode}`])
      for (const [query, language] of [
        ["", "es"],
        ["?lang=es", "en"],
        ["?lang=en", "es"],
      ] as const) {
        const fragment = await textOf(`${path}/status${query}`, language);
        assert.ok(fragment && (await textOf(path + query, language)).includes(fragment), path + query);
      }
  });
});

test("the API answers the same in every language", async () => {
  const refusals = ["en", "es"].map(async (language) => {
    const response = await fetch(`${site.baseUrl}/orders/${"0".repeat(40)}`, {
      headers: { accept: "application/json", "accept-language": language },
    });
    return `${response.status} ${await response.text()}`;
  });
  assert.equal(new Set(await Promise.all(refusals)).size, 1);
});
