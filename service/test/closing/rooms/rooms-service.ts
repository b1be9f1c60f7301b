import assert from "node:assert/strict";
import { type Client as Caller, newClient } from "@signsealship/testing/client";
import { type Harness, openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { changeOrder, rowMacOf } from "@signsealship/testing/row-mac";
import type { Service } from "@signsealship/testing/service";
import type { RoomView } from "../../../src/closing/rooms/rooms.ts";
import { createPartner, issueKey } from "../../../src/firms/partners/partners.ts";
import { systemClock } from "../../../src/kernel/platform/clock.ts";
import type { Database } from "../../../src/kernel/platform/database/database.ts";
import { isSealed, nothing, type Statement, sql } from "../../../src/kernel/platform/database/sql.ts";

const document = makePdf();

export type Client = Caller & {
  partnerId: string;
  keyId: string;
  room: (name?: string) => Promise<string>;
  order: (fields?: Record<string, string>) => Promise<string>;
  /** An API client of the same firm, with a new key of the given environment. */
  withKey: (environment: "live" | "test") => Promise<Client>;
  /** An API client with the same key, which calls another node. */
  at: (service: Service) => Client;
};

export const unknownCode = "0".repeat(40);
export const oddCodes = [
  "x",
  "0".repeat(39),
  `${"0".repeat(39)}G`,
  "%00",
  "%F0%9F%8F%A0",
  "0".repeat(200),
  "..%2f..%2fhealthz",
];

type AuditLine = { action: string; actor: string; orders: boolean; from: string | null; to: string | null };

export type RoomsService = Harness & {
  partner: (tier?: string, name?: string) => Promise<Client>;
  view: (roomCode: string, service?: Service) => Promise<RoomView>;
  /** The audit log's lines about a room, oldest first. */
  audit: (roomCode: string) => Promise<AuditLine[]>;
  setStatus: (orderCode: string, status: string, more?: Statement) => Promise<void>;
};

function client(
  db: Database,
  service: Service,
  partnerId: string,
  { keyId, key }: { keyId: string; key: string },
): Client {
  const caller = newClient(service.baseUrl, key);
  return {
    ...caller,
    partnerId,
    keyId,
    room: async (name = "12 Elm Street") =>
      (await caller.ok<{ roomCode: string }>("POST", "/api/rooms", { name })).roomCode,
    async order(fields = {}) {
      const { status, body } = await caller.call(
        "POST",
        "/api/partner/orders",
        orderForm({ ...minimal, ...fields }, document),
      );
      assert.equal(status, 201, JSON.stringify(body));
      return String(body["orderCode"]);
    },
    withKey: async (environment) =>
      client(
        db,
        service,
        partnerId,
        await issueKey({ db, clock: systemClock, rowMac: await rowMacOf(service.dataDir) }, partnerId, environment),
      ),
    at: (other) => client(db, other, partnerId, { keyId, key }),
  };
}

/** The real service with direct access to its database. @param env its settings */
export async function openRoomsService(env: Record<string, string> = {}): Promise<RoomsService> {
  const harness = await openHarness(env);
  const { service, db } = harness;
  const deps = { db, clock: systemClock, rowMac: harness.rowMac };
  return {
    ...harness,
    async partner(tier = "trial", name = "Acme Title") {
      const { partnerId } = await createPartner(deps, { name, tier, live: false });
      return client(db, service, partnerId, await issueKey(deps, partnerId, "test"));
    },
    async view(roomCode, at = service) {
      const response = await fetch(`${at.baseUrl}/api/rooms/${roomCode}`);
      assert.equal(response.status, 200);
      return (await response.json()) as RoomView;
    },
    audit: (roomCode) =>
      db.query<AuditLine>(sql`
        SELECT action, actor, order_id IS NOT NULL AS orders, from_status AS from, to_status AS to
        FROM audit_log WHERE room_id = (SELECT id FROM rooms WHERE ${isSealed(sql`code`, "room", roomCode)}) ORDER BY id`),
    async setStatus(orderCode, status, more = nothing) {
      // In one transaction, because a concurrent reader between the change and its MAC would find an invalid row.
      await db.transaction((tx) => changeOrder(tx, orderCode, sql`status = ${status} ${more}`));
    },
  };
}
