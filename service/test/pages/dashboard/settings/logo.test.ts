import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { encodePng } from "../../../../src/signing/envelopes/pictures/pictures.ts";
import { decodePng } from "../../../../src/signing/envelopes/pictures/png.ts";
import { openMembersService } from "../../../firms/members/members-service.ts";
import { newMember, postForm } from "../../../firms/members/signed-in-member.ts";

const running = await forTests(openMembersService());

/** A picture of one color, except for one pixel. */
const picture = (width = 40, height = 20, shade = 120) => {
  const rgba = Buffer.alloc(width * height * 4, shade);
  for (let at = 3; at < rgba.length; at += 4) rgba[at] = 255;
  rgba[0] = 255 - shade;
  return { rgba, png: encodePng({ width, height, rgba }) };
};

async function owner() {
  const { key } = await running.newPartner();
  const first = await newMember(running.service, running.somebody(), key);
  const upload = async (bytes: Uint8Array, headers = first.headers) => {
    const form = new FormData();
    form.append("logo", new Blob([new Uint8Array(bytes)], { type: "image/png" }), "logo.png");
    const url = `${running.service.baseUrl}/dashboard/settings/logo`;
    const answer = await fetch(url, { method: "POST", redirect: "manual", headers, body: form });
    return { status: answer.status, text: await answer.text() };
  };
  const settings = async () => (await running.call("/dashboard/settings", { headers: first.headers })).body as string;
  const save = async (fields: Record<string, string>) =>
    (await postForm(`${running.service.baseUrl}/dashboard/settings/branding`, fields, first.headers)).status;
  return { key, upload, settings, save };
}

const addressIn = (page: string) => /src="([^"]+\/logos\/[0-9a-f]{64}\.png)"/.exec(page)?.[1] ?? "";

test("encoding to PNG and decoding gives the same picture", () => {
  const { rgba, png } = picture(3, 2);
  const { width, height, rgba: again } = decodePng(png);
  assert.deepEqual([width, height, Buffer.from(again)], [3, 2, rgba]);
});

test("an owner uploads a logo, and everyone who sees the firm's pages gets it, re-encoded, under its own address", async () => {
  const { upload, settings } = await owner();
  const { png } = picture();
  const behind = Buffer.concat([png, Buffer.from("<script>alert(1)</script>")]);
  assert.equal((await upload(behind)).status, 303);
  const address = addressIn(await settings());
  const answer = await fetch(address);
  assert.deepEqual([answer.status, answer.headers.get("content-type")], [200, "image/png"]);
  assert.match(answer.headers.get("cache-control") ?? "", /immutable/);
  assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
  const bytes = Buffer.from(await answer.arrayBuffer());
  assert.ok(!bytes.includes("script"), "nothing of the file but its pixels");
  assert.deepEqual(Buffer.from(decodePng(bytes).rgba), picture().rgba);
  assert.equal((await upload(picture(40, 20, 90).png)).status, 303);
  assert.notEqual(addressIn(await settings()), address);
  assert.equal((await fetch(address)).status, 200, "what links to the one before still shows it");
});

test("branding that is saved with an uploaded logo keeps it, and an empty address removes it", async () => {
  const { upload, settings, save } = await owner();
  await upload(picture().png);
  const logoUrl = addressIn(await settings());
  assert.equal(await save({ brandName: "Acme", logoUrl }), 303);
  assert.equal(addressIn(await settings()), logoUrl);
  assert.equal(await save({ brandName: "Acme", logoUrl: "http://localhost/logos/other.png" }), 400);
  assert.equal(await save({ brandName: "Acme", logoUrl: "" }), 303);
  assert.equal(addressIn(await settings()), "");
});

test("the latest five of many logos stay", async () => {
  const { upload, settings } = await owner();
  const addresses: string[] = [];
  for (let shade = 1; shade <= 6; shade++) {
    assert.equal((await upload(picture(40, 20, shade * 30).png)).status, 303);
    addresses.push(addressIn(await settings()));
  }
  const found = await Promise.all(addresses.map(async (address) => (await fetch(address)).status));
  assert.deepEqual(found, [404, 200, 200, 200, 200, 200]);
});

test("a file that is not a picture is refused with the reason, and changes nothing", async () => {
  const { upload, settings } = await owner();
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
  for (const bytes of [svg, Buffer.from("GIF89a"), picture().png.subarray(0, 40), Buffer.alloc(0)]) {
    const { status, text } = await upload(bytes);
    assert.equal(status, 400);
    assert.match(text, /role="alert"/);
  }
  assert.equal(addressIn(await settings()), "");
  for (const path of ["/logos/x", `/logos/${"0".repeat(64)}.png`, `/logos/${"0".repeat(64)}.svg`])
    assert.equal((await fetch(running.service.baseUrl + path)).status, 404);
});

test("a member who is not an owner can't upload a logo", async () => {
  const { key, upload, settings } = await owner();
  const member = await newMember(running.service, running.somebody(), key);
  assert.equal((await upload(picture().png, member.headers)).status, 403);
  assert.equal((await upload(Buffer.from("no picture"), member.headers)).status, 403, "nothing is decoded for them");
  assert.equal(addressIn(await settings()), "");
});
