package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/question"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// PutQuestion implements [question.Rows].
func (s *Store) PutQuestion(ctx context.Context, q question.Question, now time.Time) error {
	const op = "postgres.put_question"
	doc, err := json.Marshal(q)
	if err != nil {
		return fault.Wrap(err, fault.Internal, op, "encode the question %q", q.ID)
	}
	return s.write(ctx, op, func(tx *pgx.Conn) error {
		has, err := rev(ctx, tx, "SELECT rev FROM questions WHERE id = $1", q.ID)
		if err != nil {
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
		_, err = tx.Exec(ctx, `INSERT INTO questions (id, rev, pending, expires, asked, doc) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (id) DO UPDATE SET rev = excluded.rev, pending = excluded.pending, doc = excluded.doc`,
			q.ID, q.Rev, q.State.Pending(), store.Instant(q.Expires).UnixMicro(), store.Instant(q.At).UnixMicro(), doc)
		return err
	})
}

// roomForQuestion forgets old questions, and refuses a new one where too many wait. One
// whose time is over waits no more.
func roomForQuestion(ctx context.Context, tx *pgx.Conn, op string, now time.Time) error {
	at := store.Instant(now).UnixMicro()
	var open, over int
	if err := tx.QueryRow(ctx, `SELECT count(*) FILTER (WHERE pending AND expires > $1), count(*) FILTER (WHERE NOT pending OR expires <= $1)
		FROM questions`, at).Scan(&open, &over); err != nil {
		return err
	}
	if open >= question.MaxOpen {
		return question.TooMany(op)
	}
	if over <= question.MaxSettled {
		return nil
	}
	_, err := tx.Exec(ctx, `DELETE FROM questions WHERE id IN (
		SELECT id FROM questions WHERE NOT pending OR expires <= $1 ORDER BY asked DESC, id DESC OFFSET $2)`, at, question.MaxSettled)
	return err
}

// GetQuestion implements [question.Rows].
func (s *Store) GetQuestion(ctx context.Context, id string) (question.Question, error) {
	const op = "postgres.get_question"
	return get[question.Question](ctx, s, op, "SELECT doc FROM questions WHERE id = $1", id, question.None(op, id))
}

// ListQuestions implements [question.Rows].
func (s *Store) ListQuestions(ctx context.Context, all bool) ([]question.Question, error) {
	return list[question.Question](ctx, s, "postgres.list_questions",
		"SELECT doc FROM questions WHERE pending OR $1 ORDER BY asked DESC, id DESC", all)
}
