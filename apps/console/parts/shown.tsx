import type { Revision } from "@ostiary/lib/contracts/registry-api";
import type { Method, Scope } from "@ostiary/lib/domain/routes";
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

export function ScopeBadge({ scope }: { scope: Scope }) {
  return <span class={`scope scope-${scope}`}>{scope}</span>;
}

const TONES: Partial<Record<Method, string>> = {
  DELETE: "tone-bad",
  POST: "tone-warn",
  PUT: "tone-warn",
  PATCH: "tone-warn",
};

export function Methods({ methods }: { methods: readonly Method[] }) {
  return (
    <span class="methods">
      {methods.map((method) => (
        <span key={method} class={`tag method ${TONES[method] ?? ""}`}>
          {method}
        </span>
      ))}
    </span>
  );
}

/** Shows a message of the registry, with the parts between backticks as code. */
export function MessageText({ text }: { text: string }) {
  return (
    <>
      {text.split("`").map((part, index, parts) =>
        // an unpaired backtick is plain text
        index % 2 === 1 && index < parts.length - 1 ? (
          <code key={index}>{part}</code>
        ) : (
          <span key={index}>{index % 2 === 1 ? `\`${part}` : part}</span>
        ),
      )}
    </>
  );
}

export const DONE: Record<Revision["action"], string> = {
  apply: "applied",
  put: "written",
  delete: "deleted",
  restore: "restored",
};

/** Shows why a revision was written. The link is safe: the registry accepts only http and https URLs. */
export function Note({ reason, link }: Pick<Revision, "reason" | "link">) {
  return (
    <span class="note">
      {reason}{" "}
      {link !== null && (
        <a href={link} target="_blank" rel="noopener noreferrer">
          {link}
        </a>
      )}
    </span>
  );
}

interface ResultNoticeProps {
  tone?: "good" | "bad";
  title: string;
  children: ComponentChildren;
}

export function ResultNotice({ tone, title, children }: ResultNoticeProps) {
  const heading = useId();
  return (
    <section class={tone === undefined ? "notice" : `notice notice-${tone}`} aria-labelledby={heading}>
      <h2 id={heading} class="notice-title">
        {title}
      </h2>
      {children}
    </section>
  );
}

/** Returns a number with its noun: `1 route`, `10,000 routes`. */
export function counted(count: number, one: string): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : `${one}s`}`;
}
