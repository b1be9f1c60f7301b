import { randomUUID } from "node:crypto";
import type { Principal } from "../../../src/kernel/identity/identity.ts";
import { setBuyer } from "../../../src/orders/billing/billing.ts";

/** Chooses the firm's time zone, as its owner. */
export function chooseZone(
  deps: Parameters<typeof setBuyer>[0],
  partnerId: string,
  zone: string,
  userId: string = randomUUID(),
): Promise<void> {
  const principal = {
    partnerId,
    environment: "live",
    firmName: "Acme Title",
    tier: "trial",
    liveEnabled: true,
    key: null,
    member: { userId, role: "owner", liveAccess: true },
  } as unknown as Principal;
  return setBuyer(deps, principal, { name: "Acme Title", address: "", zone });
}
