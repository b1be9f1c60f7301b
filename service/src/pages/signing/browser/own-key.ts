import { toHex } from "@signsealship/evidence/bytes";
import { fromBase64, sha256, toBase64 } from "../../ui/browser/bytes.ts";
import { part } from "../../ui/browser/parts.ts";
import { type Drawn, readDrawn } from "../drawn.ts";
import type { isWhatWasAsked, PreparedAct } from "./check-act.ts";
import type { SigningConfig } from "./config.ts";
import { loadScript } from "./load-script.ts";
import { pictureRecord } from "./picture.ts";
import { rulesNow } from "./rules.ts";
import { forgetSignature } from "./stored-signature.ts";

const algorithm = { name: "ECDSA", namedCurve: "P-256" } as const;

type Answer =
  | (Omit<PreparedAct, "tail" | "signedAttrs"> & { outcome: "prepared"; tail: string; signedAttrs: string })
  | { outcome: "again" };

/**
 * Makes the Sign button sign with a non-exportable key, which this browser creates for this one act. The prepared act
 * is signed only if it matches the displayed document and the typed values.
 * @param document the displayed bytes; their hash was already compared with the hash to be signed
 */
export function signWithOwnKey(config: SigningConfig, document: Uint8Array): void {
  const form = part<HTMLFormElement>("sign-form");
  let checking = loadCheck(config.check);
  // If the script can't be loaded, the submit handler reports it. Without this line, a failure before the submission
  // would be an unhandled rejection.
  checking.catch(() => {});
  const [statusLine, button] = [part("sign-check"), part<HTMLButtonElement>("sign-button")];
  // Tells the service that this browser signs with its own key. If the script fails here and submits the form, the
  // service must not sign with a key of its own.
  form.append(Object.assign(window.document.createElement("input"), { type: "hidden", name: "key", value: "browser" }));

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    button.disabled = true;
    statusLine.classList.remove("field-error");
    statusLine.textContent = config.words.signing;
    void act().catch(lost);
  });

  async function act(): Promise<void> {
    const key = await crypto.subtle.generateKey(algorithm, false, ["sign"]);
    const publicKey = new Uint8Array(await crypto.subtle.exportKey("spki", key.publicKey));
    const body = new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, String(value)]));
    body.set("public_key", toBase64(publicKey));
    const prepared = await post<Answer>(config.prepare, body);
    // If no act was prepared, the form is submitted like a form without scripts. The response shows the error or the
    // changed document, and nothing is signed.
    if (prepared?.outcome !== "prepared") return form.submit();
    const fields = new Map(config.fields.map(({ name, kind }) => [name, kind]));
    const options = new Map(
      config.fields.flatMap(({ name, option }) => (option === undefined ? [] : [[name, option] as const])),
    );
    const rules = rulesNow(config);
    const hidden = new Set(config.fields.flatMap((field) => (rules.isShown(field) ? [] : [field.name])));
    const asked = { document, fields, options, values: typedValues(form, hidden), hidden, mark: await markOf(form) };
    const { tail, signedAttrs, ...rest } = prepared;
    const opened = { ...rest, tail: fromBase64(tail), signedAttrs: fromBase64(signedAttrs) };
    const isAsked = await checking;
    if (!(await isAsked(opened, asked))) return refuse(config.words.altered);
    const sign = { name: "ECDSA", hash: "SHA-256" };
    const signature = await crypto.subtle.sign(sign, key.privateKey, opened.signedAttrs);
    const done = await post<{ outcome: string }>(
      config.complete,
      new URLSearchParams({ signature: toBase64(new Uint8Array(signature)) }),
    );
    if (done?.outcome !== "signed") return form.submit();
    forgetSignature();
    location.assign(config.signed);
  }

  /**
   * Enables the Sign button again after a failed request. This is safe: if only the response was lost, the next attempt
   * shows that the document is already signed.
   */
  function lost(): void {
    refuse(config.words.unsigned);
    checking = checking.catch(() => loadCheck(config.check));
    checking.catch(() => {});
    button.disabled = false;
    button.focus();
  }

  function refuse(why: string): void {
    statusLine.textContent = why;
    statusLine.classList.add("field-error");
  }
}

/**
 * The values that the prepared act must contain, keyed by field name. The values of hidden fields are empty or `Off`.
 */
export const typedValues = (form: HTMLFormElement, hidden: ReadonlySet<string>): Map<string, string> =>
  new Map(
    [...form.elements].flatMap((element) => {
      const { name, value, type, checked } = element as HTMLInputElement;
      if (!name?.startsWith("value.")) return [];
      const own = name.slice("value.".length);
      // The value of a radio button is the field name of its option.
      if (type === "radio") return [[value, checked && !hidden.has(value) ? "On" : "Off"] as const];
      if (type === "checkbox") return [[own, checked && !hidden.has(own) ? "On" : "Off"] as const];
      return [[own, hidden.has(own) ? "" : value.trim()] as const];
    }),
  );

/** The signature's appearance, as the act's record must describe it. */
async function markOf(form: HTMLFormElement): Promise<object> {
  const field = (name: string) => (form.elements.namedItem(name) as HTMLInputElement | null)?.value ?? "";
  if (field("picture") !== "") return (await pictureRecord(field("picture"))) ?? {};
  const drawn = readDrawn(field("drawn"));
  return drawn ? { kind: "drawn", sha256: await drawnSha256(drawn) } : { kind: "typed", text: field("name").trim() };
}

/** The hash of a drawing, as the act's record contains it. The members are in the order of canonical JSON. */
async function drawnSha256({ height, strokes, width }: Drawn): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify({ height, strokes, width }));
  return toHex(await sha256(text));
}

/**
 * Loads the script that verifies a prepared act.
 * @throws Error when the script can't be loaded; then nothing is signed
 */
const loadCheck = (src: string) => loadScript<typeof isWhatWasAsked>(src, "isWhatWasAsked");

/** Sends a form, and returns the parsed response. Null for an error status, and for a response that is not JSON. */
async function post<T>(url: string, body: URLSearchParams): Promise<T | null> {
  const answer = await fetch(url, { method: "POST", body, headers: { accept: "application/json" } });
  const isJson = answer.headers.get("content-type")?.startsWith("application/json");
  return answer.ok && isJson ? ((await answer.json()) as T) : null;
}
