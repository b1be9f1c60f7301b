import { billingOf, receiptsOf } from "./billing.ts";
import { bulkOf } from "./bulk.ts";
import { eventsOf } from "./events.ts";
import { fillsOf } from "./fills.ts";
import { firmOf, playbooksOf } from "./firm.ts";
import { ordersOf } from "./orders.ts";
import { passportsOf } from "./passports.ts";
import { roomsOf } from "./rooms.ts";
import { sandboxOf } from "./sandbox.ts";
import { embedOriginsOf, signingOf } from "./signing.ts";
import { templatesOf } from "./templates.ts";
import { type ClientOptions, createTransport, type SentResponse, type Transport } from "./transport.ts";
import { webhooksOf } from "./webhooks.ts";

export type Me = {
  firmName: string;
  tier: string;
  liveEnabled: boolean;
  environment: "live" | "test";
  key: {
    prefix: string;
    last4: string;
    createdAt: string;
    name: string | null;
    /** The key's scopes; null when it has all of them. */
    scopes: ("read" | "orders" | "rooms" | "seal" | "webhooks" | "spend")[] | null;
    expiresAt: string | null;
  } | null;
  /** The limit of open rooms and the present number of open rooms. `openRooms` is null when there is no limit. */
  quotas: { openRooms: number | null; openRoomsUsed: number };
  /** The role of a signed-in member; absent for a key. */
  role?: "owner" | "member";
  linked: boolean;
  requestId: string;
};

const routesOf = (transport: Transport) => ({
  /** Returns the firm that the key belongs to. */
  me: (): Promise<Me> => transport.json("GET", "/api/partner/me"),
  ...firmOf(transport),
  orders: { ...ordersOf(transport), ...signingOf(transport), ...receiptsOf(transport) },
  billing: billingOf(transport),
  templates: templatesOf(transport),
  embedOrigins: embedOriginsOf(transport),
  bulk: bulkOf(transport),
  fills: fillsOf(transport),
  sandbox: sandboxOf(transport),
  rooms: roomsOf(transport),
  passports: passportsOf(transport),
  webhooks: webhooksOf(transport),
  events: eventsOf(transport),
  playbooks: playbooksOf(transport),
});

export type Client = ReturnType<typeof routesOf> & {
  /**
   * Returns a client with the same options except those given: `client.with({ signal })`, `client.with({ timeoutMs:
   * 5_000 })`.
   */
  with: (changed: Partial<ClientOptions>) => Client;
  /**
   * Runs `work`, and returns its result with the status, headers and duration of its last attempt. @throws TypeError if
   * `work` sends no request
   */
  withResponse: <T>(work: (client: Client) => Promise<T>) => Promise<{ data: T; response: SentResponse }>;
};

/**
 * The whole partner interface. A call throws ServiceRefusal when the service refuses, ConnectionError when it does not
 * answer, and SyntaxError for an unreadable answer. After an abort by `signal`, it throws the abort reason. Reads, and
 * writes with an idempotency key, are retried after a missing answer or a temporary refusal.
 */
export function createClient(options: ClientOptions): Client {
  return {
    ...routesOf(createTransport(options)),
    with: (changed) => createClient({ ...options, ...changed }),
    async withResponse(work) {
      let response: SentResponse | undefined;
      const onResponse = (each: SentResponse) => {
        response = each;
        options.onResponse?.(each);
      };
      const data = await work(createClient({ ...options, onResponse }));
      if (!response) throw new TypeError("withResponse was given work that sends no request.");
      return { data, response };
    },
  };
}
