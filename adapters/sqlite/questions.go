package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/question"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// PutQuestion implements [question.Rows].
func (s *Store) PutQuestion(ctx context.Context, q question.Question, now time.Time) error {
	const op = "sqlite.put_question"
	doc, err := json.Marshal(q)
	if err != nil {
		return fault.Wrap(err, fault.Internal, op, "encode the question %q", q.ID)
	}
	return s.write(ctx, op, func(tx txn) error {
		var has int64
		err := tx.QueryRowContext(ctx, "SELECT rev FROM questions WHERE id = ?", q.ID).Scan(&has)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if has != q.Rev-1 {
			return question.Changed(op, q.ID)
		}
		if has == 0 {
			if err := roomForQuestion(ctx, tx, op, now); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO questions (id, rev, pending, expires, asked, doc) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET rev = excluded.rev, pending = excluded.pending, doc = excluded.doc`,
			q.ID, q.Rev, q.State.Pending(), store.Instant(q.Expires).UnixMicro(), store.Instant(q.At).UnixMicro(), doc)
		return err
	})
}

// roomForQuestion forgets old questions, and refuses a new one where too many wait. One
// whose time is over waits no more.
func roomForQuestion(ctx context.Context, tx txn, op string, now time.Time) error {
	at := store.Instant(now).UnixMicro()
	var open int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM questions WHERE pending AND expires > ?", at).Scan(&open); err != nil {
		return err
	}
	if open >= question.MaxOpen {
		return question.TooMany(op)
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM questions WHERE id IN (
		SELECT id FROM questions WHERE NOT pending OR expires <= ? ORDER BY asked DESC, id DESC LIMIT -1 OFFSET ?)`, at, question.MaxSettled)
	return err
}

// GetQuestion implements [question.Rows].
func (s *Store) GetQuestion(ctx context.Context, id string) (question.Question, error) {
	const op = "sqlite.get_question"
	db, err := s.use(ctx, op)
	if err != nil {
		return question.Question{}, err
	}
	var doc []byte
	err = db.QueryRowContext(ctx, "SELECT doc FROM questions WHERE id = ?", id).Scan(&doc)
	if errors.Is(err, sql.ErrNoRows) {
		return question.Question{}, question.None(op, id)
	}
	if err != nil {
		return question.Question{}, s.broken(err, op)
	}
	return decode[question.Question](doc, op)
}

// ListQuestions implements [question.Rows].
func (s *Store) ListQuestions(ctx context.Context, all bool) ([]question.Question, error) {
	return list[question.Question](ctx, s, "sqlite.list_questions",
		"SELECT doc FROM questions WHERE pending OR ? ORDER BY asked DESC, id DESC", all)
}
