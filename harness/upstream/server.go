package upstream

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// LaneHeader names the lane of a request. Without it the lane is found by the
// system prompt.
const LaneHeader = "X-Soundstage-Lane"

// A Server plays one script once. It is safe for concurrent use.
type Server struct {
	script *Script

	mu    sync.Mutex
	spent map[int]bool                 // turn numbers
	vars  map[string]map[string]string // by lane
	errs  []error
}

var _ http.Handler = (*Server)(nil)

// New makes a Server that stands at the script's first turn.
func New(s *Script) *Server {
	return &Server{script: s, spent: map[int]bool{}, vars: map[string]map[string]string{}}
}

// Err is nil as long as each request was what its turn expected. It joins all
// that were not.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.errs...)
}

// Done is Err, and an error for turns that nobody asked for.
func (s *Server) Done() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	errs := s.errs
	var left []string
	for _, t := range s.script.turns {
		if !s.spent[t.number] {
			left = append(left, t.where(s.script))
		}
	}
	if len(left) > 0 {
		errs = append(errs[:len(errs):len(errs)], fault.New(CodeUnused, "upstream.done",
			"%d of %d turns were not asked for: %s", len(left), len(s.script.turns), strings.Join(left, ", ")).
			WithHint("the run ended early, or the script says more than is needed"))
	}
	return errors.Join(errs...)
}

// where names a turn in messages.
func (t turn) where(s *Script) string {
	at := fmt.Sprintf("turn %d (%s:%d", t.number, s.name, t.line)
	if t.lane != "" {
		at += ", lane " + t.lane
	}
	return at + ")"
}

// ServeHTTP answers one request with the next turn of its lane.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	wr, ok := wireOf(r.URL.Path)
	if !ok || r.Method != http.MethodPost {
		err := fault.New(CodeWire, "upstream.serve", "%s %s is not spoken here", r.Method, r.URL.Path).
			WithHint("the wire formats are /messages, /chat/completions, /responses and …:generateContent")
		s.refuse(w, chatWire, http.StatusNotFound, err)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxRequest))
	if err != nil {
		err = fault.Wrap(err, fault.TooLarge, "upstream.serve", "read a request of at most %d bytes", MaxRequest)
		s.refuse(w, wr, http.StatusRequestEntityTooLarge, err)
		return
	}
	a := ask{host: r.Host, path: r.URL.Path, size: len(body)}
	if err := wr.read(&a, body); err != nil {
		err = fault.Wrap(err, CodeWire, "upstream.serve", "the body is not %s JSON", wr.name)
		s.refuse(w, wr, http.StatusBadRequest, err)
		return
	}
	t, said, err := s.take(r.Header.Get(LaneHeader), a)
	switch {
	case err != nil:
		s.refuse(w, wr, http.StatusBadRequest, err)
	case t.fail != nil:
		writeFailure(w, wr, *t.fail, t.number)
	default:
		s.say(w, wr, a, said, t)
	}
}

// say sends a reply.
func (s *Server) say(w http.ResponseWriter, wr wire, a ask, r reply, t turn) {
	cut := r.cutAfter > 0
	if !a.stream {
		w.Header().Set(wr.idName, id("req_", 24, r.turn, 0))
		writeWhole(w, wr.whole(a, r), cut)
		return
	}
	events := wr.stream(a, r)
	if cut {
		if r.cutAfter >= len(events) {
			s.refuse(w, wr, http.StatusBadRequest, fault.New(CodeUnfit, "upstream.serve",
				"%s is cut after event %d, but has only %d as %s", t.where(s.script), r.cutAfter, len(events), wr.name).
				WithHint("lower cut_after or say more"))
			return
		}
		events = events[:r.cutAfter]
	}
	w.Header().Set(wr.idName, id("req_", 24, r.turn, 0))
	w.Header().Set("Content-Type", wr.media)
	writeStream(w, events, cut)
}

// take finds the next turn of the request's lane, checks it and uses it up. A turn
// that does not fit is not used up.
func (s *Server) take(laneName string, a ask) (turn, reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if laneName == "" {
		laneName = s.script.laneOf(a)
	}
	t, ok := s.next(laneName)
	if !ok {
		return t, reply{}, fault.New(CodeSpent, "upstream.serve", "%s has no turn left in %s: the last user text is %q and results are %s",
			s.script.name, laneLabel(laneName), clip(a.user), describe(a.results)).
			WithHint("add a turn to the script, or find out why the run asks once more")
	}
	vars := maps.Clone(s.vars[laneName])
	if vars == nil {
		vars = map[string]string{}
	}
	misfits := t.expect.misfits(a)
	for _, l := range t.lets {
		v, ok := l.take(a)
		if !ok {
			misfits = append(misfits, fmt.Sprintf("let %s: %q matches neither results %s nor the last user text", l.name, l.find, describe(a.results)))
		}
		vars[l.name] = v
	}
	if len(misfits) > 0 {
		return t, reply{}, fault.New(CodeUnfit, "upstream.serve", "%s expects otherwise: %s", t.where(s.script), strings.Join(misfits, "; ")).
			WithHint("change the script or the prompt, whichever is wrong")
	}
	said, err := t.reply(vars, a)
	if err != nil {
		return t, reply{}, fault.Wrap(err, CodeUnfit, "upstream.serve", "%s cannot be said", t.where(s.script))
	}
	s.spent[t.number], s.vars[laneName] = true, vars
	return t, said, nil
}

func (s *Server) next(laneName string) (turn, bool) {
	for _, t := range s.script.turns {
		if t.lane == laneName && !s.spent[t.number] {
			return t, true
		}
	}
	return turn{}, false
}

// laneOf finds the lane by the system prompt.
func (s *Script) laneOf(a ask) string {
	for _, l := range s.lanes {
		if strings.Contains(a.system, l.system) {
			return l.name
		}
	}
	return ""
}

func laneLabel(name string) string {
	if name == "" {
		return "the main lane"
	}
	return fmt.Sprintf("lane %q", name)
}

func describe(results []outcome) string {
	texts := make([]string, len(results))
	for i, o := range results {
		texts[i] = fmt.Sprintf("%s: %q", o.tool, clip(o.text))
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// refuse answers with err in the provider's error shape, so that the client shows
// it and does not try again, and remembers it.
func (s *Server) refuse(w http.ResponseWriter, wr wire, status int, err error) {
	s.mu.Lock()
	s.errs = append(s.errs, err)
	s.mu.Unlock()
	writeFailure(w, wr, failure{status: status, message: err.Error(), final: true}, 0)
}
