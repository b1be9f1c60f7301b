import { concatBytes, toHex } from "@signsealship/evidence/bytes";
import { changesSince, findSignatures, openUnlocked } from "@signsealship/evidence/pdf";
import { type Certificate, nameText, parseCertificate } from "@signsealship/evidence/x509";
import { fromBase64, sha256, toBase64 } from "../../ui/browser/bytes.ts";
import { make, part } from "../../ui/browser/parts.ts";
import { coversRevision } from "../../ui/browser/prepared-signature.ts";
import { type OpenedKey, openPkcs12, Pkcs12Error, type Pkcs12Fault } from "./pkcs12.ts";

// Signs with the notary's own key. For a key in a file, the file, its password and the key never leave this page; only
// the certificate and the signature are sent. `remoteKeys` uses a key at a trust service.

const faults: Readonly<Record<Pkcs12Fault, string>> = {
  format: "This is not a certificate file (PKCS#12), or it is damaged.",
  password: "The password is wrong.",
  legacy:
    "The file is encrypted in an old way (RC4) that is not opened here. Convert it on your computer: openssl pkcs12 -legacy -in old.p12 -nodes -out key.pem, then openssl pkcs12 -export -in key.pem -out new.p12, and delete key.pem.",
  cipher:
    "The file is encrypted in a way that browsers do not open. Export it again with AES-256, as OpenSSL 3 does by default.",
  no_key: "The file has no private key.",
  key_kind: "The key is of another kind than RSA or ECDSA on P-256.",
  no_certificate: "The file has no certificate of its key.",
};
const lost = "The service did not answer. Nothing was signed; try again.";
const lostSignature = "The service did not answer, and may have the signature. Reload the page to see it.";

type Prepared = {
  tail: string;
  contentsStart: number;
  contentsEnd: number;
  signedAttrs: string;
  givenSha256: string;
  record: string;
  lines: string[];
  hasSeal: boolean;
  warnings: string[];
};

type Ready = {
  certificate: Certificate;
  prepared: Prepared;
  /** Signs the attributes with a key in the file or at a trust service. @returns the URL of the report */
  sign: (signedAttrs: Uint8Array<ArrayBuffer>) => Promise<{ next: string }>;
};

if (document.getElementById("notary-sign")) start();
if (document.getElementById("certificate-trial")) startTrial();

/** Opens the notary's file without signing, and shows if it contains the registered certificate. */
function startTrial(): void {
  const [file, password] = [part<HTMLInputElement>("p12-file"), part<HTMLInputElement>("p12-password")];
  const [open, statusLine] = [part<HTMLButtonElement>("p12-open"), part("notary-sign-said")];
  const tell = (text: string, isError: boolean) => {
    statusLine.textContent = text;
    statusLine.classList.toggle("field-error", isError);
  };
  open.addEventListener("click", () => {
    open.disabled = true;
    tell("Opening…", false);
    void opened(file.files?.[0], password.value)
      .then(async ({ certificate }) => {
        password.value = "";
        const isOwn =
          toHex(await sha256(new Uint8Array(certificate.der))) === part("certificate-trial").dataset["sha256"];
        if (isOwn) tell("The file opens, and has the certificate that is on record. You can sign with it.", false);
        else tell(`The file opens, but has another certificate: ${nameText(certificate.subject)}.`, true);
      })
      .catch((error: unknown) => tell(error instanceof Refused ? error.message : String(error), true))
      .finally(() => {
        open.disabled = false;
      });
  });
}

