import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "@signsealship/testing/until";
import { CipherContext, DtlsClient, DtlsServer, type Transport } from "werift";
import { guardDtls } from "../../../src/providers/media/engine/guarded-dtls.ts";

guardDtls();

/**
 * The two connected ends of a transport. @param copies how often each flight arrives; more than once simulates
 * retransmissions
 */
function line(copies: number) {
  const end = () => ({ type: "test", closed: false, close: async () => {} }) as unknown as Transport;
  const [client, server] = [end(), end()];
  /** @returns the sent messages */
  const wire = (from: Transport, to: Transport): Buffer[] => {
    const sent: Buffer[] = [];
    let arrived = 0;
    const deliver = () => {
      const flight = sent.slice(arrived);
      arrived = sent.length;
      for (let copy = 0; copy < copies; copy++) for (const each of flight) to.onData?.(Buffer.from(each), ["", 0]);
    };
    from.send = async (data) => {
      if (sent.push(Buffer.from(data)) === arrived + 1) setImmediate(deliver);
    };
    return sent;
  };
  wire(server, client);
  return { client, server, sent: wire(client, server) };
}

async function connected(copies: number) {
  const { certPem, keyPem, signatureHash } = await CipherContext.createSelfSignedCertificateWithKey(
    { signature: 3, hash: 4 },
    23,
  );
  const { client: clientEnd, server: serverEnd, sent } = line(copies);
  const common = { cert: certPem, key: keyPem, signatureHash, extendedMasterSecret: true, srtpProfiles: [7] };
  const server = new DtlsServer({ ...common, transport: serverEnd, certificateRequest: true } as never);
  const client = new DtlsClient({ ...common, transport: clientEnd } as never);
  await client.connect();
  await until(() => client.connected && server.connected);
  return { client, server, sent, serverEnd };
}

test("a handshake is completed, with the same keys at both ends, although each flight arrives twice or three times", async () => {
  for (const copies of [1, 2, 3]) {
    const { client, server } = await connected(copies);
    const got: string[] = [];
    server.onData.subscribe((data) => got.push(data.toString()));
    await client.send(Buffer.from("hello"));
    await until(() => got.length > 0);
    assert.equal(got[0], "hello");
    assert.deepEqual(client.cipher.masterSecret, server.cipher.masterSecret);
  }
});

test("a hello that comes late does not make the server forget its keys", async () => {
  const { client, server, sent, serverEnd } = await connected(1);
  const secret = server.cipher.masterSecret;
  for (const hello of sent.slice(0, 2)) serverEnd.onData?.(Buffer.from(hello), ["", 0]);
  assert.equal(server.connected, true);
  assert.equal(server.cipher.masterSecret, secret);
  const got: string[] = [];
  server.onData.subscribe((data) => got.push(data.toString()));
  await client.send(Buffer.from("still here"));
  await until(() => got.includes("still here"));
});
