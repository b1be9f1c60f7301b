import type { Kind } from "../places/field.ts";

/** Words that say what a blank asks for. The first pattern that matches decides. */
export type Pattern = { readonly is: Kind | "other" | "notary"; readonly words: RegExp };

/**
 * The words of a label, without its colon and its blanks. `notary` is signed by others than the signers; `other` is a blank for
 * something that nobody is asked for here.
 */
export const labelPatterns: readonly Pattern[] = [
  {
    is: "notary",
    words:
      /\bnotar(?:y|ial|ies)\b|\bmy commission\b|\bcommission (?:no|number|expires)\b|\bwitness(?:es)?\b|\bdeputy clerk\b/i,
  },
  { is: "initials", words: /\binitials?\b|^\(?init\.?\)?$|\biniciales\b/i },
  {
    is: "date",
    words:
      /^(?:the )?dates?(?: (?:of )?(?:signed|signing|signature))?(?: \(.*\))?$|^dated(?: (?:this|as of))?$|^signed on$|\bdate signed\b|\bsignature date\b|^fecha$|^on$/i,
  },
  {
    is: "name",
    words:
      /\bprint(?:ed)?(?: or type[d]?)?(?: full| legal)? name\b|\bname \(?(?:please )?print(?:ed)?\)?|\btyped? (?:or printed )?name\b|\btype or print name\b|^\(?(?:full |legal )?name\)?$|\bnombre\b/i,
  },
  {
    is: "other",
    words:
      /^(?:title|its|company|entity|address|street|city|state|zip|county|phone|telephone|tel|fax|e-?mail|loan|parcel|account|amount|price|page|no|number|file|relationship|occupation|dob|ssn|tax id|ein)\b/i,
  },
  {
    is: "other",
    words: /\b(?:address|county|parcel|zip code|phone|email|amount|dollars|rent|deposit|book|recorded|instrument)\b/i,
  },
  {
    is: "signature",
    words: /\bsign(?:ature|ed|atures)?\b(?! page)|\bsign here\b|\bfirma\b|^by$|^x$|^\(?l\.\s?s\.\)?$|^\(?seal\)?$/i,
  },
  {
    is: "signature",
    words:
      /\b(?:grantors?|grantees?|buyers?|sellers?|borrowers?|lenders?|landlords?|tenants?|lessors?|lessees?|owners?|trustors?|trustees?|settlors?|affiants?|declarants?|principals?|agents?|brokers?|guarantors?|makers?|mortgagors?|mortgagees?|employers?|employees?|contractors?|clients?|customers?|husband|wife|spouse|purchasers?|members?|managers?|partners?|president|applicants?|patients?|parents?|guardians?|part(?:y|ies)|testat(?:or|rix)|authorized (?:signatory|representative|agent)|undersigned|assign(?:or|ee)s?|licens(?:or|ee)s?|releas(?:or|ee)s?)\b/i,
  },
];

/** Lines that open a block whose blanks are the notary's, and those that close it. */
export const notaryBlock = {
  opens:
    /\b(?:acknowledged before me|subscribed and sworn|sworn to (?:and|or|before)|before me,? (?:the undersigned|a notary|personally)|notary acknowledg|acknowledgment|jurat)\b/i,
  closes: /\bcommission expires\b|\bnotary public\b/i,
} as const;

/** In points, unless said otherwise. */
export const measures = {
  /** Shorter blanks are for a number or an initial. */
  leastBlank: 50,
  leastInitials: 18,
  /** The share of the page's width: a longer rule divides the page. */
  mostBlank: 0.8,
  /** From the end of a label to the blank on its right. */
  labelBeside: 120,
  /** From a rule to the label below it, and above it. */
  labelBelow: 18,
  labelAbove: 24,
  /** How high a signature is drawn, if there is room, and other fields. */
  signatureHeight: 26,
  textHeight: 16,
  widest: 260,
} as const;

/** The kind of a label; null for words that say nothing of a blank. */
export function kindOfLabel(label: string): Pattern["is"] | null {
  const words = label
    .replace(/[\s:_.…*]+$/u, "")
    .replace(/^[\s_.…*]+/u, "")
    .trim();
  if (words === "") return null;
  return labelPatterns.find((pattern) => pattern.words.test(words))?.is ?? null;
}
