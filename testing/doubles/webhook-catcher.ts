import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";

export type Authority = {
  /** The path of the authority's certificate, for the setting WEBHOOK_CA. */
  caFile: string;
  cert: Buffer;
  key: Buffer;
};

/**
 * Creates a certificate authority in the folder, which issues a certificate for localhost, 127.0.0.1, ::1 and
 * `*.hooks.test`.
 */
export function makeAuthority(folder: string): Authority {
  const path = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync("openssl", args, { stdio: "pipe" });
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  openssl(
    "req",
    "-x509",
    ...curve,
    "-keyout",
    path("hooks-ca.key"),
    "-out",
    path("hooks-ca.pem"),
    "-days",
    "2",
    "-subj",
    "/CN=Catcher CA",
  );
  openssl("req", ...curve, "-keyout", path("hooks.key"), "-out", path("hooks.csr"), "-subj", "/CN=localhost");
  writeFileSync(path("hooks.ext"), "subjectAltName=DNS:localhost,DNS:*.hooks.test,IP:127.0.0.1,IP:::1\n");
  openssl(
    "x509",
    "-req",
    "-in",
    path("hooks.csr"),
    "-CA",
    path("hooks-ca.pem"),
    "-CAkey",
    path("hooks-ca.key"),
    "-CAcreateserial",
    "-days",
    "2",
    "-extfile",
    path("hooks.ext"),
    "-out",
    path("hooks.pem"),
  );
  return { caFile: path("hooks-ca.pem"), cert: readFileSync(path("hooks.pem")), key: readFileSync(path("hooks.key")) };
}

export type Caught = { path: string; method: string; headers: IncomingHttpHeaders; body: Buffer };

export type Answer = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;

export type Catcher = {
  port: number;
  /** `https://127.0.0.1:PORT` */
  url: string;
  caught: Caught[];
  /** The number of connections so far. */
  connections: () => number;
  /** Sets the answer to requests of this path; 200 by default. */
  answer: (path: string, answer: Answer) => void;
  /** Waits until this many requests to the path have arrived. @returns these requests */
  wait: (path: string, count?: number) => Promise<Caught[]>;
  close: () => Promise<void>;
};

/** An HTTPS server that stores every request. */
export async function startCatcher(authority: Authority, port = 0): Promise<Catcher> {
  const caught: Caught[] = [];
  const answers = new Map<string, Answer>();
  const sockets = new Set<Duplex>();
  let waiting: (() => void)[] = [];
  let connections = 0;
  const server = createServer({ cert: authority.cert, key: authority.key }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const path = request.url ?? "";
    caught.push({ path, method: request.method ?? "", headers: request.headers, body });
    for (const look of waiting.splice(0)) look();
    const answer = answers.get(path);
    if (answer) answer(request, response, body);
    else response.end("ok");
  });
  server.on("connection", (socket) => {
    connections++;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const { port: bound } = server.address() as AddressInfo;
  return {
    port: bound,
    url: `https://127.0.0.1:${bound}`,
    caught,
    connections: () => connections,
    answer: (path, answer) => void answers.set(path, answer),
    async wait(path, count = 1) {
      for (;;) {
        const found = caught.filter((each) => each.path === path);
        if (found.length >= count) return found;
        await new Promise<void>((resolve) => {
          waiting = [...waiting, resolve];
        });
      }
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
