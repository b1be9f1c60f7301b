import {
  appendRevision,
  bytesOf,
  latin1,
  type NewObject,
} from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { collection, type Expectation, type Made, unreadable, verified } from "./case.ts";
import { encryptsNothing } from "./parts/encrypted.ts";
import { oddSeal, sealed, zooFile } from "./sealing.ts";
import { catalogWith, plain, readStrictly, tolerated, type Way, withField } from "./way.ts";
import { streamed, streams } from "./way-streams.ts";
import { tables } from "./way-tables.ts";

/** Object streams that contain a field of the form. */
function objectStreams(): readonly Way[] {
  const field = "<< /FT /Tx /T (a) >>";
  const one = (
    name: string,
    expect: Expectation,
    pairs = "90 0 ",
    entries = (text: string) => text,
    data = field,
    held = [90],
  ): Way => {
    const content = `${pairs}${data}`;
    const dictionary = entries(`/Type/ObjStm/N 1/First ${pairs.length}/Length ${content.length}`);
    return [
      `an object stream: ${name}`,
      streamed([withField, [91, `<<${dictionary}>>\nstream\n${content}\nendstream`]], {}, held),
      expect,
      expect === unreadable ? readStrictly : tolerated,
    ];
  };
  const swap = (from: string | RegExp, to: string) => (text: string) => text.replace(from, to);
  return [
    one("as it should be", verified()),
    one("an object twice", unreadable, "90 0 90 0 ", swap("/N 1", "/N 2")),
    one("another object at the index", unreadable, "89 0 "),
    one("no object at the index", unreadable, "", swap("/N 1", "/N 0")),
    one("pairs that are no numbers", unreadable, "90 x "),
    one("a pair that is cut", unreadable, "x 0 "),
    one("another /Type", unreadable, undefined, swap("/ObjStm", "/XObject")),
    one("no /N", unreadable, undefined, swap("/N 1", "")),
    one("no /First", unreadable, undefined, swap(/\/First \d+/, "")),
    one("a /Length that is a name", unreadable, undefined, swap(/\/Length \d+/, "/Length/N")),
    one("no /Length", unreadable, undefined, swap(/\/Length \d+/, "")),
    one("a key twice", unreadable, undefined, swap("/N 1", "/N 1/N 1")),
    one("another filter", unreadable, undefined, swap("/N 1", "/N 1/Filter/LZWDecode")),
    one("an object that is cut", unreadable, undefined, undefined, "<< /FT /Tx"),
    one("a key twice in an object of it", unreadable, undefined, undefined, "<< /FT /Tx /FT /Tx >>"),
    [
      "an object stream that is no stream",
      streamed([withField, [91, "<< /Type /ObjStm /N 1 /First 5 /Length 9 >>"]], {}, [90]),
      unreadable,
      readStrictly,
    ],
    ["an object stream that is an array", streamed([withField, [91, "[]"]], {}, [90]), unreadable, readStrictly],
    ["an object stream that is not there", streamed([withField], {}, [90]), unreadable, readStrictly],
  ];
}

/** Unreadable values on the path to a field, and odd but readable ones. */
function values(): readonly Way[] {
  const field = (body: string): string => appendRevision(plain, [withField, [90, body]]);
  const bad = (name: string, body: string): Way => [`a field with ${name}`, field(body), unreadable, readStrictly];
  const good = (name: string, body: string): Way => [`a field with ${name}`, field(body), verified(), tolerated];
  const deep = (depth: number) => `<< /FT /Tx /T (a) /X ${"[".repeat(depth)}${"]".repeat(depth)} >>`;
  const many = (count: number): string =>
    appendRevision(plain, [
      catalogWith(
        `/AcroForm << /SigFlags 3 /Fields [${Array.from({ length: count }, (_, index) => `${200 + index} 0 R`).join(" ")}] >>`,
      ),
      ...Array.from(
        { length: count },
        (_, index): NewObject => [
          200 + index,
          `<< /FT /Sig /T (s${index}) /V << /Type /Sig /ByteRange [0 1 2 3] >> >>`,
        ],
      ),
    ]);
  return [
    bad("a string without an end", "<< /FT /Tx /T (a >>"),
    bad("a hexadecimal string without an end", "<< /FT /Tx /T <61"),
    bad("an array without an end", "<< /FT /Tx /T [ >>"),
    bad("a key that is no name", "<< /FT /Tx 7 (a) >>"),
    bad("a key without a value", "<< /FT /Tx /T >>"),
    bad("a word that is no value", "<< /FT /Tx /T what >>"),
    bad("a number that goes on in letters", "<< /FT /Tx /T 7x >>"),
    bad("a sign alone", "<< /FT /Tx /T + >>"),
    bad("two points in a number", "<< /FT /Tx /T 7.7.7 >>"),
    bad("one bracket at its end", "<< /FT /Tx /T (a) >"),
    bad("a name of 4,097 bytes", `<< /FT /Tx /T /${"n".repeat(4097)} >>`),
    bad("values 70 deep", deep(70)),
    good("a name of 4,095 bytes", `<< /FT /Tx /T /${"n".repeat(4095)} >>`),
    good("values 60 deep", deep(60)),
    good("false, true and null", "<< /FT /Tx /A false /B true /C null >>"),
    good("numbers of all kinds", "<< /FT /Tx /A +7 /B -.5 /C 7. /D .5 >>"),
    good("a kid that is a number", "<< /FT /Tx /Kids [7] >>"),
    good("kids that are a name", "<< /FT /Tx /Kids /N >>"),
    ["a field that is an array", field("[]"), verified(), tolerated],
    ["a field that begins otherwise", field("<< /FT /Tx >>").replace("90 0 obj", "90 0 obx"), unreadable, readStrictly],
    ["a field under another number", field("<< /FT /Tx >>").replace("90 0 obj", "91 0 obj"), unreadable, readStrictly],
    ["a field of another generation", field("<< /FT /Tx >>").replace("90 0 obj", "90 1 obj"), unreadable, readStrictly],
    [
      "a reference of another generation",
      appendRevision(plain, [catalogWith("/AcroForm << /SigFlags 3 /Fields [90 1 R] >>"), [90, "<< /FT /Tx >>"]]),
      unreadable,
      readStrictly,
    ],
    [
      "an older /Root of another generation",
      plain.replace("/Root 1 0 R", "/Root 1 1 R"),
      verified(),
      "The /Root of the newest trailer alone is asked.",
    ],
    ["64 signatures besides the seal", many(64), unreadable, "More than 64 signatures are refused."],
  ];
}

