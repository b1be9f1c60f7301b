/**
 * A check of camera, microphone and connection. It uses the same media server as the session, which sends the device's
 * own media back.
 */
import type { Connection } from "./connection.ts";

type Check = {
  media: () => Promise<MediaStream>;
  causeOf: (error: unknown) => string;
  words: Readonly<Record<string, string>>;
  run: (stream: MediaStream, track: (track: MediaStreamTrack) => void) => Promise<Connection>;
};

const trySeconds = 5;
const weakShare = 0.05;
const heardLevel = 0.01;

/** Binds the button of the card, if the page has one that is not bound yet. */
export function startDeviceCheck(check: Check): void {
  const button = document.getElementById("device-start");
  if (!(button instanceof HTMLButtonElement) || button.dataset["bound"]) return;
  button.dataset["bound"] = "yes";
  button.addEventListener("click", () => {
    button.disabled = true;
    void tryDevice(check).finally(() => {
      button.disabled = false;
    });
  });
}

async function tryDevice({ media, causeOf, words, run }: Check): Promise<void> {
  const say = (name: string | undefined) => {
    const said = document.getElementById("device-said");
    if (said) said.textContent = (name && words[name]) ?? name ?? "";
  };
  let stream: MediaStream;
  try {
    stream = await media();
  } catch (error) {
    return say(causeOf(error));
  }
  const box = document.getElementById("device-check");
  const picture = document.getElementById("device-picture");
  if (box) box.hidden = false;
  if (picture instanceof HTMLVideoElement) {
    picture.srcObject = stream;
    await picture.play().catch(() => {});
  }
  say("running");
  const level = watchLevel(stream);
  let connection: Connection | null = null;
  try {
    let isBack = false;
    connection = await run(stream, () => {
      isBack = true;
    });
    await new Promise((done) => setTimeout(done, trySeconds * 1000));
    const { lost, received } = await connection.stats();
    const isWeak = lost / Math.max(1, lost + received) > weakShare;
    say(!isBack || received === 0 ? "noLine" : level.heard() ? (isWeak ? "weak" : "good") : "silent");
  } catch {
    say("noLine");
  } finally {
    connection?.close();
    level.stop();
  }
}

function watchLevel(stream: MediaStream): { heard: () => boolean; stop: () => void } {
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  context.createMediaStreamSource(stream).connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  let most = 0;
  const timer = window.setInterval(() => {
    analyser.getFloatTimeDomainData(samples);
    const now = Math.sqrt(samples.reduce((sum, value) => sum + value * value, 0) / samples.length);
    most = Math.max(most, now);
    const meter = document.getElementById("device-level");
    if (meter instanceof HTMLMeterElement) meter.value = Math.min(1, now * 6);
  }, 100);
  return {
    heard: () => most > heardLevel,
    stop() {
      clearInterval(timer);
      void context.close();
    },
  };
}
