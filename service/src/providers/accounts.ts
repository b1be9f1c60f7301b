import type { Account } from "./account.ts";
import { easypostAccount } from "./easypost/account.ts";
import { lobAccount } from "./lob/account.ts";
import { telnyxAccount } from "./telnyx/account.ts";

type Settings = {
  easypost: Parameters<typeof easypostAccount>[0] | null;
  lob: Parameters<typeof lobAccount>[0] | null;
  telnyx: Parameters<typeof telnyxAccount>[0] | null;
};

/** The accounts that are configured. */
export function accountsOf({ easypost, lob, telnyx }: Settings): Account[] {
  return [easypost && easypostAccount(easypost), lob && lobAccount(lob), telnyx && telnyxAccount(telnyx)].filter(
    (account) => account !== null,
  );
}