function start(): void {
  const order = part("notary-sign").dataset["order"] ?? "";
  const [file, password] = [part<HTMLInputElement>("p12-file"), part<HTMLInputElement>("p12-password")];
  const [open, sign] = [part<HTMLButtonElement>("p12-open"), part<HTMLButtonElement>("notary-sign-button")];
  const [statusLine, box, facts] = [part("notary-sign-said"), part("notary-sign-ready"), part("notary-sign-facts")];
  let ready: Ready | null = null;

  const tell = (text: string, isError = false) => {
    statusLine.textContent = text;
    statusLine.classList.toggle("field-error", isError);
  };
  const during = (button: HTMLButtonElement, work: () => Promise<void>) => {
    button.disabled = true;
    void work()
      .catch((error: unknown) => tell(error instanceof Refused ? error.message : lost, true))
      .finally(() => {
        button.disabled = false;
      });
  };

  open.addEventListener("click", () =>
    during(open, async () => {
      forget();
      tell("Opening…");
      const key = await opened(file.files?.[0], password.value);
      password.value = "";
      const { certificate } = key;
      const prepared = await post<Prepared>(`${order}/sign/prepare`, { certificate: toBase64(certificate.der) });
      show({
        certificate,
        prepared,
        sign: async (attributes) => post(`${order}/sign/complete`, { signature: toBase64(await key.sign(attributes)) }),
      });
    }),
  );

  const show = (opened: Ready) => {
    ready = opened;
    facts.replaceChildren(...factsOf(opened));
    box.hidden = false;
    tell("Look at what you sign.");
    sign.focus();
  };
  const forget = () => {
    [ready, box.hidden] = [null, true];
    part("remote-asks").replaceChildren();
  };
  if (document.getElementById("remote-find")) remoteKeys({ order, during, tell, forget, show });

  sign.addEventListener("click", () =>
    during(sign, async () => {
      if (!ready) return;
      tell("Signing…");
      const { prepared } = ready;
      const signedAttrs = fromBase64(prepared.signedAttrs);
      if (!(await isOfDocument(await bytesOf(`${order}/document`), prepared)))
        throw new Refused(
          "What the service prepared is not this document with your signature alone. Nothing was signed.",
        );
      const { next } = await ready.sign(signedAttrs).catch((error: unknown) => {
        throw error instanceof Refused ? error : new Refused(lostSignature);
      });
      location.assign(next);
    }),
  );
}

class Refused extends Error {}

async function opened(file: File | undefined, password: string): Promise<OpenedKey> {
  if (!file) throw new Refused("Choose the certificate file.");
  try {
    return await openPkcs12(new Uint8Array(await file.arrayBuffer()), password);
  } catch (error) {
    if (error instanceof Pkcs12Error) throw new Refused(faults[error.fault]);
    throw error;
  }
}

type Desk = {
  order: string;
  during: (button: HTMLButtonElement, work: () => Promise<void>) => void;
  tell: (text: string) => void;
  forget: () => void;
  show: (ready: Ready) => void;
};

/** Uses keys at the notary's trust service. Our service passes on the token and the hash that this page computed. */
function remoteKeys({ order, during, tell, forget, show }: Desk): void {
  const [token, keys] = [part<HTMLInputElement>("remote-token"), part<HTMLSelectElement>("remote-key")];
  const [find, open] = [part<HTMLButtonElement>("remote-find"), part<HTMLButtonElement>("remote-open")];
  const path = `${order}/sign/remote`;
  find.addEventListener("click", () =>
    during(find, async () => {
      forget();
      tell("Asking the trust service…");
      const found = await post<{ keys: string[] }>(`${path}/keys`, { token: token.value });
      keys.replaceChildren(...found.keys.map((id) => make("option", { value: id }, id)));
      part("remote-keys").hidden = false;
      tell("Choose the key.");
      keys.focus();
    }),
  );
  open.addEventListener("click", () =>
    during(open, async () => {
      forget();
      tell("Opening…");
      const chosen = { token: token.value, key: keys.value };
      const { certificate, asks, ...prepared } = await post<RemotePrepared>(`${path}/prepare`, chosen);
      part("remote-asks").replaceChildren(...asks.map(askField));
      show({
        prepared,
        certificate: parseCertificate(fromBase64(certificate)),
        async sign(attributes) {
          const answers = asks.map(({ id }, n) => [`answer:${id}`, part<HTMLInputElement>(`remote-ask-${n}`).value]);
          const hash = toHex(await sha256(attributes));
          return post(`${path}/sign`, { ...chosen, hash, ...Object.fromEntries(answers) });
        },
      });
    }),
  );
}

