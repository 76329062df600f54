import { FailureNotice, Loading, useAsked } from "@ostiary/lib/page";
import type { JSX } from "preact";
import { addressOf, ORGANIZATIONS } from "../address.ts";
import { useSession } from "../page-session.ts";
import { useTexts } from "../texts/texts.ts";

/** Creates a session in the organization `id`, and then shows `children`. */
export function ChosenOrganization({ id, children }: { id: string; children: JSX.Element }) {
  const session = useSession();
  const { overview, organizations } = useTexts();
  const { failure, again } = useAsked(() => session.organization.choose(id), id);
  if (failure !== null) {
    return (
      <>
        <FailureNotice
          failure={failure}
          text={failure.kind === "missing" ? overview.gone : undefined}
          onRetry={again}
        />
        <a href={addressOf(ORGANIZATIONS, null)}>{organizations.change}</a>
      </>
    );
  }
  return session.member.value?.organization_id === id ? children : <Loading />;
}
