package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"slices"

	"github.com/soundstage-dev/soundstage/runtime/store"
)

// The index makes a search read few texts. A text that is written is fresh, and fresh
// texts are looked at one by one; when there are enough of them, they become a block,
// with the runs of characters that are in each. A text that is written again has another
// number, and so its place in a block means nothing any more; a block of which most
// places mean nothing is dissolved, and its texts are fresh again.
const (
	blockTexts = 128     // fresh texts that become a block
	blockBytes = 2 << 20 // bytes of fresh texts that do, if they are fewer
	placesMost = 256     // texts of a block at most: a place is a byte
)

// putText keeps the text of a piece that is current from now on.
func putText(ctx context.Context, tx txn, ref store.Ref, text string) error {
	if err := dropText(ctx, tx, ref); err != nil {
		return err
	}
	var n, last int64
	if err := tx.QueryRowContext(ctx, "SELECT coalesce((SELECT max(n) FROM texts), 0), coalesce((SELECT max(last) FROM blocks), 0)").Scan(&n, &last); err != nil {
		return err
	}
	n = 1 + max(n, last) // a number is never given twice once it is in a block
	if _, err := tx.ExecContext(ctx, "INSERT INTO texts (n, kind, id, text) VALUES (?, ?, ?, ?)", n, ref.Kind, ref.ID, []byte(text)); err != nil {
		return err
	}
	if n-last < blockTexts && len(text) < blockBytes/blockTexts {
		return nil // not enough yet, whatever the others are
	}
	return seal(ctx, tx)
}

func dropText(ctx context.Context, tx txn, ref store.Ref) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM texts WHERE kind = ? AND id = ?", ref.Kind, ref.ID)
	return err
}

// fresh is the condition of texts that are in no block.
const fresh = "n > coalesce((SELECT max(last) FROM blocks), 0)"

// seal makes blocks of the fresh texts, when there are enough.
func seal(ctx context.Context, tx txn) error {
	for {
		var count, size int
		// The length of a blob is known without reading it.
		if err := tx.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(size), 0) FROM (SELECT length(text) AS size FROM texts WHERE "+fresh+" LIMIT ?)",
			blockTexts).Scan(&count, &size); err != nil {
			return err
		}
		if count < blockTexts && size < blockBytes {
			return nil
		}
		if err := makeBlock(ctx, tx); err != nil {
			return err
		}
		if err := dissolve(ctx, tx); err != nil {
			return err
		}
	}
}

// makeBlock makes a block of the first fresh texts.
func makeBlock(ctx context.Context, tx txn) error {
	rows, err := tx.QueryContext(ctx, "SELECT n, text FROM texts WHERE "+fresh+" ORDER BY n LIMIT ?", blockTexts)
	if err != nil {
		return err
	}
	defer rows.Close()
	var docs []byte
	var last int64
	var list []run
	var postings []posting
	m := new(marker)
	for size := 0; size < blockBytes && rows.Next(); {
		var text sql.RawBytes
		if err := rows.Scan(&last, &text); err != nil {
			return err
		}
		place := posting(len(docs) / 4)
		docs = binary.LittleEndian.AppendUint32(docs, uint32(last))
		list = m.add(list[:0], text)
		for _, r := range list {
			postings = append(postings, posting(r)<<8|place)
		}
		size += len(text)
	}
	if err := cmp.Or(rows.Err(), rows.Close()); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO blocks (last, docs) VALUES (?, ?)", last, docs); err != nil {
		return err
	}
	put, err := tx.PrepareContext(ctx, "INSERT INTO runs (bucket, block, list) VALUES (?, ?, ?)")
	if err != nil {
		return err
	}
	defer put.Close()
	for bucket, list := range pack(sorted(postings)) {
		if len(list) == 0 {
			continue
		}
		if _, err := put.ExecContext(ctx, bucket, last, list); err != nil {
			return err
		}
	}
	return nil
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

// dissolve makes the texts of blocks fresh again of which less than half are left.
func dissolve(ctx context.Context, tx txn) error {
	all, err := blocks(ctx, tx)
	if err != nil {
		return err
	}
	rows, err := tx.QueryContext(ctx, "SELECT n FROM texts INDEXED BY texts_by_piece")
	if err != nil {
		return err
	}
	defer rows.Close()
	there := map[int64]bool{}
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return err
		}
		there[n] = true
	}
	if err := cmp.Or(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for i, b := range all {
		left := slices.DeleteFunc(slices.Clone(b.docs), func(n int64) bool { return !there[n] })
		if i == len(all)-1 || len(left)*2 > len(b.docs) { // the last one says which numbers are taken
			continue
		}
		if err := dissolveBlock(ctx, tx, b.last, left); err != nil {
			return err
		}
	}
	return nil
}

func dissolveBlock(ctx context.Context, tx txn, last int64, left []int64) error {
	for _, n := range left {
		if _, err := tx.ExecContext(ctx, `UPDATE texts SET n =
			1 + max((SELECT max(n) FROM texts), (SELECT max(last) FROM blocks)) WHERE n = ?`, n); err != nil {
			return err
		}
	}
	drop, err := tx.PrepareContext(ctx, "DELETE FROM runs WHERE bucket = ? AND block = ?")
	if err != nil {
		return err
	}
	defer drop.Close()
	for bucket := range buckets {
		if _, err := drop.ExecContext(ctx, bucket, last); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM blocks WHERE last = ?", last)
	return err
}

// few is how many texts are rather read than looked for further.
const few = 24

// candidates are the numbers of the texts that may hold query, which is folded: all that
// do, and some that do not.
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
	rows, err := q.QueryContext(ctx, "SELECT n FROM texts WHERE "+fresh)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, rows.Err()
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
