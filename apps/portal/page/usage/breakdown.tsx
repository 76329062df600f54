import { DataTable, Empty, FailureNotice, Loading, SelectField } from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { useSession } from "../page-session.ts";
import { More } from "../parts/more.tsx";
import { usePages } from "../parts/use-pages.ts";
import { useFormats, useTexts } from "../texts/texts.ts";
import { DIVISIONS, type Division, listParts, type UsagePart } from "./usage.ts";

/** Lists the usage of a month by service, by route or by key. */
export function Breakdown({ month }: { month: string }) {
  const t = useTexts().usage;
  const { gateway } = useSession();
  const [by, setBy] = useState<Division>("service");
  const pages = usePages((after) => listParts(gateway, month, by, after), `${month} ${by}`);
  return (
    <section aria-labelledby="parts">
      <h2 id="parts">{t.parts}</h2>
      <SelectField
        label={t.by}
        value={by}
        options={DIVISIONS.map((value) => ({ value, text: t.divisions[value] }))}
        onChange={setBy}
      />
      {pages.failure !== null && <FailureNotice failure={pages.failure} onRetry={pages.again} />}
      {!pages.answered && pages.loading && <Loading />}
      {pages.answered && pages.items.length === 0 && <Empty title={t.none} />}
      {pages.items.length > 0 && <Parts by={by} parts={pages.items} />}
      {pages.has_more && <More loading={pages.loading} onMore={pages.more} />}
    </section>
  );
}

function Parts({ by, parts }: { by: Division; parts: readonly UsagePart[] }) {
  const t = useTexts().usage;
  const { number } = useFormats();
  const { requests, refused, failed, bytes_in, bytes_out } = t.columns;
  return (
    <DataTable
      label={t.parts}
      columns={[t.divisions[by], requests, refused, failed, bytes_in, bytes_out]}
      rows={parts.map((part) => ({
        key: part.id,
        cells: [
          <PartName by={by} part={part} />,
          ...[part.requests, part.refused, part.failed, part.bytes_in, part.bytes_out].map(number),
        ],
      }))}
    />
  );
}

function PartName({ by, part }: { by: Division; part: UsagePart }) {
  const t = useTexts().usage;
  if (by === "service") return <>{part.service}</>;
  if (by === "route") {
    return (
      <code>
        {part.method} {part.route}
      </code>
    );
  }
  if (part.key_prefix === null || part.key_prefix === undefined) {
    return (
      <>
        {t.sessions} <code>{part.member_id}</code>
      </>
    );
  }
  return <code>{part.key_prefix}</code>;
}
