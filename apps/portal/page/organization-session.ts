import { lifetimeOf, SessionCredential } from "@ostiary/client";
import { Membership, Session } from "@ostiary/lib/contracts/identity-api";
import { type Answer, answered, failed } from "@ostiary/lib/page";
import { type ReadonlySignal, signal } from "@preact/signals";
import { answerTo, type Gateway, NoCredential, parsed, pathTo } from "./gateway.ts";

/** The person's membership in the chosen organization. */
export interface ChosenMember {
  readonly member_id: string;
  readonly organization_id: string;
  readonly organizationName: string;
  readonly role: string | null;
  readonly labels: readonly string[];
}

/** The member's session in the chosen organization, with its creation and renewal. */
export class OrganizationSession {
  readonly #gateway: Gateway;
  readonly #isChosen: (organization_id: string) => boolean;
  readonly #member = signal<ChosenMember | null>(null);
  /** The membership in the chosen organization, or null while no session is open in an organization. */
  readonly member: ReadonlySignal<ChosenMember | null> = this.#member;
  #session: SessionCredential | null = null;

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
    let member: ChosenMember | null = null;
    const session: SessionCredential = new SessionCredential(async () => {
      const { minted, lifetimeMs } = await this.#mint(organization_id);
      member = memberOf(minted, name.value);
      if (this.#session === session) this.#member.value = member;
      return { token: minted.token, lifetimeMs };
    });
    try {
      await session.value(null);
    } catch (error) {
      return answerTo(error, true);
    }
    if (member === null) throw new Error("A session was not minted.");
    // The person may have chosen another organization before the response arrived.
    if (this.#isChosen(organization_id)) {
      this.#session = session;
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

  async #mint(organization_id: string): Promise<{ minted: Session; lifetimeMs: number }> {
    const path = pathTo("user", "organizations", organization_id, "session");
    const answer = await this.#gateway.stream(path, { as: "person", method: "POST", body: {} });
    if (!answer.ok) throw new NoCredential(answer);
    const minted = await parsed(Session, answer.value, { method: "POST" });
    if (!minted.ok) throw new NoCredential(minted);
    return { minted: minted.value, lifetimeMs: lifetimeOf(minted.value.expires_at, answer.value) };
  }

  /** Returns the session's token, renewed shortly before its end and when the gateway refused it. */
  async token(refused: string | null): Promise<string> {
    if (this.#session === null) throw new NoCredential(failed("signed_out"));
    return this.#session.value(refused);
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
