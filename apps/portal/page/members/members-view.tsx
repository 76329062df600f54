import { AnyMember, Member, type RolesListing } from "@ostiary/lib/contracts/identity-api";
import {
  Button,
  DataTable,
  Empty,
  Facts,
  FailureNotice,
  Form,
  Loaded,
  type PageAddress,
  SearchedList,
  SelectField,
  Time,
  useRequest,
} from "@ostiary/lib/page";
import { Type } from "@sinclair/typebox";
import { useState } from "preact/hooks";
import { pathTo } from "../gateway.ts";
import { Confirm, CopiedId } from "../parts/confirm.tsx";
import { useForm } from "../parts/use-problems.ts";
import { nameOf } from "../people/directory.ts";
import { PersonName } from "../people/person-name.tsx";
import { INVITES, MEMBERS } from "../portal-address.ts";
import { useAddress, useList, useSession } from "../portal-session.ts";
import { Granted, labelsOf, MEMBERS_LABEL, roleOptions, useRoles } from "../roles/roles.tsx";
import { useTexts } from "../texts/texts.ts";

export function MembersView({ place }: { place: PageAddress }) {
  const [member_id] = place.segments;
  return member_id === undefined ? <MemberList /> : <MemberView key={member_id} member_id={member_id} />;
}

function MemberList() {
  const { members: t, invites } = useTexts();
  const session = useSession();
  const address = useAddress();
  const pages = useList("members", Member, pathTo("org", "members"));
  return (
    <>
      <p class="lead">{t.lead}</p>
      {session.may(MEMBERS_LABEL) && (
        <p class="actions">
          <a class="button button-main" href={address(INVITES)}>
            {invites.create}
          </a>
        </p>
      )}
      <SearchedList
        pages={pages}
        texts={t}
        always
        textOf={(member) => `${nameOf(member, t)} ${member.role ?? ""} ${member.id}`}
      >
        {(members) => (
          <DataTable
            label={t.title}
            columns={Object.values(t.columns)}
            rows={members.map((member) => ({
              key: member.id,
              cells: [
                <>
                  <a class="name" href={address(MEMBERS, { segments: [member.id] })}>
                    <PersonName member={member} />
                  </a>
                  {member.id === session.member.value?.member_id && <span class="quiet"> {t.you}</span>}
                </>,
                member.role ?? t.noRole,
                t.status[member.status],
                t.principal[member.principal],
                <Time at={member.created_at} />,
              ],
            }))}
          />
        )}
      </SearchedList>
    </>
  );
}

function MemberView({ member_id }: { member_id: string }) {
  const t = useTexts().members;
  const { gateway } = useSession();
  const address = useAddress();
  const request = useRequest(() => gateway.send(AnyMember, pathTo("org", "members", member_id)), member_id);
  return (
    <>
      <p>
        <a href={address(MEMBERS)}>{t.back}</a>
      </p>
      <Loaded request={request}>
        {(member) =>
          member.status === "removed" ? (
            <section aria-label={nameOf(member, t)}>
              <h2>{nameOf(member, t)}</h2>
              <Empty title={t.removed} />
            </section>
          ) : (
            <CurrentMember member={member} name={nameOf(member, t)} onChange={request.reload} />
          )
        }
      </Loaded>
    </>
  );
}

interface CurrentMemberProps {
  member: Member;
  name: string;
  onChange: () => Promise<void>;
}

type Change = "suspend" | "activate" | "remove" | "leave";

