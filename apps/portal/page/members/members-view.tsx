import { AnyMember, Member, type RolesListing } from "@ostiary/lib/contracts/identity-api";
import {
  Answered,
  Button,
  DataTable,
  Empty,
  Fact,
  FailureNotice,
  Form,
  type Place,
  SelectField,
  Time,
  useAsked,
} from "@ostiary/lib/page";
import { type Static, Type } from "@sinclair/typebox";
import { useState } from "preact/hooks";
import { MEMBERS } from "../address.ts";
import { type Gateway, PAGE_ITEMS, pathTo } from "../gateway.ts";
import { useAddress, useSession } from "../page-session.ts";
import { Confirm, Refused } from "../parts/confirm.tsx";
import { SearchedList, useList } from "../parts/lists.tsx";
import { useForm } from "../parts/use-problems.ts";
import { nameOf } from "../people/directory.ts";
import { PersonName } from "../people/person-name.tsx";
import { Granted, labelsOf, MEMBERS_LABEL, roleOptions, useRoles } from "../roles/roles.tsx";
import { useTexts } from "../texts/texts.ts";

export function MembersView({ place }: { place: Place }) {
  const [member_id] = place.segments;
  return member_id === undefined ? <MemberList /> : <MemberView key={member_id} member_id={member_id} />;
}

function MemberList() {
  const t = useTexts().members;
  const pages = useList("members", Member, pathTo("org", "members"));
  return (
    <>
      <p class="lead">{t.lead}</p>
      <SearchedList
        pages={pages}
        texts={t}
        always
        textOf={(member) => `${nameOf(member, t)} ${member.role ?? ""} ${member.id}`}
      >
        {(members) => <MemberTable members={members} />}
      </SearchedList>
    </>
  );
}

function MemberTable({ members }: { members: readonly Member[] }) {
  const t = useTexts().members;
  const session = useSession();
  const address = useAddress();
  const own = session.member.value?.member_id;
  return (
    <DataTable
      label={t.title}
      columns={[t.columns.name, t.columns.role, t.columns.status, t.columns.kind, t.columns.since]}
      rows={members.map((member) => ({
        key: member.id,
        cells: [
          <>
            <a class="name" href={address(MEMBERS, { segments: [member.id] })}>
              <PersonName member={member} />
            </a>
            {member.id === own && <span class="quiet"> {t.you}</span>}
          </>,
          member.role ?? t.noRole,
          t.status[member.status],
          t.principal[member.principal],
          <Time at={member.created_at} />,
        ],
      }))}
    />
  );
}

/** Shows one member, and offers the changes that the user's role allows. */
function MemberView({ member_id }: { member_id: string }) {
  const t = useTexts().members;
  const { gateway } = useSession();
  const address = useAddress();
  const asked = useAsked(
    () => gateway.send(AnyMember, pathTo("org", "members", member_id), { as: "member" }),
    member_id,
  );
  return (
    <>
      <p>
        <a href={address(MEMBERS)}>{t.back}</a>
      </p>
      <Answered asked={asked}>{(member) => <Shown member={member} onChange={asked.again} />}</Answered>
    </>
  );
}

function Shown({ member, onChange }: { member: Static<typeof AnyMember>; onChange: () => Promise<void> }) {
  const t = useTexts().members;
  const name = nameOf(member, t);
  if (member.status === "removed") {
    return (
      <section aria-label={name}>
        <h2>{name}</h2>
        <Empty title={t.removed} />
      </section>
    );
  }
  return <Living member={member} name={name} onChange={onChange} />;
}

interface LivingProps {
  member: Member;
  name: string;
  onChange: () => Promise<void>;
}

function Living({ member, name, onChange }: LivingProps) {
  const t = useTexts().members;
  const session = useSession();
  const roles = useRoles();
  const own = member.id === session.member.value?.member_id;
  return (
    <section aria-label={name}>
      <h2>
        {name} {own && <span class="quiet">{t.you}</span>}
      </h2>
      <dl class="facts">
        <Fact name={t.columns.role}>{member.role ?? t.noRole}</Fact>
        <Fact name={t.columns.status}>{t.status[member.status]}</Fact>
        <Fact name={t.columns.kind}>{t.principal[member.principal]}</Fact>
        <Fact name={t.columns.since}>
          <Time at={member.created_at} />
        </Fact>
        <Fact name={t.id}>
          <code>{member.id}</code>
        </Fact>
      </dl>
      <h3>{t.may}</h3>
      <Granted labels={labelsOf(roles.answer, member.role)} />
      {(own || session.may(MEMBERS_LABEL)) && (
        <Changes member={member} name={name} own={own} roles={roles.answer} onChange={onChange} />
      )}
    </section>
  );
}

interface ChangesProps extends LivingProps {
  own: boolean;
  roles: RolesListing | null;
}

type Change = "suspend" | "activate" | "remove" | "leave";

