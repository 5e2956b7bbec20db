package model

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"math/bits"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// CodePrice is a price list that cannot be read.
const CodePrice fault.Code = "MODEL_PRICES"

// Cost is what u costs at p, in pico-dollars. Reasoning is a part of the output
// and is not counted again. A sum that does not fit is the largest number, so
// that a cap refuses it; a negative count counts as none.
func (p Price) Cost(u Usage) int64 {
	var sum uint64
	for _, x := range [][2]int64{
		{u.Input, p.Input},
		{u.Output, p.Output},
		{u.CacheRead, p.CacheRead},
		{u.CacheWrite, p.CacheWrite},
	} {
		hi, lo := bits.Mul64(uint64(max(x[0], 0)), uint64(max(x[1], 0)))
		s, carry := bits.Add64(sum, lo, 0)
		if hi != 0 || carry != 0 || s > math.MaxInt64 {
			return math.MaxInt64
		}
		sum = s
	}
	return int64(sum)
}

// PicoPerToken turns dollars for a million tokens, as decimal text ("0.075"),
// into whole pico-dollars a token, half away from zero.
func PicoPerToken(dollars string) (int64, error) {
	r, ok := new(big.Rat).SetString(dollars)
	if !ok || len(dollars) > 40 {
		return 0, fault.New(CodePrice, "model.price", "price %q is not a decimal number", dollars)
	}
	r.Mul(r, big.NewRat(1_000_000, 1))
	num := new(big.Int).Abs(r.Num())
	num.Mul(num, big.NewInt(2)).Add(num, r.Denom())
	num.Quo(num, new(big.Int).Mul(r.Denom(), big.NewInt(2)))
	if r.Sign() < 0 {
		num.Neg(num)
	}
	if !num.IsInt64() {
		return 0, fault.New(CodePrice, "model.price", "price %q is out of range", dollars)
	}
	return num.Int64(), nil
}

// EncodePrices is the canonical JSON of a price list: refs sorted, null for a
// model whose price is not known. A cassette keeps it as x-prices.
func EncodePrices(prices map[string]*Price) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	list := make(map[string]map[string]int64, len(prices))
	for ref, p := range prices {
		list[ref] = nil
		if p != nil {
			list[ref] = map[string]int64{
				"input": p.Input, "output": p.Output, "cache_read": p.CacheRead, "cache_write": p.CacheWrite,
			}
		}
	}
	// Maps of strings and numbers always encode.
	_ = enc.Encode(list)
	return bytes.TrimRight(b.Bytes(), "\n")
}

// maxPrices bounds a price list that is read.
const maxPrices = 1 << 20

// DecodePrices reads what EncodePrices wrote. Empty input is an empty list.
func DecodePrices(text []byte) (map[string]*Price, error) {
	list := map[string]*Price{}
	if len(text) == 0 {
		return list, nil
	}
	if len(text) > maxPrices {
		return nil, fault.New(fault.TooLarge, "model.prices", "a price list of %d bytes is over the bound of %d", len(text), maxPrices)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&list); err != nil {
		return nil, fault.Wrap(err, CodePrice, "model.prices", "the price list is not readable")
	}
	for ref, p := range list {
		if p != nil && min(p.Input, p.Output, p.CacheRead, p.CacheWrite) < 0 {
			return nil, fault.New(CodePrice, "model.prices", "the price of %q is negative", ref)
		}
	}
	return list, nil
}
