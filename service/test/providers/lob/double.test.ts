import assert from "node:assert/strict";
import { after, test } from "node:test";
import * as sdk from "@lob/lob-typescript-sdk";
import { startLob } from "../../../../testing/doubles/lob.ts";
import { examplePdf } from "../../../../testing/inputs/order-form.ts";
import { makePdf } from "../../../../testing/inputs/pdf-maker.ts";
import { needs } from "../../../../testing/tools/tools.ts";

const lob = await startLob();
after(() => lob.close());

const configuration = new sdk.Configuration({ username: lob.apiKey, basePath: `${lob.apiBase}/v1` });
const vendors = new sdk.LettersApi(configuration);

const jane = {
  name: "Jane Roe",
  address_line1: "350 Fifth Avenue",
  address_city: "New York",
  address_state: "NY",
  address_zip: "10118",
};

const wanted = (metadata: Record<string, string> = {}) =>
  new sdk.LetterEditable({
    to: jane,
    from: { ...jane, name: "Acme Title" },
    file: "https://files.example/letter.pdf",
    color: true,
    use_type: sdk.LtrUseType.Operational,
    extra_service: sdk.LetterEditableExtraServiceEnum.Certified,
    metadata,
  });

test("the vendor's client sends a letter, and the same key gives the same letter", async () => {
  const letter = await vendors.create(wanted(), "key-1");
  const again = await vendors.create(wanted(), "key-1");
  assert.match(letter.id, /^ltr_[0-9a-f]{16}$/);
  assert.equal(again.id, letter.id);
  assert.match(letter.tracking_number ?? "", /^9407\d{16}$/);
  assert.equal(lob.letters.size, 1);
});

test("the vendor's client reads a letter and its tracking events", async () => {
  const { id } = await vendors.create(wanted());
  lob.happens(id, "letter.certified.mailed");
  const letter = await vendors.get(id);
  assert.equal(letter.tracking_events?.[0]?.name, "Mailed");
  assert.match(letter.expected_delivery_date ?? "", /^\d{4}-\d{2}-\d{2}$/);
});

test("the vendor's client finds letters by their metadata and by their time", async () => {
  const { id } = await vendors.create(wanted({ order: "ABC123" }));
  const found = await vendors.list(10, undefined, undefined, undefined, undefined, { order: "ABC123" });
  assert.deepEqual(
    found.data?.map((letter) => letter.id),
    [id],
  );
  const since = { gt: new Date(Date.now() + 60_000).toISOString() };
  const later = await vendors.list(10, undefined, undefined, undefined, since);
  assert.equal(later.count, 0);
  const paged = await vendors.list(1);
  assert.ok(paged.nextPageToken);
});

test("the vendor's client cancels a letter while its window is open, and not later", async () => {
  const { id } = await vendors.create(wanted());
  assert.equal((await vendors.cancel(id)).deleted, true);
  lob.cancellable(0);
  const sent = await vendors.create(wanted());
  lob.cancellable(3_600_000);
  await assert.rejects(vendors.cancel(sent.id), /send_date has passed/);
  await assert.rejects(vendors.get("ltr_0000000000000000"), /letter not found/);
});

test("the vendor's client learns what is wrong with a letter, and with a key", async () => {
  const noUse = wanted();
  noUse.use_type = null;
  await assert.rejects(vendors.create(noUse), /use_type is required/);
  const wrong = new sdk.LettersApi(new sdk.Configuration({ username: "test_wrong", basePath: `${lob.apiBase}/v1` }));
  await assert.rejects(wrong.create(wanted()), /API key is not valid/);
});

async function upload(file: Buffer, more: Record<string, string> = {}): Promise<Response> {
  const form = new FormData();
  for (const side of ["to", "from"])
    for (const [name, value] of Object.entries(jane)) form.append(`${side}[${name}]`, value);
  for (const [name, value] of Object.entries({ color: "true", use_type: "operational", ...more }))
    form.append(name, value);
  form.append("file", new Blob([new Uint8Array(file)], { type: "application/pdf" }), "letter.pdf");
  const authorization = `Basic ${Buffer.from(`${lob.apiKey}:`).toString("base64")}`;
  return fetch(`${lob.apiBase}/v1/letters`, { method: "POST", headers: { Authorization: authorization }, body: form });
}

test("accepts an uploaded file of letter size, and keeps its bytes", needs("mupdf"), async () => {
  const file = makePdf({ pages: 3 });
  const answer = await upload(file);
  assert.equal(answer.status, 200);
  const { id } = (await answer.json()) as { id: string };
  assert.ok(lob.files.get(id)?.equals(file));
});

test(
  "refuses an upload of another page size, of too many sheets, and one that is not a PDF",
  needs("mupdf"),
  async () => {
    const codeOf = async (file: Buffer, more = {}) => {
      const answer = await upload(file, more);
      assert.equal(answer.status, 422);
      return ((await answer.json()) as { error: { code: string } }).error.code;
    };
    assert.equal(await codeOf(examplePdf), "invalid_file_dimensions");
    assert.equal(await codeOf(makePdf({ pages: 61 }), { double_sided: "false" }), "file_pages_exceed_max");
    assert.equal(await codeOf(Buffer.from("no PDF at all")), "invalid_file");
  },
);

test("fails on request: with an error, with a cut after the work, and once each", async () => {
  const before = lob.letters.size;
  lob.fail({ status: 503, code: "service_unavailable" }, "cut");
  await assert.rejects(vendors.create(wanted(), "key-2"), /ordered/);
  assert.equal(lob.letters.size, before);
  await assert.rejects(vendors.create(wanted(), "key-2"));
  assert.equal(lob.letters.size, before + 1);
  await vendors.create(wanted(), "key-2");
  assert.equal(lob.letters.size, before + 1);
});
