export { type Certificate, parseCertificate, serialNumberText } from "./certificate.ts";
export { certifiedName } from "./certified-name.ts";
export { commonNameOf, nameText } from "./name.ts";
export { encodePem, parseCertificatesPem } from "./pem.ts";
export { type CertificateFault, issuerFault, leafFault } from "./usage.ts";
