import type { Verdict } from "@ostiary/lib/verification";
import { isAltered } from "@ostiary/lib/verification/findings";
import { useFormats, useTexts } from "../../texts/texts.ts";

const SHOWN_MAX = 20;
const LOOKS = { complete: "good", altered: "bad", undecided: "warn" } as const;

/** Shows what a verification found, in the page's language (PT-47). */
export function VerdictNotice({ verdict }: { verdict: Verdict }) {
  const t = useTexts().audit.verify;
  return (
    <section class={`notice notice-${LOOKS[verdict.result]}`} role="alert" aria-label={t.verdict}>
      <Summary verdict={verdict} />
      <Findings verdict={verdict} />
      {verdict.result !== "altered" && <Facts verdict={verdict} />}
    </section>
  );
}

function Summary({ verdict }: { verdict: Verdict }) {
  const t = useTexts().audit.verify;
  const formats = useFormats();
  const { result, events, occurred_from, occurred_to } = verdict;
  const span =
    occurred_from === null || occurred_to === null
      ? null
      : { from: formats.time(occurred_from), to: formats.time(occurred_to) };
  const count = { value: events, text: formats.number(events) };
  return <p class="notice-title">{result === "altered" ? t.altered : t[result](count, span)}</p>;
}

/** Lists the first findings, and says how many more there are. */
function Findings({ verdict: { result, findings, findings_total } }: { verdict: Verdict }) {
  const t = useTexts().audit.verify;
  const formats = useFormats();
  const shown = findings.filter((finding) => result !== "altered" || isAltered(finding)).slice(0, SHOWN_MAX);
  const more = findings_total - Math.min(findings.length, SHOWN_MAX);
  if (shown.length === 0) return null;
  return (
    <>
      <ol class="problems">
        {shown.map(t.finding).map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ol>
      {more > 0 && <p>{t.more(formats.number(more))}</p>}
    </>
  );
}

function Facts({ verdict }: { verdict: Verdict }) {
  const t = useTexts().audit.verify;
  const formats = useFormats();
  const { entries, pending, root, keys, key_given, kept, dropped, restarts, earlier_trees } = verdict;
  return (
    <ul>
      <li>{t.entries(formats.number(entries))}</li>
      {pending > 0 && <li>{t.pending(formats.number(pending))}</li>}
      {root !== null && (
        <li>{t.root(root.origin, formats.number(root.size), formats.time(root.sealed_at))}</li>
      )}
      {keys.map((key) => (
        <li key={key}>
          {t.signed} <code>{key}</code> {!key_given && t.keyOfFile}
        </li>
      ))}
      {kept.map(({ size }) => (
        <li key={size}>{t.continues(formats.number(size))}</li>
      ))}
      <SeenBy verdict={verdict} />
      {dropped !== null && <li>{t.dropped(formats.number(dropped.entries), dropped.month)}</li>}
      {restarts.map(({ declared_at, from, position }) => (
        <li key={position}>{t.restart(formats.time(declared_at), formats.number(from))}</li>
      ))}
      {earlier_trees.map(({ declared_at, origin }) => (
        <li key={origin}>{t.earlierTree(formats.time(declared_at), origin)}</li>
      ))}
    </ul>
  );
}

/** Names the witnesses that cosigned a tree with the newest leaf of the log (PT-72). */
function SeenBy({ verdict: { witnesses } }: { verdict: Verdict }) {
  const t = useTexts().audit.verify;
  const formats = useFormats();
  const all = witnesses?.cosignatures ?? [];
  const names = all.flatMap(({ name, cosigned_at }) => (cosigned_at === null ? [] : [name]));
  if (names.length === 0) return null;
  return <li>{t.seenBy({ value: names.length, text: formats.number(names.length) }, names.join(", "))}</li>;
}
