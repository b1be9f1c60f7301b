import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readLogo } from "@signsealship/certificate";
import { needs } from "@signsealship/testing/tools/tools";
import { brokenRules } from "@signsealship/testing/tools/verapdf";
import { openCertificates } from "../../../src/closing/closing-passports/certificate/certificate.ts";
import { encodePng } from "../../../src/signing/envelopes/envelopes.ts";
import { certificateContent } from "./certificate-content.ts";
import { textOf, withPdf } from "./seal-room.ts";

const draw = openCertificates();
const [width, height] = [60, 20];

/** A picture that is red on the left and blue on the right. @param alpha the opacity of the right half */
function logo(alpha: number): Buffer {
  const rgba = Buffer.alloc(width * height * 4);
  for (let pixel = 0; pixel < width * height; pixel++) {
    const isLeft = pixel % width < width / 2;
    rgba.set(isLeft ? [200, 0, 0, 255] : [0, 0, 200, alpha], pixel * 4);
  }
  return encodePng({ width, height, rgba });
}

const certificate = (png: Uint8Array | null): Promise<Buffer> => {
  const content = certificateContent(["Deed of trust"]);
  return draw({ ...content, firm: { ...content.firm, logo: png } });
};

test("a certificate with the firm's logo, opaque or not, is PDF/A-3a and PDF/UA-1", needs("verapdf"), async () => {
  const files = { opaque: await certificate(logo(255)), clear: await certificate(logo(90)) };
  assert.deepEqual(brokenRules(files), []);
});

test("the file contains the logo's pixels unchanged, under the name of the firm", needs("poppler"), async () => {
  const file = await certificate(logo(90));
  const list = withPdf(file, (run) => run("pdfimages", "-list", "certificate.pdf"));
  assert.match(list, /image\s+60\s+20\s+rgb\s+3\s+8/);
  assert.match(list, /smask\s+60\s+20\s+gray\s+1\s+8/);
  withPdf(file, (run, folder) => {
    run("pdfimages", "certificate.pdf", "logo");
    const pixels = readFileSync(join(folder, "logo-000.ppm")).subarray(-width * height * 3);
    assert.deepEqual([...pixels.subarray(0, 3)], [200, 0, 0]);
    assert.deepEqual([...pixels.subarray(-3)], [0, 0, 200]);
  });
  assert.match(
    withPdf(file, (run) => run("pdfinfo", "-struct-text", "certificate.pdf")),
    /Figure/,
  );
  assert.ok(file.includes("/Alt(Logo of Acme Title & Escrow)"));
});

test(
  "any other data given as a logo is left out, and the certificate is drawn without it",
  needs("poppler"),
  async () => {
    const whole = logo(255);
    const spoilt = Buffer.from(whole);
    spoilt.fill(0, 45, 55);
    const palette = Buffer.from(whole);
    palette[25] = 3;
    const huge = Buffer.from(whole);
    huge.writeUInt32BE(65_535, 16);
    for (const png of [Buffer.alloc(0), Buffer.from("<svg/>"), whole.subarray(0, 60), spoilt, palette, huge]) {
      assert.equal(readLogo(png), null);
      const file = await certificate(png);
      assert.ok(!file.includes("/Subtype/Image"));
      assert.match(textOf(file), /Acme Title & Escrow/);
    }
    assert.deepEqual(await certificate(null), await certificate(Buffer.alloc(0)));
  },
);
