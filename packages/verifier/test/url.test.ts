import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startHttpDouble } from "@signsealship/testing/doubles/http-double";
import { makeZip } from "@signsealship/testing/inputs/zip-maker";
import { parseVerifyUrl } from "../src/url/verify-url.ts";
import * as f from "./fixtures.ts";

const code = "abcdefghijklmnopqrstuvwxyz";
const pdf = f.proofPdf();
const record = { verdict: "verified", verifyCode: code, sealedSha256: f.hex(pdf), docSha256: f.hex(f.original) };
const api = `/api/passport/verify/${code}`;
const zip = makeZip([{ name: "sealed.pdf", bytes: pdf }]);
const withRecord = (verifyCode: string) =>
  makeZip([
    { name: "sealed.pdf", bytes: pdf },
    { name: "passport.json", bytes: Buffer.from(JSON.stringify({ ...record, verifyCode })) },
  ]);
type Routes = Readonly<Record<string, Uint8Array | object | string>>;
const published: Routes = { "/seal/certificate.pem": f.pemOf(f.seal), [api]: record, [`${api}/evidence`]: zip };

async function service(t: TestContext, routes: Routes): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const double = await startHttpDouble((request, _body, response) => {
    asked.push(request.url ?? "");
    const answer = routes[request.url ?? ""];
    if (answer === undefined) response.writeHead(404).end('{"verdict":"unknown"}');
    else if (answer instanceof Uint8Array || typeof answer === "string") response.end(answer);
    else response.end(JSON.stringify(answer));
  });
  t.after(double.close);
  return { url: double.url, asked };
}
const verifyUrl = async (t: TestContext, routes: Routes, path = api) =>
  f.verify([(await service(t, routes)).url + path], { fetch });

test("fetches the evidence of a verify URL and verifies it, by API address and by page", async (t) => {
  for (const path of [api, `/verify/${code}`]) {
    const { code: exit, json } = await verifyUrl(t, published, path);
    assert.equal(exit, 0);
    assert.equal(json.verdict, "verified");
    assert.equal(f.results(json).seal_certificate_source, "holds");
    assert.equal(f.results(json).record_sealed_hash, "holds");
  }
});

test("fetches the sealed PDF when the service has no evidence zip, and reports a test as a test", async (t) => {
  const document = { ...published, [`${api}/document`]: pdf } as Record<string, Uint8Array | object | string>;
  delete document[`${api}/evidence`];
  assert.equal((await verifyUrl(t, document)).json.verdict, "verified");
  const test = { ...published, [api]: { ...record, verdict: "verified_test" } };
  assert.equal((await verifyUrl(t, test)).json.verdict, "verified_test");
});

test("ignores the service's own verdict", async (t) => {
  const cases: readonly (readonly [Routes, string])[] = [
    [{ [api]: { ...record, sealedSha256: "0".repeat(64) } }, "record_sealed_hash"],
    [{ [api]: { ...record, verifyCode: "b".repeat(26) } }, "record_verify_code"],
    [{ [api]: { ...record, verifyCode: undefined } }, "record_readable"],
    [{ [`${api}/evidence`]: withRecord("b".repeat(26)) }, "record_verify_code"],
    [{ [api]: "not JSON" }, "service_record"],
    [{ [`${api}/evidence`]: makeZip([{ name: "sealed.pdf", bytes: f.original }]) }, "whole_file_covered"],
    [{ [`${api}/evidence`]: "junk" }, "evidence"],
    [{ "/seal/certificate.pem": f.pemOf(f.stranger) }, "seal_certificate_trusted"],
  ];
  for (const [changes, claim] of cases) {
    const { code: exit, json } = await verifyUrl(t, { ...published, ...changes });
    assert.equal(exit, 1, claim);
    assert.ok(f.failing(json).includes(claim), `${claim}: ${f.failing(json)}`);
  }
});

test("a code that is not known, a redirect, no answer and an endless answer are not verified", async (t) => {
  assert.deepEqual(f.failing((await verifyUrl(t, {})).json), ["service_record"]);
  const redirecting = await startHttpDouble(
    (_request, _body, response) => void response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
  );
  t.after(redirecting.close);
  assert.equal((await f.verify([redirecting.url + api], { fetch })).code, 1);
  assert.equal((await f.verify([`http://127.0.0.1:1${api}`], { fetch })).code, 1);
  const endless = await verifyUrl(t, { ...published, [api]: "x".repeat(2_000_000) });
  assert.match(endless.json.checks[0]?.detail ?? "", /more than 1048576 bytes/);
});

