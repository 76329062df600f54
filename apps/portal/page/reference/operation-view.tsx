import {
  Button,
  CopyButton,
  Fact,
  type Failure,
  FailureNotice,
  Form,
  Notice,
  Route,
  TextArea,
  TextField,
} from "@ostiary/lib/page";
import { useEffect, useRef, useState } from "preact/hooks";
import { REFERENCE } from "../address.ts";
import { type Gateway, isWrite } from "../gateway.ts";
import { useAddress, useSession } from "../page-session.ts";
import { Confirm } from "../parts/confirm.tsx";
import {
  type FieldProblems,
  type Problem,
  type Problems,
  useForm,
  useProblems,
} from "../parts/use-problems.ts";
import { useFormats, useTexts } from "../texts/texts.ts";
import {
  type BodyShape,
  bodyOf,
  type Description,
  type Operation,
  type Parameter,
  parametersOf,
  textOf,
} from "./description.ts";
import { plainOf, proseOf } from "./prose.ts";
import { callOf, curlOf, type InputProblems, type Inputs, keyOf, type ReadyCall } from "./request.ts";
import { laidOut, readResponse, SHOWN_BYTES_MAX, type ShownResponse } from "./shown-response.ts";

interface OperationViewProps {
  operation: Operation;
  lookUp: Description["lookUp"];
}

/** Shows one operation with its parameters, body and curl command, and sends it (PT-42, PT-43). */
export function OperationView({ operation, lookUp }: OperationViewProps) {
  const t = useTexts().reference;
  const { gateway } = useSession();
  const address = useAddress();
  const sender = useSender(gateway);
  const parameters = parametersOf(operation);
  const shape = bodyOf(operation, lookUp);
  const body = shape === "file" ? null : shape;
  const [inputs, setInputs] = useState<Inputs>({ values: {}, body: body?.sample ?? "" });
  const shown = useProblems(null);
  const [asked, setAsked] = useState<ReadyCall | null>(null);
  const start = () => {
    const made = callOf(operation, parameters, body, inputs);
    if (!shown.pass(made.ok ? {} : wordsOf(made.problems)) || !made.ok) return;
    if (isWrite(operation)) setAsked(made.ready);
    else sender.send(made.ready);
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
        <InputForm
          {...{ operation, parameters, body, inputs, shown }}
          running={sender.exchange.state === "running"}
          onInput={setInputs}
          onSend={start}
          onStop={sender.stop}
        />
      )}
      <ResponseNotice exchange={sender.exchange} />
      <Command text={curlOf(operation, parameters, body, inputs, location.origin)} />
      {asked !== null && (
        <ConfirmCall
          asked={asked}
          onClose={() => setAsked(null)}
          onConfirm={() => {
            setAsked(null);
            sender.send(asked);
          }}
        />
      )}
    </>
  );
}

function wordsOf(problems: InputProblems): Problems {
  return Object.fromEntries(
    Object.entries(problems).map(([key, problem]): [string, Problem] => [
      key,
      ({ reference }) => reference.problems[problem],
    ]),
  );
}

function Explained({ operation }: { operation: Operation }) {
  const t = useTexts().reference;
  const formats = useFormats();
  const { method, path, summary, labels, caller, deprecated, source } = operation;
  const description = textOf(source.description);
  return (
    <>
      <h2>
        <Route text={`${method} ${path}`} />
      </h2>
      <p>{plainOf(summary)}</p>
      {deprecated && <p class="notice notice-warn">{t.deprecated}</p>}
      <Prose text={description} />
      <p class="quiet small">
        {t.callers[caller]} {labels !== null && t.labels(formats.list(labels))}
      </p>
    </>
  );
}

/** Shows a text of a description, without its Markdown. Markup of other kinds stays text. */
function Prose({ text }: { text: string }) {
  return (
    <>
      {proseOf(text).map((pieces, paragraph) => (
        <p key={paragraph} class="quiet">
          {pieces.map(({ kind, text: piece }, index) => {
            if (kind === "break") return <br key={index} />;
            const Element = ELEMENTS[kind];
            return <Element key={index}>{piece}</Element>;
          })}
        </p>
      ))}
    </>
  );
}

const ELEMENTS = { text: "span", strong: "strong", code: "code" } as const;

interface InputFormProps {
  operation: Operation;
  parameters: readonly Parameter[];
  body: BodyShape | null;
  inputs: Inputs;
  shown: FieldProblems;
  running: boolean;
  onInput: (inputs: Inputs) => void;
  onSend: () => void;
  onStop: () => void;
}

function InputForm(props: InputFormProps) {
  const { operation, parameters, body, inputs, shown, running, onInput, onSend, onStop } = props;
  const t = useTexts().reference;
  return (
    <Form class="fields call-form" label={t.form} problems={shown} onSubmit={() => !running && onSend()}>
      {parameters.map((parameter) => (
        <ParameterField
          key={keyOf(parameter)}
          parameter={parameter}
          value={inputs.values[keyOf(parameter)] ?? ""}
          problem={shown.of(keyOf(parameter))}
          onInput={(text) => onInput({ ...inputs, values: { ...inputs.values, [keyOf(parameter)]: text } })}
        />
      ))}
      {body !== null && (
        <TextArea
          label={t.body(body.type)}
          rows={8}
          value={inputs.body}
          problem={shown.of("body")}
          onInput={(text) => onInput({ ...inputs, body: text })}
        />
      )}
      <div class="actions">
        <Button type="submit" look="main" aria-disabled={running}>
          {running ? t.sending : isWrite(operation) ? t.sendAfterQuestion : t.send}
        </Button>
        {running && <Button onClick={onStop}>{t.stop}</Button>}
      </div>
    </Form>
  );
}

