import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startTelnyx, type TelnyxDouble } from "@signsealship/testing/doubles/telnyx";
import Telnyx from "telnyx";

// Telnyx's own client proves that the double speaks Telnyx's protocol.
describe("the double of Telnyx, called by Telnyx's own client", () => {
  let telnyx: TelnyxDouble;
  let client: Telnyx;
  before(async () => {
    telnyx = await startTelnyx();
    const { apiKey, publicKey, url } = telnyx;
    client = new Telnyx({ apiKey, publicKey, baseURL: `${url}/v2`, maxRetries: 0 });
  });
  after(() => telnyx.close());

  const params = { connection_id: "c1", from: "+13125790015", to: "+13127367276", media_url: "https://host/a.pdf" };

  it("accepts a fax, and finds it again by its id and by number and time", async () => {
    const since = new Date(Date.now() - 1000).toISOString();
    const { data: fax } = await client.faxes.create({ ...params, client_state: "YTox" });
    assert.equal(fax?.status, "queued");
    assert.equal((await client.faxes.retrieve(fax?.id ?? "")).data?.client_state, "YTox");
    const listed = [];
    for await (const each of client.faxes.list({ filter: { to: { eq: params.to }, created_at: { gte: since } } }))
      listed.push(each.id);
    assert.deepEqual(listed, [fax?.id]);
    for await (const each of client.faxes.list({ filter: { to: { eq: "+13127367200" } } })) assert.fail(each.id ?? "");
  });

  it("lists page after page", async () => {
    const to = "+13127367299";
    for (let n = 0; n < 5; n++) await client.faxes.create({ ...params, to });
    const ids = new Set<string | undefined>();
    for await (const { id } of client.faxes.list({ filter: { to: { eq: to } }, "page[size]": 2 })) ids.add(id);
    assert.equal(ids.size, 5);
  });

  it("cancels a fax in progress, and none that has ended", async () => {
    const { data } = await client.faxes.create(params);
    assert.equal((await client.faxes.actions.cancel(data?.id ?? "")).data?.result, "ok");
    await assert.rejects(client.faxes.actions.cancel(data?.id ?? ""), Telnyx.UnprocessableEntityError);
  });

  it("accepts a text message", async () => {
    const sent = await client.messages.send({ from: params.from, to: params.to, text: "Your code is 123456." });
    assert.equal(sent.data?.to?.[0]?.status, "queued");
    assert.equal(telnyx.messages.at(-1)?.text, "Your code is 123456.");
  });

  it("refuses a wrong key, an unknown fax and a wrong number as Telnyx does", async () => {
    const stranger = new Telnyx({ apiKey: "KEYwrong", baseURL: `${telnyx.url}/v2`, maxRetries: 0 });
    await assert.rejects(stranger.faxes.create(params), Telnyx.AuthenticationError);
    await assert.rejects(client.faxes.retrieve("none"), Telnyx.NotFoundError);
    await assert.rejects(client.faxes.create({ ...params, to: "5550100" }), Telnyx.UnprocessableEntityError);
  });

  it("fails on request", async () => {
    const had = telnyx.faxes.length;
    telnyx.fail({ status: 503 });
    await assert.rejects(client.faxes.create(params), Telnyx.InternalServerError);
    assert.equal(telnyx.faxes.length, had);
    telnyx.fail("cut");
    await assert.rejects(client.faxes.create(params), Telnyx.APIConnectionError);
    assert.equal(telnyx.faxes.length, had + 1, "a cut comes after the work");
  });

  it("signs events so that the client accepts them, and refuses others", async () => {
    const { data } = await client.faxes.create(params);
    const fax = telnyx.faxes.find(({ id }) => id === data?.id);
    assert.ok(fax);
    const body = JSON.stringify(telnyx.move(fax, "delivered"));
    const unwrapped = await client.webhooks.unwrap(body, { headers: telnyx.sign(body) });
    assert.deepEqual(unwrapped, JSON.parse(body));
    const wrong = [
      telnyx.sign(`${body} `),
      telnyx.sign(body, { otherKey: true }),
      telnyx.sign(body, { at: new Date(Date.now() - 301_000) }),
    ];
    for (const headers of wrong) await assert.rejects(client.webhooks.unwrap(body, { headers }));
  });
});