test("without https, and with --trust, no certificate from the service is trusted", async (t) => {
  const answers = async (url: string) => {
    const answer = published[new URL(url).pathname];
    return new Response(answer instanceof Uint8Array ? Buffer.from(answer) : JSON.stringify(answer));
  };
  const plain = await f.verify([`http://example.com${api}`], { fetch: answers });
  assert.equal(plain.json.verdict, "intact");
  assert.equal(f.results(plain.json).seal_certificate_source, "unchecked");
  const { url, asked } = await service(t, published);
  const folder = f.folderWith(t, { "trust.pem": f.pemOf(f.stranger) });
  const own = await f.verify([url + api, "--trust", `${folder}/trust.pem`], { fetch });
  assert.deepEqual(f.failing(own.json), ["seal_certificate_trusted"]);
  assert.ok(!asked.includes("/seal/certificate.pem"));
});

test("a service's trust list is read before its certificate, and its statements on retirement count", async (t) => {
  const certificates = (retirement: object) => ({
    "/seal/trust.json": {
      format: 1,
      sealCertificates: [{ pem: f.pemOf(f.seal), ...retirement }],
    },
  });
  const { "/seal/certificate.pem": _, ...withoutPem } = published;
  const good = await verifyUrl(t, { ...withoutPem, ...certificates({}) });
  assert.deepEqual([good.code, f.results(good.json).seal_certificate_source], [0, "holds"]);
  const stolen = { retiredAt: "2099-01-01T00:00:00Z", reason: "key-compromise" };
  const refused = await verifyUrl(t, { ...published, ...certificates(stolen) });
  assert.deepEqual(f.failing(refused.json), ["seal_certificate_not_retired"]);
  // If the trust list is unreadable, the verifier must not trust the certificate that the service publishes separately.
  const unread = await verifyUrl(t, { ...published, ...certificates({ ...stolen, retiredAt: "soon" }) });
  assert.deepEqual([unread.json.verdict, f.results(unread.json).seal_certificate_source], ["intact", "unchecked"]);
});

test("verifies a closing passport by its URL, and several versions together", async (t) => {
  const [v1, v2] = await f.chainOf(2);
  assert.ok(v1 && v2);
  const routes: Record<string, Uint8Array | object | string> = { "/seal/certificate.pem": f.pemOf(f.seal) };
  const codes = ["b".repeat(26), "c".repeat(26)];
  for (const [index, { bytes, version, manifestSha256 }] of [v1, v2].entries()) {
    const certificate = f.certificateOf(bytes);
    const manifest: unknown = JSON.parse(new TextDecoder().decode(bytes));
    const path = `/api/verify/room/${codes[index]}`;
    routes[path] = { manifest, manifestSha256, sealedSha256: f.hex(certificate), version, chainOk: true };
    routes[`${path}/pdf`] = certificate;
  }
  const { url } = await service(t, routes);
  const first = await f.verify([`${url}/v/room/${codes[0]}`], { fetch });
  assert.equal(first.json.verdict, "verified");
  assert.equal(f.results(first.json)["manifest.v1.hash"], "holds");
  assert.equal(f.results(first.json)["certificate.v1.hash"], "holds");
  const folder = f.folderWith(t, { "trust.pem": f.pemOf(f.seal) });
  const both = await f.verify(
    [`${url}/v/room/${codes[1]}`, "--with", `${url}/api/verify/room/${codes[0]}`, "--trust", `${folder}/trust.pem`],
    { fetch },
  );
  assert.equal(both.json.verdict, "verified");
  assert.equal(f.results(both.json)["manifest.v2.link"], "holds");
  const second = `/api/verify/room/${codes[1]}`;
  for (const [change, claim] of [
    [{ manifestSha256: "0".repeat(64) }, "manifest.v2.hash"],
    [{ sealedSha256: "0".repeat(64) }, "certificate.v2.hash"],
    [{ version: 3 }, "manifest.v3.version"],
    [{ chainOk: false }, "service_chain_ok"],
    [{ chainOk: undefined }, "record_readable"],
    [{ manifest: null }, "record_readable"],
    [{ version: null }, "record_readable"],
    [{ manifest: {} }, "record_readable"],
  ] as const) {
    const changed = { ...routes, [second]: { ...(routes[second] as object), ...change } };
    const { json } = await verifyUrl(t, changed, second);
    assert.ok(f.failing(json).includes(claim), `${claim}: ${f.failing(json)}`);
  }
  const { [`${second}/pdf`]: _gone, ...withoutPdf } = routes;
  assert.equal((await verifyUrl(t, withoutPdf, second)).json.verdict, "unsigned");
});

test("distinguishes verify URLs from others, also under a proxy's path", () => {
  assert.deepEqual(parseVerifyUrl(`https://a.example/x/v/room/${code}`), {
    kind: "room",
    base: "https://a.example/x",
    code,
  });
  assert.deepEqual(parseVerifyUrl(`https://a.example/verify/${code}/`), {
    kind: "proof",
    base: "https://a.example",
    code,
  });
  for (const text of [
    "https://a.example/",
    `ftp://a.example${api}`,
    `https://a.example/verify/${code.toUpperCase()}`,
    "x",
  ]) {
    assert.equal(parseVerifyUrl(text), null, text);
  }
});
