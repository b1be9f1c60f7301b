/**
 * The firm's time zone, which determines the dates in signed documents. A firm that has not chosen one has the
 * service's time zone. So the start page asks an owner to choose, and the forms for orders name the zone.
 */
import type { FastifyInstance } from "fastify";
import { principalOf } from "../../kernel/http/authentication.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import { mayUseLive, type Principal } from "../../kernel/identity/identity.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database, Sql } from "../../kernel/platform/database/database.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import { buyerOf, buyerZones, setBuyer } from "../../orders/billing/billing.ts";
import { zoneOf } from "../../orders/payments/payments.ts";
import { card } from "../ui/components.ts";
import { errorSummary, select } from "../ui/forms/fields.ts";
import { type PageCall, pageRoute } from "../ui/page/route.ts";
import { type Html, html } from "../ui/render.ts";
import { done } from "./flash-messages.ts";

const path = "/dashboard/time-zone";
const settingsPath = "/dashboard/statements#address";

/** The time zone of a firm. `isChosen` is true if an owner chose it; otherwise it is the service's zone. */
export type FirmZone = { name: string; isChosen: boolean };

export async function firmZone(db: Sql, { partnerId }: Pick<Principal, "partnerId">): Promise<FirmZone> {
  const [name, buyer] = await Promise.all([zoneOf(db, partnerId), buyerOf(db, partnerId)]);
  return { name, isChosen: buyer?.zone !== undefined };
}

const mayChoose = (principal: Principal): boolean =>
  principal.member?.role === "owner" && (!principal.liveEnabled || mayUseLive(principal));

/** The sentence with which a form names the zone of the dates in its documents. */
export const zoneNote = ({ name, isChosen }: FirmZone, principal: Principal): Html =>
  html`<p class="hint">Dates that signers put into documents, and the times in mails, are those of ${name}${
    isChosen
      ? "."
      : html`, because your firm has not chosen a time zone. ${mayChoose(principal) ? html`<a href="${settingsPath}">Choose it</a> before documents go out.` : "An owner of your firm chooses it, on the start page."}`
  }</p>`;

/** Asks an owner for the firm's time zone; null for people who may not choose it, and after the zone was chosen. */
export function zoneCard({ name, isChosen }: FirmZone, principal: Principal, refused?: string): Html | null {
  if (isChosen || !mayChoose(principal)) return null;
  const options = [{ value: "", label: "Choose one" }, ...buyerZones.map((value) => ({ value, label: value }))];
  return card(
    "time-zone",
    "Your firm’s time zone",
    html`${errorSummary(refused ?? null)}<p>Dates that signers put into documents, the times in mails, and the months of statements are those of ${name} until an owner chooses a time zone. You can change it later under Statements.</p>
<form class="form" method="post" action="${path}">
${select({ form: "time-zone", name: "zone", label: "Time zone", required: true, options })}
<div class="form-actions"><button type="submit">Save the time zone</button></div>
</form>`,
  );
}

/** Adds the form of `zoneCard`. It doesn't change the firm's name and address on receipts. */
export function zoneForm(
  forms: FastifyInstance,
  deps: { db: Database; clock: Clock; limits: RateLimits },
  refused: (call: PageCall, error: string) => Promise<string>,
): void {
  pageRoute(forms, deps, {
    method: "POST",
    policy: "partner-write",
    url: path,
    handle: async ({ form: { zone = "" }, request }) => {
      if (zone === "") throw invalid("Choose a time zone.");
      const principal = principalOf(request);
      const buyer = await buyerOf(deps.db, principal.partnerId);
      const address = buyer?.address.join("\n") ?? "";
      await setBuyer(deps, principal, { name: buyer?.name ?? principal.firmName, address, zone });
      return done("/dashboard", "time-zone-saved");
    },
    refused,
  });
}
