import { readAnsweringFirm } from "../../../firms/members/members.ts";
import { isLanguage, type Language } from "../../../kernel/platform/languages.ts";
import type { MailDeps } from "../../../kernel/platform/mail/mail-jobs.ts";
import { isPlainName } from "../../../kernel/platform/mail/plain-name.ts";
import type { OrderPeople } from "../claims/orders.ts";
import { bookingWords } from "./words.ts";

/** Returns the email address, language, greeting and firm of a mail about an appointment. */
export async function addressedTo(
  deps: Pick<MailDeps, "db" | "rowMac" | "clock">,
  order: Pick<OrderPeople, "partnerId" | "environment">,
  { name, email, language: spoken }: { name: string; email: string; language: string },
) {
  const language: Language = isLanguage(spoken) ? spoken : "en";
  const words = bookingWords[language];
  const greeting = words.hello(isPlainName(name) ? name : null);
  const firm = await readAnsweringFirm(deps, order);
  return { to: email, greeting, language, words, environment: order.environment, firm };
}
