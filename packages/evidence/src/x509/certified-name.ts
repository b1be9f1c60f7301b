/** The maximum length of a common name: ub-common-name of RFC 5280, appendix A.1. */
const maxCharacters = 64;

/**
 * True if a name begins like the names in the service's own certificates. Readers show only the name, so nobody else
 * may sign with such a name. Recognizes other forms of Latin letters, accents and invisible characters, but not
 * look-alike letters of other scripts.
 */
const isOurs = (name: string): boolean =>
  name
    .normalize("NFKD")
    .replace(/[^A-Za-z]/g, "")
    .toLowerCase()
    .startsWith("signsealship");

/** Right-to-left scripts, and the mathematical symbols that compatibility normalization turns into Hebrew letters. */
const rightToLeft = /[\u0590-\u08ff\u2135-\u2138\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** True for a purely right-to-left name. It begins and ends with a letter, and contains no left-to-right characters. */
const isRightToLeft =
  /^[\u05d0-\u05ea\u0621-\u063a\u0640-\u064a\u0671-\u06d3](?:[\u05b0-\u05b9\u05bb-\u05c3\u05d0-\u05ea\u05f0-\u05f4\u0621-\u063a\u0640-\u0655\u0670-\u06d3 '.,()\-0-9\u06f0-\u06f9\u200c\u2019]*[\u05d0-\u05ea\u0621-\u063a\u0640-\u064a\u0671-\u06d3])?$/u;

/**
 * Characters that RFC 4518, section 2.4 prohibits in a name: tables A.1 (unassigned in Unicode 3.2), C.3, C.4 and C.5
 * of RFC 3454, and U+FFFD. Also some letters of Unicode 3.2 whose lower-case form is newer than Unicode 3.2: name
 * preparation folds them to that form.
 *
 * Each entry is a range, as two numbers in base 36. The first is the distance from the end of the previous range. The
 * second is the length of the range minus one; it is left out when it is 0.
 */
const prohibited = readRanges(`
  f5 j-r 2n-1 1s-g 29-f h-3 3-3 2-2 2-4 8 2 l 19 14-8 3s 1l f 13-1 3-5 h-w 13-1 8 14 3-4 oh 4 1i-1 j-1 6-2 q-f 4
  9-1 3-1 n 8 2-2 5-1 2 8-1 3-1 4-8 2-3 3 6-1 m-6 2-1 7-3 3-1 n 8 3 3 3-1 2 6-3 3-1 4-a 5 2-6 g-b 4 8 2 4 n 8 3
  6-1 b 4 4-1 2-e 2-4 b-g 4 9-1 3-1 n 8 3-1 5-1 9-2 3-1 4-7 3-3 3 4-3 c-g 3 7-2 4 5-2 3 2 3-2 3-2 4-2 9 4-3 6-2
  4 5-8 2-e d-d 4 9 4 o b 6-3 8 4 5-6 3-8 3-3 b-h 3 9 4 o b 6-3 8 4 5-6 3-6 2 3-3 b-h 3 9 4 o h-3 7-1 4 5-8 2-7
  3-3 b-h 3 j-2 p a 2-1 8-2 2-3 7 2 9-h 4-b 1n-3 u-10 3 2-1 3 2-1 2-5 5 8 4 2 2-1 3 e 4-1 6 2 7-1 b-1 3-x 21 z-5
  s-3 9 11 g-1 2-1b z 6 3 8-2 5-5 r-39 16-1 2-3 2j-4 1x-4 2b-5 8 1s 2 5-1 8 2 5-1 14 2 5-1 w 2 5-1 8 2 5-1 8 8 o
  w 2 5-1 8 14 k-5 t-3n hj-8 u-2 2a-e e 8-a o-8 l-b e 4 3-b 2m-2 b-l g b-5 2h-7 17-11x 4d-3 2j-5 n-1 7-1 13-1
  7-1 9 2 2 2 w-1 1i g f-1 7 k-1 4 a 2c-3 2-6 6-5 9-1 s-g j-t s-k 1f 9-1 g-6 1d-c g0-1c 14-o c-k 4g 7p-1 3 2u-1
  b-3a 5 5-1 t 10 2 5-2 2 8-1 1h-2 p f-g t-3 lt-ov r 2i-b 5z-p d-3 1t 2f-1 2w-4 15-3 2n 15-1j 1a-2 11-c 18-2
  26-3 1c 3c-3 2s-1 w 52v-21 g4n-2h we-2 1k-1fc 8md-6l7 8f-1 1o-44 8-b 6-4 l0-f 5-b o-1 b k 5-3 41 5b-2 7-1 7-1
  7-1 4-2 8 8-9 5-le w 5-b s-50 13-1 13-q9 1kx-11xb 6v-9 14-2 51-f5 2e 20 3-1 2-1 3-1 5 d 2 5 3 1u 5-1 9 8 t 5 6
  2-2 8 9f-3 83-3 1f-35r 1kx-35r wyg-g14 f3-fheq 2-t 2p-47lr
`);

function readRanges(text: string): readonly (readonly [first: number, last: number])[] {
  let last = 0;
  return text
    .trim()
    .split(/\s+/)
    .map((entry) => {
      const [distance = "", length = "0"] = entry.split("-");
      const first = last + Number.parseInt(distance, 36);
      last = first + Number.parseInt(length, 36);
      return [first, last] as const;
    });
}

const isProhibited = (character: string): boolean => {
  const code = character.codePointAt(0) ?? 0;
  return prohibited.some(([first, last]) => first <= code && code <= last);
};

const needsEscape = (character: string): boolean => rightToLeft.test(character) || isProhibited(character);

/**
 * The common name in a signer's certificate (docs/evidence-format.md, section 4.4), at most 64 characters. It is the
 * signer's name, if the name preparation of RFC 4518 accepts it. Otherwise the refused characters are escaped, because
 * the validator pyHanko rejects a certificate with a refused name. A name like the service's own gets the prefix
 * `Signer`.
 */
export function certifiedName(name: string): string {
  // For an order without names, the mail address is used as the name. Its @ is replaced, because no certificate may
  // contain a mail address.
  const plain = name.replaceAll("@", " at ");
  const characters = Array.from(isOurs(plain) ? `Signer ${plain}` : plain).slice(0, maxCharacters);
  const text = characters.join("");
  if (isRightToLeft.test(text) || !characters.some(needsEscape)) return text;
  return Array.from(escapeRuns(characters)).slice(0, maxCharacters).join("");
}

/** Replaces each run of characters that need an escape by `U+` and their code points, such as `U+05DB.05D4.05DF`. */
function escapeRuns(characters: readonly string[]): string {
  let isInRun = false;
  return characters
    .map((character) => {
      if (!needsEscape(character)) {
        isInRun = false;
        return character;
      }
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
      const start = isInRun ? "." : "U+";
      isInRun = true;
      return `${start}${code}`;
    })
    .join("");
}
