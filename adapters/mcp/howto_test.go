package mcp_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

func countTitle(ctx context.Context, s *seam.Seam, below sdk.Transport) (string, error) {
	client := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, nil)
	session, err := client.Connect(ctx, mcp.Outward{Door: s.MCP("theatre"), Below: below, Clock: clock.Real{}}, nil)
	if err != nil {
		return "", err
	}
	defer session.Close()
	res, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "count", Arguments: map[string]any{"title": "Hamlet"}})
	if err != nil {
		return "", err
	}
	return res.Content[0].(*sdk.TextContent).Text, nil
}

// The function of docs/howto/record-an-mcp-server.md is countTitle, and it does what the page
// says.
func TestHowTo(t *testing.T) {
	source, err := os.ReadFile("howto_test.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "howto", "record-an-mcp-server.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(source), "func countTitle(")
	code, _, _ = strings.Cut("func countTitle("+code, "\n}\n")
	shown := "    " + strings.ReplaceAll(code+"\n}\n", "\n", "\n    ")
	if !strings.Contains(string(page), strings.TrimRight(shown, " ")) {
		t.Errorf("the page does not show\n%s", shown)
	}
	path := filepath.Join(t.TempDir(), "c.yaml")
	s := seamFor(t, seam.Record, path)
	recorded, err := countTitle(t.Context(), s, openWith(t, "memory", newTheatre(&deeds{})))
	if err != nil || recorded != "Hamlet!" {
		t.Fatalf("%q %v", recorded, err)
	}
	closed(t, s)
	s = seamFor(t, seam.Replay, path)
	if again, err := countTitle(t.Context(), s, nil); err != nil || again != recorded {
		t.Errorf("%q %v", again, err)
	}
	closed(t, s)
}
