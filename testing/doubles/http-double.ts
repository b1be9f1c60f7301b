import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A small HTTP server on loopback for a double. */
export type HttpDouble = {
  /** `http://127.0.0.1:PORT`, without a trailing slash. */
  readonly url: string;
  /** Stops listening and closes open connections. */
  readonly close: () => Promise<void>;
};

/**
 * Starts the server. A handler that throws answers 500 with the message, so that a fault in a double shows up in the
 * test.
 */
export async function startHttpDouble(
  handle: (request: IncomingMessage, body: Buffer, response: ServerResponse) => void | Promise<void>,
): Promise<HttpDouble> {
  const server = createServer(async (request, response) => {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      await handle(request, Buffer.concat(chunks), response);
    } catch (error) {
      if (!response.headersSent) response.writeHead(500);
      response.end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
