import { type Asked, listIn, memberOf, textIn, unexpected } from "../../faults/system/asking.ts";
import { type Directory, type Founder, newName } from "../../faults/system/directory.ts";
import { check, type Verdict } from "../checker/check.ts";
import { History } from "../checker/history.ts";
import { type OwnerCall, type OwnerOutcome, ownersOf } from "../models/owners.ts";
import { type Recorder, together } from "./recorder.ts";

const CLIENTS = 4;
const STEPS = 6;
const MORE_OWNERS = 3;

/** Records the calls of clients that promote, demote and remove the owners of one organization. */
export const recordOwners: Recorder = {
  name: ownersOf([]).name,
  async record({ directory, random, isFaulty }): Promise<Verdict[]> {
    const founder = await directory.found();
    const added = await addOwners(directory, founder);
    // The faulty client leaves the founder out of the model. The founder stays an owner, so no demotion is
    // refused.
    const members = isFaulty ? added : [founder.member_id, ...added];
    const work = new OwnerWork(directory, founder.organization_id);
    await together(CLIENTS, STEPS, () => {
      const chance = random.below(100);
      if (chance < 20) return work.read();
      const member = members[random.below(members.length)] ?? "";
      return work.change(chance < 55 ? "demote" : chance < 92 ? "promote" : "remove", member);
    });
    for (const member of members) await work.change("demote", member);
    await work.read();
    return check(ownersOf(members), work.history.operations);
  },
};

const CONFLICT = 409;

/**
 * Adds owners, and returns their member ids. A repeated request may get 409, because the member already
 * exists.
 */
async function addOwners(
  directory: Directory,
  { organization_id, member_id }: Founder,
): Promise<readonly string[]> {
  const path = `/organizations/${organization_id}/members`;
  await Promise.all(
    Array.from({ length: MORE_OWNERS }, () => {
      const idp = directory.idpOf(newName("owner"));
      return directory.insist({ method: "POST", path, body: { idp, role: "owner" } }, CONFLICT);
    }),
  );
  const { body } = await directory.insist({ method: "GET", path: `${path}?limit=100` });
  return listIn(body, "members")
    .map((member) => textIn(member, "id"))
    .filter((id) => id !== member_id);
}

class OwnerWork {
  readonly history = new History<OwnerCall, OwnerOutcome>();
  readonly #directory: Directory;
  readonly #organization: string;

  constructor(directory: Directory, organization: string) {
    this.#directory = directory;
    this.#organization = organization;
  }

  change(kind: "promote" | "demote" | "remove", member: string): Promise<unknown> {
    const path = `/organizations/${this.#organization}/members/${member}`;
    const asked: Asked =
      kind === "remove"
        ? { method: "DELETE", path }
        : { method: "PATCH", path, body: { role: kind === "promote" ? "owner" : "member" } };
    return this.history.record({ kind, organization: this.#organization, member }, async () => {
      const response = await this.#directory.ask(asked);
      if (response === null) return null;
      const { status } = response;
      if (status < 300) return { kind: "done" };
      if (status === 404) return { kind: "missing" };
      return status === 422 ? { kind: "refused" } : unexpected(asked, response);
    });
  }

  read(): Promise<unknown> {
    const asked: Asked = { method: "GET", path: `/organizations/${this.#organization}/members?limit=100` };
    return this.history.record({ kind: "read", organization: this.#organization }, async () => {
      const response = await this.#directory.ask(asked);
      if (response === null) return null;
      if (response.status !== 200) return unexpected(asked, response);
      const members = listIn(response.body, "members");
      const owners = members.filter((each) => memberOf(each, "role") === "owner");
      return { kind: "read", owners: owners.map((each) => textIn(each, "id")).sort() };
    });
  }
}
