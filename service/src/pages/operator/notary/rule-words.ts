import type { Sourced, StateRules, TermName } from "../../../signing/notaries/notaries.ts";
import { statusBadge } from "../../ui/components.ts";
import { time } from "../../ui/format.ts";
import { type Html, html } from "../../ui/render.ts";

/** Labels of the terms in a U.S. state's rules for notaries. */
export const termLabels: Readonly<Record<TermName, string>> = {
  effective: "In force",
  feeCap: "Highest fee",
  identity: "Identity",
  recording: "Recording",
  retention: "Records are kept",
  signerLocation: "Where the signer may be",
  certificate: "Certificate and seal",
  platform: "The tool",
  exclusions: "Documents that are excluded",
};

/** The day on which a rule's value was read, and the source that it was read from. */
export const readAt = ({ asOf, source }: Pick<Sourced<unknown>, "asOf" | "source">): Html =>
  html`<br><span class="second-line breakable">As of ${asOf}: ${source}</span>`;

/** The origin of a U.S. state's rules, and the people who are responsible for them. */
export function originWords({ origin, modes }: StateRules): Html {
  switch (origin.kind) {
    case "file":
      return html`Shipped, read on ${modes.asOf} from ${modes.source}`;
    case "confirmed":
      return html`Version ${origin.version}, confirmed by ${origin.by}, ${time(origin.at)}; counts from ${origin.effectiveOn}. <a href="${origin.sourceUrl}" rel="noreferrer">Source</a>`;
    case "altered":
      return html`A confirmed version is not what the service wrote, or names a class that the rules file lacks. Only paper is offered.`;
  }
}

export const originBadge = ({ origin }: StateRules): Html =>
  ({
    file: statusBadge("waiting", "Shipped"),
    confirmed: statusBadge("done", "Confirmed"),
    altered: statusBadge("stopped", "Altered"),
  })[origin.kind];
