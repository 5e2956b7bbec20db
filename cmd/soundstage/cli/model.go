package cli

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/soundstage-dev/soundstage/adapters/model"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	port "github.com/soundstage-dev/soundstage/runtime/model"
)

// provider opens the studio's model behind the seam, with what it costs: as of
// recording in replay, by the catalogue else.
func (a *app) provider(ctx context.Context, h *house, door *seam.Seam) (port.Provider, ledger.PriceList, error) {
	none := ledger.PriceList{}
	ref := h.cfg.Model
	if _, err := a.catalog().Find(ref); err != nil {
		return nil, none, err
	}
	access, err := a.access(h, ref, !unpaid(door))
	if err != nil {
		return nil, none, err
	}
	p, err := model.Open(ctx, ref, model.Config{
		Client: client(door), Clock: h.clock, Catalog: a.catalog(), Access: access, Replay: unpaid(door),
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
func unpaid(door *seam.Seam) bool { return door.Mode() == seam.Replay || door.Scripted() }

// access reads the provider's key from the environment; where it is needed, a missing
// one is an error.
func (a *app) access(h *house, ref string, needed bool) (map[string]model.Access, error) {
	name, _, _ := strings.Cut(ref, "/")
	access := model.Access{BaseURL: h.cfg.BaseURL}
	keyName, err := a.catalog().KeyName(ref)
	if err != nil {
		return nil, err
	}
	access.Key = a.doors.Env[keyName]
	access.Region = either(a.doors.Env, "AWS_REGION", "AWS_DEFAULT_REGION", "GOOGLE_CLOUD_LOCATION")
	access.Project = either(a.doors.Env, "OPENAI_PROJECT_ID", "GOOGLE_CLOUD_PROJECT")
	access.Org = a.doors.Env["OPENAI_ORG_ID"]
	if needed && keyName != "" && access.Key == "" {
		return nil, fault.New(port.CodeNoKey, "run", "%s is not set, and %q needs it", keyName, ref).
			WithHint("export %s=…, or replay a recording with --cassette", keyName)
	}
	return map[string]model.Access{name: access}, nil
}

// billing is who pays for a model.
func billing(ref string) string {
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
