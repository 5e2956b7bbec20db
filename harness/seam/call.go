package seam

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// Call is the door for everything else that leaves the process: a renderer, a search.
// The question and the answer are JSON, by encoding/json's rules, and so must survive
// it: in record the caller gets the answer as a replay will give it. Kind names what is
// asked (a to z, 0 to 9, '.', '_', '-'). In replay live is not called and may be nil. An
// error of live is recorded, with its code, where Options.KeepErrors says so.
func Call[Q, R any](ctx context.Context, s *Seam, kind string, q Q, live func(context.Context, Q) (R, error)) (R, error) {
	var none R
	body, err := callBody(kind, q)
	if err != nil {
		return none, err
	}
	if err := ctx.Err(); err != nil {
		return none, err
	}
	res, t, err := s.ask(s.question(ctx, kindCall, "CALL", kindCall+"://"+kind, body))
	if err != nil {
		return none, err
	}
	if res != nil {
		return callAnswer[R](s, kind, res)
	}
	if err := s.checkDoor("call of " + kind); err != nil {
		t.dropped()
		return none, err
	}
	r, err := live(ctx, q)
	if t == nil {
		return r, err
	}
	if err != nil {
		t.keepError(ctx, err)
		return none, err
	}
	text, back, err := throughJSON(kind, r)
	if err != nil {
		t.rec.halt(err)
		t.drop()
		return none, err
	}
	t.keep(cassette.Response{Status: http.StatusOK, Header: jsonHeader(), Body: text})
	return back, nil
}

// CallIf is Call where there may be nothing to ask: with a nil live it is no episode while
// recording, and what a replay does not hold is no miss. ok is whether there is an answer.
func CallIf[Q, R any](ctx context.Context, s *Seam, kind string, q Q, live func(context.Context, Q) (R, error)) (r R, ok bool, err error) {
	if live == nil || !s.Sends() {
		body, err := callBody(kind, q)
		if err != nil || s.play == nil || !s.play.hasLeft(s.question(ctx, kindCall, "CALL", kindCall+"://"+kind, body)) {
			return r, false, err
		}
	}
	r, err = Call(ctx, s, kind, q, live)
	return r, err == nil, err
}

func callBody(kind string, q any) ([]byte, error) {
	const op = "seam.call"
	if !isName(kind) {
		return nil, fault.New(fault.Invalid, op, "the kind %.40q of a call is not made of a to z, 0 to 9, '.', '_' and '-'", kind)
	}
	body, err := canon.Marshal(q)
	if err != nil {
		return nil, fault.Wrap(err, CodeNotJSON, op, "the question of a call of %q", kind)
	}
	if len(body) > maxBody {
		return nil, fault.New(fault.TooLarge, op, "the question of a call of %q has %d bytes, more than %d", kind, len(body), maxBody)
	}
	return body, nil
}

// callAnswer reads a recorded answer.
func callAnswer[R any](s *Seam, kind string, res *cassette.Response) (R, error) {
	var r R
	if err := keptError(res); err != nil {
		return r, err
	}
	body, _ := s.o.Redactor.Expand(res.Body)
	if err := json.Unmarshal(body, &r); err != nil {
		return r, fault.Wrap(err, CodeNotJSON, "seam.call", "the recorded answer to a call of %q does not fit %T", kind, r).
			WithHint("record it again: %s", s.o.recordCommand())
	}
	return r, nil
}

// throughJSON is an answer as JSON and as a replay gives it.
func throughJSON[R any](kind string, r R) (text []byte, back R, err error) {
	text, err = canon.Marshal(r)
	if err != nil {
		return nil, back, fault.Wrap(err, CodeNotJSON, "seam.call", "the answer to a call of %q", kind)
	}
	if err := json.Unmarshal(text, &back); err != nil {
		return nil, back, fault.Wrap(err, CodeNotJSON, "seam.call", "the answer to a call of %q does not read back into %T", kind, r)
	}
	if again, err := canon.Marshal(back); err != nil || !bytes.Equal(again, text) {
		return nil, back, fault.Wrap(err, CodeNotJSON, "seam.call", "the answer to a call of %q is another %T after JSON", kind, r).
			WithHint("give %T fields that encoding/json writes and reads", r)
	}
	return text, back, nil
}

// dropped is drop for a tape that may be missing.
func (t *tape) dropped() {
	if t != nil {
		t.drop()
	}
}
