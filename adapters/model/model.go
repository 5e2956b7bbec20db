// Package model speaks to language models: it fills the Provider port of
// runtime/model for Anthropic, Azure, Bedrock, Google, OpenAI, OpenRouter, Vercel
// and everything that copies OpenAI's chat API, local servers included.
//
// It is an adapter, the only home of the provider SDKs (charm.land/fantasy) and of
// the model catalogue (charm.land/catwalk). Every request leaves through the one
// http.Client it is given, which is the seam's: the SDKs read the environment, so
// nothing that they made up leaves (URL, headers and body are set or checked in
// wire.go). It does not retry, price, count or keep anything.
package model

import (
	"context"
	"iter"
	"net/http"
	"strings"

	"charm.land/fantasy"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	port "github.com/soundstage-dev/soundstage/runtime/model"
)

// Access is what one provider needs to know of its user. Everything is optional
// but the key, where the provider wants one.
type Access struct {
	Key     string // API key or bearer token
	BaseURL string // "" is the provider's own
	Org     string // OpenAI
	Project string // OpenAI; Google Cloud project for vertexai
	Region  string // Bedrock region, Vertex location
	Headers map[string]string
	// AccessKey, SecretKey and SessionToken sign for Bedrock where there is no Key.
	AccessKey, SecretKey, SessionToken string
}

// Config is every door and setting of a provider. The zero value of a field that
// is not called optional is refused.
type Config struct {
	Client  *http.Client // its Transport is the seam's
	Clock   clock.Clock  // reads retry-after dates
	Catalog *Catalog
	Access  map[string]Access // by provider name; optional
	// Replay puts placeholders in the place of every Access, so that a replayed
	// request is the same for every user.
	Replay bool
	// Whole asks for whole replies in place of streams, for servers that cannot
	// stream. Optional.
	Whole bool
}

// placeholder stands for keys, organisations and projects in replay.
const placeholder = "soundstage-replay"

// maxKey bounds what is put into a header.
const maxKey = 16 << 10

// A provider is one model behind the port.
type provider struct {
	info   port.Info
	family family
	lm     fantasy.LanguageModel
	whole  bool
	clock  clock.Clock
	// budgeted says that the model's reasoning is set by a number of tokens: the
	// catalogue names no levels of its own.
	budgeted bool
}

var _ port.Provider = (*provider)(nil)

// Info is the catalogue's facts.
func (p *provider) Info() port.Info { return p.info }

// Open returns the model that ref names. It sends nothing.
func Open(ctx context.Context, ref string, cfg Config) (port.Provider, error) {
	if cfg.Client == nil || cfg.Client.Transport == nil || cfg.Clock == nil || cfg.Catalog == nil {
		return nil, fault.New(fault.Internal, "model.open", "client with a transport, clock and catalogue are required")
	}
	e, err := cfg.Catalog.find(ref)
	if err != nil {
		return nil, err
	}
	acc, err := access(e, cfg)
	if err != nil {
		return nil, err
	}
	lm, err := dial(ctx, e, acc, client(cfg.Client, e.dress(acc, cfg.Clock)))
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "model.open", "provider %q cannot be set up", e.provider)
	}
	return &provider{info: e.info, family: e.family, lm: lm, whole: cfg.Whole, clock: cfg.Clock, budgeted: e.budgeted}, nil
}

// access picks the settings of the entry's provider.
func access(e entry, cfg Config) (Access, error) {
	if cfg.Replay {
		return Access{Key: placeholder}, nil
	}
	acc := cfg.Access[e.provider]
	return acc, acc.check(e)
}

// check refuses what cannot work, before anything is sent.
func (a Access) check(e entry) error {
	const op = "model.open"
	if a.Key == "" && e.keyName != "" && (e.family != familyBedrock || a.AccessKey == "") {
		return fault.New(port.CodeNoKey, op, "provider %q has no key", e.provider).WithHint("set %s", e.keyName)
	}
	if len(a.Key) > maxKey || strings.ContainsAny(a.Key, "\r\n\x00") {
		return fault.New(fault.Invalid, op, "the key of provider %q is not a header value of at most %d bytes", e.provider, maxKey)
	}
	if u := a.BaseURL; u != "" && !strings.HasPrefix(u, "https://") && !strings.HasPrefix(u, "http://") {
		return fault.New(fault.Invalid, op, "the base URL %q of provider %q is not http or https", u, e.provider)
	}
	switch {
	case e.family == familyAzure && a.BaseURL == "":
		return fault.New(fault.Invalid, op, "provider %q has no base URL", e.provider).
			WithHint("set the address of your Azure resource")
	case e.family == familyOpenRouter && a.BaseURL != "":
		return fault.New(fault.Invalid, op, "provider %q has one address, and %q is not it", e.provider, a.BaseURL).
			WithHint("use %s/MODEL with this base URL", Compat)
	case e.family == familyVertex && (a.Project == "" || a.Region == ""):
		return fault.New(fault.Invalid, op, "provider %q has no project or region", e.provider).
			WithHint("set the Google Cloud project and location")
	}
	return nil
}

// Stream sends req and yields its reply. See [port.Provider].
func (p *provider) Stream(ctx context.Context, req port.Request) iter.Seq2[port.Event, error] {
	return func(yield func(port.Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		call, patch, warnings, err := p.call(req)
		if err != nil {
			yield(port.Event{}, err)
			return
		}
		w := &wire{dialect: p.family.dialect(p.info.Ref), patch: patch}
		r := &reply{wire: w, ids: req.CallIDs, warnings: warnings, yield: yield}
		if err := p.run(withWire(ctx, w), call, r); err != nil && !r.left {
			yield(port.Event{}, p.fault(ctx, err, w))
		}
	}
}

// run drives one request through the library into r. It returns what went wrong.
func (p *provider) run(ctx context.Context, call fantasy.Call, r *reply) error {
	if p.whole {
		resp, err := p.lm.Generate(ctx, call)
		if err != nil {
			return err
		}
		return r.whole(resp)
	}
	parts, err := p.lm.Stream(ctx, call)
	if err != nil {
		return err
	}
	for part := range parts {
		if done, err := r.part(part); done || err != nil {
			return err
		}
	}
	return fantasy.NewIncompleteStreamError()
}
