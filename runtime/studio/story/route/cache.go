package route

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// A Cache keeps what a model made of texts. It may be shared between sessions and between
// stories.
type Cache interface {
	Get(ctx context.Context, k Key) (Entry, bool, error)
	Put(ctx context.Context, k Key, e Entry) error
	// Hit notes that an entry was used.
	Hit(ctx context.Context, k Key, at time.Time) error
	// Strike notes that the story no longer takes an entry, and drops one that has so many
	// strikes in a row.
	Strike(ctx context.Context, k Key, most int) error
	// Sweep drops what a story no longer needs.
	Sweep(ctx context.Context, b Broom) error
}

// A Key is what a text is known by: not its words but what they say, in one state of one
// story as it is now.
type Key struct{ App, Hash, State, Signature string }

// An Entry is what a model made of a text.
type Entry struct {
	Intent     string
	Slots      value.Value
	Confidence float64
	Model      string
	Made, Used time.Time
	Hits       int
	Strikes    int // in a row
}

// A Broom says what of a story's entries is dropped: those of another Hash, those that
// nobody used since Before, and of more than Cap the part Trim that was used the longest
// ago. A zero Before or Cap drops nothing.
type Broom struct {
	App, Hash string
	Before    time.Time
	Cap       int
	Trim      float64
}

// A Memory is a Cache that ends with the program. It is safe for concurrent use.
type Memory struct {
	mu   sync.Mutex
	rows map[Key]Entry
}

// NewMemory makes an empty cache.
func NewMemory() *Memory { return &Memory{rows: map[Key]Entry{}} }

// Get implements Cache.
func (m *Memory) Get(_ context.Context, k Key) (Entry, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.rows[k]
	return e, ok, nil
}

// Put implements Cache.
func (m *Memory) Put(_ context.Context, k Key, e Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rows[k] = e
	return nil
}

// Hit implements Cache.
func (m *Memory) Hit(_ context.Context, k Key, at time.Time) error {
	return m.change(k, func(e *Entry) { e.Hits, e.Used, e.Strikes = e.Hits+1, at, 0 })
}

// Strike implements Cache.
func (m *Memory) Strike(_ context.Context, k Key, most int) error {
	err := m.change(k, func(e *Entry) { e.Strikes++ })
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.rows[k]; ok && e.Strikes >= max(most, 1) {
		delete(m.rows, k)
	}
	return err
}

func (m *Memory) change(k Key, how func(*Entry)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.rows[k]; ok {
		how(&e)
		m.rows[k] = e
	}
	return nil
}

// Sweep implements Cache.
func (m *Memory) Sweep(_ context.Context, b Broom) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.rows, func(k Key, e Entry) bool {
		return k.App == b.App && (k.Hash != b.Hash || e.Used.Before(b.Before))
	})
	var left []Key
	for k := range m.rows {
		if k.App == b.App {
			left = append(left, k)
		}
	}
	if b.Cap <= 0 || len(left) <= b.Cap {
		return nil
	}
	slices.SortFunc(left, func(x, y Key) int {
		return cmp.Or(m.rows[x].Used.Compare(m.rows[y].Used), cmp.Compare(x.Signature, y.Signature), cmp.Compare(x.State, y.State))
	})
	for _, k := range left[:min(max(int(float64(len(left))*b.Trim), len(left)-b.Cap), len(left))] {
		delete(m.rows, k)
	}
	return nil
}

// surface is the hash of what of a story routing goes by. A page or an effect that changed
// leaves what a model made of texts as good as it was.
func surface(s *program.Story) string {
	h := sha256.New()
	add := func(kind string, list ...string) { fmt.Fprintf(h, "%s%q\n", kind, list) }
	add("story", s.ID, s.Version)
	intent := func(where, name string, in *program.Intent) {
		add("intent", where, name, in.Title, in.Description)
		add("synonyms", slices.Sorted(slices.Values(in.Synonyms))...)
		for _, name := range slices.Sorted(maps.Keys(in.Slots)) {
			slot := in.Slots[name]
			add("slot", name, slot.Type, slot.Description)
			add("values", slot.Values...)
			for _, val := range slices.Sorted(maps.Keys(slot.Synonyms)) {
				add("means "+val, slot.Synonyms[val]...)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Intents)) {
		intent("", name, s.Intents[name])
	}
	for _, path := range slices.Sorted(maps.Keys(s.States)) {
		for _, name := range slices.Sorted(maps.Keys(s.States[path].Intents)) {
			intent(path, name, s.States[path].Intents[name])
		}
	}
	r := s.Routing
	fmt.Fprintf(h, "%t %g %g %q", r.Enabled, r.High, r.Mid, r.Stopwords)
	return hex.EncodeToString(h.Sum(nil)[:8])
}
