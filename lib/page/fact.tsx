import type { ComponentChildren } from "preact";

/** Shows a name with its value, in a list of facts. Shows nothing if there is no value. */
export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  if (children === null || children === undefined) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
