package cli

import (
	"bytes"
	"io"
	"os"

	"gopkg.in/yaml.v3"

	"github.com/soundstage-dev/soundstage/adapters/mcp/endpoint"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// oauthFile is the file of mcp --oauth. It is named by the person and never looked for
// in a studio: who may come in is not for a folder to say that came from somebody else.
type oauthFile struct {
	Resource string   `yaml:"resource"` // https://studio.example/mcp
	Issuer   string   `yaml:"issuer"`   // https://login.example
	Keys     string   `yaml:"keys"`     // https://login.example/keys.json
	Scopes   []string `yaml:"scopes"`
}

// oauth reads the file; nil where none is named.
func (a *app) oauth(h *house, name string) (*endpoint.OAuth, error) {
	if name == "" {
		return nil, nil
	}
	const op = "mcp.oauth"
	f, err := os.Open(a.path(name))
	if err != nil {
		return nil, fault.New(endpoint.CodeOAuth, op, "cannot read %q: %v", name, reasonOf(err)).
			WithHint("name a file with the keys resource, issuer, keys and scopes (docs/howto/serve-mcp-over-http.md)")
	}
	defer f.Close() //nolint:errcheck // only read
	raw, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return nil, fault.Wrap(err, endpoint.CodeOAuth, op, "read %q", name)
	}
	if len(raw) > maxConfig {
		return nil, fault.New(endpoint.CodeOAuth, op, "%q is longer than %d bytes", name, maxConfig)
	}
	var said oauthFile
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	dec.KnownFields(true)
	if err := dec.Decode(&said); err != nil {
		return nil, fault.New(endpoint.CodeOAuth, op, "%q: %s", name, wordsOfYAML(err)).WithHint("the keys are resource, issuer, keys and scopes")
	}
	o := &endpoint.OAuth{
		Resource: said.Resource, Issuer: said.Issuer, Keys: said.Keys, Scopes: said.Scopes,
		Transport: network(a.doors.Env), Clock: h.clock,
	}
	return o, o.Check()
}
