import type { Lookup } from "@ostiary/lib/contracts/registry-api";
import { bodyText, limitText, METHODS, type Method, timeoutText } from "@ostiary/lib/domain/routes";
import { Button, Facts, FailureNotice, type Result, SelectField, TextField } from "@ostiary/lib/page";
import { useId, useState } from "preact/hooks";
import { fragmentOf } from "../console-address.ts";
import { useRequest, useSubmit } from "../console-session.ts";
import { Methods, ResultNotice, ScopeBadge } from "../parts/shown.tsx";
import { type LookupRequest, listRoles, lookUp } from "../registry/calls.ts";
import { nearestOf } from "../registry/console-registry.ts";

const CALLERS = [
  { value: "anyone", text: "any caller" },
  { value: "role", text: "a member with a role" },
  { value: "labels", text: "a member with labels" },
] as const;

/** The caller of the request. `named` is the role, or the list of labels, that the operator entered. */
interface Caller {
  kind: (typeof CALLERS)[number]["value"];
  named: string;
}

/** Shows which route serves a request, and whether a caller may use it. */
export function LookupView() {
  const { busy, last, submit } = useSubmit(lookUp);
  const [method, setMethod] = useState<Method>("GET");
  const [path, setPath] = useState("");
  const [caller, setCaller] = useState<Caller>({ kind: "anyone", named: "" });
  const pathField = useId();
  const onSubmit = (event: Event) => {
    event.preventDefault();
    if (!busy) void submit({ method, path: path.trim(), ...roleAndLabels(caller) });
  };
  const follow = (nearest: { method: Method; path: string }) => {
    setMethod(nearest.method);
    setPath(nearest.path);
    document.getElementById(pathField)?.focus();
  };
  return (
    <>
      <p class="quiet lead">
        Find out which route serves a request, and whether the caller may use the route. No request is sent to
        the service.
      </p>
      <form class="panel document" onSubmit={onSubmit} aria-busy={busy}>
        <SelectField
          label="Method"
          value={method}
          options={METHODS.map((each) => ({ value: each, text: each }))}
          onInput={setMethod}
        />
        <TextField
          id={pathField}
          label="Path"
          class="mono"
          required
          placeholder="/org/widgets/42"
          value={path}
          onInput={setPath}
        />
        <CallerFields caller={caller} onChange={setCaller} />
        <Button type="submit" look="main" aria-disabled={busy}>
          {busy ? "Looking up …" : "Look up"}
        </Button>
      </form>
      <div aria-live="polite">{last !== null && <LookupResult {...last} onFollow={follow} />}</div>
    </>
  );
}

function roleAndLabels({ kind, named }: Caller): Pick<LookupRequest, "role" | "labels"> {
  const labels = named.split(/[\s,]+/).filter(Boolean);
  return { role: kind === "role" ? named.trim() : "", labels: kind === "labels" ? labels.join(",") : "" };
}

function CallerFields({ caller, onChange }: { caller: Caller; onChange: (caller: Caller) => void }) {
  const { kind, named } = caller;
  const name = (named: string) => onChange({ kind, named });
  return (
    <>
      <SelectField
        label="Caller"
        value={kind}
        options={CALLERS}
        onInput={(chosen) => onChange({ kind: chosen, named: "" })}
      />
      {kind === "role" && <RoleField value={named} onChange={name} />}
      {kind === "labels" && (
        <TextField
          label="Labels, separated by commas"
          required
          placeholder="widgets:read, widgets:write"
          value={named}
          onInput={name}
        />
      )}
    </>
  );
}

function RoleField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const { value: listed, failure, reload } = useRequest(listRoles, "roles");
  if (failure !== null) return <FailureNotice failure={failure} onRetry={reload} />;
  if (listed?.roles.length === 0) {
    return (
      <p class="quiet">This registry has no roles. Set its ROLES_FILE, or look up a member with labels.</p>
    );
  }
  return (
    <SelectField
      label="Role"
      required
      value={value}
      options={[
        { value: "", text: "Choose a role" },
        ...(listed?.roles ?? []).map(({ slug }) => ({ value: slug, text: slug })),
      ]}
      onInput={onChange}
    />
  );
}

interface LookupResultProps {
  input: LookupRequest;
  result: Result<Lookup>;
  onFollow: (route: { method: Method; path: string }) => void;
}

function LookupResult({ input, result, onFollow }: LookupResultProps) {
  if (result.ok) return <FoundRoute input={input} found={result.value} />;
  const { failure } = result;
  const nearest = nearestOf(failure);
  if (failure.kind !== "missing") return <FailureNotice failure={failure} />;
  return (
    <ResultNotice tone="bad" title="No route serves this request">
      <p>
        The gateway responds to{" "}
        <code>
          {input.method} {input.path}
        </code>{" "}
        with 404.
      </p>
      {nearest.length > 0 && (
        <>
          <h3>The nearest routes</h3>
          <ul class="problems">
            {nearest.map(({ service, scope, method, path }) => (
              <li key={`${method} ${path}`}>
                <button type="button" class="link" onClick={() => onFollow({ method, path })}>
                  <Methods methods={[method]} /> <code>{path}</code>
                </button>{" "}
                <ScopeBadge scope={scope} /> <a href={fragmentOf({ name: "service", service })}>{service}</a>
              </li>
            ))}
          </ul>
        </>
      )}
    </ResultNotice>
  );
}

function FoundRoute({ input, found }: { input: LookupRequest; found: Lookup }) {
  const { service, scope, path, method, params, required_labels, rate_limit, audit, upstream, allowed } =
    found;
  const { timeout_ms, max_body_bytes } = found;
  const who = input.role !== "" ? `a member with the role ${input.role}` : `a member with these labels`;
  const verdicts = {
    true: { tone: "good", title: `Yes, ${who} may call the route` },
    false: { tone: "bad", title: `No, ${who} may not call the route` },
    undefined: { title: `${service} serves this request` },
  } as const;
  return (
    <ResultNotice {...verdicts[`${allowed}`]}>
      {allowed !== undefined && <p>{whyText(found)}</p>}
      <Facts
        facts={[
          ["Route", [<Methods methods={[method]} />, " ", <code>{path}</code>]],
          ["Owner", <a href={fragmentOf({ name: "service", service })}>{service}</a>],
          ["Scope", <ScopeBadge scope={scope} />],
          ["Labels", required_labels?.join(", ") ?? "none required"],
          ["Limit", limitText(rate_limit) || "the gateway's default"],
          ["Audit", audit ? "yes" : "no"],
          ["Timeout", timeout_ms && timeoutText(timeout_ms)],
          ["Largest body", max_body_bytes && bodyText(max_body_bytes)],
          ["Upstream", upstream === null ? "same path as the request" : <code>{upstream}</code>],
          ...Object.entries(params).map(([name, value]) => [`{${name}}`, <code>{value}</code>] as const),
        ]}
      />
    </ResultNotice>
  );
}

function whyText({ scope, required_labels, allowed, decided_by = [] }: Lookup): string {
  if (scope === "public") return "The route is public: it requires no credential.";
  if (scope === "user") return "The route is for people with their own token or key: labels do not apply.";
  if (required_labels === null) return "The route requires no label: any admitted member may call it.";
  const labels = decided_by.join(", ");
  return allowed
    ? `The member has a required label: ${labels}.`
    : `The member needs one of these labels: ${labels}.`;
}
