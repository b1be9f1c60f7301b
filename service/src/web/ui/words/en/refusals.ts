import type { RefusalWords } from "../words.ts";

export const refusals: RefusalWords = {
  notFound: {
    title: "Page not found",
    text: "There is nothing at this address. If you followed a link from a message, make sure that you copied all of it, including the long code at the end, and nothing more.",
  },
  wrongMethod: {
    title: "This address takes no such request",
    text: "A form was sent to an address that takes none, or a page was opened that is none. Go back and try again.",
  },
  unavailable: {
    title: "Not available right now",
    text: "Part of this service is not available just now. Nothing was lost: try again in a few minutes.",
  },
  unreadable: { title: "That did not work", text: "The form could not be read." },
  broken: {
    title: "Something went wrong",
    text: "This is our fault, not yours. Please reload the page in a moment.",
  },
  busy: {
    title: "One moment, please",
    text: (minutes) =>
      `Too many requests came in a short time. Wait ${minutes > 1 ? `${minutes} minutes` : "a minute"} and try again.`,
  },
  home: "Go to the home page",
};