function Changes({ member, name, own, roles, onChange }: ChangesProps) {
  const t = useTexts().members;
  const session = useSession();
  const [change, setChange] = useState<Change | null>(null);
  const last = useAsked(
    async () =>
      ({ ok: true, value: await lastOf(session.gateway, member, roles?.creator_role ?? null) }) as const,
    `${member.id} ${member.role} ${roles?.creator_role}`,
  );
  const refused = last.answer === null ? null : t.lastOf[last.answer];
  const manages = session.may(MEMBERS_LABEL);
  const toggle = member.status === "active" ? "suspend" : "activate";
  return (
    <>
      {manages && roles !== null && roles.roles.length > 0 && (
        <ChangeRole member={member} name={name} roles={roles} refused={refused} onChange={onChange} />
      )}
      <div class="actions">
        {manages && <Button onClick={() => setChange(toggle)}>{t.actions[toggle]}</Button>}
        {manages && !own && (
          <Button look="danger" onClick={() => setChange("remove")}>
            {t.actions.remove}
          </Button>
        )}
        {own && (
          <Button look="danger" onClick={() => setChange("leave")}>
            {t.actions.leave}
          </Button>
        )}
      </div>
      {change !== null && (
        <ConfirmChange
          change={change}
          member={member}
          name={name}
          refused={change === "remove" || change === "leave" ? refused : null}
          onChange={onChange}
          onClose={() => setChange(null)}
        />
      )}
    </>
  );
}

interface ChangeRoleProps extends LivingProps {
  roles: RolesListing;
  refused: string | null;
}

/** Shows what the chosen role allows, and changes the member's role to the chosen role. */
function ChangeRole({ member, name, roles, refused, onChange }: ChangeRoleProps) {
  const t = useTexts().members;
  const session = useSession();
  const [role, setRole] = useState(member.role ?? "");
  const form = useForm();
  const { busy, failure } = form;
  const keeps = role === (member.role ?? "");
  const why = keeps || refused === null || member.role !== roles.creator_role ? null : refused;
  const off = busy || keeps || why !== null || failure?.outcomeUnknown === true;
  const change = () =>
    form.send(
      {},
      () => sendRole(session.gateway, member.id, role),
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
        problem={form.of("role")}
        onChange={setRole}
      />
      {!keeps && (
        <>
          <p>{t.willMay(role)}</p>
          <Granted labels={labelsOf(roles, role)} />
        </>
      )}
      <Refused why={why} />
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

function sendRole(gateway: Gateway, member_id: string, role: string) {
  const path = pathTo("org", "members", member_id);
  return gateway.send(Member, path, { as: "member", method: "PATCH", body: { role } });
}

interface ConfirmChangeProps extends LivingProps {
  change: Change;
  refused: string | null;
  onClose: () => void;
}

function ConfirmChange({ change, member, name, refused, onChange, onClose }: ConfirmChangeProps) {
  const t = useTexts().members;
  const session = useSession();
  const form = useForm();
  const path = change === "leave" ? pathTo("member") : pathTo("org", "members", member.id);
  const removes = change === "remove" || change === "leave";
  const make = () =>
    removes
      ? session.gateway.send(Type.Null(), path, { as: "member", method: "DELETE" })
      : session.gateway.send(Member, path, {
          as: "member",
          method: "PATCH",
          body: { status: change === "suspend" ? "suspended" : "active" },
        });
  const confirm = () =>
    form.send({}, make, () => {
      session.announce(t.done[change](name));
      onClose();
      if (change === "leave") location.hash = "#/organizations";
      else void onChange();
    });
  return (
    <Confirm
      title={t.questions[change](name)}
      action={t.actions[change]}
      danger={removes}
      form={form}
      refused={refused}
      onConfirm={confirm}
      onClose={onClose}
      onChange={onChange}
    >
      <p>{t.effects[change]}</p>
    </Confirm>
  );
}

/**
 * The reason why a member cannot leave: `member` for the last member, `holder` for the last holder of the
 * creator role (ID-36, ID-37). Null if there is no known reason.
 */
type LastOf = "member" | "holder" | null;

/** The maximum number of pages of members that {@link lastOf} reads before it returns null. */
const PAGES_MAX = 10;

/**
 * Finds out whether a member is the last member or the last holder of the creator role. Returns null if the
 * member is neither, if a request fails, or if the list is too long to read.
 */
async function lastOf(
  gateway: Gateway,
  { id, role }: Pick<Member, "id" | "role">,
  creator_role: string | null,
): Promise<LastOf> {
  const holds = creator_role !== null && role === creator_role;
  let others = 0;
  let starting_after: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const query = { limit: PAGE_ITEMS, starting_after };
    const answer = await gateway.list("members", Member, pathTo("org", "members"), { as: "member", query });
    if (!answer.ok) return null;
    const { items, has_more } = answer.value;
    const found = items.filter((member) => member.id !== id);
    others += found.length;
    if (others > 0 && (!holds || found.some((member) => member.role === creator_role))) return null;
    if (!has_more) return others === 0 ? "member" : "holder";
    starting_after = items.at(-1)?.id;
  }
  return null;
}
