import { bearer } from "@ostiary/client";
import { User } from "@ostiary/lib/contracts/identity-api";
import {
  failed,
  forgetInTab,
  keepInTab,
  type PageAddress,
  PageSession,
  type Pages,
  type Result,
  readFromTab,
  requiredContext,
  type SignedOut,
  usePages,
} from "@ostiary/lib/page";
import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { type Credentials, Gateway, NoCredential, pathTo } from "./gateway.ts";
import { type ChosenMember, OrganizationSession } from "./organization-session.ts";
import { inviteTokenIn } from "./organizations/invite-token.ts";
import { Directory } from "./people/directory.ts";
import { type Address, addressAt, addressOf, ORGANIZATIONS, type ViewPath } from "./portal-address.ts";
import type { PortalSettings } from "./settings.ts";
import { languageFor } from "./texts/texts.ts";

export interface Person {
  readonly id: string;
  /** The name that the person chose, and others see. */
  readonly name: string | null;
  /** The name at the identity provider, which the page offers as the person's name. */
  readonly claimed: string | null;
}

const EVERY_LABEL = "*";
const PAGE_PATH = "/portal";
const INVITE_PATH = `${PAGE_PATH}/invite`;
/** The key of the token of an invitation in the tab, where the token survives the sign-in. */
const KEPT_INVITE = "ostiary.portal.invite";

export class Session extends PageSession<Address> {
  readonly settings: PortalSettings;
  readonly gateway: Gateway;
  readonly language: Signal<string>;
  /** The token of the invitation whose link the person opened, or null. */
  readonly invite: Signal<string | null> = signal(null);
  readonly #person = signal<Person | null>(null);
  readonly organization: OrganizationSession;
  /** The names of the members of the chosen organization. */
  readonly people: Directory;
  readonly person: ReadonlySignal<Person | null> = this.#person;

  constructor(settings: PortalSettings) {
    super(settings.providers, PAGE_PATH, addressAt);
    this.settings = settings;
    const credentials: Credentials = {
      person: bearer((refused) => this.#personToken(refused !== null)),
      member: { header: "X-API-Key", value: (refused) => this.organization.token(refused) },
    };
    this.gateway = new Gateway(credentials, location.origin);
    this.people = new Directory(this.gateway);
    this.organization = new OrganizationSession(this.gateway, {
      isChosen: (id) => this.address.peek().organization_id === id,
      person: () => this.person.peek()?.id ?? "",
      left: () => this.people.forget(),
    });
    this.language = signal(languageFor(navigator.languages, settings.languages));
  }

  /** The membership in the chosen organization, or null while no session is open in an organization. */
  get member(): ReadonlySignal<ChosenMember | null> {
    return this.organization.member;
  }

  async rename(name: string): Promise<Result<User>> {
    const body = { display_name: name };
    const changed = await this.gateway.send(User, pathTo("user"), { method: "PATCH", body });
    const person = this.#person.peek();
    if (changed.ok && person?.id === changed.value.id) {
      this.#person.value = { ...person, name: changed.value.display_name };
      this.people.forget();
    }
    return changed;
  }

  /** Returns whether the member's role grants a label. The page only hides parts; the gateway decides. */
  may(label: string): boolean {
    const labels = this.member.value?.labels ?? [];
    return labels.includes(EVERY_LABEL) || labels.includes(label);
  }

  /** Shows the person's organizations after the person has lost one, unless the page shows another organization. */
  showOrganizationsAfter(lost: string | null): void {
    if (this.address.peek().organization_id === lost) {
      location.hash = addressOf(ORGANIZATIONS, null);
      this.organization.forget();
    } else void this.organization.list();
  }

  override async start(): Promise<void> {
    const { pathname, search, hash } = location;
    const isInvite = pathname.startsWith(INVITE_PATH);
    const token = isInvite ? (inviteTokenIn(pathname + search + hash) ?? hash.slice(1)) : "";
    if (isInvite) {
      if (token !== "") keepInTab(KEPT_INVITE, token);
      history.replaceState(null, "", `${PAGE_PATH}#/invite`);
    }
    this.restore();
    this.follow();
    await super.start();
  }

  protected restore(): void {
    this.invite.value = readFromTab(KEPT_INVITE, Type.String());
  }

  protected async open(name: string | null): Promise<SignedOut | null> {
    const person = await this.gateway.send(User, pathTo("user"));
    if (person.ok) {
      const { id, display_name } = person.value;
      this.begin(() => {
        this.#person.value = { id, name: display_name, claimed: name };
      });
      this.organization.begin();
      return null;
    }
    this.provider?.forget();
    const { kind } = person.failure;
    return { reason: kind === "signed_out" || kind === "forbidden" ? "unknown" : "unavailable" };
  }

  /**
   * Also forgets the invitation. A session in an organization cannot be revoked. It expires within an hour
   * (ID-66).
   */
  override async signOut(): Promise<void> {
    this.discardInvite();
    await super.signOut();
  }

  discardInvite(): void {
    forgetInTab(KEPT_INVITE);
    this.invite.value = null;
  }

  protected forget(): void {
    this.#person.value = null;
    this.organization.forget();
  }

  async #personToken(renewed: boolean): Promise<string> {
    const token = await this.provider?.currentToken(renewed);
    if (token?.ok) return token.token;
    throw new NoCredential(failed(token?.reason === "unavailable" ? "unavailable" : "signed_out"));
  }
}

/** Reads the list at `path` page by page. `name` is the property of a response that has the items: `members`. */
export function useList<Item extends TSchema & { static: { id: string } }>(
  name: string,
  item: Item,
  path: string,
): Pages<Static<Item>> {
  const { gateway } = useSession();
  return usePages(
    (last) => gateway.list(name, item, path, { starting_after: last?.id }),
    ({ id }) => id,
    path,
  );
}

export const [SessionProvider, useSession] = requiredContext<Session>();

/**
 * Returns a function that builds the fragment of a view. The fragment of an organization's view names the
 * chosen organization.
 */
export function useAddress(): (view: ViewPath, place?: Partial<PageAddress>) => string {
  const { organization_id } = useSession().address.value;
  return (view, place) => addressOf(view, organization_id, place);
}
