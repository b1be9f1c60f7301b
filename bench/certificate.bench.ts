import { createHash } from "node:crypto";
import { buildManifest, manifestBytes } from "@signsealship/evidence/manifest";
import { openCertificates } from "../service/src/closing/closing-passports/certificate/certificate.ts";
import { atMost, type Result } from "./result.ts";

const rounds = 3;
const [orders, characters] = [50, 200];

/** A room with labels of maximum length, made of the code points from `first` to `first + span`. */
function contentOf(first: number, span: number) {
  const label = (order: number) =>
    String.fromCodePoint(
      ...Array.from({ length: characters }, (_, at) => first + ((order * characters + at * 37) % span)),
    );
  const documents = Array.from({ length: orders }, (_, order) => ({
    orderCode: order.toString(16).padStart(40, "0"),
    label: label(order),
    status: "Draft",
  }));
  const room = { roomCode: "a".repeat(40), roomName: "12 Elm Street", reference: null };
  const manifest = buildManifest({
    ...room,
    version: 1,
    prevManifestSha256: null,
    generatedAt: new Date(0),
    documents,
  });
  const bytes = manifestBytes(manifest);
  const manifestSha256 = createHash("sha256").update(bytes).digest("hex");
  return {
    manifest,
    manifestBytes: bytes,
    manifestSha256,
    environment: "test" as const,
    firm: { name: "Acme Title", brandName: null, accentColor: null, logo: null },
    details: {},
    issuer: { url: "https://seal.example", certificate: "CN=Seal", fingerprint: manifestSha256 },
    timeStamp: null,
    checkpoint: null,
    verifyCode: "b".repeat(26),
    verifyUrl: "https://seal.example/v/room/b",
    chain: [{ version: 1, manifestSha256, createdAt: new Date(0) }],
  };
}

/**
 * CPU time of drawing a room's certificate. Fifty labels with ten thousand different Chinese characters are compared
 * with labels in Latin letters.
 */
export async function run(): Promise<Result[]> {
  const draw = openCertificates();
  const chinese = contentOf(0x4e00, 20_000);
  const latin = contentOf(0x61, 26);
  const cpuMs = async (content: ReturnType<typeof contentOf>): Promise<number> => {
    const before = process.cpuUsage();
    await draw(content);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  await cpuMs(latin);
  // The first drawing in Chinese is measured separately, because it also loads the Chinese fonts.
  const first = await cpuMs(chinese);
  const [ours, other]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    ours.push(await cpuMs(chinese));
    other.push(await cpuMs(latin));
  }
  return [
    atMost("certificate, 50 Chinese labels", ours, other, "ms CPU", 6),
    atMost("certificate, 50 Chinese labels, fonts read", [first], other, "ms CPU", 10),
  ];
}
