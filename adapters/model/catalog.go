package model

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"

	"github.com/soundstage-dev/soundstage/harness/fault"
	port "github.com/soundstage-dev/soundstage/runtime/model"
)

// A Catalog knows the models that exist, what they can do and what they cost. It
// is read on first use and never from the network.
type Catalog struct {
	opened atomic.Int64
	index  func() catalogIndex
}

// A catalogIndex is the parsed catalogue.
type catalogIndex struct {
	providers map[string]catwalk.Provider
	models    map[string]catwalk.Model // by ref
	refs      []string                 // sorted
}

// An entry is everything that is known of a ref.
type entry struct {
	provider string // our name of it: "google"
	model    string // the provider's own id
	family   family
	baseURL  string // the provider's own address
	keyName  string // the variable people keep its key in; "" when it needs none
	info     port.Info
	budgeted bool // it reasons, and has no levels of its own
}

// aliases are our names of providers that the catalogue calls otherwise.
var aliases = map[string]string{"google": "gemini"}

// local are servers on the user's machine. They have no list of models, so every
// name is one, and they need no key.
var local = map[string]string{
	"ollama":   "http://127.0.0.1:11434/v1",
	"lmstudio": "http://127.0.0.1:1234/v1",
	"vllm":     "http://127.0.0.1:8000/v1",
}

// Compat is the provider name of any other server that copies OpenAI's chat API;
// its address is [Access.BaseURL].
const Compat = "openaicompat"

// Facts of a model that no catalogue knows.
const (
	localMaxOutput = 4096
	maxRef         = 300
	nearNames      = 5
)

// NewCatalog returns the catalogue that is built in. It reads nothing yet.
func NewCatalog() *Catalog {
	c := &Catalog{}
	c.index = sync.OnceValue(func() catalogIndex {
		c.opened.Add(1)
		return buildIndex(embedded.GetAll())
	})
	return c
}

// Opened is how often the catalogue was read: 0 or 1.
func (c *Catalog) Opened() int64 { return c.opened.Load() }

func buildIndex(list []catwalk.Provider) catalogIndex {
	x := catalogIndex{providers: map[string]catwalk.Provider{}, models: map[string]catwalk.Model{}}
	name := map[string]string{}
	for ours, theirs := range aliases {
		name[theirs] = ours
	}
	for _, p := range list {
		id := cmp.Or(name[string(p.ID)], string(p.ID))
		if _, ok := families[p.Type]; !ok {
			continue
		}
		x.providers[id] = p
		for _, m := range p.Models {
			ref := id + "/" + m.ID
			x.models[ref] = m
			x.refs = append(x.refs, ref)
		}
	}
	slices.Sort(x.refs)
	return x
}

// Refs are all refs, sorted. Models of local servers are not among them.
func (c *Catalog) Refs() []string { return slices.Clone(c.index().refs) }

// Find returns the facts of the model that ref names.
func (c *Catalog) Find(ref string) (port.Info, error) {
	e, err := c.find(ref)
	return e.info, err
}

// KeyName is the name of the variable that people keep the key of ref's provider
// in, or "" when it needs none.
func (c *Catalog) KeyName(ref string) (string, error) {
	e, err := c.find(ref)
	return e.keyName, err
}

// Prices is the canonical JSON of what ref costs, for a cassette's x-prices.
func (c *Catalog) Prices(ref string) ([]byte, error) {
	info, err := c.Find(ref)
	if err != nil {
		return nil, err
	}
	return port.EncodePrices(map[string]*port.Price{ref: info.Price}), nil
}

func (c *Catalog) find(ref string) (entry, error) {
	name, id, ok := strings.Cut(ref, "/")
	if !ok || name == "" || id == "" || len(ref) > maxRef {
		return entry{}, c.unknown(ref)
	}
	if _, ok := local[name]; ok || name == Compat {
		e, err := c.provider(name)
		e.model, e.info = id, port.Info{Ref: ref, Name: id, MaxOutput: localMaxOutput, Images: true}
		return e, err
	}
	x := c.index()
	m, ok := x.lookup(ref)
	if !ok {
		return entry{}, c.unknown(ref)
	}
	e, err := c.provider(name)
	e.model, e.info = id, info(ref, m)
	e.budgeted = m.CanReason && len(m.ReasoningLevels) == 0
	return e, err
}

// provider is what is known of a provider, whatever the model.
func (c *Catalog) provider(name string) (entry, error) {
	if u, ok := local[name]; ok || name == Compat {
		return entry{provider: name, family: familyCompat, baseURL: u}, nil
	}
	p, ok := c.index().providers[name]
	if !ok {
		return entry{}, fault.New(port.CodeUnknown, "model.find", "there is no provider %q", name).
			WithHint("name a provider of the catalogue, or %s", Compat)
	}
	// The catalogue's default headers are left out: they name another product.
	e := entry{provider: name, family: families[p.Type], keyName: strings.TrimPrefix(p.APIKey, "$")}
	// A "$" marks the name of a variable: the provider's own address is meant.
	if !strings.HasPrefix(p.APIEndpoint, "$") {
		e.baseURL = p.APIEndpoint
	}
	e.keyName = cmp.Or(e.keyName, keyNames[e.family])
	return e, nil
}

