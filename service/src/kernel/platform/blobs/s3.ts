import { Readable } from "node:stream";
import type { S3Client } from "@aws-sdk/client-s3";
import { minuteMs } from "../clock.ts";
import { StartupError } from "../errors.ts";
import { newCode } from "../ids.ts";
import { timeLimit } from "../stopwatch.ts";
import type { BlobBackend, BlobPart } from "./backend.ts";

type Location = { bucket: string; prefix: string; region: string; endpoint: string | null };

/** Parses `s3://bucket/prefix?region=..&endpoint=..`. @throws StartupError when the bucket is missing. */
function s3Location(url: string): Location {
  const { hostname, pathname, searchParams } = new URL(url);
  if (!hostname) throw new StartupError("BLOB_URL must be s3://bucket/prefix; the bucket is missing");
  const prefix = pathname.replace(/^\/+|\/+$/g, "");
  return {
    bucket: hostname,
    prefix: prefix && `${prefix}/`,
    region: searchParams.get("region") ?? "us-east-1",
    endpoint: searchParams.get("endpoint"),
  };
}

/**
 * After a successful write, `probe` doesn't write again for this long. Readiness is checked every few seconds, and
 * stores bill each write.
 */
const writeProbeMs = 5 * minuteMs;

const isMissing = (error: unknown): boolean =>
  error instanceof Error && (error.name === "NoSuchKey" || error.name === "NotFound");

/** Blobs as objects of an S3 bucket; credentials come from the SDK's usual chain (environment, profile, instance role). */
export async function s3Backend(url: string): Promise<BlobBackend> {
  const sdk = await import("@aws-sdk/client-s3");
  const { bucket, prefix, region, endpoint } = s3Location(url);
  const client: S3Client = new sdk.S3Client({
    region,
    ...(endpoint ? { endpoint, forcePathStyle: true } : {}),
    requestHandler: { connectionTimeout: 5_000, socketTimeout: 30_000 },
    // Turns off the SDK's streaming checksums. Some S3-compatible stores don't support them and would store corrupt
    // bodies.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  let isWriteDue = () => true;
  const probeKey = `probe/${newCode()}`;
  const at = (key: string) => ({ Bucket: bucket, Key: prefix + key });
  const write: BlobBackend["write"] = async (key, pieces, length, abortSignal) => {
    // S3 makes an object visible, or replaces the old one, only once the upload is complete and durable.
    const Body = Readable.from(pieces, { objectMode: false });
    await client.send(new sdk.PutObjectCommand({ ...at(key), Body, ContentLength: length }), { abortSignal });
  };
  const get = async (key: string, range: { Range?: string }, abortSignal: AbortSignal): Promise<BlobPart | null> => {
    try {
      const { Body, ContentRange = "" } = await client.send(new sdk.GetObjectCommand({ ...at(key), ...range }), {
        abortSignal,
      });
      const read = await Body?.transformToByteArray();
      if (!read) return null;
      const bytes = Buffer.from(read.buffer, read.byteOffset, read.length);
      // Without a `ContentRange`, the response is the whole blob: some stores don't support ranges.
      return { bytes, total: Number(/\/(\d+)$/.exec(ContentRange)?.[1] ?? bytes.length) };
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  };
  return {
    write,
    replace: write,
    read: async (key, abortSignal) => (await get(key, {}, abortSignal))?.bytes ?? null,
    readPart: (key, start, length, abortSignal) =>
      get(key, { Range: `bytes=${start}-${start + length - 1}` }, abortSignal),
    async remove(key, abortSignal) {
      await client.send(new sdk.DeleteObjectCommand(at(key)), { abortSignal });
    },
    async *listOlderThan(instant) {
      const pages = sdk.paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: prefix });
      for await (const { Contents = [] } of pages) {
        const old = Contents.filter(({ LastModified }) => LastModified !== undefined && LastModified < instant);
        yield old.map(({ Key = "" }) => Key.slice(prefix.length));
      }
    },
    async probe(abortSignal) {
      await client.send(new sdk.HeadBucketCommand({ Bucket: bucket }), { abortSignal });
      if (!isWriteDue()) return;
      // A credential may be allowed to read and not to write. If the process ends before the object is removed, the
      // sweep of orphans removes it.
      await client.send(new sdk.PutObjectCommand({ ...at(probeKey), Body: "probe" }), { abortSignal });
      await client.send(new sdk.DeleteObjectCommand(at(probeKey)), { abortSignal });
      isWriteDue = timeLimit(writeProbeMs);
    },
  };
}
