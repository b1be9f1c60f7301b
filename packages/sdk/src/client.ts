import { ordersOf, sandboxOf } from "./orders.ts";
import { passportsOf } from "./passports.ts";
import { roomsOf } from "./rooms.ts";
import { signingOf } from "./signing.ts";
import { type ClientOptions, createTransport } from "./transport.ts";
import { webhooksOf } from "./webhooks.ts";

export type Me = {
  firmName: string;
  tier: string;
  liveEnabled: boolean;
  environment: "live" | "test";
  key: { prefix: string; last4: string; createdAt: string } | null;
  /** `openRooms` is null when unlimited. */
  quotas: { openRooms: number | null; openRoomsUsed: number };
  /** Of a signed-in member; not there with a key. */
  role?: "owner" | "member";
  linked: boolean;
  requestId: string;
};

/** The whole partner interface. Every call throws ServiceRefusal when the service refuses; nothing is retried. */
export function createClient(options: ClientOptions) {
  const transport = createTransport(options);
  return {
    me: (): Promise<Me> => transport.json("GET", "/api/partner/me"),
    orders: { ...ordersOf(transport), ...signingOf(transport) },
    sandbox: sandboxOf(transport),
    rooms: roomsOf(transport),
    passports: passportsOf(transport),
    webhooks: webhooksOf(transport),
  };
}

export type Client = ReturnType<typeof createClient>;
