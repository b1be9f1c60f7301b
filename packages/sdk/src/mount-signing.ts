/** A message of the signing page in the frame. It names no person, no document and no credential. */
export type EmbedEvent =
  | { type: "ready" | "viewed" | "signed" | "declined" | "closed"; signer?: number }
  /** `used`, `expired`, `voided`, `locked`, or `hidden`: the signer can't see enough of the page. The list can grow. */
  | { type: "error"; code: string; signer?: number };

export type MountOptions = {
  /** The `url` of `orders.embedSigner`: a new one each time. */
  url: string;
  /** The element that the frame is put into. */
  container: Element;
  /** `signed` is a hint: confirm it with the API, or by the event `signature.signed`. */
  onEvent: (event: EmbedEvent) => void;
  /** The name of the frame for screen readers. Default "Sign the document". */
  title?: string | undefined;
};

export type MountedSigning = {
  readonly frame: HTMLIFrameElement;
  /** Removes the frame. Nothing is told after that. */
  close: () => void;
};

/**
 * Puts the signing page into a page of yours, whose origin is registered. For browsers. The page scrolls by itself: give
 * the container a height.
 * @returns the frame, and what takes it away
 */
export function mountSigning({ url, container, onEvent, title = "Sign the document" }: MountOptions): MountedSigning {
  const { origin } = new URL(url);
  const frame = document.createElement("iframe");
  frame.title = title;
  frame.src = url;
  frame.referrerPolicy = "no-referrer";
  // Forms and scripts of its own origin, downloads, and the link to a tab of its own; it can't move the page around it.
  frame.sandbox.add(
    ...["allow-scripts", "allow-forms", "allow-same-origin", "allow-downloads", "allow-popups"],
    "allow-popups-to-escape-sandbox",
  );
  // In a smaller frame the page guards its Sign button.
  frame.style.cssText = "display:block;border:0;width:100%;height:100%;min-width:320px;min-height:640px";
  const told = new Set<string>();
  const listen = ({ data, source, origin: from }: MessageEvent): void => {
    if (source !== frame.contentWindow || from !== origin || data?.source !== "signsealship" || data.v !== 1) return;
    const { source: _source, v: _version, ...event } = data as EmbedEvent & { source: string; v: number };
    // A page that is loaded again says again that it is signed.
    if (event.type === "signed" || event.type === "declined") {
      if (told.has(event.type)) return;
      told.add(event.type);
    }
    onEvent(event);
  };
  window.addEventListener("message", listen);
  container.append(frame);
  return {
    frame,
    close: () => {
      window.removeEventListener("message", listen);
      frame.remove();
    },
  };
}
