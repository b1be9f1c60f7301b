import type { SupplyState } from "../../../signing/notaries/notaries.ts";
import { notice } from "../../ui/components.ts";
import { type Html, html } from "../../ui/render.ts";

/**
 * A warning about notaries' commissions, for the pages Today and Health. Red if no notary is on record, although orders
 * may buy a notarization.
 */
export function notaryWarning({ result, detail }: SupplyState): Html | "" {
  if (result === "ok") return "";
  const text = html`${detail.charAt(0).toUpperCase()}${detail.slice(1)}. <a href="/operator/notaries">Notaries</a>`;
  return result === "urgent"
    ? notice("stopped", "Online notarization can’t be performed", text)
    : notice("attention", "Online notarization", text);
}
