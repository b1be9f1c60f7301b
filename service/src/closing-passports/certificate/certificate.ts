import {
  type Attached,
  certificateFile,
  createFlow,
  createSheets,
  createTypeset,
  type Faces,
  manualChecks,
  openFaces,
  pageFeet,
  type Typeset,
} from "@signsealship/certificate";
import { chainList, checkSteps, codesNote } from "./chain.ts";
import { type CertificateContent, documentName } from "./content.ts";
import { coverageLists } from "./coverage.ts";
import { documentList } from "./documents.ts";
import { certification, title } from "./frame.ts";
import { summary } from "./summary.ts";

export type { CertificateContent } from "./content.ts";

/** The drawing of certificates; fonts are read when first needed. Equal contents give equal bytes. */
export function openCertificates(): (content: CertificateContent) => Promise<Buffer> {
  let opening: Promise<Faces> | undefined;
  return async (content) => {
    opening ??= openFaces();
    const faces = await opening;
    const { passport, documents } = content.manifest;
    const written = [
      passport.roomName,
      passport.reference,
      content.firm.name,
      content.firm.brandName,
      content.issuer.certificate,
      content.timeStamp?.name ?? null,
      ...documents.map(({ label, orderCode }) => documentName(label, content.details[orderCode])),
      ...Object.values(content.details).flatMap(({ signers }) => signers.map(({ name }) => name)),
    ];
    for (const text of written) if (text !== null) await faces.prepare(text);
    return draw(createTypeset(faces), content);
  };
}

function draw(typeset: Typeset, content: CertificateContent): Buffer {
  const sheets = createSheets();
  const flow = createFlow(sheets, typeset);
  sheets.newPage();
  title(sheets, flow, typeset, content);
  certification(sheets, flow, typeset, content);
  summary(flow, content);
  documentList(flow, content);
  coverageLists(flow, content.manifest.coverage);
  chainList(flow, content.chain);
  manualChecks(flow, checkSteps(content), { attached: "manifest.json", verifyUrl: content.verifyUrl });
  codesNote(flow);
  const { roomName, version, generatedAtUtc } = content.manifest.passport;
  pageFeet(sheets, typeset, `Closing Passport, version ${version}. Verify code ${content.verifyCode}`);
  return certificateFile(sheets, {
    title: `Closing Passport, version ${version}: ${roomName}`,
    at: new Date(generatedAtUtc),
    attached: attachments(content),
  });
}

/** In the order of their names. */
function attachments({ manifestBytes, timeStamp }: CertificateContent): Attached[] {
  const description = "Canonical manifest of the Closing Passport";
  const manifest = { name: "manifest.json", description, bytes: manifestBytes };
  if (!timeStamp) return [manifest];
  const stamp = {
    name: "manifest.tst",
    description: "RFC 3161 time-stamp token of manifest.json",
    bytes: timeStamp.token,
  };
  return [manifest, { ...stamp, media: "application/timestamp-token" }];
}
