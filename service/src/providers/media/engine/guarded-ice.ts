/**
 * Guards for the ICE agent of werift 0.25.2. The agent answers any Binding request and trusts its content without
 * checking MESSAGE-INTEGRITY, which RFC 8445 section 7.3 requires. So requests without a valid MESSAGE-INTEGRITY are
 * dropped before they reach the agent.
 */
import { Connection, type Message, parseMessage, TcpPassiveProtocol } from "werift";

type Address = readonly [host: string, port: number];
type Listener = (message: Message, address: Address, data: Buffer) => void;
type Protocol = { onRequestReceived: { execute: Listener } };
type Agent = Pick<Connection, "checkList" | "userHistory" | "nominated"> & {
  ensureProtocol: (protocol: Protocol) => void;
};

/**
 * The most candidate pairs of a connection. Only the peer's own requests add candidates; a device has fewer than ten.
 */
const maxPairs = 40;

let guarded = false;

/** Installs the guards. Call this once per process, before the first connection. */
export function guardIce(): void {
  if (guarded) return;
  guarded = true;
  const agent = Connection.prototype as unknown as Agent;
  const ensure = agent.ensureProtocol;
  agent.ensureProtocol = function (this: Agent, protocol: Protocol): void {
    const { onRequestReceived } = protocol;
    const execute = onRequestReceived.execute;
    onRequestReceived.execute = (message, address, data) => {
      if (!isAuthentic(this, message, data)) return;
      if (this.checkList.length >= maxPairs && !pairAt(this, protocol, address)) return;
      execute(message, address, data);
      if (message.attributesKeys.includes("USE-CANDIDATE")) follow(this, protocol, address);
    };
    ensure.call(this, protocol);
  };
  listenEverywhere();
}

/** Listens on all addresses, because the announced address may belong to a router in front of this machine. */
function listenEverywhere(): void {
  const original = TcpPassiveProtocol.prototype.connectionMade;
  TcpPassiveProtocol.prototype.connectionMade = function (localIp, portRange) {
    return original.call(this, localIp.includes(":") ? "::" : "0.0.0.0", portRange);
  };
}

function isAuthentic(agent: Agent, message: Message, data: Buffer): boolean {
  const username = message.attributesKeys.includes("USERNAME") ? String(message.getAttributeValue("USERNAME")) : "";
  const password = Object.hasOwn(agent.userHistory, localPart(username))
    ? agent.userHistory[localPart(username)]
    : undefined;
  return password !== undefined && parseMessage(data, Buffer.from(password)) !== undefined;
}

const localPart = (username: string): string => username.split(":", 1)[0] ?? "";

const pairAt = ({ checkList }: Agent, protocol: Protocol, [host, port]: Address) =>
  checkList.find(
    ({ protocol: own, remoteCandidate }) =>
      (own as unknown) === protocol && remoteCandidate.host === host && remoteCandidate.port === port,
  );

/**
 * Uses the browser's latest nominated candidate. The agent would stay with the first one, even after a phone has
 * changed its network.
 */
function follow(agent: Agent, protocol: Protocol, address: Address): void {
  const pair = pairAt(agent, protocol, address);
  if (pair && agent.nominated && agent.nominated !== pair) agent.nominated = pair;
}
