import { NAME_LENGTH_MAX, Organization } from "@ostiary/lib/contracts/identity-api";
import { useEffect, useState } from "preact/hooks";
import { pathTo } from "../gateway.ts";
import { FailureNotice } from "../parts/failure-notice.tsx";
import { Form } from "../parts/form.tsx";
import { Loading, Time } from "../parts/shown.tsx";
import { TextField } from "../parts/text-field.tsx";
import { problemOf, useProblems } from "../parts/use-problems.ts";
import { useAsked, useSession, useWrite } from "../session.ts";
import { useTexts } from "../texts/texts.ts";

/** The label that allows a member to rename the organization. */
const RENAME_LABEL = "org:write";

/** Shows the organization and the person's membership in it. */
export function OverviewView() {
  const session = useSession();
  const { overview: texts } = useTexts();
  const { answer, failure, again } = useAsked(
    () => session.gateway.send(Organization, pathTo("org"), { as: "member" }),
    "organization",
  );
  return (
    <>
      {failure !== null && <FailureNotice failure={failure} onRetry={again} />}
      {answer === null && failure === null && <Loading />}
      {answer !== null && (
        <section aria-labelledby="organization">
          <h2 id="organization">{texts.organization}</h2>
          <dl class="facts">
            <dt>{texts.name}</dt>
            <dd>{answer.name}</dd>
            <dt>{texts.id}</dt>
            <dd>
              <code>{answer.id}</code>
            </dd>
            <dt>{texts.plan}</dt>
            <dd>{answer.plan ?? texts.noPlan}</dd>
            <dt>{texts.created}</dt>
            <dd>
              <Time at={answer.created_at} />
            </dd>
          </dl>
          {session.may(RENAME_LABEL) && <Rename name={answer.name} onChange={again} />}
        </section>
      )}
      <OwnMembership />
    </>
  );
}

function Rename({ name, onChange }: { name: string; onChange: () => Promise<void> }) {
  const session = useSession();
  const { overview: texts, organizations } = useTexts();
  const [wanted, setWanted] = useState(name);
  const { busy, failure, write } = useWrite();
  const problems = useProblems(failure);
  useEffect(() => setWanted(name), [name]);
  const rename = () =>
    problems.pass({ name: problemOf(wanted, { length_max: NAME_LENGTH_MAX }) }) &&
    write(
      () =>
        session.gateway.send(Organization, pathTo("org"), {
          as: "member",
          method: "PATCH",
          body: { name: wanted },
        }),
      (organization) => {
        session.announce(texts.renamed(organization.name));
        void session.refresh();
        void onChange();
      },
    );
  return (
    <Form class="panel" busy={busy} problems={problems} onSubmit={() => void rename()}>
      <h3>{texts.rename}</h3>
      <TextField
        label={texts.name}
        value={wanted}
        onInput={setWanted}
        help={organizations.nameHelp}
        problem={problems.of("name")}
        required
      />
      {failure !== null && (
        <FailureNotice
          failure={failure}
          shown={["name"]}
          onRetry={failure.outcome_unknown ? onChange : undefined}
        />
      )}
      <div class="actions">
        <button type="submit" class="button" aria-disabled={busy}>
          {busy ? texts.saving : texts.save}
        </button>
      </div>
    </Form>
  );
}

/** Shows the person's role in the organization, and what the role grants. */
function OwnMembership() {
  const { overview: texts, organizations } = useTexts();
  const member = useSession().member.value;
  if (member === null) return null;
  return (
    <section aria-labelledby="membership">
      <h2 id="membership">{texts.you}</h2>
      <dl class="facts">
        <dt>{texts.role}</dt>
        <dd>{member.role ?? organizations.noRole}</dd>
        <dt>{texts.member}</dt>
        <dd>
          <code>{member.member_id}</code>
        </dd>
        <dt>{texts.labels}</dt>
        <dd>
          <Granted labels={member.labels} />
        </dd>
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
