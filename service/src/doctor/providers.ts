import type { Config } from "../config/config.ts";
import { systemClock } from "../platform/clock.ts";
import { openLog } from "../platform/logs.ts";
import { accountsOf, checkAccounts } from "../providers/providers.ts";
import type { Finding } from "./finding.ts";

const byHand: Readonly<Record<string, string>> = {
  easypost: "EASYPOST_API_KEY is not set: people buy and print labels",
  lob: "LOB_API_KEY is not set: people print and mail packets",
  telnyx: "TELNYX_API_KEY is not set: people send faxes, and codes go by email",
};

/** Asks each configured account of a provider without acting. */
export async function providerFindings(config: Config): Promise<Finding[]> {
  const deps = { fetch, clock: systemClock, log: openLog("silent") };
  const checked = new Map(
    (await checkAccounts(accountsOf(config), deps)).map((each) => [each.provider as string, each]),
  );
  return Object.entries(byHand).map(([provider, without]) => {
    const found = checked.get(provider);
    const name = `provider ${provider}`;
    if (!found) return { name, result: "ok", detail: without };
    if (!found.ok) return { name, result: "failed", detail: found.detail };
    return found.takesEvents
      ? { name, result: "ok", detail: found.detail }
      : {
          name,
          result: "warning",
          detail: `${found.detail}; without the secret of its events it is asked by the clock`,
        };
  });
}
