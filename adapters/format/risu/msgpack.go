package risu

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// MessagePack, as far as JSON goes, and one text of bytes.

// unmarshal gives the tree of a MessagePack text. bin is the last text of bytes in it,
// for which the tree has null.
func unmarshal(src []byte) (doc *canon.Node, bin []byte, err error) {
	u := &unpacker{src: src}
	u.value(0)
	if u.err == nil && len(u.src) > 0 {
		u.fail("something follows the value")
	}
	if u.err != nil {
		return nil, nil, u.err
	}
	doc, err = canon.ParseTree(u.out)
	return doc, u.bin, err
}

type unpacker struct {
	src []byte
	out []byte // JSON
	bin []byte
	err error
}

func (u *unpacker) fail(why string) {
	if u.err == nil {
		u.err = fault.New(CodePacked, "risu.unpack", "%s", why)
	}
}

// take gives the next n bytes; zeros where there are not so many.
func (u *unpacker) take(n int) []byte {
	if n > len(u.src) || n < 0 {
		u.fail("the text is cut off")
		u.src = nil
		if n > 8 || n < 0 {
			return nil
		}
		return make([]byte, n)
	}
	b := u.src[:n]
	u.src = u.src[n:]
	return b
}

func (u *unpacker) uint(n int) uint64 {
	var b [8]byte
	copy(b[8-n:], u.take(n))
	return binary.BigEndian.Uint64(b[:])
}

func (u *unpacker) value(depth int) {
	if depth > canon.MaxTreeDepth {
		u.fail("it is nested too deep")
	}
	if len(u.out) > canon.MaxTreeBytes {
		u.fail("it is too long")
	}
	if u.err != nil {
		return
	}
	c := u.uint(1)
	switch {
	case c < 0x80:
		u.int(int64(c))
	case c < 0x90:
		u.members(c&15, depth)
	case c < 0xa0:
		u.items(c&15, depth)
	case c < 0xc0:
		u.text(c & 31)
	case c >= 0xe0:
		u.int(int64(int8(c)))
	default:
		u.long(c, depth)
	}
}

// long is a value whose first byte is its kind alone.
func (u *unpacker) long(c uint64, depth int) {
	switch c {
	case 0xc0:
		u.out = append(u.out, "null"...)
	case 0xc2, 0xc3:
		u.out = strconv.AppendBool(u.out, c == 0xc3)
	case 0xc4, 0xc5, 0xc6:
		u.bin = u.take(int(u.uint(1 << (c - 0xc4))))
		u.out = append(u.out, "null"...)
	case 0xca:
		u.float(float64(math.Float32frombits(uint32(u.uint(4)))), 32)
	case 0xcb:
		u.float(math.Float64frombits(u.uint(8)), 64)
	case 0xcc, 0xcd, 0xce, 0xcf:
		u.out = strconv.AppendUint(u.out, u.uint(1<<(c-0xcc)), 10)
	case 0xd0:
		u.int(int64(int8(u.uint(1))))
	case 0xd1:
		u.int(int64(int16(u.uint(2))))
	case 0xd2:
		u.int(int64(int32(u.uint(4))))
	case 0xd3:
		u.int(int64(u.uint(8)))
	case 0xd9, 0xda, 0xdb:
		u.text(u.uint(1 << (c - 0xd9)))
	case 0xdc, 0xdd:
		u.items(u.uint(2<<(c-0xdc)), depth)
	case 0xde, 0xdf:
		u.members(u.uint(2<<(c-0xde)), depth)
	default:
		u.fail("it has a value of an extension, which JSON does not have")
	}
}

func (u *unpacker) int(i int64) { u.out = strconv.AppendInt(u.out, i, 10) }

func (u *unpacker) float(f float64, bits int) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		u.fail("it has a number that JSON does not have")
		return
	}
	u.out = strconv.AppendFloat(u.out, f, 'g', -1, bits)
}

func (u *unpacker) text(n uint64) {
	s := bytes.ToValidUTF8(u.take(int(n)), []byte("\ufffd"))
	u.out = append(u.out, canon.NewText(string(s)).Bytes()...)
}

