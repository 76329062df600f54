import type { Member } from "@ostiary/lib/contracts/identity-api";
import { useEffect, useState } from "preact/hooks";
import type { Place } from "../address.ts";
import { DataTable } from "../parts/data-table.tsx";
import { FailureNotice } from "../parts/failure-notice.tsx";
import { More } from "../parts/more.tsx";
import { Empty, Loading, Time } from "../parts/shown.tsx";
import { TextField } from "../parts/text-field.tsx";
import { usePages } from "../parts/use-pages.ts";
import { useSession } from "../session.ts";
import { useFormats, useTexts } from "../texts/texts.ts";
import { useAddress } from "../use-address.ts";
import { MemberView } from "./member-view.tsx";
import { isFound, listMembers, wordsOf } from "./members.ts";
import { MEMBERS } from "./place.ts";

export function MembersView({ place }: { place: Place }) {
  const [member_id] = place.segments;
  return member_id === undefined ? <MemberList /> : <MemberView key={member_id} member_id={member_id} />;
}

/** The rows that are shown before "Show more". */
const ROWS = 100;

/** Lists the members. A search reads the whole list first, page by page. */
function MemberList() {
  const t = useTexts().members;
  const formats = useFormats();
  const { gateway } = useSession();
  const [search, setSearch] = useState("");
  const [rows, setRows] = useState(ROWS);
  const pages = usePages((after) => listMembers(gateway, after), "members");
  const words = wordsOf(search);
  const searching = words.length > 0;
  useEffect(() => {
    if (searching && pages.has_more && !pages.loading && pages.failure === null) pages.more();
  }, [searching, pages.items.length, pages.loading]);
  const found = searching ? pages.items.filter((member) => isFound(member, words)) : pages.items;
  const shown = found.slice(0, rows);
  const more = () => {
    setRows(rows + ROWS);
    if (!searching && pages.has_more) pages.more();
  };
  return (
    <>
      <p class="lead">{t.lead}</p>
      <search class="filters" aria-label={t.title}>
        <TextField
          label={t.search}
          value={search}
          onInput={(text) => {
            setSearch(text);
            setRows(ROWS);
          }}
        />
      </search>
      {pages.failure !== null && <FailureNotice failure={pages.failure} onRetry={pages.again} />}
      {!pages.answered && pages.loading && <Loading />}
      {pages.answered && (
        <p class="found" role="status">
          {searching && t.found(formats.number(found.length), formats.number(pages.items.length))}
        </p>
      )}
      {pages.answered && shown.length === 0 && !pages.loading && <Empty title={t.none} />}
      {shown.length > 0 && <MemberTable members={shown} />}
      {(found.length > rows || (!searching && pages.has_more)) && (
        <More loading={pages.loading} onMore={more} />
      )}
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
