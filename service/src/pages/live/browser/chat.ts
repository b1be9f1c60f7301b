/**
 * Written messages in a room. The server sends them to everybody in the room, but not to people in the waiting room.
 */
import { make, part } from "../../ui/browser/parts.ts";
import { post, type Written } from "./connection.ts";

type Room = { base: string; nameOf: (person: string) => string; unsent: string };

/**
 * Starts the section with the room's written messages.
 * @returns functions that show a new message, and show or hide the section
 */
export function startChat({ base, nameOf, unsent }: Room) {
  const section = part("room-chat");
  const log = part("room-chat-log");
  const form = part<HTMLFormElement>("room-chat-form");
  const statusLine = part("room-chat-said");
  const input = form.elements.namedItem("text") as HTMLInputElement;
  const shown = new Map<number, HTMLElement>();

  /** Shows a message at its position in the list. A message may arrive late or twice; a duplicate is ignored. */
  function show({ n, at, person, text }: Written): void {
    if (shown.has(n)) return;
    const time = make("time", {
      dateTime: at,
      textContent: new Date(at).toLocaleTimeString(document.documentElement.lang),
    });
    const line = make(
      "li",
      {},
      make("strong", { textContent: nameOf(person) }),
      " ",
      time,
      make("p", { textContent: text }),
    );
    const next = [...shown].filter(([other]) => other > n).toSorted(([one], [other]) => one - other)[0];
    log.insertBefore(line, next?.[1] ?? null);
    shown.set(n, line);
    line.scrollIntoView({ block: "nearest" });
  }

  async function load(): Promise<void> {
    const answer = await fetch(`${base}/messages`, { headers: { Accept: "application/json" } });
    if (!answer.ok) return;
    const { messages } = (await answer.json()) as { messages: Written[] };
    for (const each of messages) show(each);
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (text === "") return input.focus();
    post(`${base}/message`, { text })
      .then(() => {
        statusLine.textContent = "";
        if (input.value.trim() === text) input.value = "";
      })
      .catch(() => {
        statusLine.textContent = unsent;
      })
      .finally(() => input.focus());
  });

  return {
    show,
    /** Shows or hides the section. Each time it is shown, loads the messages that this page has missed. */
    set(isOn: boolean): void {
      section.hidden = !isOn;
      if (isOn) void load();
    },
  };
}
