/**
 * A simple model of the identity service, with maps and loops instead of a database. Tests compare the
 * service with the model. The model shares no code with the service, and runs one call at a time.
 */

export interface Person {
  id: string;
  subject: string;
  name: string | null;
  status: "active" | "suspended";
}

export interface Organization {
  id: string;
  name: string;
  plan: string | null;
}

export interface Member {
  id: string;
  organization: string;
  person: string | null;
  /** The id of the service account that this member is, or null for a person. */
  account: string | null;
  name: string | null;
  role: string;
  status: "active" | "suspended" | "removed";
}

export interface Account {
  id: string;
  organization: string;
  member: string;
  name: string;
}

export interface Invite {
  id: string;
  organization: string;
  email?: string;
  role: string;
  token: string;
  status: "active" | "redeemed" | "revoked" | "expired";
  max_uses: number | null;
  use_count: number;
  expires_at: number;
}

export interface Key {
  id: string;
  /** The id of a person or a member. */
  owner: string;
  name: string;
  key: string;
  /** Milliseconds since the epoch; null for a key without expiry. */
  expires_at: number | null;
  /** The lifetime that a rotation gives to the new key, or null for none. */
  lifetimeMs: number | null;
  last_used_at: number | null;
  /** Whether a rotation has replaced this key. */
  rotated: boolean;
  revoked_at: number | null;
}

export interface Session {
  token: string;
  member: string;
  expires_at: number;
}

interface ModelEvent {
  type: string;
  organization_id: string;
  data: Record<string, unknown>;
}

export const ROLE_LABELS: Record<string, string[]> = {
  owner: ["*"],
  admin: ["org:write", "org:members:write"],
  member: ["things:write"],
  viewer: [],
};

export class Model {
  /** A prefix of this model's subjects, so that no two models share a person. */
  readonly run = crypto.randomUUID();
  /** Milliseconds since the epoch. */
  now: number;
  readonly people = new Map<string, Person>();
  readonly organizations = new Map<string, Organization>();
  readonly members = new Map<string, Member>();
  readonly accounts = new Map<string, Account>();
  readonly invites = new Map<string, Invite>();
  readonly keys = new Map<string, Key>();
  sessions: Session[] = [];
  readonly events: ModelEvent[] = [];
  /** The ids of deleted people and organizations, so that steps can use them again. */
  readonly past = { people: new Set<string>(), organizations: new Set<string>() };

  constructor(now: number) {
    this.now = now;
  }

  personOf(subject: string): Person | undefined {
    return [...this.people.values()].find((person) => person.subject === subject);
  }

  currentMembers(organization: string): Member[] {
    return [...this.members.values()].filter(
      (member) => member.organization === organization && member.status !== "removed",
    );
  }

  membership(organization: string, person: string): Member | undefined {
    return this.currentMembers(organization).find((member) => member.person === person);
  }

  /** Returns the member, or undefined if it is unknown, removed or in another organization. */
  member(id: string, organization?: string): Member | undefined {
    const member = this.members.get(id);
    if (member === undefined || member.status === "removed") return undefined;
    return organization === undefined || member.organization === organization ? member : undefined;
  }

  account(id: string, organization: string): Account | undefined {
    const account = this.accounts.get(id);
    return account && this.member(account.member, organization) && account;
  }

  /** Returns whether this member is the organization's last member or last owner. */
  isNeeded(member: Member): boolean {
    const others = this.currentMembers(member.organization).filter((other) => other !== member);
    return others.length === 0 || this.isLastOwner(member);
  }

  isLastOwner(member: Member): boolean {
    const others = this.currentMembers(member.organization).filter((other) => other !== member);
    return member.role === "owner" && !others.some((other) => other.role === "owner");
  }

  join(member: Omit<Member, "name" | "status">): Member {
    const joined: Member = { ...member, name: null, status: "active" };
    this.members.set(joined.id, joined);
    this.report("member.created", joined);
    return joined;
  }

  remove(member: Member): void {
    this.report("member.removed", member);
    member.status = "removed";
    for (const key of this.keys.values()) if (key.owner === member.id) key.revoked_at ??= this.now;
    this.dropSessions(member.id);
  }

  report(type: string, member: Member): void {
    this.events.push({
      type,
      organization_id: member.organization,
      data: {
        member_id: member.id,
        principal: member.account === null ? "user" : "service_account",
        user_id: member.person,
        service_account_id: member.account,
        role: member.role,
      },
    });
  }

  deletePerson(person: Person): void {
    const own = [...this.members.values()].filter((member) => member.person === person.id);
    const byOrganization = own.sort((a, b) => (a.organization < b.organization ? -1 : 1));
    for (const member of byOrganization) {
      if (member.status !== "removed") this.remove(member);
      member.person = null;
      member.name = null;
    }
    for (const key of [...this.keys.values()]) if (key.owner === person.id) this.keys.delete(key.id);
    this.people.delete(person.id);
    this.past.people.add(person.id);
  }

