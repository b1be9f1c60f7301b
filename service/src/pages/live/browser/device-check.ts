/**
 * Checks the camera, the microphone and the connection of a device. The media server of the session sends the device's
 * own sound and picture back.
 */
import type { Connection } from "./connection.ts";

type Check = {
  media: () => Promise<MediaStream>;
  words: Readonly<Record<string, string>>;
  run: (stream: MediaStream, track: (track: MediaStreamTrack) => void) => Promise<Connection>;
};

const constraints = { audio: true, video: { width: 640, height: 480, frameRate: 20 } };

/** Opens camera and microphone. */
export async function openMedia(): Promise<MediaStream> {
  if (!navigator.mediaDevices) throw new DOMException("", "InsecureError");
  return navigator.mediaDevices.getUserMedia(constraints);
}

/** The cause of a failure, in words that explain the fix. */
export function causeOf(error: unknown, words: Readonly<Record<string, string>>): string {
  const name = error instanceof DOMException ? error.name : "";
  if (name === "InsecureError") return words["insecure"] ?? "";
  if (name === "NotAllowedError") return words["denied"] ?? "";
  if (name === "NotFoundError" || name === "NotReadableError" || name === "OverconstrainedError")
    return words["missing"] ?? "";
  return words["lost"] ?? words["noLine"] ?? "";
}

const trySeconds = 5;
const weakShare = 0.05;
const heardLevel = 0.01;

/**
 * Adds the handlers to the buttons of the device check. Does nothing if the page has no such buttons, or if they
 * already have handlers.
 */
export function startDeviceCheck(check: Check): void {
  const button = document.getElementById("device-start");
  if (!(button instanceof HTMLButtonElement) || button.dataset["bound"]) return;
  button.dataset["bound"] = "yes";
  document.getElementById("device-tone")?.addEventListener("click", () => {
    say(check.words, "toneHint");
    playTone();
  });
  button.addEventListener("click", () => {
    button.disabled = true;
    void tryDevice(check).finally(() => {
      button.disabled = false;
    });
  });
}

/** Shows the text that `words` contains under this name. If there is none, shows the name itself. */
function say(words: Check["words"], name: string): void {
  const statusLine = document.getElementById("device-said");
  if (statusLine) statusLine.textContent = words[name] ?? name;
}

const toneHz = 440;
const toneSeconds = 1.5;

/** Plays a tone, so that the person can hear if the speaker works. A page can't detect that. */
function playTone(): void {
  const context = new AudioContext();
  const tone = new OscillatorNode(context, { frequency: toneHz });
  tone.connect(new GainNode(context, { gain: 0.2 })).connect(context.destination);
  tone.onended = () => void context.close();
  tone.start();
  tone.stop(context.currentTime + toneSeconds);
}

async function tryDevice({ media, words, run }: Check): Promise<void> {
  let stream: MediaStream;
  try {
    stream = await media();
  } catch (error) {
    return say(words, causeOf(error, words));
  }
  const box = document.getElementById("device-check");
  const picture = document.getElementById("device-picture");
  if (box) box.hidden = false;
  if (picture instanceof HTMLVideoElement) {
    picture.srcObject = stream;
    await picture.play().catch(() => {});
  }
  say(words, "running");
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
    if (!isBack || received === 0) say(words, "noLine");
    else if (!level.heard()) say(words, "silent");
    else say(words, isWeak ? "weak" : "good");
  } catch {
    say(words, "noLine");
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
