package mcp_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/prompt"
	"github.com/soundstage-dev/soundstage/runtime/resource"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// stacks are resources in memory.
type stacks struct {
	mu        sync.Mutex
	revisions map[string]string // by address
	looks     int
}

func (s *stacks) set(uri, revision string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revisions[uri] = revision
}

func (s *stacks) Templates() []resource.Template {
	return []resource.Template{{URI: "soundstage://piece/{kind}/{id}", Name: "piece", Type: resource.JSON}, {URI: "soundstage://trace/{session}{?after}", Name: "trace"}}
}

func (s *stacks) List(context.Context, string, int) ([]resource.Entry, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []resource.Entry
	for _, uri := range slices.Sorted(maps.Keys(s.revisions)) {
		list = append(list, resource.Entry{URI: uri, Name: strings.TrimPrefix(uri, "soundstage://"), Type: resource.JSON})
	}
	return list, "", nil
}

func (s *stacks) Read(_ context.Context, a resource.Address) (resource.Page, error) {
	return resource.Page{}, fault.New(fault.NotFound, "resource.read", "there is no %s", a)
}

func (s *stacks) Revision(_ context.Context, uri string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	return s.revisions[uri], nil
}

func (s *stacks) Complete(context.Context, string, string, map[string]string) ([]string, bool, error) {
	return []string{"ada"}, false, nil
}

// Handles implements mcp.Results.
func (s *shelf) Handles(string) (list []string) {
	for i := range s.kept {
		list = append(list, fmt.Sprintf("r-%d", i+1))
	}
	return list
}

// Text implements mcp.Results.
func (s *shelf) Text(_, handle string) (string, error) {
	for i, text := range s.kept {
		if handle == fmt.Sprintf("r-%d", i+1) {
			return text, nil
		}
	}
	return "", fault.New(fault.NotFound, "result.text", "no result %q", handle)
}

// newFullStage is a server that offers all that a server can. A clock of nil stands
// still.
func newFullStage(c clock.Clock) (*stage, *stacks) {
	kept := &shelf{}
	s, o := newOptionsWith(false, kept, c)
	res := &stacks{revisions: map[string]string{"soundstage://piece/character/ada": "1"}}
	o.Resources, o.Results = res, kept
	o.Prompts = prompt.NewBook(o.Registry, tool.MCP, prompt.Prompt{
		Name: "greet", Title: "Greet", Description: "Says hello.", Text: "Say hello to {who}.",
		Arguments: []prompt.Argument{{Name: "who", Title: "Who", Description: "To whom.", Required: true}},
	})
	r := &tape{more: make(chan struct{}, 1)}
	return &stage{s, r, mcp.New(o, mcp.Session{ID: "s-0001", Recorder: r})}, res
}
