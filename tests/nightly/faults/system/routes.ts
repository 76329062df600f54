import { LIMITS } from "../clients.ts";

/** Returns the service that clients call. It has a route for each kind of client. */
export function thingsService(url: string) {
  const free = { rate_limit: false };
  const organization = "/organizations/{subject.organization_id}";
  const get = (path: string) => ({
    path: `/things/${path}`,
    upstream: `${organization}/${path}`,
    methods: ["GET"],
    ...free,
  });
  return {
    url,
    public: { routes: [{ path: "/things/public", upstream: "/public", methods: ["GET"], ...free }] },
    user: {
      routes: [{ path: "/things/me", upstream: "/users/{subject.user_id}/me", methods: ["GET"], ...free }],
    },
    member: {
      routes: [
        {
          path: "/things/limited",
          upstream: "/members/{subject.member_id}/limited",
          methods: ["GET"],
          rate_limit: { requests: LIMITS.requests, window_seconds: LIMITS.windowS },
        },
      ],
    },
    organization: {
      routes: [
        ...["cached", "events"].map(get),
        { path: "/things", upstream: `${organization}/things`, methods: ["POST"], ...free },
      ],
    },
  };
}

/** Returns a version of the repeatedly published service. Its upstream path contains the version. */
export function versionedService(url: string, version: number) {
  const route = { path: VERSION_PATH, upstream: `/versions/${version}`, methods: ["GET"], rate_limit: false };
  return { url, public: { routes: [route] } };
}

export const VERSION_PATH = "/version";
