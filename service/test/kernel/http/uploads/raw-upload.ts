import { connect } from "node:net";

export type RawUpload = {
  /** Resolves when the operating system has accepted the bytes. */
  send: (bytes: string | Uint8Array) => Promise<void>;
  /** The response so far. */
  received: () => string;
  closed: () => boolean;
  hangUp: () => void;
};

export const boundary = "----form";
export const multipart = `multipart/form-data; boundary=${boundary}`;

export const textPart = (name: string, value: string): string =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

/** The pieces of a multipart form with the given file. A test sends them one by one. */
export function pieces(part: string, bytes: Buffer, fields: Readonly<Record<string, string>> = {}) {
  const texts = Object.entries(fields).map(([name, value]) => textPart(name, value));
  const head = `${texts.join("")}--${boundary}\r\nContent-Disposition: form-data; name="${part}"; filename="a.pdf"\r\nContent-Type: application/pdf\r\n\r\n`;
  const end = `\r\n--${boundary}--\r\n`;
  return { head, bytes, end, length: head.length + bytes.length + end.length };
}

/** Sends the headers of a POST whose body is sent piece by piece, or not at all. */
export async function beginUpload(url: string, headers: Readonly<Record<string, string | number>>): Promise<RawUpload> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, noDelay: true });
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1");
  });
  socket.on("error", () => {});
  const send = (bytes: string | Uint8Array) =>
    new Promise<void>((resolve) => {
      socket.once("close", resolve);
      socket.write(bytes, () => {
        socket.off("close", resolve);
        resolve();
      });
    });
  const lines = Object.entries({ Host: "localhost", "Content-Type": multipart, ...headers });
  await send(`POST ${pathname} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`);
  return { send, received: () => received, closed: () => socket.closed, hangUp: () => socket.destroy() };
}
