package main

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"os"
	"strings"
	"time"

	"clients/audit"
	"clients/identity"
	"clients/registry"

	"github.com/oapi-codegen/nullable"
)

type object map[string]any

func must[Value any](value Value, err error) Value {
	if err != nil {
		panic(err)
	}
	return value
}

func document(name string, config registry.ServiceConfig) registry.ConfigDocument {
	return registry.ConfigDocument{Services: map[string]registry.ServiceConfig{name: config}}
}

func main() {
	ctx := context.Background()
	withToken := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("ADMIN_TOKEN"))
		return nil
	}
	edge := must(registry.NewClientWithResponses(os.Getenv("REGISTRY_URL"), registry.WithRequestEditorFn(withToken)))
	directory := must(identity.NewClientWithResponses(os.Getenv("IDENTITY_URL")))
	log := must(audit.NewClientWithResponses(os.Getenv("AUDIT_URL")))

	var limit, unlimited registry.RouteRateLimit
	must(0, limit.FromPolicyName("burst"))
	must(0, unlimited.FromNoRateLimit(false))
	var methods, list registry.RouteMethods
	must(0, methods.FromMethodMap(registry.MethodMap{GET: nullable.NewNullableWithValue(registry.MethodConfig{RateLimit: &limit})}))
	must(0, list.FromMethodList(registry.MethodList{registry.MethodGET}))
	prefix, seconds := "/org", 60
	widgets := registry.ServiceConfig{
		Url:        "http://widgets:8080",
		RateLimits: &map[string]registry.RateLimitPolicy{"burst": {Requests: 10, WindowSeconds: &seconds}},
		Organization: &registry.ScopeConfig{
			RoutePrefix: &prefix,
			Routes:      []registry.RouteConfig{{Path: "/widgets/{widget_id}", Methods: methods}},
		},
	}
	dryRun := true
	planned := must(edge.ApplyWithResponse(ctx, &registry.ApplyParams{DryRun: &dryRun}, document("widgets", widgets)))
	plan := must(planned.JSON200.AsPreview())
	written := must(edge.ApplyWithResponse(ctx, nil, document("widgets", widgets)))
	applied := must(written.JSON200.AsApplied())
	conflict := must(edge.ApplyWithResponse(ctx, nil, document("other", widgets)))
	service := must(edge.GetServiceWithResponse(ctx, "widgets")).JSON200
	changed := registry.ServiceConfig{
		Url:  "http://widgets:8081",
		User: &registry.ScopeConfig{Routes: []registry.RouteConfig{{Path: "/w", Methods: list, RateLimit: &unlimited}}},
	}
	first := `"1"`
	must(edge.PutServiceWithResponse(ctx, "widgets", &registry.PutServiceParams{IfMatch: &first}, changed))
	must(edge.RestoreRevisionWithResponse(ctx, "widgets", 1, nil))
	history := must(edge.ListRevisionsWithResponse(ctx, "widgets")).JSON200
	actions := []registry.RevisionAction{}
	for _, revision := range history.Revisions {
		actions = append(actions, revision.Action)
	}
	missing := must(edge.GetServiceWithResponse(ctx, "none")).JSON404.Error
	wrong := registry.ServiceConfig{Url: "nowhere", User: &registry.ScopeConfig{Routes: []registry.RouteConfig{}}}
	refused := must(edge.ApplyWithResponse(ctx, nil, document("wrong", wrong))).JSON422

	user := os.Getenv("USER_ID")
	organization := must(directory.CreateOrganizationWithResponse(ctx, user, identity.CreateOrganizationRequest{Name: "Engines 🚪"})).JSON201
	endless := identity.CreateInviteRequest{MaxUses: nullable.NewNullNullable[int]()}
	invite := must(directory.CreateInviteWithResponse(ctx, organization.Id, endless)).JSON201
	// the body is optional
	must(directory.CreateUserApiKeyWithBodyWithResponse(ctx, user, "application/json", nil))
	script := "Deploy script"
	week, longer, never := 7*86_400, 8*86_400, 0
	weekly := must(directory.CreateUserApiKeyWithResponse(ctx, user, identity.CreateAPIKeyRequest{Name: &script, ExpiresInSeconds: &week})).JSON201
	// the body is optional
	rotated := must(directory.RotateUserApiKeyWithBodyWithResponse(ctx, user, weekly.Id, "application/json", nil)).JSON201
	ending := must(directory.ListUserApiKeysWithResponse(ctx, user, &identity.ListUserApiKeysParams{UnusedForSeconds: &never, ExpiresWithinSeconds: &longer})).JSON200
	keys := must(directory.ListUserApiKeysWithResponse(ctx, user, nil)).JSON200
	names := []string{}
	for _, key := range keys.Keys {
		names = append(names, key.Name)
	}
	one := 1
	page := must(directory.ListUserApiKeysWithResponse(ctx, user, &identity.ListUserApiKeysParams{Limit: &one})).JSON200
	role := identity.CreateServiceAccountRequestRoleViewer
	account := must(directory.CreateServiceAccountWithResponse(ctx, organization.Id, identity.CreateServiceAccountRequest{Name: "Nightly", Role: &role})).JSON201
	member := must(must(directory.GetMemberWithResponse(ctx, organization.Id, account.MemberId)).JSON200.AsMember())
	must(directory.RemoveMemberWithResponse(ctx, organization.Id, account.MemberId))
	removed := must(must(directory.GetMemberWithResponse(ctx, organization.Id, account.MemberId)).JSON200.AsFormerMember())

	logged := os.Getenv("LOGGED_ORGANIZATION")
	two, since := 2, time.Unix(0, 0).UTC()
	newest := must(log.ListOrganizationAuditEventsWithResponse(ctx, logged, &audit.ListOrganizationAuditEventsParams{Limit: &two, OccurredAfter: &since})).JSON200
	requests := []string{}
	for _, event := range newest.AuditEvents {
		requests = append(requests, event.RequestId)
	}
	params := map[string]string{"params[widget_id]": "one"}
	found := must(log.ListOrganizationAuditEventsWithResponse(ctx, logged, &audit.ListOrganizationAuditEventsParams{PathParams: &params})).JSON200.AuditEvents[0]

	lines := must(log.ExportOrganizationAuditEventsWithResponse(ctx, logged, &audit.ExportOrganizationAuditEventsParams{Format: audit.ExportOrganizationAuditEventsParamsFormatCsv}))
	exported := strings.Count(string(lines.Body), "\n")

	must(0, json.NewEncoder(os.Stdout).Encode(object{
		"planned":        object{"status": plan.Results[0].Status, "changes": len(plan.Results[0].Changes)},
		"applied":        object{"service": applied.Results[0].Service, "revision": applied.Results[0].Revision},
		"conflict_owner": (*conflict.JSON409.Error.Details.MustGet().Conflicts)[0].Owner,
		"read": object{
			"url":      service.Url,
			"methods":  service.Organization.Routes[0].Methods,
			"requests": (*service.RateLimits)["burst"].Requests,
		},
		"revisions":      actions,
		"missing":        object{"code": missing.Code, "resource": missing.Details.MustGet().Resource},
		"refused":        (*refused.Error.Details.MustGet().Fields)[0].Path,
		"organization":   organization.Name,
		"invite":         object{"max_uses": invite.MaxUses, "use_count": invite.UseCount, "days": math.Round(invite.ExpiresAt.Sub(invite.CreatedAt).Hours() / 24)},
		"keys":           names,
		"rotated": object{
			"name":   rotated.Name,
			"days":   math.Round(rotated.ExpiresAt.MustGet().Sub(rotated.CreatedAt).Hours() / 24),
			"ending": len(ending.Keys) == 1 && ending.Keys[0].Id == rotated.Id,
		},
		"has_more":       page.HasMore,
		"member_status":  member.Status,
		"removed_status": removed.Status,
		"events":         requests,
		"found":          object{"request_id": found.RequestId, "status": found.Status},
		"exported":       exported,
		"outcome":        object{"outcome": newest.AuditEvents[0].Outcome, "status": newest.AuditEvents[0].Status},
	}))
}
