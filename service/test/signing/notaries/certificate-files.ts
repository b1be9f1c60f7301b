import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const password = "correct horse £ battery";

type Made = { key?: "rsa:2048" | "p256" | "p384"; usage?: string; export?: readonly string[] };

/** Creates certificate files like those of notaries' authorities, with this machine's `openssl`. */
export function certificateFiles(folder: string) {
  let made = 0;
  const openssl = (...args: string[]) => execFileSync("openssl", args, { stdio: "pipe" });
  return function make(name: string, options: Made = {}): { pem: string; p12: Buffer; keyDer: Buffer } {
    const { key = "rsa:2048", usage = "digitalSignature,nonRepudiation", export: more = [] } = options;
    const at = (ending: string) => join(folder, `${made}.${ending}`);
    made++;
    const curve = { p256: "prime256v1", p384: "secp384r1" }[key as "p256"];
    const newKey = curve ? ["-newkey", "ec", "-pkeyopt", `ec_paramgen_curve:${curve}`] : ["-newkey", key];
    const subject = ["-utf8", "-subj", `/CN=${name}`, "-days", "3650", "-addext", `keyUsage=critical,${usage}`];
    openssl("req", "-x509", ...newKey, "-nodes", "-keyout", at("key"), "-out", at("pem"), ...subject);
    const files = ["-inkey", at("key"), "-in", at("pem"), "-out", at("p12"), "-passout", `pass:${password}`];
    openssl("pkcs12", "-export", ...files, ...more);
    const keyDer = openssl("pkcs8", "-topk8", "-nocrypt", "-outform", "DER", "-in", at("key"));
    return { pem: readFileSync(at("pem"), "utf8"), p12: readFileSync(at("p12")), keyDer };
  };
}
