package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"

	"github.com/soundstage-dev/soundstage/runtime/store"
)

// The index makes a search read few texts. It follows the pieces: one that is written is
// behind, and those that are behind are looked at one by one; when there are enough of
// them, their texts become a block, with the runs of characters that are in each. A text
// that is written again has another number, and so its place in a block means nothing any
// more; a block of which most places mean nothing is dissolved, and its pieces are behind
// again.
const (
	blockTexts = 128     // pieces behind that become a block
	blockBytes = 2 << 20 // bytes of their bodies that do, if they are fewer
	placesMost = 256     // texts of a block at most: a place is a byte
	behindMost = 512     // pieces behind at which a write waits until they are blocks
)

// A backlog is what this process wrote since it last looked how many pieces are behind.
// Others may have written too: it says when to look, and no more.
type backlog struct {
	looked       bool
	pieces, size int
}

// due says that somebody should look.
func (b *backlog) due() bool {
	return b.pieces > 0 && !b.looked || b.pieces >= blockTexts || b.size >= blockBytes
}

// putBehind says that the index does not know the current revision of p.
func putBehind(ctx context.Context, tx txn, p store.Piece) error {
	if _, err := tx.ExecContext(ctx, `INSERT INTO behind (kind, id, revision, size) VALUES (?, ?, ?, ?)
		ON CONFLICT (kind, id) DO UPDATE SET revision = excluded.revision, size = excluded.size`, p.Kind, p.ID, p.Revision, len(p.Body)); err != nil {
		return err
	}
	tx.behind.pieces++
	tx.behind.size += len(p.Body)
	if tx.behind.pieces >= behindMost {
		return seal(ctx, tx)
	}
	return nil
}

// dropText forgets the text of a piece that is deleted.
func dropText(ctx context.Context, tx txn, ref store.Ref) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM behind WHERE kind = ? AND id = ?", ref.Kind, ref.ID); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM texts WHERE kind = ? AND id = ?", ref.Kind, ref.ID)
	return err
}

// A block is its last number, and the numbers of its texts by their places.
type block struct {
	last int64
	docs []int64
}

func blocks(ctx context.Context, q querier) ([]block, error) {
	rows, err := q.QueryContext(ctx, "SELECT last, docs FROM blocks ORDER BY last")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []block
	for rows.Next() {
		var b block
		var docs sql.RawBytes
		if err := rows.Scan(&b.last, &docs); err != nil {
			return nil, err
		}
		for ; len(docs) >= 4 && len(b.docs) < placesMost; docs = docs[4:] {
			b.docs = append(b.docs, int64(binary.LittleEndian.Uint32(docs)))
		}
		all = append(all, b)
	}
	return all, rows.Err()
}

// few is how many texts are rather read than looked for further.
const few = 24

// candidates are the numbers of the texts that may hold query, which is folded: all that
// do, and some that do not. Texts of pieces that are behind are among them.
func candidates(ctx context.Context, q querier, query string) ([]int64, error) {
	all, err := blocks(ctx, q)
	if err != nil {
		return nil, err
	}
	at := make(map[int64]int, len(all))
	may := make([][]byte, len(all)) // the places of each block; nil is none
	for i, b := range all {
		at[b.last] = i
	}
	left := -1
	for i, r := range spread(wanted(query)) {
		if i > 0 && left <= few {
			break
		}
		if may, left, err = narrow(ctx, q, r, at, may, i == 0); err != nil {
			return nil, err
		}
	}
	var list []int64
	for i, b := range all {
		for _, place := range may[i] {
			if int(place) < len(b.docs) {
				list = append(list, b.docs[place])
			}
		}
	}
	return list, nil
}

// spread gives neighbours last: what is in one run is mostly in the next one too.
func spread(list []run) []run {
	var out []run
	for step := range 3 {
		for i := step; i < len(list); i += 3 {
			out = append(out, list[i])
		}
	}
	return out
}

// narrow keeps the places that hold r, or with first set begins with them.
func narrow(ctx context.Context, q querier, r run, at map[int64]int, may [][]byte, first bool) ([][]byte, int, error) {
	rows, err := q.QueryContext(ctx, "SELECT block, list FROM runs WHERE bucket = ?", int(r>>lowBits))
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	next, left := make([][]byte, len(may)), 0
	for rows.Next() {
		var last int64
		var list sql.RawBytes
		if err := rows.Scan(&last, &list); err != nil {
			return nil, 0, err
		}
		i, ok := at[last]
		if !ok || !first && may[i] == nil {
			continue
		}
		has, ok := places(list, r)
		if !ok {
			return nil, 0, errIndex
		}
		if first {
			next[i] = bytes.Clone(has)
		} else {
			next[i] = both(may[i], has)
		}
		left += len(next[i])
	}
	return next, left, rows.Err()
}

// both are the places that are in two sorted lists. It writes into the first.
func both(a, b []byte) []byte {
	out := a[:0]
	for _, p := range a {
		for len(b) > 0 && b[0] < p {
			b = b[1:]
		}
		if len(b) > 0 && b[0] == p {
			out = append(out, p)
		}
	}
	return out
}
