import { type Membership, Organization } from "@ostiary/lib/contracts/identity-api";
import { Answered, DataTable, Empty, useAsked } from "@ostiary/lib/page";
import { addressOf, OVERVIEW } from "../address.ts";
import { type Gateway, pathTo } from "../gateway.ts";
import { useSession } from "../page-session.ts";
import { useTexts } from "../texts/texts.ts";
import { listMemberships } from "./list-memberships.ts";
import { NameForm } from "./name-form.tsx";

/** Lists the person's organizations, and lets the person create an organization. */
export function OrganizationsView() {
  const session = useSession();
  const { organizations: texts } = useTexts();
  const memberships = useAsked(() => listMemberships(session.gateway), "memberships");
  return (
    <>
      <p class="lead quiet">{texts.lead}</p>
      <Answered asked={memberships}>{(answer) => <Organizations memberships={answer} />}</Answered>
      <CreateOrganization onUnknown={memberships.again} />
    </>
  );
}

function Organizations({ memberships }: { memberships: readonly Membership[] }) {
  const { organizations: texts } = useTexts();
  if (memberships.length === 0) {
    return (
      <Empty title={texts.none}>
        <p>{texts.noneHelp}</p>
      </Empty>
    );
  }
  return (
    <DataTable
      label={texts.list}
      columns={[texts.name, texts.role]}
      rows={memberships.map(({ id, organization, role }) => ({
        key: id,
        cells: [
          <a class="name" href={addressOf(OVERVIEW, organization.id)}>
            {organization.name}
          </a>,
          role ?? texts.noRole,
        ],
      }))}
    />
  );
}

function createOrganization(gateway: Gateway, name: string) {
  const path = pathTo("user", "organizations");
  return gateway.send(Organization, path, { as: "person", method: "POST", body: { name } });
}

/** Creates an organization, and opens it. */
function CreateOrganization({ onUnknown }: { onUnknown: () => Promise<void> }) {
  const session = useSession();
  const { organizations: texts } = useTexts();
  return (
    <NameForm
      name=""
      button={[texts.create, texts.creating]}
      isMain
      write={(name) => createOrganization(session.gateway, name)}
      done={(organization) => {
        session.announce(texts.created(organization.name));
        location.hash = addressOf(OVERVIEW, organization.id);
      }}
      onUnknown={(clear) => {
        clear();
        return onUnknown();
      }}
      retryLabel={texts.lookAgain}
    >
      <h2>{texts.create}</h2>
      <p class="quiet">{texts.createLead}</p>
    </NameForm>
  );
}