/**
 * Encrypted documents (docs/evidence-format.md, section 2.8). Each is derived from a sealed one by replacing bytes with
 * the same number of other bytes.
 */
async function encrypted(
  one: (name: string, bytes: Uint8Array, expect: Expectation, teaches: string) => void,
): Promise<void> {
  const teaches = "What the empty user password does not open, or is encrypted in another way, is refused (2.8).";
  const files = new Map<string, string>();
  const text = async (name: string): Promise<string> => {
    const known = files.get(name) ?? latin1(await sealed(zooFile(name)));
    files.set(name, known);
    return known;
  };
  const edits: readonly (readonly [name: string, zoo: string, from: RegExp, to: (found: string) => string])[] = [
    ["another handler", "encrypted-open-aes-256", /\/Standard/g, () => "/Stamdard"],
    ["a version of 3", "encrypted-open-rc4-128", /\/V 2\b/g, () => "/V 3"],
    ["a version of 6", "encrypted-open-aes-256", /\/V 5\b/g, () => "/V 6"],
    ["a revision of 7", "encrypted-open-aes-256", /\/R 6\b/g, () => "/R 7"],
    ["a revision of 4 under version 5", "encrypted-open-aes-256", /\/R 6\b/g, () => "/R 4"],
    ["a revision of 5 under version 4", "encrypted-open-aes-128", /\/R 4\b/g, () => "/R 5"],
    ["a revision of 1", "encrypted-open-rc4-40", /\/R \d\b/g, () => "/R 1"],
    ["a length of 136 bits", "encrypted-open-rc4-128", /\/Length 128/g, () => "/Length 136"],
    ["a length of 127 bits", "encrypted-open-rc4-128", /\/Length 128/g, () => "/Length 127"],
    ["a length of 32 bits", "encrypted-open-rc4-128", /\/Length 128/g, () => "/Length 032"],
    ["permissions under another key", "encrypted-open-aes-256", /\/P (?=-?\d)/g, () => "/Q "],
    [
      "permissions that are others, in the key of version 4",
      "encrypted-open-aes-128",
      /\/P -\d/g,
      (found) => `${found.slice(0, -1)}${found.endsWith("1") ? "2" : "1"}`,
    ],
    ["a crypt filter that is not known", "encrypted-open-aes-256", /\/AESV3/g, () => "/AESV9"],
    ["the crypt filter of another version", "encrypted-open-aes-128", /\/AESV2/g, () => "/AESV3"],
    ["crypt filters that are missing", "encrypted-open-aes-256", /\/CF(?=[ <])/g, () => "/CX"],
    ["a newest trailer without /Encrypt", "encrypted-open-aes-256", /\/Encrypt (?!.*\/Encrypt )/gs, () => "/Encrypx "],
    [
      "another /Encrypt in the newest trailer",
      "encrypted-open-aes-256",
      /\/Encrypt (\d+)(?!.*\/Encrypt )/gs,
      (found) => found.replace(/\d$/, (digit) => (digit === "1" ? "2" : "1")),
    ],
    [
      "an object stream of other bytes",
      "encrypted-open-aes-128-object-streams",
      /\/Type \/ObjStm[\s\S]*?stream\r?\n[\s\S]{40}/g,
      (found) => `${found.slice(0, -1)}${found.endsWith("x") ? "y" : "x"}`,
    ],
  ];
  for (const [name, zoo, from, to] of edits) {
    const before = await text(zoo);
    const after = before.replace(from, to);
    if (after === before || after.length !== before.length) throw new Error(`nothing to change for ${name}`);
    const expect: Expectation = name.includes("object stream") ? { verdict: "not_verified", claims: {} } : unreadable;
    one(`encrypted: ${name}`, bytesOf(after), expect, teaches);
  }
  const nothing = plain.replace(/\/ID \[.*?\]/, `/Encrypt ${encryptsNothing}`);
  one(
    "encrypted: nothing is",
    await sealed(bytesOf(nothing)),
    verified(),
    "/Identity leaves strings as they are (2.8).",
  );
  const password = latin1(zooFile("encrypted-aes-256"));
  one("encrypted: with a user password", bytesOf(password), unreadable, teaches);
}

/** Vectors about how a PDF must be read (docs/evidence-format.md, section 2.6). Each document is under a good seal. */
export async function ways(): Promise<Made> {
  const { add, put, made, slug } = collection("ways");
  const one = (name: string, bytes: Uint8Array, expect: Expectation, teaches: string) =>
    add({ name, kind: "sealed_pdf", files: { sealed: put(`${slug(name)}.pdf`, bytes) }, expect, teaches });
  for (const [name, pdf, expect, teaches] of [...tables(), ...streams(), ...objectStreams(), ...values()]) {
    one(name, oddSeal(bytesOf(pdf)), expect, teaches);
  }
  await encrypted(one);
  return made();
}
