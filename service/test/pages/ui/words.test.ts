import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { testRowMac } from "@signsealship/testing/row-mac";
import { viewOf } from "../../../src/closing/rooms/view/view.ts";
import { orderStatuses } from "../../../src/orders/order/order.ts";
import { feeLabels } from "../../../src/orders/pricing/pricing.ts";
import { orderFragment, orderPage } from "../../../src/pages/client/order-page.ts";
import { roomPage } from "../../../src/pages/client/room-page.ts";
import { plainTime } from "../../../src/pages/ui/format.ts";
import { statusWords } from "../../../src/pages/ui/orders/status-words.ts";
import { orderSteps } from "../../../src/pages/ui/orders/steps.ts";
import { render } from "../../../src/pages/ui/render.ts";
import { en } from "../../../src/pages/ui/words/en/en.ts";
import { es } from "../../../src/pages/ui/words/es/es.ts";
import { readerOf } from "../../../src/pages/ui/words/reader.ts";
import { roomRow } from "./samples.ts";
import { order } from "./serve-pages.ts";

const assets = { url: (name: string) => `/assets/${name}` };
const spanish = readerOf("es", {});

/** Every text of a dictionary by its path, except `lineLabel`. A function is called with sample values. */
function texts(part: unknown, path = ""): [path: string, text: string][] {
  if (typeof part === "string") return [[path, part]];
  if (typeof part === "function") {
    const sample = path.startsWith(".retention.orderDeleted") ? "7" : 7;
    return path.endsWith(".lineLabel") ? [] : [[path, String(part(sample, 9))]];
  }
  if (Array.isArray(part)) return part.flatMap((one, i) => texts(one, `${path}[${i}]`));
  return Object.entries(part as object).flatMap(([name, one]) =>
    name === "otherStatus" ? texts(one("Archived"), `${path}.${name}`) : texts(one, `${path}.${name}`),
  );
}

const sameInBoth = new Set([
  ".components.money.subtotal",
  ".components.money.total",
  ".orders.steps.labels.fax",
  ".orders.hashOf",
  ".room.services.fax",
]);

/** The visible text of a page. */
const visible = (page: string) => page.replace(/<[^>]*>/g, "\n");

describe("the words of the pages for clients", () => {
  test("are complete in Spanish, and none is English unless both languages use the same", () => {
    const english = new Map(texts(en));
    const translated = texts(es);
    assert.deepEqual(translated.map(([path]) => path).sort(), [...english.keys()].sort());
    for (const [path, text] of translated) {
      assert.ok(text.trim(), path);
      assert.equal(text === english.get(path), sameInBoth.has(path), `${path}: ${text}`);
    }
  });

  test("address the reader as usted", () => {
    for (const [path, text] of texts(es)) assert.doesNotMatch(text, /\b(?:tú|tu|tus|te|puedes|tienes|haz)\b/i, path);
  });

  test("exist for every status, each with a label and a heading of its own", () => {
    const all = orderStatuses.map((status) => statusWords(status, es));
    assert.equal(new Set(all.map(({ label }) => label)).size, orderStatuses.length);
    assert.equal(new Set(all.map(({ headline }) => headline)).size, orderStatuses.length);
    for (const status of orderStatuses) {
      assert.equal(statusWords(status, es).tone, statusWords(status).tone);
      assert.deepEqual(
        orderSteps(order({ status }), es).map(({ state }) => state),
        orderSteps(order({ status })).map(({ state }) => state),
      );
    }
  });

  test("name a status that is newer than the page, in Spanish", () => {
    for (const status of ["Archived", "constructor", "__proto__"])
      assert.equal(statusWords(status, es).summary, `Su estado es ${status}.`);
  });
});

describe("an order's page in Spanish", () => {
  const english = texts(en).flatMap(([path, text]) => (sameInBoth.has(path) || /\b[79]\b/.test(text) ? [] : [text]));
  const signers = (["pending", "sent", "signed", "declined", "locked"] as const).map((status, i) => ({
    name: `Persona ${i}`,
    status,
    takenIn: i === 0,
    wantsPaper: false,
    isSimulated: false,
    routing: 1,
  }));

  test("has no line in English, whatever its status", () => {
    for (const status of [...orderStatuses, "Archived"])
      for (const environment of ["live", "test"] as const) {
        const shown = order({ status, environment, signers, payable: true, statusBeforeHold: "EsignPending" });
        const lines = visible(orderPage(assets, shown, "http://localhost", spanish)).split("\n");
        const found = english.filter((text) => lines.some((line) => line.trim() === text));
        assert.deepEqual(found, [], status);
      }
  });

  test("has none in a room either", () => {
    const row = roomRow();
    const { cards, activity } = row;
    const [card] = cards;
    assert.ok(card);
    for (const changes of [{}, { cards: [], activity: [], passport: null }, { status: "closed" as const, cards: [] }]) {
      const view = viewOf({ ...row, cards: [...cards, { ...card, label: null }], activity, ...changes }, testRowMac);
      const shown = { ...view, environment: "test" as const, retention: es.retention.ofTestRoom(30) };
      for (const allActivity of [false, true]) {
        const lines = visible(roomPage(assets, { ...shown, allActivity }, "http://localhost", spanish)).split("\n");
        assert.deepEqual(
          english.filter((text) => lines.some((line) => line.trim() === text)),
          [],
        );
      }
    }
  });

  test("keeps dollars, and translates the lines of the quote by their type", () => {
    const page = visible(orderFragment(order(), spanish));
    for (const said of ["Franqueo de USPS Priority Mail, zona\u00a05", "Notarización en línea", "$95.00"])
      assert.ok(page.includes(said), said);
    for (const label of Object.values(feeLabels)) assert.ok(!page.includes(label), label);
  });

  test("keeps labels by other people, and unknown lines", () => {
    const said = (type: string, label: string) => es.orders.lineLabel({ type, label });
    assert.equal(said("ExtraSignerFee", "Additional signer x 3"), "Firmante adicional x 3");
    assert.equal(said("ExtraSignerFee", "Additional signer exam"), "Firmante adicional: Additional signer exam");
    assert.equal(said("Discount", "Lien release rate"), "Descuento: Lien release rate");
    assert.equal(said("ShippingCarrierRate", "Courier"), "Franqueo: Courier");
    assert.equal(said("ServiceAdjustment", "Recording format check"), "Revisión del formato para el registro");
    assert.equal(said("ServiceAdjustment", "Courier to Elm"), "Ajuste del servicio: Courier to Elm");
    assert.equal(said("MoonFee", "Delivery to the moon"), "Delivery to the moon");
    assert.equal(said("constructor", "Delivery"), "Delivery");
  });

  test("states the day on which a document was deleted in Spanish form", () => {
    const at = plainTime(new Date("2026-11-20T12:00:00Z"), "es");
    assert.match(
      render(es.retention.orderDeleted(at)),
      /se borró el <time datetime="2026-11-20T12:00:00.000Z" data-plain>20 de noviembre de 2026 a las 12:00 UTC<\/time>,/,
    );
  });
});
