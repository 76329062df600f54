import { Button, Facts, FailureNotice, Form, Route, TextArea, TextField, useWrite } from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { isWrite } from "../gateway.ts";
import { Confirm, Secret } from "../parts/confirm.tsx";
import { type FieldProblems, type Problem, useForm, useProblems } from "../parts/use-problems.ts";
import { REFERENCE } from "../portal-address.ts";
import { useAddress, useSession } from "../portal-session.ts";
import { useFormats, useTexts } from "../texts/texts.ts";
import { bodyOf, type Description, type Operation, parametersOf, plainOf, textOf } from "./description.ts";
import {
  type CallForm,
  curlOf,
  type Inputs,
  problemsOf,
  type ReadyCall,
  readResponse,
  readyCall,
  SHOWN_BYTES_MAX,
  type ShownResponse,
} from "./request.ts";

interface OperationViewProps {
  operation: Operation;
  lookUp: Description["lookUp"];
}

const ACCEPT = "application/json, */*;q=0.8";
const TIMEOUT_MS = 60_000;

/** Shows one operation with its parameters, body and curl command, and sends it (PT-42, PT-43). */
export function OperationView({ operation, lookUp }: OperationViewProps) {
  const t = useTexts().reference;
  const { gateway } = useSession();
  const address = useAddress();
  const shape = bodyOf(operation, lookUp);
  const body = shape === "file" ? null : shape;
  const form = { operation, parameters: parametersOf(operation), body };
  const [inputs, setInputs] = useState<Inputs>({ body: body?.sample ?? "" });
  const shown = useProblems(null);
  const [confirming, confirm] = useState<ReadyCall | null>(null);
  const [response, show] = useState<ShownResponse | null>(null);
  const sending = useWrite();
  const send = ({ address: target, call }: ReadyCall) => {
    show(null);
    const headers = { Accept: ACCEPT, ...call.headers };
    const work = async () => {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const result = await gateway.exchange(target, { ...call, headers, signal });
      return result.ok ? { ok: true as const, value: await readResponse(result.value) } : result;
    };
    void sending.write(work, show);
  };
  const start = () => {
    const problems: Record<string, Problem | null> = {};
    for (const [key, problem] of Object.entries(problemsOf(form, inputs)))
      problems[key] = problem && (({ reference }) => reference.problems[problem]);
    if (!shown.pass(problems)) return;
    const ready = readyCall(form, inputs);
    if (isWrite(operation)) confirm(ready);
    else send(ready);
  };
  return (
    <>
      <p>
        <a href={address(REFERENCE)}>{t.back}</a>
      </p>
      <Explained operation={operation} />
      {shape === "file" ? (
        <p>{t.file}</p>
      ) : (
        <InputForm {...{ form, inputs, shown }} running={sending.busy} onInput={setInputs} onSend={start} />
      )}
      <p class="sr" role="status">
        {sending.busy ? t.sending : response !== null && t.status(response.status)}
      </p>
      {sending.failure !== null && <FailureNotice failure={sending.failure} />}
      {response !== null && <ResponsePanel response={response} />}
      <Secret value={curlOf(form, inputs, location.origin)} label={t.command} copy={t.copyCommand} />
      {confirming !== null && (
        <ConfirmCall
          ready={confirming}
          onClose={() => confirm(null)}
          onConfirm={() => {
            confirm(null);
            send(confirming);
          }}
        />
      )}
    </>
  );
}

function Explained({ operation }: { operation: Operation }) {
  const t = useTexts().reference;
  const formats = useFormats();
  const { method, path, summary, labels, caller, deprecated, source } = operation;
  return (
    <>
      <h2>{plainOf(summary)}</h2>
      <p>
        <Route text={`${method} ${path}`} />
      </p>
      {deprecated && <p class="notice notice-warn">{t.deprecated}</p>}
      <p class="quiet wrapped">{plainOf(textOf(source.description))}</p>
      <p class="quiet small">
        {t.callers[caller]} {labels !== null && t.labels(formats.list(labels))}
      </p>
    </>
  );
}

interface InputFormProps {
  form: CallForm;
  inputs: Inputs;
  shown: FieldProblems;
  running: boolean;
  onInput: (inputs: Inputs) => void;
  onSend: () => void;
}

function InputForm({ form, inputs, shown, running, onInput, onSend }: InputFormProps) {
  const { operation, parameters, body } = form;
  const t = useTexts().reference;
  return (
    <Form class="fields call-form" label={t.form} problems={shown} onSubmit={onSend}>
      {parameters.map(({ key, name, place, required, description, example }) => {
        const help = `${plainOf(description)} ${example === "" ? "" : t.example(example)}`.trim();
        return (
          <TextField
            key={key}
            label={`${name} (${t.places[place]}${required ? `, ${t.required}` : ""})`}
            help={help === "" ? undefined : help}
            {...shown.field(key, inputs[key] ?? "", (text) => onInput({ ...inputs, [key]: text }))}
          />
        );
      })}
      {body !== null && (
        <TextArea
          label={t.body(body.type)}
          rows={8}
          {...shown.field("body", inputs.body ?? "", (text) => onInput({ ...inputs, body: text }))}
        />
      )}
      <div class="actions">
        <Button type="submit" look="main" aria-disabled={running}>
          {running ? t.sending : isWrite(operation) ? t.sendAfterQuestion : t.send}
        </Button>
      </div>
    </Form>
  );
}

interface ConfirmCallProps {
  ready: ReadyCall;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks the person to confirm a call that may change something, and shows the call without its credential. */
function ConfirmCall({ ready: { address, call }, onConfirm, onClose }: ConfirmCallProps) {
  const t = useTexts().reference;
  const headers = Object.entries(call.headers ?? {}).map(([name, value]) => `\n${name}: ${value}`);
  return (
    <Confirm
      title={t.confirmTitle}
      action={t.send}
      danger={call.method === "DELETE"}
      form={useForm()}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <p>{t.confirmHelp}</p>
      <pre class="wrapped">
        {call.method} {location.origin}
        {address}
        {headers}
      </pre>
      {call.content === undefined ? (
        <p>{t.noBody}</p>
      ) : (
        <pre class="wrapped scrolled">{call.content.text}</pre>
      )}
    </Confirm>
  );
}

/** The status that a browser reports for a redirect. Browsers hide the real status from pages. */
const REDIRECTED = 0;

/** Shows a response as text, never as markup (PT-44). */
function ResponsePanel({ response: { status, headers, bytes, text, cut } }: { response: ShownResponse }) {
  const t = useTexts().reference;
  const formats = useFormats();
  return (
    <section class="panel" aria-label={t.response}>
      <h3>{status === REDIRECTED ? t.redirect : t.status(status)}</h3>
      <Facts facts={headers.map(([name, value]) => [name, <code>{value}</code>] as const)} />
      {bytes > 0 && text === null && <p>{t.noText(formats.number(bytes))}</p>}
      {bytes > 0 && text !== null && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <section class="scrolled" tabIndex={0} aria-label={t.responseBody}>
          <pre class="wrapped">{text}</pre>
        </section>
      )}
      {cut && <p>{bytes === SHOWN_BYTES_MAX ? t.cut(formats.number(bytes)) : t.ended}</p>}
    </section>
  );
}
