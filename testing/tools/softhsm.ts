import { execFileSync } from "node:child_process";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { softHsmModule } from "./tools.ts";

/** A SoftHSM2 token in a temporary folder, with keys whose public halves are known. */
export type SoftHsm = {
  readonly modulePath: string;
  readonly token: string;
  readonly pin: string;
  /** Path of a file that holds the PIN. */
  readonly pinFile: string;
  /** The value of SOFTHSM2_CONF. Set it in the process before it loads the module. */
  readonly configPath: string;
  /** Creates a key, imports it and returns its public half. `id` is hex. */
  readonly addKey: (label: string, id: string, kind: "rsa-3072" | "p-256" | "p-384") => KeyObject;
  readonly close: () => void;
};

/** Creates the token. Needs Debian's `softhsm2`. */
export function startSoftHsm(): SoftHsm {
  const modulePath = softHsmModule();
  if (modulePath === undefined) throw new Error("SoftHSM2 is not installed");
  const folder = mkdtempSync(join(tmpdir(), "softhsm-"));
  const configPath = join(folder, "softhsm2.conf");
  mkdirSync(join(folder, "tokens"));
  writeFileSync(configPath, `directories.tokendir = ${join(folder, "tokens")}\nlog.level = ERROR\n`);
  const [token, pin] = ["seal token", "4321"];
  const util = (...args: string[]) =>
    execFileSync("softhsm2-util", args, { stdio: "pipe", env: { ...process.env, SOFTHSM2_CONF: configPath } });
  util("--init-token", "--free", "--label", token, "--pin", pin, "--so-pin", "87654321");
  const pinFile = join(folder, "pin");
  writeFileSync(pinFile, `${pin}\n`);
  return {
    modulePath,
    token,
    pin,
    pinFile,
    configPath,
    addKey: (label, id, kind) => {
      const { privateKey, publicKey } = generate(kind);
      const file = join(folder, "import.pem");
      writeFileSync(file, privateKey.export({ type: "pkcs8", format: "pem" }));
      util("--import", file, "--token", token, "--pin", pin, "--label", label, "--id", id);
      rmSync(file);
      return publicKey;
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function generate(kind: "rsa-3072" | "p-256" | "p-384") {
  if (kind === "rsa-3072") return generateKeyPairSync("rsa", { modulusLength: 3072 });
  return generateKeyPairSync("ec", { namedCurve: kind.toUpperCase() });
}