interface ParameterFieldProps {
  parameter: Parameter;
  value: string;
  problem: string | null;
  onInput: (value: string) => void;
}

function ParameterField({ parameter, value, problem, onInput }: ParameterFieldProps) {
  const t = useTexts().reference;
  const { name, place, required, description, example } = parameter;
  const help = [plainOf(description), example !== "" && t.example(example)].filter(
    (each) => each !== false && each !== "",
  );
  return (
    <TextField
      label={`${name} (${t.places[place]}${required ? `, ${t.required}` : ""})`}
      value={value}
      problem={problem}
      help={help.length === 0 ? undefined : help.join(" ")}
      onInput={onInput}
    />
  );
}

interface ConfirmCallProps {
  asked: ReadyCall;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks the person to confirm a call that may change something, and shows the call without its credential. */
function ConfirmCall({ asked: { address, call }, onConfirm, onClose }: ConfirmCallProps) {
  const t = useTexts().reference;
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
      </pre>
      {Object.entries(call.headers ?? {}).map(([name, value]) => (
        <pre class="wrapped" key={name}>
          {name}: {value}
        </pre>
      ))}
      {call.content === undefined ? (
        <p>{t.noBody}</p>
      ) : (
        <pre class="wrapped scrolled">{call.content.text}</pre>
      )}
    </Confirm>
  );
}

function Command({ text }: { text: string }) {
  const t = useTexts().reference;
  return (
    <figure class="secret" aria-label={t.command}>
      <figcaption>{t.command}</figcaption>
      <pre class="wrapped">{text}</pre>
      <CopyButton text={text} label={t.copyCommand} />
    </figure>
  );
}

/** Shows how a call ended. Shows the response as text, never as markup (PT-44). */
function ResponseNotice({ exchange }: { exchange: Exchange }) {
  const { reference: t, unknown } = useTexts();
  const [unknownTitle = "", unknownHelp = ""] = unknown;
  return (
    <>
      <p class="sr" role="status">
        {exchange.state === "running" && t.sending}
        {exchange.state === "answered" && t.status(exchange.response.status)}
      </p>
      {exchange.state === "failed" && <FailureNotice failure={exchange.failure} />}
      {exchange.state === "stopped" && (
        <Notice tone="warn" title={exchange.outcomeUnknown ? unknownTitle : t.stopped} role="alert">
          {exchange.outcomeUnknown && <p>{unknownHelp}</p>}
        </Notice>
      )}
      {exchange.state === "answered" && <Response_ response={exchange.response} />}
    </>
  );
}

/** The status that a browser reports for a redirect. Browsers hide the real status from pages. */
const REDIRECTED = 0;

function Response_({ response }: { response: ShownResponse }) {
  const t = useTexts().reference;
  const formats = useFormats();
  const { status, headers, bytes, text, cut } = response;
  return (
    <section class="panel" aria-label={t.answer}>
      <h3>{status === REDIRECTED ? t.redirect : t.status(status)}</h3>
      {headers.length > 0 && (
        <dl class="facts">
          {headers.map(([name, value]) => (
            <Fact key={name} name={name}>
              <code>{value}</code>
            </Fact>
          ))}
        </dl>
      )}
      {bytes > 0 && text === null && <p>{t.noText(formats.number(bytes))}</p>}
      {bytes > 0 && text !== null && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <section class="scrolled" tabIndex={0} aria-label={t.answerBody}>
          <pre class="wrapped">{laidOut(text)}</pre>
        </section>
      )}
      {cut && <p>{bytes === SHOWN_BYTES_MAX ? t.cut(formats.number(bytes)) : t.ended}</p>}
    </section>
  );
}

/** The state of a call. */
type Exchange =
  | { state: "idle" }
  | { state: "running" }
  /** The person stopped the call. `outcomeUnknown` says that the call may have made a change. */
  | { state: "stopped"; outcomeUnknown: boolean }
  | { state: "failed"; failure: Failure }
  | { state: "answered"; response: ShownResponse };

interface Sender {
  readonly exchange: Exchange;
  /** Sends a call. Does nothing while another call is in flight, so that a double click sends only once. */
  send(ready: ReadyCall): void;
  stop(): void;
}

const ACCEPT = "application/json, */*;q=0.8";

/** Sends one call at a time with the credential for its scope, and reads the response (PT-43, PT-44). */
function useSender(gateway: Gateway): Sender {
  const [exchange, show] = useState<Exchange>({ state: "idle" });
  const underway = useRef<{ stop: AbortController; writes: boolean } | null>(null);
  const send = async ({ address, call }: ReadyCall) => {
    if (underway.current !== null) return;
    const mine = { stop: new AbortController(), writes: isWrite(call) };
    underway.current = mine;
    show({ state: "running" });
    const headers = { Accept: ACCEPT, ...call.headers };
    const result = await gateway.exchange(address, { ...call, headers, signal: mine.stop.signal });
    const last: Exchange = result.ok
      ? { state: "answered", response: await readResponse(result.value) }
      : { state: "failed", failure: result.failure };
    if (underway.current !== mine) return;
    underway.current = null;
    const stopped = mine.stop.signal.aborted && last.state === "failed";
    show(stopped ? { state: "stopped", outcomeUnknown: mine.writes } : last);
  };
  useEffect(
    () => () => {
      // Let a write continue. Abort a read, because nobody needs its response anymore.
      if (underway.current?.writes === false) underway.current.stop.abort();
      underway.current = null;
    },
    [],
  );
  return { exchange, send: (ready) => void send(ready), stop: () => underway.current?.stop.abort() };
}
