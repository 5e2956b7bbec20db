package seam_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

type search struct {
	Words []string `json:"words"`
	Limit int      `json:"limit"`
}

type hits struct {
	Titles []string
	At     time.Time
}

func TestCallRecordAndReplay(t *testing.T) {
	o := options(t, seam.Record, echo)
	q := search{[]string{"a", "b"}, 2}
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	refused := fault.New(fault.Denied, "search.ask", "the index %q is closed", "b").WithHint("open it")
	live := func(_ context.Context, q search) (hits, error) {
		if q.Limit == 0 {
			return hits{}, refused
		}
		return hits{q.Words, at}, nil
	}
	s := open(t, o)
	ctx := seam.WithLane(t.Context(), "helper")
	ran, err := seam.Call(ctx, s, "search", q, live)
	if err != nil || !reflect.DeepEqual(ran, hits{q.Words, at}) {
		t.Fatalf("%+v %v", ran, err)
	}
	_, err = seam.Call(ctx, s, "search", search{}, live)
	wantCode(t, err, fault.Denied)
	closeSeam(t, s)
	for range 2 {
		s = replay(t, o)
		again, err := seam.Call[search, hits](ctx, s, "search", q, nil)
		if err != nil || !reflect.DeepEqual(again, ran) {
			t.Errorf("%+v %v, want %+v", again, err, ran)
		}
		_, err = seam.Call[search, hits](ctx, s, "search", search{}, nil)
		wantCode(t, err, fault.Denied)
		if !strings.Contains(err.Error(), `the index "b" is closed`) || fault.HintOf(err) != "open it" {
			t.Errorf("the error is %v (%s)", err, fault.HintOf(err))
		}
		closeSeam(t, s)
	}
	if e := episodes(t, o.Cassette); len(e) != 2 || e[0].Kind != "call" || e[0].Lane != "helper" || e[0].Request.URL != "call://search" ||
		string(e[0].Request.Body) != `{"limit":2,"words":["a","b"]}` {
		t.Errorf("episodes %+v", e)
	}
}

// Without KeepErrors an error is no answer: the next time is another one.
func TestCallErrorIsNotKept(t *testing.T) {
	o := options(t, seam.Record, echo)
	o.KeepErrors = false
	s := open(t, o)
	broken := errors.New("broken")
	times := 0
	for range 2 {
		_, err := seam.Call(t.Context(), s, "render", 1, func(context.Context, int) (int, error) {
			if times++; times == 1 {
				return 0, broken
			}
			return 7, nil
		})
		if times == 1 && !errors.Is(err, broken) {
			t.Errorf("the first call is %v", err)
		}
	}
	closeSeam(t, s)
	s = replay(t, o)
	if n, err := seam.Call[int, int](t.Context(), s, "render", 1, nil); n != 7 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	closeSeam(t, s)
}

// What JSON would change is refused while recording, not found out in replay.
func TestCallNotJSON(t *testing.T) {
	type lossy struct {
		Shown  int
		hidden int
	}
	type hidden struct{ V any }
	for name, call := range map[string]func(s *seam.Seam) error{
		"question": func(s *seam.Seam) error {
			_, err := seam.Call(t.Context(), s, "a", func() {}, func(context.Context, func()) (int, error) { return 0, nil })
			return err
		},
		"answer": func(s *seam.Seam) error {
			_, err := seam.Call(t.Context(), s, "a", 1, func(context.Context, int) (chan int, error) { return nil, nil })
			return err
		},
		"kind": func(s *seam.Seam) error {
			_, err := seam.Call(t.Context(), s, "A/b", 1, func(context.Context, int) (int, error) { return 0, nil })
			return err
		},
	} {
		s := open(t, options(t, seam.Record, echo))
		if code := fault.CodeOf(call(s)); code != seam.CodeNotJSON && (name != "kind" || code != fault.Invalid) {
			t.Errorf("%s: %s", name, code)
		}
	}
	// In record the caller gets what a replay will give.
	s := open(t, options(t, seam.Record, echo))
	got, err := seam.Call(t.Context(), s, "a", 1, func(context.Context, int) (lossy, error) { return lossy{1, 2}, nil })
	if err != nil || got != (lossy{1, 0}) {
		t.Errorf("%+v %v", got, err)
	}
	wide, err := seam.Call(t.Context(), s, "a", 2, func(context.Context, int) (hidden, error) { return hidden{3}, nil })
	if err != nil || wide.V != 3.0 {
		t.Errorf("%+v %v", wide, err)
	}
	closeSeam(t, s)
}
