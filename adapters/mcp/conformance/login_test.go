package conformance_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
	"github.com/soundstage-dev/soundstage/adapters/mcp/login"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/server"
)

// A client is what a scenario says of a client that was registered before.
type client struct {
	ID     string `json:"client_id"`
	Secret string `json:"client_secret"`
}

// described is the description of a client that one scenario believes in.
const described = "https://conformance-test.local/client-metadata.json"

// maxLogins is how often the person of a scenario signs in: once, and again where the
// server then wants to be allowed more.
const maxLogins = 3

// signIn does a scenario of the suite about logins: a turn that is not let in says so,
// then a person signs in, and the next turn goes on.
func signIn(ctx context.Context, s *seam.Seam, scenario string, c client, url string) error {
	dir, err := os.MkdirTemp("", "logins")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder of the system's own
	way := &http.Transport{}
	logins := login.New(login.Options{File: filepath.Join(dir, server.LoginsName), Below: way, Clock: clock.Real{}})
	e := server.Entry{Name: "suite", URL: url, OAuth: &server.OAuth{ClientID: c.ID, ClientSecret: c.Secret}}
	switch {
	case scenario == "auth/basic-cimd":
		e.OAuth.ClientID = described
	case strings.HasPrefix(scenario, "auth/client-credentials"):
		e.OAuth.Grant = server.GrantMachine
	}
	person := func(address string) error {
		go func() {
			if res, err := (&http.Client{Transport: way}).Get(address); err == nil {
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
		}()
		return nil
	}
	for n := 0; ; n++ {
		err := visit(ctx, s, logins, e)
		f := new(fault.Error)
		if !errors.As(err, &f) || f.Code != login.CodeLogin || n == maxLogins || e.OAuth.Grant == server.GrantMachine {
			return err
		}
		if _, err := logins.SignIn(ctx, e, login.Asking{Show: person}); err != nil {
			return err
		}
	}
}

// visit is what a turn does.
func visit(ctx context.Context, s *seam.Seam, logins *login.Logins, e server.Entry) error {
	cs, err := sdk.NewClient(&sdk.Implementation{Name: "soundstage", Version: "v0"}, nil).Connect(ctx, mcp.Outward{
		Door: s.MCP("suite"), Clock: clock.Real{},
		Below: &sdk.StreamableClientTransport{Endpoint: e.URL, HTTPClient: &http.Client{Transport: &http.Transport{}}, OAuthHandler: logins.Handler(e)},
	}, nil)
	if err != nil {
		return err
	}
	defer cs.Close() //nolint:errcheck // the suite saw what it wanted
	if _, err := cs.ListTools(ctx, nil); err != nil {
		return err
	}
	_, err = cs.CallTool(ctx, &sdk.CallToolParams{Name: "test-tool", Arguments: json.RawMessage(`{}`)})
	return err
}
