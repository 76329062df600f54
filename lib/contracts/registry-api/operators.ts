import { type Static, Type } from "@sinclair/typebox";
import { nullable } from "../../domain/schemas/index.ts";

/** The name of an operator, as revisions and log lines show it. */
export const OperatorName = Type.String({
  description: "The operator's name; `admin` is the holder of ADMIN_TOKEN.",
  examples: ["team-widgets"],
});

/** The operator that a token identifies, and what the operator may do (RG-115). */
export const CurrentOperator = Type.Object(
  {
    name: OperatorName,
    role: Type.Union([Type.Literal("reader"), Type.Literal("publisher"), Type.Literal("admin")], {
      description:
        "A reader can read and run dry runs. A publisher can also write its services. An admin can do everything.",
      examples: ["publisher"],
    }),
    services: nullable(Type.Array(Type.String()), {
      description:
        "The name patterns of the services that the operator may write; `*` stands for any characters. Null means every service.",
      examples: [["widgets", "widgets-*"]],
    }),
    paths: nullable(Type.Array(Type.String()), {
      description: "The prefixes of the paths that the operator may publish. Null means every path.",
      examples: [["/org/widgets"]],
    }),
    urls: nullable(Type.Array(Type.String()), {
      description:
        "The patterns of the addresses that the operator may give its services; `*` stands for a label or for the port. Null means every address. Without any, the operator cannot set an address.",
      examples: [["http://*.widgets.internal:*"]],
    }),
  },
  { title: "Operator", description: "The operator that the token identifies." },
);
export type CurrentOperator = Static<typeof CurrentOperator>;
