import type { ClosingRecord } from "../../../closing/closing-passports/closing-passports.ts";
import { deletedMessage } from "../../../kernel/retention/retention.ts";
import { html } from "../../ui/render.ts";
import { type Summary, sealedAt } from "../summary.ts";
import { certificateLink, claimsOf, ownOf } from "./claims.ts";

/** The element where the browser shows its own result. */
const recheckSaid = html`<span id="recheck-said" aria-live="polite"></span>`;

/** The six lines about a closing passport. @param host of this service */
export function closingSummary(record: ClosingRecord, host: string): Summary {
  const { manifest, branding, partnerName, certificateDeletedAt, verifyCode } = record;
  const own = ownOf(record);
  const failed = claimsOf(record).some(({ state }) => state === "fails") || manifest === null;
  const room = manifest && html`“${manifest.passport.roomName}”`;
  const reference = manifest?.passport.reference;
  return {
    document: html`Closing passport${room && html` of ${room}`}${reference && html`, ${reference}`}, version ${own.version}`,
    firm: branding?.brandName ?? partnerName,
    sealed: sealedAt(own.createdAt, "As this service states it."),
    sealedBy: `SignSealShip at ${host}`,
    unchanged: failed
      ? { answer: "no", why: html`The stored records do not match what was sealed. ${recheckSaid}` }
      : {
          answer: "yes",
          why: html`Everything was computed again for this page. ${recheckSaid}`,
        },
    download: certificateDeletedAt
      ? deletedMessage("The certificate", certificateDeletedAt)
      : certificateLink(verifyCode),
  };
}
