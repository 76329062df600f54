import { useEffect } from "preact/hooks";
import { useSession } from "../portal-session.ts";
import { useTexts } from "../texts/texts.ts";
import { type Named, nameOf } from "./directory.ts";

/** Shows the name of a member. A name in another script does not change the order of the text around it. */
export function PersonName({ member }: { member: Pick<Named, "id" | "display_name"> }) {
  return <bdi>{nameOf(member, useTexts().members)}</bdi>;
}

/** Returns the known members by id, and reads the members with these ids. */
export function usePeople(ids: readonly (string | null)[]): ReadonlyMap<string, Named> {
  const { people } = useSession();
  const wanted = [...new Set(ids)].filter((id) => id !== null);
  useEffect(() => {
    if (wanted.length > 0) void people.find(wanted);
  }, [wanted.join(" ")]);
  return people.members.value;
}
