import type { Random } from "../../support/random.ts";
import { type Asked, NeverSent, textIn } from "../faults/system/asking.ts";
import { type Directory, newName } from "../faults/system/directory.ts";
import type { System } from "../faults/system/system.ts";
import type { Admission, Change, CredentialHistory, Use } from "./judge.ts";

const MEMBERS = 3;

interface Member {
  readonly user_id: string;
  readonly path: string;
  isPersonActive: boolean;
  isActive: boolean;
  isRemoved: boolean;
  role: "member" | "viewer";
}

/** A credential with its history. Tokens and keys of persons have no labels and no plan. */
export interface Credential extends CredentialHistory {
  readonly kind: "member" | "person";
  readonly owner: Member;
  readonly headers: Readonly<Record<string, string>>;
  /** The path of the key; null for a token. */
  readonly path: string | null;
  isRevoked: boolean;
  readonly changes: [Change, ...Change[]];
  readonly uses: Use[];
}

type KeyCredential = Credential & { readonly path: string };

interface Operation {
  readonly what: string;
  readonly asked: Asked;
  /** Notes what a successful response changed. */
  readonly done: (body: unknown) => void;
}

/** One organization, whose owner does one operation after the other. Its credentials are what gateways admit. */
export class ChangingOrganization {
  readonly credentials: Credential[] = [];
  /**
   * The time up to which the histories hold: the start of an operation without a response, which may have taken
   * effect.
   */
  untilMs = Number.POSITIVE_INFINITY;
  readonly #directory: Directory;
  readonly #random: Random;
  readonly #path: string;
  readonly #members: Member[] = [];
  #plan: "gold" | null = null;
  #isDeleted = false;

  static async found(system: System, random: Random): Promise<ChangingOrganization> {
    const directory = system.directory(random);
    const { organization_id } = await directory.found();
    const organization = new ChangingOrganization(directory, random, `/organizations/${organization_id}`);
    for (let count = 0; count < MEMBERS; count += 1) await organization.#join(system);
    return organization;
  }

  private constructor(directory: Directory, random: Random, path: string) {
    this.#directory = directory;
    this.#random = random;
    this.#path = path;
  }

  /** Does a random operation, as the last one the deletion of the organization. Returns what happened. */
  async operate(isLast: boolean): Promise<string> {
    const { what, asked, done } = isLast ? this.#deletion() : this.#operation();
    const startedMs = performance.now();
    try {
      const response = await this.#directory.ask(asked);
      if (response === null) {
        this.untilMs = startedMs;
        return `${what} without a response`;
      }
      if (response.status >= 300) return `${what} refused`;
      done(response.body);
      this.#note(what, startedMs);
      return what;
    } catch (error) {
      if (error instanceof NeverSent) return `${what} not sent`;
      throw error;
    }
  }

  async #join(system: System): Promise<void> {
    const subject = newName("person");
    const user_id = await this.#directory.person(subject);
    const body = { idp: this.#directory.idpOf(subject), role: "member" };
    const path = `${this.#path}/members`;
    const member_id = textIn((await this.#directory.insist({ method: "POST", path, body })).body, "id");
    const member: Member = {
      user_id,
      path: `${path}/${member_id}`,
      isPersonActive: true,
      isActive: true,
      isRemoved: false,
      role: "member",
    };
    this.#members.push(member);
    for (const [kind, keys] of [
      ["member", `/members/${member_id}/api-keys`],
      ["person", `/users/${user_id}/api-keys`],
    ] as const) {
      const startedMs = performance.now();
      const made = await this.#directory.insist({ method: "POST", path: keys, body: {} });
      this.#addKey(kind, member, keys, made.body, startedMs);
    }
    const { port } = system.people.provider;
    const token = await (await fetch(`http://127.0.0.1:${port}/token?subject=${subject}`)).text();
    const headers = { authorization: `Bearer ${token}` };
    this.#add({ name: `token of ${user_id}`, kind: "person", owner: member, headers, path: null });
  }

  #addKey(kind: Credential["kind"], owner: Member, keys: string, body: unknown, startedMs: number): void {
    const path = `${keys}/${textIn(body, "id")}`;
    const headers = { "x-api-key": textIn(body, "key") };
    this.#add({ name: `key ${path}`, kind, owner, headers, path }, startedMs);
  }

  #add(
    made: Pick<Credential, "name" | "kind" | "owner" | "headers" | "path">,
    startedMs = performance.now(),
  ): void {
    const admission = this.#admissionOf({ ...made, isRevoked: false });
    const first = { what: "created", startedMs, respondedMs: performance.now(), admission };
    this.credentials.push({ ...made, isRevoked: false, changes: [first], uses: [] });
  }

