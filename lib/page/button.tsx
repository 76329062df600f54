import type { ComponentProps } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useKit } from "./kit.ts";

interface ButtonProps extends Omit<ComponentProps<"button">, "class" | "ref"> {
  look?: "main" | "danger" | "danger-main" | undefined;
}

/** Renders a button. Submits a form only if its type is `submit`. */
export function Button({ look, ...attributes }: ButtonProps) {
  return <button type="button" class={look ? `button button-${look}` : "button"} {...attributes} />;
}

const SAID_MS = 3_000;

interface CopyButtonProps {
  text: string;
  label: string;
}

/** Renders a button that copies a text. Says whether the browser copied it, also to screen readers. */
export function CopyButton({ text, label }: CopyButtonProps) {
  const { copied, notCopied } = useKit().texts;
  const [said, say] = useState<{ text: string } | null>(null);
  useEffect(() => {
    if (said?.text !== copied) return;
    const timer = setTimeout(() => say(null), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      say({ text: copied });
    } catch {
      say({ text: notCopied });
    }
  };
  return (
    <>
      <Button onClick={() => void copy()}>{label}</Button>
      <span role="status" class="quiet small">
        {said?.text}
      </span>
    </>
  );
}
