import {
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
import { chainList, checkSteps } from "./chain.ts";
import type { CertificateContent } from "./content.ts";
import { coverageLists } from "./coverage.ts";
import { documentList } from "./documents.ts";
import { title } from "./frame.ts";
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
      content.partnerName,
      ...documents.map(({ label }) => label),
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
  summary(sheets, flow, content);
  documentList(flow, content.manifest.documents);
  coverageLists(flow, content.manifest.coverage);
  chainList(flow, content.chain);
  manualChecks(flow, checkSteps(content.manifestSha256), "manifest");
  const { roomName, version, generatedAtUtc } = content.manifest.passport;
  pageFeet(sheets, typeset, `Closing Passport, version ${version}. Verify code ${content.verifyCode}`);
  return certificateFile(sheets, {
    title: `Closing Passport, version ${version}: ${roomName}`,
    at: new Date(generatedAtUtc),
    attached: {
      name: "manifest.json",
      description: "Canonical manifest of the Closing Passport",
      bytes: content.manifestBytes,
    },
  });
}
