import { appendRevision } from "../../../seal/signed-pdf.ts";
import { edited, metadata, OBJECT, stream } from "../document.ts";
import { ALL, type Honest, sizeOf, update } from "./update.ts";

const VRI = "0123456789ABCDEF0123456789ABCDEF01234567";
export function withStore(signed: string): string {
  const number = sizeOf(signed);
  return appendRevision(signed, [
    [number, stream("certificate")],
    [number + 1, stream("crl")],
    [
      number + 2,
      `<< /Type /DSS /Certs [${number} 0 R] /CRLs [${number + 1} 0 R] /VRI << /${VRI} << /Cert [${number} 0 R] /TU (D:20260101000000Z) >> >> >>`,
    ],
    edited(signed, OBJECT.catalog, / >>$/, ` /DSS ${number + 2} 0 R >>`),
  ]);
}

export const validation: readonly Honest[] = [
  { name: "a security store", permitted: ALL, make: withStore },
  {
    name: "a security store, and more of it",
    permitted: ALL,
    make: (signed) => {
      const once = withStore(signed);
      const number = sizeOf(once);
      return appendRevision(once, [
        [number, stream("ocsp")],
        edited(once, number - 1, / >>$/, ` /OCSPs [${number} 0 R] >>`),
      ]);
    },
  },
  update("metadata rewritten", ALL, () => [
    [OBJECT.metadata, metadata('<x:xmpmeta xmlns:x="adobe:ns:meta/"><a>2</a></x:xmpmeta>')],
  ]),
  update("metadata in a new object", ALL, (signed) => [
    [sizeOf(signed), metadata('<x:xmpmeta xmlns:x="adobe:ns:meta/"><a>2</a></x:xmpmeta>')],
    edited(signed, OBJECT.catalog, "/Metadata 4 0 R", `/Metadata ${sizeOf(signed)} 0 R`),
  ]),
  {
    name: "information rewritten",
    permitted: ALL,
    make: (signed) =>
      appendRevision(signed, [[OBJECT.info, "<< /Title (Contract) /ModDate (D:20260301000000Z) >>"]], " /Info 13 0 R"),
  },
  update("metadata of a document to which another is attached", ALL, () => [[OBJECT.metadata, metadata()]], {
    prepared: {
      metadata: metadata('<x:xmpmeta xmlns:x="adobe:ns:meta/"><a>2</a></x:xmpmeta>'),
      catalog:
        "<< /Type /Catalog /Pages 2 0 R /AcroForm 3 0 R /Metadata 4 0 R /Names << /EmbeddedFiles << /Names [(a) << /EF << /F 44 0 R >> >>] >> >> >>",
      orphan: stream("7 0 obj\n<< >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n", "/Type /EmbeddedFile"),
    },
  }),
  update("extensions named", ALL, (signed) => [
    edited(
      signed,
      OBJECT.catalog,
      / >>$/,
      " /Extensions << /ESIC << /BaseVersion /1.7 /ExtensionLevel 5 >> >> /Version /2.0 >>",
    ),
  ]),
];
