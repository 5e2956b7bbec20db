package gate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/model"
	"github.com/soundstage-dev/soundstage/runtime/result"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

func TestTheBoundIsInCharacters(t *testing.T) {
	tests := []struct {
		tool  string
		limit int
	}{{"a.say", result.MaxInline}, {"studio.read", result.MaxInlineRead}}
	for _, tt := range tests {
		for _, r := range []string{"a", "é", "漢", "🎭"} {
			for _, n := range []int{tt.limit - 1, tt.limit, tt.limit + 1} {
				s := newStage(t, trust.Guarded)
				s.say.Text = strings.Repeat(r, n)
				res, err := s.gate.Run(t.Context(), s.gate.Decide(t.Context(), request(tt.tool, "")))
				if err != nil {
					t.Fatal(err)
				}
				if n <= tt.limit {
					if res.Text != s.say.Text || res.Handle != "" {
						t.Errorf("%s: %d × %s was cut", tt.tool, n, r)
					}
					continue
				}
				_, peek, _ := strings.Cut(res.Text, "\n")
				if res.Handle != "result-1" || peek != strings.Repeat(r, result.MaxInline) || !utf8.ValidString(res.Text) {
					t.Errorf("%s: %d × %s: handle %q, peek of %d", tt.tool, n, r, res.Handle, utf8.RuneCountInString(peek))
				}
				if s.shelf.kept[0] != s.say.Text {
					t.Errorf("%s: the shelf has something else", tt.tool)
				}
			}
		}
	}
}

func TestAValueOverTheStoresBound(t *testing.T) {
	s := newStage(t, trust.Full)
	s.say.Text = strings.Repeat("a", result.MaxBytes+1)
	if _, err := s.gate.Run(t.Context(), s.gate.Decide(t.Context(), request("a.say", ""))); fault.CodeOf(err) != fault.TooLarge || fault.HintOf(err) == "" {
		t.Errorf("a read: %v, want %s with a hint", err, fault.TooLarge)
	}
	// What was done was done: the result says what is missing, and is no error.
	s.say.Review = &draft.Review{Draft: "d-1"}
	res, err := s.gate.Run(t.Context(), s.gate.Decide(t.Context(), request("change.apply", "")))
	if err != nil || !strings.HasPrefix(res.Text, string(fault.TooLarge)) || res.Review == nil {
		t.Errorf("an apply: %.80q, %v", res.Text, err)
	}
}

func TestImagesAreBounded(t *testing.T) {
	s := newStage(t, trust.Full)
	s.say.Blocks = []model.Blob{{Data: make([]byte, 8<<20)}, {Data: []byte{1}}}
	res, err := s.gate.Run(t.Context(), s.gate.Decide(t.Context(), request("a.say", "")))
	if err != nil || len(res.Blocks) != 1 || !strings.Contains(res.Text, "1 of 2 images were left out") {
		t.Errorf("%d images, text %q, %v", len(res.Blocks), res.Text, err)
	}
}

func TestEqualKeysNeverOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type in struct {
			ID string `json:"id" jsonschema:"the piece"`
		}
		var now, most atomic.Int32
		locks := gate.NewLocks(nil)
		open := func(session string) func(id string) {
			slow := tool.New(tool.Spec{ID: "a.slow", Summary: "Is slow.", Effect: tool.Read, Exposure: tool.Direct, Concurrency: "piece:{id}"},
				func(context.Context, tool.Call, in) (tool.Reply[struct{}], error) {
					for n := now.Add(1); ; {
						if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
							break
						}
					}
					time.Sleep(time.Second)
					now.Add(-1)
					return tool.Reply[struct{}]{}, nil
				})
			g := gate.New(gate.Options{
				Registry: tool.NewRegistry(slow), Table: trust.NewTable(trust.Row{ID: "a.slow", Class: trust.Read}),
				Clock: clock.NewFixed(clock.Epoch), Locks: locks,
			})
			return func(id string) {
				r := request("a.slow", fmt.Sprintf(`{"id":%q}`, id))
				r.Session = session
				if _, err := g.Run(t.Context(), g.Decide(t.Context(), r)); err != nil {
					t.Error(err)
				}
			}
		}
		one, two := open("s-1"), open("s-2")
		for range 3 {
			go one("ada")
			go two("ada")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if most.Load() != 1 {
			t.Errorf("%d calls with one key at once", most.Load())
		}
		most.Store(0)
		go one("ada")
		go two("bob")
		time.Sleep(time.Minute)
		if most.Load() != 2 {
			t.Errorf("%d calls with two keys at once, want 2", most.Load())
		}
	})
}

func TestALockIsNotWaitedForAfterCancel(t *testing.T) {
	l := gate.NewLocks(nil)
	unlock, err := l.Lock(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Lock(ctx, "k"); !errors.Is(err, context.Canceled) {
		t.Errorf("Lock = %v", err)
	}
	unlock()
	unlock() // a second time does nothing
	again, err := l.Lock(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	again()
}

// apart is what lies between processes, in this one.
type apart struct {
	*gate.Locks
	fail error
}

func (a apart) Lock(ctx context.Context, key string) (func(), error) {
	if a.fail != nil {
		return nil, a.fail
	}
	return a.Locks.Lock(ctx, key)
}

func TestALockIsAlsoBetweenProcesses(t *testing.T) {
	between := gate.NewLocks(nil)
	one, two := gate.NewLocks(apart{Locks: between}), gate.NewLocks(apart{Locks: between})
	unlock, err := one.Lock(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if both, err := two.Lock(ctx, "k"); !errors.Is(err, context.Canceled) {
		t.Fatalf("the second has it too: %v, %v", both != nil, err)
	}
	unlock()
	for range 2 { // what was given up is held by nobody, here or there
		unlock, err := two.Lock(t.Context(), "k")
		if err != nil {
			t.Fatal(err)
		}
		unlock()
	}
	broken := gate.NewLocks(apart{fail: errors.New("no disk")})
	for range 2 {
		if _, err := broken.Lock(t.Context(), "k"); err == nil {
			t.Error("a lock that could not be taken was given")
		}
	}
}

// A tool that says it only reads and touched a draft is refused, whatever it answers.
func TestReadThatChanges(t *testing.T) {
	for name, say := range map[string]tool.Reply[struct{}]{
		"composed": {Text: "done", Review: &draft.Review{Draft: "d-1"}}, "closed": {Text: "done", Receipt: &draft.Receipt{Draft: "d-1"}},
	} {
		s := newStage(t, trust.Guarded)
		s.say = say
		res, err := s.gate.Run(t.Context(), s.gate.Decide(t.Context(), request("a.say", `{}`)))
		if fault.CodeOf(err) != gate.CodeReadChanged || res.Text != "" {
			t.Errorf("%s: %q, %v", name, res.Text, err)
		}
		res, err = s.gate.Run(t.Context(), s.gate.Decide(t.Context(), request("b.draft", `{}`)))
		if err != nil || res.Text != "done" {
			t.Errorf("%s: a draft is refused: %q, %v", name, res.Text, err)
		}
	}
}
