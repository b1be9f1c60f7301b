/**
 * The script of a device check on a page outside of rooms. It closes the connection and the camera after each check.
 */
import { part } from "../../ui/browser/parts.ts";
import { type Connection, connect, type Receive, type ServerMessage } from "./connection.ts";
import { openMedia, startDeviceCheck } from "./device-check.ts";

const { base = "", words = "{}" } = part("own-device").dataset;

/**
 * Opens the stream of the server's messages.
 * @throws Error when the server refuses it
 */
function listen(at: string, receive: Receive): Promise<EventSource> {
  const events = new EventSource(`${base}/events${at}`);
  events.onmessage = ({ data }) => {
    const { kind, message } = JSON.parse(data as string) as { kind: string; message: ServerMessage };
    if (kind === "message") receive(message);
  };
  return new Promise((done, fail) => {
    events.onopen = () => done(events);
    events.onerror = () => {
      // Without this, the browser would reconnect in an endless loop after the device check has ended.
      events.close();
      fail(new Error("the stream of messages has ended"));
    };
  });
}

async function run(stream: MediaStream, track: (track: MediaStreamTrack) => void): Promise<Connection> {
  let events: EventSource | undefined;
  const end = () => {
    events?.close();
    for (const each of stream.getTracks()) each.stop();
    part("device-check").hidden = true;
  };
  try {
    const connection = await connect(base, "check", stream, {
      async ready(receive, at) {
        events = await listen(at, receive);
      },
      track: (_, come) => track(come),
      gone: () => {},
      failed: () => {},
    });
    return {
      ...connection,
      close() {
        connection.close();
        end();
      },
    };
  } catch (error) {
    end();
    throw error;
  }
}

startDeviceCheck({ media: openMedia, words: JSON.parse(words) as Record<string, string>, run });
