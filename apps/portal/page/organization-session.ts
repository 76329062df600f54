import { Membership, Session } from "@ostiary/lib/contracts/identity-api";
import { type Answer, answered, failed } from "@ostiary/lib/page";
import { type ReadonlySignal, signal } from "@preact/signals";
import { type Gateway, pathTo } from "./gateway.ts";

/** The person's membership in the chosen organization. */
export interface ChosenMember {
  readonly member_id: string;
  readonly organization_id: string;
  readonly organizationName: string;
  readonly role: string | null;
  readonly labels: readonly string[];
}

/** How long before its expiry a session is renewed. */
const RENEWAL_MS = 5 * 60_000;

/** The member's session in the chosen organization, with its creation and renewal. */
export class OrganizationSession {
  readonly #gateway: Gateway;
  readonly #isChosen: (organization_id: string) => boolean;
  readonly #member = signal<ChosenMember | null>(null);
  /** The membership in the chosen organization, or null while no session is open in an organization. */
  readonly member: ReadonlySignal<ChosenMember | null> = this.#member;
  #session: Session | null = null;
  #renewal: Promise<Answer<string>> | null = null;

  /** @param isChosen returns whether the page still shows the organization */
  constructor(gateway: Gateway, isChosen: (organization_id: string) => boolean) {
    this.#gateway = gateway;
    this.#isChosen = isChosen;
  }

  forget(): void {
    this.#session = null;
    this.#member.value = null;
  }

  /** Creates a session in an organization, unless the current session is in the same organization. */
  async choose(organization_id: string): Promise<Answer<ChosenMember>> {
    const present = this.#member.peek();
    if (present?.organization_id === organization_id) return answered(present);
    this.forget();
    return this.#open(organization_id);
  }

  /** Creates a new session for the chosen organization, so that the page shows a changed role or name. */
  async refresh(): Promise<Answer<ChosenMember>> {
    const { organization_id } = this.#member.peek() ?? {};
    return organization_id === undefined ? failed("missing") : this.#open(organization_id);
  }

  async #open(organization_id: string): Promise<Answer<ChosenMember>> {
    const name = await this.#nameOf(organization_id);
    if (!name.ok) return name;
    const session = await this.#mint(organization_id);
    if (!session.ok) return session;
    const member = memberOf(session.value, name.value);
    // The person may have chosen another organization before the response arrived.
    if (this.#isChosen(organization_id)) {
      this.#session = session.value;
      this.#member.value = member;
    }
    return answered(member);
  }

  async #nameOf(organization_id: string): Promise<Answer<string>> {
    const found = await listMemberships(this.#gateway);
    if (!found.ok) return found;
    const membership = found.value.find(({ organization }) => organization.id === organization_id);
    return membership === undefined ? failed("missing") : answered(membership.organization.name);
  }

  #mint(organization_id: string): Promise<Answer<Session>> {
    return this.#gateway.send(Session, pathTo("user", "organizations", organization_id, "session"), {
      as: "person",
      method: "POST",
      body: {},
    });
  }

  /** Returns the session's token, renewed shortly before its expiry. Concurrent calls share a renewal. */
  async token(renewed: boolean): Promise<Answer<string>> {
    const session = this.#session;
    if (session === null) return failed("signed_out");
    const leftMs = Date.parse(session.expires_at) - Date.now();
    if (leftMs > RENEWAL_MS && !renewed) return answered(session.token);
    this.#renewal ??= this.#renewSession(session, renewed).finally(() => {
      this.#renewal = null;
    });
    return this.#renewal;
  }

  async #renewSession(before: Session, refused: boolean): Promise<Answer<string>> {
    const minted = await this.#mint(before.organization_id);
    if (minted.ok) {
      // The person may have chosen another organization before the response arrived.
      if (this.#session === before) {
        this.#session = minted.value;
        this.#member.value = memberOf(minted.value, this.#member.peek()?.organizationName ?? "");
      }
      return answered(minted.value.token);
    }
    const usable = !refused && Date.parse(before.expires_at) > Date.now();
    return usable ? answered(before.token) : minted;
  }
}

function memberOf(
  { member_id, organization_id, role, labels }: Session,
  organizationName: string,
): ChosenMember {
  return { member_id, organization_id, organizationName, role, labels };
}

/** Reads all memberships of the person. A person has few memberships. */
export async function listMemberships(gateway: Gateway): Promise<Answer<Membership[]>> {
  const all: Membership[] = [];
  for (;;) {
    const page = await gateway.list("memberships", Membership, pathTo("user", "memberships"), {
      as: "person",
      query: { limit: 100, starting_after: all.at(-1)?.id },
    });
    if (!page.ok) return page;
    all.push(...page.value.items);
    if (!page.value.has_more || page.value.items.length === 0) return answered(all);
  }
}
