/**
 * A standard OpenID Connect provider, started by `bun tests/support/pages/oidc-provider-process.ts PORT [ORIGIN]`.
 * With the origin of a portal, the provider has a public client for that portal.
 */
import { Provider } from "oidc-provider";

const port = Number(process.argv[2]);
const portalOrigin = process.argv[3];
const portal = {
  client_id: "customer-portal",
  application_type: "web",
  token_endpoint_auth_method: "none",
  grant_types: ["authorization_code", "refresh_token"],
  redirect_uris: [`${portalOrigin}/portal/signed-in`],
  post_logout_redirect_uris: [`${portalOrigin}/portal`],
};

/**
 * A lifetime below the portal's renewal margin, so that every call with the user's token renews the token.
 */
const PORTAL_TOKEN_SECONDS = 25;

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: "ten-minutes",
      client_secret: "ten-minutes-secret",
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
    },
    ...(portalOrigin === undefined ? [] : [portal]),
  ],
  clientBasedCORS: () => true,
  // Each refresh token works once. The second use of a refresh token revokes the sign-in.
  issueRefreshToken: () => portalOrigin !== undefined,
  rotateRefreshToken: true,
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: portalOrigin !== undefined },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      // Only a token that is requested for an API is a JWT. Other tokens are opaque, as with other identity
      // providers.
      getResourceServerInfo: (_context: unknown, resource: string) => ({
        scope: "",
        audience: resource,
        accessTokenFormat: "jwt",
        ...(portalOrigin !== undefined && { accessTokenTTL: PORTAL_TOKEN_SECONDS }),
      }),
    },
  },
});

provider.listen(port, "127.0.0.1", () => process.stdout.write("listening\n"));
