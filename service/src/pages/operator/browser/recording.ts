// Plays the takes (the separate files) of a recording together: one timeline for all takes, jumps to marks, and a
// choice of speed. Without JavaScript each take plays separately.
const player = document.querySelector<HTMLElement>("[data-recording]");
/** A take jumps to the timeline's position when it is off by more than this many seconds (at normal speed). */
const farSeconds = 0.3;
const tickMs = 250;

type Take = { figure: HTMLElement; media: HTMLMediaElement; from: number; length: number };

if (player) {
  const one = <T extends HTMLElement>(selector: string): T => {
    const found = player.querySelector<T>(selector);
    if (!found) throw new Error(`${selector} is missing`);
    return found;
  };
  const controls = one("[data-controls]");
  const toggle = one<HTMLButtonElement>("[data-toggle]");
  const line = one<HTMLInputElement>("input[type=range]");
  const speed = one<HTMLSelectElement>("select");
  const shown = one("output");
  const takes: Take[] = [...player.querySelectorAll<HTMLElement>("figure")].flatMap((figure) => {
    const media = figure.querySelector<HTMLMediaElement>("video, audio");
    const { fromMs, lengthMs } = figure.dataset;
    return media ? [{ figure, media, from: Number(fromMs) / 1000, length: Number(lengthMs) / 1000 }] : [];
  });
  const length = Number(line.max);
  let isPlaying = false;
  let at = 0;
  let lastTick = performance.now();

  const two = (count: number) => String(Math.floor(count)).padStart(2, "0");

  function place(isJump: boolean): void {
    line.value = String(at);
    shown.textContent = `${two(at / 60)}:${two(at % 60)}`;
    for (const { figure, media, from, length: own } of takes) {
      const wanted = at - from;
      const isHere = wanted >= 0 && wanted < own;
      figure.toggleAttribute("data-away", !isHere);
      if (isHere && (isJump || Math.abs(media.currentTime - wanted) > farSeconds * media.playbackRate))
        media.currentTime = wanted;
      if (isHere && isPlaying && media.paused) media.play().catch(() => {});
      if ((!isHere || !isPlaying) && !media.paused) media.pause();
    }
  }

  function setPlaying(value: boolean): void {
    isPlaying = value;
    lastTick = performance.now();
    toggle.textContent = toggle.getAttribute(value ? "data-pause" : "data-play");
    place(false);
  }

  function jump(to: number): void {
    at = Math.min(Math.max(0, to), length);
    place(true);
  }

  setInterval(() => {
    const now = performance.now();
    const passed = ((now - lastTick) / 1000) * Number(speed.value);
    lastTick = now;
    if (!isPlaying) return;
    at = Math.min(length, at + passed);
    if (at >= length) setPlaying(false);
    else place(false);
  }, tickMs);

  toggle.addEventListener("click", () => {
    if (!isPlaying && at >= length) at = 0;
    setPlaying(!isPlaying);
  });
  line.addEventListener("input", () => jump(Number(line.value)));
  speed.addEventListener("change", () => {
    for (const { media } of takes) media.playbackRate = Number(speed.value);
  });
  player.addEventListener("click", ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLElement>("[data-mark-ms]") : null;
    if (button) jump(Number(button.dataset["markMs"]) / 1000);
  });
  controls.hidden = false;
  place(true);
}