  deleteOrganization(organization: Organization): void {
    for (const member of [...this.members.values()]) {
      if (member.organization !== organization.id) continue;
      for (const key of [...this.keys.values()]) if (key.owner === member.id) this.keys.delete(key.id);
      this.dropSessions(member.id);
      this.members.delete(member.id);
      if (member.account !== null) this.accounts.delete(member.account);
    }
    for (const invite of [...this.invites.values()]) {
      if (invite.organization === organization.id) this.invites.delete(invite.id);
    }
    this.organizations.delete(organization.id);
    this.past.organizations.add(organization.id);
    const { id, name } = organization;
    this.events.push({ type: "organization.deleted", organization_id: id, data: { name } });
  }

  /** Marks an overdue invite as expired, and returns it. */
  look(invite: Invite): Invite {
    if (invite.status === "active" && invite.expires_at <= this.now) invite.status = "expired";
    return invite;
  }

  /** Returns all keys and session tokens that were ever created and not deleted. */
  credentials(): string[] {
    return [...[...this.keys.values()].map(({ key }) => key), ...this.sessions.map(({ token }) => token)];
  }

  isUsable({ revoked_at, expires_at }: Key): boolean {
    return revoked_at === null && (expires_at === null || expires_at > this.now);
  }

  /** Returns the response body of a validation. */
  validate(credential: string): Record<string, unknown> {
    const key = [...this.keys.values()].find((each) => each.key === credential && this.isUsable(each));
    const session = this.sessions.find((each) => each.token === credential && each.expires_at > this.now);
    const owner = key?.owner ?? session?.member ?? "";
    const person = this.people.get(owner);
    const ends = key?.expires_at ?? session?.expires_at;
    const end = ends !== undefined && { expires_at: new Date(ends).toISOString() };
    if (person) {
      return person.status === "active"
        ? { valid: true, realm: "directory", user_id: person.id, ...end }
        : { valid: false };
    }
    const member = this.member(owner);
    if (member?.status !== "active" || this.people.get(member.person ?? "")?.status === "suspended") {
      return { valid: false };
    }
    return {
      valid: true,
      realm: "organization",
      organization_id: member.organization,
      member_id: member.id,
      labels: ROLE_LABELS[member.role],
      plan: this.organizations.get(member.organization)?.plan,
      ...end,
    };
  }

  shownMember(member: Member): Record<string, unknown> {
    const { id, organization, account, role, status } = member;
    const principal = account === null ? "user" : "service_account";
    const display_name =
      this.accounts.get(account ?? "")?.name ??
      member.name ??
      this.people.get(member.person ?? "")?.name ??
      null;
    const shape = { id, organization_id: organization, principal, display_name, status };
    return status === "removed" ? shape : { ...shape, service_account_id: account, role };
  }

  shownAccount({ id, organization, member, name }: Account): Record<string, unknown> {
    const { role, status } = this.members.get(member) ?? {};
    return { id, organization_id: organization, member_id: member, name, role, status };
  }

  shownInvite(invite: Invite): Record<string, unknown> {
    const { id, organization, email, role, token, status, max_uses, use_count, expires_at } =
      this.look(invite);
    return {
      id,
      organization_id: organization,
      ...(email !== undefined && status === "active" && { email }),
      role,
      token_prefix: token.slice(0, 8),
      ...(status === "active" && { token }),
      status,
      max_uses,
      use_count,
      expires_at: new Date(expires_at).toISOString(),
    };
  }

  /** Validates a credential, and updates `last_used_at` if it is a valid key. Returns the response body. */
  use(credential: string): Record<string, unknown> {
    const result = this.validate(credential);
    const key = [...this.keys.values()].find((each) => each.key === credential);
    if (result.valid && key) key.last_used_at = Math.max(key.last_used_at ?? 0, this.now);
    return result;
  }

  addKey(key: Omit<Key, "expires_at" | "last_used_at" | "rotated" | "revoked_at">): Key {
    const expires_at = key.lifetimeMs === null ? null : this.now + key.lifetimeMs;
    const added = { ...key, expires_at, last_used_at: null, rotated: false, revoked_at: null };
    this.keys.set(key.id, added);
    return added;
  }

  shownKey({ id, name, key, expires_at, last_used_at, revoked_at }: Key): Record<string, unknown> {
    const shown = (timeMs: number | null) => (timeMs === null ? null : new Date(timeMs).toISOString());
    return {
      id,
      name,
      key_prefix: key.slice(0, "acme-k-2-".length + 4),
      expires_at: shown(expires_at),
      last_used_at: shown(last_used_at),
      revoked_at: shown(revoked_at),
    };
  }

  dropSessions(member: string): void {
    this.sessions = this.sessions.filter((session) => session.member !== member);
  }
}
