import { CopyButton } from "./copy-button.tsx";

/** Shows a secret, which the page has this once, with a button that copies it. */
export function Secret({ value, label, copy }: { value: string; label: string; copy: string }) {
  return (
    <figure class="secret" aria-label={label}>
      <figcaption>{label}</figcaption>
      <code>{value}</code> <CopyButton text={value} label={copy} />
    </figure>
  );
}
