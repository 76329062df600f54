import {
  DataTable,
  Empty,
  Loaded,
  type PageAddress,
  Route,
  SearchedList,
  useRequest,
  wholeList,
} from "@ostiary/lib/page";
import { REFERENCE } from "../portal-address.ts";
import { useAddress, useSession } from "../portal-session.ts";
import { useFormats, useTexts } from "../texts/texts.ts";
import {
  type Description,
  fetchDescription,
  groupsOf,
  isGranted,
  type Operation,
  plainOf,
} from "./description.ts";
import { OperationView } from "./operation-view.tsx";

/** Shows the operations of the edge description that the member may call (PT-41). */
export function ReferenceView({ place }: { place: PageAddress }) {
  const t = useTexts().reference;
  const { gateway } = useSession();
  const address = useAddress();
  const request = useRequest(() => fetchDescription(gateway), "description");
  const [id] = place.segments;
  if (request.failure?.kind === "missing") return <Empty title={t.unpublished} />;
  if (request.failure?.kind === "forbidden") return <Empty title={t.closed} />;
  return (
    <Loaded request={request}>
      {(description) => {
        const operation = description.operations.find((each) => each.id === id);
        if (id === undefined) return <OperationList description={description} />;
        if (operation !== undefined) {
          return <OperationView key={id} operation={operation} lookUp={description.lookUp} />;
        }
        return (
          <Empty title={t.noCall}>
            <a href={address(REFERENCE)}>{t.back}</a>
          </Empty>
        );
      }}
    </Loaded>
  );
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
        pages={wholeList(groupsOf(granted).flatMap(([, operations]) => operations))}
        texts={{ ...t, noneFound: t.none }}
        always
        textOf={({ method, path, summary, group, id }) => `${method} ${path} ${summary} ${group} ${id}`}
      >
        {(operations) => <OperationTables operations={operations} />}
      </SearchedList>
      {refused > 0 && <p class="quiet">{t.refused(formats.number(refused))}</p>}
      {description.leftOut > 0 && <p class="quiet">{t.leftOut(formats.number(description.leftOut))}</p>}
    </>
  );
}

function OperationTables({ operations }: { operations: readonly Operation[] }) {
  const t = useTexts().reference;
  const address = useAddress();
  return (
    <>
      {groupsOf(operations).map(([key, grouped]) => {
        const name = grouped[0]?.group || t.calls;
        return (
          <section key={key} aria-label={name}>
            <h2>{name}</h2>
            <DataTable
              label={name}
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
        );
      })}
    </>
  );
}