func (u *unpacker) items(n uint64, depth int) {
	u.out = append(u.out, '[')
	for i := range n {
		if u.err != nil {
			return
		}
		if i > 0 {
			u.out = append(u.out, ',')
		}
		u.value(depth + 1)
	}
	u.out = append(u.out, ']')
}

func (u *unpacker) members(n uint64, depth int) {
	u.out = append(u.out, '{')
	for i := range n {
		if u.err != nil {
			return
		}
		if i > 0 {
			u.out = append(u.out, ',')
		}
		from := len(u.out)
		u.value(depth + 1)
		if u.err == nil && u.out[from] != '"' { // a name that is a number
			name := string(u.out[from:])
			u.out = append(u.out[:from], canon.NewText(name).Bytes()...)
		}
		u.out = append(u.out, ':')
		u.value(depth + 1)
	}
	u.out = append(u.out, '}')
}

// marshal is the MessagePack text of a tree.
func marshal(n *canon.Node) ([]byte, error) { return appendValue(nil, n) }

func appendValue(b []byte, n *canon.Node) ([]byte, error) {
	var err error
	switch n.Kind() {
	case canon.Null:
		return append(b, 0xc0), nil
	case canon.Bool:
		if n.Raw() == "true" {
			return append(b, 0xc3), nil
		}
		return append(b, 0xc2), nil
	case canon.String:
		s := n.Text()
		return append(appendHead(b, len(s), 0xd9, true), s...), nil
	case canon.Number:
		return appendNumber(b, n.Raw())
	case canon.Array:
		b = appendHead(b, n.Len(), 0xdc, false)
		for _, it := range n.Items() {
			if b, err = appendValue(b, it); err != nil {
				return nil, err
			}
		}
		return b, nil
	}
	seen := 0
	for name, m := range n.Members() {
		if m == n.Field(name) {
			seen++
		}
	}
	b = appendHead(b, seen, 0xde, false)
	for name, m := range n.Members() {
		if m != n.Field(name) {
			continue // of doubled keys the last
		}
		b = append(appendHead(b, len(name), 0xd9, true), name...)
		if b, err = appendValue(b, m); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// appendHead is a kind and a size: of a text, of one, two or four bytes, else of two or four.
func appendHead(b []byte, n int, kind byte, text bool) []byte {
	if text {
		switch {
		case n < 32:
			return append(b, 0xa0|byte(n))
		case n < 1<<8:
			return append(b, kind, byte(n))
		}
		kind++
	} else if n < 16 {
		return append(b, map[byte]byte{0xdc: 0x90, 0xde: 0x80}[kind]|byte(n))
	}
	if n < 1<<16 {
		return binary.BigEndian.AppendUint16(append(b, kind), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(b, kind+1), uint32(n))
}

func appendNumber(b []byte, raw string) ([]byte, error) {
	if i, err := strconv.ParseInt(raw, 10, 64); err == nil {
		switch {
		case i >= 0 && i < 128, i < 0 && i >= -32:
			return append(b, byte(i)), nil
		}
		return binary.BigEndian.AppendUint64(append(b, 0xd3), uint64(i)), nil
	}
	if u, err := strconv.ParseUint(raw, 10, 64); err == nil {
		return binary.BigEndian.AppendUint64(append(b, 0xcf), u), nil
	}
	f, err := strconv.ParseFloat(raw, 64)
	if err != nil {
		return nil, fault.Wrap(err, CodePacked, "risu.pack", "the number %q cannot be packed", raw)
	}
	return binary.BigEndian.AppendUint64(append(b, 0xcb), math.Float64bits(f)), nil
}

// envelope is what a packed preset is in.
func envelope(sealed []byte) []byte {
	b := []byte{0x83}
	b = append(append(b, 0xad), "presetVersion"...)
	b = append(b, 2)
	b = append(append(b, 0xa4), "type"...)
	b = append(append(b, 0xa6), "preset"...)
	b = append(append(b, 0xa6), "preset"...)
	b = binary.BigEndian.AppendUint32(append(b, 0xc6), uint32(len(sealed)))
	return append(b, sealed...)
}
