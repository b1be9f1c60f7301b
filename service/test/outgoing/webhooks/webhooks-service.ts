import { type Client as Caller, newClient } from "@signsealship/testing/client";
import {
  type Authority,
  type Catcher,
  makeAuthority,
  startCatcher,
} from "@signsealship/testing/doubles/webhook-catcher";
import { type Harness, openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { writeEvents } from "@signsealship/testing/row-mac";
import { temporaryFolder } from "@signsealship/testing/service";
import { createPartner, issueKey } from "../../../src/firms/partners/partners.ts";
import { systemClock } from "../../../src/kernel/platform/clock.ts";

const document = makePdf();

export type Hook = { id: string; secret: string; url: string; topics: string[]; signatureHeader: string };
export type Delivery = Record<string, string | number | null>;

export type Client = Caller & {
  partnerId: string;
  key: string;
  subscribe: (path: string, topics: string[]) => Promise<Hook>;
  /** Places an order. @returns its code */
  order: (fields?: Record<string, string>) => Promise<string>;
  /** Waits until the webhook has `count` deliveries that ended, by default one. @returns all that ended */
  ended: (hook: Hook, count?: number) => Promise<Delivery[]>;
};

export type WebhooksService = Harness & {
  catcher: Catcher;
  authority: Authority;
  env: { DATA_DIR: string; WEBHOOK_CA: string; WEBHOOK_ALLOW: string };
  partner: (environment?: "live" | "test") => Promise<Client>;
  withKey: (partnerId: string, environment: "live" | "test") => Promise<Client>;
  /** Records events of test orders as the service would. */
  events: (partnerId: string, topic: string, orderCodes: string[]) => Promise<unknown>;
};

/** Starts a service whose webhooks may go to loopback addresses, and a receiver. Opens the service's database. */
export async function openWebhooksService(more: Record<string, string> = {}): Promise<WebhooksService> {
  const folder = temporaryFolder();
  const authority = makeAuthority(folder.path);
  const settings = { WEBHOOK_CA: authority.caFile, WEBHOOK_ALLOW: "127.0.0.0/8", RATE_LIMITS: "off", ...more };
  const harness = await openHarness(settings);
  const { service, db, close } = harness;
  const catcher = await startCatcher(authority);

  async function withKey(partnerId: string, environment: "live" | "test"): Promise<Client> {
    const { key } = await issueKey({ db, clock: systemClock, rowMac: harness.rowMac }, partnerId, environment);
    const caller = newClient(service.baseUrl, key, (status) => status < 300);
    return {
      ...caller,
      partnerId,
      key,
      subscribe: (path, topics) =>
        caller.ok<Hook>("POST", "/api/partner/webhooks", { url: catcher.url + path, topics }),
      async order(fields = {}) {
        const form = orderForm({ ...minimal, ...fields }, document);
        return (await caller.ok<{ orderCode: string }>("POST", "/api/partner/orders", form)).orderCode;
      },
      async ended({ id }, count = 1) {
        for (;;) {
          const feed = await caller.ok<{ deliveries: Delivery[] }>("GET", `/api/partner/webhooks/${id}/deliveries`);
          const done = feed.deliveries.filter(({ state }) => state !== "pending");
          if (done.length >= count) return done;
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      },
    };
  }

  return Object.assign(harness, {
    catcher,
    authority,
    env: { DATA_DIR: service.dataDir, ...settings },
    withKey,
    async partner(environment: "live" | "test" = "test") {
      const { partnerId } = await createPartner(
        { db, clock: systemClock },
        { name: "Acme Title", tier: "ClosingDesk", live: true },
      );
      return withKey(partnerId, environment);
    },
    events(partnerId: string, topic: string, subjects: string[]) {
      const about = { at: new Date(), topic, partnerId, environment: "test" } as const;
      return db.transaction((tx) =>
        writeEvents(
          tx,
          subjects.map((subject) => ({ ...about, subject, eventId: `${topic}:${subject}` })),
        ),
      );
    },
    async close() {
      await close();
      await catcher.close();
      folder.remove();
    },
  });
}
