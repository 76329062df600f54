import { lifetimeOf, SessionCredential } from "@ostiary/client";
import { Membership, Session } from "@ostiary/lib/contracts/identity-api";
import { failed, type Result, succeeded } from "@ostiary/lib/page/failure";
import { readAfter } from "@ostiary/lib/page/list-pages";
import { forgetInTab, keepInTab, readFromTab, takeFromTab } from "@ostiary/lib/page/sign-in/tab-storage";
import { type ReadonlySignal, signal } from "@preact/signals";
import { type Static, Type } from "@sinclair/typebox";
import { type Gateway, NoCredential, parsed, pathTo } from "./gateway.ts";

/** The person's membership in the chosen organization. */
export type ChosenMember = Omit<Session, "token" | "expires_at">;

/** A session that has less time left is not used after a reload. */
const REMAINING_MS_MIN = 5 * 60_000;
/** The key of the session in the tab, so that a reload opens no further session. */
const KEPT = "ostiary.portal.session";

/** A session with how long the server said that it lasts after it was opened, by this browser's clock. */
const Opened = Type.Object({
  session: Session,
  /** The person who opened the session. */
  user_id: Type.String(),
  openedMs: Type.Number(),
  lifetimeMs: Type.Number(),
});
type Opened = Static<typeof Opened>;

/** Returns how long a session lasts from now on. A clock that was set back ends the session. */
export function remainingMs(
  { openedMs, lifetimeMs }: Omit<Opened, "session" | "user_id">,
  nowMs: number,
): number {
  return nowMs < openedMs ? 0 : lifetimeMs - (nowMs - openedMs);
}

interface OrganizationSessionOptions {
  /** Returns whether the page still shows the organization. */
  isChosen(organization_id: string): boolean;
  /** Returns the id of the person who is signed in. */
  person(): string;
  /** Forgets what the page knows of the organization that it showed. */
  left(): void;
}

/** The member's session in the chosen organization, with its creation and renewal. */
export class OrganizationSession {
  readonly #gateway: Gateway;
  readonly #options: OrganizationSessionOptions;
  readonly #member = signal<ChosenMember | null>(null);
  /** The membership in the chosen organization, or null while no session is open in an organization. */
  readonly member: ReadonlySignal<ChosenMember | null> = this.#member;
  readonly #memberships = signal<readonly Membership[] | null>(null);
  /** The person's memberships, or null until the page has read them. */
  readonly memberships: ReadonlySignal<readonly Membership[] | null> = this.#memberships;
  #session: SessionCredential | null = null;
  /** The tokens of all sessions since the page chose the organization. */
  readonly #tokens = new Set<string>();
  /** Counts the organizations and people that the page has left. A session that opens later is not kept. */
  #departures = 0;

  constructor(gateway: Gateway, options: OrganizationSessionOptions) {
    this.#gateway = gateway;
    this.#options = options;
  }

  /** Forgets everything, because the person signs out. */
  forget(): void {
    this.#leave();
    this.#memberships.value = null;
    forgetInTab(KEPT);
  }

