import { DataTable, Empty, FailureNotice, Loading, type Place, Route, useAsked } from "@ostiary/lib/page";
import { REFERENCE } from "../address.ts";
import { useAddress, useSession } from "../page-session.ts";
import { SearchedList, wholeList } from "../parts/lists.tsx";
import { useFormats, useTexts } from "../texts/texts.ts";
import {
  type Description,
  fetchDescription,
  isGranted,
  type Operation,
  searchedText,
} from "./description.ts";
import { groupsOf } from "./groups.ts";
import { OperationView } from "./operation-view.tsx";
import { plainOf } from "./prose.ts";

/** Shows the operations of the edge description that the member may call (PT-41). */
export function ReferenceView({ place }: { place: Place }) {
  const t = useTexts().reference;
  const { gateway } = useSession();
  const { answer, failure, loading, again } = useAsked(() => fetchDescription(gateway), "description");
  const [id] = place.segments;
  if (failure !== null) {
    if (failure.kind === "missing") return <Empty title={t.unpublished} />;
    if (failure.kind === "forbidden") return <Empty title={t.closed} />;
    return <FailureNotice failure={failure} onRetry={() => void again()} />;
  }
  if (answer === null || loading) return <Loading />;
  if (id === undefined) return <OperationList description={answer} />;
  const operation = answer.operations.find((each) => each.id === id);
  if (operation !== undefined) {
    return <OperationView key={operation.id} operation={operation} lookUp={answer.lookUp} />;
  }
  return (
    <Empty title={t.noCall}>
      <BackLink />
    </Empty>
  );
}

function BackLink() {
  const t = useTexts().reference;
  const address = useAddress();
  return <a href={address(REFERENCE)}>{t.back}</a>;
}

/** Lists the operations that the member's role allows, with a search field. */
function OperationList({ description }: { description: Description }) {
  const t = useTexts().reference;
  const formats = useFormats();
  const session = useSession();
  const granted = description.operations.filter((each) => isGranted(each, session));
  const refused = description.operations.length - granted.length;
  return (
    <>
      <p class="lead">{t.lead}</p>
      <SearchedList
        pages={wholeList(groupsOf(granted).flatMap(({ operations }) => operations))}
        texts={{ ...t, noneFound: t.none }}
        always
        textOf={searchedText}
      >
        {(operations) => <OperationTables operations={operations} />}
      </SearchedList>
      {refused > 0 && <p class="quiet">{t.refused(formats.number(refused))}</p>}
      {description.left_out > 0 && <p class="quiet">{t.left_out(formats.number(description.left_out))}</p>}
    </>
  );
}

/** Lists operations by tag. */
function OperationTables({ operations }: { operations: readonly Operation[] }) {
  const t = useTexts().reference;
  const address = useAddress();
  return (
    <>
      {groupsOf(operations).map(({ name, operations: grouped }) => (
        <section key={name} aria-label={name || t.calls}>
          <h2>{name || t.calls}</h2>
          <DataTable
            label={name || t.calls}
            columns={[t.columns.call, t.columns.summary]}
            rows={grouped.map(({ id, method, path, summary }) => ({
              key: id,
              cells: [
                <a href={address(REFERENCE, { segments: [id] })}>
                  <Route text={`${method} ${path}`} />
                </a>,
                plainOf(summary),
              ],
            }))}
          />
        </section>
      ))}
    </>
  );
}
