import type { Problem, Verdict } from "@ostiary/lib/verification";
import { useFormats, useTexts } from "../../texts/texts.ts";

const SHOWN_MAX = 20;

/** Shows what a verification found, in the page's language (PT-47). */
export function VerdictNotice({ verdict }: { verdict: Verdict }) {
  const t = useTexts().audit.verify;
  const look = { complete: "good", altered: "bad", undecided: "warn", unwitnessed: "bad" }[verdict.result];
  return (
    <section class={`notice notice-${look}`} role="alert" aria-label={t.verdict}>
      <Summary verdict={verdict} />
      {verdict.result === "altered" && <Problems problems={verdict.faults} total={verdict.faults_total} />}
      {verdict.result !== "altered" && (
        <Sentences title={t.open} sentences={openFindings(verdict).map(t.finding)} />
      )}
      {verdict.result !== "altered" && <Facts verdict={verdict} />}
    </section>
  );
}

/** Returns the reason why too few witnesses vouch for the log, if any, followed by the open questions. */
function openFindings({ witnesses, undecided }: Verdict) {
  return witnesses?.lack == null ? undecided : [witnesses.lack, ...undecided];
}

function Summary({ verdict }: { verdict: Verdict }) {
  const t = useTexts().audit.verify;
  const formats = useFormats();
  const { result, events, occurred_from, occurred_to, checkpoint } = verdict;
  if (result === "altered") return <p class="notice-title">{t.altered}</p>;
  const span =
    occurred_from === null || occurred_to === null
      ? null
      : { from: formats.time(occurred_from), to: formats.time(occurred_to) };
  const number = checkpoint === null ? null : formats.number(checkpoint.number);
  const count = { value: events, text: formats.number(events) };
  return (
    <p class="notice-title">
      {result === "complete" ? t.complete(count, span, number) : t[result](count, span)}
    </p>
  );
}

/** Lists the first problems, and says how many more there are. */
function Problems({ problems, total }: { problems: readonly Problem[]; total: number }) {
  const t = useTexts().audit.verify;
  const formats = useFormats();
  const shown = problems
    .slice(0, SHOWN_MAX)
    .map(({ kind, finding }) => ({ kind, sentence: t.finding(finding) }));
  return (
    <>
      <ol class="problems">
        {shown.map(({ kind, sentence }) => (
          <li key={sentence}>
            <strong>{t.kinds[kind]}</strong> {sentence}
          </li>
        ))}
      </ol>
      {total > shown.length && <p>{t.more(formats.number(total - shown.length))}</p>}
    </>
  );
}

function Sentences({ title, sentences }: { title: string; sentences: readonly string[] }) {
  if (sentences.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul>
        {sentences.slice(0, SHOWN_MAX).map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </>
  );
}

function Facts({ verdict }: { verdict: Verdict }) {
  const t = useTexts().audit.verify;
  const formats = useFormats();
  const { entries, pending, checkpoint, dropped_entries, dropped_before, not_shown } = verdict;
  return (
    <>
      <ul>
        <li>{t.entries(formats.number(entries))}</li>
        {pending > 0 && <li>{t.pending(formats.number(pending))}</li>}
        {checkpoint !== null && (
          <li>
            {t.sealed(formats.time(checkpoint.sealed_at))}{" "}
            {checkpoint.kid === null ? (
              t.unsigned
            ) : (
              <>
                {t.signed} <code>{checkpoint.kid}</code>
                {!checkpoint.key_given && <> {t.keyOfFile}</>}
              </>
            )}
          </li>
        )}
        <SeenBy verdict={verdict} />
        {dropped_before !== null && (
          <li>{t.dropped(formats.number(dropped_entries), formats.time(dropped_before))}</li>
        )}
      </ul>
      <Sentences title={t.notShownTitle} sentences={not_shown.map(t.finding)} />
    </>
  );
}

/** Names the witnesses that cosigned a tree with the checkpoint of the log (PT-72). */
function SeenBy({ verdict: { witnesses } }: { verdict: Verdict }) {
  const t = useTexts().audit.verify;
  const formats = useFormats();
  if (witnesses === null) return null;
  const { lack, witnesses: cosignatures } = witnesses;
  const isOfThisLog = lack === null || lack.code === "cosigned_by_few";
  const names = cosignatures.flatMap(({ name, cosigned_at }) => (cosigned_at === null ? [] : [name]));
  if (!isOfThisLog || names.length === 0) return null;
  return <li>{t.seenBy({ value: names.length, text: formats.number(names.length) }, names.join(", "))}</li>;
}
