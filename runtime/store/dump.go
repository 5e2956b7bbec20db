package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// Dump writes every piece that is not deleted, one JSON object a line, by kind and
// id: reference, revision, title, body, profiles, and a digest of each escrow.
// Times and sessions are left out, so that two journeys to the same content give
// the same bytes, whichever backend they ran on.
func Dump(ctx context.Context, st Store, w io.Writer) error {
	for s, err := range All(ctx, st, Query{}) {
		if err != nil {
			return err
		}
		p, err := st.Get(ctx, s.Ref, s.Revision)
		if err != nil {
			return err
		}
		line, err := dumpLine(p)
		if err != nil {
			return fault.Wrap(err, fault.Internal, "store.dump", "encode %q", p.Ref)
		}
		if _, err := w.Write(line); err != nil {
			return fault.Wrap(err, fault.Internal, "store.dump", "write %q", p.Ref)
		}
	}
	return nil
}

// All pages through what q selects, beyond the most that one List gives. The error
// of a List ends it.
func All(ctx context.Context, st Store, q Query) func(yield func(Summary, error) bool) {
	return func(yield func(Summary, error) bool) {
		for {
			page, err := st.List(ctx, q)
			if err != nil {
				yield(Summary{}, err)
				return
			}
			for _, s := range page {
				if !yield(s, nil) {
					return
				}
			}
			if len(page) < pageSize(q) {
				return
			}
			q.After = page[len(page)-1].Ref
		}
	}
}

func pageSize(q Query) int {
	if q.Limit == 0 {
		return MaxList
	}
	return q.Limit
}

type dumpEscrow struct {
	Format string `json:"format"`
	Name   string `json:"name"`
	Size   int    `json:"size"`
	SHA256 string `json:"sha256"`
}

func dumpLine(p Piece) ([]byte, error) {
	line := struct {
		Ref
		Revision int64           `json:"revision"`
		Title    string          `json:"title"`
		Body     json.RawMessage `json:"body"`
		Profiles json.RawMessage `json:"profiles,omitempty"`
		Escrow   []dumpEscrow    `json:"escrow,omitempty"`
	}{Ref: p.Ref, Revision: p.Revision, Title: p.Title, Body: p.Body, Profiles: p.Profiles}
	for _, e := range p.Escrow {
		sum := sha256.Sum256(e.Raw)
		line.Escrow = append(line.Escrow, dumpEscrow{e.Format, e.Name, len(e.Raw), hex.EncodeToString(sum[:])})
	}
	b, err := canon.Marshal(line)
	return append(b, '\n'), err
}
