import { openCertificates } from "./certificate.ts";
import type { CertificateContent } from "./content.ts";

const draw = openCertificates();

export const run = (_: Buffer, content: CertificateContent): Promise<Buffer> => draw(content);
