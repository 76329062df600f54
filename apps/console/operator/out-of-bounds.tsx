import { type OutOfBounds, outOfBoundsText } from "@ostiary/lib/domain/routes";
import { Notice } from "@ostiary/lib/page";
import { fragmentOf } from "../console-address.ts";
import { useOperator } from "../console-session.ts";

export function OutOfBoundsList({ missing }: { missing: readonly OutOfBounds[] }) {
  return (
    <ul class="problems">
      {missing.map(outOfBoundsText).map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}

const SHOWN_MAX = 10;

/** Explains why a publisher gets no button for a write. */
export function WhyNot({ write, missing }: { write: string; missing: readonly OutOfBounds[] }) {
  const { name } = useOperator();
  const more = missing.length - SHOWN_MAX;
  return (
    <Notice role="note">
      <p>
        <b>{name}</b> may not {write}. <a href={fragmentOf({ name: "operators" })}>Your permissions</a> do not
        include:
      </p>
      <OutOfBoundsList missing={missing.slice(0, SHOWN_MAX)} />
      {more > 0 && <p class="quiet small">And {more.toLocaleString("en")} more.</p>}
    </Notice>
  );
}
