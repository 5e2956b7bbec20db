package storetest

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/question"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

// RunQuestions checks a backend of [question.Rows]. Each call of open gives an empty one.
func RunQuestions(t *testing.T, open func(t *testing.T) question.Rows) {
	t.Run("put", func(t *testing.T) { testPutQuestion(t, open(t)) })
	t.Run("bounds", func(t *testing.T) { testQuestionBounds(t, open(t)) })
	t.Run("one of many wins", func(t *testing.T) {
		rows := open(t)
		q := sampleQuestion("q-1", 1)
		if err := rows.PutQuestion(t.Context(), q, q.At); err != nil {
			t.Fatal(err)
		}
		q.Rev, q.State = 2, question.Answered
		got := race(func(int) error { return rows.PutQuestion(t.Context(), q, q.At) })
		if got[""] != 1 || got[fault.Conflict] != many-1 {
			t.Errorf("outcomes %v, want 1 success and %d %s", got, many-1, fault.Conflict)
		}
	})
}

func sampleQuestion(id string, n int64) question.Question {
	at := stamp(n).At.UTC()
	return question.Question{
		Question: gate.Question{
			ID: id, Session: "s-1", Tool: "change.apply", Title: "Apply <d-1>?", Class: trust.Write, Digest: "d", Input: `{"draft":"d-1"}`, At: at,
			Review: &draft.Review{Draft: "d-1", Target: "character/ada", Rows: []draft.Change{{Path: "/name", Label: "Name", Before: "ada", After: "Ada"}}},
		},
		Rev: 1, Client: "test", State: question.Open, Expires: at.Add(time.Hour), Updated: at,
	}
}

func testPutQuestion(t *testing.T, rows question.Rows) {
	ctx := t.Context()
	q := sampleQuestion("q-1", 1)
	_, err := rows.GetQuestion(ctx, "q-1")
	wantCode(t, "Get of none", err, question.CodeNone)
	q.Rev = 2
	wantCode(t, "Put over none", rows.PutQuestion(ctx, q, q.At), fault.Conflict)
	q.Rev = 1
	if err := rows.PutQuestion(ctx, q, q.At); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "Put of the same revision", rows.PutQuestion(ctx, q, q.At), fault.Conflict)
	got, err := rows.GetQuestion(ctx, "q-1")
	if err != nil || !reflect.DeepEqual(got, q) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, q)
	}
	q.Rev, q.State, q.Answer = 2, question.Settled, &gate.Answer{Choice: gate.No, By: gate.Person, Note: "n"}
	if err := rows.PutQuestion(ctx, q, q.At); err != nil {
		t.Fatal(err)
	}
	if err := rows.PutQuestion(ctx, sampleQuestion("q-2", 2), q.At); err != nil {
		t.Fatal(err)
	}
	for all, want := range map[bool]string{true: "q-2 q-1 ", false: "q-2 "} {
		list, err := rows.ListQuestions(ctx, all)
		var ids string
		for _, q := range list {
			ids += q.ID + " "
		}
		if err != nil || ids != want {
			t.Errorf("list of all %v: %q, %v, want %q", all, ids, err, want)
		}
	}
}

func testQuestionBounds(t *testing.T, rows question.Rows) {
	ctx := t.Context()
	for i := range question.MaxOpen {
		q := sampleQuestion(fmt.Sprintf("q-%04d", i), 1)
		if err := rows.PutQuestion(ctx, q, q.At); err != nil {
			t.Fatal(err)
		}
	}
	more := sampleQuestion("q-more", 2)
	wantCode(t, "one too many", rows.PutQuestion(ctx, more, more.At), question.CodeTooMany)
	// When their time is over they wait no more, and are kept up to the bound.
	later := more.At.Add(2 * time.Hour)
	more.Expires = later.Add(time.Hour)
	if err := rows.PutQuestion(ctx, more, later); err != nil {
		t.Fatal(err)
	}
	more.At, more.State = later, question.Settled
	for i := range 3 {
		more.ID = fmt.Sprintf("r-%d", i)
		if err := rows.PutQuestion(ctx, more, later); err != nil {
			t.Fatal(err)
		}
	}
	list, err := rows.ListQuestions(ctx, true)
	if err != nil || len(list) > question.MaxSettled+2 {
		t.Errorf("%d questions are kept, %v", len(list), err)
	}
}
