import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { anyCharacter } from "@signsealship/testing/inputs/any-character";
import fc from "fast-check";
import { type Logger, pino } from "pino";
import { type AccessLine, logAccess } from "../../../src/kernel/http/server.ts";
import { maskCodes } from "../../../src/kernel/platform/logs.ts";

/** A log like the service's, except that it stores its lines in an array. */
function keptLog(level = "info"): { log: Logger; lines: string[] } {
  const lines: string[] = [];
  const write = (line: string) => lines.push(line);
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, { write });
  return { log, lines };
}

const sample: AccessLine = {
  requestId: "0b6d6a1e-9a0c-4a43-8b41-6f9e0b6e2a11",
  method: "GET",
  path: "/api/version",
  status: 200,
  ms: 1.5,
  partnerId: undefined,
};

const code = fc.stringMatching(/^[0-9a-f]{24,64}$/);
const verifyCode = fc.stringMatching(/^[a-z2-7]{26}$/);
const secret = fc.stringMatching(/^svc_(pk_|pk_test_|whsec_)[a-z2-7]{0,52}$/);
const segment = fc.oneof(fc.string({ unit: anyCharacter }), fc.string(), code, verifyCode, secret);
const path = fc.array(segment, { maxLength: 5 }).map((segments) => `/${segments.join("/")}`);
const line: fc.Arbitrary<AccessLine> = fc.record({
  requestId: fc.uuid(),
  method: fc.oneof(fc.constantFrom("GET", "POST", "M-SEARCH"), fc.string()),
  path,
  status: fc.integer({ min: 100, max: 599 }),
  ms: fc.nat().map((tenths) => tenths / 10),
  partnerId: fc.option(fc.uuid(), { nil: undefined }),
});

describe("the access line", () => {
  test("keeps each member unchanged and masks the path, for any path and method", () => {
    const { log, lines } = keptLog();
    fc.assert(
      fc.property(line, (given) => {
        lines.length = 0;
        logAccess(log, given);
        assert.equal(lines.length, 1);
        const { level, time, msg, ...read } = JSON.parse(lines[0] ?? "") as AccessLine & Record<string, unknown>;
        const { partnerId, ...rest } = { ...given, path: maskCodes(given.path) };
        assert.deepEqual(read, partnerId === undefined ? rest : { ...rest, partnerId });
        assert.deepEqual([level, typeof time, msg], [30, "string", "request"]);
      }),
      { numRuns: 1000 },
    );
  });

  test("is one line of JSON with its members in the usual order", () => {
    const { log, lines } = keptLog();
    logAccess(log, { ...sample, path: '/a"\\\n\u2028\ud800', partnerId: "5b8c2f6e-1111-4222-8333-444455556666" });
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? "", /^[^\n]*\n$/);
    const read = JSON.parse(lines[0] ?? "") as Record<string, unknown>;
    assert.deepEqual(Object.keys(read), [
      "level",
      "time",
      "requestId",
      "method",
      "path",
      "status",
      "ms",
      "partnerId",
      "msg",
    ]);
    assert.equal(read["path"], '/a"\\\n\u2028\ud800');
    assert.equal(new Date(String(read["time"])).toISOString(), read["time"]);
  });

  test("omits the partner when the caller is unknown", () => {
    const { log, lines } = keptLog();
    logAccess(log, sample);
    assert.equal("partnerId" in (JSON.parse(lines[0] ?? "") as object), false);
  });

  test("shows six characters of a code and nothing of a key, anywhere in the path", () => {
    const { log, lines } = keptLog();
    fc.assert(
      fc.property(fc.oneof(code, verifyCode), secret, (credential, key) => {
        lines.length = 0;
        logAccess(log, { ...sample, path: `/x/${credential}/${key}` });
        logAccess(log, { ...sample, path: `/${key}` });
        const [both = "", alone = ""] = lines;
        assert.equal((JSON.parse(both) as AccessLine).path.startsWith(`/x/${credential.slice(0, 6)}…`), true);
        assert.equal(both.includes(credential), false);
        if (/^svc_(pk|whsec)_./.test(key)) assert.equal((JSON.parse(alone) as AccessLine).path, "/svc_***");
      }),
    );
  });

  test("is written whenever the log's current level includes info", () => {
    const { log, lines } = keptLog("warn");
    logAccess(log, sample);
    assert.equal(lines.length, 0);
    log.level = "info";
    logAccess(log, sample);
    assert.equal(lines.length, 1);
    log.level = "silent";
    logAccess(log, sample);
    assert.equal(lines.length, 1);
    log.level = "trace";
    logAccess(log, sample);
    assert.equal(lines.length, 2);
  });
});
