import { addressOf } from "./address.ts";
import { useSession } from "./page-session.ts";
import type { ViewPath } from "./view-paths.ts";

type PlaceInView = Parameters<typeof addressOf>[2];

/**
 * Returns a function that builds the fragment of a view. The fragment of an organization's view names the
 * chosen organization.
 */
export function useAddress(): (view: ViewPath, place?: PlaceInView) => string {
  const { organization_id } = useSession().address.value;
  return (view, place) => addressOf(view, organization_id, place);
}
