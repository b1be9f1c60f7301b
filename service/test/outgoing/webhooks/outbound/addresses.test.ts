import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { addressPolicy } from "../../../../src/outgoing/webhooks/outbound/resolve-name.ts";

const strict = addressPolicy([]);
const bytesOf = (address: string) => address.split(".").map(Number);
/** Notations of the IPv6 address that is mapped to an IPv4 address. */
function mapped(address: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = bytesOf(address);
  const hex = (high: number, low: number) => ((high << 8) | low).toString(16);
  const pairs = `${hex(a, b)}:${hex(c, d)}`;
  return [
    `::ffff:${address}`,
    `::FFFF:${address}`,
    `::ffff:${pairs}`,
    `0:0:0:0:0:ffff:${pairs}`,
    `0000::ffff:${address}`,
  ];
}

test("refuses every special-purpose IPv4 address, plain and mapped into IPv6", () => {
  const addresses = [
    "0.0.0.0",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.7",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.9",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
  ];
  for (const address of addresses.flatMap((each) => [each, ...mapped(each)]))
    assert.equal(strict(address), false, address);
});

test("refuses every special-purpose IPv6 address", () => {
  const addresses = [
    "::",
    "::1",
    "::7f00:1",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%lo",
    "fec0::1",
    "ff02::1",
  ];
  for (const address of addresses) assert.equal(strict(address), false, address);
});

test("lets public addresses through, plain and mapped", () => {
  const addresses = [
    "1.1.1.1",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.0.1",
    "172.32.0.1",
    "223.255.255.255",
  ];
  for (const address of addresses.flatMap((each) => [each, ...mapped(each)]))
    assert.equal(strict(address), true, address);
  for (const address of ["2606:4700::1111", "2001:4860:4860::8888", "2a00::1"])
    assert.equal(strict(address), true, address);
});

test("refuses a text that is not an address", () => {
  for (const text of ["", "localhost", "127.1", "0x7f.0.0.1", "1.1.1.1:443", "[::1]"])
    assert.equal(strict(text), false, text);
});

test("an allowed range allows only itself, in every notation", () => {
  const policy = addressPolicy(["127.0.0.0/8", "10.1.2.3", "fd00::/8"]);
  for (const address of ["127.0.0.1", "10.1.2.3", "fd12::1"]) assert.equal(policy(address), true, address);
  for (const address of mapped("127.0.0.1")) assert.equal(policy(address), true, address);
  for (const address of ["10.1.2.4", "::1", "fc00::1", "169.254.169.254"])
    assert.equal(policy(address), false, address);
});

test("a mapped address is judged as the IPv4 address that it reaches", () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      for (const form of mapped(address)) assert.equal(strict(form), strict(address), form);
    }),
  );
});
