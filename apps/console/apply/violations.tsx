import type { Failure } from "@ostiary/lib/page";
import { counted, Said } from "../parts/shown.tsx";
import { placeViolations } from "./violation-places.ts";

interface ViolationsProps {
  document: string;
  failure: Failure;
  onShow: (place: { start: number; end: number }) => void;
}

/** Lists the problems of a document. Each problem links to its line in the text. */
export function Violations({ document, failure, onShow }: ViolationsProps) {
  const placed = placeViolations(document, failure.fields);
  return (
    <section class="notice notice-bad" aria-labelledby="problems">
      <h2 id="problems" class="notice-title">
        {counted(placed.length, "problem", "problems")} in the document
      </h2>
      <p>Nothing was written.</p>
      <ol class="problems">
        {placed.map(({ path, message, place }) => (
          <li key={path + message}>
            {place !== null && (
              <button type="button" class="link" onClick={() => onShow(place)}>
                Line {place.line}
              </button>
            )}{" "}
            {path !== "" && <code>{path}</code>} <Said text={message} />
          </li>
        ))}
      </ol>
    </section>
  );
}
