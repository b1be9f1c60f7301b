import type { Account } from "./account.ts";
import { type CallerDeps, createCaller } from "./calls/call.ts";
import { type ProviderName, providerNames } from "./names.ts";

/** How an account answered when it was asked without acting. */
export type CheckedAccount = {
  provider: ProviderName;
  name: string;
  ok: boolean;
  /** What it said, or why it did not answer. */
  detail: string;
  /** Whether its events are taken in; otherwise it is asked again and again. */
  takesEvents: boolean;
};

const timeoutMs = 5_000;

/** Asks each account, all at the same time. Nothing is done there, and nobody's money moves. Never rejects. */
export const checkAccounts = (
  accounts: readonly Account[],
  deps: Pick<CallerDeps, "fetch" | "clock" | "log">,
): Promise<CheckedAccount[]> =>
  Promise.all(
    accounts.map(async (account) => {
      const { provider, verify } = account;
      const { call } = createCaller(deps, { ...account, timeoutMs });
      const found = await account.check(call);
      const detail = found.ok ? found.detail : found.why;
      return { provider, name: providerNames[provider], ok: found.ok, detail, takesEvents: verify !== null };
    }),
  );
