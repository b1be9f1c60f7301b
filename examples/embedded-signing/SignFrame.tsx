// A React component that shows the signing page in a frame of your own page.
import { type EmbedEvent, mountSigning } from "@signsealship/sdk";
import { useEffect, useRef } from "react";

type Props = {
  /** From your server, by `orders.embedSigner`: a new address for each frame. */
  url: string;
  onEvent: (event: EmbedEvent) => void;
};

export function SignFrame({ url, onEvent }: Props) {
  const container = useRef<HTMLDivElement>(null);
  const latest = useRef(onEvent);
  latest.current = onEvent;

  useEffect(() => {
    if (!container.current) return;
    const mounted = mountSigning({ url, container: container.current, onEvent: (event) => latest.current(event) });
    return mounted.close;
  }, [url]);

  return <div ref={container} />;
}