function CurrentMember({ member, name, onChange }: CurrentMemberProps) {
  const { members: t } = useTexts();
  const session = useSession();
  const { value: roles } = useRoles();
  const [change, setChange] = useState<Change | null>(null);
  const own = member.id === session.member.value?.member_id;
  const manages = session.may(MEMBERS_LABEL);
  const last = own ? "leave" : "remove";
  const offered: Change[] = [
    ...(manages ? [member.status === "active" ? ("suspend" as const) : ("activate" as const)] : []),
    ...(manages || own ? ([last] as const) : []),
  ];
  return (
    <section aria-label={name}>
      <h2>
        {name} {own && <span class="quiet">{t.you}</span>}
      </h2>
      <Facts
        facts={[
          [t.columns.role, member.role ?? t.noRole],
          [t.columns.status, t.status[member.status]],
          [t.columns.kind, t.principal[member.principal]],
          [t.columns.since, <Time at={member.created_at} />],
          [t.id, <CopiedId id={member.id} />],
        ]}
      />
      <h3>{t.may}</h3>
      <Granted labels={labelsOf(roles, member.role)} />
      {manages && roles !== null && roles.roles.length > 0 && (
        <ChangeRole member={member} name={name} roles={roles} onChange={onChange} />
      )}
      {offered.length > 0 && (
        <div class="actions">
          {offered.map((each) => (
            <Button key={each} look={each === last ? "danger" : undefined} onClick={() => setChange(each)}>
              {t.actions[each]}
            </Button>
          ))}
        </div>
      )}
      {change !== null && (
        <ConfirmChange {...{ change, member, name, onChange }} onClose={() => setChange(null)} />
      )}
    </section>
  );
}

interface ChangeRoleProps extends CurrentMemberProps {
  roles: RolesListing;
}

/** Shows what the chosen role allows, and changes the member's role to the chosen role. */
function ChangeRole({ member, name, roles, onChange }: ChangeRoleProps) {
  const t = useTexts().members;
  const session = useSession();
  const [role, setRole] = useState(member.role ?? "");
  const form = useForm();
  const { busy, failure } = form;
  const keeps = role === (member.role ?? "");
  const off = busy || keeps || failure?.outcomeUnknown === true;
  const path = pathTo("org", "members", member.id);
  const change = () =>
    form.send(
      {},
      () => session.gateway.send(Member, path, { method: "PATCH", body: { role } }),
      async (changed) => {
        session.announce(t.roleChanged(name, changed.role ?? ""));
        if (member.id === session.member.value?.member_id) await session.organization.refresh();
        await onChange();
      },
    );
  return (
    <Form class="panel" busy={busy} problems={form} onSubmit={() => !off && change()}>
      <SelectField
        label={t.newRole}
        value={role}
        options={roleOptions(roles, member.role)}
        problem={form.of("role") === null ? null : t.last}
        onInput={setRole}
      />
      {!keeps && (
        <>
          <p>{t.willMay(role)}</p>
          <Granted labels={labelsOf(roles, role)} />
        </>
      )}
      {failure !== null && (
        <FailureNotice
          failure={failure}
          shown={["role"]}
          onRetry={failure.outcomeUnknown ? onChange : undefined}
        />
      )}
      <div class="actions">
        <Button type="submit" aria-disabled={off}>
          {t.changeRole}
        </Button>
      </div>
    </Form>
  );
}

interface ConfirmChangeProps extends CurrentMemberProps {
  change: Change;
  onClose: () => void;
}

function ConfirmChange({ change, member, name, onChange, onClose }: ConfirmChangeProps) {
  const t = useTexts().members;
  const session = useSession();
  const form = useForm();
  const path = change === "leave" ? pathTo("member") : pathTo("org", "members", member.id);
  const removes = change === "remove" || change === "leave";
  const make = () =>
    removes
      ? session.gateway.send(Type.Null(), path, { method: "DELETE" })
      : session.gateway.send(Member, path, {
          method: "PATCH",
          body: { status: change === "suspend" ? "suspended" : "active" },
        });
  const confirm = () =>
    form.send({}, make, (_, isLeft) => {
      session.announce(t.done[change](name));
      if (!isLeft) onClose();
      if (change === "leave") session.showOrganizationsAfter(member.organization_id);
      else if (!isLeft) void onChange();
    });
  return (
    <Confirm
      title={t.questions[change](name)}
      action={t.actions[change]}
      danger={removes}
      form={form}
      refusal={t.last}
      fields={["member_id"]}
      onConfirm={confirm}
      onClose={onClose}
      onChange={onChange}
    >
      <p>{t.effects[change]}</p>
    </Confirm>
  );
}
