package seam_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// A fill answers each door from the cassette, and asks the world only for what it lacks;
// with one episode anew, whatever door it is, every other line stays the same bytes.
func TestDoorsFill(t *testing.T) {
	for _, tt := range []struct {
		name, episode string
		ask           string // c: a call, e: a command, h: a request by HTTP, each with a word
		want, ran     string // the version of each answer, and what ran
		order         string // the lines of the cassette: those before by number, + what is new
	}{
		{"nothing is missing", "", "ca eb hc cd", "1 1 1 1", "", "1 2 3 4"},
		{"a call is", "", "ca cX eb hc cd", "1 2 1 1 1", "cX", "1 + 2 3 4"},
		{"a command is", "", "ca eb eX hc cd", "1 1 2 1 1", "eX", "1 2 + 3 4"},
		{"a call anew", "1", "ca eb hc cd", "2 1 1 1", "ca", "+ 2 3 4"},
		{"a command anew", "2", "ca eb hc cd", "1 2 1 1", "eb", "1 + 3 4"},
		{"a command anew, and what follows changed", "2", "ca eX hY cd", "1 2 2 1", "eX Y", "1 + + 4"},
		{"it strays before", "3", "ca eX", "1 miss", "", "1 2 3 4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, work := options(t, seam.Record, nil), t.TempDir()
			var ran []string
			ask := func(version int, s *seam.Seam, list string) (got []string) {
				for _, w := range strings.Fields(list) {
					got = append(got, askDoor(t, s, work, w, func() string {
						ran = append(ran, w)
						return fmt.Sprint(version)
					}))
				}
				return got
			}
			o.Transport = upstream.NewTransport(versioned("1", &ran))
			s := open(t, o)
			ask(1, s, "ca eb hc cd")
			closeSeam(t, s)
			before := lines(t, o.Cassette)
			ran = nil
			o.Mode, o.Episode, o.Prune, o.Transport = seam.Fill, tt.episode, tt.episode != "", upstream.NewTransport(versioned("2", &ran))
			s = open(t, o)
			if got := strings.Join(ask(2, s, tt.ask), " "); got != tt.want || strings.Join(ran, " ") != tt.ran {
				t.Errorf("answers %q, ran %q; want %q, %q", got, ran, tt.want, tt.ran)
			}
			if strings.Contains(tt.want, "miss") {
				wantCode(t, s.Close(), seam.CodeMiss)
				if now := lines(t, o.Cassette); !slices.Equal(now, before) {
					t.Error("the cassette changed")
				}
				return
			}
			closeSeam(t, s)
			sameLines(t, before, lines(t, o.Cassette), strings.Fields(tt.order))
			ran = nil
			if got := ask(0, replay(t, o), tt.ask); strings.Join(got, " ") != tt.want || len(ran) > 0 {
				t.Errorf("replayed: %v, ran %v", got, ran)
			}
		})
	}
}

// askDoor asks through the door that the first letter names, and gives the version of
// the answer, or miss.
func askDoor(t *testing.T, s *seam.Seam, work, w string, live func() string) string {
	t.Helper()
	var out string
	var err error
	switch w[0] {
	case 'c':
		out, err = seam.Call(t.Context(), s, "search", w, func(context.Context, string) (string, error) { return live(), nil })
	case 'e':
		door := execDoor(t, s, work, runner(func(dir string, _ seam.Command) (seam.Outcome, error) {
			write(t, dir, "out.txt", live())
			return seam.Outcome{}, nil
		}))
		var done seam.Outcome
		if done, err = door.Run(t.Context(), seam.Command{Args: []string{"render", w}, Writes: []string{"out.txt"}}); err == nil {
			b, rerr := os.ReadFile(work + "/out.txt")
			if out = string(b); rerr != nil || len(done.Files) != 1 || !bytes.Equal(b, done.Files[0].Data) {
				t.Errorf("%s left %q, %v; %+v", w, b, rerr, done)
			}
		}
	default:
		_, text := post(t, s, t.Context(), messagesURL, ask(w[1:]))
		_, answer, _ := strings.Cut(text, `"answer":"`)
		out, _, _ = strings.Cut(answer, " ")
	}
	if err != nil {
		wantCode(t, err, seam.CodeMiss)
		return "miss"
	}
	return out
}

// sameLines compares the lines of a cassette with those before, by their numbers.
func sameLines(t *testing.T, before, after, order []string) {
	t.Helper()
	if len(after) != len(order) {
		t.Fatalf("%d lines, want %v", len(after), order)
	}
	for i, n := range order {
		if n == "+" && slices.Contains(before, after[i]) {
			t.Errorf("line %d is not new", i+1)
		}
		if n != "+" && after[i] != before[n[0]-'1'] {
			t.Errorf("line %d is not byte for byte what line %s was", i+1, n)
		}
	}
}
