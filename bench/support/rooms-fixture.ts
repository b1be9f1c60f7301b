import { randomBytes } from "node:crypto";
import { newClient } from "@signsealship/testing/client";
import { type Harness, openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { authenticateRooms } from "@signsealship/testing/row-mac";
import { newPartner } from "@signsealship/testing/service";
import { isSealed, sql } from "../../service/src/kernel/platform/database/sql.ts";
import { openSealedTexts } from "../../service/src/kernel/platform/sealed-text.ts";
import { openSecretsKey } from "../../service/src/kernel/platform/secrets.ts";

/** A service with a room of 50 orders and 100 activities. */
export type RoomsFixture = Harness & {
  headers: Record<string, string>;
  roomCode: string;
  /** Creates more rooms with the same orders. @returns their codes */
  copies: (count: number) => Promise<string[]>;
};

export async function openRoomsFixture(): Promise<RoomsFixture> {
  const harness = await openHarness({ LOG_LEVEL: "info" });
  const { service, db } = harness;
  const { key, headers } = await newPartner(service, { tier: "ClosingDesk" });
  const { post } = newClient(service.baseUrl, key);
  const { roomCode } = await post<{ roomCode: string }>("/api/rooms", {
    name: "12 Elm Street",
    reference: "FILE-2207",
  });
  const form = orderForm({ ...minimal, svc_sign: "true" }, makePdf());
  for (let n = 0; n < 50; n++) {
    const { orderCode } = await post<{ orderCode: string }>("/api/partner/orders", form);
    await post(`/api/rooms/${roomCode}/orders`, { orderCode, label: `Deed ${n}` });
  }
  return {
    ...harness,
    headers,
    roomCode,
    async copies(count) {
      const codes = Array.from({ length: count }, () => randomBytes(20).toString("hex"));
      const texts = openSealedTexts(await openSecretsKey(`file:${service.dataDir}/keys/secrets`));
      await db.query(sql`
        WITH made AS (
          INSERT INTO rooms (id, code, partner_id, environment, name, reference, status, order_count, created_at,
            updated_at)
          SELECT gen_random_uuid(), c, partner_id, environment, name, reference, status, order_count, created_at,
            updated_at
          FROM rooms, unnest(${codes.map((code) => texts.seal("room", code))}::text[]) c WHERE ${isSealed(sql`code`, "room", roomCode)} RETURNING id
        )
        INSERT INTO room_orders (room_id, order_id, label, attached_at)
        SELECT made.id, order_id, label, attached_at
        FROM made, room_orders a JOIN rooms r ON r.id = a.room_id WHERE ${isSealed(sql`r.code`, "room", roomCode)}`);
      await authenticateRooms(db, sql`row_mac IS NULL`);
      await db.query(sql`ANALYZE rooms, room_orders`);
      return codes;
    },
  };
}
