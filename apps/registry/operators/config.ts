import {
  authIssuer,
  type ConfigProblem,
  isHttpBaseUrl,
  optionalHttpUrl,
  optionalList,
  providerOrigins,
  signInAudience,
  signInClientId,
  signInScopes,
  tlsVariables,
} from "@ostiary/lib/runtime/config";
import { operatorsFileVariable } from "@ostiary/lib/runtime/config/operators-file";
import { type Static, Type } from "@sinclair/typebox";

/**
 * The environment variables that configure operators: the operators file, the identity provider that signs their JWTs,
 * and the console's sign-in.
 */
export const operatorVariables = {
  OPERATORS_FILE: operatorsFileVariable(),
  OPERATOR_ISSUER: Type.Optional(
    authIssuer(
      "The exact `iss` of the JWTs of operators with `claims`. If it is unset, the registry accepts no JWTs.",
    ),
  ),
  OPERATOR_JWKS_URI: optionalHttpUrl("The URL of the key set (JWKS) of OPERATOR_ISSUER."),
  ...tlsVariables("OPERATOR_JWKS"),
  OPERATOR_AUDIENCE: optionalList(
    "must be audiences, separated by commas",
    () => true,
    "The audiences of the registry. The `aud` of an operator's JWT must contain one of them.",
  ),
  CONSOLE_CLIENT_ID: signInClientId(
    "console",
    "The console's client id at OPERATOR_ISSUER, for people who sign in to the console. Register a public client, without a secret.",
  ),
  CONSOLE_SCOPES: signInScopes("console"),
  CONSOLE_AUDIENCE: signInAudience(),
  CONSOLE_PROVIDER_ORIGINS: providerOrigins(),
};

const operatorSchema = Type.Object(operatorVariables);
export type OperatorConfig = Static<typeof operatorSchema>;

const PROVIDER = ["OPERATOR_ISSUER", "OPERATOR_JWKS_URI", "OPERATOR_AUDIENCE"] as const;

/** Checks that the variables of the operators' identity provider are all set or all unset (RG-123). */
export function checkOperatorProvider(config: Partial<OperatorConfig>): ConfigProblem[] {
  const { OPERATOR_ISSUER, OPERATORS_FILE, CONSOLE_CLIENT_ID } = config;
  const given = PROVIDER.filter((variable) => config[variable] !== undefined);
  if (given.length === 0) return CONSOLE_CLIENT_ID === undefined ? [] : [CONSOLE_WITHOUT_ISSUER];
  const missing = PROVIDER.filter((variable) => config[variable] === undefined);
  return [
    ...missing.map((variable) => ({ variable, message: `is required if ${given[0]} is set.` })),
    ...(OPERATORS_FILE === undefined ? [FILE_MISSING] : []),
    ...(CONSOLE_CLIENT_ID !== undefined && OPERATOR_ISSUER !== undefined && !isHttpBaseUrl(OPERATOR_ISSUER)
      ? [ISSUER_WITHOUT_ADDRESS]
      : []),
  ];
}

const FILE_MISSING: ConfigProblem = {
  variable: "OPERATORS_FILE",
  message: "is required if OPERATOR_ISSUER is set: the file lists the claims of each operator.",
};
const CONSOLE_WITHOUT_ISSUER: ConfigProblem = {
  variable: "CONSOLE_CLIENT_ID",
  message: "has no effect without OPERATOR_ISSUER: set both.",
};
const ISSUER_WITHOUT_ADDRESS: ConfigProblem = {
  variable: "OPERATOR_ISSUER",
  message: "must be an http:// or https:// URL without query and fragment if CONSOLE_CLIENT_ID is set.",
};
