import { NAME_LENGTH_MAX, Organization } from "@ostiary/lib/contracts/identity-api";
import { Empty } from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { addressOf } from "../address.ts";
import { type Gateway, pathTo } from "../gateway.ts";
import { DataTable } from "../parts/data-table.tsx";
import { FailureNotice } from "../parts/failure-notice.tsx";
import { Form } from "../parts/form.tsx";
import { Loading } from "../parts/shown.tsx";
import { TextField } from "../parts/text-field.tsx";
import { problemOf, useProblems } from "../parts/use-problems.ts";
import { listMemberships, useAsked, useSession, useWrite } from "../session.ts";
import { useTexts } from "../texts/texts.ts";
import { OVERVIEW } from "./places.ts";

/** Lists the person's organizations, and lets the person create an organization. */
export function OrganizationsView() {
  const session = useSession();
  const { organizations: texts } = useTexts();
  const { answer, failure, loading, again } = useAsked(() => listMemberships(session.gateway), "memberships");
  return (
    <>
      <p class="lead quiet">{texts.lead}</p>
      {failure !== null && <FailureNotice failure={failure} onRetry={again} />}
      {answer === null && loading && <Loading />}
      {answer?.length === 0 && (
        <Empty title={texts.none}>
          <p>{texts.noneHelp}</p>
        </Empty>
      )}
      {answer !== null && answer.length > 0 && (
        <DataTable
          label={texts.list}
          columns={[texts.name, texts.role]}
          rows={answer.map(({ id, organization, role }) => ({
            key: id,
            cells: [
              <a class="name" href={addressOf(OVERVIEW, organization.id)}>
                {organization.name}
              </a>,
              role ?? texts.noRole,
            ],
          }))}
        />
      )}
      <CreateOrganization onUnknown={again} />
    </>
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
  const [name, setName] = useState("");
  const { busy, failure, write, clear } = useWrite();
  const problems = useProblems(failure);
  const create = () =>
    problems.pass({ name: problemOf(name, { length_max: NAME_LENGTH_MAX }) }) &&
    write(
      () => createOrganization(session.gateway, name),
      (organization) => {
        session.announce(texts.created(organization.name));
        location.hash = addressOf(OVERVIEW, organization.id);
      },
    );
  const lookAgain = async () => {
    clear();
    await onUnknown();
  };
  return (
    <Form class="panel" busy={busy} problems={problems} onSubmit={() => void create()}>
      <h2>{texts.create}</h2>
      <p class="quiet">{texts.createLead}</p>
      <TextField
        label={texts.name}
        value={name}
        onInput={setName}
        help={texts.nameHelp}
        problem={problems.of("name")}
        required
      />
      {failure !== null && (
        <FailureNotice
          failure={failure}
          shown={["name"]}
          onRetry={failure.outcome_unknown ? lookAgain : undefined}
          retryLabel={texts.lookAgain}
        />
      )}
      <div class="actions">
        <button type="submit" class="button button-main" aria-disabled={busy}>
          {busy ? texts.creating : texts.create}
        </button>
      </div>
    </Form>
  );
}
