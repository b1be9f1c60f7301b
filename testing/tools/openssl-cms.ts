import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * A self-signed certificate, and a signer that uses its key. Both use the openssl program, which shares no code with
 * ours.
 */
export type OpensslSigner = {
  readonly certificatePem: string;
  /** DER of a detached CAdES CMS over the given content. */
  readonly sign: (content: Buffer) => Buffer;
  /** Removes the key and its folder. */
  readonly close: () => void;
};

/** Creates a P-256 key and certificate in a new temporary folder. Needs `openssl` 3 in PATH. */
export function opensslSigner(): OpensslSigner {
  const folder = mkdtempSync(join(tmpdir(), "openssl-signer-"));
  const key = join(folder, "key.pem");
  const certificate = join(folder, "certificate.pem");
  const request = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-days", "3650"];
  const usage = ["-addext", "keyUsage=critical,digitalSignature,nonRepudiation"];
  const files = ["-keyout", key, "-out", certificate];
  execFileSync("openssl", ["req", "-x509", ...request, ...usage, "-subj", "/CN=Test signer", ...files], {
    stdio: "pipe",
  });
  return {
    certificatePem: readFileSync(certificate, "utf8"),
    sign: (content) => {
      const input = join(folder, "content");
      writeFileSync(input, content);
      const options = ["-sign", "-binary", "-cades", "-md", "sha256", "-nosmimecap", "-outform", "DER"];
      return execFileSync("openssl", ["cms", ...options, "-in", input, "-signer", certificate, "-inkey", key], {
        stdio: ["ignore", "pipe", "pipe"],
      });
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
