package mcp_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
)

const identity, greetings = "character.identity.update", "character.greetings.update"

// names is what tools/list has.
func names(t *testing.T, cs *sdk.ClientSession) []string {
	t.Helper()
	res, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range res.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// find reveals a tool and waits until the client was told.
func find(t *testing.T, cs *sdk.ClientSession, changed chan struct{}, id string) {
	t.Helper()
	say(t, cs, "capability.find", map[string]string{"id": id})
	select {
	case <-changed:
	case <-t.Context().Done():
		t.Fatal("no list change")
	}
}

func TestReveals(t *testing.T) {
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			changed := make(chan struct{}, 10)
			cs := newStage(false).connectWith(t, revision, nil, &sdk.ClientOptions{
				ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { changed <- struct{}{} },
			})
			if got := names(t, cs); slices.Contains(got, identity) {
				t.Fatalf("listed before a find: %q", got)
			}
			find(t, cs, changed, identity)
			// It can be called by its name before it was listed anew.
			if text, res := say(t, cs, identity, map[string]string{"id": "ada"}); res.IsError || text != "d-0001" {
				t.Errorf("revealed, by its name: %s", text)
			}
			if got := names(t, cs); !slices.Contains(got, identity) {
				t.Errorf("not listed after a find: %q", got)
			}
			// The next find replaces it.
			find(t, cs, changed, greetings)
			if got := names(t, cs); slices.Contains(got, identity) || !slices.Contains(got, greetings) {
				t.Errorf("after another find: %q", got)
			}
			if text, res := say(t, cs, identity, map[string]string{"id": "ada"}); !res.IsError || !strings.Contains(text, "capability.call") {
				t.Errorf("replaced, by its name: %s", text)
			}
			// What was revealed already changes nothing, and nobody is told so.
			say(t, cs, "capability.find", map[string]string{"id": greetings})
			if got := names(t, cs); !slices.Contains(got, greetings) {
				t.Errorf("found again: %q", got)
			}
		})
	}
}

// Two clients of one process do not see what the other found.
func TestRevealsAreNotShared(t *testing.T) {
	_, o := newOptions(false, nil)
	f := mcp.NewFactory(o)
	open := func(id string) (*sdk.ClientSession, chan struct{}) {
		changed := make(chan struct{}, 10)
		s := &stage{server: f.Open(mcp.Session{ID: id, Recorder: &tape{}})}
		return s.connectWith(t, revisions[0], nil, &sdk.ClientOptions{
			ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { changed <- struct{}{} },
		}), changed
	}
	one, told := open("s-0001")
	other, _ := open("s-0002")
	find(t, one, told, identity)
	if got := names(t, one); !slices.Contains(got, identity) {
		t.Errorf("the one who found: %q", got)
	}
	if got := names(t, other); slices.Contains(got, identity) {
		t.Errorf("the other: %q", got)
	}
	if text, res := say(t, other, identity, map[string]string{"id": "ada"}); !res.IsError {
		t.Errorf("the other, by its name: %s", text)
	}
}

// A client that is not remembered has everything from the start.
func TestFullBelt(t *testing.T) {
	_, o := newOptions(false, nil)
	s := &stage{server: mcp.New(o, mcp.Session{ID: "s-0001", Recorder: &tape{}, FullBelt: true})}
	cs := s.connect(t, revisions[1], nil)
	want := names(t, cs)
	if !slices.Contains(want, identity) || !slices.Contains(want, greetings) {
		t.Errorf("full belt = %q", want)
	}
	say(t, cs, "capability.find", map[string]string{"id": identity})
	if got := names(t, cs); !slices.Equal(got, want) {
		t.Errorf("after a find = %q, want %q", got, want)
	}
	if text, res := say(t, cs, greetings, nil); res.IsError {
		t.Errorf("by its name: %s", text)
	}
}
