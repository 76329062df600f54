import { tryJson } from "@ostiary/lib/domain/json";
import { type CredentialHeader, curlCommand } from "@ostiary/lib/openapi";
import type { Call, Caller } from "../gateway.ts";
import { type BodyShape, isJson, type Operation, type Parameter } from "./description.ts";

/** The values that a person entered in the form of an operation. */
export interface Inputs {
  /** The values of the parameters. {@link keyOf} returns the key of each value. */
  readonly values: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns the key of a parameter in {@link Inputs} and {@link InputProblems}. */
export function keyOf({ place, name }: Parameter): string {
  return `${place} ${name}`;
}

/** A call that is ready to send. */
export interface ReadyCall {
  /** The path and query of the URL. */
  readonly address: string;
  readonly call: Call & { method: Operation["method"] };
}

/** The reason why an input cannot be sent. */
type InputProblem = "missing" | "dots" | "header" | "json" | "text";

/** The problems by the key of the parameter. The key of the body is `body`. */
export type InputProblems = Readonly<Record<string, InputProblem>>;

/** Builds the call of an operation. If inputs are invalid, returns the problem of each of them instead. */
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
  // Browsers resolve the segments "." and ".." even if they are escaped.
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

/** The header with the credential in a curl command, which reads the credential from a shell variable. */
const CREDENTIALS: Readonly<Record<Caller, CredentialHeader | null>> = {
  member: { name: "X-API-Key", variable: "API_KEY" },
  person: { name: "Authorization", isBearer: true, variable: "TOKEN" },
  nobody: null,
};

/** Returns the curl command of a call. A missing required value is replaced with its example or its name. */
export function curlOf(
  operation: Operation,
  parameters: readonly Parameter[],
  body: BodyShape | null,
  inputs: Inputs,
  origin: string,
): string {
  const values = Object.fromEntries(
    parameters.map((parameter) => [keyOf(parameter), shownValue(parameter, inputs.values[keyOf(parameter)])]),
  );
  const { address, call } = readyCall(operation, parameters, body, { values, body: inputs.body });
  const { content, headers = {}, method } = call;
  return curlCommand({
    method,
    origin,
    target: address,
    credential: CREDENTIALS[operation.caller],
    headers: [...(content ? [["Content-Type", content.type] as const] : []), ...Object.entries(headers)],
    body: content?.text ?? null,
  });
}

function shownValue(parameter: Parameter, value = ""): string {
  const { required, example, name } = parameter;
  const candidates = [value, ...(required ? [example, name.toUpperCase()] : [])];
  return candidates.find((each) => each !== "" && problemOf(parameter, each) === null) ?? "";
}
