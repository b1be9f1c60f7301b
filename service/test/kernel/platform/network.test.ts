import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { clientNetwork, clientSite, forwardedAddresses, parseRange } from "../../../src/kernel/platform/network.ts";

test("an IPv4 address counts as itself, whether or not it is mapped into IPv6", () => {
  assert.equal(clientNetwork("203.0.113.7"), "203.0.113.7");
  assert.equal(clientNetwork("::ffff:203.0.113.7"), "203.0.113.7");
  assert.equal(clientNetwork("::FFFF:203.0.113.7"), "203.0.113.7");
});

test("only the first 64 bits of an IPv6 address count, however it is written", () => {
  for (const ip of [
    "2001:db8:1:2::1",
    "2001:0DB8:0001:0002:ffff:ffff:ffff:ffff",
    "2001:db8:1:2::",
    "2001:db8:1:2:3::%eth0",
  ])
    assert.equal(clientNetwork(ip), "2001:db8:1:2::/64", ip);
  assert.equal(clientNetwork("::1"), "0:0:0:0::/64");
  assert.equal(clientNetwork("2001:db8::7:8"), "2001:db8:0:0::/64");
  assert.equal(clientNetwork("64:ff9b::192.0.2.1"), "64:ff9b:0:0::/64");
});

test("the site of an IPv6 address is its first 48 bits, and other texts have none", () => {
  assert.equal(clientSite("2001:db8:1:2::1"), "2001:db8:1::/48");
  assert.equal(clientSite("2001:db8:1:ffff::1"), "2001:db8:1::/48");
  for (const text of ["203.0.113.7", "::ffff:203.0.113.7", "unix", ""]) assert.equal(clientSite(text), null, text);
});

test("forwarded addresses lose their ports and brackets", () => {
  for (const [header, addresses] of [
    ["203.0.113.5", "203.0.113.5"],
    ["203.0.113.5:49152", "203.0.113.5"],
    [" 203.0.113.5:1 ,10.0.0.7:65535", "203.0.113.5, 10.0.0.7"],
    ["[2001:db8::7]:443", "2001:db8::7"],
    ["[2001:db8::7]", "2001:db8::7"],
    ["2001:db8::7", "2001:db8::7"],
    ["[203.0.113.5]:80", "203.0.113.5"],
  ] as const)
    assert.equal(forwardedAddresses(header), addresses, header);
});

test("a forwarded entry that is not an address ends the list at the proxy that wrote it", () => {
  for (const [header, addresses] of [
    ["unknown", ""],
    ["", ""],
    ["203.0.113.5, unknown", ""],
    ["unknown, 203.0.113.5:80", "203.0.113.5"],
    ["203.0.113.5:49152:1", ""],
    ["203.0.113.5:", ""],
    ["[2001:db8::7", ""],
    ["_hidden, 198.51.100.1, 10.0.0.7", "198.51.100.1, 10.0.0.7"],
  ] as const)
    assert.equal(forwardedAddresses(header), addresses, header);
});

test("a text that is not an address stays unchanged", () => {
  for (const text of ["", "unix", "1.2.3", "a:b"]) assert.equal(clientNetwork(text), text);
});

test("two IPv6 addresses count together only when their first four groups are equal", () => {
  const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 });
  const full = (list: readonly number[]) => list.map((group) => group.toString(16).padStart(4, "0")).join(":");
  const short = (list: readonly number[]) => new URL(`http://[${full(list)}]`).hostname.slice(1, -1);
  fc.assert(
    fc.property(groups, groups, fc.boolean(), (one, other, same) => {
      const second = same ? [...one.slice(0, 4), ...other.slice(4)] : other;
      // Excludes addresses whose first five groups are zeros, because these may be mapped IPv4 addresses.
      fc.pre(one.slice(0, 5).some((group) => group !== 0) && second.slice(0, 5).some((group) => group !== 0));
      const together = one.slice(0, 4).join() === second.slice(0, 4).join();
      assert.equal(clientNetwork(short(one)) === clientNetwork(full(second)), together);
    }),
  );
});

describe("a range", () => {
  test("is an address, or an address with the number of bits that count", () => {
    const read = (text: string) => parseRange(text)?.map(String);
    assert.deepEqual(read("10.0.0.0/8"), ["10.0.0.0", "8"]);
    assert.deepEqual(read("203.0.113.7"), ["203.0.113.7", "32"]);
    assert.deepEqual(read("fd00::/8"), ["fd00::", "8"]);
    assert.deepEqual(read("::1"), ["::1", "128"]);
  });

  test("is nothing else", () => {
    for (const text of [
      "",
      "10",
      "10.0.0.0/33",
      "10.0.0.0/",
      "10.0.0.0/8/8",
      "::/129",
      "0x7f.1",
      "010.0.0.1",
      "a/8",
      "10.0.0.0/-1",
    ])
      assert.equal(parseRange(text), null, text);
  });
});
