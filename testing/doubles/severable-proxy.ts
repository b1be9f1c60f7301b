import { connect, createServer, type Server, type Socket } from "node:net";
import { freePort } from "../free-port.ts";

/** A TCP proxy on loopback whose connections can be cut, to simulate failures of a network or server. */
export type SeverableProxy = {
  readonly port: number;
  /** Closes every connection, and refuses new ones. */
  sever: () => Promise<void>;
  /** Closes every connection; new ones are accepted. */
  cut: () => void;
  /** Keeps connections open without passing data, like a server's machine that has lost power. */
  silence: () => void;
  /** Accepts connections again. */
  restore: () => Promise<void>;
  /** Routes new connections to another server, as a virtual IP address does when it moves. */
  redirect: (target: Target) => void;
};

/** The path of a Unix socket, or a local port. */
type Target = string | number;

export async function startSeverableProxy(first: Target): Promise<SeverableProxy> {
  const port = await freePort();
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let target = first;

  function pipe(client: Socket): void {
    const upstream = typeof target === "string" ? connect(target) : connect(target, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // An error is expected when the test cuts the connection.
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream).pipe(client);
  }

  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const proxy: SeverableProxy = {
    port,
    cut,
    redirect(next) {
      target = next;
    },
    silence() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    async sever() {
      const closed = new Promise((resolve) => server?.close(resolve));
      cut();
      await closed;
    },
    async restore() {
      server = createServer(pipe);
      await new Promise<void>((resolve) => server?.listen(port, "127.0.0.1", resolve));
    },
  };
  await proxy.restore();
  return proxy;
}
