/**
 * Guards for the ICE agent of werift 0.25.2. It answers any Binding request and trusts its content, without looking at
 * MESSAGE-INTEGRITY, which RFC 8445 section 7.3 asks for. Here a request without the password of the session description is
 * dropped before the agent sees it: no answer, no candidate, no state.
 */
import { Connection, type Message, parseMessage, TcpPassiveProtocol } from "werift";

type Address = readonly [host: string, port: number];
type Listener = (message: Message, address: Address, data: Buffer) => void;
type Protocol = { onRequestReceived: { execute: Listener } };
type Agent = Pick<Connection, "checkList" | "userHistory" | "nominated"> & {
  ensureProtocol: (protocol: Protocol) => void;
};

/** Candidates of the other side are only ever added by its own requests; a device has a handful. */
const mostPairs = 40;

let guarded = false;

/** Call once in the process, before the first connection. */
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
      if (this.checkList.length >= mostPairs && !pairAt(this, protocol, address)) return;
      execute(message, address, data);
      if (message.attributesKeys.includes("USE-CANDIDATE")) follow(this, protocol, address);
    };
    ensure.call(this, protocol);
  };
  listenEverywhere();
}

/** The announced address may be that of a router in front of this machine, where nothing can listen. */
function listenEverywhere(): void {
  const made = TcpPassiveProtocol.prototype.connectionMade;
  TcpPassiveProtocol.prototype.connectionMade = function (localIp, portRange) {
    return made.call(this, localIp.includes(":") ? "::" : "0.0.0.0", portRange);
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

/** The browser's latest nomination counts: the agent would stay with the first, also when a phone changes its network. */
function follow(agent: Agent, protocol: Protocol, address: Address): void {
  const pair = pairAt(agent, protocol, address);
  if (pair && agent.nominated && agent.nominated !== pair) agent.nominated = pair;
}
