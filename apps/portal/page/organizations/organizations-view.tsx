import { Organization } from "@ostiary/lib/contracts/identity-api";
import { DataTable, Empty, FailureNotice, Loaded, Loading, useRequest } from "@ostiary/lib/page";
import type { JSX } from "preact";
import { pathTo } from "../gateway.ts";
import { NameForm } from "../parts/name-form.tsx";
import { addressOf, ORGANIZATIONS, OVERVIEW } from "../portal-address.ts";
import { useSession } from "../portal-session.ts";
import { useTexts } from "../texts/texts.ts";

export function OrganizationsView() {
  const session = useSession();
  const { organizations: texts, members } = useTexts();
  const path = pathTo("user", "organizations");
  const memberships = useRequest(() => session.organization.list(), "memberships");
  return (
    <>
      <p class="lead">{texts.lead}</p>
      <Loaded request={memberships}>
        {(all) => (
          <DataTable
            none={
              <Empty title={texts.none}>
                <p>{texts.noneHelp}</p>
              </Empty>
            }
            label={texts.list}
            columns={[texts.name, texts.role]}
            rows={all.map(({ id, organization, role }) => ({
              key: id,
              cells: [
                <a class="name" href={addressOf(OVERVIEW, organization.id)}>
                  {organization.name}
                </a>,
                role ?? members.noRole,
              ],
            }))}
          />
        )}
      </Loaded>
      <NameForm
        name=""
        button={texts.create}
        isMain
        write={(name) => session.gateway.send(Organization, path, { method: "POST", body: { name } })}
        done={({ id, name }, isLeft) => {
          session.announce(texts.created(name));
          if (isLeft) void session.organization.list();
          else location.hash = addressOf(OVERVIEW, id);
        }}
        onUnknown={memberships.reload}
      >
        <h2>{texts.create}</h2>
        <p class="quiet">{texts.createLead}</p>
      </NameForm>
    </>
  );
}

/** Creates a session in the organization `id`, and then shows `children`. */
export function ChosenOrganization({ id, children }: { id: string; children: JSX.Element }) {
  const session = useSession();
  const { overview, organizations } = useTexts();
  const { failure, reload } = useRequest(() => session.organization.choose(id), id);
  if (failure !== null) {
    return (
      <>
        <FailureNotice
          failure={failure}
          text={failure.kind === "missing" ? overview.gone : undefined}
          onRetry={reload}
        />
        <a href={addressOf(ORGANIZATIONS, null)}>{organizations.change}</a>
      </>
    );
  }
  return session.member.value?.organization_id === id ? children : <Loading />;
}
