import { type ProviderBacklog, type Providers, providerNames } from "../../../providers/providers.ts";
import { statusBadge } from "../../ui/components.ts";
import { shortTime } from "../../ui/format.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";

/** The health of a provider's account, based on this node's requests and the queues of all nodes. */
export type ProviderHealth = {
  name: string;
  hasAccount: boolean;
  isPaused: boolean;
  lastAnsweredAt: Date | null;
  lastFailure: { at: Date; why: string } | null;
  backlog: ProviderBacklog | undefined;
};

/**
 * The health of the providers with an account, and of the providers without an account that still have unfinished
 * earlier work.
 */
export function providerHealths(
  accounts: ReturnType<Providers["accounts"]>,
  waiting: readonly ProviderBacklog[],
): ProviderHealth[] {
  const withAccount = accounts.map(({ account: { provider }, caller }) => ({
    name: providerNames[provider],
    hasAccount: true,
    ...caller.health(),
    backlog: waiting.find((each) => each.provider === provider),
  }));
  const without = waiting
    .filter(({ provider }) => !accounts.some(({ account }) => account.provider === provider))
    .map((backlog) => ({
      name: providerNames[backlog.provider],
      hasAccount: false,
      isPaused: false,
      lastAnsweredAt: null,
      lastFailure: null,
      backlog,
    }));
  return [...withAccount, ...without];
}

export const providerTable = (providers: readonly ProviderHealth[]): Html =>
  records(
    "Providers",
    [
      { label: "Provider" },
      { label: "Requests" },
      { label: "Last answer", utc: true },
      { label: "Waiting", number: true },
      { label: "Nobody knows", number: true },
      { label: "Events to work on", number: true },
    ],
    providers.map((each) => [
      each.name,
      requestsCell(each),
      each.lastAnsweredAt === null ? "–" : shortTime(each.lastAnsweredAt),
      String(each.backlog?.waitingActs ?? 0),
      each.backlog?.unknownActs
        ? html`<a href="/operator/tasks/provider_unclear">${statusBadge("attention", String(each.backlog.unknownActs))}</a>`
        : "0",
      String(each.backlog?.unworkedEvents ?? 0),
    ]),
  );

function requestsCell(provider: ProviderHealth): Html {
  const { lastFailure, backlog } = provider;
  const failure =
    lastFailure && html`<br><span class="quiet breakable">${shortTime(lastFailure.at)}: ${lastFailure.why}</span>`;
  const away =
    backlog?.awaySince && html`<br><span class="quiet">Takes nothing since ${shortTime(backlog.awaySince)}</span>`;
  return html`${badgeOf(provider)}${failure}${away}`;
}

/** A response after the last failure proves that the provider has recovered. */
function badgeOf({ hasAccount, isPaused, lastAnsweredAt, lastFailure }: ProviderHealth): Html {
  if (!hasAccount) return statusBadge("attention", "No account");
  if (isPaused) return statusBadge("stopped", "Paused");
  if (lastFailure && (lastAnsweredAt === null || lastAnsweredAt < lastFailure.at))
    return statusBadge("attention", "Failed last");
  return lastAnsweredAt === null ? statusBadge("waiting", "Not asked yet") : statusBadge("done", "Works");
}
