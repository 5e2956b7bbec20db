package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/model"
)

// CodeOverflow says that an amount does not fit into 63 bits of pico-dollars, which
// is nine million dollars for one row.
const CodeOverflow fault.Code = "BUDGET_OVERFLOW"

// A PriceList is what models cost, by ref. The zero PriceList knows none. It is
// immutable.
type PriceList struct {
	prices map[string]model.Price
	digest string
}

// NewPriceList makes a list of what a catalogue or a cassette's x-prices say. Nil,
// and a price of nothing in and nothing out, are not known prices and are left out.
func NewPriceList(prices map[string]*model.Price) PriceList {
	known := map[string]model.Price{}
	for ref, p := range prices {
		if p != nil && (p.Input > 0 || p.Output > 0) && min(p.Input, p.Output, p.CacheRead, p.CacheWrite) >= 0 {
			known[ref] = *p
		}
	}
	h := sha256.New()
	for _, ref := range slices.Sorted(maps.Keys(known)) {
		p := known[ref]
		fmt.Fprintf(h, "%q %d %d %d %d\n", ref, p.Input, p.Output, p.CacheRead, p.CacheWrite)
	}
	return PriceList{prices: known, digest: hex.EncodeToString(h.Sum(nil))}
}

// Price is the price of a ref, if it is known.
func (l PriceList) Price(ref string) (model.Price, bool) {
	p, ok := l.prices[ref]
	return p, ok
}

// Cost is usage at the price of a ref; known is false where there is no price.
func (l PriceList) Cost(ref string, u model.Usage) (pico int64, known bool, err error) {
	p, ok := l.prices[ref]
	if !ok {
		return 0, false, nil
	}
	pico, err = cost(p, u)
	return pico, err == nil, err
}

// Digest names the list. Each priced row carries it.
func (l PriceList) Digest() string { return l.digest }

// cacheRates are the prices of cached tokens; where the list says nothing they cost
// what input costs, so that nothing is too cheap.
func cacheRates(p model.Price) (read, write int64) {
	read, write = p.CacheRead, p.CacheWrite
	if read == 0 {
		read = p.Input
	}
	if write == 0 {
		write = p.Input
	}
	return read, write
}

// cost is usage at a price, exactly.
func cost(p model.Price, u model.Usage) (int64, error) {
	read, write := cacheRates(p)
	return total([][2]int64{{u.Input, p.Input}, {u.Output, p.Output}, {u.CacheRead, read}, {u.CacheWrite, write}})
}

// most is what a request may cost: all of its input at the dearest input rate, and
// all the output that it asks for.
func most(p model.Price, input, maxOutput int64) (int64, error) {
	read, write := cacheRates(p)
	return total([][2]int64{{input, max(p.Input, read, write)}, {maxOutput, p.Output}})
}

func total(terms [][2]int64) (int64, error) {
	var sum int64
	for _, t := range terms {
		n, ok := mul(t[0], t[1])
		if ok {
			sum, ok = add(sum, n)
		}
		if !ok {
			return 0, fault.New(CodeOverflow, "ledger.price", "%d tokens at %d pico-dollars each is more than an amount can be", t[0], t[1]).
				WithHint("Check the price list.")
		}
	}
	return sum, nil
}

// The parts of an estimate, in tokens.
const (
	perEntry = 16    // the frame of a message, a part or a tool
	perImage = 5_000 // the most that a provider bills for one image at full size
)

// EstimateInput is an upper-ish bound of a request's input tokens: one for every
// two bytes of text (real tokenizers make one of three to four for prose, of two to
// three for JSON and Chinese), and a fixed number for each entry and image. A
// reservation that is too high costs nothing; one that is too low breaks a cap.
func EstimateInput(req model.Request) int64 {
	var n int64
	text := func(bytes int) { n += int64(bytes+1) / 2 }
	part := func(p model.Part) {
		n += perEntry
		text(len(p.Text) + len(p.Opaque))
		switch {
		case p.Kind == model.Image:
			n += perImage
		case p.Kind == model.Document:
			text(len(p.Data))
		case p.Call != nil:
			text(len(p.Call.Name) + len(p.Call.Input) + len(p.Call.Opaque))
		case p.Result != nil:
			text(len(p.Result.Name) + len(p.Result.Text))
			n += perImage * int64(len(p.Result.Images))
		}
	}
	for _, p := range req.System {
		part(p)
	}
	for _, m := range req.Messages {
		n += perEntry
		for _, p := range m.Parts {
			part(p)
		}
	}
	for _, t := range req.Tools {
		n += perEntry
		text(len(t.Name) + len(t.Description) + len(t.Schema))
	}
	return min(n, math.MaxInt32)
}