type RemotePrepared = Prepared & { certificate: string; asks: { id: string; label: string }[] };

const askField = ({ label }: { label: string }, n: number): HTMLElement =>
  make(
    "div",
    { className: "form-field" },
    make("label", { htmlFor: `remote-ask-${n}` }, label),
    make("input", { id: `remote-ask-${n}`, type: "password", autocomplete: "off" }),
  );

function factsOf({ certificate, prepared: { record, lines, hasSeal, warnings } }: Ready): HTMLElement[] {
  const day = (instant: number) => new Date(instant).toISOString().slice(0, 10);
  return [
    make("li", {}, make("strong", {}, "You sign as "), nameText(certificate.subject)),
    make("li", {}, make("strong", {}, "Issued by "), nameText(certificate.issuer)),
    make("li", {}, make("strong", {}, "Valid "), `from ${day(certificate.notBefore)} to ${day(certificate.notAfter)}`),
    ...warnings.map((text) => make("li", { className: "field-error" }, text)),
    make("li", {}, make("strong", {}, "The record says "), summaryOfAct(record)),
    make("li", {}, make("strong", {}, "The block says"), ...lines.map((line) => make("p", {}, line))),
    make(
      "li",
      {},
      hasSeal
        ? "The block shows the picture of your seal."
        : "The block shows no seal: no picture is confirmed for your commission.",
    ),
  ];
}

/**
 * Describes an act's record with facts that the notary can verify from memory. For a recorded session, adds the final
 * hash of the recording.
 */
function summaryOfAct(record: string): string {
  const { act, mode, document: kind, startedAt, endedAt, principals, recording } = JSON.parse(record) as Act;
  const people = principals.map(({ name, basis }) => `${name} (${basis.replaceAll("_", " ")})`).join(", ");
  const head = recording ? `; recording ${recording.sha256}` : "";
  return `${act}, ${mode}, ${kind}, from ${startedAt} to ${endedAt}: ${people}${head}`;
}

type Act = Record<"act" | "mode" | "document" | "startedAt" | "endedAt", string> & {
  principals: { name: string; basis: string }[];
  recording: { sha256: string } | null;
};

/**
 * True if a prepared revision adds one signature to the current document, and changes nothing else. The signed
 * attributes must contain the digest of the document and the revision, without the space for the signature. The
 * revision must state the hash of the record that the notary saw.
 */
async function isOfDocument(document: Uint8Array<ArrayBuffer>, prepared: Prepared): Promise<boolean> {
  const tail = fromBase64(prepared.tail);
  if (toHex(await sha256(document)) !== prepared.givenSha256) return false;
  const signature = { ...prepared, tail, signedAttrs: fromBase64(prepared.signedAttrs) };
  if (!(await coversRevision(document, signature))) return false;
  const stated = `/SSSNotaryActSha256<${toHex(await sha256(new TextEncoder().encode(prepared.record)))}>`;
  if (new TextDecoder("latin1").decode(tail).split("/SSSNotaryActSha256").length !== 2) return false;
  if (!new TextDecoder("latin1").decode(tail).includes(stated)) return false;
  const file = await openUnlocked(concatBytes([document, tail]));
  const level = changesSince(file, document.length);
  const added = findSignatures(file).filter(({ start }) => start === undefined || start >= document.length);
  return level !== null && level !== "other" && level !== "none" && added.length === 1;
}

/** @throws Refused with the service's message; another error when the service doesn't answer with JSON */
async function post<T extends object>(url: string, body: Record<string, string>): Promise<T> {
  const headers = { accept: "application/json" };
  const answer = await fetch(url, { method: "POST", body: new URLSearchParams(body), headers });
  const isJson = answer.headers.get("content-type")?.startsWith("application/json");
  if (!answer.ok || !isJson) throw new Error(`the service answered ${answer.status}`);
  const json = (await answer.json()) as T | { refused: string };
  if ("refused" in json) throw new Refused(json.refused);
  return json;
}

async function bytesOf(url: string): Promise<Uint8Array<ArrayBuffer>> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}
