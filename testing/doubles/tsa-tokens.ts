import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encode, integer, raw, sequence } from "@signsealship/evidence/asn1";
import { parseTimeStampResp, parseTimeStampToken } from "@signsealship/evidence/rfc3161";

/** The kinds of certificates that a test authority may have: a proper one, or one with a fault. */
export type TsaCertificateKind = "proper" | "no-usage" | "usage-not-critical" | "more-usages" | "expired" | "foreign";

/**
 * A time-stamping authority that runs the openssl program, with its own certificate authority, in a temporary folder.
 */
export type TsaWorkshop = {
  /** PEM of the certificate authority. */
  readonly caPem: string;
  /** A TimeStampResp for a TimeStampReq, both DER, as `openssl ts` makes it. */
  readonly reply: (request: Uint8Array) => Buffer;
  /** Signs the TSTInfo of a response again: unlike `openssl ts`, `openssl cms` also makes faulty tokens. */
  readonly signAgain: (response: Uint8Array, how: SignAgain) => Buffer;
  readonly close: () => void;
};

export type SignAgain = {
  readonly certificate: TsaCertificateKind;
  /** True (the default) if the token contains ESSCertIDv2. */
  readonly signingCertificate?: boolean;
  readonly contentType?: string;
};

const tstInfoType = "1.2.840.113549.1.9.16.1.4";

const extensions: Record<TsaCertificateKind, string> = {
  proper: "extendedKeyUsage=critical,timeStamping",
  "no-usage": "keyUsage=critical,digitalSignature",
  "usage-not-critical": "extendedKeyUsage=timeStamping",
  "more-usages": "extendedKeyUsage=critical,timeStamping,emailProtection",
  expired: "extendedKeyUsage=critical,timeStamping",
  foreign: "extendedKeyUsage=critical,timeStamping",
};

/** Creates the authority. Needs `openssl` 3 in PATH. */
export function openTsaWorkshop(): TsaWorkshop {
  const folder = mkdtempSync(join(tmpdir(), "tsa-"));
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc"];
  for (const ca of ["ca", "other-ca"]) {
    const subject = ["-subj", `/CN=Test ${ca}`, "-days", "3650"];
    openssl("req", "-x509", ...newKey, ...subject, "-keyout", `${ca}.key`, "-out", `${ca}.pem`);
  }
  writeFileSync(at("index"), "");
  for (const serial of ["serial", "ca-serial"]) writeFileSync(at(serial), "01\n");
  writeFileSync(at("openssl.cnf"), configuration);

  const made = new Map<TsaCertificateKind, string>();
  const certificateOf = (kind: TsaCertificateKind): string => {
    const known = made.get(kind);
    if (known !== undefined) return known;
    const ca = kind === "foreign" ? "other-ca" : "ca";
    const dates = kind === "expired" ? ["20200101000000Z", "20210101000000Z"] : ["20200101000000Z", "20400101000000Z"];
    writeFileSync(at(`${kind}.ext`), `${extensions[kind]}\n`);
    openssl("req", ...newKey, "-subj", `/CN=Test TSA ${kind}`, "-keyout", `${kind}.key`, "-out", `${kind}.csr`);
    const issuer = ["-cert", `${ca}.pem`, "-keyfile", `${ca}.key`, "-config", "openssl.cnf", "-batch"];
    const validity = ["-startdate", dates[0] ?? "", "-enddate", dates[1] ?? ""];
    const files = ["-in", `${kind}.csr`, "-out", `${kind}.pem`, "-extfile", `${kind}.ext`, "-notext"];
    openssl("ca", ...issuer, ...validity, ...files);
    made.set(kind, kind);
    return kind;
  };
  certificateOf("proper");

  return {
    caPem: readFileSync(at("ca.pem"), "utf8"),
    reply: (request) => {
      writeFileSync(at("request"), request);
      openssl("ts", "-reply", "-config", "openssl.cnf", "-queryfile", "request", "-out", "response");
      return readFileSync(at("response"));
    },
    signAgain: (response, { certificate, signingCertificate = true, contentType = tstInfoType }) => {
      const token = parseTimeStampResp(response).token;
      const tstInfo = token === null ? null : parseTimeStampToken(token).signedData.eContent;
      if (tstInfo === null) throw new Error("the response has no TSTInfo");
      writeFileSync(at("tstinfo"), tstInfo);
      const name = certificateOf(certificate);
      const signer = ["-signer", `${name}.pem`, "-inkey", `${name}.key`, "-md", "sha256"];
      const content = ["-in", "tstinfo", "-binary", "-nodetach", "-econtent_type", contentType, "-nosmimecap"];
      const cades = signingCertificate ? ["-cades"] : [];
      return granted(openssl("cms", "-sign", ...content, ...signer, ...cades, "-outform", "DER"));
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A TimeStampResp that grants the token. */
function granted(token: Uint8Array): Buffer {
  return Buffer.from(encode(sequence(sequence(integer(0)), raw(token))));
}

const configuration = `
[tsa]
default_tsa = authority
[authority]
serial = serial
signer_cert = proper.pem
signer_key = proper.key
certs = ca.pem
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
accuracy = secs:1
ordering = yes
tsa_name = yes
ess_cert_id_alg = sha256
[ca]
default_ca = issuer
[issuer]
database = index
serial = ca-serial
new_certs_dir = .
default_md = sha256
unique_subject = no
policy = any
[any]
commonName = supplied
`;
