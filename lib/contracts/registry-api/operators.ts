import { type Static, Type } from "@sinclair/typebox";
import { nullable, textField, timeField } from "../../domain/schemas/index.ts";

/** The name of an operator, as revisions and log lines show it. */
export const OperatorName = textField(
  "The operator's name; `admin` is the holder of ADMIN_TOKEN.",
  "team-widgets",
);

const operatorProperties = {
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
};

/** The operator that a token identifies, and what the operator may do (RG-115). */
export const CurrentOperator = Type.Object(operatorProperties, {
  title: "Operator",
  description: "The operator that the token identifies.",
});
export type CurrentOperator = Static<typeof CurrentOperator>;

/** All operators who may call the registry, without their tokens and the values of their claims (RG-174). */
export const ListedOperators = Type.Object(
  {
    operators: Type.Array(
      Type.Object(
        {
          ...operatorProperties,
          expires_at: nullable(timeField("When the operator expires."), {
            description: "When the operator expires. Null if it does not.",
          }),
          tokens: Type.Integer({
            description: "How many tokens of the operator the registry accepts now.",
            examples: [1],
          }),
          claims: Type.Array(Type.String(), {
            description:
              "The names of the claims by which tokens of the identity provider stand for the operator. Empty for an operator with tokens of its own.",
            examples: [["repository", "ref"]],
          }),
        },
        { title: "ListedOperator", description: "An operator, and how it proves itself." },
      ),
      { description: "The holder of ADMIN_TOKEN, then the operators of OPERATORS_FILE in their order." },
    ),
  },
  { title: "Operators", description: "All operators." },
);
export type ListedOperators = Static<typeof ListedOperators>;
