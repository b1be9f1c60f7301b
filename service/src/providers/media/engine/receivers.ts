/** Lets participants receive each other's media: they join, answer the engine's offers, and disconnect. */
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import type { EndCause, MediaEvent, ServerMessage } from "../media.ts";
import { askForKeyFrame, isObserver, type Person, showAll } from "./person.ts";
import type { Transport } from "./transport.ts";

/**
 * The time limit for the answer to an offer. An offer can be lost, for example when the page's event stream is not
 * open. Without this limit, the page would then wait forever.
 */
const answerMs = 15_000;

type Session = { readonly name: string; readonly people: ReadonlyMap<string, Person> };

type ReceiversInput = {
  readonly transport: Transport;
  readonly now: () => number;
  readonly emit: (event: MediaEvent) => void;
};

export type Receivers = ReturnType<typeof receivers>;

export function receivers({ transport, now, emit }: ReceiversInput) {
  /** Ends the connection on which a participant receives. An observer who receives nothing counts as disconnected. */
  async function end({ name: session }: Session, person: Person, cause: EndCause): Promise<void> {
    const { subscription, hasJoined, name } = person;
    person.subscription = null;
    person.offeredAt = null;
    if (isObserver(person) && hasJoined) {
      person.hasJoined = false;
      emit({ kind: "left", session, person: name, cause });
    }
    await subscription?.close();
  }

  /** Ends the connection like `end`, and makes the participant's pages join again. */
  function cut(session: Session, person: Person): void {
    void end(session, person, "failed");
    emit({ kind: "cut", session: session.name, person: person.name });
  }

  return {
    end,
    /** Ends a connection whose offer is not answered. Must be called about once a second. */
    cutUnanswered(session: Session, person: Person): void {
      if (person.offeredAt !== null && now() - person.offeredAt > answerMs) cut(session, person);
    },
    /**
     * Opens the connection on which a participant receives, after ending the old one.
     * @param isOver true if the session has ended, or the participant has a newer ticket
     */
    async join(session: Session, person: Person, isOver: () => boolean): Promise<ServerMessage[]> {
      await end(session, person, "replaced");
      // Two joins may have waited for the end of the old connection. The first one to continue has already opened the
      // new one.
      if (isOver() || person.subscription) throw replaced();
      const subscription = transport.receive({
        session: session.name,
        person: person.name,
        onOffer: (message) => {
          if (person.subscription !== subscription) return;
          person.offeredAt = now();
          emit({ kind: "message", session: session.name, person: person.name, message });
        },
        onPictureLost: (from) => {
          const sender = session.people.get(from);
          if (sender) askForKeyFrame(sender, now());
        },
        onEnd: () => {
          if (person.subscription === subscription) cut(session, person);
          else void subscription.close();
        },
      });
      person.subscription = subscription;
      showAll(session.people);
      return [];
    },
    async answer(session: Session, person: Person, sdp: unknown): Promise<ServerMessage[]> {
      const { subscription, offeredAt } = person;
      if (!subscription) throw invalid("subscribe must follow join");
      // `offeredAt` is reset before the answer is applied, because the engine may make its next offer meanwhile.
      person.offeredAt = null;
      const isCurrent = () => person.subscription === subscription;
      try {
        await subscription.answered(sdp);
      } catch (error) {
        if (isCurrent()) person.offeredAt ??= offeredAt;
        throw error;
      }
      // An observer sends no packets, so this answer is the only sign that the observer's browser receives media.
      if (isObserver(person) && isCurrent() && !person.hasJoined) {
        person.hasJoined = true;
        emit({ kind: "joined", session: session.name, person: person.name });
      }
      return [];
    },
  };
}

export const replaced = () => new ServiceError("conflict", "The connection was replaced by a later one.");
