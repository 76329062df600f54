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

/** Renders a button that copies a text. A confirmation appears briefly, and screen readers announce it. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const { copied } = useKit().texts;
  const [count, setCount] = useState(0);
  const [isSaid, say] = useState(false);
  useEffect(() => {
    if (count === 0) return;
    say(true);
    const timer = setTimeout(() => say(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [count]);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCount((before) => before + 1);
  };
  return (
    <>
      <Button onClick={() => void copy().catch(() => say(false))}>{label}</Button>
      <span role="status" class="quiet small">
        {isSaid && copied}
      </span>
    </>
  );
}
