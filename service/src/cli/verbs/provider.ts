import { readConfig } from "../../kernel/config/config.ts";
import { systemClock } from "../../kernel/platform/clock.ts";
import { openLog } from "../../kernel/platform/logs.ts";
import { accountsOf, checkAccounts } from "../../providers/providers.ts";
import { root } from "../../upkeep/resources.ts";
import { defineVerb, type Verb } from "../verb.ts";

export const providerVerbs: Verb[] = [
  defineVerb({
    name: "provider check",
    args: [],
    options: {},
    summary:
      "Asks each configured account (EasyPost, Lob, Telnyx) without acting; exits with 1 if one does not answer.",
    async run() {
      const accounts = accountsOf(readConfig(process.env, process.cwd(), root));
      const providers = await checkAccounts(accounts, { fetch, clock: systemClock, log: openLog("silent") });
      const lines = providers.map(
        ({ name, ok, detail, takesEvents }) =>
          `${ok ? "ok    " : "failed"} ${name}: ${detail}${takesEvents ? "" : " (its events are not taken in)"}`,
      );
      const text = lines.length === 0 ? "No account is configured: people do what providers would." : lines.join("\n");
      const ok = providers.every((each) => each.ok);
      return { text, json: { ok, providers }, exitCode: ok ? 0 : 1 };
    },
  }),
];
