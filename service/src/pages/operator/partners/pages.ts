import type { IssuedKey } from "../../../firms/partners/partners.ts";
import { tiers } from "../../../firms/partners/partners.ts";
import type { FirmRecord, findFirms } from "../../../upkeep/console/console.ts";
import { card, codeText, emptyState, facts, notice, pageHead, statusBadge } from "../../ui/components.ts";
import { shortTime, time } from "../../ui/format.ts";
import { buttonForm, hiddenFields } from "../../ui/forms/button-form.ts";
import { checkbox, errorSummary, field, select } from "../../ui/forms/fields.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";

const path = "/operator/partners";

/** The list of firms, by name. @param isCut true if there are more firms than the list shows */
export const firmsBody = (
  typed: string,
  firms: Awaited<ReturnType<typeof findFirms>>,
  isCut: boolean,
  error?: string,
): Html =>
  html`${pageHead("Firms")}
${errorSummary(error)}
<form class="form filters" method="get" action="${path}" aria-label="Filter">${field({ name: "name", label: "Part of the name", required: "sometimes", type: "search", value: typed, maxLength: 200 })}
<div class="form-actions"><button type="submit" class="quiet-button">Apply</button>${typed !== "" && html`<a href="${path}">Clear</a>`}</div></form>
${firms.length === 0 ? emptyState("No firm", "No firm’s name contains this.") : firmTable(firms)}
${isCut && html`<p class="quiet">There are more: type a part of the name.</p>`}`;

const firmTable = (firms: Awaited<ReturnType<typeof findFirms>>): Html =>
  records(
    "Firms by name",
    [{ label: "Firm" }, { label: "Tier" }, { label: "Live" }, { label: "Since", utc: true }],
    firms.map(({ partnerId, name, tier, liveEnabled, createdAt }) => [
      html`<a class="breakable" href="${path}/${partnerId}">${name}</a>`,
      tier,
      liveEnabled ? statusBadge("done", "Live") : "Test only",
      shortTime(createdAt),
    ]),
  );

export type FirmView = FirmRecord & {
  mayChange: boolean;
  mayReadOrders: boolean;
  /** The size of the firm's stored documents and its tier's limit, in bytes. Null for a tier without a limit. */
  storage: { stored: number; max: number } | null;
  /** A new key. It is shown only once. */
  issued?: IssuedKey | undefined;
  error?: string | undefined;
};

/** The page of a firm: its tier, live access, keys and webhooks, and the changes that are possible. */
export const firmBody = ({
  firm,
  keys,
  webhooks,
  storage,
  mayChange,
  mayReadOrders,
  issued,
  error,
}: FirmView): Html => {
  const own = `${path}/${firm.partnerId}`;
  return html`${pageHead(firm.name, "", html`<a href="${path}">All firms</a>`)}
${errorSummary(error)}
${issued && html`<div role="status">${notice("attention", "Copy the key now: it is not shown again", html`${codeText(issued.key, "the key")} Hand it over in a way that only the firm can read.`)}</div>`}
<div class="panels">
${card(
  "firm",
  "Firm",
  html`${facts([
    ["Tier", firm.tier],
    ["Live", firm.liveEnabled ? "Enabled" : "Test only"],
    ["Contact", firm.contactEmail],
    ["Stored documents", storage ? `${megabytes(storage.stored)} of ${megabytes(storage.max)}` : "No limit"],
    ["Since", time(firm.createdAt)],
    ["ID", codeText(firm.partnerId, "the firm’s ID")],
    ["Orders", mayReadOrders ? html`<a href="/operator/orders?partner=${firm.partnerId}">See its orders</a>` : null],
  ])}${mayChange && changeForm(own, firm)}`,
)}
${card(
  "keys",
  "Keys",
  html`${keys.length === 0 ? emptyState("No keys", "The firm can’t call the interface yet.") : keyTable(own, keys, mayChange)}
${mayChange && html`<div class="button-row">${issueButton(own, "test")}${issueButton(own, "live")}</div>`}`,
)}
${card("webhooks", "Webhooks", webhooks.length === 0 ? emptyState("No webhooks", "The firm subscribes by itself.") : webhookTable(webhooks))}
</div>`;
};

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1_000_000).toLocaleString("en-US")}\u00a0MB`;

const changeForm = (own: string, { tier, liveEnabled }: FirmRecord["firm"]): Html =>
  html`<form class="form" method="post" action="${own}">${hiddenFields({ shown_live: liveEnabled ? "yes" : "no" })}
${select({ name: "tier", label: "Tier", required: true, value: tier, options: tiers.map((each) => ({ value: each, label: each })) })}
${checkbox({ name: "live", label: "The firm has live", checked: liveEnabled, hint: "Every change is mailed to all admins." })}
<div class="form-actions"><button type="submit" class="quiet-button">Save</button></div></form>`;

const keyTable = (own: string, keys: FirmRecord["keys"], mayChange: boolean): Html =>
  records(
    "Keys",
    [{ label: "Key" }, { label: "Environment" }, { label: "Last used", utc: true }, { label: "State" }],
    keys.map(({ keyId, environment, last4, createdAt, lastUsedAt, revokedAt }) => [
      html`…${last4}<br><span class="quiet">issued ${shortTime(createdAt)}</span>`,
      environment,
      lastUsedAt ? shortTime(lastUsedAt) : "Never",
      revokedAt
        ? statusBadge("stopped", "Revoked")
        : html`${statusBadge("done", "Works")}${mayChange && revokeQuestion(`${own}/keys/${keyId}/revoke`, last4)}`,
    ]),
  );

const issueButton = (own: string, environment: "test" | "live"): Html =>
  buttonForm(`${own}/keys`, `Issue a ${environment} key`, { fields: { environment }, kind: "quiet-button" });

const revokeQuestion = (action: string, last4: string): Html =>
  html`<details class="question"><summary>Revoke<span class="visually-hidden"> the key ending in ${last4}</span></summary>
<div><p>It stops working with the next request. Webhooks and members that it made stay.</p>
${buttonForm(action, "Revoke the key", { kind: "danger-button" })}</div></details>`;

const webhookTable = (webhooks: FirmRecord["webhooks"]): Html =>
  records(
    "Webhooks and their latest 100 deliveries",
    [
      { label: "Address" },
      { label: "Environment" },
      { label: "Delivered", number: true },
      { label: "Failed", number: true },
      { label: "Waiting", number: true },
      { label: "Last failure" },
    ],
    webhooks.map(({ url, environment, topics, delivered, failed, pending, lastReason }) => [
      html`<span class="breakable">${url}</span><br><span class="quiet">${topics.join(", ")}</span>`,
      environment,
      String(delivered),
      failed === 0 ? "0" : statusBadge("attention", String(failed)),
      String(pending),
      lastReason ?? "–",
    ]),
  );
