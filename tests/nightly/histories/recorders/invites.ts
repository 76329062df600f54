import { check, type Verdict } from "../checker/check.ts";
import { History } from "../checker/history.ts";
import { type InviteAnswer, type InviteCall, invitesOf } from "../models/invites.ts";
import { type Answered, type Asked, listIn, memberOf, numberIn, textIn, unexpected } from "./asking.ts";
import type { Directory } from "./directory.ts";
import { type Field, type Recorder, together } from "./recorder.ts";

const CLIENTS = 5;
const STEPS = 4;
const PEOPLE = 5;
const USES = 4;
const REVOKED_PERCENT = 4;
const READ_PERCENT = 15;

/**
 * Records the calls of clients that redeem one invite for several people, read the invite, and sometimes
 * revoke it.
 */
export const recordInvites: Recorder = {
  name: invitesOf(USES).name,
  async record(field): Promise<Verdict[]> {
    const { directory, random, isFaulty } = field;
    const people = await Promise.all(Array.from({ length: PEOPLE }, () => directory.person()));
    const work = await InviteWork.start(field, isFaulty ? USES + 1 : USES);
    await together(CLIENTS, STEPS, () => {
      const chance = random.below(100);
      if (chance < READ_PERCENT) return work.read();
      if (chance < READ_PERCENT + REVOKED_PERCENT && !isFaulty) return work.revoke();
      return work.redeem(people[random.below(people.length)] ?? "");
    });
    // There is one person more than the invite has uses, so a correct service refuses at least one.
    for (const person of people) await work.redeem(person);
    await work.read();
    return check(invitesOf(USES), work.history.operations);
  },
};

class InviteWork {
  readonly history = new History<InviteCall, InviteAnswer>();
  readonly #directory: Directory;
  readonly #path: string;
  readonly #invite: string;
  readonly #token: string;

  /** Creates an invite. A faulty client passes a larger `max_uses` than the model has. */
  static async start({ directory }: Field, max_uses: number): Promise<InviteWork> {
    const { organization_id } = await directory.found();
    const path = `/organizations/${organization_id}/invites`;
    const { body } = await directory.insist({ method: "POST", path, body: { role: "member", max_uses } });
    return new InviteWork(directory, path, textIn(body, "id"), textIn(body, "token"));
  }

  private constructor(directory: Directory, path: string, invite: string, token: string) {
    this.#directory = directory;
    this.#path = path;
    this.#invite = invite;
    this.#token = token;
  }

  redeem(person: string): Promise<unknown> {
    const path = `/users/${person}/invites/redeem`;
    const asked: Asked = { method: "POST", path, body: { token: this.#token } };
    return this.#record({ kind: "redeem", invite: this.#invite, person }, asked, (answered) => {
      const { status, body } = answered;
      if (status === 201) return { kind: "joined" };
      if (status === 200) return { kind: "member" };
      if (status !== 409) return unexpected(asked, answered);
      return { kind: "refused", status: textIn(body, "error", "details", "value") };
    });
  }

  revoke(): Promise<unknown> {
    const asked: Asked = { method: "DELETE", path: `${this.#path}/${this.#invite}` };
    return this.#record({ kind: "revoke", invite: this.#invite }, asked, (answered) =>
      answered.status === 204 ? { kind: "revoked" } : unexpected(asked, answered),
    );
  }

  read(): Promise<unknown> {
    const asked: Asked = { method: "GET", path: this.#path };
    return this.#record({ kind: "read", invite: this.#invite }, asked, (answered) => {
      if (answered.status !== 200) return unexpected(asked, answered);
      const found = listIn(answered.body, "invites").find((each) => memberOf(each, "id") === this.#invite);
      return { kind: "read", status: textIn(found, "status"), use_count: numberIn(found, "use_count") };
    });
  }

  #record(call: InviteCall, asked: Asked, answerOf: (answered: Answered) => InviteAnswer): Promise<unknown> {
    return this.history.record(call, async () => {
      const answered = await this.#directory.ask(asked);
      return answered === null ? null : answerOf(answered);
    });
  }
}
