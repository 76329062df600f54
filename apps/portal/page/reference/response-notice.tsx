import { Fact, FailureNotice, Notice } from "@ostiary/lib/page";
import { useFormats, useTexts } from "../texts/texts.ts";
import { laidOut, SHOWN_BYTES_MAX, type ShownResponse } from "./shown-response.ts";
import type { Exchange } from "./use-sender.ts";

/** Shows how a call ended. Shows the response as text, never as markup (PT-44). */
export function ResponseNotice({ exchange }: { exchange: Exchange }) {
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
      {exchange.state === "answered" && <Shown response={exchange.response} />}
    </>
  );
}

/** The status that a browser reports for a redirect. Browsers hide the real status from pages. */
const REDIRECTED = 0;

function Shown({ response }: { response: ShownResponse }) {
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
