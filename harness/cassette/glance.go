package cassette

import "bytes"

// Glance gives the lane of the i-th episode and its request's body as they stand
// in the line: JSON-escaped, as Quote writes them, and not to be changed. It decodes
// nothing and checks no sum, so that a search for the nearest request can look at
// every episode. It comes to the body's end from the line's end, because that is near.
func (c *Cassette) Glance(i int) (lane, body []byte) {
	before, rest, ok := cutAfter(c.line(i)[headLen:], openResponse)
	if !ok {
		return nil, nil
	}
	if _, after, ok := cutAfter(before, `,"x-lane":"`); ok {
		if end := bytes.Index(after, []byte(`","x-origin":"`)); end >= 0 {
			lane = after[:end]
		}
	}
	if ref := glanceRef(before); ref != "" {
		if apart, err := c.blobs.get(ref); err == nil {
			return lane, Quote(apart)
		}
	}
	if _, rest, ok = cutRequest(rest); ok {
		body = rest[:max(0, bytes.LastIndex(rest, []byte(openForm)))]
	}
	return lane, body
}

// glanceRef is the name of a request's body that stands apart, or "".
func glanceRef(before []byte) string {
	_, after, ok := cutAfter(before, `,"x-ref":{"request":"`)
	if !ok || len(after) < refLen {
		return ""
	}
	return string(after[:refLen])
}

// Quote is a request's body as it would stand in a line, without its quotes. A lane
// is quoted in the same way.
func Quote(body []byte) []byte {
	var j lineJSON
	body = j.text("request", body)
	return quote(make([]byte, 0, quotedLen(body)), body)
}