  #leave(): void {
    this.#departures += 1;
    this.#session = null;
    this.#tokens.clear();
    this.#member.value = null;
    this.#options.left();
  }

  /** Creates a session in an organization, unless the current session is in the same organization. */
  async choose(organization_id: string): Promise<Result<ChosenMember>> {
    const present = this.#member.peek();
    if (present?.organization_id === organization_id) return succeeded(present);
    const kept = takeFromTab(KEPT, Opened);
    this.#leave();
    return this.#open(organization_id, kept);
  }

  /** Creates a new session for the chosen organization, so that the page shows a changed role. */
  async refresh(): Promise<Result<ChosenMember>> {
    const { organization_id } = this.#member.peek() ?? {};
    return organization_id === undefined ? failed("missing") : this.#open(organization_id);
  }

  /** Creates a session in an organization, or goes on with the one that the tab kept. */
  async #open(organization_id: string, kept: Opened | null = null): Promise<Result<ChosenMember>> {
    const departures = this.#departures;
    const membership = await this.#membershipIn(organization_id);
    if (!membership.ok) return membership;
    const isKept = kept !== null && this.#isOf(kept, membership.value);
    const first = isKept ? succeeded(kept) : await this.#mint(organization_id);
    if (!first.ok) return first;
    let next: Result<Opened> | null = first;
    const session: SessionCredential = new SessionCredential(async () => {
      const opened = next ?? (await this.#mint(organization_id));
      next = null;
      if (!opened.ok) throw new NoCredential(opened);
      if (this.#session === session) this.#show(opened.value);
      return { token: opened.value.session.token, lifetimeMs: remainingMs(opened.value, Date.now()) };
    });
    await session.value(null);
    // The person may have left the organization, or signed out, before the response arrived.
    if (departures === this.#departures && this.#options.isChosen(organization_id)) {
      this.#session = session;
      this.#show(first.value);
    }
    return succeeded(memberOf(first.value.session));
  }

  #show(opened: Opened): void {
    this.#member.value = memberOf(opened.session);
    this.#tokens.add(opened.session.token);
    keepInTab(KEPT, opened);
  }

  /** Removes from the tab a session of another person, and one that ends soon. */
  begin(): void {
    const kept = readFromTab(KEPT, Opened);
    if (!this.#isUsable(kept)) forgetInTab(KEPT);
  }

  #isUsable(kept: Opened | null): boolean {
    return (
      kept !== null &&
      kept.user_id === this.#options.person() &&
      remainingMs(kept, Date.now()) > REMAINING_MS_MIN
    );
  }

  #isOf(kept: Opened, { id, organization, role }: Membership): boolean {
    const { organization_id, member_id, role: before } = kept.session;
    const isSame = organization_id === organization.id && member_id === id && before === role;
    return isSame && this.#isUsable(kept);
  }

  /** Reads all memberships of the person. A person has few memberships. */
  async list(): Promise<Result<readonly Membership[]>> {
    const person = this.#options.person();
    const askAfter = (last: Membership | undefined) =>
      this.#gateway.list("memberships", Membership, pathTo("user", "memberships"), {
        starting_after: last?.id,
      });
    for (let all: readonly Membership[] = []; ; ) {
      const read = await readAfter(all, askAfter, ({ id }) => id);
      if (!read.ok) return read;
      all = read.value.items;
      if (read.value.has_more) continue;
      if (person === this.#options.person()) this.#memberships.value = all;
      return succeeded(all);
    }
  }

  async #membershipIn(organization_id: string): Promise<Result<Membership>> {
    const found = await this.list();
    if (!found.ok) return found;
    const membership = found.value.find(({ organization }) => organization.id === organization_id);
    return membership === undefined ? failed("missing") : succeeded(membership);
  }

  async #mint(organization_id: string): Promise<Result<Opened>> {
    const path = pathTo("user", "organizations", organization_id, "session");
    const openedMs = Date.now();
    const sent = await this.#gateway.stream(path, { method: "POST", body: {} });
    if (!sent.ok) return sent;
    const minted = await parsed(Session, sent.value, { method: "POST" });
    if (!minted.ok) return minted;
    const lifetimeMs = lifetimeOf(minted.value.expires_at, sent.value);
    return succeeded({ session: minted.value, user_id: this.#options.person(), openedMs, lifetimeMs });
  }

  /**
   * Returns the session's token, renewed shortly before its end and when the gateway refused it. Throws if the
   * refused token is of an organization that the page has left: the call must not go to another organization.
   */
  async token(refused: string | null): Promise<string> {
    const isLeft = refused !== null && !this.#tokens.has(refused);
    if (this.#session === null || isLeft) throw new NoCredential(failed("signed_out"));
    return this.#session.value(refused);
  }
}

function memberOf({ member_id, organization_id, role, labels }: Session): ChosenMember {
  return { member_id, organization_id, role, labels };
}
