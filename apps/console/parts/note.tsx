import type { Entry } from "../registry/calls.ts";

export const DONE: Record<Entry["action"], string> = {
  apply: "applied",
  put: "written",
  delete: "deleted",
  restore: "restored",
};

/** Shows why a revision was written. The link is safe: the registry accepts only http and https URLs. */
export function Note({ reason, link }: Pick<Entry, "reason" | "link">) {
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
