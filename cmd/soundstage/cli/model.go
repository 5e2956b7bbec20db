package cli

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/soundstage-dev/soundstage/adapters/agentcli"
	"github.com/soundstage-dev/soundstage/adapters/model"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	port "github.com/soundstage-dev/soundstage/runtime/model"
)

// provider opens the studio's model behind the seam, with what it costs: as of
// recording in replay, by the catalogue else.
func (a *app) provider(ctx context.Context, h *house, door *seam.Seam, agentWrites bool) (port.Provider, ledger.PriceList, error) {
	none := ledger.PriceList{}
	ref := h.cfg.Model
	if agentcli.Is(ref) {
		return a.agentCLI(h, door, agentWrites)
	}
	p, err := model.Open(ctx, ref, model.Config{
		Client: client(door), Clock: h.clock, Catalog: a.catalog(), Replay: true, // keys are put on below the seam
	})
	if err != nil {
		return nil, none, err
	}
	text, err := door.Price(ref, func() ([]byte, error) { return json.Marshal(p.Info().Price) })
	if err != nil {
		return nil, none, err
	}
	var price *port.Price
	if err := json.Unmarshal(text, &price); err != nil {
		return nil, none, fault.Wrap(err, port.CodePrice, "run", "the price of %q in cassette %q", ref, door.Name())
	}
	return p, ledger.NewPriceList(map[string]*port.Price{ref: price}), nil
}

// unpaid says that nobody outside sees a request: it needs no key and costs nothing.
func unpaid(door *seam.Seam) bool { return !door.Sends() || door.Scripted() }

// access is what the studio's model needs of its user, from the environment. A missing
// key is an error.
func (a *app) access(cfg config) (map[string]model.Access, error) {
	if agentcli.Is(cfg.Model) { // it is signed in by itself
		return nil, nil
	}
	keyName, err := a.catalog().KeyName(cfg.Model)
	if err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(cfg.Model, "/")
	access := a.accessOf(name, keyName, cfg.BaseURL)
	if keyName != "" && access.Key == "" && (name != "bedrock" || access.AccessKey == "") {
		return nil, fault.New(port.CodeNoKey, "run", "%s is not set, and %q needs it", keyName, cfg.Model).
			WithHint("export %s=…, or replay a recording with --cassette", keyName)
	}
	return map[string]model.Access{name: access}, nil
}

// accessOf is what the environment says of a provider.
func (a *app) accessOf(name, keyName, baseURL string) model.Access {
	env := a.doors.Env
	access := model.Access{Key: env[keyName], BaseURL: baseURL}
	// Each provider's own variables and no other's: a Google project means nothing to
	// OpenAI, which would refuse it.
	switch name {
	case "openai":
		access.Org, access.Project = env["OPENAI_ORG_ID"], env["OPENAI_PROJECT_ID"]
	case "azure":
		if access.BaseURL == "" {
			access.BaseURL = either(env, "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_ENDPOINT")
		}
	case "bedrock":
		access.Region = either(env, "AWS_REGION", "AWS_DEFAULT_REGION")
		access.AccessKey, access.SecretKey, access.SessionToken = env["AWS_ACCESS_KEY_ID"], env["AWS_SECRET_ACCESS_KEY"], env["AWS_SESSION_TOKEN"]
	case "vertexai":
		access.Project, access.Region = env["GOOGLE_CLOUD_PROJECT"], env["GOOGLE_CLOUD_LOCATION"]
	}
	return access
}

// everyAccess is what the environment says of all providers of the catalogue: who is
// asked is known when a request comes. One without a key fails then.
func (a *app) everyAccess() (map[string]model.Access, error) {
	all := map[string]model.Access{}
	for _, ref := range a.catalog().Refs() {
		name, _, _ := strings.Cut(ref, "/")
		if _, ok := all[name]; ok {
			continue
		}
		keyName, err := a.catalog().KeyName(ref)
		if err != nil {
			return nil, err
		}
		all[name] = a.accessOf(name, keyName, "")
	}
	return all, nil
}

// billing is who pays for a model.
func billing(ref string) string {
	if agentcli.Is(ref) {
		return ledger.Plan
	}
	for _, local := range []string{"ollama/", "lmstudio/", "vllm/"} {
		if strings.HasPrefix(ref, local) {
			return ledger.Local
		}
	}
	return ledger.Metered
}

// caps are the studio's open limits, as the ledger wants them.
func (h *house) caps(session string) ([]ledger.Cap, error) {
	var open []ledger.Cap
	for _, c := range []struct{ scope, id, dollars string }{
		{ledger.ScopeSession, session, h.cfg.Caps.Session},
		{ledger.ScopeDay, h.clock.Now().Format("2006-01-02"), h.cfg.Caps.Day},
		{ledger.ScopeStudio, "", h.cfg.Caps.Studio},
	} {
		if c.dollars == "" {
			continue
		}
		limit, err := ledger.ParseDollars(c.dollars)
		if err != nil {
			return nil, err
		}
		open = append(open, ledger.Cap{Scope: c.scope, ID: c.id, Limit: limit})
	}
	return open, nil
}
