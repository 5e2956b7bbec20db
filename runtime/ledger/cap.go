package ledger

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// Covers reports whether r is in the scope of c.
func (c Cap) Covers(r Row) bool {
	switch c.Scope {
	case ScopeSession:
		return r.Session == c.ID
	case ScopeRun:
		return r.Run == c.ID || r.ParentRun == c.ID
	case ScopeDay:
		return r.At.UTC().Format(time.DateOnly) == c.ID
	case ScopeStudio:
		return true
	default:
		return false
	}
}

// String is "session s-0001", "day 2026-01-02" or "studio".
func (c Cap) String() string {
	if c.ID == "" {
		return c.Scope
	}
	return c.Scope + " " + c.ID
}

// Fits reports whether reserve goes under the cap where spent is spent. A sum that
// is too large for an int64 does not.
func (c Cap) Fits(spent, reserve int64) bool {
	sum, ok := add(spent, reserve)
	return ok && sum <= c.Limit
}

// OverCap is the error of a reservation that does not fit, in the same words for
// every backend.
func OverCap(c Cap, spent, reserve int64) error {
	return fault.New(CodeOverCap, "ledger.reserve", "cap of %s for the %s: %s is spent or set aside, and this request may cost %s",
		Format(c.Limit), c, Format(spent), Format(reserve)).
		WithHint("Raise the cap of the %s, or ask for less.", c.Scope)
}

// Format is an amount for people: $0.0123, $12.35, <$0.0001. It is the only place
// that rounds, half up, and nothing is computed from it.
func Format(pico int64) string {
	const dollar, step = 1_000_000_000_000, 100_000_000
	switch {
	case pico < 0:
		// MinInt64 has no positive twin.
		return "-" + Format(max(pico, -math.MaxInt64)*-1)
	case pico == 0:
		return "$0"
	case pico < step/2:
		return "<$0.0001"
	case pico < dollar-step/2:
		return fmt.Sprintf("$0.%04d", (pico+step/2)/step)
	}
	cents := pico / (dollar / 100)
	if pico%(dollar/100) >= dollar/200 {
		cents++
	}
	return fmt.Sprintf("$%d.%02d", cents/100, cents%100)
}

// ParseDollars reads an amount as a person writes it: "2.50", "$0.01". It takes no
// signs, no exponents and no more than twelve places.
func ParseDollars(text string) (int64, error) {
	bad := func() (int64, error) {
		return 0, fault.New(fault.Invalid, "ledger.dollars", "%q is not an amount in dollars", clip(text, 40)).WithHint(`Write dollars, like "2.50".`)
	}
	whole, part, _ := strings.Cut(strings.TrimPrefix(text, "$"), ".")
	if whole+part == "" || len(whole) > 7 || len(part) > 12 {
		return bad()
	}
	digits := whole + part + strings.Repeat("0", 12-len(part))
	var n int64
	for _, d := range []byte(digits) {
		if d < '0' || d > '9' {
			return bad()
		}
		shifted, ok := mul(n, 10)
		if ok {
			n, ok = add(shifted, int64(d-'0'))
		}
		if !ok {
			return bad()
		}
	}
	return n, nil
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// add is a + b, and whether that fits.
func add(a, b int64) (int64, bool) {
	s := a + b
	if (a > 0 && b > 0 && s < 0) || (a < 0 && b < 0 && s >= 0) {
		return 0, false
	}
	return s, true
}

// mul is a × b for counts and prices, which are never negative, and whether that fits.
func mul(a, b int64) (int64, bool) {
	if a < 0 || b < 0 || (a > 0 && b > math.MaxInt64/a) {
		return 0, false
	}
	return a * b, true
}
