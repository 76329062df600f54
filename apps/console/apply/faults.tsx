import { counted, Said } from "../parts/shown.tsx";
import type { Failure } from "../registry/failure.ts";
import { placeFaults } from "./places.ts";

interface FaultsProps {
  document: string;
  failure: Failure;
  onShow: (place: { start: number; end: number }) => void;
}

/** What is wrong with a document, each fault with a way to its place in the text. */
export function Faults({ document, failure, onShow }: FaultsProps) {
  const placed = placeFaults(document, failure.fields);
  return (
    <section class="notice notice-bad" aria-labelledby="faults">
      <h2 id="faults" class="notice-title">
        {counted(placed.length, "thing is", "things are")} wrong with the document
      </h2>
      <p>Nothing was written.</p>
      <ol class="faults">
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
