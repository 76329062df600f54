import { listChanges, type MarkedChange, markChanges } from "@ostiary/lib/domain/routes";
import { Answered, Empty } from "@ostiary/lib/page";
import { useAsked } from "../page-session.ts";
import { compareRevisions, readRevision } from "../registry/calls.ts";
import type { Registry } from "../registry/client.ts";
import { Changes, ReviewSummary } from "../review/review.tsx";

interface ComparisonProps {
  service: string;
  /** The revision to compare with. 0 stands for the empty state before the first revision. */
  from: number;
  to: number;
}

/** Shows the changes between two revisions. */
export function Comparison({ service, from, to }: ComparisonProps) {
  const asked = useAsked(
    (registry) => changesBetween(registry, { service, from, to }),
    `${service} ${from} ${to}`,
  );
  return (
    <Answered asked={asked} loading="Loading the changes …">
      {(changes) =>
        changes.length === 0 ? (
          <Empty title="There are no changes." />
        ) : (
          <>
            <ReviewSummary changes={changes} />
            <Changes changes={changes} label="Changes" />
          </>
        )
      }
    </Answered>
  );
}

async function changesBetween(
  registry: Registry,
  { service, from, to }: ComparisonProps,
): Promise<MarkedChange[]> {
  if (from > 0) return compareRevisions(registry, service, from, to);
  const { config } = await readRevision(registry, service, to);
  return markChanges(listChanges(null, config));
}
