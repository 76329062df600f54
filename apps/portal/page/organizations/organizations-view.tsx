import { type Membership, NAME_LENGTH_MAX, Organization } from "@ostiary/lib/contracts/identity-api";
import {
  type Answer,
  Answered,
  Button,
  DataTable,
  Empty,
  Fact,
  FailureNotice,
  Form,
  Loading,
  TextField,
  Time,
  useAsked,
  useDraft,
} from "@ostiary/lib/page";
import type { ComponentChildren, JSX } from "preact";
import { addressOf, ORGANIZATIONS, OVERVIEW } from "../address.ts";
import { type Gateway, pathTo } from "../gateway.ts";
import { listMemberships } from "../organization-session.ts";
import { useSession } from "../page-session.ts";
import { problemOf, useForm } from "../parts/use-problems.ts";
import { RENAME_LABEL } from "../roles/roles.tsx";
import { useTexts } from "../texts/texts.ts";

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
  const { organizations: texts, members } = useTexts();
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
          role ?? members.noRole,
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

/** Shows the organization and the person's membership in it. */
export function OverviewView() {
  const session = useSession();
  const { overview: texts } = useTexts();
  const organization = useAsked(
    () => session.gateway.send(Organization, pathTo("org"), { as: "member" }),
    "organization",
  );
  return (
    <>
      <Answered asked={organization}>
        {({ name, id, plan, created_at }) => (
          <section aria-labelledby="organization">
            <h2 id="organization">{texts.organization}</h2>
            <dl class="facts">
              <Fact name={texts.name}>{name}</Fact>
              <Fact name={texts.id}>
                <code>{id}</code>
              </Fact>
              <Fact name={texts.plan}>{plan ?? texts.noPlan}</Fact>
              <Fact name={texts.created}>
                <Time at={created_at} />
              </Fact>
            </dl>
            {session.may(RENAME_LABEL) && <Rename name={name} onChange={organization.again} />}
          </section>
        )}
      </Answered>
      <OwnMembership />
    </>
  );
}

function Rename({ name, onChange }: { name: string; onChange: () => Promise<void> }) {
  const session = useSession();
  const { overview: texts } = useTexts();
  return (
    <NameForm
      name={name}
      button={[texts.save, texts.saving]}
      write={(wanted) =>
        session.gateway.send(Organization, pathTo("org"), {
          as: "member",
          method: "PATCH",
          body: { name: wanted },
        })
      }
      done={(organization) => {
        session.announce(texts.renamed(organization.name));
        void session.organization.refresh();
        void onChange();
      }}
      onUnknown={onChange}
    >
      <h3>{texts.rename}</h3>
    </NameForm>
  );
}

/** Shows the person's role in the organization, and what the role grants. */
function OwnMembership() {
  const { overview: texts, members } = useTexts();
  const member = useSession().member.value;
  if (member === null) return null;
  return (
    <section aria-labelledby="membership">
      <h2 id="membership">{texts.you}</h2>
      <dl class="facts">
        <Fact name={members.columns.role}>{member.role ?? members.noRole}</Fact>
        <Fact name={texts.member}>
          <code>{member.member_id}</code>
        </Fact>
        <Fact name={texts.labels}>
          <Granted labels={member.labels} />
        </Fact>
      </dl>
    </section>
  );
}

function Granted({ labels }: { labels: readonly string[] }) {
  const { overview: texts } = useTexts();
  if (labels.includes("*")) return <>{texts.everything}</>;
  if (labels.length === 0) return <>{texts.nothing}</>;
  return (
    <>
      {labels.map((label) => (
        <span key={label}>
          <code class="label">{label}</code>{" "}
        </span>
      ))}
    </>
  );
}

interface NameFormProps {
  /** The current name. Empty for a new organization. */
  name: string;
  /** The label of the submit button, and its label while the request is in flight. */
  button: readonly [idle: string, busy: string];
  isMain?: boolean;
  write: (name: string) => Promise<Answer<Organization>>;
  done: (organization: Organization) => void;
  /**
   * Called to reload the data if the outcome of the write is unknown. `clear` removes the notice about the
   * failure.
   */
  onUnknown: (clear: () => void) => unknown;
  retryLabel?: string;
  children: ComponentChildren;
}

/** Shows a form that writes the name of an organization. */
function NameForm({ name, button, isMain = false, write, done, ...props }: NameFormProps) {
  const { organizations: texts } = useTexts();
  const [wanted, setWanted] = useDraft(name);
  const form = useForm();
  const { busy, failure } = form;
  const submit = () =>
    form.send({ name: problemOf(wanted, { lengthMax: NAME_LENGTH_MAX }) }, () => write(wanted), done);
  return (
    <Form class="panel" busy={busy} problems={form} onSubmit={submit}>
      {props.children}
      <TextField
        label={texts.name}
        value={wanted}
        onInput={setWanted}
        help={texts.nameHelp}
        problem={form.of("name")}
        required
      />
      {failure !== null && (
        <FailureNotice
          failure={failure}
          shown={["name"]}
          onRetry={failure.outcomeUnknown ? () => void props.onUnknown(form.clear) : undefined}
          retryLabel={props.retryLabel}
        />
      )}
      <div class="actions">
        <Button type="submit" look={isMain ? "main" : undefined} aria-disabled={busy}>
          {button[busy ? 1 : 0]}
        </Button>
      </div>
    </Form>
  );
}
