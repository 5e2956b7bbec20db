package result

import (
	"context"
	"fmt"
	"sync"
)

// Sessions holds a Store for each session. It is safe for concurrent use. Make one
// with NewSessions.
type Sessions struct {
	mu     sync.Mutex
	stores map[string]*Store
}

// NewSessions returns a Sessions without any.
func NewSessions() *Sessions { return &Sessions{stores: map[string]*Store{}} }

// For is the session's store, made on first use. A session that ended keeps its
// ended store, so that its handles are [CodeExpired] and not [CodeUnknown].
func (s *Sessions) For(session string) *Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, ok := s.stores[session]
	if !ok {
		st = New()
		s.stores[session] = st
	}
	return st
}

// Resume tells of the handles that a session was given in runs of the program before
// this one. They are [CodeExpired], and none of them is given out a second time: the
// model still has them in its history. It is called before the session keeps anything.
func (s *Sessions) Resume(session string, handles []string) {
	st := s.For(session)
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, h := range handles {
		st.made = max(st.made, Handle(h).number())
	}
	st.lost, st.first = st.made, st.made+1
}

// End drops what the session kept.
func (s *Sessions) End(session string) { s.For(session).end() }

// Handles are the results of a session that can be read, the newest first.
func (s *Sessions) Handles(session string) []string {
	s.mu.Lock()
	st, ok := s.stores[session]
	s.mu.Unlock()
	if !ok {
		return nil
	}
	return st.handles()
}

func (s *Store) handles() (list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil
	}
	for i := s.made; i > s.made-len(s.kept); i-- {
		list = append(list, fmt.Sprintf("result-%d", i))
	}
	return list
}

func (s *Store) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended, s.kept, s.total = true, nil, 0
}

// Put keeps text for a session and returns its handle.
func (s *Sessions) Put(_ context.Context, session, text string) (string, error) {
	h, err := s.For(session).Put(text)
	return string(h), err
}

// Text is the whole result behind a handle of a session.
func (s *Sessions) Text(session, handle string) (string, error) {
	return s.For(session).Text(Handle(handle))
}
