import { stringText } from "../pdf/text.ts";
import type { PdfDictionary } from "../pdf/values.ts";

const DATE = /^D:(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(?:Z|([+-])(\d{2})'?(\d{2})?'?)?$/;

/**
 * The time in a signature dictionary (/M; ISO 32000-2, section 7.9.4), epoch ms. A time without an offset is read as
 * UTC. It is only the sealer's own statement. Null when missing, unreadable, or without seconds.
 */
export function claimedTimeOf(dictionary: PdfDictionary): number | null {
  const value = dictionary.entries.get("M");
  const text = value?.kind === "string" && !dictionary.repeated.includes("M") ? stringText(value) : "";
  const [, year, month, day, hour, minute, second, sign = "+", offsetHours = "00", offsetMinutes = "00"] =
    DATE.exec(text) ?? [];
  const instant = Date.parse(
    `${year}-${month}-${day}T${hour}:${minute}:${second}${sign}${offsetHours}:${offsetMinutes}`,
  );
  return Number.isNaN(instant) ? null : instant;
}
