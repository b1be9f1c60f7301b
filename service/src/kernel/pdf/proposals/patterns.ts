/** The kinds of fields that blanks ask for. */
export type Kind = "signature" | "initials" | "date" | "name" | "text" | "checkbox";

/** Words that say what a blank asks for. The first pattern that matches decides. */
export type Pattern = { readonly is: Kind | "other" | "notary"; readonly words: RegExp };

/** The words that forms use for parties, such as "Seller", in English, Spanish and French. */
export const parties: readonly RegExp[] = [
  /\b(?:co-?)?(?:grantors?|grantees?|buyers?|sellers?|borrowers?|lenders?|landlords?|tenants?|lessors?|lessees?|(?:home|policy)?owners?|trustors?|trustees?|settlors?|affiants?|declarants?|deponents?|principals?|agents?|brokers?|guarantors?|suret(?:y|ies)|makers?|mortgagors?|mortgagees?|employers?|employees?|(?:sub)?contractors?|consultants?|vendors?|suppliers?|architects?|engineers?|clients?|customers?|(?:policy|card|account)? ?holders?|insureds?|claimants?|beneficiar(?:y|ies)|husband|wife|spouse|purchasers?|members?|managers?|supervisors?|partners?|president|secretary|treasurer|chair(?:man|woman|person)?|(?:managing )?directors?|officers?|executors?|executrix|administrators?|representatives?|conservators?|applicants?|participants?|volunteers?|students?|residents?|occupants?|patients?|parents?|guardians?|attorneys?|counsel|plaintiffs?|defendants?|petitioners?|respondents?|debtors?|creditors?|obligors?|obligees?|indemnitors?|transferors?|transferees?|donors?|donees?|subscribers?|part(?:y|ies)|testat(?:or|rix)|undersigned|assign(?:or|ee)s?|licens(?:or|ee)s?|releas(?:or|ee)s?|pledg(?:or|ee)s?|franchis(?:or|ee)s?|disclosing|receiving|physicians?|doctors?|providers?|realtors?|solicitors?|lawyers?|conveyancers?|nurses?|therapists?|counselors?|teachers?|coach(?:es)?|advis[oe]rs?|inspectors?|appraisers?|shareholders?|stockholders?|incorporators?|organizers?|investors?|dealers?|shippers?|consignees?|carriers?|bidders?|co-?signers?|co-?makers?|payors?|heirs?|attorney-in-fact|signator(?:y|ies)|signers?|renters?|hirers?|performers?|artists?|photographers?|authors?|publishers?|exhibitors?|caregivers?|custodians?|sponsors?|guests?|instructors?|superintendents?|operators?|technicians?|approvers?|fiduciar(?:y|ies))\b/i,
  /\b(?:arrendador[ea]?s?|arrendatari[oa]s?|inquilin[oa]s?|propietari[oa]s?|vendedor[ea]?s?|comprador[ea]?s?|poderdantes?|apoderad[oa]s?|mandantes?|mandatari[oa]s?|otorgantes?|aceptantes?|deudor[ea]?s?|acreedor[ea]?s?|prestamistas?|prestatari[oa]s?|fiador[ea]?s?|avalistas?|garantes?|clientes?|pacientes?|empleador[ea]?s?|emplead[oa]s?|trabajador[ea]?s?|solicitantes?|declarantes?|comparecientes?|testador[ea]?s?|padre|madre|tutor[ea]?s?|representante(?: legal)?|contratistas?|c[oó]nyuges?|agentes?|abogad[oa]s?|corredor(?:as?|es)?)\b/i,
  /\b(?:lu et approuv[eé]|bon pour (?:accord|mandat|pouvoir)|bailleurs?|bailleresses?|locataires?|vendeurs?|acheteurs?|acqu[eé]reurs?|emprunteurs?|pr[eê]teurs?|preneurs?|mandants?|mandataires?|d[eé]clarants?)(?!\p{L})/iu,
];

/**
 * Patterns for the words of a label, without its colon and its blanks. A `notary` blank is for people other than the
 * signers. An `other` blank asks for a value that none of the kinds of fields is for.
 */
