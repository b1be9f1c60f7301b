/** How the people of a session receive each other's media: they join, answer our offers, and leave. */
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import type { EndCause, MediaEvent, ServerMessage } from "../media.ts";
import { askForKeyFrame, isObserver, type Person, showAll } from "./person.ts";
import type { Transport } from "./transport.ts";

/**
 * How long an offer may wait for its answer. An offer can be lost, for example when the page's event stream is not
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
  /** Ends the connection by which a person receives. An observer who receives nothing has left. */
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

  /** Ends the connection like `end`, and asks the person's pages to join again. */
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
    /** @param isOver whether the session has ended or the person has a new ticket meanwhile */
    async join(session: Session, person: Person, isOver: () => boolean): Promise<ServerMessage[]> {
      await end(session, person, "replaced");
      // Two joins may have waited for this end. The first one to continue has already made the connection.
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
      // The next offer may be made before this call returns.
      person.offeredAt = null;
      const isCurrent = () => person.subscription === subscription;
      try {
        await subscription.answered(sdp);
      } catch (error) {
        if (isCurrent()) person.offeredAt ??= offeredAt;
        throw error;
      }
      // An observer sends no packets, so this answer is the sign that the observer's browser receives.
      if (isObserver(person) && isCurrent() && !person.hasJoined) {
        person.hasJoined = true;
        emit({ kind: "joined", session: session.name, person: person.name });
      }
      return [];
    },
  };
}

export const replaced = () => new ServiceError("conflict", "The connection was replaced by a later one.");
