import { tryJson } from "@ostiary/lib/domain/json";
import { curlSample } from "@ostiary/lib/openapi";
import type { Call, Caller } from "../gateway.ts";
import { type BodyShape, isJson, type Operation, type Parameter } from "./description.ts";

/** The texts that a person entered in the form of an operation. */
export interface Inputs {
  /** The values by the key that {@link keyOf} returns. */
  readonly values: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The key of a parameter among the inputs. */
export function keyOf({ place, name }: Parameter): string {
  return `${place} ${name}`;
}

/** A call that is ready to be sent. */
export interface ReadyCall {
  /** The path and query at the gateway. */
  readonly address: string;
  readonly call: Call & { method: Operation["method"] };
}

/** The reason why an input cannot be sent. */
type InputProblem = "missing" | "dots" | "header" | "json" | "text";

/** The problems by the key of the parameter; `body` for the body. */
export type InputProblems = Readonly<Record<string, InputProblem>>;

/** Builds the call of an operation, or returns the problem of each input. */
export function callOf(
  operation: Operation,
  parameters: readonly Parameter[],
  body: BodyShape | null,
  inputs: Inputs,
): { ok: true; ready: ReadyCall } | { ok: false; problems: InputProblems } {
  const problems: Record<string, InputProblem> = {};
  for (const parameter of parameters) {
    const problem = problemOf(parameter, inputs.values[keyOf(parameter)] ?? "");
    if (problem !== null) problems[keyOf(parameter)] = problem;
  }
  const bodyProblem = body === null ? null : problemOfBody(body, inputs.body);
  if (bodyProblem !== null) problems.body = bodyProblem;
  if (Object.keys(problems).length > 0) return { ok: false, problems };
  return { ok: true, ready: readyCall(operation, parameters, body, inputs) };
}

function problemOf({ place, required }: Parameter, value: string): InputProblem | null {
  if (value === "") return required ? "missing" : null;
  if (!value.isWellFormed()) return "text";
  // Refuses segments of dots, because the browser would resolve the dots even if they are escaped.
  if (place === "path" && /^\.{1,2}$/.test(value)) return "dots";
  return place === "header" && !/^[\x20-\x7e]+$/.test(value) ? "header" : null;
}

function problemOfBody({ type, required }: BodyShape, text: string): InputProblem | null {
  if (text.trim() === "") return required ? "missing" : null;
  if (!text.isWellFormed()) return "text";
  return isJson(type) && tryJson(text) === undefined ? "json" : null;
}

function readyCall(
  { method, path, caller }: Operation,
  parameters: readonly Parameter[],
  body: BodyShape | null,
  { values, body: text }: Inputs,
): ReadyCall {
  const given = (place: Parameter["place"]) =>
    parameters.flatMap((parameter): [string, string][] => {
      const value = values[keyOf(parameter)] ?? "";
      return parameter.place === place && value !== "" ? [[parameter.name, value]] : [];
    });
  const content = body !== null && text.trim() !== "" ? { type: body.type, text } : undefined;
  return {
    address: addressOf(path, new Map(given("path")), given("query")),
    call: { as: caller, method, headers: Object.fromEntries(given("header")), content },
  };
}

function addressOf(path: string, params: ReadonlyMap<string, string>, query: [string, string][]): string {
  const filled = path.replace(/\{([^{}]+)\}/g, (_, name: string) =>
    encodeURIComponent(params.get(name) ?? ""),
  );
  return query.length === 0 ? filled : `${filled}?${new URLSearchParams(query)}`;
}

/** The credential's header in a curl command. The command reads the credential from a shell variable. */
const CREDENTIALS: Readonly<Record<Caller, readonly (readonly [string, string])[]>> = {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell
  member: [["X-API-Key", "${API_KEY}"]],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell
  person: [["Authorization", "Bearer ${TOKEN}"]],
  nobody: [],
};

/**
 * Returns the curl command of a call. A missing required parameter gets its example or its name as the value.
 */
export function curlOf(
  operation: Operation,
  parameters: readonly Parameter[],
  body: BodyShape | null,
  inputs: Inputs,
  origin: string,
): string {
  const values = Object.fromEntries(
    parameters.map((parameter) => {
      const value = inputs.values[keyOf(parameter)] ?? "";
      const stand_in = parameter.required ? parameter.example || parameter.name.toUpperCase() : "";
      return [keyOf(parameter), value === "" ? stand_in : value];
    }),
  );
  const { address, call } = readyCall(operation, parameters, body, { values, body: inputs.body });
  const { content, headers = {}, method } = call;
  return curlSample({
    method,
    url: `${origin}${address}`,
    headers: [
      ...CREDENTIALS[operation.caller],
      ...(content ? [["Content-Type", content.type] as const] : []),
    ],
    plain_headers: Object.entries(headers),
    ...(content && { body: { text: content.text } }),
  });
}
