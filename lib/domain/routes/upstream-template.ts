/** Parses and checks upstream templates (RG-21, RG-22). */
import { foldedSegment } from "./folded-segment.ts";
import { characterViolation } from "./route-path.ts";
import { type Scope, SUBJECT_FIELDS, type SubjectField } from "./service-schema.ts";

/** A part of a valid template: text, an owner's id, or a param by name. */
export type UpstreamPart = { text: string } | { subject: SubjectField } | { param: string };

const PLACEHOLDER = /\{([^{}]*)\}/g;

/** Splits a valid template into its parts. */
export function upstreamParts(template: string, scope: Scope): UpstreamPart[] {
  const parts: UpstreamPart[] = [];
  let end = 0;
  for (const match of template.matchAll(PLACEHOLDER)) {
    if (match.index > end) parts.push({ text: template.slice(end, match.index) });
    end = match.index + match[0].length;
    const name = match[1] ?? "";
    const subject = subjectField(name, scope);
    parts.push(subject === undefined ? { param: name.slice("path.".length) } : { subject });
  }
  if (end < template.length) parts.push({ text: template.slice(end) });
  return parts;
}

/**
 * Returns the reasons why a well-formed `template` cannot be the upstream of a route of `scope`. Returns an
 * empty list for a valid upstream.
 *
 * @param params the param names of the route's full path, or null if they are unknown
 */
export function upstreamViolations(
  template: string,
  scope: Scope,
  params: readonly string[] | null,
): string[] {
  const shape = templateViolation(template);
  if (shape !== null) return [shape];
  const violations: string[] = [];
  for (const [, name = ""] of template.matchAll(PLACEHOLDER)) {
    const violation = placeholderViolation(name, scope, params);
    if (violation !== null) violations.push(violation);
  }
  return violations;
}

function templateViolation(template: string): string | null {
  const character = characterViolation(template);
  if (character !== null) return character;
  if (/[{}]/.test(template.replace(PLACEHOLDER, ""))) {
    return "upstream has an unmatched brace: placeholders are {subject.…} and {path.…}.";
  }
  const segments = template.replace(PLACEHOLDER, "x").split("/").slice(1);
  if (segments.slice(0, -1).includes("")) return "upstream cannot have an empty segment (`//`).";
  if (segments.map(foldedSegment).some((segment) => segment === "." || segment === "..")) {
    return "upstream cannot have a `.` or `..` segment: write the path to call.";
  }
  return null;
}

function placeholderViolation(name: string, scope: Scope, params: readonly string[] | null): string | null {
  if (name.startsWith("subject.")) {
    if (subjectField(name, scope) !== undefined) return null;
    return `{${clip(name)}} is not known in scope ${scope}: ${subjectChoice(scope)}.`;
  }
  if (!name.startsWith("path.")) {
    return `{${clip(name)}} is ambiguous: write {path.…} for a param of the path or {subject.…} for an owner's id.`;
  }
  if (params === null || params.includes(name.slice("path.".length))) return null;
  return `{${clip(name)}} is not a param of the path: ${paramChoice(params)}.`;
}

function subjectField(name: string, scope: Scope): SubjectField | undefined {
  return SUBJECT_FIELDS[scope].find((field) => name === `subject.${field}`);
}

function subjectChoice(scope: Scope): string {
  const known = SUBJECT_FIELDS[scope].map((field) => `{subject.${field}}`);
  return known.length === 0 ? "public routes have no subject" : `use ${known.join(" or ")}`;
}

function paramChoice(params: readonly string[]): string {
  return params.length === 0
    ? "the path has no params"
    : `the path has ${params.map((name) => `{path.${name}}`).join(", ")}`;
}

function clip(name: string): string {
  return name.length > 80 ? `${name.slice(0, 80)}…` : name;
}
