package server

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// LoginsName is what the file of logins is called, beside [FileName].
const LoginsName = "mcp-logins.json"

// The grants of an entry: who it is that asks.
const (
	GrantPerson  = "person"  // somebody who signs in, in a browser; where nothing is said
	GrantMachine = "machine" // the client itself, with its secret
)

// An OAuth is what an entry says of the client that asks. Without one a client is
// registered where a person signs in.
type OAuth struct {
	Grant        string `json:"grant,omitzero"`
	ClientID     string `json:"client_id,omitzero"`     // or the https address of a client's own description
	ClientSecret string `json:"client_secret,omitzero"` // never printed
	Issuer       string `json:"issuer,omitzero"`        // the only one that gets the secret
}

// wrong says what cannot be, "" where nothing is.
func (o *OAuth) wrong() string {
	if o == nil {
		return ""
	}
	for _, s := range []string{o.ClientID, o.ClientSecret, o.Issuer} {
		if len(s) > maxText || strings.ContainsAny(s, "\r\n\x00") {
			return "a text of oauth is too long, or has a line end"
		}
	}
	u, err := url.Parse(o.Issuer)
	switch {
	case o.Grant != "" && o.Grant != GrantPerson && o.Grant != GrantMachine:
		return "the grant of oauth is neither " + GrantPerson + " nor " + GrantMachine
	case o.Grant == GrantMachine && (o.ClientID == "" || o.ClientSecret == ""):
		return "a machine that signs in has a client_id and a client_secret"
	case o.ClientSecret != "" && o.ClientID == "":
		return "a client_secret goes with a client_id"
	case o.Issuer != "" && (err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname()))):
		return "the issuer of oauth is no address of https"
	}
	return ""
}

// A Login is what is kept where somebody signed in to a server. It is secret but for
// URL, Scopes, Wants and Until.
type Login struct {
	URL          string    `json:"url"` // of the entry: at another address it does not count
	Resource     string    `json:"resource,omitzero"`
	ClientID     string    `json:"client_id,omitzero"`
	ClientSecret string    `json:"client_secret,omitzero"`
	TokenURL     string    `json:"token_url,omitzero"`
	Style        string    `json:"style,omitzero"` // how the client says who it is
	Scopes       []string  `json:"scopes,omitzero"`
	Wants        []string  `json:"wants,omitzero"` // what the server asked for since
	Access       string    `json:"access_token,omitzero"`
	Refresh      string    `json:"refresh_token,omitzero"`
	Until        time.Time `json:"until,omitzero"` // when Access ends; zero: not known
}

// Take puts new tokens in. An issuer that gives no other refresh token leaves the old
// one as it is.
func (l *Login) Take(access, refresh string, until time.Time) {
	l.Access, l.Until = access, until.UTC()
	if until.IsZero() {
		l.Until = time.Time{}
	}
	if refresh != "" {
		l.Refresh = refresh
	}
}

// Logins are by the name of the server.
type Logins map[string]Login

// ReadLogins reads the file of logins; none is an empty one.
func ReadLogins(path string) (Logins, error) {
	b, err := load(path)
	if err != nil {
		return nil, err
	}
	var whole struct {
		Logins Logins `json:"logins"`
	}
	if len(b) > MaxFile {
		return nil, fault.New(CodeFile, "server.logins", "%s has more than %d bytes", LoginsName, MaxFile)
	}
	if len(b) > 0 && json.Unmarshal(b, &whole, json.RejectUnknownMembers(true)) != nil {
		return nil, fault.New(CodeFile, "server.logins", "%s is not one JSON object with logins alone", LoginsName).
			WithHint("move it away, and sign in again: soundstage server login NAME")
	}
	if whole.Logins == nil {
		whole.Logins = Logins{}
	}
	return whole.Logins, nil
}

// Save writes the logins for their owner alone. A crash leaves the old file or the new
// one.
func (l Logins) Save(path string) error {
	if len(l) > MaxEntries {
		return fault.New(CodeFile, "server.logins", "there are more than %d logins", MaxEntries).WithHint("forget one: soundstage server logout NAME")
	}
	b, err := json.Marshal(struct {
		Logins Logins `json:"logins"`
	}{l}, json.Deterministic(true), jsontext.WithIndent("  "), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return fault.Wrap(err, CodeFile, "server.logins", "write %s", LoginsName)
	}
	if len(b) > MaxFile {
		return fault.New(CodeFile, "server.logins", "%s would have more than %d bytes", LoginsName, MaxFile)
	}
	return save(path, b)
}

// Secrets are the values that must reach no other disk, by a name that says whose they
// are.
func (l Logins) Secrets() map[string]string {
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(l)) {
		for what, value := range map[string]string{"access": l[name].Access, "refresh": l[name].Refresh, "registered": l[name].ClientSecret} {
			if value != "" {
				out[secretName(name, what)] = value
			}
		}
	}
	return out
}
