import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { startHttpDouble } from "./http-double.ts";

/** The witness's behavior: `proper`, or one kind of fault. */
export type WitnessMode = "proper" | "server-error" | "wrong-signature" | "two-lines" | "whole-note" | "refuses";

/**
 * A witness of C2SP tlog-witness on loopback, for logs with any key. It cosigns a checkpoint if the request's `old`
 * size is the size that the witness saw last, and checks nothing else.
 */
export type WitnessDouble = {
  readonly url: string;
  /** NAME+ID+BASE64 of the witness's key, as witness policies write keys. */
  readonly key: string;
  readonly order: (mode: WitnessMode) => void;
  /** Sets the number of entries that the witness says it has seen. */
  readonly sees: (size: number) => void;
  /** The bodies of requests, in order. */
  readonly requests: readonly string[];
  readonly close: () => Promise<void>;
};

export async function startWitness(name: string): Promise<WitnessDouble> {
  const { privateKey } = generateKeyPairSync("ed25519");
  const publicKey = Buffer.from(privateKey.export({ format: "jwk" }).x ?? "", "base64url");
  const bytes = Buffer.concat([Buffer.of(4), publicKey]);
  const id = createHash("sha256").update(`${name}\n`).update(bytes).digest().subarray(0, 4);
  const requests: string[] = [];
  let mode: WitnessMode = "proper";
  let seen = 0;

  const cosigned = (text: string): string => {
    const at = BigInt(Math.floor(Date.now() / 1_000));
    const time = Buffer.alloc(8);
    time.writeBigUInt64BE(at);
    const said = mode === "wrong-signature" ? `${text}more\n` : text;
    const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${at}\n${said}`), privateKey);
    return `\u2014 ${name} ${Buffer.concat([id, time, signature]).toString("base64")}\n`;
  };

  const server = await startHttpDouble((request, body, response) => {
    if (request.method !== "POST" || request.url !== "/add-checkpoint") return void response.writeHead(404).end();
    const sent = body.toString("utf8");
    requests.push(sent);
    if (mode === "server-error") return void response.writeHead(500).end("to order");
    if (mode === "refuses") return void response.writeHead(422).end("to order");
    const old = Number(/^old (\d+)\n/.exec(sent)?.[1]);
    const note = sent.slice(sent.indexOf("\n\n") + 2);
    const text = note.slice(0, note.lastIndexOf("\n\n") + 1);
    const size = Number(text.split("\n")[1]);
    if (old !== seen) return void response.writeHead(409, { "content-type": "text/x.tlog.size" }).end(`${seen}\n`);
    if (mode !== "wrong-signature" && mode !== "whole-note") seen = size;
    if (mode === "whole-note") return void response.writeHead(200).end(`\n${cosigned(note)}`);
    const line = cosigned(text);
    const other = line.replace(name, `${name}/other`);
    response.writeHead(200).end(mode === "two-lines" ? `${other}${line}` : line);
  });
  return {
    url: server.url,
    key: `${name}+${id.toString("hex")}+${bytes.toString("base64")}`,
    order(next) {
      mode = next;
    },
    sees(size) {
      seen = size;
    },
    requests,
    close: server.close,
  };
}
