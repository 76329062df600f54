import { Member } from "@ostiary/lib/contracts/identity-api";
import { DataTable, type Place, Time } from "@ostiary/lib/page";
import { MEMBERS } from "../address.ts";
import { pathTo } from "../gateway.ts";
import { useAddress, useSession } from "../page-session.ts";
import { SearchedList } from "../parts/searched-list.tsx";
import { useList } from "../parts/use-pages.ts";
import { useTexts } from "../texts/texts.ts";
import { MemberView } from "./member-view.tsx";

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
        textOf={({ display_name, role, id }) => `${display_name ?? ""} ${role ?? ""} ${id}`}
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
              {member.display_name ?? t.unnamed}
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