  #operation(): Operation {
    const random = this.#random;
    const [first, ...others] = this.#members;
    if (first === undefined) throw new Error("The organization has no members.");
    const member = random.pick([first, ...others]);
    const keys = this.credentials.filter(
      (each): each is KeyCredential => each.path !== null && !each.isRevoked,
    );
    const key = keys[random.below(keys.length)];
    const kinds: [() => Operation, ...(() => Operation)[]] = [
      () => this.#memberStatus(member),
      () => this.#personStatus(member),
      () => this.#role(member),
      () => this.#planChange(),
      () => (random.chance(30) ? this.#removal(member) : this.#memberStatus(member)),
    ];
    if (key !== undefined)
      kinds.push(
        () => this.#rotation(key),
        () => this.#revocation(key),
      );
    return random.pick(kinds)();
  }

  #memberStatus(member: Member): Operation {
    const isActive = !member.isActive;
    const status = isActive ? "active" : "suspended";
    return patch(`member ${status}`, member.path, { status }, () => {
      member.isActive = isActive;
    });
  }

  #personStatus(member: Member): Operation {
    const isActive = !member.isPersonActive;
    const status = isActive ? "active" : "suspended";
    return patch(`person ${status}`, `/users/${member.user_id}/status`, { status }, () => {
      member.isPersonActive = isActive;
    });
  }

  #role(member: Member): Operation {
    const role = member.role === "member" ? "viewer" : "member";
    return patch(`role ${role}`, member.path, { role }, () => {
      member.role = role;
    });
  }

  #planChange(): Operation {
    const plan = this.#plan === null ? "gold" : null;
    return patch(`plan ${plan}`, `${this.#path}/plan`, { plan }, () => {
      this.#plan = plan;
    });
  }

  #removal(member: Member): Operation {
    return removal("member removed", member.path, () => {
      member.isRemoved = true;
    });
  }

  #deletion(): Operation {
    return removal("organization deleted", this.#path, () => {
      this.#isDeleted = true;
    });
  }

  #revocation(key: KeyCredential): Operation {
    return removal("key revoked", key.path, () => {
      key.isRevoked = true;
    });
  }

  #rotation(key: KeyCredential): Operation {
    const startedMs = performance.now();
    return {
      what: "key rotated",
      asked: { method: "POST", path: `${key.path}/rotate`, body: { overlap_seconds: 0 } },
      done: (body) => {
        key.isRevoked = true;
        this.#addKey(key.kind, key.owner, key.path.slice(0, key.path.lastIndexOf("/")), body, startedMs);
      },
    };
  }

  #admissionOf({ kind, owner, isRevoked }: Pick<Credential, "kind" | "owner" | "isRevoked">): Admission {
    const isAccepted = !isRevoked && owner.isPersonActive;
    if (kind === "person") return { admitted: isAccepted };
    if (!isAccepted || !owner.isActive || owner.isRemoved || this.#isDeleted) return { admitted: false };
    return { admitted: true, labelled: owner.role === "member", plan: this.#plan };
  }

  /** Adds a change to the history of each credential whose admission is another one now. */
  #note(what: string, startedMs: number): void {
    const respondedMs = performance.now();
    for (const credential of this.credentials) {
      const admission = this.#admissionOf(credential);
      const isSame = JSON.stringify(credential.changes.at(-1)?.admission) === JSON.stringify(admission);
      if (!isSame) credential.changes.push({ what, startedMs, respondedMs, admission });
    }
  }
}

function patch(what: string, path: string, body: object, done: () => void): Operation {
  return { what, asked: { method: "PATCH", path, body }, done };
}

function removal(what: string, path: string, done: () => void): Operation {
  return { what, asked: { method: "DELETE", path }, done };
}
