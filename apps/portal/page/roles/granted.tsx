import { useTexts } from "../texts/texts.ts";

/** Describes in words what labels allow. Shows an unknown label unchanged. */
export function Granted({ labels }: { labels: readonly string[] }) {
  const t = useTexts().roles;
  const known: Readonly<Record<string, string>> = t.labels;
  if (labels.includes("*")) return <p>{t.everything}</p>;
  if (labels.length === 0) return <p>{t.nothing}</p>;
  return (
    <ul>
      {labels.map((label) => (
        <li key={label}>{Object.hasOwn(known, label) ? known[label] : <code>{label}</code>}</li>
      ))}
    </ul>
  );
}
