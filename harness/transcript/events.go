package transcript

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
)

// An event is one of a stream.
type event struct {
	name string // of server-sent events that have one
	data *canon.Node
}

func eventsOf(list *canon.Node) []event {
	var out []event
	for _, n := range list.Items() {
		out = append(out, event{data: n})
	}
	return out
}

// readEvents reads server-sent events, or frames of an AWS event stream. what says
// that something of it could not be read.
func readEvents(body []byte) (out []event, what string) {
	if frames, ok := readFrames(body); ok {
		return frames, ""
	}
	body = bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	for block := range bytes.SplitSeq(body, []byte("\n\n")) {
		var ev event
		var data []byte
		for line := range bytes.SplitSeq(block, []byte("\n")) {
			if name, ok := bytes.CutPrefix(line, []byte("event:")); ok {
				ev.name = string(bytes.TrimSpace(name))
			} else if text, ok := bytes.CutPrefix(line, []byte("data:")); ok {
				data = append(append(data, bytes.TrimPrefix(text, []byte(" "))...), '\n')
			}
		}
		data = bytes.TrimSpace(data)
		if len(data) == 0 || string(data) == "[DONE]" {
			continue
		}
		var err error
		if ev.data, err = canon.ParseTree(data); err != nil {
			what = "an event of the stream is not JSON"
			continue
		}
		out = append(out, ev)
	}
	return out, what
}

// The parts of a frame: total length, length of the headers, a CRC of both; the
// headers, the payload, a CRC of all before it.
const (
	preludeLen = 12
	frameCRC   = 4
)

// readFrames reads an AWS event stream, as Bedrock sends it: each payload holds a
// model's event as base64. A stream that was cut gives the frames before the cut.
func readFrames(body []byte) (out []event, ok bool) {
	for len(body) >= preludeLen {
		total, headers := binary.BigEndian.Uint32(body), binary.BigEndian.Uint32(body[4:])
		if binary.BigEndian.Uint32(body[8:]) != crc32.ChecksumIEEE(body[:8]) {
			break
		}
		ok = true
		if int64(total) > int64(len(body)) || int64(total) < int64(preludeLen)+int64(headers)+frameCRC {
			break
		}
		payload := body[preludeLen+int(headers) : total-frameCRC]
		body = body[total:]
		n, err := canon.ParseTree(payload)
		if err != nil {
			continue
		}
		if inner, err := base64.StdEncoding.DecodeString(n.Field("bytes").Text()); err == nil && len(inner) > 0 {
			if m, err := canon.ParseTree(inner); err == nil {
				n = m
			}
		}
		out = append(out, event{data: n})
	}
	return out, ok
}

// A builder makes the parts of a streamed message. A key names the part that a piece
// belongs to; pieces come in any order of keys, and parts stay in order of appearance.
type builder struct {
	at     map[string]int
	pieces []*piece
}

// A piece is a part that grows. Streams have thousands of deltas, so that texts are
// put together once.
type piece struct {
	Part
	text, input strings.Builder
}

// part is the part of a key, made with kind if it is new.
func (b *builder) part(key string, kind Kind) *piece {
	if i, ok := b.at[key]; ok {
		return b.pieces[i]
	}
	if b.at == nil {
		b.at = map[string]int{}
	}
	b.at[key] = len(b.pieces)
	p := &piece{Part: Part{Kind: kind}}
	b.pieces = append(b.pieces, p)
	return p
}

// take makes the piece p, whole: what grew so far is in it.
func (w *piece) take(p Part) {
	w.Part = p
	w.text.Reset()
	w.input.Reset()
}

// done are the parts, with the arguments of calls in canonical form.
func (b *builder) done() []Part {
	out := make([]Part, len(b.pieces))
	for i, p := range b.pieces {
		p.Text += p.text.String()
		p.Input = arguments(p.Input + p.input.String())
		out[i] = p.Part
	}
	return out
}
