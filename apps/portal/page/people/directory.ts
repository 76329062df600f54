import { AnyMember, isBlank, Member } from "@ostiary/lib/contracts/identity-api";
import { type ReadonlySignal, signal } from "@preact/signals";
import type { Static } from "@sinclair/typebox";
import { type Gateway, pathTo } from "../gateway.ts";

/** The parts of a member that the page shows as the member's name. */
export type Named = Pick<Static<typeof AnyMember>, "id" | "display_name" | "principal" | "status">;

/** The maximum number of pages of members that the directory reads. */
const PAGES_MAX = 3;
/** The maximum number of members that the directory looks up by id beyond these pages. */
const LOOKUPS_MAX = 10;

/**
 * The names of the members of the chosen organization. All views share it, so that names cost few calls of the
 * organization's limit: at most three pages of the list of members, and ten look-ups by id.
 */
export class Directory {
  readonly #gateway: Gateway;
  readonly #members = signal<ReadonlyMap<string, Named>>(new Map());
  readonly members: ReadonlySignal<ReadonlyMap<string, Named>> = this.#members;
  #pages: Promise<void> | null = null;
  #lookedUp = new Set<string>();

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
  }

  forget(): void {
    this.#members.value = new Map();
    this.#pages = null;
    this.#lookedUp = new Set();
  }

  /** Reads the names of these members, unless they are known. */
  async find(ids: readonly string[]): Promise<void> {
    const lookedUp = this.#lookedUp;
    this.#pages ??= this.#readPages(lookedUp);
    await this.#pages;
    for (const id of ids) {
      const isKnown = this.#members.peek().has(id) || lookedUp.has(id);
      if (isKnown || lookedUp.size >= LOOKUPS_MAX || lookedUp !== this.#lookedUp) continue;
      lookedUp.add(id);
      const found = await this.#gateway.send(AnyMember, pathTo("org", "members", id));
      if (found.ok && lookedUp === this.#lookedUp) this.learn([found.value]);
    }
  }

  learn(members: readonly Named[]): void {
    this.#members.value = new Map([
      ...this.#members.peek(),
      ...members.map((member) => [member.id, member] as const),
    ]);
  }

  async #readPages(lookedUp: Set<string>): Promise<void> {
    let starting_after: string | undefined;
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const listed = await this.#gateway.list("members", Member, pathTo("org", "members"), {
        starting_after,
      });
      if (!listed.ok || lookedUp !== this.#lookedUp) return;
      this.learn(listed.value.items);
      if (!listed.value.has_more) return;
      starting_after = listed.value.items.at(-1)?.id;
    }
  }
}

/** The number of characters of an id that tell members without a name apart. */
const END_LENGTH = 5;

/** Returns a member's name. A member without a visible name gets one that `unnamed` makes of the id's end. */
export function nameOf(
  { id, display_name }: Pick<Named, "id" | "display_name">,
  { unnamed }: { unnamed: (end: string) => string },
): string {
  return display_name === null || isBlank(display_name) ? unnamed(id.slice(-END_LENGTH)) : display_name;
}
