/** Reads from the security requirements of an operation in which scope it belongs, and which labels it requires. */
import { isRecord } from "@ostiary/lib/domain/json";
import { RequiredLabels, type Scope } from "@ostiary/lib/domain/routes";
import { Value } from "@sinclair/typebox/value";
import { commentText } from "./comment.ts";
import { type Description, type JsonObject, NotExpressed } from "./description.ts";

/** The scope of operations for which the description does not say who may call. */
export const DEFAULT_SCOPE: Scope = "organization";

/** The maximum number of names in a comment. */
const SHOWN_MAX = 10;

export interface Access {
  readonly scope: Scope;
  readonly required_labels?: string[];
  /** The parts of the requirements that scope and labels do not express. */
  readonly reasons: readonly string[];
}

/**
 * @param security the requirements of an operation
 * @param given the scope of all operations, or undefined to choose by the security schemes
 */
export function accessOf(security: unknown, description: Description, given: Scope | undefined): Access {
  const isReadable = Array.isArray(security) && security.every(isRecord);
  const alternatives: JsonObject[] | null = isReadable ? security : null;
  const [first] = alternatives?.filter((each) => Object.keys(each).length > 0) ?? [];
  const scope = given ?? scopeOf(alternatives, first, description);
  const reasons: string[] = [];
  if (security !== undefined && alternatives === null) {
    reasons.push("Its security is not a list of objects with names of security schemes.");
  }
  if (scope !== "public" && alternatives?.some((each) => Object.keys(each).length === 0)) {
    reasons.push("A call without a credential is allowed too: a route is public or is not.");
  }
  const required = [
    ...new Set(Object.values(first ?? {}).flatMap((scopes) => (Array.isArray(scopes) ? scopes : []))),
  ];
  if (required.length === 0) return { scope, reasons };
  const [label] = required;
  const shown = required.slice(0, SHOWN_MAX).map(commentText);
  const text = [...shown, ...(required.length > SHOWN_MAX ? ["…"] : [])].join(", ");
  if (scope === "public" || scope === "user") {
    reasons.push(`The call needs ${text}: only organization and member routes check labels.`);
    return { scope, reasons };
  }
  if (required.length > 1)
    reasons.push(`The call needs all of ${text}: a route checks that a caller has one.`);
  const labels = [label];
  if (Value.Check(RequiredLabels, labels)) return { scope, required_labels: labels, reasons };
  return { scope, reasons: [...reasons, `The call needs ${text}: this cannot be a label.`] };
}

function scopeOf(
  alternatives: readonly JsonObject[] | null,
  first: JsonObject | undefined,
  description: Description,
): Scope {
  if (alternatives === null) return DEFAULT_SCOPE;
  if (alternatives.length === 0 && first === undefined) return "public";
  const [name] = Object.keys(first ?? {});
  return name !== undefined && provesPerson(name, description) ? "user" : DEFAULT_SCOPE;
}

/** Returns whether callers prove by a security scheme who they are as a person, by a token of a provider. */
function provesPerson(name: string, description: Description): boolean {
  const schemes = Object(Object(description.root.components).securitySchemes);
  if (!Object.hasOwn(schemes, name)) return false;
  try {
    const { type, scheme } = description.fieldsOf(schemes[name], ["type", "scheme"]);
    return (
      type === "oauth2" || type === "openIdConnect" || (type === "http" && /^bearer$/i.test(String(scheme)))
    );
  } catch (error) {
    if (error instanceof NotExpressed) return false;
    throw error;
  }
}
