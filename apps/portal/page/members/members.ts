import { Member } from "@ostiary/lib/contracts/identity-api";
import { type Gateway, pathTo } from "../gateway.ts";
import { PAGE_ITEMS } from "../parts/use-pages.ts";

/**
 * The reason why a member cannot leave: `member` for the last member, `holder` for the last holder of the
 * creator role (ID-36, ID-37). Null if there is no known reason.
 */
type LastOf = "member" | "holder" | null;

/** The maximum number of pages of members that {@link lastOf} reads before it returns null. */
const PAGES_MAX = 10;

/**
 * Finds out whether a member is the last member or the last holder of the creator role. Returns null if the
 * member is neither, if a request fails, or if the list is too long to read.
 */
export async function lastOf(
  gateway: Gateway,
  { id, role }: Pick<Member, "id" | "role">,
  creator_role: string | null,
): Promise<LastOf> {
  const holds = creator_role !== null && role === creator_role;
  let others = 0;
  let starting_after: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const query = { limit: PAGE_ITEMS, starting_after };
    const answer = await gateway.list("members", Member, pathTo("org", "members"), { as: "member", query });
    if (!answer.ok) return null;
    const { items, has_more } = answer.value;
    const found = items.filter((member) => member.id !== id);
    others += found.length;
    if (others > 0 && (!holds || found.some((member) => member.role === creator_role))) return null;
    if (!has_more) return others === 0 ? "member" : "holder";
    starting_after = items.at(-1)?.id;
  }
  return null;
}
