/** The result for one file: the address of its passport, or why it was refused. */
export type Sent = { location: string } | { refused: string };

/** Called while a file is sent: with the share sent so far, and once all of it is sent and the server is working. */
export type Way = { sent: (share: number) => void; working: () => void };

const lost = "The connection was lost. Please send the file again.";

/** Sends one file as the part `file` of a form, with what else the form holds. Never rejects. */
export function sendFile(form: HTMLFormElement, file: File, way: Way): Promise<Sent> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.upload.addEventListener("progress", ({ loaded, total }) => way.sent(loaded / Math.max(total, 1)));
    request.upload.addEventListener("load", way.working);
    request.addEventListener("load", () => resolve(answerOf(request)));
    for (const end of ["error", "abort"]) request.addEventListener(end, () => resolve({ refused: lost }));
    const body = new FormData(form);
    body.set("file", file, file.name);
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "application/json");
    request.send(body);
  });
}

function answerOf({ status, responseText }: XMLHttpRequest): Sent {
  const answer = parsed(responseText);
  if (status === 200 && typeof answer["location"] === "string") return { location: answer["location"] };
  return { refused: typeof answer["error"] === "string" ? answer["error"] : `That did not work (status ${status}).` };
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
