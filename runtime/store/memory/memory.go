// Package memory is a studio's store that lives as long as its value, for tests
// and for sessions that keep nothing.
//
// It is part of the kernel and fills the ports store.Store, draft.Drafts,
// question.Rows and drawer.Rows; it passes the same suites as the database. It writes no file, so nothing in it
// survives a restart.
package memory

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/drawer"
	"github.com/soundstage-dev/soundstage/runtime/question"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// A Store is safe for concurrent use. Make one with New.
type Store struct {
	mu        sync.Mutex
	pieces    map[store.Ref][]entry
	drafts    map[string][]byte // JSON, so that no caller shares a slice with us
	questions map[string]asked
	drawers   map[string]map[string]drawer.Entry
}

// An entry is one revision of a piece, or its removal.
type entry struct {
	piece   store.Piece
	stamp   store.Stamp
	deleted bool
}

var (
	_ store.Store   = (*Store)(nil)
	_ draft.Drafts  = (*Store)(nil)
	_ question.Rows = (*Store)(nil)
	_ drawer.Rows   = (*Store)(nil)
)

// New returns an empty store.
func New() *Store {
	return &Store{
		pieces: map[store.Ref][]entry{}, drafts: map[string][]byte{}, questions: map[string]asked{},
		drawers: map[string]map[string]drawer.Entry{},
	}
}

// Get implements [store.Store].
func (s *Store) Get(ctx context.Context, ref store.Ref, revision int64) (store.Piece, error) {
	const op = "memory.get"
	if err := cmp.Or(ctx.Err(), store.CheckRef(ref)); err != nil {
		return store.Piece{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if revision == 0 {
		e, ok := s.current(ref)
		if !ok {
			return store.Piece{}, store.NotFound(op, ref)
		}
		return clone(e.piece), nil
	}
	entries := s.pieces[ref]
	if len(entries) == 0 {
		return store.Piece{}, store.NotFound(op, ref)
	}
	if revision < 1 || revision > int64(len(entries)) || entries[revision-1].deleted {
		return store.Piece{}, store.NoRevision(op, ref, revision)
	}
	return clone(entries[revision-1].piece), nil
}

// current is the last entry, if there is one and it is not the removal.
func (s *Store) current(ref store.Ref) (entry, bool) {
	entries := s.pieces[ref]
	if len(entries) == 0 || entries[len(entries)-1].deleted {
		return entry{}, false
	}
	return entries[len(entries)-1], true
}

// List implements [store.Store].
func (s *Store) List(ctx context.Context, q store.Query) ([]store.Summary, error) {
	if err := cmp.Or(ctx.Err(), store.CheckQuery(q)); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []store.Summary
	for ref := range s.pieces {
		e, ok := s.current(ref)
		if !ok || !selects(q, e.piece) {
			continue
		}
		p := e.piece
		all = append(all, store.Summary{Ref: p.Ref, Revision: p.Revision, Title: p.Title, Size: int64(len(p.Body)), Updated: p.Updated})
	}
	slices.SortFunc(all, func(a, b store.Summary) int { return compare(a.Ref, b.Ref) })
	return all[:min(len(all), cmp.Or(q.Limit, store.MaxList))], nil
}

func selects(q store.Query, p store.Piece) bool {
	return (q.Kind == "" || q.Kind == p.Kind) &&
		(q.After == store.Ref{} || compare(p.Ref, q.After) > 0) &&
		(q.Text == "" || strings.Contains(store.SearchText(p.Title, p.Body), store.Fold(q.Text)))
}

func compare(a, b store.Ref) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
}

// Create implements [store.Store].
func (s *Store) Create(ctx context.Context, p store.Piece, stamp store.Stamp) (store.Piece, error) {
	p, err := store.Prepare(p, stamp)
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return store.Piece{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.current(p.Ref); ok {
		return store.Piece{}, store.Taken("memory.create", p.Ref, e.piece.Revision)
	}
	return s.write(p, stamp), nil
}

// CreateAll implements [store.Together].
func (s *Store) CreateAll(ctx context.Context, ps []store.Piece, stamp store.Stamp) ([]store.Piece, error) {
	all, err := store.PrepareAll(ps, stamp)
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := map[store.Ref]bool{}
	for _, p := range all {
		if e, ok := s.current(p.Ref); ok || seen[p.Ref] {
			return nil, store.Taken("memory.create", p.Ref, max(1, e.piece.Revision))
		}
		seen[p.Ref] = true
	}
	for i, p := range all {
		all[i] = s.write(p, stamp)
	}
	return all, nil
}

// Update implements [store.Store].
func (s *Store) Update(ctx context.Context, p store.Piece, stamp store.Stamp) (store.Piece, error) {
	const op = "memory.update"
	p, err := store.Prepare(p, stamp)
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return store.Piece{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.current(p.Ref)
	switch {
	case !ok:
		return store.Piece{}, store.NotFound(op, p.Ref)
	case e.piece.Revision != p.Revision:
		return store.Piece{}, store.NotCurrent(op, p.Ref, e.piece.Revision, p.Revision)
	case !store.EqualEscrow(e.piece.Escrow, p.Escrow):
		return store.Piece{}, store.NewEscrow(op, p.Ref)
	}
	return s.write(p, stamp), nil
}

// write appends p as the next revision.
func (s *Store) write(p store.Piece, stamp store.Stamp) store.Piece {
	p = clone(p)
	stamp.At = p.Updated
	p.Revision = int64(len(s.pieces[p.Ref])) + 1
	s.pieces[p.Ref] = append(s.pieces[p.Ref], entry{piece: p, stamp: stamp})
	return clone(p)
}

// Delete implements [store.Store].
func (s *Store) Delete(ctx context.Context, ref store.Ref, revision int64, stamp store.Stamp) error {
	const op = "memory.delete"
	if err := cmp.Or(ctx.Err(), store.CheckRef(ref), store.CheckStamp(stamp)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.current(ref)
	switch {
	case !ok:
		return store.NotFound(op, ref)
	case e.piece.Revision != revision:
		return store.NotCurrent(op, ref, e.piece.Revision, revision)
	}
	stamp.At = store.Instant(stamp.At)
	gone := store.Piece{Ref: ref, Revision: revision + 1, Updated: stamp.At}
	s.pieces[ref] = append(s.pieces[ref], entry{piece: gone, stamp: stamp, deleted: true})
	return nil
}

// History implements [store.Store].
func (s *Store) History(ctx context.Context, ref store.Ref) ([]store.Revision, error) {
	if err := cmp.Or(ctx.Err(), store.CheckRef(ref)); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	entries := s.pieces[ref]
	if len(entries) == 0 {
		return nil, store.NotFound("memory.history", ref)
	}
	revisions := make([]store.Revision, len(entries))
	for i, e := range entries {
		revisions[i] = store.Revision{Revision: int64(i) + 1, Deleted: e.deleted, Stamp: e.stamp, Size: int64(len(e.piece.Body))}
	}
	return revisions, nil
}

// clone shares no bytes with p.
func clone(p store.Piece) store.Piece {
	p.Body, p.Profiles = bytes.Clone(p.Body), bytes.Clone(p.Profiles)
	p.Escrow = slices.Clone(p.Escrow)
	for i := range p.Escrow {
		p.Escrow[i].Raw = bytes.Clone(p.Escrow[i].Raw)
	}
	return p
}
