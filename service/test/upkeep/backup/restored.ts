import assert from "node:assert/strict";
import { join } from "node:path";
import type { Client } from "@signsealship/testing/client";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import type { Service } from "@signsealship/testing/service";
import { sealRoom, type Version, verify } from "../../closing/closing-passports/seal-room.ts";

/** The code of a firm's sealed room, the sealed version of its closing passport, and a proof passport. */
export type Codes = { readonly room: string; readonly version: Version; readonly passport: { verifyCode: string } };

/** A sealed room with an order, and a proof passport. */
export async function sealAll(firm: Client, order: string): Promise<Codes> {
  const { roomCode: room } = await firm.ok<{ roomCode: string }>("POST", "/api/rooms", { name: "12 Elm Street" });
  await firm.ok("POST", `/api/rooms/${room}/orders`, { orderCode: order });
  const version = await sealRoom(firm as never, room);
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(makePdf())]), "deed.pdf");
  return { room, version, passport: await firm.ok("POST", "/api/passport/seal", form) };
}

/**
 * Asserts that every code opens the same object on a restored service.
 * @param orders the orders in the backup
 * @param lost an order that was placed after the backup
 */
export async function hasEveryCode(
  baseUrl: string,
  key: string,
  { room, version, passport }: Codes,
  { orders, lost }: { orders: readonly string[]; lost: string },
): Promise<void> {
  const get = async (path: string, headers: Record<string, string> = {}) =>
    (await fetch(baseUrl + path, { headers })).status;
  const bearer = { Authorization: `Bearer ${key}` };
  for (const code of orders) assert.equal(await get(`/api/partner/orders/${code}`, bearer), 200);
  assert.equal(await get(`/api/partner/orders/${lost}`, bearer), 404);
  assert.equal(await get(`/api/rooms/${room}`), 200);
  const closing = await verify(baseUrl, version.verifyCode);
  assert.deepEqual([closing.chainOk, closing.manifestSha256], [true, version.manifestSha256]);
  assert.equal(await get(`/api/verify/room/${version.verifyCode}/pdf`), 200);
  const proof = await fetch(`${baseUrl}/api/passport/verify/${passport.verifyCode}`);
  assert.equal(((await proof.json()) as { verdict: string }).verdict, "verified_test");
  assert.equal(await get(`/api/passport/verify/${passport.verifyCode}/document`), 200);
}

/** Recovers the restored logs from the checkpoints that the lost service signed last. */
export async function endHalts(service: Service): Promise<void> {
  for (const [log, ...more] of [["live"], ["test", "--test"]] as const)
    await service.cli("log", "recover", "--from", join(service.dataDir, `keys/log-${log}.state`), ...more);
}
