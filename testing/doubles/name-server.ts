import { createSocket, type RemoteInfo } from "node:dgram";
import { isIPv4 } from "node:net";

/** RFC 1035, section 4.1.1: response, recursion desired and available; the last four bits are the response code. */
const response = 0x8180;
const noSuchName = 3;
const [typeA, typeAaaa, classIn] = [1, 28, 1];

export type Question = {
  name: string;
  type: "A" | "AAAA";
  /** The number of times that this question was asked before. */
  nth: number;
};

/**
 * The addresses in an answer, only those of the question's address family; null for a name that does not exist;
 * `silent` to send no answer.
 */
export type Zone = (question: Question) => readonly string[] | null | "silent";

/** The name in the first question, and the offset of the question's type and class. */
function questionOf(message: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), end: at + 1 };
}

/** The bytes of an IPv4 address, or of an IPv6 address in full notation or with one `::`. */
function bytesOf(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split(".").map(Number));
  const [before = "", after = ""] = address.split("::");
  const groups = (text: string) => (text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16)));
  const [head, tail] = [groups(before), groups(after)];
  const all = [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}

/**
 * A record for the question's name (a pointer to it, section 4.1.4). Its time to live is 0, so resolvers must not cache
 * it.
 */
function recordOf(address: string): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(isIPv4(address) ? typeA : typeAaaa, 2);
  head.writeUInt16BE(classIn, 4);
  const data = bytesOf(address);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

/**
 * Starts a name server over UDP on 127.0.0.1. Like a hostile one, it may answer the same question differently each
 * time.
 */
export async function startNameServer(zone: Zone) {
  const asked: Question[] = [];
  const socket = createSocket("udp4");
  const reply = (message: Buffer, { port, address }: RemoteInfo): void => {
    const { name, end } = questionOf(message);
    const type = message.readUInt16BE(end) === typeA ? "A" : "AAAA";
    const nth = asked.filter((each) => each.name === name && each.type === type).length;
    const question = { name, type, nth } as const;
    asked.push(question);
    const answer = zone(question);
    if (answer === "silent") return;
    const records = (answer ?? []).filter((each) => isIPv4(each) === (type === "A")).map(recordOf);
    const head = Buffer.alloc(12);
    message.copy(head, 0, 0, 2);
    head.writeUInt16BE(response + (answer === null ? noSuchName : 0), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    socket.send(Buffer.concat([head, message.subarray(12, end + 4), ...records]), port, address);
  };
  socket.on("message", reply);
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    close: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  };
}
