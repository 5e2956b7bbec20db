package mcp_test

import (
	"fmt"
	"path/filepath"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// A session of this server is recorded on the server's side, and replayed to a client
// for which there is no server.
func TestASessionIsRecorded(t *testing.T) {
	for _, revision := range []string{"2025-06-18", "2025-11-25"} {
		t.Run(revision, func(t *testing.T) {
			o := seam.Options{
				Mode: seam.Record, Cassette: filepath.Join(t.TempDir(), "s-0001.yaml"), Clock: clock.NewFixed(clock.Epoch),
				Transport: upstream.NewTransport(upstream.New(&upstream.Script{})),
			}
			door, err := seam.Open(o)
			if err != nil {
				t.Fatal(err)
			}
			s := newStageWith(false, nil, door.MCP("soundstage"))
			var want []string
			t.Run("record", func(t *testing.T) {
				want = toldIn(t, s.connect(t, revision, &asker{action: "accept", answer: "once"}))
			})
			if err := door.Close(); err != nil {
				t.Fatal(err)
			}
			done := len(s.studio.done())

			o.Mode, o.Transport = seam.Replay, nil
			r, err := seam.Open(o)
			if err != nil {
				t.Fatal(err)
			}
			client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "v1"}, &sdk.ClientOptions{
				ElicitationHandler: (&asker{action: "accept", answer: "once"}).handle,
			})
			cs, err := client.Connect(t.Context(), mcp.Outward{Door: r.MCP("soundstage")}, &sdk.ClientSessionOptions{ProtocolVersion: revision})
			if err != nil {
				t.Fatal(err)
			}
			got := toldIn(t, cs)
			if err := cs.Close(); err != nil {
				t.Error(err)
			}
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("call %d was answered\n%s\nand in replay\n%s", i, want[i], got[i])
				}
			}
			if err := r.Close(); err != nil || len(r.Unused()) > 0 || len(s.studio.done()) != done || done == 0 {
				t.Errorf("replay: %v, unused %v, the studio did %v", err, r.Unused(), s.studio.done())
			}
		})
	}
}

// toldIn is what a client is told in a session.
func toldIn(t *testing.T, cs *sdk.ClientSession) (told []string) {
	list, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		told = append(told, tool.Name)
	}
	for _, call := range []struct{ name, id string }{{"studio.list", ""}, {"studio.read", "nobody"}, {"change.apply", "d-0001"}, {"studio.read", "image"}} {
		args := map[string]string{}
		if call.id != "" {
			args["id"] = call.id
		}
		text, res := say(t, cs, call.name, args)
		told = append(told, fmt.Sprint(text, res.IsError, len(res.Content)))
	}
	return told
}