// dated is the suffix of a model id that says when it was made.
var dated = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-20\d{6}$`) })

// lookup also finds a model of Anthropic's without the date of its id, which
// Anthropic takes for the newest one.
func (x catalogIndex) lookup(ref string) (catwalk.Model, bool) {
	if m, ok := x.models[ref]; ok {
		return m, true
	}
	if !strings.HasPrefix(ref, "anthropic/") {
		return catwalk.Model{}, false
	}
	for _, r := range slices.Backward(x.refs) {
		if rest, ok := strings.CutPrefix(r, ref); ok && dated().MatchString(rest) {
			return x.models[r], true
		}
	}
	return catwalk.Model{}, false
}

// undated is the short name that lookup finds ref by, where it has one.
func undated(ref string) string {
	if at := len(ref) - len("-20060102"); at > 0 && strings.HasPrefix(ref, "anthropic/") && dated().MatchString(ref[at:]) {
		return ref[:at]
	}
	return ref
}

// keyNames are the variables that the catalogue does not name.
var keyNames = map[family]string{
	familyBedrock: "AWS_BEARER_TOKEN_BEDROCK",
	familyVertex:  "GOOGLE_OAUTH_ACCESS_TOKEN",
	familyCompat:  "the key of the provider",
}

func info(ref string, m catwalk.Model) port.Info {
	i := port.Info{
		Ref: ref, Name: m.Name, Context: m.ContextWindow, MaxOutput: m.DefaultMaxTokens,
		Images: m.SupportsImages, Price: price(m),
	}
	if i.MaxOutput <= 0 {
		i.MaxOutput = localMaxOutput
	}
	switch {
	case !m.CanReason:
	case len(m.ReasoningLevels) > 0:
		i.Reasoning = slices.Clone(m.ReasoningLevels)
	default:
		i.Reasoning = []string{"low", "medium", "high"}
	}
	return i
}

// price is nil for a 0/0 price, which the catalogue has for free and for unknown
// ones alike. A cached price of 0 is not known either: the full price stands in
// for it, so that a cap is never too kind. The catalogue calls writing to the
// cache "in cached" and reading from it "out cached".
func price(m catwalk.Model) *port.Price {
	if m.CostPer1MIn <= 0 && m.CostPer1MOut <= 0 {
		return nil
	}
	pico := func(f float64) int64 {
		// The shortest decimal is the number that the catalogue's author wrote.
		n, err := port.PicoPerToken(strconv.FormatFloat(f, 'f', -1, 64))
		if err != nil {
			return 0
		}
		return max(n, 0)
	}
	p := &port.Price{Input: pico(m.CostPer1MIn), Output: pico(m.CostPer1MOut)}
	p.CacheRead = cmp.Or(pico(m.CostPer1MOutCached), p.Input)
	p.CacheWrite = cmp.Or(pico(m.CostPer1MInCached), p.Input)
	return p
}

// unknown is the error of a ref that is not there, with the names nearest to it.
func (c *Catalog) unknown(ref string) error {
	shown := ref
	if len(shown) > maxRef {
		shown = shown[:maxRef] + "…"
	}
	err := fault.New(port.CodeUnknown, "model.find", "there is no model %q", shown)
	near := c.near(shown)
	if len(near) == 0 {
		return err.WithHint("name a model that the provider has as provider/model, like anthropic/claude-sonnet-4-5")
	}
	return err.WithHint("did you mean %s?", strings.Join(near, ", "))
}

// near are the refs with the smallest edit distance. A name without its provider
// is compared with the names alone.
func (c *Catalog) near(ref string) []string {
	type scored struct {
		ref string
		d   int
	}
	var list []scored
	if ref == "" {
		return nil
	}
	for _, r := range c.index().refs {
		r = undated(r)
		_, id, _ := strings.Cut(r, "/")
		d := min(fault.Edits(ref, r), fault.Edits(ref, id)+1)
		if strings.Contains(r, ref) {
			d = min(d, 2)
		}
		if d <= max(len(ref)/2, 2) {
			list = append(list, scored{r, d})
		}
	}
	slices.SortFunc(list, func(a, b scored) int { return cmp.Or(cmp.Compare(a.d, b.d), cmp.Compare(a.ref, b.ref)) })
	var out []string
	for _, s := range list[:min(len(list), nearNames)] {
		out = append(out, s.ref)
	}
	return out
}
