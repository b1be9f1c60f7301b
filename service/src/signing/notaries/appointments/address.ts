import { readMailFirm } from "../../../firms/partners/partners.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { isLanguage, type Language } from "../../../kernel/platform/languages.ts";
import { isPlainName } from "../../../kernel/platform/mail/plain-name.ts";
import type { OrderPeople } from "../claims/orders.ts";
import { sessionWords } from "./words.ts";

/** Returns the email address, language, greeting and firm of a mail about an appointment. */
export async function addressedTo(
  db: Sql,
  { partnerId, environment }: Pick<OrderPeople, "partnerId" | "environment">,
  { name, email, language: spoken }: { name: string; email: string; language: string },
) {
  const language: Language = isLanguage(spoken) ? spoken : "en";
  const words = sessionWords[language];
  const greeting = words.hello(isPlainName(name) ? name : null);
  return { to: email, greeting, language, words, environment, firm: await readMailFirm(db, partnerId) };
}
