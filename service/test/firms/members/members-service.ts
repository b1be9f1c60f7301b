import { openHarness } from "@signsealship/testing/harness";
import { createPartner, issueKey } from "../../../src/firms/partners/partners.ts";
import { systemClock as clock } from "../../../src/kernel/platform/clock.ts";

export const json = { "Content-Type": "application/json" };

export type Sent = { method?: string; headers?: Record<string, string>; body?: BodyInit };

/** A service with firms and people. */
export async function openMembersService() {
  const harness = await openHarness({ PLAYBOOKS: "on" });
  const { service, db, rowMac } = harness;
  let people = 0;
  return {
    ...harness,
    clock,
    /** An email address that no one has used yet. */
    somebody: () => `person-${++people}@harbor-title.com`,
    /** A firm with a key. */
    async newPartner({ name = "Acme Title", live = false } = {}) {
      const { partnerId } = await createPartner({ db, clock }, { name, tier: "trial", live });
      const { key, keyId } = await issueKey({ db, clock, rowMac }, partnerId, live ? "live" : "test");
      return { partnerId, key, keyId, headers: { Authorization: `Bearer ${key}` } };
    },
    async call(path: string, { method = "GET", headers = {}, ...more }: Sent = {}) {
      const answer = await fetch(service.baseUrl + path, { method, headers, redirect: "manual", ...more });
      const text = await answer.text();
      const body = (answer.headers.get("content-type") ?? "").includes("json") ? JSON.parse(text) : text;
      return { status: answer.status, headers: answer.headers, body };
    },
  };
}
