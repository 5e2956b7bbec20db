package upstream

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/clock"
)

// A reply is a say with all values filled in.
type reply struct {
	turn                     int
	text, reasoning, refusal string
	calls                    []said
	stop                     stop
	usage                    usage
	cutAfter                 int
}

// said is one tool call.
type said struct {
	tool string
	args string // JSON, or the raw text of the script
}

func (t turn) reply(vars map[string]string, a ask) (reply, error) {
	if t.say == nil {
		return reply{}, nil
	}
	y := t.say
	r := reply{
		turn: t.number, text: y.text.fill(vars), reasoning: y.reasoning.fill(vars), refusal: y.refusal.fill(vars),
		stop: y.stop, cutAfter: y.cutAfter,
	}
	for _, c := range y.calls {
		s := said{tool: c.tool}
		if c.raw != nil {
			s.args = c.raw.fill(vars)
			if a.objects && !json.Valid([]byte(s.args)) {
				return r, fmt.Errorf("raw %q of %s is no JSON, and this wire format has no other place for it", clip(s.args), c.tool)
			}
		} else {
			args, err := c.input.encode(vars)
			if err != nil {
				return r, err
			}
			s.args = string(args)
		}
		r.calls = append(r.calls, s)
	}
	r.usage = y.usage.complete(a.size, r)
	return r, nil
}

// complete estimates what the script does not say: four bytes a token.
func (u usage) complete(size int, r reply) usage {
	n := len(r.text) + len(r.refusal)
	for _, c := range r.calls {
		n += len(c.tool) + len(c.args)
	}
	if !u.given["input"] {
		u.input = max(tokens(size)-u.cacheRead-u.cacheWrite, 0)
	}
	if !u.given["reasoning"] {
		u.reasoning = tokens(len(r.reasoning))
		if u.given["output"] {
			u.reasoning = min(u.reasoning, u.output)
		}
	}
	if !u.given["output"] {
		u.output = max(tokens(n)+u.reasoning, 1)
	}
	return u
}

func tokens(n int) int { return (n + 3) / 4 }

func (u usage) prompt() int { return u.input + u.cacheRead + u.cacheWrite }

// created is the date of every reply.
var created = clock.Epoch.Unix()

// id makes an id of n characters after the prefix out of the turn and the place in
// it, so that it does not depend on the order in which lanes ask.
func id(prefix string, n, turn, place int) string {
	return fmt.Sprintf("%s%0*d", prefix, n, turn*1000+place)
}

// seal stands for the bytes with which a provider proves that reasoning is its
// own.
func seal(turn int) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "scripted reasoning of turn %04d", turn))
}

// split cuts s into the pieces of a stream: at least two, unless s is one rune,
// each about a dozen bytes and none within a rune.
func split(s string) []string {
	const piece = 12
	var out []string
	for len(s) > 0 {
		n := min(piece, (len(s)+1)/2)
		if len(out) > 0 {
			n = min(piece, len(s))
		}
		if i := strings.IndexByte(s[n:], ' '); i >= 0 && i <= piece/2 {
			n += i
		}
		for n < len(s) && !utf8.RuneStart(s[n]) {
			n++
		}
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}
