/** Tests that a revocation is read in time while other admissions change at a high rate. */
import { expect, test } from "bun:test";
import { useIdentity } from "../../../app/identity/bed.ts";
import { addManyMembers, analyze } from "../../../app/identity/bulk.ts";
import { services } from "../../../support/index.ts";

const WRITERS = 4;
const MEMBERS_OF_WRITER = 2_500;
const ROWS_OF_TRANSACTION = 500;
const WRITING_MS = 10_000;
const PROBE_PAUSE_MS = 400;
/** The maximum number of changes of one response, and the pause of a reader between two looks. */
const PAGE = 1_000;
const LOOK_MS = 500;
const PROMISED_MS = 2_000;

const identity = useIdentity({ poolMax: 30 });

// ID-116
test.skipIf(!services().postgres.real)(
  "a change is read within two seconds beside thousands of changes a second",
  async () => {
    const { id } = await identity.organization();
    await addManyMembers(identity, id, "C", WRITERS * MEMBERS_OF_WRITER);
    await analyze(identity);
    const endMs = performance.now() + WRITING_MS;
    const isOver = () => performance.now() > endMs;

    /** The times of the responses to probes, by the member that changed. */
    const probes = new Map<string, number>();
    const delaysMs: number[] = [];
    let written = 0;
    let read = 0;

    async function write(writer: number): Promise<void> {
      for (let batch = 0; !isOver(); batch += 1) {
        const from = writer * MEMBERS_OF_WRITER + ((batch * ROWS_OF_TRANSACTION) % MEMBERS_OF_WRITER) + 1;
        const changed = await identity.sql`
        update identity.members set role = case role when 'viewer' then 'member' else 'viewer' end
        where organization_id = ${id} and id in (
          select '01KA4YB0Q9CB' || lpad(number::text, 14, '0')
          from generate_series(${from}::integer, ${from + ROWS_OF_TRANSACTION - 1}::integer) number)
        returning 1`;
        written += changed.length;
      }
    }

    async function probe(): Promise<void> {
      while (!isOver()) {
        const other = await identity.organization();
        const member = await identity.member(other.id);
        await identity.call("PATCH", `/organizations/${other.id}/members/${member.id}`, { role: "viewer" });
        probes.set(member.id, performance.now());
        await Bun.sleep(PROBE_PAUSE_MS);
      }
    }

    async function follow(from: string): Promise<void> {
      const { body } = await identity.internal("GET", `/internal/admission-changes?after=${from}`);
      expect(body.reset).toBeUndefined();
      read += body.changes.length;
      for (const { member_id } of body.changes) {
        const respondedMs = probes.get(member_id);
        if (respondedMs !== undefined) delaysMs.push(performance.now() - respondedMs);
        probes.delete(member_id);
      }
      if (isOver() && body.changes.length === 0) return;
      if (body.changes.length < PAGE) await Bun.sleep(LOOK_MS);
      await follow(body.next);
    }

    const { body } = await identity.internal("GET", "/internal/admission-changes");
    const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer));
    await Promise.all([...writers, probe(), follow(body.next)]);
    process.stdout.write(
      `${Math.round((written / WRITING_MS) * 1_000)} changes a second, ${delaysMs.length} probes read after at most ${Math.round(Math.max(...delaysMs))} ms\n`,
    );
    expect(read).toBeGreaterThanOrEqual(written);
    expect(probes.size).toBe(0);
    expect(Math.max(...delaysMs)).toBeLessThan(PROMISED_MS);
  },
);
