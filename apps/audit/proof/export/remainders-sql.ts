import type { EarlierHead, Remainder } from "@ostiary/lib/contracts/audit";
import { type HexHash, MONTH_MARGIN_MS, monthEnd, monthOfTime } from "@ostiary/lib/domain/proof";
import { type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import type { SealedLog } from "./proof-sql.ts";

/** A head under an earlier leaf, before its proof in the tree is known. */
export type HeadWithoutPath = Omit<EarlierHead, "path" | "tree">;

interface DeclarationRow {
  position: number;
  declared_at: string;
  kind: "retention" | "restart";
  content: { month: string; from: number; lost: string };
  salt: string;
  chain: HexHash;
}

/**
 * Returns the parts of the owner's chain that no event line shows, in the order of positions. A month that is declared
 * and still shown is not dropped.
 *
 * @param from the time of the earliest event that the export shows, or null
 * @throws Error if a month was declared since the export began, because the export may lack both the month's events
 * and its declaration
 */
export async function selectRemainders(
  tx: Orm,
  sealed: SealedLog,
  heads: readonly HeadWithoutPath[],
  from: string | null,
): Promise<Remainder[]> {
  const { chain_id, position } = sealed;
  const found = await rows<DeclarationRow>(
    tx,
    sql`select position, declared_at, kind, content, encode(salt, 'hex') as salt, encode(chain, 'hex') as chain
      from audit.declarations where chain_id = ${chain_id ?? 0}::bigint order by position`,
  );
  if (found.some((row) => row.kind === "retention" && row.position > position)) {
    throw new Error("Retention declared months of this log during the export: export the log again.");
  }
  const declared = found.filter((row) => row.position <= position);
  const months = declared.flatMap(({ kind, content }) => (kind === "retention" ? [content.month] : []));
  const dropped = months.filter((month) => from === null || month < monthOfTime(from));
  const newest = dropped.toSorted().at(-1);
  const runs = newest === undefined ? [] : await selectDropped(tx, sealed, newest, heads);
  return [...declared.flatMap(remaindersOf), ...runs].toSorted((a, b) => startOf(a) - startOf(b));
}

const startOf = (part: Remainder) => ("position" in part ? part.position : part.from);

function remaindersOf({ position, declared_at, kind, content, salt, chain }: DeclarationRow): Remainder[] {
  const entry = { position, salt, chain, declared_at: new Date(declared_at).toISOString() };
  const { month, from, lost } = content;
  if (kind === "retention") return [{ kind, month, ...entry }];
  const run = from < position ? [{ kind: "lost" as const, from, to: position - 1, chain: lost }] : [];
  return [...run, { kind, from, ...entry }];
}

/**
 * Returns the runs of dropped entries. A run that was sealed late has the hashes of its contents, which show that its
 * entries belong to a dropped month.
 */
async function selectDropped(
  tx: Orm,
  { chain_id, position, leaf }: SealedLog,
  month: string,
  heads: readonly HeadWithoutPath[],
): Promise<Remainder[]> {
  const endMs = monthEnd(month);
  const settledMs = endMs - MONTH_MARGIN_MS;
  const known = [
    ...heads.map((head) => ({ sealed_at: head.leaf.sealed_at, position: head.position })),
    ...(leaf === null ? [] : [{ sealed_at: leaf.sealed_at, position }]),
  ];
  const settled = known.filter(({ sealed_at }) => new Date(sealed_at).getTime() <= settledMs);
  const settledTo = Math.max(0, ...settled.map((head) => head.position));
  const found = await rows<{
    from: number;
    to: number;
    chain: HexHash;
    month: string | null;
    contents: string[];
  }>(
    tx,
    sql`with gone as (
        select entry.position, entry.chain, kept.content,
          case when entry.position > ${settledTo}::bigint and kept.content is not null
            then to_char(entry.occurred_at at time zone 'UTC', 'YYYY-MM') end as month
        from audit.entries entry left join audit.dropped_contents kept using (chain_id, position)
        where entry.chain_id = ${chain_id ?? 0}::bigint and entry.position <= ${position}::bigint
          and entry.occurred_at < ${new Date(endMs).toISOString()}::text::timestamptz
          and not exists (select from audit.audit_events event
            where event.occurred_at = entry.occurred_at and event.id = entry.event_id)
      ), numbered as (
        select *, position - row_number() over (partition by month order by position) as run from gone
      )
      select min(position) as "from", max(position) as "to", month,
        (array_agg(encode(chain, 'hex') order by position desc))[1] as chain,
        case when month is null then '[]'::json
          else json_agg(encode(content, 'hex') order by position) end as contents
      from numbered group by month, run order by 1`,
  );
  return found.map(({ from, to, chain, month: own, contents }) =>
    own === null
      ? { kind: "dropped", from, to, chain }
      : { kind: "dropped", from, to, chain, month: own, contents },
  );
}
