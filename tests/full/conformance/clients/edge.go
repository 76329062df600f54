package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strings"

	"clients/edge"
)

type object map[string]any

func must[Value any](value Value, err error) Value {
	if err != nil {
		panic(err)
	}
	return value
}

func with(name, value string) *edge.ClientWithResponses {
	editor := func(_ context.Context, request *http.Request) error {
		request.Header.Set(name, value)
		return nil
	}
	return must(edge.NewClientWithResponses(os.Getenv("API_URL"), edge.WithRequestEditorFn(editor)))
}

func details(err *edge.ErrorResponse) edge.ErrorDetails {
	return must(err.Error.Details.Get())
}

func main() {
	ctx := context.Background()
	person := with("Authorization", "Bearer "+os.Getenv("TOKEN"))
	user := must(person.GetUserWithResponse(ctx)).JSON200
	created := edge.IdentityCreateOrganizationRequest{Name: "Acme"}
	organization := must(person.CreateOrganizationWithResponse(ctx, created)).JSON201
	session := must(person.MintSessionWithResponse(ctx, organization.Id, edge.MintSessionJSONRequestBody{})).JSON201
	member := with("X-API-Key", session.Token)

	color := "red"
	thing := must(member.GetThingWithResponse(ctx, "42", &edge.GetThingParams{Color: &color})).JSON200
	role := edge.IdentityCreateServiceAccountRequestRoleViewer
	robotic := edge.IdentityCreateServiceAccountRequest{Name: "Robot", Role: &role}
	account := must(member.CreateServiceAccountWithResponse(ctx, robotic)).JSON201
	key := must(member.CreateServiceAccountApiKeyWithResponse(ctx, account.Id, edge.CreateServiceAccountApiKeyJSONRequestBody{})).JSON201
	robot := with("X-API-Key", key.Key)
	refused := must(robot.PutThingWithBodyWithResponse(ctx, "42", "application/octet-stream", strings.NewReader("paint it black")))
	bursts := []int{}
	for call := 0; call < 4; call++ {
		bursts = append(bursts, must(robot.BurstWithResponse(ctx)).StatusCode())
	}
	stranger := must(with("X-API-Key", "not-a-key").GetThingWithResponse(ctx, "42", nil)).JSON401
	name := "Acme & Daughters"
	renamed := must(member.UpdateOrganizationWithResponse(ctx, edge.IdentityUpdateOrganizationRequest{Name: name})).JSON200
	limit := 5
	log := must(member.ListOrganizationAuditEventsWithResponse(ctx, &edge.ListOrganizationAuditEventsParams{Limit: &limit})).JSON200
	newest := log.AuditEvents[0]
	missing := must(member.GetMemberWithResponse(ctx, "01KA4YB0Q9X3M5N7P8R2S6T1VW")).JSON404

	encoder := json.NewEncoder(os.Stdout)
	must(0, encoder.Encode(object{
		"user":         user.Status,
		"organization": organization.Name,
		"echoed":       strings.Replace(thing.Path, organization.Id, "ID", 1),
		"labels":       details(refused.JSON403).RequiredLabels,
		"bursts":       bursts,
		"stranger":     stranger.Error.Code,
		"renamed":      renamed.Name,
		"newest":       object{"route": newest.Route, "method": newest.Method},
		"missing":      details(missing).Resource,
	}))
}