export const labelPatterns: readonly Pattern[] = [
  {
    is: "notary",
    words:
      /\bnotar(?:y|ial|ies|io|ia|ios)\b|\bmy commission\b|\bcommission (?:no|number|expires)\b|\bwitness(?:es)?\b|\btestigos?\b|\bdeputy clerk\b|\b(?:county|court) clerk\b|\brecorder\b|\bjudge\b|\bmagistrate\b|\bjuez\b|\b(?:received|registered|recorded|issued|verified|prepared) by\b|\b(?:recording|recordation) requested by\b|\bwhen recorded\b|\bentered by\b|\bin the presence of\b|\bwitnessed by\b|\bnotarial officer\b|\b(?:county|official) seal\b/i,
  },
  // Words that end in this way are part of a sentence, which continues after the blank.
  { is: "other", words: /^(?:[^\s,]+ ){2,}(?:on|at|to|the|in|this|for)$/i },
  { is: "other", words: /^\p{Ll}\S*(?: [^\s,]+)+ (?:of|from|and)$/u },
  // The city in which people sign.
  { is: "other", words: /^(?:signed|dated|executed|done|firmado|fait) (?:at|in|en|à)$/iu },
  // A person's middle initial, and a first payment.
  {
    is: "other",
    words:
      /\b(?:middle|first|last) (?:names?|initials?)\b|\binitial (?:deposit|payment|rent|term|amount|fee|draw|advance|balance|premium|investment|lease|visit)s?\b|^m\.? ?i\.?$/i,
  },
  { is: "initials", words: /\binitials?\b|^\(?init\.?\)?$|\b(?:iniciales|r[uú]brica|paraphes?|initiales)(?!\p{L})/iu },
  {
    is: "signature",
    words:
      /\b(?:nombre y firma|firma y nombre|name (?:and|&|\/) signature|sign your (?:full )?name|signature ?(?:and|&|\/) ?(?:printed )?name)\b|\(signatures?(?: required)?\)$/i,
  },
  {
    is: "date",
    words:
      /^(?:the )?dates?(?: ?\/ ?time)?(?: (?:of )?(?:signed|signing|signature|acceptance|execution|executed))?(?: ?\(.*\))?$|^dated(?: (?:this|as of|on))?$|^(?:executed|signed) (?:this|as of|on)$|\bdate signed\b|\b(?:signature|today['’]?s|signing) date\b|^\((?:date|fecha)\)$|^fecha(?: de (?:la )?firma)?$|^date de (?:la )?signature$|^on$/i,
  },
  {
    is: "name",
    words:
      /\bprint(?:ed)?(?: or type[d]?)?(?: full| legal)? name\b|\bname \(?(?:please )?print(?:ed)?\)?|\btyped? (?:or printed )?name\b|\btype or print name\b|\bprint your name\b|^\(?(?:full |legal )?name\)?$|^printed?$|^nombre(?: completo)?$|\bnombre (?:en letra|impreso)\b|\((?:please )?(?:type or )?print(?:ed)?\)$/i,
  },
  // Comes before the next pattern, because "Loan originator's signature" begins with one of that pattern's words.
  {
    is: "signature",
    words: /^(?:[\p{L}'’/().-]+ ){0,5}(?:signatures?|signs? here)$|^signatures?\b(?! pages?\b)(?: \S+){0,7}$/iu,
  },
  {
    is: "other",
    words:
      /^(?:title|its|company|entity|address|street|city|state|zip|county|phone|telephone|tel|fax|e-?mail|loan|parcel|account|amount|price|page|no|number|file|relationship|occupation|dob|ssn|tax id|ein)\b/i,
  },
  {
    is: "other",
    words:
      /\b(?:address|county|parcel|zip code|phone|email|amount|dollars|rent|deposit|book|recorded|instrument|names?|nombre|title|number|direcci[oó]n|tel[eé]fono|nacimiento|relationship)\b|(?:\bnos?|#)$|\bonly\)?$/i,
  },
  {
    is: "signature",
    words:
      /\bsign(?:s|ed|ers?|ature|atures)?\b(?! page)|\bsignator(?:y|ies)\b|\bsign here\b|\bfirmas?\b|^by(?: x)?$|^x$|^\(?l\.\s?s\.\)?$|^\(?seal\)?$|^recib[ií](?: conforme)?$|^(?:acepto|de conformidad|por)$|^(?:approved|accepted|agreed|authorized)(?: [^\s,]+){0,4} by$|\b(?:approved|accepted|agreed|authorized|acknowledged|ordered|requested|submitted|consented)(?: and (?:agreed|accepted))?(?: to)? by\b|\bapproval$|^approved as to (?:form|content|legality)/i,
  },
  // Before the parties: a label that asks for a date or an amount is not for a signature, even if it names a party.
  { is: "other", words: /\b(?:dates?|fecha)\b|[$€]$/i },
  // A thing that belongs to a party: "Employee ID", "Seller credit", "Guarantor's driver license". But the buyer's
  // agent is a person, and the buyer's acceptance is signed.
  {
    is: "other",
    words:
      /\b(?:id|i\.d|code|ssn|dob|npi|ein|tin|licen[cs]e|occupation|age|grade|department|income|salary|wages?|shares?|percent(?:age)?|fees?|total|debits?|credits?|balance|hours|rate|relation|position|capacity|info(?:rmation)?|copy|type|status|since)$/i,
  },
  {
    is: "other",
    words: new RegExp(
      `\\p{L}['’]s? (?!.*(?:accept|approv|acknowledg|consent|agree|author|${parties.map(({ source }) => source).join("|")}))`,
      "iu",
    ),
  },
  ...parties.map((words) => ({ is: "signature", words }) as const),
];

/** Words below which people sign the document. There, the name of a party or a person marks a blank for a signature. */
export const executionWords =
  /\bin witness whereof\b|\bexecuted\b|\bhereunto\b|\bsigned\b|\bsign(?:ing)? (?:below|here)\b|\bsignatures?\b|\bagreed (?:and|to)\b|\bundersigned\b|\baccepted\b|\battest\b|\bdated\b|\bby:|\bset (?:my|our|their|his|her) hands?\b|\bby signing\b|\bi (?:certify|declare|acknowledge|agree|affirm)\b|\b(?:sincerely|truly yours|respectfully submitted)\b|\bcountersign|\bfirm(?:a|an|ado|amos)\b|\baceptan?\b|\botorgad[oa]\b|\ben (?:fe|testimonio) de\b|\bcertif(?:y|ies|ication)\b|\bfait à(?!\p{L})|\blu et approuv/iu;

/** A part of a page whose blanks are for people other than the signers. */
export type ReservedPart = {
  readonly opens: RegExp;
  /**
   * Words that must also follow further down the page. By itself, a word that begins the part, such as
   * "acknowledgment", may occur in any document.
   */
  readonly needs?: RegExp;
  /**
   * Words further down which show that the part is the beginning of an affidavit. Its signer signs above these words.
   */
  readonly unless?: RegExp;
  readonly closes?: RegExp;
  /**
   * The height of the part in points. A part without a height ends at the words that end it or, without such words, at
   * the end of the page.
   */
  readonly height?: number;
};

const notaryCloses = /\bcommission expires\b|\bnotary public\b|\bnotari[oa] p[uú]blic[oa]\b/i;

export const reservedParts: readonly ReservedPart[] = [
  {
    opens:
      /\b(?:acknowledged before me|(?:foregoing|record|instrument|document|affidavit) (?:[\w-]+ )?was (?:[\w-]+ )?(?:acknowledged|subscribed|sworn|signed)|personally (?:appeared|came)|before me .{0,60}\bnotary|(?:signed|subscribed),? (?:and|or) sworn|signed, sworn|sworn (?:to (?:and|or) .{0,40})?(?:to )?before|before me,? (?:the undersigned|a notary|personally)|notary acknowledg|ante m[ií]|notary public or other officer)\b/i,
    unless: /\b(?:subscribed and sworn|sworn to and subscribed|further,? (?:the )?affiant|affiant further)\b/i,
    closes: notaryCloses,
  },
  {
    opens: /\backnowledge?ment\b/i,
    needs: /\bnotar(?:y|ial|io|ia)\b|\bbefore me\b|\bcommission expires\b|\bpersonally appeared\b|\bofficial seal\b/i,
    closes: notaryCloses,
  },
  { opens: /\bso ordered\b/i, closes: /\b(?:judge|magistrate|commissioner)\b/i, height: 150 },
  {
    opens:
      /\buse only\b|^\W*for (?:office|official|bank|internal|agency|company|department|court|lender|school) use\b/i,
    height: 90,
  },
];

/**
 * The people whom forms are about. Where somebody else signs such a form, the label asks for the name of the person.
 */
export const subjects =
  /^(?:students?|patients?|residents?|participants?|insureds?|employees?|applicants?|clients?|customers?|policy ?holders?|claimants?|members?|volunteers?)$/i;

/** A heading above the lines of a witness. */
export const witnessHeading =
  /^(?:(?:the )?(?:first|second|third|1st|2nd|attesting|subscribing) )?witness(?:es)?(?: (?:no\.? ?|#)?(?:\d|one|two))?:?$|^(?:first|second|1er|2o) testigo:?$|^testigos?(?: \d)?:?$|^(?:signed|signed, sealed and delivered|executed)?,? ?in the presence of(?: us)?:?$/i;

/** The end of a sentence after which witnesses sign. */
export const witnessClause =
  /\b(?:our|as attesting|as subscribing) (?:names? as )?witness(?:es)?\b|\bsaw (?:the|him|her|them) (?:\w+ )?sign\b/i;

/** Distances in points, unless a comment says otherwise. */
export const measures = {
  /** The least width of a blank for words. A shorter blank is for a number or initials. */
  leastBlank: 50,
  leastInitials: 18,
  /** The longest blank for initials before an item of a list. A longer blank is for words. */
  mostInitials: 60,
  /** The distance from words that ask for initials down to the blanks of the list. */
  initialsAbove: 300,
  /**
   * A position on the page, as a share of the page's height. Further down, short blanks after a party's name are for
   * initials.
   */
  foot: 0.85,
  /** The distance from a cell for a signature to the cell of its date or name. */
  cellsOfSigner: 120,
  /** The distance from a date to the nearest signature. A date that is further away is not the date of signing. */
  dateOfSigner: 240,
  /** The distance from a line to the next line of the same signers, which has no words. */
  nextLine: 50,
  /** A text with fewer words than this is a label or a heading. */
  wordsOfSentence: 9,
  /** Shares of the page's width. A longer box (`mostBlank`) or rule (`mostRule`) divides the page. */
  mostBlank: 0.8,
  mostRule: 0.74,
  /** The greatest distance from the end of a label to the blank on its right. */
  labelBeside: 160,
  /** The greatest distance from the end of a label with a colon to the blank on its right. */
  labelFarBeside: 260,
  /**
   * The least height of a box that a party's name may label. In a lower box, a party's name without a colon is a
   * heading.
   */
  leastLabeledBox: 28,
  /** Beyond this distance, a label without a colon counts only if the words below the blank are not a label. */
  labelNear: 40,
  /** The most words in a label about signing that is above its blank. Other labels above a blank must be shorter. */
  wordsAbove: 7,
  /** The most words for a label in parentheses: "(signature preceded by ...)". */
  wordsOfRemark: 12,
  /** The greatest distances from a blank to a label below it, and to a label above it that asks for no signature. */
  labelBelow: 18,
  labelAboveDate: 38,
  /** A label above a blank may be wider than the blank by this. */
  labelWider: 50,
  /**
   * The greatest distance from a blank up to a label that asks for a signature. The space between the two is room to
   * sign.
   */
  labelFarAbove: 52,
  /** A shorter blank next to "Date" is for a part of a date. */
  leastDate: 36,
  /** A shorter line without words is not for a signature. */
  leastSignature: 110,
  /** The distances from a line to the words below it that ask for the signer's name. */
  blockBelow: 30,
  blockIndent: 16,
  /** The greatest height of a row with a line at its bottom. */
  rowHeight: 30,
  /** The greatest height of a field for a signature or initials, and of any other field. */
  signatureHeight: 26,
  textHeight: 16,
  widest: 260,
} as const;

/** Longer text is a paragraph. Its length would make patterns that look ahead slow. */
const longestLabel = 400;

/** The kind of blank that the label's words ask for; null when no pattern matches them. */
export function kindOfLabel(label: string): Pattern["is"] | null {
  const words = label
    .replace(/[\s:_.…*]+$/u, "")
    // Removes the numbers of items, and arrows that point to the blank.
    .replace(/[\s:▶►➤→▸⯈]+$/u, "")
    .replace(/^[\s_.…*]+/u, "")
    .replace(/^\d{1,3}[a-z]?[.)]\s+/i, "")
    .trim();
  if (words === "" || words.length > longestLabel) return null;
  return labelPatterns.find((pattern) => pattern.words.test(words))?.is ?? null;
}
