import type { ComponentProps } from "preact";
import { useEffect, useState } from "preact/hooks";
import { usePageTexts } from "./page-texts.ts";

interface ButtonProps extends Omit<ComponentProps<"button">, "class" | "ref"> {
  look?: "main" | "danger" | "danger-main" | undefined;
}

/** Renders a button. Submits a form only if its type is `submit`. */
export function Button({ look, ...attributes }: ButtonProps) {
  return <button type="button" class={look ? `button button-${look}` : "button"} {...attributes} />;
}

const COPIED_MS = 3_000;

interface CopyButtonProps {
  text: string;
  label: string;
}

/** Renders a button that copies a text. Shows whether the browser copied it, also to screen readers. */
export function CopyButton({ text, label }: CopyButtonProps) {
  const { copied, notCopied } = usePageTexts().texts;
  const [shown, show] = useState<{ text: string } | null>(null);
  useEffect(() => {
    if (shown?.text !== copied) return;
    const timer = setTimeout(() => show(null), COPIED_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      show({ text: copied });
    } catch {
      show({ text: notCopied });
    }
  };
  return (
    <>
      <Button onClick={() => void copy()}>{label}</Button>
      <span role="status" class="quiet small">
        {shown?.text}
      </span>
    </>
  );
}
