/** Shows the videos of the people in a room, and finds out which of them still get new frames on this page. */
import { make } from "../../ui/browser/parts.ts";

type Pictures = {
  grid: HTMLElement;
  self: string;
  nameOf: (person: string) => string;
  /** The label of the button that enlarges a picture; undefined on pages without that button. */
  larger: string | undefined;
  /** Called when playback fails, usually because the browser blocks it until the person has tapped. */
  silenced: () => void;
};

/** A picture without a new frame for this long is a still picture. */
const stillMs = 3_000;
const lookMs = 500;

/** @returns functions that show people's tracks, remove them, and report whose video still gets new frames */
export function startPictures({ grid, self, nameOf, larger, silenced }: Pictures) {
  const streams = new Map<string, MediaStream>();
  const frameAt = new Map<string, number>();

  /** The video element of a person, which also plays their sound; each person has one. */
  function tileOf(person: string): HTMLVideoElement {
    const existing = document.getElementById(`picture-${person}`);
    if (existing instanceof HTMLVideoElement) return existing;
    const name = nameOf(person);
    const video = make("video", { id: `picture-${person}`, autoplay: true, playsInline: true, muted: person === self });
    video.setAttribute("aria-label", name);
    const caption = make("figcaption", { textContent: name });
    const figure = make("figure", {}, video, caption);
    if (larger !== undefined) offerLarge(figure, caption, `${larger}: ${name}`);
    grid.append(figure);
    followFrames(person, video);
    return video;
  }

  function offerLarge(figure: HTMLElement, caption: HTMLElement, label: string): void {
    const button = make("button", { type: "button", className: "quiet-button", textContent: larger ?? "" });
    button.setAttribute("aria-label", label);
    button.setAttribute("aria-pressed", "false");
    caption.append(make("span", { className: "form-actions" }, button));
    for (const each of [figure.querySelector("video"), button]) each?.addEventListener("click", () => enlarge(figure));
  }

  /**
   * Enlarges this picture, so that a face can be compared with an identity document. A second call restores the size.
   */
  function enlarge(figure: HTMLElement): void {
    const isLarge = !figure.classList.contains("large");
    for (const each of grid.children) {
      each.classList.toggle("large", each === figure && isLarge);
      each.querySelector("button")?.setAttribute("aria-pressed", String(each === figure && isLarge));
    }
  }

  /**
   * Notes the time of each painted frame. Browsers report none in a hidden tab or while playback is blocked. Firefox
   * before version 132 shows the videos and reports no frames, so the page can't confirm that they move.
   */
  function followFrames(person: string, video: HTMLVideoElement): void {
    video.requestVideoFrameCallback?.((now) => {
      frameAt.set(person, now);
      followFrames(person, video);
    });
  }

  return {
    showOwn(stream: MediaStream): void {
      tileOf(self).srcObject = stream;
    },
    showTrack(person: string, track: MediaStreamTrack): void {
      const stream = streams.get(person) ?? new MediaStream();
      if (stream.getTracks().includes(track)) return;
      for (const each of stream.getTracks()) if (each.kind === track.kind) stream.removeTrack(each);
      stream.addTrack(track);
      streams.set(person, stream);
      const tile = tileOf(person);
      if (tile.srcObject !== stream) tile.srcObject = stream;
      // Some browsers play sound only after a tap.
      tile.play().catch(silenced);
    },
    dropOthers(people: Set<string>): void {
      for (const person of streams.keys())
        if (!people.has(person)) {
          streams.delete(person);
          frameAt.delete(person);
          document.getElementById(`picture-${person}`)?.closest("figure")?.remove();
        }
    },
    clear(): void {
      streams.clear();
      frameAt.clear();
      grid.replaceChildren();
    },
    moves: (person: string): boolean => performance.now() - (frameAt.get(person) ?? Number.NEGATIVE_INFINITY) < stillMs,
  };
}

/**
 * Some steps require the notary to see a person. Enables such a step's form only while that person's picture moves;
 * otherwise shows the reason.
 */
export function startSeeing(within: HTMLElement, moves: (person: string) => boolean): () => void {
  const look = () => {
    const form = within.querySelector<HTMLFormElement>("form[data-sees]");
    const shows = form?.elements.namedItem("shows");
    const button = form?.querySelector("button");
    const why = form?.querySelector<HTMLElement>("[data-unseen]");
    if (!(shows instanceof HTMLInputElement) || !button || !why) return;
    const { sees = "" } = form?.dataset ?? {};
    const isSeen = moves(sees);
    shows.value = isSeen ? sees : "";
    button.disabled = !isSeen;
    why.hidden = isSeen;
  };
  setInterval(look, lookMs);
  return look;
}
