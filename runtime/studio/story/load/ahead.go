package load

import (
	"path"
	"runtime"
	"sync"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
)

// MaxFiles is how many files a story may be read from, with all that it imports.
const MaxFiles = 3_000

// A parsed file is one that was read ahead of its turn.
type parsed struct {
	raw      []byte
	err      error
	node     *source.Node
	problems []source.Problem
	nodes    int
}

// An ahead reads the files of a story on all processors: most of the time that a story
// takes is that of its YAML. It follows includes and imports, says nothing, and what it
// does not find is looked for again in its turn, where it can be said.
type ahead struct {
	l     *loader
	mu    sync.Mutex
	wg    sync.WaitGroup
	slots chan struct{}
	done  map[string]*parsed
	nodes int
}

func (l *loader) readAhead(app string) {
	a := &ahead{l: l, slots: make(chan struct{}, runtime.GOMAXPROCS(0)), done: map[string]*parsed{}}
	a.file(app, 0)
	a.wg.Wait()
	l.ready = a.done
}

// file reads a file. A manifest has a depth, and an included file -1.
func (a *ahead) file(name string, depth int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.done[name] != nil || len(a.done) >= MaxFiles || a.nodes > source.MaxNodes || depth > MaxImportDepth {
		return
	}
	p := &parsed{}
	a.done[name] = p
	a.wg.Go(func() {
		a.slots <- struct{}{}
		a.parse(name, p)
		<-a.slots
		if depth >= 0 && p.node != nil && a.l.ctx.Err() == nil {
			a.follow(name, p.node, depth)
		}
	})
}

func (a *ahead) parse(name string, p *parsed) {
	if p.raw, p.err = a.l.files.Read(a.l.ctx, name); p.err != nil {
		return
	}
	var r source.Reader
	p.node = r.Parse(a.l.shown(name), p.raw)
	p.problems, p.nodes = r.Problems(), r.Nodes()
	a.mu.Lock()
	a.nodes += p.nodes
	a.mu.Unlock()
}

func (a *ahead) follow(app string, n *source.Node, depth int) {
	dir := path.Dir(app)
	for _, g := range n.Get("include").Items() {
		pattern := g.Value().Text()
		if !local(pattern) {
			continue
		}
		names, err := a.l.files.Glob(a.l.ctx, dir, pattern)
		if err != nil {
			continue
		}
		for _, name := range names {
			a.file(name, -1)
		}
	}
	imports := n.Get("imports")
	if imports == nil {
		return
	}
	for _, k := range imports.Keys {
		if src := k.Val.Get("source"); src.IsText() {
			if child, problem := a.l.sourceOf(dir, src.Scalar.Str()); problem == "" {
				a.file(child, depth+1)
			}
		}
	}
}
