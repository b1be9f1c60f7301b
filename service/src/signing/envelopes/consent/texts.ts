import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { StartupError } from "../../../kernel/platform/errors.ts";
import { type Language, languages } from "../../../kernel/platform/languages.ts";

/** The text that a signer consents to, word for word (15 USC 7001(c)). Each language of signers has one. */
export type ConsentText = {
  readonly version: string;
  readonly language: Language;
  readonly markdown: string;
  /** The hash of the file in hex, which the record of a consent names. */
  readonly sha256: string;
};

export type ConsentTexts = {
  /** The text of the newest version. */
  readonly current: (language: Language) => ConsentText;
  /** Undefined for a version that there never was. */
  readonly find: (version: string, language: Language) => ConsentText | undefined;
};

const fileName = /^(?<language>[a-z]{2})-(?<version>\d+)\.md$/;

/**
 * Reads the texts of all versions, once, at the start: `en-1.md`, `es-1.md`. A version that was ever shown stays.
 * @throws StartupError when the newest version is not there in every language
 */
export function readConsentTexts(folder: string): ConsentTexts {
  const texts = readdirSync(folder).flatMap((file): ConsentText[] => {
    const { language, version } = fileName.exec(file)?.groups ?? {};
    const known = languages.find((one) => one === language);
    if (known === undefined || version === undefined) return [];
    const bytes = readFileSync(join(folder, file));
    const sha256 = hash("sha256", bytes);
    return [{ version, language: known, markdown: bytes.toString(), sha256 }];
  });
  const find = (version: string, language: Language) =>
    texts.find((text) => text.version === version && text.language === language);
  const newest = String(Math.max(...texts.map(({ version }) => Number(version))));
  const current = new Map(
    languages.map((language) => {
      const text = find(newest, language);
      if (!text) throw new StartupError(`${folder} has no consent text ${language}-${newest}.md`);
      return [language, text];
    }),
  );
  return { find, current: (language) => current.get(language) as ConsentText };
}
