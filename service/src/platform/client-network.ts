import { isIPv6 } from "node:net";

/**
 * What limits count a client address as: an IPv4 address itself, of an IPv6 address the first 64 bits, for whoever has one such
 * network has all its addresses.
 */
export function clientNetwork(ip: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(ip)) return ip;
  const [head = "", tail] = ip.split("%", 1).join("").toLowerCase().split("::");
  const groups = (text: string) => text.split(":").filter((group) => group !== "");
  const first = groups(head);
  // An IPv4 tail stands for two groups; within the first four there is none.
  const last = groups(tail ?? "");
  const length = (list: readonly string[]) => list.reduce((sum, group) => sum + (group.includes(".") ? 2 : 1), 0);
  const zeros = tail === undefined ? 0 : 8 - length(first) - length(last);
  const all = [...first, ...Array<string>(zeros).fill("0"), ...last];
  return `${all
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":")}::/64`;
}
