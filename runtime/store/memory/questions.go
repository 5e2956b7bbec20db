package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/soundstage-dev/soundstage/runtime/question"
)

// asked is a question as JSON, so that no caller shares a pointer with us, and what the
// bounds look at.
type asked struct {
	rev         int64
	pending     bool
	expires, at time.Time
	doc         []byte
}

// PutQuestion implements [question.Rows].
func (s *Store) PutQuestion(ctx context.Context, q question.Question, now time.Time) error {
	const op = "memory.put_question"
	doc, err := json.Marshal(q)
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	has, ok := s.questions[q.ID]
	if has.rev != q.Rev-1 {
		return question.Changed(op, q.ID)
	}
	if !ok {
		if err := s.roomForQuestion(op, now); err != nil {
			return err
		}
	}
	s.questions[q.ID] = asked{q.Rev, q.State.Pending(), q.Expires, q.At, doc}
	return nil
}

func (s *Store) roomForQuestion(op string, now time.Time) error {
	var over []string
	for id, q := range s.questions {
		if !q.pending || !q.expires.After(now) {
			over = append(over, id)
		}
	}
	if len(s.questions)-len(over) >= question.MaxOpen {
		return question.TooMany(op)
	}
	slices.SortFunc(over, func(a, b string) int {
		return cmp.Or(s.questions[b].at.Compare(s.questions[a].at), cmp.Compare(b, a))
	})
	for _, id := range over[min(len(over), question.MaxSettled):] {
		delete(s.questions, id)
	}
	return nil
}

// GetQuestion implements [question.Rows].
func (s *Store) GetQuestion(ctx context.Context, id string) (question.Question, error) {
	if err := ctx.Err(); err != nil {
		return question.Question{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	has, ok := s.questions[id]
	if !ok {
		return question.Question{}, question.None("memory.get_question", id)
	}
	var q question.Question
	err := json.Unmarshal(has.doc, &q)
	return q, err
}

// ListQuestions implements [question.Rows].
func (s *Store) ListQuestions(ctx context.Context, all bool) ([]question.Question, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list, err := s.everyQuestion()
	return slices.DeleteFunc(list, func(q question.Question) bool { return !all && !q.State.Pending() }), err
}

// everyQuestion is all of them, the newest first; under the lock.
func (s *Store) everyQuestion() (list []question.Question, err error) {
	for _, has := range s.questions {
		var q question.Question
		if err := json.Unmarshal(has.doc, &q); err != nil {
			return nil, err
		}
		list = append(list, q)
	}
	slices.SortFunc(list, func(a, b question.Question) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.ID, a.ID))
	})
	return list, nil
}
