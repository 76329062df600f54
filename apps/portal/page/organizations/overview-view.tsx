import { Organization } from "@ostiary/lib/contracts/identity-api";
import { Answered, Fact, Time, useAsked } from "@ostiary/lib/page";
import { pathTo } from "../gateway.ts";
import { RENAME_LABEL } from "../labels.ts";
import { useSession } from "../page-session.ts";
import { useTexts } from "../texts/texts.ts";
import { NameForm } from "./name-form.tsx";

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
  const { overview: texts, organizations } = useTexts();
  const member = useSession().member.value;
  if (member === null) return null;
  return (
    <section aria-labelledby="membership">
      <h2 id="membership">{texts.you}</h2>
      <dl class="facts">
        <Fact name={texts.role}>{member.role ?? organizations.noRole}</Fact>
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
