/** The pictures of the people in a room, and which of them move on this page. */
import { make } from "../../ui/browser/parts.ts";

type Pictures = {
  grid: HTMLElement;
  self: string;
  nameOf: (person: string) => string;
  /** The word of the button that shows a picture large; undefined on pages without that button. */
  larger: string | undefined;
  /** Called when the browser plays nothing before the person has tapped. */
  silenced: () => void;
};

/** After this time without a new frame, a picture stands still. */
const stillMs = 3_000;
const lookMs = 500;

/** @returns functions that show people's tracks, remove them, and report whose pictures move */
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
   * Shows this picture large and the others small, to compare a face with a credential; shows a large one small again.
   */
  function enlarge(figure: HTMLElement): void {
    const isLarge = !figure.classList.contains("large");
    for (const each of grid.children) {
      each.classList.toggle("large", each === figure && isLarge);
      each.querySelector("button")?.setAttribute("aria-pressed", String(each === figure && isLarge));
    }
  }

  /**
   * The browser calls back for each frame that it paints: for none in a hidden tab, nor while it plays nothing. Firefox
   * has this since version 132; in an earlier one everybody is seen, but the page counts as one without pictures.
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

/** Opens the form of a step in which the notary sees somebody while their picture moves, and says why it is closed. */
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
