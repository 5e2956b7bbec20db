package cassette

// Glance gives the lane of the i-th episode and its request's body as they stand
// in the line: JSON-escaped, as Quote writes them, and not to be changed. It decodes
// nothing and checks no sum, so that a search for the nearest request can look at
// every episode.
func (c *Cassette) Glance(i int) (lane string, body []byte) {
	before, rest, ok := cutAfter(c.line(i)[headLen:], openResponse)
	if !ok {
		return "", nil
	}
	if _, after, ok := cutAfter(before, `,"x-lane":"`); ok {
		if name, _, ok := cutString(after); ok {
			lane = string(name)
		}
	}
	if _, rest, ok = cutAfter(rest, openRequest); ok {
		body, _, _ = cutString(rest)
	}
	return lane, body
}

// Quote is a request's body as it would stand in a line, without its quotes. A lane
// is quoted in the same way.
func Quote(body []byte) []byte {
	var j lineJSON
	return quote(nil, j.text("request", body))
}
