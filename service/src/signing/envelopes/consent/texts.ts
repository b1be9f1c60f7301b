import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { StartupError } from "../../../kernel/platform/errors.ts";
import { type Language, languages } from "../../../kernel/platform/languages.ts";

/** The exact wording of a text to which a signer consents (15 USC 7001(c)), in one language. */
export type ConsentText = {
  /**
   * The text covers one document (`document`), all documents of a closing that the signer signs one after another
   * (`closing`), or one document that the signer signs in a notary's presence (`presence`).
   */
  readonly scope: "document" | "closing" | "presence";
  readonly version: string;
  readonly language: Language;
  readonly markdown: string;
  /** The hex SHA-256 of the text's file. The record of a consent contains it. */
  readonly sha256: string;
};

/** The newest texts, by their scope. */
export type NewestTexts = {
  /** The newest text for one document. */
  readonly current: (language: Language) => ConsentText;
  /** The newest text for the documents of a closing. */
  readonly ofClosing: (language: Language) => ConsentText;
  /**
   * The newest text for a document that is signed in a notary's presence. Other texts name the page's buttons for paper
   * or withdrawal. This one refers the signer to the notary instead.
   */
  readonly inPresence: (language: Language) => ConsentText;
};

export type ConsentTexts = NewestTexts & {
  /** The text of a version; undefined if the folder has no such text. */
  readonly find: (version: string, language: Language) => ConsentText | undefined;
};

/** The newest text for a signer's page: with a notary, for the documents of a session, or for one document. */
export const newestText = (
  { current, ofClosing, inPresence }: NewestTexts,
  { room, session }: { room: unknown; session: unknown },
): ((language: Language) => ConsentText) => (room ? inPresence : session ? ofClosing : current);

const fileName = /^(?:(?<scope>closing|presence)-)?(?<language>[a-z]{2})-(?<version>\d+)\.md$/;

/**
 * Reads the texts of all versions once, at the start: `en-1.md`, `closing-en-2.md`, `presence-en-3.md`. Every version
 * that a signer ever saw must stay in the folder. The texts of all kinds share one sequence of version numbers.
 * @throws StartupError when the newest version of a kind is missing in some language
 */
export function readConsentTexts(folder: string): ConsentTexts {
  const { find, newestOf } = readFolder(folder);
  return { find, current: newestOf("document"), ofClosing: newestOf("closing"), inPresence: newestOf("presence") };
}

/** Reads texts of a single kind, such as the consent to a recording. @throws StartupError as `readConsentTexts` */
export const readOneKind = (folder: string): Pick<ConsentTexts, "current"> => ({
  current: readFolder(folder).newestOf("document"),
});

function readFolder(folder: string) {
  const texts = readdirSync(folder).flatMap((file): ConsentText[] => {
    const { scope, language, version } = fileName.exec(file)?.groups ?? {};
    const supported = languages.find((one) => one === language);
    if (supported === undefined || version === undefined) return [];
    const bytes = readFileSync(join(folder, file));
    const sha256 = hash("sha256", bytes);
    const ofScope = (scope ?? "document") as ConsentText["scope"];
    return [{ scope: ofScope, version, language: supported, markdown: bytes.toString(), sha256 }];
  });
  const find = (version: string, language: Language) =>
    texts.find((text) => text.version === version && text.language === language);
  const newestOf = (scope: ConsentText["scope"]) => {
    const ofScope = texts.filter((text) => text.scope === scope);
    const newest = String(Math.max(...ofScope.map(({ version }) => Number(version))));
    const byLanguage = new Map(
      languages.map((language) => {
        const text = ofScope.find((each) => each.version === newest && each.language === language);
        if (!text) throw new StartupError(`${folder} has no text of the newest consent for a ${scope} in ${language}`);
        return [language, text];
      }),
    );
    return (language: Language) => byLanguage.get(language) as ConsentText;
  };
  return { find, newestOf };
}
