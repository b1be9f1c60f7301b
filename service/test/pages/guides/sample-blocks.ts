import { withAddress } from "../../../src/kernel/http/openapi/samples.ts";

/** A sample in a code block of a guide. */
export type Sample = {
  lang: string;
  /** The file name of a program; null for a command. */
  file: string | null;
  /** True if the program runs until it is stopped. */
  isReceiver: boolean;
  text: string;
};

/** The samples that a reader of a guide would run, in order, with this service's URL and this key. */
export function samplesOf(markdown: string, { baseUrl, key }: { baseUrl: string; key: string }): Sample[] {
  const fences = markdown.matchAll(/^```(\w+)(?: (\S+))?( receiver)?\n([\s\S]*?)^```$/gm);
  return [...fences]
    .map(([, lang = "", file = null, receiver, text = ""]) => ({
      lang,
      file,
      isReceiver: receiver !== undefined,
      text: withAddress(text, baseUrl).replaceAll("svc_pk_test_...", key),
    }))
    .filter(({ lang, file }) => lang === "sh" || file !== null);
}
