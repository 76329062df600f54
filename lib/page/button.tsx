import type { ComponentProps } from "preact";

interface ButtonProps extends Omit<ComponentProps<"button">, "class" | "ref"> {
  look?: "main" | "danger" | "danger-main" | undefined;
}

/** Renders a button. Submits a form only if its type is `submit`. */
export function Button({ look, ...attributes }: ButtonProps) {
  return <button type="button" class={look ? `button button-${look}` : "button"} {...attributes} />;
}
