/** A message from the signing page in the frame. It names no person and no document, and contains no credential. */
export type EmbedEvent =
  | { type: "ready" | "viewed" | "signed" | "declined" | "closed"; signer?: number }
  /**
   * An error of the signing page. The codes are `used`, `expired`, `voided`, `locked`, and `hidden`: too little of the
   * page is visible to the signer. The list can grow.
   */
  | { type: "error"; code: string; signer?: number };

export type MountOptions = {
  /** The `url` of `orders.embedSigner`. Get a new one for each frame. */
  url: string;
  /** The element in which the frame is placed. */
  container: Element;
  /**
   * Called for each message from the frame. `signed` is only a hint: confirm it with the API, or with the event
   * `signature.signed`.
   */
  onEvent: (event: EmbedEvent) => void;
  /** The name of the frame for screen readers. Default "Sign the document". */
  title?: string | undefined;
};

export type MountedSigning = {
  readonly frame: HTMLIFrameElement;
  /** Removes the frame. After that, `onEvent` is not called. */
  close: () => void;
};

/**
 * Places the signing page in your own page. For browsers only. Register the origin of your page first. The signing page
 * has its own scroll bar, so the container needs a fixed height.
 * @returns the frame, and a function that removes it
 */
export function mountSigning({ url, container, onEvent, title = "Sign the document" }: MountOptions): MountedSigning {
  const { origin } = new URL(url);
  const frame = document.createElement("iframe");
  frame.title = title;
  frame.src = url;
  frame.referrerPolicy = "no-referrer";
  // The frame may run forms and scripts of its own origin, download files, and open a tab. It can't navigate the page
  // that contains it.
  frame.sandbox.add(
    "allow-scripts",
    "allow-forms",
    "allow-same-origin",
    "allow-downloads",
    "allow-popups",
    "allow-popups-to-escape-sandbox",
  );
  // The signing page disables its Sign button in a frame below this minimum size.
  frame.style.cssText = "display:block;border:0;width:100%;height:100%;min-width:320px;min-height:640px";
  const reported = new Set<string>();
  const listen = ({ data, source, origin: from }: MessageEvent): void => {
    if (source !== frame.contentWindow || from !== origin || data?.source !== "signsealship" || data.v !== 1) return;
    const { source: _source, v: _version, ...event } = data as EmbedEvent & { source: string; v: number };
    // After a reload, the page reports `signed` or `declined` again. Only the first report is passed on.
    if (event.type === "signed" || event.type === "declined") {
      if (reported.has(event.type)) return;
      reported.add(event.type);
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
