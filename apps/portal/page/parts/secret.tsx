import { CopyButton } from "./copy-button.tsx";

/** Shows a text that the person must copy now, such as a new key, with a button that copies the text. */
export function Secret({ value, label, copy }: { value: string; label: string; copy: string }) {
  return (
    <figure class="secret" aria-label={label}>
      <figcaption>{label}</figcaption>
      <code>{value}</code> <CopyButton text={value} label={copy} />
    </figure>
  );
}
