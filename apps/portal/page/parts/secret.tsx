import { CopyButton } from "./copy-button.tsx";

/** Shows a secret with a button that copies it. The page cannot show the secret again later. */
export function Secret({ value, label, copy }: { value: string; label: string; copy: string }) {
  return (
    <figure class="secret" aria-label={label}>
      <figcaption>{label}</figcaption>
      <code>{value}</code> <CopyButton text={value} label={copy} />
    </figure>
  );
}
